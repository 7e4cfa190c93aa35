/* SPDX-License-Identifier: Apache-2.0
 * theme.js: system, light or dark; and the tokens of the style sheet for canvases. */

import { flushFrames } from './activity.js';
import { onSetting, setSetting, setting } from './settings.js';

const ORDER = ['system', 'light', 'dark'];
const darkSystem = () => matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set();
let tokens = new Map();

export function themeName() {
  const value = setting('theme');
  return ORDER.includes(value) ? value : 'system';
}

function apply(theme = themeName()) {
  const isDark = theme === 'dark' || (theme === 'system' && darkSystem().matches);
  document.documentElement.setAttribute('data-theme', isDark ? 'dark' : 'light');
  tokens = new Map();
  for (const listener of listeners) listener();
}

export function startTheme() {
  darkSystem().addEventListener('change', () => apply());
  matchMedia('(prefers-contrast: more)').addEventListener('change', () => apply());
  onSetting((name) => {
    if (name === 'theme') apply();
  });
  /* Paper is light; the plots are painted before the browser takes its picture. */
  window.addEventListener('beforeprint', () => {
    apply('light');
    flushFrames();
  });
  window.addEventListener('afterprint', () => apply());
  apply();
}

/* The next of system, light, dark. */
export function turnTheme() {
  const next = ORDER[(ORDER.indexOf(themeName()) + 1) % ORDER.length];
  setSetting('theme', next);
  return next;
}

export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/* Value of a CSS custom property: token('accent') → "#0B57D0". */
export function token(name) {
  if (!tokens.has(name)) {
    tokens.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return tokens.get(name);
}
