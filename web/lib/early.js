/* SPDX-License-Identifier: Apache-2.0
 * early.js: runs before the first paint, so that no other theme flashes; and asks for the tool that the URL names,
 * which would else come after the frame.
 * Its own file: a script of the page, not a module, run before all others; scripts/embed-pages puts it into the page. */
(() => {
  const PARTS = {}; // {tool: address}, filled in by scripts/embed-pages
  const href = PARTS[new URLSearchParams(location.search).get('tool')];
  if (href) document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  let theme = null;
  try {
    theme = localStorage.getItem('memviewd.theme');
  } catch {
    /* nothing stored: the system decides */
  }
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-theme', isDark ? 'dark' : 'light');
})();
