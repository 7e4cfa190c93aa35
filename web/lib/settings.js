/* SPDX-License-Identifier: Apache-2.0
 * settings.js: the few choices that belong to the reader and not to a link. They live in
 * localStorage under "memviewd."; a browser that stores nothing keeps them until it is closed. */

/* Name → value when nothing is stored. */
const DEFAULTS = {
  theme: 'system', // system, light, dark
  letters: 'on', // single letters as keys: on, off
  pane: '', // details pane: open, shut; empty: as the page has it
  pane_px: '320', // its width
  paths: 'with', // source paths in pictures and copies: with, without
  ask: 'together', // what a page asks while it opens: together, alone (to see each question in the browser's tools)
  last_a: '', // reference that was set as A
  views: '', // saved views, as saved_views.js writes them
};
const listeners = new Set();
const unstored = new Map();

export function setting(name) {
  try {
    return localStorage.getItem(`memviewd.${name}`) ?? unstored.get(name) ?? DEFAULTS[name];
  } catch {
    return unstored.get(name) ?? DEFAULTS[name];
  }
}

export function setSetting(name, value) {
  unstored.set(name, String(value));
  try {
    localStorage.setItem(`memviewd.${name}`, String(value));
  } catch {
    /* kept until the page is closed */
  }
  for (const listener of listeners) listener(name, String(value));
}

/* listener(name, value); the answer takes it back. */
export function onSetting(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
