/* SPDX-License-Identifier: Apache-2.0
 * strips_paint.js: draws bars and outlines. Bars are batched by colour; padding is
 * hatched at 45 degrees in the fill's own colour, and nothing else is. */

import { bytes, counted, cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { categoryFill, categoryInk, isDotted } from './categories.js';
import { dataShare } from './strips_layout.js';

const HATCH_PX = 1.5;
const HATCH_EVERY_PX = 5;
const LABEL_FROM_PX = 56;
const NOTCH_PX = 3;

/* The overlay is larger than the plot by this much on each side, so that outlines are whole. */
export const OUTLINE_PX = 4;

function byColour(rects) {
  const groups = new Map();
  for (const rect of rects) {
    const colour = categoryFill(rect.bar.category);
    if (!groups.has(colour)) groups.set(colour, []);
    groups.get(colour).push(rect);
  }
  return groups;
}

function hatch(context, rects, boxes, width, height) {
  context.save();
  context.beginPath();
  for (const [x, y, w, h] of boxes) context.rect(x, y, w, h);
  context.clip();
  context.lineWidth = token('line') === token('control') ? HATCH_PX * 2 : HATCH_PX;
  context.beginPath();
  const every = HATCH_EVERY_PX * Math.SQRT2;
  for (let x = -height; x < width; x += every) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

function frames(context, boxes) {
  for (const [x, y, w, h] of boxes) {
    if (w < 2) context.fillRect(x, y, w, 1);
    else {
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
  }
}

/* A copy of an argument is as the argument, with a dotted outline. */
function dotted(context, rects, height) {
  context.save();
  context.strokeStyle = token('text');
  context.lineWidth = 1;
  context.setLineDash([1, 2]);
  for (const { bar, x, width } of rects)
    if (isDotted(bar.category) && width >= 4) context.strokeRect(x + 0.5, 0.5, width - 1, height - 1);
  context.restore();
}

/* A merged bar: two cuts in its upper edge, one if it is too narrow for two. */
function notches(context, rects) {
  context.fillStyle = token('panel');
  for (const { bar, x, width } of rects) {
    if (bar.id != null || width < 3) continue;
    const wide = width < 9 ? 1 : NOTCH_PX;
    const cuts = width < 6 ? [1 / 2] : [1 / 3, 2 / 3];
    for (const share of cuts) context.fillRect(Math.round(x + share * width - wide / 2), 0, wide, NOTCH_PX * 2);
  }
}

function labels(context, rects, height, isPadding) {
  context.textBaseline = 'bottom';
  for (const { bar, x, width } of rects) {
    if (width < LABEL_FROM_PX || height < 44) continue;
    const isFilled = !isPadding && dataShare(bar) * height > 40;
    if (!isFilled) continue;
    context.save();
    context.beginPath();
    context.rect(x + 4, 0, width - 8, height);
    context.clip();
    context.fillStyle = categoryInk(bar.category);
    context.font = `600 12px ${token('sans')}`;
    const size = bytes(bar.bytes);
    if (context.measureText(size).width + 10 <= width) context.fillText(size, x + 6, height - 20);
    context.font = `12px ${token('mono')}`;
    const max = Math.max(3, Math.floor((width - 12) / 7.3));
    context.fillText(
      bar.id == null ? counted(bar.count, 'buffer') : cutMiddle(visible(bar.name), max),
      x + 6,
      height - 5,
    );
    context.restore();
  }
}

export function paintBars(context, rects, order, width, height) {
  for (const [colour, group] of byColour(rects)) {
    context.fillStyle = colour;
    context.strokeStyle = colour;
    const boxes = [];
    for (const rect of group) {
      const data = order === 'padding' ? 0 : Math.round(height * dataShare(rect.bar));
      if (data > 0) context.fillRect(rect.x, height - data, rect.width, data);
      if (data < height) boxes.push([rect.x, 0, rect.width, height - data]);
    }
    if (boxes.length === 0) continue;
    hatch(context, group, boxes, width, height);
    frames(context, boxes);
  }
  dotted(context, rects, height);
  notches(context, rects);
  labels(context, rects, height, order === 'padding');
}

/* A line below the bars that are marked. */
export function paintMarked(context, boxes, height) {
  context.fillStyle = token('accent');
  for (const { x, width } of boxes) context.fillRect(x, height + 1, width, OUTLINE_PX - 1);
}
