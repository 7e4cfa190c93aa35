/* SPDX-License-Identifier: Apache-2.0
 * map_paint.js: draws an allocation map: bands of what lives from begin to end, axes, and
 * rectangles, batched by colour, of which only what is in view; and what lies on it and moves. */

import { bytes, bytesApart, count, counted, cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { paintOutlines } from './canvas.js';
import { byteLabels, byteSplits, increment, multiples, STEP_INCREMENTS } from './curve_marks.js';
import { LEFT_PX, RIGHT_PX } from './curve_plot.js';
import { cutOf } from './map_layout.js';
import { paintPeak, paintWords } from './map_words.js';
import { secondTone } from './tones.js';

const AXIS_PX = 22;
const BAND_PX = 30;
const BAND_GAP_PX = 4;
const FRAMED_PX = 6;
const GAP_FROM_PX = 4;
const LABEL_WIDE_PX = 56;
const LABEL_HIGH_PX = 14; // of one line
const TWO_LINES_PX = 30;
const NOTCH_PX = 3;
const TICK_PX = 70;
const MERGED_ALPHA = 0.55;
const FADED_ALPHA = 0.2;
const FONT = () => `13px ${token('sans')}`;

/* Pure: the plot of a map of this size, in CSS pixels, and its scales; view: {from, to, low, high}. */
export function mapPlot({ width: wide, height: high, ratio }, view, hasBands) {
  const bandHeight = hasBands ? BAND_PX : 0;
  const top = hasBands ? BAND_PX + BAND_GAP_PX : 0;
  const width = Math.max(1, wide - LEFT_PX - RIGHT_PX);
  const height = Math.max(1, high - top - AXIS_PX);
  const perStep = width / Math.max(1e-9, view.to - view.from);
  const perByte = height / Math.max(1e-9, view.high - view.low);
  return {
    left: LEFT_PX,
    right: LEFT_PX + width,
    top,
    bottom: top + height,
    width,
    height,
    bandHeight,
    ratio,
    view,
    perStep,
    perByte,
    x: (step) => LEFT_PX + (step - view.from) * perStep,
    y: (byte) => top + height - (byte - view.low) * perByte,
    stepAt: (x) => view.from + (x - LEFT_PX) / perStep,
    byteAt: (y) => view.low + (top + height - y) / perByte,
  };
}

/* {x, y, width, height} on whole device pixels, cut to the plot; null when out of view. */
export function boxOf(plot, from, to, low, high) {
  const { left, right, top, bottom, ratio } = plot;
  const x1 = Math.max(left, plot.x(from));
  const x2 = Math.min(right, plot.x(to));
  const y1 = Math.max(top, plot.y(high));
  const y2 = Math.min(bottom, plot.y(low));
  if (x2 < x1 || y2 < y1 || x1 > right || y1 > bottom || x2 < left || y2 < top) return null;
  const snap = (value) => Math.round(value * ratio) / ratio;
  const x = snap(x1);
  const y = snap(y1);
  return { x, y, width: Math.max(1 / ratio, snap(x2) - x), height: Math.max(1 / ratio, snap(y2) - y) };
}

/* Where an item is drawn: its rectangle, its band, or the place that is known of it otherwise; or null. */
export function boxOfItem(plot, bands, item) {
  const band = bands.find((each) => each.item === item || (item.id != null && each.item.id === item.id));
  if (band) return { x: plot.left, y: band.y, width: plot.width, height: band.height };
  if (item.from === undefined || item.low_bytes === undefined) return null;
  return boxOf(plot, item.from, item.to, item.low_bytes, item.high_bytes);
}

/* A figure that has no room is left out: its first digits would read as another. Out: the box of the words. */
function label(context, box, item, ink) {
  const size = bytes(item.bytes);
  context.save();
  context.beginPath();
  context.rect(box.x + 4, box.y, box.width - 8, box.height);
  context.clip();
  context.fillStyle = ink;
  context.textBaseline = 'top';
  context.font = `600 12px ${token('sans')}`;
  const wide = context.measureText(size).width;
  const isOneLine = box.height < TWO_LINES_PX;
  const y = isOneLine ? box.y + (box.height - 12) / 2 : box.y + 3;
  if (wide <= box.width - 10) context.fillText(size, box.x + 5, y);
  const beside = isOneLine ? wide + 8 : 0;
  const letters = Math.floor((box.width - 10 - beside) / 7.3);
  const words = cutMiddle(visible(item.name), Math.max(3, letters));
  context.font = `12px ${token('mono')}`;
  if (!isOneLine || letters >= 8) context.fillText(words, box.x + 5 + beside, isOneLine ? y : box.y + 17);
  const wideOfAll = Math.min(box.width - 8, beside + context.measureText(words).width);
  context.restore();
  return {
    x: box.x + 4,
    y: isOneLine ? box.y + box.height / 2 : box.y + 16,
    width: wideOfAll,
    height: isOneLine ? 14 : 30,
  };
}

/* Two cuts in the upper edge of what stands for several buffers. */
function notch(context, box) {
  if (box.width < 9 || box.height < 4) return;
  for (const share of [1 / 3, 2 / 3])
    context.fillRect(Math.round(box.x + share * box.width) - 1, box.y, NOTCH_PX, Math.min(NOTCH_PX, box.height / 2));
}

/* map: {columns, slots (class of each rectangle), seconds (has it the second tone?), colouring, found: Set of ids, or
   null};
 * what was not found, or is not pinned, is faded. Out: {drawn: how many, names: boxes of the words on them}. */
export function paintRectangles(context, map, plot) {
  const { columns, slots, seconds, colouring, found } = map;
  const { view, ratio } = plot;
  const groups = colouring.classes.flatMap(() => [[], []]);
  const names = [];
  let drawn = 0;
  for (let at = 0; at < columns.length; at++) {
    if (columns.from[at] >= view.to || columns.to[at] <= view.from) continue;
    const box = boxOf(plot, columns.from[at], columns.to[at], columns.low[at], columns.high[at]);
    if (!box) continue;
    groups[2 * slots[at] + seconds[at]].push(at, box);
    drawn++;
  }
  const merged = groups[2 * colouring.mixed];
  const order = [2 * colouring.mixed, ...groups.keys()].filter((each, at) => at === 0 || each !== 2 * colouring.mixed);
  for (const each of order) {
    const list = groups[each];
    if (list.length === 0) continue;
    const slot = each >> 1;
    const { fill, ink, isSequential } = colouring.classes[slot];
    context.fillStyle = each % 2 ? secondTone(fill(), ink()) : fill();
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
        if (list[i].width > 3 && list[i].height > 3)
          context.strokeRect(list[i].x, list[i].y, list[i].width, list[i].height);
    }
    for (let i = 0; i < list.length; i += 2) {
      const item = columns.items[list[i]];
      const box = list[i + 1];
      if (found && !found.has(item.id)) continue;
      if (item.id != null && box.width >= LABEL_WIDE_PX && box.height >= LABEL_HIGH_PX)
        names.push(label(context, box, item, ink()));
    }
  }
  context.fillStyle = token('panel');
  for (let i = 1; i < merged.length; i += 2) notch(context, merged[i]);
  return { drawn, names };
}

export function paintBands(context, bands, colouring, { left, width, bandHeight }, found = null) {
  for (const { item, y, height } of bands) {
    const look = colouring.classes[colouring.classOf(item)];
    context.fillStyle = look.fill();
    context.globalAlpha = found && !found.has(item.id) ? FADED_ALPHA : 1;
    context.fillRect(left, y, width, height >= GAP_FROM_PX ? height - 1 : height);
    context.globalAlpha = 1;
    if (height < 14 || (found && !found.has(item.id))) continue;
    context.fillStyle = look.ink();
    context.font = `600 12px ${token('sans')}`;
    context.textBaseline = 'middle';
    const name = item.id == null ? `in ${counted(item.count, 'buffer')}` : ` ${cutMiddle(visible(item.name), 40)}`;
    context.fillText(`${bytes(item.bytes)} ${name}`, left + 6, y + height / 2);
  }
  context.strokeStyle = token('line');
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, 0.5, width - 1, bandHeight - 1);
}

/* Offsets at the left, steps below; every byte tick a power of two. */
export function paintAxes(context, plot) {
  const { left, width, top, height, view } = plot;
  context.font = FONT();
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const splits = byteSplits(view.high, height * (view.high / Math.max(1, view.high - view.low))).filter(
    (at) => at >= view.low,
  );
  const labels = byteLabels([0, ...splits.filter((at) => at > 0)]).slice(splits[0] === 0 ? 0 : 1);
  splits.forEach((at, index) => {
    const y = plot.y(at);
    if (y < top - 1 || y > top + height + 1) return;
    context.fillStyle = token('line');
    context.fillRect(left, Math.round(y), width, 1);
    context.fillStyle = token('text2');
    context.fillText(labels[index], left - 6, Math.min(top + height - 6, Math.max(top + 6, y)));
  });
  context.textBaseline = 'top';
  context.textAlign = 'center';
  context.fillStyle = token('text2');
  const every = increment(STEP_INCREMENTS, view.to - view.from, width, TICK_PX);
  for (const step of multiples(every, view.from, view.to)) {
    const x = plot.x(step);
    context.fillRect(Math.round(x), top + height, 1, 4);
    const half = context.measureText(count(step)).width / 2;
    context.fillText(count(step), Math.min(left + width - half, x), top + height + 6);
  }
  context.textAlign = 'left';
}

/* The capacity as offsets have it, and what lies above it: all that is in view, where the capacity is below. Its words:
 * map_words.js. capacity: {bytes, isOver}. */
export function paintLimit(context, plot, { bytes: limit, isOver }) {
  const { left, top, width } = plot;
  const cut = cutOf(plot, limit);
  if (cut && isOver) {
    context.save();
    context.beginPath();
    context.rect(left, top, width, cut.height);
    context.clip();
    context.fillStyle = token('over-area');
    context.fillRect(left, top, width, cut.height);
    context.restore();
  }
  if (!cut?.hasLine) return;
  const at = top + cut.height;
  context.fillStyle = token('text');
  context.fillRect(left, at - 1, width, 2);
}

/* Frames around what a search found; a small box has no room for one. */
export function paintFound(context, boxes) {
  context.strokeStyle = token('accent');
  context.lineWidth = 1.5;
  for (const box of boxes)
    if (box && box.height >= FRAMED_PX && box.width >= FRAMED_PX)
      context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
}

/* ---- what lies on a map and moves ---------------------------------------------- */

/* A line down the middle of a step; false where that is out of view. */
export function paintStep(context, plot, step, colour) {
  const x = plot.x(step + 0.5);
  if (x < plot.left - 1 || x > plot.right + 1) return false;
  context.fillStyle = token(colour);
  context.fillRect(Math.round(x) - 0.5, plot.top, 1, plot.height);
  return true;
}

/* The window; with offsets it is a rectangle with an edge, which may lie outside of the view. What a drag would select
 * is said above it or, at the upper edge, in it. */
function paintWindow(context, plot, { window: [first, last], offsets }, isDragged) {
  const { view } = plot;
  const [low, high] = offsets ?? [view.low, view.high];
  const box = boxOf(plot, first, last + 1, low, high);
  if (!box || first >= view.to || last + 1 <= view.from || low >= view.high || high <= view.low) return;
  context.fillStyle = token('wash');
  context.fillRect(box.x, box.y, box.width, box.height);
  if (!offsets) return;
  const [x, y] = [plot.x(first), plot.y(high)];
  context.save();
  context.beginPath();
  context.rect(plot.left - 2, plot.top - 2, plot.width + 4, plot.height + 4); /* an edge at the plot's edge is whole */
  context.clip();
  for (const [name, wide] of [
    ['panel', 4],
    ['accent', 2],
  ]) {
    context.strokeStyle = token(name);
    context.lineWidth = wide;
    context.strokeRect(x, y, plot.x(last + 1) - x, plot.y(low) - y);
  }
  context.restore();
  if (!isDragged) return;
  context.font = `600 12px ${token('sans')}`;
  context.textBaseline = 'bottom';
  const text = bytesApart(low, high).join(' to ');
  const from = Math.min(box.x, plot.right + RIGHT_PX - context.measureText(text).width - 4);
  paintWords(context, text, from, box.y - plot.top > 18 ? box.y - 3 : box.y + 17);
}

/* A marked moment, with its letter at the foot. */
function paintFlag(context, plot, letter, step) {
  if (!paintStep(context, plot, step, 'accent')) return;
  const x = Math.round(plot.x(step + 0.5));
  context.fillRect(x, plot.bottom - 16, 14, 16);
  context.font = `600 12px ${token('sans')}`;
  context.textBaseline = 'middle';
  context.fillStyle = token('panel');
  context.fillText(letter, x + 3, plot.bottom - 8);
}

/* selected: {window, offsets} or null; step: the one under the pointer; peak, moment and marks {a, b}: steps or null;
 * hovered, pinned: a box or null each, group: boxes. */
export function paintMapOver(
  context,
  plot,
  { selected, isDragged, step, limit, names, peak, moment, marks, hovered, pinned, group },
) {
  if (selected) paintWindow(context, plot, selected, isDragged);
  paintPeak(context, plot, { limit, peak, names });
  if (step != null) paintStep(context, plot, step, 'text2');
  if (moment != null) paintStep(context, plot, moment, 'accent');
  if (hovered) paintOutlines(context, [hovered], false);
  if (pinned) paintOutlines(context, [pinned], true);
  if (group.length) paintOutlines(context, group, true);
  for (const [name, at] of Object.entries(marks)) if (at != null) paintFlag(context, plot, name.toUpperCase(), at);
}
