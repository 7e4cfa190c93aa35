/* SPDX-License-Identifier: Apache-2.0
 * theme_early.js: runs before the first paint, so that a chosen theme does not flash. */
(() => {
  try {
    const theme = localStorage.getItem('memviewd.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.setAttribute('data-theme', theme);
  } catch {
    /* nothing stored: the system decides */
  }
})();
