/* SPDX-License-Identifier: Apache-2.0
 * early.js: runs before the first paint, so that no other theme flashes; and asks for all modules of the tool
 * that the URL names, which would else come one import after the other.
 * Its own file: a script of the page, not a module, run before all others. */
(() => {
  const MODULES = {}; /* {tool: [addresses]}, filled in by scripts/embed-pages */
  for (const href of MODULES[new URLSearchParams(location.search).get('tool')] ?? [])
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  let theme = null;
  try {
    theme = localStorage.getItem('memviewd.theme');
  } catch {
    /* nothing stored: the system decides */
  }
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-theme', isDark ? 'dark' : 'light');
})();
