/* SPDX-License-Identifier: Apache-2.0
 * curve_plot.js: the plot under a curve: axes, series and what is painted on them.
 * Memory is constant between events, so the line is stepped, never interpolated. */

import { count } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { pointAt } from './readings.js';
import { byteLabels, byteSplits, LABEL_HALF_PX, paintMarks, STEP_INCREMENTS } from './curve_marks.js';
import { paintCapacityLabel, paintCapacityLine, splitAt, topWith } from './curve_capacity.js';

/* Loaded by index.html as it is published, minified: half the size of its module. */
const { uPlot } = globalThis;
const FONT = '13px';
const X_AXIS_PX = 26;
/* Plots that stand one above the other begin and end at the same x. */
export const LEFT_PX = 72;
export const RIGHT_PX = 12;

function paintOver(u, data, ratio) {
  paintCapacityLine(u, data, ratio);
  paintCapacityLabel(u, data, ratio, paintMarks(u, data, ratio));
}

/* get() → what is drawn now, {from, to} the steps in view. */
function options(host, get, hooks) {
  const font = `${FONT} ${token('sans')}`;
  const axis = { stroke: () => token('text2'), grid: { stroke: () => token('line'), width: 1 }, font };
  const paths = uPlot.paths.stepped({ align: 1 });
  return {
    width: Math.max(80, host.clientWidth),
    height: Math.max(60, host.clientHeight),
    legend: { show: false },
    pxAlign: 1,
    padding: [4, RIGHT_PX, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false, setScale: false },
      bind: { dblclick: () => null },
      dataIdx: (u, series, hovered, x) => pointAt(get().steps, x),
    },
    scales: {
      x: { time: false, range: () => [get().from, get().to + 1] },
      y: { range: (u) => [0, topWith(get(), u.height - X_AXIS_PX - 4)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { stroke: () => token('line'), size: 4 },
        size: X_AXIS_PX,
        gap: 2,
        space: 70,
        incrs: STEP_INCREMENTS,
        values: (u, splits) => splits.map((value) => (Number.isInteger(value) ? count(value) : '')),
      },
      {
        ...axis,
        ticks: { show: false },
        size: LEFT_PX,
        gap: 6,
        splits: (u, at, low, high) => byteSplits(high, u.height - X_AXIS_PX - 4, LABEL_HALF_PX),
        values: (u, splits) => byteLabels(splits),
      },
    ],
    series: [
      {},
      {
        stroke: (u) => splitAt(u, get().capacity, 'text', 'over'),
        width: 1.5,
        fill: (u) => splitAt(u, get().capacity, 'area', 'over-area'),
        paths,
        points: { show: false },
      },
      {
        show: get().hasUnpadded,
        stroke: () => token('text'),
        width: 1.25,
        dash: [4, 3],
        paths,
        points: { show: false },
      },
    ],
    hooks: { ...hooks, draw: [(u) => paintOver(u, get(), uPlot.pxRatio), ...(hooks.draw ?? [])] },
  };
}

/* One value more at the end, so that the last step has a width as well. */
export function columnsOf(data) {
  const last = data.steps.length - 1;
  return [
    [...data.steps, data.lastStep + 1],
    [...data.bytes, data.bytes[last]],
    [...data.unpadded, data.unpadded[last]],
  ];
}

export function createPlot(host, get, hooks) {
  return new uPlot(options(host, get, hooks), columnsOf(get()), host);
}
