/* SPDX-License-Identifier: Apache-2.0
 * curve_plot.js: the plot under a curve: axes, series and what is painted on them. */

import { count } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { makePlot, X_AXIS_PX } from './chart.js';
import { byteLabels, byteSplits, LABEL_HALF_PX, STEP_INCREMENTS } from './curve_marks.js';
import { fillBelow, stepped, trace } from './picture_lines.js';
import { taken } from './spread.js';
import { paintStripeNames, paintStripes } from './stripes.js';
import { paintCapacityLine, paintMarksAndCapacity, paintOver, splitAt, topWith } from './curve_capacity.js';

/* Plots that stand one above the other begin and end at the same x. */
export const LEFT_PX = 72;
export const RIGHT_PX = 12;

/* Of steps, and of bytes: for makePlot(). */
export const CURVE_AXES = [
  {
    space: 70,
    incrs: STEP_INCREMENTS,
    values: (u, splits) => splits.map((value) => (Number.isInteger(value) ? count(value) : '')),
  },
  {
    size: LEFT_PX,
    splits: (u, at, low, high) => byteSplits(high, u.height - X_AXIS_PX - 4, LABEL_HALF_PX),
    values: (u, splits) => byteLabels(splits),
  },
];

/* A line that goes up and down within a pixel would be a block: there it is the highest. */
export const outlineOf = ({ ends }, values) => (ends ? taken(values, ends.highAt) : values);

/* One value more at the end, so that the last step has a width as well. */
export function columnsOf(data) {
  const [padded, unpadded] = [data.bytes, data.unpadded].map((values) => outlineOf(data, values));
  return [
    [...data.steps, data.lastStep + 1],
    [...padded, padded.at(-1)],
    [...unpadded, unpadded.at(-1)],
  ];
}

/* What lies below the line, one part on the other: data.stack: [{values by step, fill() → colour}] from the bottom,
   null:
 * none. What is under a later part is painted over by it, from the top down. */
export function paintStack(u, data) {
  if (!data.stack || data.steps.length === 0) return;
  const { ctx, bbox } = u;
  const line = { x: data.steps, end: data.lastStep + 1, from: data.from, to: data.to + 1, last: data.to };
  const sums = new Array(data.steps.length).fill(0);
  const tops = data.stack.map(({ values, fill }) => {
    for (const [at, value] of values.entries()) sums[at] += value;
    return { fill, points: stepped(u, line, [...sums]) };
  });
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { fill, points } of tops.reverse())
    if (points.length) fillBelow(ctx, points, bbox.top + bbox.height, fill());
  ctx.restore();
}

const VEIL_ALPHA = 0.58;

/* Where many steps share a pixel, what is reached in a part of them only is pale: data.ends of spread.js, null: none
   do. */
export function paintVeil(u, data) {
  const { ends, bytes } = data;
  if (!ends || data.steps.length === 0) return;
  const { ctx, bbox } = u;
  const line = { x: data.steps, end: data.lastStep + 1, from: data.from, to: data.to + 1, last: data.to };
  const low = stepped(u, line, taken(bytes, ends.lowAt));
  const high = stepped(u, line, outlineOf(data, bytes));
  if (low.length === 0) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (!data.stack) fillBelow(ctx, high, bbox.top + bbox.height, splitAt(u, data.capacity, 'area', 'over-area'));
  trace(ctx, [...high, ...low.reverse()]);
  ctx.closePath();
  ctx.globalAlpha = VEIL_ALPHA;
  ctx.fillStyle = token('panel');
  ctx.fill();
  ctx.restore();
}

/* What would be live after changes: dashed, over all that is. */
export function paintPredicted(u, { predicted, from, to, stepCount }, ratio) {
  if (!predicted) return;
  const { ctx, bbox } = u;
  const points = stepped(u, { x: predicted.steps, end: stepCount, from, to: to + 1, last: to }, predicted.bytes);
  if (points.length === 0) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  trace(ctx, points);
  ctx.setLineDash([]);
  ctx.strokeStyle = token('panel');
  ctx.lineWidth = 4 * ratio;
  ctx.stroke();
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  ctx.strokeStyle = token('accent');
  ctx.lineWidth = 2 * ratio;
  ctx.stroke();
  ctx.restore();
}

/* The same, in the pixels of uPlot's own canvas. */
const inPixels = (u) => ({ ctx: u.ctx, bbox: u.bbox, valToPos: (value, axis) => u.valToPos(value, axis, true) });

/* get() → what is drawn now, {from, to} the steps in view. */
export const createPlot = (host, get, hooks) =>
  makePlot(host, {
    padding: [4, RIGHT_PX, 0, 0],
    xs: () => get().steps,
    scales: {
      x: { time: false, range: () => [get().from, get().to + 1] },
      y: { range: (u) => [0, topWith(get(), u.height - X_AXIS_PX - 4)] },
    },
    axes: CURVE_AXES,
    series: [
      {
        stroke: (u) => splitAt(u, get().capacity, 'text', 'over'),
        width: 1.5,
        fill: (u) => (get().stack || get().ends ? null : splitAt(u, get().capacity, 'area', 'over-area')),
      },
      { show: get().hasUnpadded, stroke: () => token('text'), width: 1.25, dash: [4, 3] },
    ],
    paintBelow(u) {
      if (get().stripes) paintStripes(inPixels(u), get());
      else paintStack(inPixels(u), get());
      paintVeil(inPixels(u), get());
    },
    paint(u, ratio) {
      paintOver(inPixels(u), get(), ratio);
      const names = get().stripes ? paintStripeNames(inPixels(u), get(), ratio) : [];
      paintPredicted(inPixels(u), get(), ratio);
      paintCapacityLine(u, get(), ratio);
      paintMarksAndCapacity(u, get(), ratio, names);
    },
    hooks,
    columns: columnsOf(get()),
  });
