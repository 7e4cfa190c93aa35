/* SPDX-License-Identifier: Apache-2.0
 * page.js: device memory profiles by call stack. One sentence, then seven views of the same
 * profiles under the same filters; a frame that is hovered or pinned is lit in all of them.
 *
 * Reads top down: build the page, load what the URL names, light what is hovered or pinned. */

import { apiUrl, get, isAbort, Problem } from '../../lib/api.js';
import { begin, nextFrame } from '../../lib/activity.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { uploadAgain, uploaded } from '../../lib/uploads.js';
import { createStore } from '../../lib/store.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { message } from '../../widgets/panel.js';
import { dismissTooltip, hideTooltip } from '../../widgets/tooltip.js';
import { createControls } from './controls.js';
import { createDetailsOf } from './details.js';
import { createHead } from './head.js';
import { commonParams, compared, countFilters, pinned, stateOf, swapped, VIEWS } from './state.js';
import { createFlame } from './flame.js';
import { createDeviceSearch } from './search.js';
import * as empty from './empty.js';
import * as say from './text.js';

const ZOOM = 1.5;

/* The flame graph is there at once; the other views are loaded when they are first opened. */
const MAKERS = {
  flame: async () => createFlame,
  graph: async () => (await import('./graph.js')).createGraph,
  top: async () => (await import('./top.js')).createTop,
  callers: async () => (await import('./callers.js')).createCallers,
  source: async () => (await import('./source.js')).createSource,
  buffers: async () => (await import('./buffers.js')).createBuffers,
  series: async () => (await import('./series.js')).createSeries,
};

/* What stands in the URL, and the gestures that change it. */
const urlOf = (context) => ({
  state: stateOf({}),
  choose: (patch) => patch && context.choose(patch),
  move: context.move,
  pin: (path, group) => context.choose(pinned(path, group)),
});

/* What is asked of the daemon, and what is known of it. key: of equal questions equal; names: of functions that are
   drawn. */
function subjectOf(view) {
  const common = () => commonParams(view.url.state, view.subject.session);
  return {
    session: '',
    hasPrograms: false,
    key: '',
    profiles: [],
    names: [],
    summary: null,
    summaryRead: null,
    common,
    ask: (name, params = {}, signal = view.controller.signal) =>
      get(`device_memory/${name}`, { ...common(), ...params }, { signal }),
    /* Link to the whole table as the daemon writes it. */
    link: (name, params, format = 'csv') => apiUrl(`device_memory/${name}`, { ...common(), ...params, format }).href,
    again: () => void openTab(view),
  };
}

/* context: of app.js. Out: {show(selection, route), hear(route), follow(session), escape(), unmount()}. */
export function mount(root, context) {
  const view = {
    context,
    url: urlOf(context),
    store: createStore({ hover: null, pin: null }),
    hint: (words) => context.say?.(words),
    tabs: new Map(),
    tab: null,
    controller: new AbortController(),
  };
  view.subject = subjectOf(view);
  const styled = loadStyle('device.css');
  build(view, root);
  view.store.subscribe(() => nextFrame(() => lightUp(view)));
  context.bind([...keysOf(view), ...explainKeys()], 'Device Memory');
  const stopCards = explainWith(async (...key) =>
    (await import('./explain.js')).cardOf(view.subject, view.url.state, ...key),
  );
  return {
    show: (selection, route) => Promise.all([styled, show(view, selection, route)]),
    hear: (route) => apply(view, route),
    follow: (session) => follow(view, session),
    escape: () => escape(view),
    unmount() {
      view.controller.abort();
      stopCards();
      hideTooltip();
      view.search.stop();
      view.details.clear();
      for (const tab of view.tabs.values()) tab.destroy?.();
    },
  };
}

function build(view, root) {
  const { url, subject, store, context } = view;
  view.head = createHead({ url, subject, store, link: context.link, linkHere: context.linkHere });
  view.search = createDeviceSearch(view);
  view.controls = createControls({ url, subject, search: view.search });
  view.details = createDetailsOf({ url, subject, pane: context.details, relight: () => lightUp(view) });
  view.place = el('div', { class: 'device-views' });
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  const body = el('div', { class: 'device-body' }, view.controls.node, view.wholePage, view.place);
  fill(root, el('div', { class: 'device' }, view.head.node, body));
}

/* ---- loading ------------------------------------------------------------------- */

/* selection: what the frame found; without a session, what was dropped on the page is shown. */
async function show(view, selection, route) {
  const { url, subject } = view;
  url.state = stateOf(route);
  Object.assign(subject, {
    session: selection.session?.id ?? '',
    hasPrograms: Boolean(selection.session) && selection.session.module_count !== 0,
    profiles: [],
    names: [],
    summary: null,
    key: '',
  });
  view.controller.abort();
  for (const tab of view.tabs.values()) tab.forget();
  const hasNone = !subject.session || (selection.session.profile_count === 0 && !selection.session.snapshot_count);
  if (hasNone && !compared(url.state).shown) {
    instead(view, empty.noProfiles(), 'No device profile to show.');
    view.controls.node.hidden = true;
    return;
  }
  await Promise.all([listProfiles(view), apply(view, route), findTrend(view, selection.session)]);
}

/* A series grows while a program runs: what was added is drawn without a question. Views of one profile stay as they
   are
 * until the reader asks. Out: a promise, or null where it does not follow. */
function follow(view, session) {
  const { subject, tabs, url } = view;
  if (url.state.view !== 'series' || session.id !== subject.session || session.profile_count === 0) return null;
  for (const tab of tabs.values()) tab.forget();
  subject.summaryRead = loadSummary(view);
  return Promise.all([listProfiles(view), subject.summaryRead, openTab(view), findTrend(view, session)]);
}

/* What grows over all profiles of the session is told first, whichever of them is shown. */
async function findTrend({ subject, head }, session) {
  head.setFinding(null);
  if (!session || session.profile_count < 3) return;
  try {
    const { data } = await get('device_memory/series', { session: session.id, limit: 1 });
    if (session.id === subject.session) head.setFinding(data.finding);
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem)) throw error;
  }
}

/* What there is to choose from, and what could not be read. */
async function listProfiles({ subject, controls, head }) {
  const { session } = subject;
  if (!session) return;
  try {
    const list = await get(`sessions/${encodeURIComponent(session)}/profiles`);
    if (session !== subject.session) return;
    subject.profiles = list.profiles;
    controls.draw();
    head.setNotRead(list.not_read);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/* Shows what the route says; asks only for what changed. */
async function apply(view, route) {
  const { url, subject } = view;
  url.state = stateOf(route);
  const key = JSON.stringify(subject.common());
  const isOther = key !== subject.key;
  if (isOther) {
    subject.key = key;
    view.controller.abort();
    view.controller = new AbortController();
    hideTooltip();
  }
  view.controls.draw();
  const path = url.state.pin;
  view.store.set({ pin: path ? path.slice(path.lastIndexOf('.') + 1) : null });
  if (isOther) subject.summaryRead = loadSummary(view);
  view.search.hear(url.state.find);
  if (isOther) view.search.again();
  await Promise.all([subject.summaryRead, openTab(view)]);
}

async function loadSummary(view) {
  const { url, subject } = view;
  const { signal } = view.controller;
  try {
    const { data, notes } = await subject.ask('summary');
    if (signal.aborted) return;
    subject.summary = data;
    view.wholePage.hidden = true;
    view.place.hidden = view.controls.node.hidden = false;
    view.context.setTitle(say.titleOf(data));
    if (data.sample_count === 0 && countFilters(url.state) === 0)
      instead(view, empty.noSamples(data), 'Nothing is live in this profile.');
    view.head.show(data, notes);
    view.controls.draw();
    lightUp(view);
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'gone') throw error;
    const { local } = url.state;
    const isLost = error.status === 404 && local && compared(url.state).shown === local;
    instead(
      view,
      isLost ? uploadAgain(local, uploaded(local)) : empty.failed('This profile', error),
      'Nothing to show.',
    );
  }
}

/* One message in place of all views; where another profile can be chosen the selectors stay. */
function instead(view, content, sentence) {
  view.head.say(sentence);
  view.place.hidden = true;
  view.controls.node.hidden = !view.subject.session;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
  view.details.clear();
  view.context.setNothing();
}

async function openTab(view) {
  const { view: name } = view.url.state;
  if (!view.tabs.has(name)) {
    const end = begin();
    const create = await MAKERS[name]().finally(end);
    /* Each takes of it by name what it uses. */
    const { url, subject, store, hint, head } = view;
    if (!view.tabs.has(name)) view.tabs.set(name, create({ url, subject, store, hint, lead: head.lead }));
    if (view.url.state.view !== name) return;
  }
  const tab = view.tabs.get(name);
  if (tab !== view.tab) {
    hideTooltip();
    view.tab = tab;
    view.store.set({ hover: null });
    fill(view.place, tab.node);
    view.head.redraw();
    const attributes = view.controls.panelAttributes(name);
    for (const [attribute, value] of Object.entries(attributes)) view.place.setAttribute(attribute, value);
  }
  await tab.show();
  lightUp(view);
}

/* ---- what is lit ------------------------------------------------------------------- */

function lightUp(view) {
  const { hover, pin } = view.store.state;
  view.tab?.light?.(hover, pin);
  view.details.light(hover, pin);
}

/* One step back: tooltip, pin. True if there was one. */
function escape(view) {
  if (dismissTooltip()) return true;
  if (view.tab?.escape?.()) return true;
  if (!view.url.state.pin) return false;
  view.url.pin(null);
  return true;
}

/* ---- keys ------------------------------------------------------------------------------ */

/* Keys; also entries of the palette and of `?`. */
function keysOf(view) {
  const { url } = view;
  const tab = () => view.tab;
  const has = (name) => () => typeof tab()?.[name] === 'function';
  return [
    ...VIEWS.map(({ view: id, word }, at) => ({
      keys: [String(at + 1)],
      does: `view ${word}`,
      run: () => url.choose({ view: id === 'flame' ? '' : id, sort: '', filter: '' }),
    })),
    {
      keys: ['/'],
      does: 'to the filter or the search of this view',
      run: () => (tab()?.focusFind ?? view.controls[url.state.view === 'flame' ? 'openSearch' : 'focusFilter'])(),
    },
    { keys: ['w', '+', '='], does: 'zoom in', isOn: has('zoomBy'), run: () => tab().zoomBy(ZOOM) },
    { keys: ['s', '-', '−'], does: 'zoom out', isOn: has('zoomBy'), run: () => tab().zoomBy(1 / ZOOM) },
    { keys: ['a'], does: 'pan left', isOn: has('panBy'), run: () => tab().panBy(-1) },
    { keys: ['d'], does: 'pan right', isOn: has('panBy'), run: () => tab().panBy(1) },
    { keys: ['0'], does: 'show all', isOn: has('showAll'), run: () => tab().showAll() },
    { keys: ['f'], does: 'to the pinned frame', isOn: has('showPin'), run: () => tab().showPin() },
    { keys: ['F'], does: 'search all views', run: () => view.controls.openSearch() },
    { keys: ['n'], does: 'next match', run: () => view.search.step(1) },
    { keys: ['N'], does: 'previous match', run: () => view.search.step(-1) },
    {
      keys: ['v'],
      does: 'leaves first or roots first',
      run: () => url.choose({ invert: url.state.isInverted ? '' : '1', pin: null }),
    },
    {
      keys: ['l'],
      does: 'frames of libraries (JAX, PyTorch, Python) on or off',
      run: () => url.choose({ machinery: url.state.isMachinery ? '' : '1', pin: null }),
    },
    {
      keys: ['x'],
      does: 'swap A and B',
      isOn: () => swapped(url.state) != null,
      run: () => url.choose(swapped(url.state)),
    },
  ];
}
