/* SPDX-License-Identifier: Apache-2.0
 * timeline.js: the panel of memory over time: chart, steps and programs below it, and the
 * whole run in small. Zoom stretches what is there; 120 ms after the last movement the daemon is asked. */

import { later } from '../../lib/activity.js';
import { isAbort, Problem } from '../../lib/api.js';
import { button, el, figure, fill } from '../../lib/dom.js';
import { bytes, count, counted, duration, signedBytes, time, visible } from '../../lib/format.js';
import { withNote } from '../../lib/notes.js';
import { createBrush } from '../../widgets/brush.js';
import { explainEntry, nodesOf } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLanes } from '../../widgets/lanes.js';
import { createNotesLine } from '../../widgets/notes.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTimeline, MIN_PS } from '../../widgets/timeline.js';
import { timelineDrawing } from '../../widgets/timeline_picture.js';
import { LEFT_PX, RIGHT_PX, SHARE_PX } from '../../widgets/timeline_plot.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { selectedLine } from '../../widgets/window_line.js';
import { createBands } from './bands.js';
import { stackPatch } from './state.js';
import { MAX_BLOCKS, stripeBeside, stripeLines, stripeSentence } from './stripes.js';
import { lanesOf, overviewOf, readAt, timelineOf, withPredicted } from './load.js';
import { createLegend, pictureLegend } from './timeline_legend.js';
import * as empty from './empty.js';
import * as say from './text.js';

const ASK_AFTER_MS = 120;
const HINT_MS = 2500;
const OVERVIEW_PX = 1024;
const MAX_PX = 4096;
const WINDOW_PX = 64;
const KEYS = 'Arrow keys go from event to event, p to the peak.';

const askedWidth = (px) => Math.min(MAX_PX, Math.max(64, Math.ceil(px / 64) * 64));

/* spanOf(): the life of what is pinned, or null; pinnedOf(): the allocation that is pinned, as an item of stripes.js,
   or null;
 * besideOf(): the same of A, with which it is compared; onReading(reading | null, item); onPickRun(run);
 * onPickStripe(item, ps, isBeside), onMenu: of timeline.js. Out: {panel, slider, load(), moved(), draw(), place(),
 * data, …}. */
export function createTimelinePanel({
  trace,
  url,
  spanOf,
  pinnedOf,
  besideOf,
  onReading,
  onPickRun,
  onPickStripe,
  onMenu,
}) {
  const state = {
    trace,
    url,
    spanOf,
    pinnedOf,
    besideOf,
    extra: null,
    hovered: null,
    data: null,
    drawn: null,
    predicted: null,
    overview: null,
    runs: [],
    takeBack: null,
    asked: 0,
  };
  const hint = createHint();
  state.legend = createLegend(url.toggle);
  state.bands = createBands((by) => url.choose({ stack: stackPatch(by, trace.pool) }));
  state.chart = createChart(state, { onReading, onPickStripe, onMenu, onHint: hint.show });
  state.lanes = createRuns(url, onPickRun);
  /* The brush begins at 0, a trace anywhere. */
  state.brush = createBrush({
    min: MIN_PS,
    onRange: ([from, to], isEnd) => url.setRange([from + trace.all[0], to + trace.all[0]], isEnd),
  });
  state.brushRow = el('div', { class: 'brush-row' }, state.brush.node);
  state.brushRow.style.paddingLeft = `${LEFT_PX}px`;
  state.line = createWindowLine({ trace, url });
  state.notes = createNotesLine({
    wordsOf: (ps) => time(ps, 1e6),
    onGo: url.setTime,
    onDrop: (ps) => url.choose({ note: withNote(url.route.note, ps, '') }),
  });
  const { chart, lanes } = state;
  const panel = createPanel('panel-time', 'Memory over time', {
    menu: () => [exportsOf(state)(), explainEntry('curve')],
  });
  panel.node.dataset.explain = 'curve';
  panel.body.append(
    state.line.node,
    state.notes.node,
    el('div', { class: 'time-chart' }, chart.node),
    state.bands.node,
    lanes.node,
    state.brushRow,
  );
  panel.setAside(hint.node, ...state.legend.nodes, state.bands.choice);
  state.panel = panel;
  return {
    panel,
    slider: chart.slider,
    load: () => load(state),
    /* In other bands. */
    again: () => ask(state),
    draw: () => draw(state),
    /* The curve of changes, as the view whatif gives it, or null. */
    predict(curve) {
      if (state.predicted === curve) return;
      state.predicted = curve;
      draw(state);
    },
    place: (how) => place(state, how),
    /* Another range: shown at once, asked for when it has come to rest. */
    moved() {
      chart.setRange(url.range());
      lanes.setRange(url.range());
      place(state);
      state.takeBack?.();
      state.takeBack = later(() => {
        state.takeBack = null;
        ask(state);
      }, ASK_AFTER_MS);
    },
    get data() {
      return state.data;
    },
    get hasStripes() {
      return chart.view != null;
    },
    /* The stripe above (1) or below (-1) the pinned one at a time, the largest there if none is pinned; null: there is
       none. */
    stripeBeside: (ps, direction) =>
      chart.view
        ? stripeBeside(chart.view, { id: pinnedOf()?.id ?? null, leastBytes: chart.bytesPerPx / 2 }, ps, direction)
        : null,
    /* Time of the event `far` events after the one at `ps`, in what is drawn. */
    beside(ps, far) {
      const { x, times } = state.drawn;
      const at = Math.max(0, Math.min(x.length - 1, chart.indexAt(ps) + far));
      /* Events of one instant are one place on the axis. */
      let to = at;
      while (times[to] === ps && to + Math.sign(far) >= 0 && to + Math.sign(far) < x.length) to += Math.sign(far);
      return times[to];
    },
    destroy() {
      state.takeBack?.();
      hint.destroy();
      chart.destroy();
      lanes.destroy();
      state.brush.destroy();
    },
  };
}

/* ---- its parts ------------------------------------------------------------------ */

function createHint() {
  const node = el('span', { class: 'hint-now', role: 'status', hidden: true }, 'Click the chart or hold Ctrl to zoom');
  let timer = 0;
  return {
    node,
    show() {
      node.hidden = false;
      clearTimeout(timer);
      timer = setTimeout(() => (node.hidden = true), HINT_MS);
    },
    destroy: () => clearTimeout(timer),
  };
}

function createChart(state, { onReading, onPickStripe, onMenu, onHint }) {
  const { url } = state;
  const read = (at) => readAt(state.drawn, state.drawn.of, at);
  return createTimeline({
    onHover: (at, mark, item) => {
      const reading = read(at);
      const lines = item ? stripeLines(item, reading) : say.readingLines(reading);
      showTooltip(
        `t:${reading.time_ps}:${reading.event}:${item?.id ?? ''}`,
        lines.map((line) => nodesOf(line)),
        mark,
      );
      light(state, item);
      onReading(item ? null : reading, item);
    },
    onPin: onPickStripe,
    onMenu,
    onLeave: () => {
      hideTooltip();
      light(state, null);
      onReading(null);
    },
    onMoment: url.setTime,
    onRange: url.setRange,
    onSelect: url.setWindow,
    onHint,
    sentence: (at) => [pinnedSentence(state), say.readingSentence(read(at))].filter(Boolean).join(' '),
  });
}

/* The stripe under the pointer and the pinned one have an edge; where one is pinned the others fade. */
function light(state, hovered) {
  const pinned = state.pinnedOf();
  const setOf = (item) => (item ? new Set([item.id]) : null);
  state.hovered = hovered;
  state.chart.setLit({
    hovered: setOf(hovered),
    pinned: isDrawn(state, pinned) ? new Set([pinned, state.besideOf()].filter(Boolean).map(({ id }) => id)) : null,
  });
}

const pinnedSentence = ({ pinnedOf }) => (pinnedOf() ? `Pinned: ${stripeSentence(pinnedOf())}` : '');

const isDrawn = ({ drawn }, item) => Boolean(item && drawn?.striped?.stripes.some((band) => band.item?.id === item.id));

const createRuns = (url, onPick) =>
  createLanes({
    leftPx: LEFT_PX,
    onHover: (run, mark) => showTooltip(`l:${run.kind}:${run.from}`, runLines(run), mark),
    onLeave: hideTooltip,
    onPick,
    onZoom: (run) => url.setRange([run.from, Math.max(run.to, run.from + MIN_PS)], true),
    sentence: (run) => runLines(run).flat().join(', '),
  });

const exportsOf = (state) =>
  exportEntries({
    name: 'memory-profile-timeline',
    title: 'Memory over time',
    drawing: () =>
      state.drawn &&
      !state.panel.body.hidden &&
      timelineDrawing(state.drawn, state.runs, state.chart.width, pictureLegend(state.drawn)),
    table: () => tableOf(state.data),
  });

/* ---- drawing -------------------------------------------------------------------- */

function draw(state) {
  const { data, trace, url, chart } = state;
  if (!data) return;
  const range = url.range();
  const isFree = url.wanted.isFree && data.has_free;
  const hasFragmentation = url.wanted.isFragmentation && data.has_fragmentation;
  const isHeld = Boolean(trace.pool?.has_segments);
  const how = {
    range,
    isFree,
    hasFragmentation,
    isHeld,
    width: askedWidth(chart.width),
    pinned: state.extra,
    hasCategories: Boolean(trace.pool?.categories),
  };
  state.drawn = withPredicted({ ...timelineOf(data, how), of: data }, state.predicted);
  state.legend.set({
    data,
    isFree,
    isHeld,
    hasFragmentation,
    hasStack: state.drawn.hasStack,
    isPredicted: Boolean(state.predicted),
  });
  state.bands.set(url.wanted.stack, Boolean(trace.pool?.categories));
  state.bands.draw(data);
  state.panel.setTitle('Memory over time', el('span', { class: 'dim' }, ` ${titleWords(state, range)}`));
  state.drawn.peakWords = `peak ${bytes(data.peak.in_use_bytes)}, ${time(data.peak.time_ps)}`;
  chart.draw({ ...state.drawn, label: say.timelineLabel(trace.pool, data), keys: KEYS });
  const rightPx = hasFragmentation ? SHARE_PX : RIGHT_PX;
  state.lanes.setRight(rightPx);
  state.brushRow.style.paddingRight = `${rightPx}px`;
  place(state);
}

/* What lies on the chart. isMoving: the window is under the hand. */
function place(state, { isMoving = false } = {}) {
  const { data, trace, url, spanOf, pinnedOf, line, chart, brush } = state;
  if (!data) return;
  const pinned = pinnedOf();
  /* What is too small for the answer has a stripe while it is pinned. */
  if (pinned && pinned.id !== state.extra?.id && !isDrawn(state, pinned)) {
    state.extra = pinned;
    draw(state);
    return;
  }
  light(state, state.hovered);
  const { wanted } = url;
  if (isMoving) line.say(wanted.window);
  else line.load();
  chart.set({
    moment: wanted.time ?? trace.pool?.peak.time_ps ?? null,
    window: wanted.window,
    span: spanOf(),
    a: wanted.a,
    b: wanted.b,
    notes: wanted.notes,
  });
  state.notes.set(wanted.notes);
  brush.setRange(url.range().map((ps) => ps - trace.all[0]));
}

/* ---- asking --------------------------------------------------------------------- */

/* Another trace or memory id: the whole run in small, and what is in view. */
async function load(state) {
  const { trace, brush } = state;
  Object.assign(state, { data: null, extra: null, hovered: null });
  state.takeBack?.();
  state.takeBack = null;
  const whole = async () => {
    const { ask: asks } = trace;
    const { data } = await asks('timeline', { width: OVERVIEW_PX });
    if (asks === trace.ask) brush.draw(overviewOf(data, trace.all));
  };
  await Promise.all([whole(), ask(state)]);
}

async function ask(state) {
  const { trace, url, chart, lanes, panel } = state;
  const mine = ++state.asked;
  const [from, to] = url.range();
  const end = panel.wait('', null);
  try {
    const [timeline, runs] = await Promise.all([
      trace.ask('timeline', {
        ...(url.isZoomed() ? { from, to } : {}),
        width: askedWidth(chart.width),
        details: 1,
        stack: url.wanted.stack || null,
        blocks: MAX_BLOCKS,
      }),
      trace.ask('lanes', { from, to, width: askedWidth(lanes.width || chart.width), memory: null }),
    ]);
    if (mine !== state.asked) return;
    state.data = timeline.data;
    panel.show();
    draw(state);
    state.runs = lanesOf(runs.data, trace.pool);
    lanes.draw(state.runs, url.range(), laneLabel(runs.data));
  } catch (error) {
    if (isAbort(error) || mine !== state.asked) return;
    if (!(error instanceof Problem)) throw error;
    panel.say(message(empty.failed('The timeline', error)));
  } finally {
    end();
  }
}

/* ---- words ---------------------------------------------------------------------- */

/* ", born 12.00 GiB in 24, died 3.00 GiB in 6, +9.00 GiB from before to after" */
function changeWords(between) {
  return (
    `, born ${bytes(between.born_bytes)} in ${count(between.born_count)}, ` +
    `died ${bytes(between.died_bytes)} in ${count(between.died_count)}, ` +
    `${signedBytes(between.in_use_difference_bytes)} from before to after`
  );
}

/* A line under the title: what the selected window holds. Out: {node, say(window), load()}. */
function createWindowLine({ trace, url }) {
  const { node, words } = selectedLine(
    () => url.setRange(url.wanted.window, true),
    () => url.setWindow(null, true),
  );
  let asked = '';
  const show = ([from, to], { window_peak: peak, event_count: eventCount }, between) => {
    const hasEvents = eventCount > 0;
    fill(
      words,
      el('strong', {}, `${time(from)} to ${time(to)}`),
      `, ${duration(to - from)}: `,
      hasEvents ? 'peak ' : 'no event, ',
      figure(peak.in_use_bytes, bytes(peak.in_use_bytes), 'strong'),
      ' ',
      hasEvents ? button('link-button', () => url.setTime(peak.time_ps), `at ${time(peak.time_ps)}`) : 'in use',
      between ? changeWords(between) : '',
    );
    node.hidden = false;
  };
  return {
    node,
    /* A window that is being drawn: where it lies. */
    say(window) {
      asked = '';
      if (window)
        fill(
          words,
          el('strong', {}, `${time(window[0])} to ${time(window[1])}`),
          `, ` + `${duration(window[1] - window[0])}`,
        );
      node.hidden = !window;
    },
    /* The window of the URL, or none. */
    async load() {
      const { window } = url.wanted;
      const key = JSON.stringify([window, trace.key]);
      if (key === asked) return;
      asked = key;
      if (!window) {
        node.hidden = true;
        return;
      }
      const [from, to] = window;
      try {
        const [timeline, live] = await Promise.all([
          trace.ask('timeline', { from, to, width: WINDOW_PX }),
          trace.ask('live', { time: to, a: from, b: to, limit: 1 }),
        ]);
        if (asked === key) show(window, timeline.data, live.data.between);
      } catch (error) {
        if (!isAbort(error) && !(error instanceof Problem)) throw error;
        if (asked === key) node.hidden = true;
      }
    },
  };
}

function titleWords({ data, url, chart }, [from, to]) {
  const events = counted(data.event_count, 'event');
  const where = url.isZoomed() ? `${time(from)} to ${time(to)}, ${duration(to - from)}` : `${duration(to - from)}`;
  const each = count(Math.round(data.event_count / askedWidth(chart.width)));
  return `${where}, ${events}, ${data.is_thinned ? `each pixel: lowest to highest of ${each}` : 'each one drawn'}`;
}

/* Name, when, and how many were joined. */
function runLines({ kind, item, isInferred }) {
  const length = duration(item.end_ps - item.start_ps);
  const joined =
    item.merged_count > 1 ? [[`and ${counted(item.merged_count - 1, 'more')} too short to draw ` + `apart`]] : [];
  if (kind === 'launch')
    return [
      [visible(item.name)],
      [`${time(item.start_ps)} to ${time(item.end_ps)}, ${length}${isInferred ? ', inferred from its kernels' : ''}`],
      ...joined,
    ];
  const number = item.step_num == null ? '' : `, step_num ${count(item.step_num)}`;
  return [
    [`step ${count(item.step)}${number}${item.name ? ` · ${visible(item.name)}` : ''}`],
    [`${time(item.start_ps)} to ${time(item.end_ps)}, ${length}`],
    ...joined,
  ];
}

function laneLabel(data) {
  return (
    `${counted(data.step_count, 'step')} and ` +
    `${counted(data.launch_count, 'program launch', 'program launches')} on the same scale.`
  );
}

/* What is drawn, as a table. */
function tableOf(data) {
  const { columns } = data;
  const names = ['time_ps', 'event', 'step', 'stack_bytes', 'heap_bytes', 'free_bytes', 'fragmentation'];
  return {
    columns: names.map((key) => ({ key, title: key })),
    rows: columns.time_ps.map((ps, at) => Object.fromEntries(names.map((key) => [key, columns[key][at]]))),
  };
}
