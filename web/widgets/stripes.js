/* SPDX-License-Identifier: Apache-2.0
 * stripes.js: buffers as stripes from birth to death, one on the other below the line of a curve. What is too small for
 * a stripe of its own lies on them by category, so that all together are as high as the line. Neighbours of one
 * category have two tones. What is pinned keeps its colour, the others fade. */

import { cutAround, differences } from '../lib/apart.js';
import { baseName, bytes, visible } from '../lib/format.js';
import { lastBefore } from '../lib/range.js';
import { token } from '../lib/theme.js';
import { categoryFill, categoryInk } from './categories.js';
import { secondTone } from './tones.js';

const LARGE = 1 / 16; // of the largest
const FADED_ALPHA = 0.25;
const LABEL_WIDE_PX = 64;
const LABEL_HIGH_PX = 14;
const LETTER_PX = 7.3;

/* The oldest at the bottom: what is born last mostly dies first, so that a stripe stays at one height. */
const byBirth = (a, b) => a.from - b.from || b.to - a.to || b.bytes - a.bytes;

/* Pure. base: {steps[], stack: [{name, values[], tone: token of its colour; without one it is a category}]} of a curve;
 * items: buffers [{id, name, bytes, category: name of the part of the stack that counts it, from, to}], each of which
 * lives in steps [from, to). Out: bands from the bottom, [{item | null, category, tone, isSecond, first: index of a
 * step, low[], high[]}]. */
export function layStripes({ steps, stack }, items) {
  const from = (step) => lastBefore(steps.length, (at) => steps[at] < step) + 1;
  const top = new Float64Array(steps.length);
  const taken = new Map(stack.map(({ name }) => [name, new Float64Array(steps.length)]));
  const tones = new Map(stack.map(({ name, tone }) => [name, tone]));
  const last = new Map();
  const large = Math.max(...items.map((item) => item.bytes), 0) * LARGE;
  const bands = [];
  const lay = (band, high) => {
    const low = top.slice(band.first, band.first + high.length);
    for (const [at, value] of high.entries()) top[band.first + at] = low[at] + value;
    bands.push({ ...band, low, high: top.slice(band.first, band.first + high.length) });
  };
  const laid = [...items]
    .sort(byBirth)
    .map((item) => ({ item, first: from(item.from), end: from(item.to), own: taken.get(item.category) }))
    .filter(({ first, end, own }) => own && end > first);
  for (const { item, first, end, own } of laid) for (let at = first; at < end; at++) own[at] += item.bytes;
  const rests = stack.map(({ name, values, tone }) => ({
    category: name,
    tone,
    values: Float64Array.from(values, (value, at) => Math.max(0, value - taken.get(name)[at])),
  }));
  /* What of the rest is always there lies at the bottom, what comes and goes at the top. */
  for (const rest of rests) {
    rest.least = rest.values.length ? rest.values.reduce((a, b) => Math.min(a, b)) : 0;
    if (rest.least > 0)
      lay(
        { item: null, category: rest.category, tone: rest.tone, isSecond: false, first: 0 },
        new Float64Array(steps.length).fill(rest.least),
      );
  }
  for (const { item, first, end } of laid) {
    /* Small ones between two large ones do not bring these to one tone. */
    const kind = `${item.category} ${item.bytes >= large}`;
    const isSecond = !(last.get(kind) ?? true);
    last.set(kind, isSecond);
    lay(
      { item, category: item.category, tone: tones.get(item.category), isSecond, first },
      new Float64Array(end - first).fill(item.bytes),
    );
  }
  for (const { category, tone, values, least } of rests)
    if (values.some((value) => value > least))
      lay(
        { item: null, category, tone, isSecond: false, first: 0 },
        values.map((value) => value - least),
      );
  return bands;
}

/* The band at a step and a height in bytes, or null. */
export function bandAt({ steps, stripes }, step, byte) {
  const at = lastBefore(steps.length, (index) => steps[index] <= step);
  return (
    stripes.find(
      ({ first, low, high }) =>
        at >= first && at < first + low.length && byte >= low[at - first] && byte < high[at - first],
    ) ?? null
  );
}

/* Pixels of steps and of bytes: both axes are even, and a plot asks for each place of thousands of edges. Steps are
   measured
 * from what is in view: they may be picoseconds. */
function scaleOf(u, { from, to }) {
  const line = (axis, low, high) => {
    const [zero, one] = [u.valToPos(low, axis), u.valToPos(high, axis)];
    return (value) => zero + ((one - zero) * (value - low)) / (high - low);
  };
  return { x: line('x', from, to + 1), y: line('y', 0, 1024) };
}

/* Both edges of a band in view, stepped: the upper from left to right, the lower back; isSeen: somewhere it is half a
   pixel
 * high at least; and the widest room in it that is at least leastPx high, {x, y, width, height}, or null. */
function outline({ x, y }, { steps, from, to, lastStep }, { first, low, high }, leastPx = Infinity) {
  const above = [];
  const below = [];
  let room = null; // that is being widened
  let widest = null;
  let begin = 0;
  let [top, bottom] = [NaN, NaN];
  let isSeen = false;
  const close = (end) => {
    if (Number.isNaN(top)) return;
    above.push([end, top]);
    below.push([end, bottom]);
    if (leastPx === Infinity) return;
    const both = room && [Math.max(room.y, top), Math.min(room.y + room.height, bottom)];
    if (both && both[1] - both[0] >= leastPx)
      room = { ...room, y: both[0], height: both[1] - both[0], width: end - room.x };
    else room = bottom - top >= leastPx ? { x: begin, y: top, width: end - begin, height: bottom - top } : null;
    if (room && (!widest || room.width > widest.width)) widest = room;
  };
  const half = (px) => Math.round(2 * px) / 2;
  const start = Math.max(0, lastBefore(steps.length, (at) => steps[at] <= from) - first);
  for (let at = start; at < low.length && steps[first + at] <= to; at++) {
    const [upper, lower] = [half(y(high[at])), half(y(low[at]))];
    if (upper === top && lower === bottom) continue;
    const born = x(Math.max(from, steps[first + at]));
    close(born);
    begin = born;
    [top, bottom] = [upper, lower];
    isSeen ||= lower > upper;
    above.push([born, top]);
    below.push([born, bottom]);
  }
  const end = first + low.length < steps.length ? steps[first + low.length] : lastStep + 1;
  close(x(Math.min(to + 1, end)));
  return { points: [...above, ...below.reverse()], isSeen, room: widest };
}

/* The same on a plot: {points, isSeen, room}. */
export const edgesOf = (u, data, band) => outline(scaleOf(u, data), data, band);

function fillPoints(ctx, points) {
  ctx.beginPath();
  for (const [at, point] of points.entries()) {
    if (at) ctx.lineTo(...point);
    else ctx.moveTo(...point);
  }
  ctx.closePath();
}

/* Size, name and source of a buffer, as far as there is room. Out: their box, or null. */
function paintLabel(ctx, { x, y, width, height }, band, ratio, spans) {
  const { item } = band;
  if (!item || width < LABEL_WIDE_PX * ratio || height < LABEL_HIGH_PX * ratio) return null;
  const size = bytes(item.bytes);
  ctx.fillStyle = inkOf(band);
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  ctx.font = `600 ${12 * ratio}px ${token('sans')}`;
  const wide = ctx.measureText(size).width;
  const middle = y + height / 2;
  if (wide > width - 10 * ratio) return null;
  const box = { x: x + 5 * ratio, y: middle, width: wide, height: LABEL_HIGH_PX * ratio };
  ctx.fillText(size, box.x, middle);
  const letters = Math.floor((width - wide - 22 * ratio) / (LETTER_PX * ratio));
  if (letters < 8) return box;
  const source = item.source ? `  ${baseName(item.source)}` : '';
  const name = visible(item.name);
  ctx.font = `${12 * ratio}px ${token('mono')}`;
  const words = name.length + source.length <= letters ? name + source : cutAround(name, letters, spans.get(name));
  ctx.fillText(words, x + 13 * ratio + wide, middle);
  return { ...box, width: wide + 8 * ratio + ctx.measureText(words).width };
}

/* Pure: does it keep its colour? lit: ids that are pinned, or null; isPart: only what a filter chose has a stripe. */
const isClear = ({ item }, { lit, isPart }) => (lit ? item != null && lit.has(item.id) : item != null || !isPart);

/* "cat-x" and "set-1" have an ink of their own, the tones of an allocator share one. */
const inkToken = (tone) => (/^(cat|set)-/.test(tone) ? `ink-${tone.replace('cat-', '')}` : 'alloc-ink');
const inkOf = ({ category, tone }) => (tone ? token(inkToken(tone)) : categoryInk(category));

const fillOf = (band) => {
  const fill = band.tone ? token(band.tone) : categoryFill(band.category);
  return band.isSecond ? secondTone(fill, inkOf(band)) : fill;
};

/* u as of uPlot, in the pixels of its canvas; data: what is drawn of a curve, with stripes and {lit, isPart}. */
export function paintStripes(u, data) {
  const { ctx, bbox } = u;
  const scale = scaleOf(u, data);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const band of data.stripes) {
    const { points, isSeen } = outline(scale, data, band);
    if (!isSeen) continue;
    ctx.globalAlpha = isClear(band, data) ? 1 : FADED_ALPHA;
    ctx.fillStyle = fillOf(band);
    fillPoints(ctx, points);
    ctx.fill();
  }
  ctx.restore();
}

/* Pure: the part of a room, as outline() has it, that is not crossed by a line at this height; the higher one. Words
 * that the line does not touch stay in the middle. */
export function besideLine(room, line, highPx) {
  const bottom = room.y + room.height;
  const isCrossed = Math.abs(line - (room.y + room.height / 2)) < highPx / 2;
  if (!isCrossed) return room;
  const isAbove = line - room.y >= bottom - line;
  return isAbove ? { ...room, height: line - room.y } : { ...room, y: line, height: bottom - line };
}

/* Their names, over what was painted on them: within the plot, where an axis that is broken hides the foot of some.
 * Out: their boxes, as of labels.js. */
export function paintStripeNames(u, data, ratio) {
  const { ctx, bbox } = u;
  const whole = scaleOf(u, data);
  const scale = { ...whole, y: (value) => Math.max(bbox.top, Math.min(bbox.top + bbox.height, whole.y(value))) };
  const high = whole.y(0) - whole.y(1);
  ctx.save();
  ctx.setLineDash([]);
  const isHigh = (band) => band.item && band.item.bytes * high >= LABEL_HIGH_PX * ratio && isClear(band, data);
  const named = data.stripes.filter(isHigh);
  const line = data.capacity ? whole.y(data.capacity.bytes) : -Infinity;
  const spans = differences(
    named.map(({ item }) => visible(item.name)),
    0,
  );
  const boxes = named.map((band) => {
    const { room } = outline(scale, data, band, LABEL_HIGH_PX * ratio);
    return room && paintLabel(ctx, besideLine(room, line, LABEL_HIGH_PX * ratio), band, ratio, spans);
  });
  ctx.restore();
  return boxes.filter(Boolean);
}

/* What lies between the stripes and a line above them, gap: {first, low, high, words} of `data`, or none: named once
   where there
 * is most room, if no other words stand there. taken: [{x, y: bottom, wide, high}]. */
export function paintGapName({ ctx, ...u }, data, taken, ratio) {
  const room = data.gap && outline(scaleOf(u, data), data, data.gap, LABEL_HIGH_PX * ratio).room;
  if (!room) return;
  ctx.save();
  ctx.font = `${12 * ratio}px ${token('sans')}`;
  const wide = ctx.measureText(data.gap.words).width;
  const [right, top] = [room.x + room.width - 6 * ratio, room.y + 3 * ratio];
  const isTaken = taken.some(
    ({ x, y, wide: other, high }) =>
      x < right && x + other > right - wide && y > top && y - high < top + LABEL_HIGH_PX * ratio,
  );
  if (wide <= room.width - 12 * ratio && !isTaken) {
    ctx.fillStyle = token('text2');
    ctx.textAlign = 'right';
    ctx.textBaseline = 'top';
    ctx.fillText(data.gap.words, right, top);
  }
  ctx.restore();
}

/* Edges around the stripes with these ids, in the accent if they are pinned; of one that is less than half a pixel high
   a line. */
export function paintLit(u, data, ids, isPinned, ratio) {
  const { ctx } = u;
  for (const band of data.stripes.filter(({ item }) => item && ids.has(item.id))) {
    const { points } = edgesOf(u, data, band);
    if (points.length === 0) continue;
    for (const [colour, wide] of [
      ['panel', 4],
      [isPinned ? 'accent' : 'text', 2],
    ]) {
      ctx.strokeStyle = token(colour);
      ctx.lineWidth = wide * ratio;
      fillPoints(ctx, points);
      ctx.stroke();
    }
  }
}
