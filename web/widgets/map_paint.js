/* SPDX-License-Identifier: Apache-2.0
 * map_paint.js: draws an allocation map: bands of what lives from begin to end, axes, and
 * rectangles, batched by colour. Only what is in view is drawn. */

import { bytes, count, counted, cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { byteLabels, byteSplits } from './curve_marks.js';

const GAP_FROM_PX = 4;
const LABEL_WIDE_PX = 56;
const LABEL_HIGH_PX = 30;
const NOTCH_PX = 3;
const MERGED_ALPHA = 0.55;
const FADED_ALPHA = 0.2;
const FONT = () => `13px ${token('sans')}`;

/* frame: {left, width, top, height}: the plot in CSS pixels; view: {from, to, low, high}. */
export function scales({ left, width, top, height }, { from, to, low, high }) {
  const perStep = width / Math.max(1e-9, to - from);
  const perByte = height / Math.max(1e-9, high - low);
  return {
    x: (step) => left + (step - from) * perStep,
    y: (byte) => top + height - (byte - low) * perByte,
    stepAt: (x) => from + (x - left) / perStep,
    byteAt: (y) => low + (top + height - y) / perByte,
    perStep,
    perByte,
  };
}

/* {x, y, width, height} on whole device pixels, cut to the frame; null when out of view. */
export function boxOf(frame, scale, from, to, low, high, ratio) {
  const right = frame.left + frame.width;
  const bottom = frame.top + frame.height;
  const x1 = Math.max(frame.left, scale.x(from));
  const x2 = Math.min(right, scale.x(to));
  const y1 = Math.max(frame.top, scale.y(high));
  const y2 = Math.min(bottom, scale.y(low));
  if (x2 < x1 || y2 < y1 || x1 > right || y1 > bottom || x2 < frame.left || y2 < frame.top) return null;
  const snap = (value) => Math.round(value * ratio) / ratio;
  const x = snap(x1);
  const y = snap(y1);
  return { x, y, width: Math.max(1 / ratio, snap(x2) - x), height: Math.max(1 / ratio, snap(y2) - y) };
}

function label(context, box, item, ink) {
  context.save();
  context.beginPath();
  context.rect(box.x + 4, box.y, box.width - 8, box.height);
  context.clip();
  context.fillStyle = ink;
  context.textBaseline = 'top';
  context.font = `600 12px ${token('sans')}`;
  context.fillText(bytes(item.bytes), box.x + 5, box.y + 3);
  context.font = `12px ${token('mono')}`;
  context.fillText(cutMiddle(visible(item.name), Math.max(3, Math.floor((box.width - 10) / 7.3))), box.x + 5, box.y + 17);
  context.restore();
}

/* Two cuts in the upper edge of what stands for several buffers. */
function notch(context, box) {
  if (box.width < 9 || box.height < 4) return;
  for (const share of [1 / 3, 2 / 3])
    context.fillRect(Math.round(box.x + share * box.width) - 1, box.y, NOTCH_PX, Math.min(NOTCH_PX, box.height / 2));
}

/* map: {columns, slots (class of each rectangle), colouring, found: Set of ids, or null}; what a search did not
 * find is faded. Out: how many were drawn. */
export function paintRectangles(context, map, frame, view, ratio) {
  const { columns, slots, colouring, found } = map;
  const scale = scales(frame, view);
  const groups = colouring.classes.map(() => []);
  let drawn = 0;
  for (let at = 0; at < columns.length; at++) {
    if (columns.from[at] >= view.to || columns.to[at] <= view.from) continue;
    const box = boxOf(frame, scale, columns.from[at], columns.to[at], columns.low[at], columns.high[at], ratio);
    if (!box) continue;
    groups[slots[at]].push(at, box);
    drawn++;
  }
  const merged = groups[colouring.mixed];
  const order = [colouring.mixed, ...groups.keys()].filter((slot, at) => at === 0 || slot !== colouring.mixed);
  for (const slot of order) {
    const list = groups[slot];
    if (list.length === 0) continue;
    const { fill, ink, isSequential } = colouring.classes[slot];
    context.fillStyle = fill();
    const alpha = slot === colouring.mixed ? MERGED_ALPHA : 1;
    context.globalAlpha = alpha;
    const gap = 1 / ratio;
    for (let i = 1; i < list.length; i += 2) {
      const box = list[i];
      if (found) context.globalAlpha = found.has(columns.items[list[i - 1]].id) ? alpha : FADED_ALPHA;
      context.fillRect(
        box.x,
        box.y,
        box.width >= GAP_FROM_PX ? box.width - gap : box.width,
        box.height >= GAP_FROM_PX ? box.height - gap : box.height,
      );
    }
    context.globalAlpha = 1;
    if (isSequential) {
      context.strokeStyle = token('control');
      context.lineWidth = 1 / ratio;
      for (let i = 1; i < list.length; i += 2)
        if (list[i].width > 3 && list[i].height > 3) context.strokeRect(list[i].x, list[i].y, list[i].width, list[i].height);
    }
    for (let i = 0; i < list.length; i += 2) {
      const item = columns.items[list[i]];
      const box = list[i + 1];
      if (found && !found.has(item.id)) continue;
      if (item.id !== null && box.width >= LABEL_WIDE_PX && box.height >= LABEL_HIGH_PX) label(context, box, item, ink());
    }
  }
  context.fillStyle = token('panel');
  for (let i = 1; i < merged.length; i += 2) notch(context, merged[i]);
  return drawn;
}

export function paintBands(context, bands, colouring, { left, width, bandTop, bandHeight }) {
  for (const { item, y, height } of bands) {
    const look = colouring.classes[colouring.classOf(item)];
    context.fillStyle = look.fill();
    context.fillRect(left, bandTop + y, width, height >= GAP_FROM_PX ? height - 1 : height);
    if (height < 14) continue;
    context.fillStyle = look.ink();
    context.font = `600 12px ${token('sans')}`;
    context.textBaseline = 'middle';
    const name = item.id === null ? `in ${counted(item.count, 'buffer')}` : ` ${cutMiddle(visible(item.name), 40)}`;
    context.fillText(`${bytes(item.bytes)} ${name}`, left + 6, bandTop + y + height / 2);
  }
  context.strokeStyle = token('line');
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, bandTop + 0.5, width - 1, bandHeight - 1);
}

/* Offsets at the left, steps below; every byte tick a power of two. */
export function paintAxes(context, frame, view, isWholeHeight) {
  const { left, width, top, height } = frame;
  const scale = scales(frame, view);
  context.font = FONT();
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const splits = byteSplits(view.high, height * (view.high / Math.max(1, view.high - view.low))).filter((at) => at >= view.low);
  const labels = byteLabels([0, ...splits.filter((at) => at > 0)]).slice(splits[0] === 0 ? 0 : 1);
  splits.forEach((at, index) => {
    const y = scale.y(at);
    if (y < top - 1 || y > top + height + 1) return;
    context.fillStyle = token('line');
    context.fillRect(left, Math.round(y), width, 1);
    context.fillStyle = token('text2');
    context.fillText(labels[index], left - 6, Math.min(top + height - 6, Math.max(top + 6, y)));
  });
  context.textBaseline = 'top';
  context.textAlign = 'center';
  context.fillStyle = token('text2');
  for (const step of stepTicks(view.from, view.to, width)) {
    const x = scale.x(step);
    context.fillRect(Math.round(x), top + height, 1, 4);
    const half = context.measureText(count(step)).width / 2;
    context.fillText(count(step), Math.min(left + width - half, x), top + height + 6);
  }
  context.textAlign = 'left';
  if (!isWholeHeight) context.fillText(`offsets from ${bytes(view.low)}`, left + 4, top + 2);
}

/* Steps on 1-2-5, at least 70 px apart. */
function stepTicks(from, to, width) {
  let step = 1;
  const min = ((to - from) * 70) / Math.max(1, width);
  for (let ten = 1; step < min; ten *= 10)
    for (const by of [1, 2, 5]) if (step < min) step = by * ten;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}
