/* SPDX-License-Identifier: Apache-2.0
 * picture_lines.js: what drawings of curves have in common: stepped lines, the byte axis, a limit. `u` is
 * {ctx, bbox, valToPos(value, axis)}, as of uPlot. */

import { token } from '../lib/theme.js';

/* Points of a stepped line in view, [[x, y], …]: values[i] holds from x[i] up to the next one, the last up to `end`;
 * from … to is in view, what begins behind `last` is not. A value that is not known (null) is left out. */
export function stepped(u, { x, end, from, to, last = to }, values, axis = 'y') {
  const points = [];
  for (let at = 0; at < x.length; at++) {
    const until = at + 1 < x.length ? x[at + 1] : end;
    if (until <= from || x[at] > last || values[at] == null) continue;
    const y = u.valToPos(values[at], axis);
    points.push([u.valToPos(Math.max(from, x[at]), 'x'), y], [u.valToPos(Math.min(to, until), 'x'), y]);
  }
  return points;
}

export function trace(context, points) {
  context.beginPath();
  for (const [at, point] of points.entries()) {
    if (at) context.lineTo(...point);
    else context.moveTo(...point);
  }
}

/* The area below a line, down to `floor`. */
export function fillBelow(context, points, floor, fill) {
  trace(context, [[points[0][0], floor], ...points, [points[points.length - 1][0], floor]]);
  context.closePath();
  context.fillStyle = fill;
  context.fill();
}

/* A limit across a plot of uPlot. Out: its height, or null: it is out of view. */
export function paintLimitLine(u, bytes, ratio) {
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(bytes, 'y', true));
  if (!(y >= bbox.top && y <= bbox.top + bbox.height)) return null;
  ctx.fillStyle = token('text');
  ctx.fillRect(bbox.left, y - ratio, bbox.width, 2 * ratio);
  return y;
}

/* The same with its words at the left above it. */
export function paintLimit(u, { bytes, text }, ratio) {
  const { ctx, bbox } = u;
  ctx.save();
  const y = paintLimitLine(u, bytes, ratio);
  if (y != null) {
    ctx.font = `600 ${12 * ratio}px ${token('sans')}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'bottom';
    ctx.fillText(text, bbox.left + 4 * ratio, y - 3 * ratio);
  }
  ctx.restore();
}

/* A line across and a label at the left of each tick. Leaves font and colour for the axis below. */
export function paintByteAxis({ ctx, bbox, valToPos }, ticks, labels) {
  ctx.font = `13px ${token('sans')}`;
  ctx.lineWidth = 1;
  ctx.strokeStyle = token('line');
  ctx.fillStyle = token('text2');
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'right';
  for (const [at, text] of labels.entries()) {
    const y = Math.round(valToPos(ticks[at], 'y')) + 0.5;
    trace(ctx, [
      [bbox.left, y],
      [bbox.left + bbox.width, y],
    ]);
    ctx.stroke();
    ctx.fillText(text, bbox.left - 6, y);
  }
}
