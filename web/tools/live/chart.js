/* SPDX-License-Identifier: Apache-2.0
 * chart.js: what one device of one process has in use over time, as a panel: the most and the least between two looks,
 * what the allocator has reserved, the capacity. Its own file: a plot that lives as long as its line does. */

import { nextFrame } from '../../lib/activity.js';
import { el, fill } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { onTheme, token } from '../../lib/theme.js';
import { makePlot, X_AXIS_PX } from '../../widgets/chart.js';
import { byteLabels, byteSplits, LABEL_HALF_PX, topOf } from '../../widgets/curve_marks.js';
import { createLegend } from '../../widgets/legend.js';
import { createPanel } from '../../widgets/panel.js';
import { paintLimit } from '../../widgets/picture_lines.js';
import * as say from './text.js';

const LEFT_PX = 72;
const ROOM_PX = 24;
const INCREMENTS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

const clockText = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 8);

/* Out: {node, draw(line of LiveRun), destroy()}. */
export function createLiveChart() {
  const panel = createPanel('panel-live', '');
  const legend = createLegend('Lines');
  const host = el('div', { class: 'live-host' });
  const state = el('p', { class: 'live-state' });
  let line = null;
  let extent = { most: 1, capacity: null };
  let plot = null;
  panel.setAside(legend.node);
  panel.body.append(host, state);

  const columns = ({ at_ms: at, high_bytes: high, low_bytes: low, reserved_bytes: reserved }) => [
    at.map((ms) => ms / 1000),
    high,
    low,
    reserved,
  ];
  const { uPlot } = globalThis;
  const paths = uPlot.paths.stepped({ align: -1 }); // a value is of the time since the look before
  const make = () =>
    makePlot(host, {
      padding: [4, 12, 0, 0],
      xs: () => columns(line.samples)[0],
      scales: { x: { time: false }, y: { range: (u) => [0, topOf(extent.most, u.height - X_AXIS_PX - 4, ROOM_PX)] } },
      axes: [
        { space: 90, incrs: INCREMENTS_S, values: (u, splits) => splits.map(clockText) },
        {
          size: LEFT_PX,
          splits: (u, at, low, high) => byteSplits(high, u.height - X_AXIS_PX - 4, LABEL_HALF_PX),
          values: (u, splits) => byteLabels(splits),
        },
      ],
      series: [
        { paths, stroke: () => token('text'), width: 1.5, fill: () => token('area') },
        { paths, stroke: () => token('accent'), width: 1.25 },
        { paths, stroke: () => token('text2'), width: 1.25, dash: [4, 3], spanGaps: false },
      ],
      paint: (u, ratio) =>
        extent.capacity != null &&
        paintLimit(u, { bytes: extent.capacity, text: `capacity ${bytes(extent.capacity)}` }, ratio),
      hooks: {},
      columns: columns(line.samples),
    });
  const paint = () => {
    const [width, height] = [host.clientWidth, host.clientHeight];
    if (!line || width <= 0 || height <= 0) return;
    if (!plot) plot = make();
    else {
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
      plot.setData(columns(line.samples));
    }
    const { canvas } = plot.ctx;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `${visible(line.name)} over time. ${visible(line.sentence)}.`);
  };
  const watch = new ResizeObserver(() => nextFrame(paint));
  const offTheme = onTheme(() => nextFrame(() => plot?.redraw(false, true)));
  watch.observe(host);
  const drawLegend = () =>
    legend.set([
      { fill: token('text'), word: 'in use, the most' },
      { fill: token('accent'), word: 'the least' },
      ...(line.reserved_bytes == null ? [] : [{ fill: token('text2'), word: 'reserved, dashed' }]),
    ]);

  return {
    node: panel.node,
    draw(next) {
      line = next;
      extent = say.extentOf(line);
      panel.setTitle(visible(line.name));
      drawLegend();
      fill(state, el('span', {}, `${visible(line.sentence)}. `), el('span', {}, say.stateOf(line)));
      nextFrame(paint);
    },
    destroy() {
      watch.disconnect();
      offTheme();
      plot?.destroy();
    },
  };
}
