/* SPDX-License-Identifier: Apache-2.0
 * early.js: runs before the first paint, so that a chosen theme does not flash; and asks for all modules of the tool
 * that the URL names, which would else come one import after the other.
 * Its own file: a script of the page, not a module, run before all others. */
(() => {
  const MODULES = {}; /* {tool: [addresses]}, filled in by scripts/embed-pages */
  for (const href of MODULES[new URLSearchParams(location.search).get('tool')] ?? [])
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  try {
    const theme = localStorage.getItem('memviewd.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.setAttribute('data-theme', theme);
  } catch {
    /* nothing stored: the system decides */
  }
})();
