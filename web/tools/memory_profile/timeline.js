/* SPDX-License-Identifier: Apache-2.0
 * timeline.js: the panel of memory over time: chart, steps and programs below it, and the
 * whole run in small. Zoom stretches what is there; 120 ms after the last movement the daemon is asked. */

import { later } from '../../lib/activity.js';
import { isAbort, Problem } from '../../lib/api.js';
import { el, figure, fill } from '../../lib/dom.js';
import { bytes, count, counted, duration, signedBytes, time, visible } from '../../lib/format.js';
import { isAll } from '../../lib/range.js';
import { token } from '../../lib/theme.js';
import { createBrush } from '../../widgets/brush.js';
import { explainEntry, nodesOf } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLanes } from '../../widgets/lanes.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTimeline, MIN_PS } from '../../widgets/timeline.js';
import { timelineDrawing } from '../../widgets/timeline_picture.js';
import { LEFT_PX, RIGHT_PX, SHARE_PX } from '../../widgets/timeline_plot.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { selectedLine } from '../../widgets/window_line.js';
import { lanesOf, overviewOf, readAt, timelineOf } from './load.js';
import * as empty from './empty.js';
import * as say from './text.js';

const ASK_AFTER_MS = 120;
const HINT_MS = 2500;
const OVERVIEW_PX = 1024;
const MAX_PX = 4096;
const WINDOW_PX = 64;
const KEYS = 'Arrow keys go from event to event, p to the peak.';

const askedWidth = (px) => Math.min(MAX_PX, Math.max(64, Math.ceil(px / 64) * 64));

/* view: {ask, context, wanted, pool}; actions: onReading(reading | null), onMoment(ps, isEnd), onRange(range, isEnd),
 * onSelect(range, isEnd), onPickRun(run). Out: {panel, load(), refine(), apply(), …}. */
export function createTimelinePanel(view, actions) {
  const hint = el('span', { class: 'hint-now', role: 'status', hidden: true }, 'Click the chart or hold Ctrl to zoom');
  const legend = createLegend((what) => actions.onLayer(what));
  const state = { data: null, drawn: null, overview: null, lanes: [], takeBack: null, asked: 0 };
  let hintTimer = 0;

  const chart = createTimeline({
    onHover: (at, mark) => {
      const reading = readAt(state.drawn, state.data, at);
      showTooltip(
        `t:${reading.time_ps}:${reading.event}`,
        say.readingLines(reading).map((line) => nodesOf(line)),
        mark,
      );
      actions.onReading(reading);
    },
    onLeave: () => {
      hideTooltip();
      actions.onReading(null);
    },
    onMoment: actions.onMoment,
    onRange: actions.onRange,
    onSelect: actions.onSelect,
    onHint: () => {
      hint.hidden = false;
      clearTimeout(hintTimer);
      hintTimer = setTimeout(() => (hint.hidden = true), HINT_MS);
    },
    sentence: (at) => say.readingSentence(readAt(state.drawn, state.data, at)),
  });
  const lanes = createLanes({
    leftPx: LEFT_PX,
    onHover: (run, mark) => showTooltip(`l:${run.kind}:${run.from}`, runLines(run), mark),
    onLeave: hideTooltip,
    onPick: actions.onPickRun,
    onZoom: (run) => actions.onRange([run.from, Math.max(run.to, run.from + MIN_PS)], true),
    sentence: (run) => runLines(run).flat().join(', '),
  });
  /* The brush begins at 0, a trace anywhere. */
  const start = () => state.overview?.start_ps ?? 0;
  const brush = createBrush({
    min: MIN_PS,
    onRange: ([from, to], isEnd) => actions.onRange([from + start(), to + start()], isEnd),
  });
  const exports = exportEntries({
    name: 'memory-profile-timeline',
    title: 'Memory over time',
    drawing: () => state.drawn && !panel.body.hidden && drawing(),
    table: () => tableOf(state.data),
  });
  const panel = createPanel('panel-time', 'Memory over time', { menu: () => [exports(), explainEntry('curve')] });
  panel.node.dataset.explain = 'curve';
  const line = createWindowLine(view, {
    onZoom: actions.onZoomWindow,
    onClear: actions.onClearWindow,
    onMoment: actions.onMoment,
  });
  const brushRow = el('div', { class: 'brush-row' }, brush.node);
  brushRow.style.paddingLeft = `${LEFT_PX}px`;
  panel.body.append(line.node, el('div', { class: 'time-chart' }, chart.node), lanes.node, brushRow);
  panel.setAside(hint, ...legend.nodes);

  const rangeNow = () => view.range();
  const draw = () => {
    const { data } = state;
    if (!data) return;
    const isFree = view.wanted.isFree && data.has_free;
    const isPart = !isAll(rangeNow(), view.all);
    const hasFragmentation = view.wanted.isFragmentation && data.has_fragmentation;
    state.drawn = timelineOf(data, { range: rangeNow(), isFree, hasFragmentation });
    legend.set({ data, isFree, hasFragmentation, hasStack: state.drawn.hasStack });
    panel.setTitle(
      'Memory over time',
      el('span', { class: 'dim' }, ` ${titleWords(data, rangeNow(), isPart)}`),
    );
    state.drawn.peakWords = `peak ${bytes(data.peak.in_use_bytes)}, ${time(data.peak.time_ps)}`;
    chart.draw({
      ...state.drawn,
      label: say.timelineLabel(view.pool, data),
      keys: KEYS,
    });
    lanes.setRight(hasFragmentation ? SHARE_PX : RIGHT_PX);
    brushRow.style.paddingRight = `${hasFragmentation ? SHARE_PX : RIGHT_PX}px`;
    place();
  };
  const drawing = () =>
    timelineDrawing(state.drawn, state.lanes, chart.width, pictureLegend(state.drawn));
  const place = ({ isMoving = false } = {}) => {
    const { wanted } = view;
    if (isMoving) line.say(wanted.window);
    else line.load();
    chart.set({
      moment: wanted.time ?? state.data?.peak.time_ps ?? null,
      window: wanted.window,
      span: wanted.span ?? null,
      a: wanted.a,
      b: wanted.b,
    });
    brush.setRange(rangeNow().map((ps) => ps - start()));
  };
  const laneWidth = () => askedWidth(lanes.width || chart.width);

  const ask = async () => {
    const mine = ++state.asked;
    const [from, to] = rangeNow();
    const params = isAll([from, to], view.all) ? {} : { from, to };
    const end = panel.wait('', null);
    try {
      const [timeline, runs] = await Promise.all([
        view.ask('timeline', { ...params, width: askedWidth(chart.width), details: 1 }),
        view.ask('lanes', { from, to, width: laneWidth(), memory: null }),
      ]);
      if (mine !== state.asked) return;
      state.data = timeline.data;
      panel.show();
      draw();
      state.lanes = lanesOf(runs.data, view.pool);
      lanes.draw(state.lanes, rangeNow(), laneLabel(runs.data));
    } catch (error) {
      if (isAbort(error) || mine !== state.asked) return;
      if (!(error instanceof Problem)) throw error;
      panel.say(message(empty.failed('The timeline', error)));
    } finally {
      end();
    }
  };

  return {
    panel,
    slider: chart.slider,
    /* The whole run first: it says where the trace begins and ends. */
    async load() {
      state.data = null;
      state.overview = (await view.ask('timeline', { width: OVERVIEW_PX })).data;
      view.all = [state.overview.start_ps, Math.max(state.overview.end_ps, state.overview.start_ps + 1)];
      brush.draw(overviewOf(state.overview, view.all));
      state.takeBack?.();
      state.takeBack = null;
      await ask();
    },
    /* Another range: shown at once, asked for when it has come to rest. */
    moved() {
      chart.setRange(rangeNow());
      lanes.setRange(rangeNow());
      place();
      state.takeBack?.();
      state.takeBack = later(() => {
        state.takeBack = null;
        ask();
      }, ASK_AFTER_MS);
    },
    draw,
    place,
    get data() {
      return state.data;
    },
    /* Moment of the event `far` events after the one at `ps`, in what is drawn. */
    beside(ps, far) {
      const { x, times } = state.drawn;
      const at = Math.max(0, Math.min(x.length - 1, chart.indexAt(ps) + far));
      /* Events of one instant are one moment. */
      let to = at;
      while (times[to] === ps && to + Math.sign(far) >= 0 && to + Math.sign(far) < x.length) to += Math.sign(far);
      return times[to];
    },
    readMoment(ps) {
      return state.drawn?.x.length ? readAt(state.drawn, state.data, chart.indexAt(ps)) : null;
    },
    destroy() {
      state.takeBack?.();
      clearTimeout(hintTimer);
      chart.destroy();
      lanes.destroy();
      brush.destroy();
    },
  };
}

/* ", born 12.00 GiB in 24, died 3.00 GiB in 6, +9.00 GiB from before to after" */
function changeWords(between) {
  return (
    `, born ${bytes(between.born_bytes)} in ${count(between.born_count)}, ` +
    `died ${bytes(between.died_bytes)} in ${count(between.died_count)}, ` +
    `${signedBytes(between.in_use_difference_bytes)} from before to after`
  );
}

/* A line under the title: what the selected window holds. actions: onZoom(), onClear(), onMoment(ps). Out: {node, load()}. */
function createWindowLine(view, { onZoom, onClear, onMoment }) {
  const { node, words } = selectedLine(onZoom, onClear);
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
      hasEvents
        ? el(
            'button',
            { type: 'button', class: 'link-button', on: { click: () => onMoment(peak.time_ps) } },
            `at ${time(peak.time_ps)}`,
          )
        : 'in use',
      between ? changeWords(between) : '',
    );
    node.hidden = false;
  };
  return {
    node,
    /* A window that is being drawn: where it lies. */
    say(window) {
      asked = '';
      if (window) fill(words, el('strong', {}, `${time(window[0])} to ${time(window[1])}`), `, ${duration(window[1] - window[0])}`);
      node.hidden = !window;
    },
    /* The window of the URL, or none. */
    async load() {
      const { window } = view.wanted;
      const key = JSON.stringify([window, view.place, view.serial]);
      if (key === asked) return;
      asked = key;
      if (!window) {
        node.hidden = true;
        return;
      }
      const [from, to] = window;
      try {
        const [timeline, live] = await Promise.all([
          view.ask('timeline', { from, to, width: WINDOW_PX }),
          view.ask('live', { time: to, a: from, b: to, limit: 1 }),
        ]);
        if (asked === key) show(window, timeline.data, live.data.between);
      } catch (error) {
        if (!isAbort(error) && !(error instanceof Problem)) throw error;
        if (asked === key) node.hidden = true;
      }
    },
  };
}

function titleWords(data, [from, to], isPart) {
  const events = counted(data.event_count, 'event');
  const where = isPart ? `${time(from)} to ${time(to)}, ${duration(to - from)}` : `${duration(to - from)}`;
  return `${where}, ${events}${data.is_thinned ? '' : ', each one drawn'}`;
}

/* Name, when, and how many were joined. */
function runLines({ kind, item, isInferred }) {
  const length = duration(item.end_ps - item.start_ps);
  const joined = item.merged_count > 1 ? [[`and ${counted(item.merged_count - 1, 'more')} too short to draw apart`]] : [];
  if (kind === 'launch')
    return [
      [visible(item.name)],
      [`${time(item.start_ps)} to ${time(item.end_ps)}, ${length}${isInferred ? ', told from its kernels' : ''}`],
      ...joined,
    ];
  const number = item.step_num === null || item.step_num === undefined ? '' : `, step_num ${count(item.step_num)}`;
  return [
    [`step ${count(item.step)}${number}${item.name ? ` · ${visible(item.name)}` : ''}`],
    [`${time(item.start_ps)} to ${time(item.end_ps)}, ${length}`],
    ...joined,
  ];
}

function laneLabel(data) {
  return `${counted(data.step_count, 'step')} and ${counted(data.launch_count, 'program launch', 'program launches')} on the same scale.`;
}

/* The words above the chart; free and fragmentation are switches. */
function createLegend(onLayer) {
  const key = (className, word) => el('span', { class: `key ${className}` }, word);
  const stack = key('key-stack', 'stack');
  const heap = key('key-heap', 'heap');
  const free = el('button', { type: 'button', class: 'key key-free', on: { click: () => onLayer('free') } }, 'free');
  const fragmentation = el(
    'button',
    { type: 'button', class: 'key key-line key-dashed', on: { click: () => onLayer('fragmentation') } },
    'fragmentation (right axis)',
  );
  return {
    nodes: [stack, heap, free, fragmentation],
    set({ data, isFree, hasFragmentation, hasStack }) {
      stack.hidden = !hasStack;
      free.disabled = !data.has_free;
      free.title = data.has_free ? 'Free memory on or off (u)' : 'This allocator does not say what is free.';
      free.setAttribute('aria-pressed', String(isFree));
      fragmentation.hidden = !data.has_fragmentation;
      fragmentation.setAttribute('aria-pressed', String(hasFragmentation));
      fragmentation.textContent = data.is_thinned ? 'largest fragmentation (right axis)' : 'fragmentation (right axis)';
      fragmentation.title = data.is_thinned ? 'The largest of each part of the width, of all its events' : 'After each event';
    },
  };
}

/* Words of the layers, for pictures. */
function pictureLegend({ layers }) {
  const words = { 'alloc-heap': 'heap', 'alloc-stack': 'stack', panel: 'free', '': 'fragmentation' };
  return layers.map(({ fill, stroke, dash }) => ({
    word: words[fill],
    colour: token(fill && fill !== 'panel' ? fill : stroke),
    kind: dash ? 'dashed' : fill === 'panel' ? 'line' : 'fill',
  }));
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
