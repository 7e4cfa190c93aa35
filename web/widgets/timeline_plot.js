/* SPDX-License-Identifier: Apache-2.0
 * timeline_plot.js: the plot over time: stepped layers that lie one in front of the other, a share
 * on its own axis at the right. What was is held until the next event, never interpolated.
 *
 * get() → {range: [from, to], low, high, layers: [{values, fill, stroke, dash, isShare, isPale}], peak, localPeaks,
 * peakWords, capacity, note, failures: [{time, bytes, deviceFree, free}], predicted: {x, end, lines} or null, view:
 * what stripes.js paints, or null}. Layers are drawn in order: the largest sum first; a pale one is what is reached for
 * a part of a pixel only; that of the stripes (isStripes) says when these are. */

import { bytes } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { makePlot, X_AXIS_PX } from './chart.js';
import { paintLimitWords } from './curve_capacity.js';
import { paintMarks } from './curve_marks.js';
import { paintLimitLine, stepped, trace } from './picture_lines.js';
import { paintGapName, paintStripeNames, paintStripes } from './stripes.js';
import { byteTickLabels, byteTicks, columnsOf, TIME_INCREMENTS, timeLabels } from './timeline_axis.js';
import { paleTone } from './tones.js';

export const LEFT_PX = 80;
export const RIGHT_PX = 12;
export const SHARE_PX = 52;
const TOP_PX = 9;
const BREAK_PX = 6;
const LABEL_PX = 28;
const LINE_PX = 16; // of a label
const HANDLE_PX = 14; // of the slider, which stands before the top of the plot

/* Pure: what stripes.js paints, of what is in view. */
export const stripesInView = ({ striped, range: [from, to], end, lit }) =>
  striped ? { ...striped, from, to: to - 1, lastStep: end - 1, lit: lit?.pinned ?? null, isPart: false } : null;

/* Room above the values: for marks, and for the words of a request that failed. */
export const roomPx = ({ failures, range: [from, to] }) =>
  30 + (failures?.some(({ time }) => time >= from && time <= to) ? LINE_PX + HANDLE_PX : 0);

/* Height of the plot itself. */
export const plotPx = (hostPx) => Math.max(40, hostPx - X_AXIS_PX - TOP_PX);

/* The colour of a layer's area or edge. */
export const toneOfLayer = ({ isPale }, name) => (isPale ? paleTone(token(name), token('panel')) : token(name));

const seriesOf = ({ fill, stroke, dash, isShare, isPale, width }) => ({
  scale: isShare ? 'share' : 'y',
  stroke: () => toneOfLayer({ isPale }, stroke),
  fill: fill ? () => toneOfLayer({ isPale }, fill) : undefined,
  width: width ?? 1,
  dash,
  spanGaps: false,
});

const SHARE_AXIS = {
  scale: 'share',
  side: 1,
  grid: { show: false },
  size: SHARE_PX,
  splits: () => [0, 0.5, 1],
  values: (u, splits) => splits.map((value) => `${Math.round(100 * value)} %`),
};

/* Where the byte axis says that it is broken there is no room for a first label. */
function besideWords(u, splits, isBroken) {
  const labels = timeLabels(splits);
  return labels.map((label, at) =>
    isBroken && u.valToPos(splits[at], 'x') < LABEL_PX && at < labels.length - 1 ? '' : label,
  );
}

export function createPlot(host, get, hooks) {
  const { layers } = get();
  const hasShare = layers.some((layer) => layer.isShare);
  return makePlot(host, {
    padding: [TOP_PX, hasShare ? 0 : RIGHT_PX, 0, 0],
    xs: () => get().x,
    scales: {
      x: { time: false, range: () => get().range },
      y: { range: () => [get().low, get().high] },
      share: { range: () => [0, 1] },
    },
    axes: [
      { space: 80, incrs: TIME_INCREMENTS, values: (u, splits) => besideWords(u, splits, get().low > 0) },
      {
        size: LEFT_PX,
        splits: (u) => byteTicks(get().low, get().high, plotPx(u.height)),
        values: (u, splits) => byteTickLabels(splits),
      },
      ...(hasShare ? [SHARE_AXIS] : []),
    ],
    series: layers.map(seriesOf),
    paint: (u, ratio) => paintOver(u, get(), ratio),
    hooks: {
      ...hooks,
      drawSeries: [(u, at) => get().view && get().layers[at - 1]?.isStripes && paintStripes(inPixels(u), get().view)],
    },
    columns: columnsOf(get()),
  });
}

/* A broken axis says so: two cuts at its foot, and the words. */
function paintBreak(u, ratio) {
  const { ctx, bbox } = u;
  const x = bbox.left;
  const y = bbox.top + bbox.height - 10 * ratio;
  ctx.save();
  ctx.strokeStyle = token('text');
  ctx.lineWidth = 1.5 * ratio;
  for (const at of [0, 4 * ratio]) {
    ctx.beginPath();
    ctx.moveTo(x - BREAK_PX * ratio, y - at + 3 * ratio);
    ctx.lineTo(x + BREAK_PX * ratio, y - at - 3 * ratio);
    ctx.stroke();
  }
  ctx.restore();
}

/* Requests that failed: a line each, and beside the last one in view what was asked for. Out: the box of these
 * words. */
function paintFailures(u, { failures, range: [from, to] }, ratio) {
  const { ctx, bbox } = u;
  const shown = failures.filter(({ time }) => time >= from && time <= to);
  const boxes = [];
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = token('over');
  ctx.font = `600 ${13 * ratio}px ${token('sans')}`;
  ctx.textBaseline = 'top';
  shown.forEach((failure, at) => {
    const x = Math.min(bbox.left + bbox.width - ratio, Math.round(u.valToPos(failure.time, 'x', true)));
    ctx.lineWidth = (at < shown.length - 1 ? 1 : 2) * ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (at < shown.length - 1) return;
    const [asked, free] = failureWords(failure);
    /* What was free, where there is room. */
    const both = free ? `${asked}, ${free}` : asked;
    const words = ctx.measureText(both).width > 0.8 * bbox.width ? asked : both;
    const isLeft = x + 6 * ratio + ctx.measureText(words).width > bbox.left + bbox.width;
    const place = [words, x + (isLeft ? -6 : 6) * ratio, bbox.top + HANDLE_PX * ratio];
    const width = ctx.measureText(words).width;
    const middle = place[2] + (LINE_PX * ratio) / 2;
    boxes.push({ x: place[1] - (isLeft ? width : 0), y: middle, width, height: LINE_PX * ratio });
    ctx.textAlign = isLeft ? 'right' : 'left';
    ctx.setLineDash([]);
    ctx.save();
    ctx.strokeStyle = token('panel');
    ctx.lineWidth = 4 * ratio;
    ctx.lineJoin = 'round';
    ctx.strokeText(...place);
    ctx.restore();
    ctx.fillText(...place);
  });
  ctx.restore();
  return boxes;
}

/* What would be held after changes: dashed, over all that is. */
export function paintPredicted({ ctx, bbox, valToPos }, { predicted, range: [from, to] }, ratio) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const values of predicted.lines) {
    const points = stepped({ valToPos }, { x: predicted.x, end: predicted.end, from, to }, values);
    if (points.length === 0) continue;
    trace(ctx, points);
    ctx.setLineDash([]);
    ctx.strokeStyle = token('panel');
    ctx.lineWidth = 4 * ratio;
    ctx.stroke();
    ctx.setLineDash([5 * ratio, 3 * ratio]);
    ctx.strokeStyle = token('accent');
    ctx.lineWidth = 2 * ratio;
    ctx.stroke();
  }
  ctx.restore();
}

const inPixels = (u) => ({ ctx: u.ctx, bbox: u.bbox, valToPos: (value, axis) => u.valToPos(value, axis, true) });

/* What was asked for, and what was free then, as far as it is known. */
function failureWords({ bytes: asked, deviceFree, free }) {
  const parts = [deviceFree != null && bytes(deviceFree), free != null && `${bytes(free)} in segments`].filter(Boolean);
  return [`failed: ${bytes(asked)}`, parts.length ? `free: ${parts.join(' + ')}` : ''];
}

/* Words of what failed stand first, then the peak's, those of the capacity and of what lies above the stripes. */
function paintOver(u, data, ratio) {
  if (data.low > 0) paintBreak(u, ratio);
  const isLine = data.capacity != null && paintLimitLine(u, data.capacity.bytes, ratio) != null;
  const names = data.view ? paintStripeNames(inPixels(u), data.view, ratio) : [];
  if (data.predicted) paintPredicted(inPixels(u), data, ratio);
  if (data.failures?.length) names.push(...paintFailures(u, data, ratio));
  const [from, to] = data.range;
  const limitWords = (firm, soft) =>
    isLine ? paintLimitWords(u, data.capacity, true, ratio, [...names, ...firm], soft) : [];
  const taken = data.peak ? paintMarks(u, { ...data, from, to, capacity: null }, ratio, limitWords) : [];
  if (!data.peak) limitWords([], []);
  if (data.view) paintGapName(inPixels(u), data.view, taken, ratio);
}
