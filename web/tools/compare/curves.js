/* SPDX-License-Identifier: Apache-2.0
 * curves.js: what is live in A and in B along one axis, on which the same place of both programs is one place. */

import { el, fill } from '../../lib/dom.js';
import { bytes } from '../../lib/format.js';
import { moved, zoomed } from '../../lib/range.js';
import { token } from '../../lib/theme.js';
import { createChart, makePlot, X_AXIS_PX } from '../../widgets/chart.js';
import { bindSliderKeys } from '../../widgets/curve_keys.js';
import { byteLabels, byteSplits, topOf } from '../../widgets/curve_marks.js';
import { CURVE_AXES, LEFT_PX, RIGHT_PX } from '../../widgets/curve_plot.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';
import { SIDE_TONES } from '../../widgets/sets.js';
import { fillBelow, paintByteAxis, stepped, trace } from '../../widgets/picture_lines.js';
import { toast } from '../../widgets/toast.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { mergedCurves, readPlace } from './places.js';
import { curvesLabel, placeLines, placeSentence } from './text.js';

const SIDES = ['a', 'b'];
const LABEL_ROOM_PX = 22;
const MIN_PLACES = 8;
const PICTURE = { width: 640, height: 280 };
const WAYS = [
  ['', 'aligned by scope'],
  ['position', 'aligned by schedule position'],
];

/* ▼ and a word above the moment that is compared of each side; B's to the right where they are one place. */
function paintMarks(u, { data }, ratio) {
  const { ctx } = u;
  ctx.save();
  ctx.font = `${12 * ratio}px ${token('sans')}`;
  ctx.textBaseline = 'bottom';
  for (const [at, side] of SIDES.entries()) {
    const { place, bytes: value } = data[side];
    if (place == null) continue;
    const x = u.valToPos(place, 'x', true);
    const y = u.valToPos(value, 'y', true);
    if (x < u.bbox.left - 1 || x > u.bbox.left + u.bbox.width + 1) continue;
    ctx.fillStyle = token(SIDE_TONES[at]);
    ctx.beginPath();
    ctx.moveTo(x - 5 * ratio, y - 9 * ratio);
    ctx.lineTo(x + 5 * ratio, y - 9 * ratio);
    ctx.lineTo(x, y - ratio);
    ctx.fill();
    ctx.textAlign = at ? 'left' : 'right';
    ctx.fillText(`${side.toUpperCase()} ${bytes(value)}`, x + (at ? 8 : -8) * ratio, y - ratio);
  }
  ctx.restore();
}

const createPlot = (host, get, hooks) =>
  makePlot(host, {
    padding: [4, RIGHT_PX, 0, 0],
    xs: () => get().columns[0],
    scales: {
      x: { time: false, range: () => get().range },
      y: { range: (u) => [0, topOf(get().max, u.height - X_AXIS_PX - 4, LABEL_ROOM_PX)] },
    },
    axes: CURVE_AXES,
    series: [
      { stroke: () => token(SIDE_TONES[0]), width: 1.5, fill: () => token('area') },
      { stroke: () => token(SIDE_TONES[1]), width: 1.5, dash: [4, 3] },
    ],
    paint: (u, ratio) => paintMarks(u, get(), ratio),
    hooks,
    columns: get().columns,
  });

/* For PNG and SVG. */
function drawingOf(state) {
  const { width, height } = PICTURE;
  const bbox = { left: LEFT_PX, top: 4, width: width - LEFT_PX - RIGHT_PX, height: height - X_AXIS_PX - 4 };
  const top = topOf(state.max, bbox.height, LABEL_ROOM_PX);
  const [from, to] = state.range;
  const paint = (ctx) => {
    const u = {
      ctx,
      bbox,
      valToPos: (value, axis) =>
        axis === 'x'
          ? bbox.left + (bbox.width * (value - from)) / Math.max(1, to - from)
          : bbox.top + bbox.height * (1 - value / top),
    };
    const splits = byteSplits(top, bbox.height);
    paintByteAxis(u, splits, byteLabels(splits));
    for (const [at, [colour, dash]] of [
      [SIDE_TONES[0], []],
      [SIDE_TONES[1], [4, 3]],
    ].entries()) {
      const points = stepped(u, { x: state.columns[0], end: to, from, to }, state.columns[at + 1]);
      if (!points.length) continue;
      if (!at) fillBelow(ctx, points, bbox.top + bbox.height, token('area'));
      trace(ctx, points);
      ctx.strokeStyle = token(colour);
      ctx.lineWidth = 1.5;
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    paintMarks(u, state, 1);
  };
  return {
    width,
    height,
    paint,
    legend: [
      { word: 'A', colour: token(SIDE_TONES[0]), kind: 'line' },
      { word: 'B', colour: token(SIDE_TONES[1]), kind: 'dashed' },
    ],
  };
}

const legend = () =>
  el(
    'span',
    { class: 'curves-legend' },
    el('span', { class: 'curves-a' }, 'A'),
    ' ',
    el('span', { class: 'curves-b' }, 'B'),
  );

/* The line below the plot: what holds at the place that was clicked, and its link. */
function createPlaceLine(onCompareSteps) {
  const node = el('p', { class: 'curves-place', role: 'status', hidden: true });
  return {
    node,
    show(reading) {
      node.hidden = !reading;
      if (!reading) return;
      const run = () => onCompareSteps({ a: reading.a.step, b: reading.b.step });
      fill(
        node,
        placeSentence(reading),
        ' ',
        el('button', { type: 'button', class: 'text-button', on: { click: run } }, 'Compare these steps'),
      );
    },
  };
}

/* What pointer, wheel and fingers do on the plot; a drag zooms to what it marked. */
const gesturesOf = (state, chartOf, { placeAt, setRange, moment }) => ({
  click: ({ x }) => moment(placeAt(x)),
  double: () => setRange(state.all, true),
  select(a, b, isEnd) {
    const [from, to] = b ? [placeAt(a.x), placeAt(b.x)].sort((x, y) => x - y) : [0, 0];
    chartOf().over.set({ window: b && !isEnd ? [from, to] : null });
    if (b && isEnd && to - from >= MIN_PLACES) setRange([from, to], true);
  },
  pan(dx, dy, isEnd) {
    const perPx = (state.range[1] - state.range[0]) / Math.max(1, chartOf().plot.over.clientWidth);
    setRange(moved(state.range, state.all, -dx * perPx), isEnd);
  },
  zoom: ({ x }, factor) => setRange(zoomed(state.range, state.all, MIN_PLACES, placeAt(x), factor), true),
  hint: () => toast('Click the chart or hold Ctrl to zoom'),
});

const menuOf = (state) =>
  exportEntries({
    name: 'curves',
    title: 'Live bytes of A and B',
    drawing: () => state.data && drawingOf(state),
    table: () => {
      const [places, a, b] = state.columns;
      return {
        columns: [{ key: 'place' }, { key: 'a_live_bytes' }, { key: 'b_live_bytes' }],
        rows: places.map((place, at) => ({ place, a_live_bytes: a[at], b_live_bytes: b[at] })),
      };
    },
  });

/* How the two are laid along one axis. */
const createAlignChoice = (onChoose) => {
  const select = el(
    'select',
    {
      class: 'compare-align',
      'aria-label': 'How the curves are aligned',
      on: { change: () => onChoose(select.value) },
    },
    WAYS.map(([value, word]) => el('option', { value }, word)),
  );
  return select;
};

/* ask(view, params); onCompareSteps({a, b}). Out: {node, load(route), hear(route), showSpans(spans), destroy()}. */
export function createCurves({ context, ask, onCompareSteps }) {
  const state = { data: null, columns: [[], [], []], range: [0, 1], all: [0, 1], max: 1, align: null, drawn: null };
  const select = createAlignChoice((align) =>
    context.choose({ tool: 'compare', align, from: null, to: null, step: null }),
  );
  const line = createPlaceLine(onCompareSteps);
  const setRange = (next, isEnd) => {
    state.range = next;
    chart.repaint();
    const isAll = next[0] <= 0 && next[1] >= state.all[1];
    if (isEnd)
      context.move({
        tool: 'compare',
        from: isAll ? null : Math.floor(next[0]),
        to: isAll ? null : Math.ceil(next[1]),
      });
  };
  const placeAt = (x) => Math.max(0, Math.min(state.all[1], chart.plot.posToVal(x, 'x')));
  const hover = (place) => {
    showTooltip(`p:${place}`, placeLines(readPlace(state.data, place)), chart.markAt(place));
  };
  const onCursor = (u) => {
    if (u.cursor.left < 0) hideTooltip();
    else if (u.over.matches(':hover')) hover(placeAt(u.cursor.left));
  };
  const moment = (place) => context.choose({ tool: 'compare', step: Math.round(place) });
  const chart = createChart({
    className: 'curve curves',
    overlay: { flagClass: 'curve-mark', isFlagOnTop: false, unit: 0 },
    isReady: () => state.data != null,
    make(host, place) {
      state.drawn = state.columns;
      return createPlot(host, () => state, { setCursor: [onCursor], draw: [place] });
    },
    stretch(plot) {
      if (state.drawn === state.columns) plot.setScale('x', { min: state.range[0], max: state.range[1] });
      else plot.setData(state.columns);
      state.drawn = state.columns;
    },
    label: () => curvesLabel(state.data),
    gestures: gesturesOf(state, () => chart, { placeAt, setRange, moment }),
  });
  const shown = () =>
    Number.isInteger(context.route.step) ? Math.min(context.route.step, state.all[1]) : (state.data?.b.place ?? 0);
  bindSliderKeys(chart.slider, {
    get: () =>
      state.data && {
        to: state.all[1],
        peak: state.data.b.place == null ? null : { step: Math.round(state.data.b.place) },
        localPeaks: [],
        moment: Math.round(shown()),
      },
    to(place) {
      const at = Math.max(0, Math.min(state.all[1], place));
      context.move({ tool: 'compare', step: at });
      if (chart.plot) hover(at);
    },
    leave: hideTooltip,
  });
  const panel = createPanel('panel-curves', 'Both curves over program order', { menu: menuOf(state) });
  panel.setAside(legend(), select);
  panel.head.after(line.node);
  panel.body.append(chart.node);

  function mark(route) {
    const isSet = Number.isInteger(route.step) && route.step >= 0;
    const reading = isSet && state.data ? readPlace(state.data, Math.min(route.step, state.all[1])) : null;
    chart.over.set({ moment: reading ? reading.place : null });
    line.show(reading);
    if (state.data) chart.say(Math.round(shown()), placeSentence(readPlace(state.data, shown())));
  }
  function view({ from, to }) {
    const isSet = Number.isInteger(from) && Number.isInteger(to) && to > from;
    state.range = isSet ? [Math.max(0, from), Math.min(state.all[1], to)] : state.all;
    if (state.range[1] <= state.range[0]) state.range = state.all;
    chart.repaint();
  }
  async function load(route) {
    const align = route.align === 'position' ? 'position' : '';
    select.value = align;
    state.align = align;
    const end = panel.wait('', null);
    try {
      const { data } = await ask('curve', { width: 1024, align: align || 'scope' });
      state.data = data;
      state.columns = mergedCurves(data);
      state.all = [0, Math.max(1, data.axis_length)];
      state.max = Math.max(
        1,
        ...[state.columns[1], state.columns[2]].map((list) => list.reduce((max, value) => Math.max(max, value), 0)),
      );
      chart.setSlider(
        `${curvesLabel(data)} Arrow keys move the place that is read, p goes to the peak of B.`,
        state.all,
      );
      panel.show();
      view(route);
      mark(route);
    } finally {
      end();
    }
  }
  return {
    node: panel.node,
    load,
    hear(route) {
      if ((route.align === 'position' ? 'position' : '') !== state.align) return load(route);
      view(route);
      mark(route);
      return null;
    },
    showSpans: (spans) => chart.over.set({ spans }),
    destroy: chart.destroy,
  };
}
