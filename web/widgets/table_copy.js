/* SPDX-License-Identifier: Apache-2.0
 * table_copy.js: which rows of a table are chosen, and their way to the clipboard as text: tab-separated,
 * with exact figures, or Markdown.
 * Its own file: which rows are chosen and copied, apart from how they are drawn. */

import { markdownText, tableOf, tabSeparated } from '../lib/export.js';
import { counted } from '../lib/format.js';
import { factsLine, isWithoutPaths } from '../lib/subject.js';
import { copyText } from './toast.js';

const MAX_ROWS = 10000;

/* Rows by index: one range from an anchor, and single ones. */
export function createChosen(sourceOf, onChange) {
  let ones = new Set();
  let anchor = 0;
  const change = () => onChange();
  return {
    has: (index) => ones.has(index),
    get indices() {
      return [...ones].sort((a, b) => a - b);
    },
    clear(at = 0) {
      anchor = at;
      if (ones.size === 0) return;
      ones = new Set();
      change();
    },
    toggle(index) {
      if (!ones.delete(index)) ones.add(index);
      anchor = index;
      change();
    },
    /* From the anchor to `index`; `from` is the anchor while nothing is chosen. */
    to(index, from = anchor) {
      if (ones.size === 0) anchor = from;
      const [low, high] = [Math.min(anchor, index), Math.max(anchor, index)];
      ones = new Set();
      for (let at = low; at <= Math.min(high, low + MAX_ROWS - 1); at++) ones.add(at);
      change();
    },
    all() {
      ones = new Set();
      for (let at = 0; at < Math.min(sourceOf().count, MAX_ROWS); at++) ones.add(at);
      anchor = 0;
      change();
    },
  };
}

/* Source paths stay here if the reader wants that. */
const copiedColumns = (state) => state.header.shown().filter((column) => !(column.isSource && isWithoutPaths()));

function textOf(state, rows, form) {
  const columns = copiedColumns(state);
  if (form === 'tabs') return tabSeparated(columns, rows);
  return markdownText(tableOf(columns, rows), state.label, factsLine());
}

/* Rows that are chosen, else the one that has the focus. */
function indicesOf(state) {
  const { indices } = state.chosen;
  if (indices.length) return indices.filter((index) => index < state.source.count);
  return state.active.row >= 0 && state.active.row < state.source.count ? [state.active.row] : [];
}

/* Copies them, after those that are not here were read. */
export async function copyRows(state, form = 'tabs') {
  const indices = indicesOf(state);
  if (indices.length === 0) return;
  if (indices.some((index) => !state.source.at(index)))
    await state.source.load(indices[0], indices[indices.length - 1] + 1);
  const rows = indices.map((index) => state.source.at(index)).filter(Boolean);
  await copyText(textOf(state, rows, form), `Copied ${counted(rows.length, 'row')}`);
}

/* What Ctrl+C copies, at once; null where text is marked or rows are still to be read. */
export function copyNow(state) {
  if (window.getSelection()?.toString()) return null;
  const rows = indicesOf(state).map((index) => state.source.at(index));
  if (rows.length === 0 || rows.some((row) => !row)) return null;
  return tabSeparated(copiedColumns(state), rows);
}
