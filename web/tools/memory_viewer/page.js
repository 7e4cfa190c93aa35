/* SPDX-License-Identifier: Apache-2.0
 * page.js: what fills a memory space at its peak. Answer, picture, three strips,
 * table and details show one set of buffers; hover and pin light them in all.
 *
 * Reads top down: build the views, load what the URL names, light what is hovered or pinned. */

import { el } from '../../lib/dom.js';
import { lazy } from '../../lib/lazy.js';
import { createStore } from '../../lib/store.js';
import { createCurve } from '../../widgets/curve.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { explainEntry, explainKeys, explainWith, nodesOf } from '../../widgets/explain.js';
import { createPanel } from '../../widgets/panel.js';
import { createPhoneTabs } from '../../widgets/phone_tabs.js';
import { buffersKey } from '../../widgets/strips.js';
import { dismissTooltip, hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { toast } from '../../widgets/toast.js';
import { createHead } from './head.js';
import { createStrips } from './strips.js';
import { createBuffersTable } from './table.js';
import { createRecords } from './load.js';
import { createChooser } from './capacity.js';
import { viewerKeys } from './keys.js';
import { byBuffer, centrePin, editOffsets, lightUp, pinItem, refresh, setPin, toPanel, zoomTo } from './light.js';
import {
  addSwitches,
  editRules,
  enlarge,
  hearLook,
  nextPicture,
  onlyCategory,
  openWhatif,
  PANELS,
  whatifDrawer,
} from './look.js';
import { createMapPanel, stripeLine } from './map.js';
import { setTab, show } from './show.js';
import { createPlace } from './place.js';
import { createViewerSearch } from './search.js';
import { createWalk } from './walk.js';
import { keepBeside, setBeside } from './beside.js';
import { openBufferMenu, openStepMenu, stepNotes } from './menus.js';
import {
  changeCapacity,
  loadDetail,
  loadMarks,
  loadStrips,
  loadWindow,
  setPredicted,
  showMoment,
  windowLines,
} from './views.js';
import * as say from './text.js';

/* context: {pin(id | null), setCapacity(text), banners, details, setSpaces(spaces, chosen, usual), setTitle(text)}.
 * Out: {show(selection, route), hear(route), escape(), unmount()}. */
export function mount(root, context) {
  /* What is open, for every part: the space and the module that are shown, what is said of them, how they are asked. */
  const program = {
    space: null,
    spaces: [],
    module: null,
    said: null,
    platform: '',
    wanted: '',
    isRefused: false,
    capacity: null,
    ask: null,
    drawn: null,
    live: 0,
  };
  const view = {
    root,
    context,
    program,
    store: createStore({ hover: null, pin: null }),
    controller: null,
    centred: null,
  };
  view.records = createRecords(() => refresh(view));
  view.place = createPlace({ program, context }, followersOf(view));
  view.walk = createWalk({ program, context, records: view.records, pinned: () => pinned(view) });
  view.light = () => lightUp(view);
  view.predict = (data) => setPredicted(view, data);
  build(view);
  const { place, map, table } = view;
  const acts = {
    centrePin: () => centrePin(view),
    editOffsets: () => editOffsets(view),
    byBuffer: (direction) => byBuffer(view, direction),
    toPanel: (at) => toPanel(view, at),
    toCode: () => toPlace(view, 'code'),
    toPatterns: () => toPlace(view, 'patterns'),
    byPicture: () => void view.code.part.with((code) => code.byPicture()),
    byWay: () => void view.code.part.with((code) => code.byWay()),
    openLayers: () => view.code.part.now?.openLayers(),
    toOperand: () => void view.walk.toOperand(),
    toReader: () => void view.walk.toReader(),
    enlarge: () => enlarge(view),
    nextPicture: () => nextPicture(view),
    editRules: () => editRules(view),
    whatIf: (drawer) => openWhatif(view, { drawer }),
    keepBeside: () => keepBeside(view),
    writeNote: () => view.notes.write(place.moment),
    search: view.search,
  };
  context.bind(
    [...viewerKeys({ program, context, place, pinned: () => pinned(view), map, table }, acts), ...explainKeys()],
    'Memory Viewer',
  );
  const stopCards = explainWith(async (...key) => (await import('./explain.js')).cardOf(explainable(view), ...key));
  view.store.subscribe(() => refresh(view));
  return {
    show: (selection, route) => show(view, selection, route),
    hear(route) {
      if (route.rules !== view.rules && view.selection) return show(view, view.selection, route);
      setTab(view, route);
      hearLook(view, route);
      view.whatif.hear(route);
      view.place.hear(route);
      view.map.hear(route);
      view.code.load();
      view.patterns.load();
      hearFilter(view, route);
      view.search.hear(route.find);
      /* While the moment is being moved the table keeps what it has. */
      const rows = view.place.isMoving ? null : view.table.hear();
      view.notes.hear(route);
      return Promise.all([setPin(view, route), setBeside(view, route), changeCapacity(view, route.capacity), rows]);
    },
    escape: () => escape(view),
    unmount() {
      view.controller?.abort();
      view.adviceAsked?.abort();
      view.inPane = null;
      view.takeBack?.();
      view.records.stop();
      view.place.stop();
      stopCards();
      hideTooltip();
      view.tabs.stop();
      view.search.stop();
      view.curve.destroy();
      view.strips.destroy();
      view.map.destroy();
      view.code.part.now?.destroy();
      view.patterns.part.now?.destroy();
      view.whatif.part.now?.destroy();
      view.table.destroy();
    },
  };
}

/* What follows the place: its moment, range, window and marks. */
const followersOf = (view) => ({
  moment: () => {
    view.map.setPlace();
    showMoment(view);
  },
  momentAtRest: () => {
    loadStrips(view);
    view.code.load();
    view.patterns.load();
    view.table.hear();
    view.search.again();
    if (view.group) setPin(view, view.context.route);
  },
  range: (range) => {
    view.curve.setRange(range);
    view.map.setView();
  },
  rangeAtRest: () => Promise.all([loadDetail(view), view.map.load()]),
  window: () => {
    view.map.setPlace();
    loadWindow(view).then(() => refresh(view));
    if (view.marked !== view.place.within) loadStrips(view).then(() => refresh(view));
  },
  fit: (offsets) => view.map.fit(offsets),
  marks: () => {
    view.map.setPlace();
    loadMarks(view).then(() => refresh(view));
  },
});

/* What the cards of figures are made of. */
const explainable = ({ program, records, place, table, window, group, reading, hoveredParts }) => ({
  ...program,
  ...{ records, place, table, window, group, reading, hoveredParts },
});

const pinned = (view) => view.store.state.pin;

/* ---- views ------------------------------------------------------------------ */

function buildCurve(view) {
  view.curvePanel = createPanel('panel-curve', 'Memory over program order', { hasReading: true });
  view.curve = createCurve({
    onLeave: () => {
      leave(view);
      view.map.showStep(null);
    },
    sentence: (reading) => say.readingSentence(view.program.space, reading),
    onHover: (reading, item) => {
      view.map.showStep(reading.step);
      view.reading = reading;
      view.store.set({ hover: item && buffersKey(item.id) });
      const lines = [
        ...say.readingLines(view.program.space, reading),
        ...(item ? [stripeLine(item, view.program.space)] : []),
      ];
      showTooltip(
        `s:${reading.step} ${item?.id ?? ''}`,
        lines.map((line) => nodesOf(line)),
        null,
        'reading',
        view.curvePanel.reading,
      );
    },
    onPin: (item, isBeside) => (isBeside ? keepBeside(view, item) : togglePin(view, item)),
    onMenu: ({ item, step }, at, giveBack) =>
      item ? openBufferMenu(view, item, at, giveBack, step) : openStepMenu(view, step, at, giveBack),
    onOpen: (item) => zoomTo(view, item.id),
    onMoment: (step, isHeld) => view.place.setMoment(step, isHeld),
    onWindow: (window) => view.place.setWindow(window),
    onRange: (range) => view.place.setRange(range),
    onAll: () => view.place.showAll(),
    onHint: hint,
  });
  const exports = exportEntries({
    name: 'curve',
    title: 'Memory over program order',
    drawing: () => !view.curvePanel.body.hidden && view.curve.drawing(),
    table: () => view.curve.table(),
  });
  view.curvePanel.setMenu(() => [exports(), explainEntry('curve')]);
  view.window = windowLines(view);
  view.notes = stepNotes(view);
  view.curvePanel.body.append(view.curve.node);
  view.curvePanel.body.before(view.notes.node);
  view.curvePanel.node.dataset.explain = 'curve';
}

/* Nothing is hovered any more. */
function leave(view) {
  hideTooltip();
  view.store.set({ hover: null });
}

/* What is pinned already is let go. */
function togglePin(view, item) {
  if (item.id != null && item.id === view.store.state.pin) view.context.pin(null);
  else pinItem(view, item);
}

function build(view) {
  view.head = createHead(createChooser(view.program, view.context.setCapacity), () => openWhatif(view));
  view.pinItem = (item) => pinItem(view, item);
  buildCurve(view);
  const onLeave = () => leave(view);
  const onPin = (item) => togglePin(view, item);
  view.strips = createStrips({
    onHover: (key, bar, mark) => hoverBar(view, key, bar, mark),
    onLeave,
    onPin,
    onZoom: (bar) => zoomTo(view, bar.id),
    sentence: (bar) => say.barSentence(bar, view.records.get(bar.id), view.program.space.peak_bytes),
    onWidth: () => loadStrips(view).then(() => refresh(view)),
    onOpen: (bars) => view.context.choose({ bars }),
    onRules: () => editRules(view),
    onOnly: (category, isAdded) => onlyCategory(view, category, isAdded),
  });
  view.map = createMapPanel(
    {
      program: view.program,
      context: view.context,
      place: view.place,
      records: view.records,
      width: () => view.root.clientWidth,
      pinned: () => pinned(view),
    },
    {
      onHover: (item, lines) => {
        view.store.set({ hover: item.id == null ? null : buffersKey(item.id) });
        showTooltip(
          `map:${item.id ?? `${item.from} ${item.low_bytes} ${item.category}`}`,
          lines.map((line) => nodesOf(line)),
          null,
          explainOf(view, item),
          view.map.panel.reading,
        );
      },
      onLeave,
      onBuffers: (items, isPart) => view.curve.setBuffers(items, isPart),
      onStep: (step) => view.curve.showStep(step),
      onCentre: () => centrePin(view),
      onDraw: view.light,
      onPin,
      onHint: hint,
    },
  );
  view.code = codePanel(view);
  view.patterns = patternsPanel(view);
  view.whatif = whatifDrawer(view);
  view.table = createBuffersTable(
    { program: view.program, context: view.context, place: view.place, records: view.records },
    {
      onHover: (row) => view.store.set({ hover: buffersKey(row.id) }),
      onLeave,
      onPin,
      onMenu: (row, at, giveBack) => openBufferMenu(view, row, at, giveBack),
      onDraw: () => refresh(view),
    },
  );
  addSwitches(view);
  view.search = createViewerSearch(view, (items) => {
    view.found = items.length ? new Set(items.map(({ id }) => id)) : null;
    view.map.setMatches(items);
    refresh(view);
  });
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  view.strips.panel.node.dataset.explain = 'strips';
  view.panels = [
    view.curvePanel,
    view.strips.panel,
    view.map.panel,
    view.table.panel,
    view.code.panel,
    view.patterns.panel,
  ];
  for (const [at, panel] of view.panels.entries())
    panel.canEnlarge((isLarge) => view.context.choose({ large: isLarge ? PANELS[at] : '' }));
  view.setKept = [view.curvePanel, view.map.panel].map((panel) =>
    panel.canKeep((isKept) => view.context.choose({ keep: isKept ? '1' : '' })),
  );
  const words = ['Curve', 'Strips', 'Map', 'Table', 'Code', 'Patterns'];
  view.tabs = createPhoneTabs(
    words.map((word, at) => ({ id: word.toLowerCase(), word, panel: view.panels[at] })),
    (id) => view.context.choose({ view: id === 'curve' ? '' : id }),
  );
  view.root.replaceChildren(
    el(
      'div',
      { class: 'viewer' },
      view.head.node,
      view.search.node,
      view.wholePage,
      view.tabs.node,
      [0, 2, 1, 3, 4, 5].map((at) => view.panels[at].node),
    ),
  );
}

/* A panel in the place of the table, of which no more is there than its head until the URL asks for it. */
function placePanel(view, id, title, load) {
  const panel = createPanel(`panel-${id}`, title);
  const part = lazy(load, (make) => make(panel));
  const isAsked = () => view.context.route.view === id;
  return { panel, part, load: () => (isAsked() ? part.with((it) => it.load()) : null) };
}

const codePanel = (view) =>
  placePanel(view, 'code', 'Memory by code', async () => {
    const { createCode } = await import('./code.js');
    return (panel) => createCode(view, panel, { onHint: hint, onDetails: () => refresh(view) });
  });

const patternsPanel = (view) =>
  placePanel(view, 'patterns', 'Patterns at the peak', async () => {
    const { createPatterns } = await import('./patterns.js');
    return (panel) => createPatterns(view, panel);
  });

/* To the panel of the code or the patterns, which is opened if need be. */
function toPlace(view, id) {
  if (view.context.route.view !== id) view.context.choose({ view: id });
  view[id].part.with((it) => it.focus());
  return true;
}

function hoverBar(view, key, bar, mark) {
  view.store.set({ hover: key });
  showTooltip(
    key,
    say.barLines(bar, view.records.get(bar.id), view.program.space.peak_bytes).map((line) => nodesOf(line)),
    mark,
    explainOf(view, bar),
  );
}

/* The card of what is hovered: of a buffer, or of several drawn as one. */
function explainOf(view, item) {
  view.hoveredParts = item.id == null ? item : null;
  return item.id == null ? 'merged' : `size:${item.id}`;
}

/* Said once the wheel turns over a chart that does not take it. */
function hint() {
  toast('Click the chart or hold Ctrl to zoom');
}

/* The filter and the opened bar say what strips and map show. */
function hearFilter(view, route) {
  const isSame = route.filter === view.filter && route.bars === view.bars;
  const isOther = route.filter !== view.filter;
  view.filter = route.filter;
  view.bars = route.bars;
  if (isSame || !view.program.space) return;
  loadStrips(view).then(() => refresh(view));
  if (isOther) view.map.load();
}

/* One step back: a drag, the tooltip, the window, then the pin. True if there was one. */
function escape(view) {
  if (view.curve.cancel() || view.map.cancel()) return true;
  if (dismissTooltip() || view.whatif.escape(true)) return true;
  if (view.program.space && view.place.letWindowGo()) return true;
  if (view.walk.back()) return true;
  if (view.bars) {
    view.context.choose({ bars: '' });
    return true;
  }
  if (view.context.route.large) {
    view.context.choose({ large: '' });
    return true;
  }
  if (view.beside) {
    view.context.choose({ beside: null });
    return true;
  }
  if (view.store.state.pin == null) return Boolean(view.code.part.now?.back()) || view.whatif.escape(false);
  view.context.pin(null);
  return true;
}
