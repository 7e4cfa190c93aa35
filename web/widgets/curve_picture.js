/* SPDX-License-Identifier: Apache-2.0
 * curve_picture.js: the curve as a drawing of its own, for PNG and SVG: what is in view, with axes,
 * peak and capacity. The plot on the screen is uPlot's, whose paths cannot be taken over. */

import { count } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { byteLabels, byteSplits, paintMarks, stepIncrements } from './curve_marks.js';
import { paintCapacityLabel, paintCapacityLine, splitAt, topWith } from './curve_capacity.js';
import { LEFT_PX, RIGHT_PX } from './curve_plot.js';
import { fillBelow, paintByteAxis, stepped, trace } from './picture_lines.js';

const AXIS_PX = 26;
const TOP_PX = 4;
const TICK_PX = 70;
const MIN_WIDTH_PX = 640;
const HEIGHT_PX = 280;

function paintAxes(u, data, top) {
  const { ctx, bbox } = u;
  const splits = byteSplits(top, bbox.height);
  paintByteAxis(u, splits, byteLabels(splits));
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
  const { steps: x, from, to } = data;
  const line = { x, end: (data.lastStep ?? to) + 1, from, to: to + 1, last: to };
  const points = stepped(u, line, data.bytes);
  if (points.length) {
    fillBelow(context, points, bbox.top + bbox.height, splitAt(u, data.capacity, 'area', 'over-area'));
    trace(context, points);
    context.strokeStyle = splitAt(u, data.capacity, 'text', 'over');
    context.lineWidth = 1.5;
    context.stroke();
    if (data.hasUnpadded !== false) {
      trace(context, stepped(u, line, data.unpadded));
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
  const width = Math.max(MIN_WIDTH_PX, widthPx);
  return {
    width,
    height: HEIGHT_PX,
    paint: (context) => paintCurve(context, data, width, HEIGHT_PX),
    legend: curveLegend(data),
  };
}
