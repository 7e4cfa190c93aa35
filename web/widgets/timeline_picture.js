/* SPDX-License-Identifier: Apache-2.0
 * timeline_picture.js: a timeline as a drawing of its own, for PNG and SVG: what is in view, with axes,
 * layers, lanes and peak. The plot on the screen is uPlot's, whose paths cannot be taken over. */

import { cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { increment, multiples, paintMarks } from './curve_marks.js';
import { fillBelow, paintByteAxis, stepped, trace } from './picture_lines.js';
import { paintGapName, paintStripeNames, paintStripes } from './stripes.js';
import { axisWords, byteRange, byteTickLabels, byteTicks, TIME_INCREMENTS, timeLabels } from './timeline_axis.js';
import { paintPredicted, roomPx, stripesInView, toneOfLayer } from './timeline_plot.js';

const LEFT_PX = 84;
const RIGHT_PX = 56;
const TOP_PX = 9;
const AXIS_PX = 34;
const PLOT_PX = 260;
const ROW_PX = 18;
const TICK_PX = 90;
const MIN_WIDTH_PX = 720;
const LETTER_PX = 7;

function paintAxes(u, data, [low, high]) {
  const { ctx, bbox } = u;
  const ticks = byteTicks(low, high, bbox.height);
  paintByteAxis(u, ticks, byteTickLabels(ticks));
  const [from, to] = data.range;
  const times = multiples(increment(TIME_INCREMENTS, to - from, bbox.width, TICK_PX), from, to);
  ctx.textBaseline = 'top';
  ctx.textAlign = 'center';
  for (const [at, text] of timeLabels(times).entries())
    ctx.fillText(text, u.valToPos(times[at], 'x'), bbox.top + bbox.height + 6);
  ctx.textAlign = 'left';
  ctx.font = `12px ${token('sans')}`;
  ctx.fillText(axisWords(low), 0, bbox.top + bbox.height + 20);
  if (!data.layers.some((layer) => layer.isShare)) return;
  ctx.textBaseline = 'middle';
  for (const share of [0, 0.5, 1])
    ctx.fillText(`${100 * share} %`, bbox.left + bbox.width + 6, u.valToPos(share, 'share'));
}

function paintLayers(u, data, view) {
  const { ctx, bbox } = u;
  const floor = bbox.top + bbox.height;
  const { x, range } = data;
  const line = { x, end: Math.max(data.end, x[x.length - 1] + 1), from: range[0], to: range[1] };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const layer of data.layers) {
    const { values, fill, stroke, dash, isShare, isStripes, width } = layer;
    if (isStripes) {
      paintStripes(u, view);
      continue;
    }
    const points = stepped(u, line, values, isShare ? 'share' : 'y');
    if (points.length === 0) continue;
    if (fill) fillBelow(ctx, points, floor, toneOfLayer(layer, fill));
    trace(ctx, points);
    ctx.strokeStyle = toneOfLayer(layer, stroke);
    ctx.lineWidth = width ?? 1;
    ctx.setLineDash(dash ?? []);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.restore();
}

function paintLanes(u, data, lanes, top) {
  const { ctx, bbox } = u;
  ctx.font = `12px ${token('sans')}`;
  ctx.textBaseline = 'middle';
  for (const [row, lane] of lanes.entries()) {
    const y = top + row * ROW_PX;
    ctx.textAlign = 'right';
    ctx.fillStyle = token('text2');
    ctx.fillText(cutMiddle(visible(lane.title), 11), bbox.left - 6, y + ROW_PX / 2);
    ctx.textAlign = 'left';
    for (const item of lane.items) {
      const left = Math.max(bbox.left, u.valToPos(item.from, 'x'));
      const wide = Math.min(bbox.left + bbox.width, u.valToPos(item.to, 'x')) - left;
      if (wide <= 0) continue;
      ctx.fillStyle = token('lane');
      ctx.fillRect(left, y + 2, Math.max(1, wide - 1), ROW_PX - 4);
      const max = Math.floor((wide - 8) / LETTER_PX);
      if (max < 1 || (item.text.length > max && max < 6)) continue;
      ctx.fillStyle = token('text');
      ctx.fillText(cutMiddle(visible(item.text), max), left + 4, y + ROW_PX / 2);
    }
  }
}

/* data: what the chart draws, see timeline.js; lanes: what stands below it. For captioned() of export.js. */
export function timelineDrawing(data, lanes, widthPx, legend) {
  const width = Math.max(MIN_WIDTH_PX, widthPx + LEFT_PX + RIGHT_PX);
  const bbox = { left: LEFT_PX, top: TOP_PX, width: width - LEFT_PX - RIGHT_PX, height: PLOT_PX };
  const [low, high] = byteRange(data, PLOT_PX, roomPx(data));
  const [from, to] = data.range;
  const view = stripesInView(data);
  const places = {
    x: (value) => bbox.left + (bbox.width * (value - from)) / Math.max(1, to - from),
    y: (value) => bbox.top + bbox.height * (1 - (value - low) / (high - low)),
    share: (value) => bbox.top + bbox.height * (1 - value),
  };
  return {
    width,
    height: TOP_PX + PLOT_PX + AXIS_PX + lanes.length * ROW_PX,
    paint(context) {
      const u = { ctx: context, bbox, valToPos: (value, axis) => places[axis](value) };
      paintAxes(u, data, [low, high]);
      paintLayers(u, data, view);
      if (view) paintStripeNames(u, view, 1);
      if (data.predicted) paintPredicted(u, data, 1);
      const taken = paintMarks(u, { ...data, from, to, capacity: null }, 1);
      if (view) paintGapName(u, view, taken, 1);
      paintLanes(u, data, lanes, TOP_PX + PLOT_PX + AXIS_PX);
    },
    legend,
  };
}
