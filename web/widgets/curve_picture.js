/* SPDX-License-Identifier: Apache-2.0
 * curve_picture.js: the curve as a drawing of its own, for PNG and SVG: what is in view, with axes,
 * peak and capacity. The plot on the screen is uPlot's, whose paths cannot be taken over. */

import { count } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { byteLabels, byteSplits, paintMarks, stepIncrements } from './curve_marks.js';
import { paintCapacityLabel, paintCapacityLine, splitAt, topWith } from './curve_capacity.js';
import { LEFT_PX, RIGHT_PX } from './curve_plot.js';

const AXIS_PX = 26;
const TOP_PX = 4;
const TICK_PX = 70;
const LEAST_WIDTH_PX = 640;
const HEIGHT_PX = 280;

/* Points of a stepped line in view: [[x, y], …]. */
function stepped(u, data, values) {
  const { steps, from, to } = data;
  const points = [];
  for (let at = 0; at < steps.length; at++) {
    const until = at + 1 < steps.length ? steps[at + 1] : (data.lastStep ?? to) + 1;
    if (until <= from || steps[at] > to) continue;
    const y = u.valToPos(values[at], 'y');
    points.push([u.valToPos(Math.max(from, steps[at]), 'x'), y], [u.valToPos(Math.min(to + 1, until), 'x'), y]);
  }
  return points;
}

function line(context, points) {
  context.beginPath();
  for (const [at, point] of points.entries()) {
    if (at) context.lineTo(...point);
    else context.moveTo(...point);
  }
}

function paintAxes(u, data, top) {
  const { ctx, bbox } = u;
  ctx.font = `13px ${token('sans')}`;
  ctx.lineWidth = 1;
  ctx.strokeStyle = token('line');
  ctx.fillStyle = token('text2');
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'right';
  const splits = byteSplits(top, bbox.height);
  for (const [at, text] of byteLabels(splits).entries()) {
    const y = Math.round(u.valToPos(splits[at], 'y')) + 0.5;
    line(ctx, [
      [bbox.left, y],
      [bbox.left + bbox.width, y],
    ]);
    ctx.stroke();
    ctx.fillText(text, bbox.left - 6, y);
  }
  const room = ((data.to + 1 - data.from) * TICK_PX) / Math.max(1, bbox.width);
  const every = stepIncrements().find((step) => step >= room) ?? 1;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'center';
  for (let step = Math.ceil(data.from / every) * every; step <= data.to + 1; step += every)
    ctx.fillText(count(step), u.valToPos(step, 'x'), bbox.top + bbox.height + 7);
}

/* data: what the plot draws, see curve.js, {from, to} the steps in view. Paints width × height. */
function paintCurve(context, data, width, height) {
  const bbox = {
    left: LEFT_PX,
    top: TOP_PX,
    width: width - LEFT_PX - RIGHT_PX,
    height: height - AXIS_PX - TOP_PX,
  };
  const top = topWith(data, bbox.height);
  const u = {
    ctx: context,
    bbox,
    valToPos: (value, axis) =>
      axis === 'x'
        ? bbox.left + (bbox.width * (value - data.from)) / Math.max(1, data.to + 1 - data.from)
        : bbox.top + bbox.height * (1 - value / top),
  };
  paintAxes(u, data, top);
  const points = stepped(u, data, data.bytes);
  if (points.length) {
    const floor = bbox.top + bbox.height;
    line(context, [[points[0][0], floor], ...points, [points[points.length - 1][0], floor]]);
    context.closePath();
    context.fillStyle = splitAt(u, data.capacity, 'area', 'over-area');
    context.fill();
    line(context, points);
    context.strokeStyle = splitAt(u, data.capacity, 'text', 'over');
    context.lineWidth = 1.5;
    context.stroke();
    if (data.hasUnpadded !== false) {
      line(context, stepped(u, data, data.unpadded));
      context.strokeStyle = token('text');
      context.lineWidth = 1.25;
      context.setLineDash([4, 3]);
      context.stroke();
      context.setLineDash([]);
    }
  }
  paintCapacityLine(u, data, 1);
  paintCapacityLabel(u, data, 1, paintMarks(u, data, 1));
}

/* Words of what the lines mean. */
function curveLegend(data) {
  const isOver = data.capacity?.isOver && data.bytes.some((value) => value > data.capacity.bytes);
  return [
    { word: 'padded', colour: token('text'), kind: 'line' },
    data.hasUnpadded === false ? null : { word: 'unpadded', colour: token('text'), kind: 'dashed' },
    isOver ? { word: 'above capacity', colour: token('over'), kind: 'line' } : null,
  ].filter(Boolean);
}

/* For captioned() of export.js. */
export function curveDrawing(data, widthPx) {
  const width = Math.max(LEAST_WIDTH_PX, widthPx);
  return {
    width,
    height: HEIGHT_PX,
    paint: (context) => paintCurve(context, data, width, HEIGHT_PX),
    legend: curveLegend(data),
  };
}
