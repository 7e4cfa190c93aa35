/* SPDX-License-Identifier: Apache-2.0
 * curve.js: live bytes over program order, the moment on it and a brush below. The plot is
 * drawn once for a range; hover, moment and window lie over it.
 *
 * Data: {from, to, stepCount, steps[], bytes[], unpadded[], isThinned, width: parts it was thinned to, peak,
 * localPeaks[], capacity}; value i holds during step i and up to the next one; capacity is {bytes, text, isOver} or
 * null; stack: as of curve_plot.js, shown while setStacked('category'), as stripes of buffers while setStacked('');
 * predicted: {steps[], bytes[]} of the same steps, drawn dashed, or null. */

import { count } from '../lib/format.js';
import { following, moved, whole, zoomed } from '../lib/range.js';
import { token } from '../lib/theme.js';
import { createBrush } from './brush.js';
import { createChart } from './chart.js';
import { bindSliderKeys } from './curve_keys.js';
import { paintCapacityLine, paintMarksAndCapacity, paintOver, splitAt, topWith } from './curve_capacity.js';
import { byteLabels, byteSplits, increment, multiples, STEP_INCREMENTS } from './curve_marks.js';
import {
  columnsOf,
  createPlot,
  LEFT_PX,
  outlineOf,
  paintPredicted,
  paintStack,
  paintVeil,
  RIGHT_PX,
} from './curve_plot.js';
import { fillBelow, paintByteAxis, stepped, trace } from './picture_lines.js';
import { pointAt, readAt } from './readings.js';
import { createLit } from './curve_lit.js';
import { spread, taken } from './spread.js';
import { bandAt, layStripes, paintStripeNames, paintStripes } from './stripes.js';

const SNAP_PX = 4;
export const MIN_STEPS = 8;
const PICTURE_AXIS_PX = 26;
const TOP_PX = 4;
const TICK_PX = 70;
const MIN_WIDTH_PX = 640;
const HEIGHT_PX = 280;

const largest = (...lists) => lists.reduce((max, list) => list.reduce((a, b) => Math.max(a, b), max), 1);

/* The step under x; where steps are narrower than a pixel, the peak within 4 px of it. */
function stepUnder(u, data, x) {
  const step = Math.max(data.from, Math.min(data.to, Math.floor(u.posToVal(x, 'x'))));
  if (!data.peak || u.valToPos(1, 'x') - u.valToPos(0, 'x') >= SNAP_PX) return step;
  return Math.abs(u.valToPos(data.peak.step + 0.5, 'x') - x) <= SNAP_PX ? data.peak.step : step;
}

/* Pure: what is drawn of a range: the detail where it covers what is in view, else the whole, stretched. */
function composed(all, detail, range, { hasUnpadded, stacked, buffers, lit, predicted: finer }) {
  const [from, to] = whole(range);
  const isIn = detail && detail.from <= from && detail.to + 1 >= to;
  const base = isIn ? detail : all;
  const { capacity, max, label, peak, localPeaks } = all;
  const isNear = finer && finer.of === all.predicted && finer.from <= from && finer.to + 1 >= to;
  const predicted = isNear ? finer : all.predicted;
  const stack = stacked === 'none' ? null : base.stack;
  const stripes = stacked === '' && stack && buffers ? stripesOf(base, buffers) : null;
  const ends = endsOf(base);
  return {
    ...base,
    base,
    stack,
    stripes,
    ends,
    lit: lit.pinned,
    isPart: Boolean(buffers?.isPart),
    capacity,
    max,
    label,
    peak,
    localPeaks,
    predicted,
    hasUnpadded,
    lastStep: base.to,
    view: range,
    from,
    to: to - 1,
  };
}

/* The lowest and the highest of the steps that share a pixel; null where each step has its own. Of one answer, once. */
const endsKept = new WeakMap();
function endsOf(base) {
  if (!base.isThinned) return null;
  if (!endsKept.has(base.steps))
    endsKept.set(base.steps, spread(base.steps, base.bytes, [base.from, base.to + 1], base.width));
  return endsKept.get(base.steps);
}

/* The same steps with the same buffers are laid once. */
function stripesOf(base, buffers) {
  if (buffers.base !== base) Object.assign(buffers, { base, stripes: layStripes(base, buffers.items) });
  return buffers.stripes;
}

/* For export_menu.js: what is in view. */
const curveTable = ({ steps, bytes, unpadded, predicted, stack, from, to }) => ({
  columns: [
    { key: 'step' },
    { key: 'live_bytes' },
    { key: 'live_unpadded_bytes' },
    ...(predicted ? [{ key: 'predicted_bytes' }] : []),
    ...(stack ?? []).map(({ name }) => ({ key: `${name}_bytes` })),
  ],
  rows: steps
    .map((step, at) => ({
      step,
      live_bytes: bytes[at],
      live_unpadded_bytes: unpadded[at],
      ...(predicted ? { predicted_bytes: predicted.bytes[pointAt(predicted.steps, step)] } : {}),
      ...Object.fromEntries((stack ?? []).map(({ name, values }) => [`${name}_bytes`, values[at]])),
    }))
    .filter(({ step }) => step >= from && step <= to),
});

/* actions: onHover(reading, item: of the stripe under the pointer, or null), onLeave(), onPin(item, isBeside: next to
   what is pinned), onMenu({item or null, step}, {x, y}: of the window, giveBack()), onOpen(item), sentence(reading),
   onMoment(step, isMoving),
 * onWindow([first, last] | null), onRange([from, to), isEnd), onAll(), onHint().
 * Out: {node, draw(data), setDetail(data), setRange, setMoment, setWindow, setMarks, setNext, showSpans, showStep,
 * setUnpadded, setStacked, setBuffers, setLit, drawing, table, cancel, focus, pointCount, destroy}. */
export function createCurve(actions) {
  const state = {
    all: null,
    detail: null,
    data: null,
    range: [0, 1],
    hasUnpadded: true,
    stacked: '',
    buffers: null,
    lit: { hovered: null, pinned: null },
    moment: null,
    selected: null,
  };
  const brush = createBrush({ onRange: actions.onRange, min: MIN_STEPS });
  let drawn = null; // whose columns the plot has
  let isKeyed = false;
  const onCursor = (u) => {
    if (isKeyed) return;
    if (u.cursor.left < 0) actions.onLeave();
    /* A new size moves the cursor too, which the map may have put there. */
    else if (u.over.matches(':hover')) {
      const item = itemUnder(u, state.data, { x: u.cursor.left, y: u.cursor.top });
      u.over.classList.toggle('is-on-mark', item != null);
      actions.onHover(readAt(state.data, stepUnder(u, state.data, u.cursor.left)), item);
    }
  };
  const chart = createChart({
    className: 'curve',
    beside: brush.node,
    overlay: { flagClass: 'curve-mark', isFlagOnTop: false, unit: 1 },
    isReady: () => state.data != null,
    make(host, place) {
      drawn = state.data.base;
      const plot = createPlot(host, () => state.data, { setCursor: [onCursor], draw: [place, () => litUp.repaint()] });
      plot.over.append(litUp.node);
      return plot;
    },
    stretch(plot) {
      if (drawn === state.data.base) plot.setScale('x', { min: state.data.view[0], max: state.data.view[1] });
      else plot.setData(columnsOf(state.data));
      drawn = state.data.base;
    },
    label: () => state.data.label,
    gestures: curveGestures(actions, state, () => chart),
  });
  const litUp = createLit(() => chart.plot && state.data?.stripes && { u: chart.plot, data: state.data, ...state.lit });
  const say = (step) => chart.say(step, actions.sentence(readAt(state.all, step, true)));
  const showStep = (step) => {
    const { plot } = chart;
    if (!plot) return;
    isKeyed = true;
    const isOut = step == null || step < state.data.from || step > state.data.to;
    plot.setCursor(isOut ? { left: -10, top: -10 } : { left: plot.valToPos(step + 0.5, 'x'), top: 10 });
    isKeyed = false;
  };
  bindSliderKeys(chart.slider, {
    get: () => state.all && { ...state.all, moment: state.moment },
    to(step) {
      actions.onMoment(Math.max(0, Math.min(state.all.to, step)), true);
      if (chart.plot) actions.onHover(readAt(state.data, state.moment, true), null);
    },
    leave() {
      showStep(null);
      actions.onLeave();
    },
  });
  const compose = () => {
    state.data = composed(state.all, state.detail, state.range, state);
    chart.node.classList.toggle('has-stripes', state.data.stripes != null);
    chart.repaint();
  };
  return curveApi(state, {
    chart,
    brush,
    compose,
    litUp,
    say,
    showStep,
    forget() {
      drawn = null;
    },
  });
}

/* What whoever owns a curve may do with it. */
function curveApi(state, { chart, brush, compose, litUp, forget, say, showStep }) {
  return {
    node: chart.node,
    get range() {
      return state.range;
    },
    /* The curve of all steps. The same steps with another capacity keep range and moment. */
    draw(next) {
      const isSame = state.all?.steps === next.steps;
      state.all = { ...next, lastStep: next.to, max: largest(next.bytes, next.unpadded, next.predicted?.bytes ?? []) };
      if (!isSame) {
        Object.assign(state, { detail: null, range: [0, next.to + 1], moment: next.peak?.step ?? 0 });
        brush.setRange(state.range);
      }
      const ends = endsOf(state.all);
      brush.draw({ ...state.all, lowest: ends ? taken(state.all.bytes, ends.lowAt) : undefined });
      chart.setSlider(
        `${next.label} Arrow keys move the moment by one step; p goes to the peak, brackets to the local peaks.`,
        [0, next.to],
      );
      say(state.moment);
      forget();
      compose();
    },
    /* More points of a part of it. */
    setDetail(detail) {
      state.detail = detail;
      compose();
    },
    /* The same of what is predicted: {from, to, steps, bytes}. */
    setPredictedDetail(finer) {
      state.predicted = state.all?.predicted ? { ...finer, of: state.all.predicted } : null;
      compose();
    },
    setRange(next) {
      const { all, range } = state;
      if (!all || (next[0] === range[0] && next[1] === range[1])) return;
      state.range = next;
      brush.setRange(next);
      compose();
    },
    setMoment(step) {
      state.moment = step;
      chart.over.set({ moment: step });
      if (state.all && step != null) say(step);
    },
    /* First and last step of the selected window, or nothing. */
    setWindow(next) {
      state.selected = next && [next[0], next[1] + 1];
      chart.over.set({ window: state.selected });
    },
    /* {a, b}: steps with a flag, or null. */
    setMarks: (marks) => chart.over.set({ marks }),
    /* {step, word}: where the peak would be without what is lit, or null; [{at: step, text}]. */
    setNext: (next) => chart.over.set({ next }),
    setNotes: (notes) => chart.over.set({ notes }),
    showSpans: (spans) => chart.over.set({ spans }), // [from, to) is shaded, or nothing
    showStep,
    /* A range as wide as now that holds the step. */
    rangeWith: (step) => following(state.range, [0, state.all.to + 1], step),
    setUnpadded(isShown) {
      if (state.hasUnpadded === isShown) return;
      state.hasUnpadded = isShown;
      if (!state.all) return;
      compose();
      chart.plot?.setSeries(2, { show: isShown });
    },
    stacked: () => state.stacked,
    /* What lies under the line: '': each buffer; 'category': the bytes of each; 'none': one area. */
    setStacked(stacked) {
      if (state.stacked === stacked) return;
      state.stacked = stacked;
      if (!state.all) return;
      compose();
      chart.redraw();
    },
    /* Buffers that have a stripe of their own, as of stripes.js, or null; isPart: those that a filter chose. */
    setBuffers(items, isPart = false) {
      state.buffers = items && { items, isPart, base: null };
      if (!state.all) return;
      compose();
      chart.redraw();
    },
    /* Ids of what is hovered and of what is pinned, as sets, or null. */
    setLit(next) {
      const isOther = next.pinned !== state.lit.pinned;
      state.lit = next;
      if (!isOther || !state.data?.stripes) return litUp.repaint();
      compose();
      return chart.redraw();
    },
    /* What is in view, for a picture and for its table; null while nothing is drawn. */
    drawing: () => state.data && curveDrawing(state.data, chart.host.clientWidth),
    table: () => curveTable(state.data),
    pointCount: () =>
      state.data ? pointAt(state.data.steps, state.data.to) - pointAt(state.data.steps, state.data.from) : 0,
    cancel: chart.cancel,
    focus: () => chart.slider.focus(),
    destroy() {
      chart.destroy();
      brush.destroy();
    },
  };
}

/* The buffer whose stripe is under a place of the plot, or null. */
function itemUnder(u, data, { x, y }) {
  if (!data?.stripes) return null;
  return bandAt(data, Math.floor(u.posToVal(x, 'x')), u.posToVal(y, 'y'))?.item ?? null;
}

function curveGestures(actions, state, chartOf) {
  const under = (at) => itemUnder(chartOf().plot, state.data, at);
  const momentAt = ({ x }) => readAt(state.data, stepUnder(chartOf().plot, state.data, x)).step;
  const end = () => state.all.to + 1;
  const selection = (a, b) => {
    const { from, to } = state.data;
    const [first, last] = [a.x, b.x].sort((x, y) => x - y).map((x) => Math.floor(chartOf().plot.posToVal(x, 'x')));
    return [Math.max(from, first), Math.min(to, last)];
  };
  return {
    click(at, { ctrlKey, metaKey }) {
      const item = chartOf().over.isOnGrip(at) ? null : under(at);
      if (item) actions.onPin(item, ctrlKey || metaKey);
      else actions.onMoment(momentAt(at), false);
    },
    menu: (at, { clientX: x, clientY: y }) =>
      actions.onMenu({ item: at && under(at), step: at ? momentAt(at) : state.moment }, { x, y }, () =>
        chartOf().slider.focus(),
      ),
    double(at) {
      const item = under(at);
      if (item) actions.onOpen(item);
      else actions.onAll();
    },
    select(a, b, isEnd) {
      const [first, last] = b ? selection(a, b) : [];
      if (!b) chartOf().over.set({ window: state.selected });
      else if (isEnd) actions.onWindow([first, last]);
      else chartOf().over.set({ window: [first, last + 1] });
    },
    pan(dx, dy, isEnd) {
      const perPx = (state.range[1] - state.range[0]) / Math.max(1, chartOf().plot.over.clientWidth);
      actions.onRange(moved(state.range, [0, end()], -dx * perPx), isEnd);
    },
    zoom: ({ x }, factor) =>
      actions.onRange(zoomed(state.range, [0, end()], MIN_STEPS, chartOf().plot.posToVal(x, 'x'), factor), true),
    grip: (at) => (chartOf().over.isOnGrip(at) ? 'moment' : null),
    drag: (kind, at, isEnd) => actions.onMoment(momentAt(at), !isEnd),
    hint: actions.onHint,
  };
}

/* ---- the curve as a drawing of its own, for PNG and SVG: uPlot's paths cannot be taken over -------- */

function paintAxes(u, data, top) {
  const { ctx, bbox } = u;
  const splits = byteSplits(top, bbox.height);
  paintByteAxis(u, splits, byteLabels(splits));
  const every = increment(STEP_INCREMENTS, data.to + 1 - data.from, bbox.width, TICK_PX);
  ctx.textBaseline = 'top';
  ctx.textAlign = 'center';
  for (const step of multiples(every, data.from, data.to + 1))
    ctx.fillText(count(step), u.valToPos(step, 'x'), bbox.top + bbox.height + 7);
}

/* data: what the plot draws, see curve.js, {from, to} the steps in view. Paints width × height. */
function paintCurve(context, data, width, height) {
  const bbox = {
    left: LEFT_PX,
    top: TOP_PX,
    width: width - LEFT_PX - RIGHT_PX,
    height: height - PICTURE_AXIS_PX - TOP_PX,
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
  const points = stepped(u, line, outlineOf(data, data.bytes));
  if (data.stripes) paintStripes(u, data);
  else paintStack(u, data);
  paintVeil(u, data);
  if (points.length) {
    if (!data.stack && !data.ends)
      fillBelow(context, points, bbox.top + bbox.height, splitAt(u, data.capacity, 'area', 'over-area'));
    trace(context, points);
    context.strokeStyle = splitAt(u, data.capacity, 'text', 'over');
    context.lineWidth = 1.5;
    context.stroke();
    if (data.hasUnpadded !== false) {
      trace(context, stepped(u, line, outlineOf(data, data.unpadded)));
      context.strokeStyle = token('text');
      context.lineWidth = 1.25;
      context.setLineDash([4, 3]);
      context.stroke();
      context.setLineDash([]);
    }
  }
  paintOver(u, data, 1);
  const names = data.stripes ? paintStripeNames(u, data, 1) : [];
  paintPredicted(u, data, 1);
  paintCapacityLine(u, data, 1);
  paintMarksAndCapacity(u, data, 1, names);
}

/* Words of what the lines mean. */
function curveLegend(data) {
  const isOver = data.capacity?.isOver && data.bytes.some((value) => value > data.capacity.bytes);
  return [
    { word: 'padded', colour: token('text'), kind: 'line' },
    ...(data.stack ?? []).map(({ word, fill }) => ({ word, colour: fill() })),
    data.hasUnpadded === false ? null : { word: 'unpadded', colour: token('text'), kind: 'dashed' },
    data.predicted ? { word: 'predicted after the ticked changes', colour: token('accent'), kind: 'dashed' } : null,
    isOver ? { word: 'above capacity', colour: token('over'), kind: 'hatch' } : null,
  ].filter(Boolean);
}

/* For captioned() of export.js. */
function curveDrawing(data, widthPx) {
  const width = Math.max(MIN_WIDTH_PX, widthPx);
  return {
    width,
    height: HEIGHT_PX,
    paint: (context) => paintCurve(context, data, width, HEIGHT_PX),
    legend: curveLegend(data),
  };
}
