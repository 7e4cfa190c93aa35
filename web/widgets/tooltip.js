/* SPDX-License-Identifier: Apache-2.0
 * tooltip.js: at most three lines beside a mark, never over it. Appears after 80 ms,
 * at once when moving from mark to mark; Escape dismisses it until the next mark. */

import { later, nextFrame } from '../lib/activity.js';
import { el, fill } from '../lib/dom.js';

const FIRST_AFTER_MS = 80;
const AWAY_PX = 12;
const LINES = 3;

const node = el('div', { class: 'tooltip', role: 'tooltip', hidden: true });
let takeBack = null;
let dismissed = null;
let current = null;

/* Beside `mark` {left, right, top, bottom}, in client pixels; flips at the edges. */
function place(mark) {
  const { width, height } = node.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const right = mark.right + AWAY_PX;
  const left = right + width <= room ? right : Math.max(4, mark.left - AWAY_PX - width);
  const isBeside = left + width <= mark.left || left >= mark.right;
  const above = mark.top - AWAY_PX - height;
  const middle = Math.min(Math.max(4, mark.top), window.innerHeight - height - 4);
  node.style.left = `${Math.round(isBeside ? left : Math.max(4, (room - width) / 2))}px`;
  node.style.top = `${Math.round(isBeside ? middle : above >= 4 ? above : mark.bottom + AWAY_PX)}px`;
}

/* `key` names the mark; `lines` are arrays of nodes and texts. */
export function showTooltip(key, lines, mark) {
  if (!node.isConnected) document.getElementById('main').append(node);
  if (dismissed === key) return;
  dismissed = null;
  takeBack?.();
  const isFirst = current === null;
  current = key;
  const open = () =>
    nextFrame(() => {
      if (current !== key) return;
      fill(
        node,
        lines.slice(0, LINES).map((line) => el('div', { class: 'tooltip-line' }, line)),
      );
      node.hidden = false;
      place(mark);
    });
  if (isFirst) takeBack = later(open, FIRST_AFTER_MS);
  else open();
}

export function hideTooltip() {
  takeBack?.();
  current = null;
  dismissed = null;
  node.hidden = true;
}

/* True if there was one to dismiss. */
export function dismissTooltip() {
  if (current === null || node.hidden) return false;
  dismissed = current;
  takeBack?.();
  node.hidden = true;
  return true;
}
