/* SPDX-License-Identifier: Apache-2.0
 * notices.js: banners for what concerns the whole page, and the list of notes. */

import { button, el, fill, prose } from '../lib/dom.js';
import { count, counted, TIMES } from '../lib/format.js';

/* Out: {set(key, {text, action}), drop(key), keep(keys): drops all others}; one banner a key, newest last. */
export function createBanners(node) {
  const shown = new Map();
  const drop = (key) => {
    shown.get(key)?.remove();
    shown.delete(key);
  };
  return {
    drop,
    keep(keys) {
      for (const key of shown.keys()) if (!keys.includes(key)) drop(key);
    },
    set(key, { text, action = null, canClose = true }) {
      const row = el(
        'div',
        { class: 'banner' },
        el('span', { class: 'banner-mark', 'aria-hidden': 'true' }, '!'),
        el('span', { class: 'banner-text' }, prose(text)),
        action && button('text-button', action.run, action.label),
        canClose && button('icon-button', () => drop(key), '×', { 'aria-label': 'Close this message' }),
      );
      if (shown.has(key)) shown.get(key).replaceWith(row);
      else node.append(row);
      shown.set(key, row);
    },
  };
}

/* "3 notes" opens the list of what could not be used; with none, the word is absent. */
export function notesButton(notes) {
  const total = notes.length;
  if (total === 0) return null;
  const list = el(
    'ul',
    { class: 'notes-list', hidden: true },
    el('li', { class: 'notes-head' }, 'Parts of the input that could not be used as they are:'),
    notes.map((note) =>
      el(
        'li',
        {},
        note.count > 1 ? el('span', { class: 'notes-count figure' }, `${count(note.count)}${TIMES} `) : null,
        prose(note.text),
      ),
    ),
  );
  const toggle = () => {
    list.hidden = !list.hidden;
    opener.setAttribute('aria-expanded', String(!list.hidden));
  };
  const opener = button('notes-button', toggle, counted(total, 'note'), { 'aria-expanded': 'false' });
  const node = el('div', { class: 'notes' }, opener, list);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || list.hidden) return;
    opener.click();
    opener.focus();
    event.stopPropagation();
  });
  return node;
}

/* One polite sentence for screen readers, at most one in 500 ms. */
export function createLive(node) {
  let timer = 0;
  return (sentence) => {
    clearTimeout(timer);
    timer = setTimeout(() => fill(node, sentence), 500);
  };
}
