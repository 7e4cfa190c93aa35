/* SPDX-License-Identifier: Apache-2.0
 * curve_marks.js: what is drawn on the curve besides its lines, and its axes. */

import { byteStep, bytes, bytesIn, count, unitName, unitOf } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { meet } from './labels.js';

const PEAK_PX = 10;
const LOCAL_PX = 8;
const BESIDE_PX = 13; // clear of the flag of the moment
export const PEAK_ROOM_PX = 30;
const MAX_WHOLE = 4096;
export const LABEL_HALF_PX = 7;
const LABEL_HIGH_PX = 16;
const LABEL_APART_PX = 8;

/* 1, 2, 5, 10, 20, 50, … */
export function oneTwoFive(from, to) {
  const list = [];
  for (let ten = from; ten <= to; ten *= 10) list.push(ten, 2 * ten, 5 * ten);
  return list;
}
export const STEP_INCREMENTS = oneTwoFive(1, 1e12);

/* What of them is at least minPx wide where `range` is drawn over `px`; and its multiples in [from, to]. */
export const increment = (increments, range, px, minPx) =>
  increments.find((each) => each >= (range * minPx) / Math.max(1, px)) ?? increments.at(-1);
export function multiples(step, from, to) {
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
  return list;
}

/* Largest byte on the axis: room above the peak for its mark and label, and a label above them. */
export function topOf(max, heightPx, roomPx) {
  return (max * Math.max(1, heightPx)) / Math.max(1, heightPx - roomPx) || 1;
}

/* Multiples of a power of two, see byteStep(); none within `clearPx` of the top, where its label would be cut. */
export function byteSplits(top, heightPx, clearPx = 0) {
  return multiples(byteStep(top, heightPx), 0, top * (1 - clearPx / Math.max(1, heightPx)));
}

/* One unit an axis: "0", "8", "16", "24 GiB". */
export function byteLabels(splits) {
  const step = splits.length > 1 ? splits[1] : 1;
  const last = splits[splits.length - 1] ?? 0;
  let unit = unitOf(last);
  if (unit > 0 && step < 1024 ** unit / 4 && last / 1024 ** (unit - 1) <= MAX_WHOLE) unit--;
  const share = step / 1024 ** unit;
  const decimals = share >= 1 ? 0 : share === 0.5 ? 1 : share === 0.25 ? 2 : 4;
  return splits.map((value, at) => {
    if (value === 0) return '0';
    const text = bytesIn(value, unit, decimals);
    return at === splits.length - 1 ? `${text} ${unitName(unit)}` : text;
  });
}

function triangle(context, x, y, size) {
  context.beginPath();
  context.moveTo(x - size / 2, y - size);
  context.lineTo(x + size / 2, y - size);
  context.lineTo(x, y);
  context.closePath();
}

/* Local peaks in view that are not within 14 px of another mark and not under the label. */
function localMarks(data, ratio, at, peak, label) {
  const taken = peak ? [peak[0]] : [];
  const places = [];
  for (const mark of data.localPeaks) {
    const [x, y] = at(mark.step, mark.bytes);
    const isUnder =
      label && x > label.x - 6 * ratio && x < label.x + label.wide + 6 * ratio && Math.abs(y - label.y) < 16 * ratio;
    if (
      isUnder ||
      mark.step < data.from ||
      mark.step > data.to ||
      taken.some((other) => Math.abs(other - x) < 14 * ratio)
    )
      continue;
    taken.push(x);
    places.push([x, y]);
  }
  return places;
}

const hasRoom = (box, x, wide, ratio) =>
  x + BESIDE_PX * ratio + wide <= box.left + box.width || x - BESIDE_PX * ratio - wide >= box.left;

/* Right of the mark, else left of it, else above it. */
function labelPlace(box, x, y, wide, ratio) {
  const beside = BESIDE_PX * ratio;
  if (x + beside + wide <= box.left + box.width) return { x: x + beside, y, wide };
  if (x - beside - wide >= box.left) return { x: x - beside - wide, y, wide };
  return { x: Math.max(box.left, box.left + box.width - wide), y: y - (PEAK_PX + 1) * ratio, wide };
}

/* Heights of a line over the picture where the label is: {x, end, held}, a value of `held` from each x to the next. */
function lineBeside(u, { x, end, held }, label) {
  const heights = [];
  x.forEach((from, at) => {
    const left = u.valToPos(from, 'x', true);
    const right = u.valToPos(x[at + 1] ?? end, 'x', true);
    if (held[at] != null && right >= label.x && left <= label.x + label.wide)
      heights.push(u.valToPos(held[at], 'y', true));
  });
  return heights;
}

/* Pure: the label above each height that would cross it, if there is room below `top`. Its foot is at y. */
export function clearOfLine(label, heights, top, ratio) {
  const high = 16 * ratio;
  let { y } = label;
  for (const height of [...new Set(heights)].sort((a, b) => b - a))
    if (height > y - high && height < y + 2 * ratio) y = height - 3 * ratio;
  return y - high >= top ? { ...label, y } : label;
}

/* Boxes of labels.js: of words whose foot is at y, with room beside them, and of a triangle that points to [x, y]. */
const boxOfWords = ({ x, y, wide }, ratio) => ({
  x: x - LABEL_APART_PX * ratio,
  y: y - (LABEL_HIGH_PX * ratio) / 2,
  width: wide + 2 * LABEL_APART_PX * ratio,
  height: LABEL_HIGH_PX * ratio,
});
const boxOfTriangle = ([x, y], size) => ({ x: x - size / 2, y: y - size / 2, width: size, height: size });

/* The peak filled, with its label on the side that has room; local peaks hollow and small. others(firm, soft): boxes of
 * words that stand beside them, which may lie on none of `firm`; a local peak below them is left out. Out: boxes of
 * labels. */
export function paintMarks(u, data, ratio, others = () => []) {
  const { ctx } = u;
  const at = (step, value) => [u.valToPos(step + 0.5, 'x', true), u.valToPos(value, 'y', true) - 2 * ratio];
  const isShown = data.peak && data.peak.step >= data.from && data.peak.step <= data.to;
  const peak = isShown ? at(data.peak.step, data.peak.bytes) : null;
  let label = null;
  ctx.save();
  ctx.setLineDash([]);
  if (peak) {
    triangle(ctx, ...peak, PEAK_PX * ratio);
    ctx.fillStyle = token('text');
    ctx.fill();
    ctx.font = `600 ${13 * ratio}px ${token('sans')}`;
    ctx.textBaseline = 'bottom';
    ctx.textAlign = 'left';
    const peakWords = `peak ${bytes(data.peak.bytes)}`;
    const all = [data.peakWords ?? `${peakWords}, step ${count(data.peak.step)}`, peakWords];
    const words = all.find((each) => hasRoom(u.bbox, peak[0], ctx.measureText(each).width, ratio)) ?? all[0];
    label = labelPlace(u.bbox, ...peak, ctx.measureText(words).width, ratio);
    if (data.held) label = clearOfLine(label, lineBeside(u, data, label), u.bbox.top, ratio);
    const line = data.capacity ? u.valToPos(data.capacity.bytes, 'y', true) : NaN;
    if (line > label.y - 18 * ratio && line < label.y + 2 * ratio) {
      ctx.fillStyle = token('panel');
      ctx.fillRect(label.x - 3 * ratio, line - 2 * ratio, label.wide + 6 * ratio, 4 * ratio);
      ctx.fillStyle = token('text');
    }
    if (data.peakWords) {
      /* Other lines may pass behind it. */
      ctx.strokeStyle = token('panel');
      ctx.lineWidth = 4 * ratio;
      ctx.lineJoin = 'round';
      ctx.strokeText(words, label.x, label.y);
    }
    ctx.fillText(words, label.x, label.y);
  }
  ctx.strokeStyle = token('text2');
  ctx.lineWidth = ratio;
  const places = localMarks(data, ratio, at, peak, label);
  const boxes = places.map((place) => boxOfTriangle(place, LOCAL_PX * ratio));
  const firm = [...(peak ? [boxOfTriangle(peak, PEAK_PX * ratio)] : []), ...(label ? [boxOfWords(label, ratio)] : [])];
  const words = others(firm, boxes);
  for (const [place, point] of places.entries()) {
    if (words.some((box) => meet(box, boxes[place]))) continue;
    triangle(ctx, ...point, LOCAL_PX * ratio);
    ctx.stroke();
  }
  ctx.restore();
  return label ? [{ ...label, high: LABEL_HIGH_PX * ratio }] : [];
}
