/* SPDX-License-Identifier: Apache-2.0
 * tooltip.js: at most three lines beside a mark, never over it. Appears after 80 ms,
 * at once when moving from mark to mark; Escape dismisses it until the next mark. */

import { later, nextFrame } from '../lib/activity.js';
import { el, fill } from '../lib/dom.js';
import { setting } from '../lib/settings.js';

const FIRST_AFTER_MS = 80;
const AWAY_PX = 12;
const EDGE_PX = 4;
const LINES = 3;
const HIGH_SHARE = 0.25; // of the widest: as high as one gets

const node = el('div', { class: 'tooltip', role: 'tooltip', hidden: true });
let takeBack = null;
let dismissed = null;
let current = null;
let explains = null;
let room = 0; // width of the page
let widest = 0; // width that its style allows, which follows the size of letters
/* Asked for when a tooltip is placed, they would have the page laid out. */
new ResizeObserver(([{ contentRect }]) => {
  room = contentRect.width;
  if (node.isConnected) widest = parseFloat(getComputedStyle(node).maxWidth);
}).observe(document.documentElement);

/* Beside `mark` {left, right, top, bottom}, in client pixels; where neither side has room for the widest one, above it
 * or below. Nothing is measured: that would lay the page out twice for a move of the pointer. */
function place(mark) {
  const isRight = mark.right + AWAY_PX + widest <= room;
  const isLeft = !isRight && mark.left - AWAY_PX - widest >= 0;
  const isAbove = !isRight && !isLeft && mark.top - AWAY_PX - widest * HIGH_SHARE >= EDGE_PX;
  let [left, across] = [mark.right + AWAY_PX, '0px'];
  let top = Math.max(EDGE_PX, mark.top);
  if (isLeft) [left, across] = [mark.left - AWAY_PX, '-100%'];
  else if (!isRight) {
    [left, across] = [room / 2, '-50%'];
    top = isAbove ? mark.top - AWAY_PX : mark.bottom + AWAY_PX;
  }
  const up = isAbove ? '-100%' : `min(0px, calc(100vh - ${Math.round(top) + EDGE_PX}px - 100%))`;
  node.style.left = `${Math.round(left)}px`;
  node.style.top = `${Math.round(top)}px`;
  node.style.transform = `translate(${across}, ${up})`;
}

/* What the tooltip says `i` explains; null where there is none to see. */
export const tooltipSubject = () => (current != null && !node.hidden ? explains : null);

const hint = () => el('span', { class: 'dim tooltip-hint' }, ' · i explains');

/* `key` names the mark; `lines` are arrays of nodes and texts; `explain` the card of its figures, see explain.js;
   `dock`: an
 * element that holds it in one line, instead of a place beside the mark, which is null then. */
export function showTooltip(key, lines, mark, explain = null, dock = null) {
  const holder = dock ?? document.getElementById('main');
  if (node.parentNode !== holder) {
    holder.append(node);
    node.classList.toggle('is-docked', dock != null);
    node.style.cssText = '';
    widest = parseFloat(getComputedStyle(node).maxWidth);
  }
  if (dismissed === key) return;
  dismissed = null;
  takeBack?.();
  const isFirst = current == null;
  current = key;
  const open = () =>
    nextFrame(() => {
      if (current !== key) return;
      fill(
        node,
        lines
          .slice(0, dock ? lines.length : LINES)
          .map((line, at) =>
            el(
              'div',
              { class: 'tooltip-line' },
              line,
              explain && at === 1 && setting('letters') === 'on' ? hint() : null,
            ),
          ),
      );
      explains = explain;
      node.hidden = false;
      if (!dock) place(mark);
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
  if (current == null || node.hidden) return false;
  dismissed = current;
  takeBack?.();
  node.hidden = true;
  return true;
}
