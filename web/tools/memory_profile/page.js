/* SPDX-License-Identifier: Apache-2.0
 * page.js: what the allocator did over time. Answer, memory ids of all hosts, timeline, and at a
 * moment: what is live, the events, growth, addresses. All that is chosen stands in the URL.
 *
 * Reads top down: build the views, load what the URL names, hear what changes in it. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, figure, fill, loadStyle, name } from '../../lib/dom.js';
import { count, cutMiddle, visible } from '../../lib/format.js';
import { isAll } from '../../lib/range.js';
import { listModules } from '../../lib/selection.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTabs } from '../../widgets/tabs.js';
import { dismissTooltip, hideTooltip } from '../../widgets/tooltip.js';
import { createAddresses } from './addresses.js';
import * as empty from './empty.js';
import { createHead, createPools, poolsTitle } from './head.js';
import { bindProfileKeys } from './keys.js';
import { asker, choosePool } from './load.js';
import { createPins } from './pins.js';
import { changed, rangeOf, rangePatch, wantedOf } from './state.js';
import { createProfileTable } from './table.js';
import { createTimelinePanel } from './timeline.js';
import * as say from './text.js';

const TABS = [
  { id: 'live', word: 'Live', key: '1' },
  { id: 'events', word: 'Events', key: '2' },
  { id: 'growth', word: 'Growth', key: '3' },
  { id: 'addresses', word: 'Address map', key: '4' },
];

const short = (text) => cutMiddle(visible(text), 60);

/* context: see app.js. Out: {show(selection, route), hear(route), escape(), unmount()}. */
export function mount(root, context) {
  const view = {
    root,
    context,
    controller: null,
    serial: 0,
    session: null,
    summary: null,
    pool: null,
    place: null,
    ask: null,
    all: [0, 1],
    wanted: wantedOf(context.route, null),
    programs: [],
  };
  view.range = () => rangeOf(view.wanted, view.all);
  view.isZoomed = () => !isAll(view.range(), view.all);
  view.toggleFree = () => toggleLayer(view, 'free');
  view.toggleFragmentation = () => toggleLayer(view, 'fragmentation');
  view.byRow = (direction) => byRow(view, direction);
  view.focusFilter = () => view.tabsOf[view.wanted.view].focusFilter?.();
  const styled = loadStyle('profile.css');
  build(view);
  bindProfileKeys(view);
  context.bind(explainKeys(), 'Figures');
  const stopCards = explainWith(async (key) => (await import('./explain.js')).cardOf(view, key));
  return {
    async show(selection, route) {
      await styled;
      await show(view, selection, route);
    },
    hear: (route) => hear(view, route),
    escape: () => escape(view),
    unmount() {
      view.controller?.abort();
      stopCards();
      view.pins.destroy();
      hideTooltip();
      view.timeline.destroy();
      Object.values(view.tabsOf).forEach((tab) => tab.destroy());
    },
  };
}

/* ---- views ------------------------------------------------------------------ */

function build(view) {
  const { context } = view;
  const setMoment = (time, isEnd = true) => moveMoment(view, time, isEnd);
  const setRange = (range, isEnd) => moveTo(view, range, isEnd);
  const setWindow = (range, isEnd) => selectWindow(view, range, isEnd);
  view.pins = createPins(view);
  view.head = createHead();
  view.pools = createPools((pool) => choosePoolOf(view, pool));
  view.poolsPanel = createPanel('panel-pools', 'Memory ids');
  view.poolsPanel.body.append(view.pools.node);
  view.timeline = createTimelinePanel(view, {
    onReading: view.pins.hover,
    onMoment: setMoment,
    onRange: setRange,
    onSelect: setWindow,
    onPickRun: view.pins.pickRun,
    onLayer: (what) => toggleLayer(view, what),
    onZoomWindow: () => context.choose(rangePatch(view.wanted.window, view.all)),
    onClearWindow: () => context.choose({ sel: '' }),
  });
  const tableActions = { onHover: () => {}, onLeave: () => {}, onPin: view.pins.pin, onDraw: view.pins.mark };
  view.tabsOf = {
    live: createProfileTable(view, 'live', tableActions),
    events: createProfileTable(view, 'events', tableActions),
    growth: createProfileTable(view, 'growth', tableActions),
    addresses: createAddresses(view, {
      onMoment: setMoment,
      onRange: setRange,
      onSelect: setWindow,
      onPickBlock: (block) => block.event !== null && view.pins.pin(block, 'addresses'),
    }),
  };
  view.tabs = createTabs({
    tabs: TABS,
    label: 'What to see of the moment',
    onChoose: (id) => context.choose({ view: id === TABS[0].id ? '' : id, sort: '' }),
  });
  view.tabBody = el('div', {});
  view.tabsNode = el('div', { class: 'panel panel-tabs' }, view.tabs.node, view.tabBody);
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  view.parts = [view.poolsPanel.node, view.timeline.panel.node, view.tabsNode];
  fill(view.root, el('div', { class: 'viewer profile' }, view.head.node, view.wholePage, view.parts));
}

/* A reason, and nothing else. */
function only(view, content, sentence, notes = []) {
  view.pool = null;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
  for (const part of view.parts) part.hidden = true;
  view.head.say(sentence, notes);
  view.context.details.clear();
  view.context.setNothing();
}

/* ---- loading ---------------------------------------------------------------- */

async function show(view, selection, route) {
  view.controller?.abort();
  view.controller = new AbortController();
  view.serial++;
  const { signal } = view.controller;
  const { session } = selection;
  view.session = session;
  view.pins.reset();
  hideTooltip();
  const stop = () => {
    view.controller.abort();
    only(view, empty.stopped(session.name, view.context.again), 'Stopped.');
  };
  const end = view.timeline.panel.wait(`Reading the events of ${short(session.name)}.`, stop);
  try {
    const answer = await get('memory_profile/summary', { session: session.id }, { signal });
    view.summary = answer.data;
    await showSummary(view, route, answer.notes, signal);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    only(view, empty.unreadable(session.name, error), `${short(session.name)} cannot be read.`);
  } finally {
    end();
  }
}

async function showSummary(view, route, notes, signal) {
  const { summary } = view;
  if (summary.pools.length === 0) {
    const reason = summary.reason ?? { code: 'no_memory_events', text: '' };
    const said = [...notes, ...summary.hosts.flatMap((host) => host.notes)];
    only(view, empty.noEvents(reason), empty.nothing(reason), said);
    await showPrograms(view, signal);
    return;
  }
  view.wholePage.hidden = true;
  for (const part of view.parts) part.hidden = false;
  await showPool(view, route, notes, signal);
}

/* One memory id of one host. */
async function showPool(view, route, notes, signal) {
  const { summary, session, context } = view;
  let pool = choosePool(summary.pools, route);
  if (!pool) {
    context.banners.set('warning-0', {
      text: `Memory id ${short(route.memory)} is not in this session; showing the worst.`,
    });
    pool = choosePool(summary.pools, { host: route.host, memory: '' });
  }
  const host = summary.hosts.find((each) => each.host === pool.host);
  Object.assign(view, {
    pool,
    peakTime: pool.peak.time_ps,
    notes: [...notes, ...say.silentHosts(summary.hosts), ...(host?.notes ?? []), ...pool.notes],
    programs: [],
  });
  context.setHost(pool.host);
  view.place = { session: session.id, host: pool.host, memory: pool.memory };
  view.ask = asker(view.place, signal);
  view.wanted = wantedOf(route, pool);
  view.pins.reset();
  view.tabsOf.addresses.reset();
  view.pools.draw(summary, pool);
  view.poolsPanel.setTitle(...poolsTitle(summary));
  view.poolsPanel.node.hidden = summary.pools.length === 1;
  context.setTitle(say.pageTitle(pool, session.name));
  sayAnswer(view);
  await view.timeline.load();
  showTab(view);
  await Promise.all([withPins(view, loadTab(view), true), showPrograms(view, signal)]);
}

function sayAnswer(view) {
  view.head.show({
    pool: view.pool,
    hostCount: view.summary.hosts.length,
    notes: view.notes,
    links: programLinks(view),
  });
}

/* The plan explains what the allocator does not: named where the line is flat. */
function programLinks(view) {
  const { programs, session, context } = view;
  const [first] = programs;
  if (!first || view.pool?.finding?.code !== 'flat_line') return [];
  const all = el('a', { href: context.link(session.id, { tool: 'memory_viewer' }) }, `all ${count(view.programCount)} programs`);
  return [
    programs.length > 1 ? ' The largest plan: ' : ' Its plan: ',
    el('a', { href: first.href }, name(first.name)),
    first.bytes ? [' (', figure(first.bytes), ')'] : '',
    programs.length > 1 ? ['; ', all] : '',
    '.',
  ];
}

/* Programs of the same session, largest first; nothing is lost if they cannot be read. */
async function showPrograms(view, signal) {
  const { context, session } = view;
  try {
    const { modules, total } = await listModules(session.id, '', '', signal);
    view.programCount = total;
    view.programs = modules.map((module) => ({
      name: module.name,
      key: module.key,
      bytes: module.largest_total_bytes,
      href: context.link(session.id, { tool: 'memory_viewer', module: module.id }),
    }));
    if (!view.pool && total > 0)
      view.wholePage.append(
        el(
          'p',
          { class: 'message' },
          total === 1 ? 'The plan of its program is in the ' : `The plans of its ${total} programs are in the `,
          el('a', { href: context.link(session.id, { tool: 'memory_viewer' }) }, 'Memory Viewer'),
          '.',
        ),
      );
    if (view.pool) {
      sayAnswer(view);
      view.pins.show();
    }
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem)) throw error;
  }
}

function showTab(view) {
  const { view: id } = view.wanted;
  const tab = view.tabsOf[id];
  view.tabs.set(id);
  for (const [name, value] of Object.entries(view.tabs.panelAttributes(id))) view.tabBody.setAttribute(name, value);
  view.tabBody.className = `tab-body tab-${id}`;
  fill(
    view.tabBody,
    (tab.panels ?? [tab.panel]).map((panel) => panel.node),
  );
}

function loadTab(view) {
  return view.tabsOf[view.wanted.view].load();
}

/* ---- what changes in the URL -------------------------------------------------- */

async function hear(view, route) {
  if (!view.summary || view.summary.pools.length === 0) return;
  const before = view.wanted;
  const pool = choosePool(view.summary.pools, route);
  if (pool && pool !== view.pool) {
    await changePool(view, route);
    return;
  }
  view.wanted = { ...wantedOf(route, view.pool), span: before.span };
  const what = changed(before, view.wanted);
  if (what.has('isFree') || what.has('isFragmentation')) view.timeline.draw();
  if (what.has('range') || what.has('window')) view.pins.forget();
  if (what.has('range')) view.timeline.moved();
  else view.timeline.place();
  if (what.has('view')) showTab(view);
  await withPins(view, view.tabsOf[view.wanted.view].hear(), what.has('pin'));
}

/* A pinned row is looked for in what the table shows now; an event is read beside it. */
async function withPins(view, table, isChanged) {
  const isOfRow = view.pins.isOfRow();
  await Promise.all([table, isChanged && !isOfRow ? view.pins.load() : null]);
  if (isOfRow) await view.pins.load();
}

async function changePool(view, route) {
  const end = view.timeline.panel.wait('', null);
  try {
    await showPool(view, route, [], view.controller.signal);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    view.timeline.panel.say(message(empty.failed('The timeline', error)));
  } finally {
    end();
  }
}

function choosePoolOf(view, pool) {
  const worst = view.summary.pools[0];
  view.context.choose({
    host: pool === worst ? '' : pool.host,
    memory: pool === worst ? '' : pool.memory,
    time: null,
    from: null,
    to: null,
    sel: '',
    a: '',
    b: '',
    pin: null,
    low: null,
    high: null,
  });
}

function moveTo(view, range, isEnd) {
  const patch = rangePatch(range, view.all);
  if (isEnd) view.context.choose(patch);
  else view.context.move(patch);
}

/* Under the hand the moment is only drawn; what depends on it follows at the end. */
function moveMoment(view, time, isEnd) {
  if (isEnd) {
    view.context.choose({ time: time === view.peakTime ? null : time });
    return;
  }
  view.pins.forget();
  view.wanted = { ...view.wanted, time };
  view.timeline.place();
}

function selectWindow(view, range, isEnd) {
  const sel = range ? `${range[0]}-${range[1]}` : '';
  if (isEnd) view.context.choose({ sel });
  else {
    view.pins.forget();
    view.wanted = { ...view.wanted, window: range };
    view.timeline.place({ isMoving: true });
  }
}

/* what: "free" or "fragmentation". */
function toggleLayer(view, what) {
  const { route } = view.context;
  const without = (list) => list.filter((word) => word !== what);
  const isOn = what === 'free' ? view.wanted.isFree : view.wanted.isFragmentation;
  view.context.choose({
    hide: isOn ? [...without(route.hide), what] : without(route.hide),
    show: isOn || what !== 'free' ? without(route.show) : [...without(route.show), what],
  });
}

/* The row or block beside the pinned one. */
async function byRow(view, direction) {
  const { view: kind } = view.wanted;
  const row = await view.tabsOf[kind].beside(view.pins.rowIn(kind), direction);
  if (row) view.pins.pin(row, kind);
}

/* One step back: tooltip, pin, window. True if there was one. */
function escape(view) {
  const { context } = view;
  if (dismissTooltip()) return true;
  if (view.pins.release()) return true;
  if (view.wanted.window) {
    context.choose({ sel: '' });
    return true;
  }
  return false;
}
