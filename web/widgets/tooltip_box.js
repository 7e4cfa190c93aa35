/* SPDX-License-Identifier: Apache-2.0
 * tooltip_box.js: at most three lines beside a mark, never over it. Appears after 80 ms,
 * at once when moving from mark to mark; Escape dismisses it until the next mark. */

import { later, nextFrame } from '../lib/activity.js';
import { el, fill } from '../lib/dom.js';
import { setting } from '../lib/settings.js';

const FIRST_AFTER_MS = 80;
const AWAY_PX = 12;
const EDGE_PX = 4;
const LINES = 3;

const node = el('div', { class: 'tooltip', role: 'tooltip', hidden: true });
let takeBack = null;
let dismissed = null;
let current = null;
let explains = null;
let room = 0; // width of the window; 0: not known
let widest = 0; // width that its style allows, which follows the size of letters
window.addEventListener('resize', () => {
  room = 0;
});

/* Beside `mark` {left, right, top, bottom}, in client pixels; flips at the edges. Where one side has room for the
 * widest one nothing is measured: that would lay the page out twice for a move of the pointer. */
function place(mark) {
  if (room === 0) {
    room = document.documentElement.clientWidth;
    widest = parseFloat(getComputedStyle(node).maxWidth);
  }
  const isRight = mark.right + AWAY_PX + widest <= room;
  const isLeft = !isRight && mark.left - AWAY_PX - widest >= 0;
  if (!isRight && !isLeft) {
    placeMeasured(mark);
    return;
  }
  const top = Math.round(Math.max(EDGE_PX, mark.top));
  const left = Math.round(isRight ? mark.right + AWAY_PX : mark.left - AWAY_PX);
  const up = `min(0px, calc(100vh - ${top + EDGE_PX}px - 100%))`;
  node.style.left = `${left}px`;
  node.style.top = `${top}px`;
  node.style.transform = `translate(${isRight ? '0px' : '-100%'}, ${up})`;
}

function placeMeasured(mark) {
  const { width, height } = node.getBoundingClientRect();
  const right = mark.right + AWAY_PX;
  const left = right + width <= room ? right : Math.max(EDGE_PX, mark.left - AWAY_PX - width);
  const isBeside = left + width <= mark.left || left >= mark.right;
  const above = mark.top - AWAY_PX - height;
  const middle = Math.min(Math.max(EDGE_PX, mark.top), window.innerHeight - height - EDGE_PX);
  node.style.transform = 'none';
  node.style.left = `${Math.round(isBeside ? left : Math.max(EDGE_PX, (room - width) / 2))}px`;
  node.style.top = `${Math.round(isBeside ? middle : above >= EDGE_PX ? above : mark.bottom + AWAY_PX)}px`;
}

/* What it says `i` explains; null where there is none to see. */
export const subject = () => (current !== null && !node.hidden ? explains : null);

const hint = () => el('span', { class: 'dim tooltip-hint' }, ' · i explains');

/* `key` names the mark; `lines` are arrays of nodes and texts; `explain` the card of its figures, see explain.js. */
export function show(key, lines, mark, explain = null) {
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
        lines.slice(0, LINES).map((line, at) => el('div', { class: 'tooltip-line' }, line, explain && at === 1 && setting('letters') === 'on' ? hint() : null)),
      );
      explains = explain;
      node.hidden = false;
      place(mark);
    });
  if (isFirst) takeBack = later(open, FIRST_AFTER_MS);
  else open();
}

export function hide() {
  takeBack?.();
  current = null;
  dismissed = null;
  node.hidden = true;
}

/* True if there was one to dismiss. */
export function dismiss() {
  if (current === null || node.hidden) return false;
  dismissed = current;
  takeBack?.();
  node.hidden = true;
  return true;
}
