/* SPDX-License-Identifier: Apache-2.0
 * page.js: what the allocator did over time. Answer, memory ids of all hosts, timeline, and at one
 * time: what is live, the events, growth, addresses. All that is chosen stands in the URL.
 *
 * Reads top down: build the views, load what the URL names, hear what changes in it. Three owners: `url` is what was
 * chosen, `trace` what was read, the views draw both; each view takes by name what it uses. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { bytes, cutMiddle, visible } from '../../lib/format.js';
import { isAll } from '../../lib/range.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTabs } from '../../widgets/tabs.js';
import { dismissTooltip, hideTooltip } from '../../widgets/tooltip.js';
import { createAddresses } from './addresses.js';
import * as empty from './empty.js';
import { createHead, createPools, poolsTitle, programsMessage } from './head.js';
import { profileKeys } from './keys.js';
import { openRowMenu, openTimelineMenu } from './menus.js';
import { asker, choosePool, listPrograms } from './load.js';
import { createPins } from './pins.js';
import { changed, isReplayed, OVER_TIME, rangeOf, rangePatch, wantedOf } from './state.js';
import { createProfileSearch } from './search.js';
import { createSegments } from './segments.js';
import { createProfileTable } from './table.js';
import { createTimelinePanel } from './timeline.js';
import { createProfileWhatif } from './whatif.js';
import * as say from './text.js';

const TABS = [
  { id: 'live', word: 'Live', key: '1' },
  { id: 'events', word: 'Events', key: '2' },
  { id: 'growth', word: 'Growth', key: '3' },
  { id: 'addresses', word: 'Address map', key: '4' },
  { id: 'whatif', word: 'What if', key: '5' },
];

const PS_PER_US = 1e6;

const short = (text) => cutMiddle(visible(text), 60);

/* What was read. key: of equal traces and memory ids equal; all: [start, end) of the trace in ps; programs: of the
 * same session, {list, count}. */
const emptyTrace = () => ({
  session: null,
  summary: null,
  pool: null,
  place: null,
  key: '',
  ask: null,
  all: [0, 1],
  notes: [],
  programs: { list: [], count: 0 },
});

/* What was chosen, and the gestures that choose. With isEnd false the hand is still moving: what depends on it waits.
 */
function urlOf(view) {
  const { context, trace } = view;
  return {
    wanted: wantedOf(context.route, null),
    get route() {
      return context.route;
    },
    choose: context.choose,
    move: context.move,
    range: () => rangeOf(view.url.wanted, trace.all),
    isZoomed: () => !isAll(view.url.range(), trace.all),
    setRange(range, isEnd) {
      const patch = rangePatch(range, trace.all);
      if (isEnd) context.choose(patch);
      else context.move(patch);
    },
    setTime(time, isEnd = true) {
      if (isEnd) context.choose({ time: time === trace.pool.peak.time_ps ? null : time });
      else drawOnly(view, { time }, {});
    },
    setWindow(range, isEnd) {
      if (isEnd) context.choose({ sel: range ? `${range[0]}-${range[1]}` : '' });
      else drawOnly(view, { window: range }, { isMoving: true });
    },
    toggle: (layer) => toggleLayer(view.url, layer),
    stacksHref: (timePs) => stacksHref(view, timePs),
  };
}

/* What is live at a time by call stack, in Device Memory; "" where the trace has no stacks. */
function stacksHref({ context, trace, url }, timePs) {
  const { pool, session, summary } = trace;
  if (!pool.has_stacks) return '';
  const isPeak = url.wanted.time == null || timePs === pool.peak.time_ps;
  const moment = isPeak ? 'peak' : timePs % PS_PER_US === 0 ? `${timePs / PS_PER_US}us` : `${timePs}ps`;
  const isOnly = summary.pools.filter(({ host }) => host === pool.host).length === 1;
  return context.link(session.id, {
    tool: 'device_memory',
    a: `${pool.host}@${moment}${isOnly ? '' : `@${pool.memory}`}`,
  });
}

/* Under the hand what moves is only drawn; what depends on it follows at the end. */
function drawOnly({ url, pins, timeline }, patch, how) {
  pins.forget();
  url.wanted = { ...url.wanted, ...patch };
  timeline.place(how);
}

/* layer: "free" or "fragmentation". */
function toggleLayer({ route, wanted, choose }, layer) {
  const without = (list) => list.filter((word) => word !== layer);
  const isOn = layer === 'free' ? wanted.isFree : wanted.isFragmentation;
  choose({
    hide: isOn ? [...without(route.hide), layer] : without(route.hide),
    show: isOn ? without(route.show) : [...without(route.show), layer],
  });
}

/* context: see app.js. Out: {show(selection, route), hear(route), escape(), unmount()}. */
export function mount(root, context) {
  const view = { context, controller: null, serial: 0, trace: emptyTrace() };
  view.url = urlOf(view);
  const styled = loadStyle('profile.css');
  build(view, root);
  const { trace, url, timeline, pins, tabsOf } = view;
  context.bind(
    profileKeys({
      trace,
      url,
      timeline,
      pins,
      say: context.say,
      byRow: (direction) => byRow(view, direction),
      focusFilter: () => tabOf(view).focusFilter?.(),
      search: view.search,
    }),
    'Memory Profile',
  );
  context.bind(explainKeys(), 'Figures');
  const rowOf = (id) => (tabsOf[url.wanted.view].rowOf ?? tabsOf.live.rowOf)(id);
  const stopCards = explainWith(async (...key) =>
    (await import('./explain.js')).cardOf({ ...trace, drawn: timeline.data, rowOf }, ...key),
  );
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
      view.search.stop();
      pins.destroy();
      hideTooltip();
      timeline.destroy();
      Object.values(tabsOf).forEach((tab) => tab.destroy());
    },
  };
}

/* ---- views ------------------------------------------------------------------ */

function build(view, root) {
  const { context, trace, url } = view;
  view.head = createHead({ trace, link: context.link, linkHere: context.linkHere });
  view.pools = createPools((pool) => choosePoolOf(view, pool));
  view.poolsPanel = createPanel('panel-pools', 'Allocators');
  view.poolsPanel.body.append(view.pools.node);
  view.timeline = createTimelinePanel({
    trace,
    url,
    spanOf: () => view.pins.span,
    pinnedOf: () => view.pins.item,
    besideOf: () => view.pins.beside,
    onReading: (reading, item) => view.pins.hover(reading, item),
    onPickRun: (run) => view.pins.pickRun(run),
    onPickStripe: (item, time, isBeside) => view.pins.pinStripe(item, time, isBeside),
    onMenu: (what, place, giveBack) => openTimelineMenu(view, what, place, giveBack),
  });
  const onPin = (row, name) => view.pins.pin(row, name);
  const onPickBlock = (block) => block.event != null && onPin(block, 'addresses');
  const tableOf = (name) =>
    createProfileTable(name, {
      trace,
      url,
      onPin,
      onMenu: (row, place, giveBack) => openRowMenu(view, row, name, place, giveBack),
      onDraw: () => view.pins.mark(),
    });
  view.tabsOf = {
    live: tableOf('live'),
    events: tableOf('events'),
    growth: tableOf('growth'),
    addresses: createAddresses({ trace, url, onPickBlock }),
    segments: createSegments({
      trace,
      url,
      onPickBlock,
      onPickId: (id) => view.pins.pinStripe({ id }),
      onDraw: () => {},
    }),
    whatif: createProfileWhatif({ trace, url, onCurve: (curve) => view.timeline.predict(curve) }),
  };
  view.pins = createPins({
    trace,
    url,
    timeline: view.timeline,
    tabsOf: view.tabsOf,
    pane: context.details,
    banners: context.banners,
  });
  view.search = createProfileSearch(view);
  view.setKept = view.timeline.panel.canKeep((isKept) => context.choose({ keep: isKept ? '1' : '' }));
  view.tabs = createTabs({
    tabs: TABS,
    label: 'Views of this time',
    onChoose: (id) => context.choose({ view: id === TABS[0].id ? '' : id, sort: '' }),
  });
  view.tabBody = el('div', {});
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  const tabsNode = el('div', { class: 'panel panel-tabs' }, view.tabs.node, view.tabBody);
  view.parts = [view.poolsPanel.node, view.timeline.panel.node, tabsNode];
  fill(root, el('div', { class: 'viewer profile' }, view.head.node, view.search.node, view.wholePage, view.parts));
}

/* A reason, and nothing else. */
function only(view, content, sentence, notes = []) {
  view.trace.pool = null;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
  for (const part of view.parts) part.hidden = true;
  view.head.say(sentence, notes);
  view.context.details.clear();
  view.context.setNothing();
}

/* ---- loading ---------------------------------------------------------------- */

/* selection.ahead: the summary of the session that the URL names, if it was asked for before its page was there. */
async function show(view, selection, route) {
  view.controller?.abort();
  view.controller = new AbortController();
  view.serial++;
  const { signal } = view.controller;
  const { session, ahead } = selection;
  view.trace.session = session;
  view.pins.reset();
  hideTooltip();
  const stop = () => {
    view.controller.abort();
    only(view, empty.stopped(session.name, view.context.again), 'Stopped.');
  };
  const end = view.timeline.panel.wait(
    `Reading the events of ${short(session.name)}${
      session.size_bytes > 0 ? `, ${bytes(session.size_bytes)} of ` + `files` : ''
    }.`,
    stop,
    session.id,
  );
  const ends = [view.poolsPanel, tabOf(view).panel].map((panel) => panel?.wait('', null));
  showTab(view);
  try {
    const answer = await (ahead ?? get('memory_profile/summary', { session: session.id }, { signal }));
    if (signal.aborted) return;
    view.trace.summary = answer.data;
    await showSummary(view, route, answer.notes, signal);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    only(view, empty.unreadable(session.name, error), `${short(session.name)} cannot be read.`);
  } finally {
    for (const each of ends) each?.();
    end();
  }
}

async function showSummary(view, route, notes, signal) {
  const { summary } = view.trace;
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

/* One memory id of one host. The summary says where its time begins and ends, so all else is asked for at once. */
async function showPool(view, route, notes, signal) {
  const { trace, url, context } = view;
  const { summary, session } = trace;
  let pool = choosePool(summary.pools, route);
  if (!pool) {
    context.banners.set('warning-0', {
      text: `Allocator ${short(route.memory)} is not in this session; showing the worst.`,
    });
    pool = choosePool(summary.pools, { host: route.host, memory: '' });
  }
  const host = summary.hosts.find((each) => each.host === pool.host);
  const place = { session: session.id, host: pool.host, memory: pool.memory };
  Object.assign(trace, {
    pool,
    place,
    key: JSON.stringify([view.serial, place]),
    ask: asker(place, signal),
    all: [host.start_ps, Math.max(host.end_ps, host.start_ps + 1)],
    notes: [...notes, ...say.silentHosts(summary.hosts), ...host.notes, ...pool.notes],
    programs: { list: [], count: 0 },
  });
  context.setHost(pool.host);
  url.wanted = wantedOf(route, pool);
  view.setKept(route.keep !== '');
  view.pins.reset();
  view.tabsOf.addresses.reset();
  view.tabsOf.segments.reset();
  view.pools.draw(summary, pool);
  view.poolsPanel.setTitle(...poolsTitle(summary));
  view.poolsPanel.node.hidden = summary.pools.length === 1;
  view.timeline.panel.node.hidden = url.wanted.isEnd;
  view.tabs.leaveOut([...(url.wanted.isEnd ? OVER_TIME : []), ...(isReplayed(pool) ? [] : ['whatif'])]);
  view.timeline.predict(null);
  context.setTitle(say.pageTitle(pool, session.name));
  view.head.show();
  showTab(view);
  const drawn = view.timeline.load();
  await Promise.all([
    drawn,
    withPins(view, loadTab(view), true),
    showPrograms(view, signal),
    drawn.then(() => view.tabsOf.whatif.hear()),
  ]);
  view.search.hear(route.find);
  view.search.again();
}

/* Programs of the same session, largest first; nothing is lost if they cannot be read. */
async function showPrograms({ trace, context, head, pins, wholePage }, signal) {
  try {
    trace.programs = await listPrograms(trace.session.id, context.link, signal);
    if (trace.pool) {
      head.show();
      pins.show();
    } else if (trace.programs.count > 0) wholePage.append(programsMessage(trace, context.link));
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem)) throw error;
  }
}

function showTab(view) {
  const { view: id } = view.url.wanted;
  const tab = tabOf(view);
  view.tabs.set(id);
  for (const [name, value] of Object.entries(view.tabs.panelAttributes(id))) view.tabBody.setAttribute(name, value);
  view.tabBody.className = `tab-body tab-${tab === view.tabsOf.segments ? 'addresses tab-segments' : id}`;
  fill(
    view.tabBody,
    (tab.panels ?? [tab.panel]).map((panel) => panel.node),
  );
}

/* The address map of an allocator snapshot is that of its segments. */
const tabOf = ({ tabsOf, trace, url }) =>
  tabsOf[url.wanted.view === 'addresses' && trace.pool?.has_segments ? 'segments' : url.wanted.view];

const loadTab = (view) => tabOf(view).load();

/* ---- what changes in the URL -------------------------------------------------- */

async function hear(view, route) {
  const { trace, url, timeline, pins } = view;
  if (!trace.summary || trace.summary.pools.length === 0) return;
  const before = url.wanted;
  const pool = choosePool(trace.summary.pools, route);
  if (pool && pool !== trace.pool) {
    await changePool(view, route);
    return;
  }
  view.setKept(route.keep !== '');
  url.wanted = wantedOf(route, trace.pool);
  const what = changed(before, url.wanted);
  view.search.hear(route.find);
  if (what.has('time') || what.has('group')) view.search.again();
  if (what.has('isFree') || what.has('isFragmentation')) timeline.draw();
  if (what.has('range') || what.has('window')) pins.forget();
  if (what.has('range')) timeline.moved();
  else if (what.has('stack')) timeline.again();
  else timeline.place();
  if (what.has('view')) showTab(view);
  await Promise.all([
    withPins(view, tabOf(view).hear(), what.has('pin') || what.has('beside')),
    view.tabsOf.whatif.hear(),
  ]);
}

/* A pinned row is looked for in what the table shows now; an event is read beside it. */
async function withPins({ pins }, table, isChanged) {
  const isOfRow = pins.isOfRow();
  await Promise.all([table, isChanged && !isOfRow ? pins.load() : null]);
  if (isOfRow) await pins.load();
}

async function changePool(view, route) {
  const { panel } = view.timeline;
  const end = panel.wait('', null);
  try {
    await showPool(view, route, [], view.controller.signal);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    panel.say(message(empty.failed('The timeline', error)));
  } finally {
    end();
  }
}

function choosePoolOf({ trace, context }, pool) {
  const worst = trace.summary.pools[0];
  context.choose({
    host: pool === worst ? '' : pool.host,
    memory: pool === worst ? '' : pool.memory,
    time: null,
    from: null,
    to: null,
    sel: '',
    a: '',
    b: '',
    pin: null,
    beside: null,
    low: null,
    high: null,
  });
}

/* The row or block beside the pinned one. */
async function byRow({ url, tabsOf, pins }, direction) {
  const { view: kind } = url.wanted;
  const row = await tabsOf[kind].beside(pins.rowIn(kind), direction);
  if (row) pins.pin(row, kind);
}

/* One step back: tooltip, pin, window. True if there was one. */
function escape({ url, pins }) {
  if (dismissTooltip()) return true;
  if (pins.release()) return true;
  if (!url.wanted.window) return false;
  url.choose({ sel: '' });
  return true;
}
