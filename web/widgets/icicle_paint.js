/* SPDX-License-Identifier: Apache-2.0
 * icicle_paint.js: draws the rectangles of an icicle, batched by colour, and outlines on an
 * overlay. A palette is a list of {fill, ink}; slot[node] says which of them a frame has.
 * Its own file: what is drawn of a frame; icicle.js decides which. */

import { counted, cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';

export const ROW_PX = 20;
const LETTER_PX = 7.25;
const LABEL_FROM_PX = 22;
const PAD_PX = 4;
const FOLD_PX = 3;
const NOTCH_PX = 4;
const FADED = 0.28;

/* Top of a row in the picture; `rows` is how many there are when the root stands below, else 0. */
export const topOf = (row, { scrollPx, rows = 0 }) => (rows ? rows - 1 - row : row) * ROW_PX - scrollPx;

function batches(rects, look, isHit) {
  const groups = new Map();
  for (let at = 0; at < rects.length; at++) {
    const node = rects.node[at];
    const isFaded = isHit != null && !isHit[node];
    const slot = rects.merged[at] ? look.slotOfMany(node) : look.slot[node];
    const key = slot * 2 + (isFaded ? 1 : 0);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(at);
  }
  return groups;
}

/* A box of its own has a gap of one device pixel at its right and its bottom. */
function boxOf(rects, at, place, onePx) {
  const x = Math.round(rects.x[at] / onePx) * onePx;
  const right = Math.round((rects.x[at] + rects.width[at]) / onePx) * onePx;
  const gap = right - x >= 4 ? onePx : 0;
  return [x, topOf(rects.row[at], place), Math.max(onePx, right - x - gap), ROW_PX - onePx];
}

function notches(context, rects, place, onePx) {
  context.fillStyle = token('panel');
  for (let at = 0; at < rects.length; at++) {
    if (!rects.merged[at] || rects.width[at] < 3) continue;
    const [x, y, width] = boxOf(rects, at, place, onePx);
    for (const share of width < 8 ? [1 / 2] : [1 / 3, 2 / 3])
      context.fillRect(Math.round(x + share * width) - 1, y, 2, NOTCH_PX);
  }
}

/* Frames folded below a frame: a thin line at its lower edge. */
function folds(context, tree, rects, place, onePx) {
  if (!tree.folded) return;
  context.fillStyle = token('text2');
  for (let at = 0; at < rects.length; at++) {
    if (!tree.folded[rects.node[at]] || rects.merged[at] || rects.width[at] < 8) continue;
    const [x, y, width, height] = boxOf(rects, at, place, onePx);
    context.fillRect(x, y + height - FOLD_PX, width, FOLD_PX);
  }
}

function labels(context, rects, look, place, onePx) {
  const { isHit = null } = place;
  context.font = `12px ${token('mono')}`;
  context.textBaseline = 'middle';
  for (let at = 0; at < rects.length; at++) {
    if (rects.width[at] < LABEL_FROM_PX) continue;
    const node = rects.node[at];
    const isFaded = isHit != null && !isHit[node];
    const [x, y, width] = boxOf(rects, at, place, onePx);
    const max = Math.floor((width - 2 * PAD_PX) / LETTER_PX);
    if (max < 2) continue;
    const slot = rects.merged[at] ? look.slotOfMany(node) : look.slot[node];
    const whole = rects.merged[at] ? counted(rects.merged[at], 'frame') : look.label(node, max);
    context.fillStyle = isFaded ? token('text') : look.palette[slot].ink;
    context.fillText(cutMiddle(visible(whole), max), x + PAD_PX, y + ROW_PX / 2 - 0.5);
  }
}

/* look: {palette, slot[], slotOfMany(node), label(node, letters)}; place: {scrollPx, ratio, rows, isHit};
 * isHit[node] or null fades the rest. */
export function paintIcicle(context, tree, rects, look, place) {
  const onePx = 1 / place.ratio;
  for (const [key, group] of batches(rects, look, place.isHit ?? null)) {
    context.globalAlpha = key % 2 ? FADED : 1;
    context.fillStyle = look.palette[key >> 1].fill;
    for (const at of group) context.fillRect(...boxOf(rects, at, place, onePx));
  }
  context.globalAlpha = 1;
  notches(context, rects, place, onePx);
  folds(context, tree, rects, place, onePx);
  labels(context, rects, look, place, onePx);
}

/* kind: "hover", "same" (the same name elsewhere), "pin" or "focus". */
export function paintFrameOutline(context, rects, at, place, kind) {
  const [x, y, width, height] = boxOf(rects, at, place, 1 / place.ratio);
  if (kind === 'same') {
    context.strokeStyle = token('text');
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
    return;
  }
  context.strokeStyle = token('panel');
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  context.strokeStyle = token(kind === 'hover' ? 'text' : 'accent');
  context.lineWidth = 2;
  context.strokeRect(x + 1, y + 1, Math.max(0.5, width - 2), height - 2);
}
