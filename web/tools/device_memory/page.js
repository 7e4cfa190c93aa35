/* SPDX-License-Identifier: Apache-2.0
 * page.js: device memory profiles by call stack. One sentence, then seven views of the same
 * profiles under the same filters; a frame that is hovered or pinned is lit in all of them.
 *
 * Reads top down: build the page, load what the URL names, light what is hovered or pinned. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { begin, nextFrame } from '../../lib/activity.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { uploadAgain, uploaded } from '../../lib/uploads.js';
import { createStore } from '../../lib/store.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { message } from '../../widgets/panel.js';
import { dismissTooltip, hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { createControls } from './controls.js';
import { createDetailsOf } from './details.js';
import { createHead } from './head.js';
import { keysOf } from './keys.js';
import { commonParams, compared, countFilters, pinned, stateOf } from './state.js';
import { createFlame } from './flame.js';
import * as empty from './empty.js';
import * as say from './text.js';

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

/* context: of app.js. Out: {show(selection, route), hear(route), escape(), unmount()}. */
export function mount(root, context) {
  const view = {
    root,
    context,
    store: createStore({ hover: null, pin: null }),
    session: '',
    sessionName: '',
    profiles: [],
    state: stateOf({}),
    summary: null,
    tabs: new Map(),
    tab: null,
    controller: new AbortController(),
  };
  view.ask = (name, params = {}, signal = view.controller.signal) =>
    get(`device_memory/${name}`, { ...commonParams(view.state, view.session), ...params }, { signal });
  view.choose = (patch) => patch && context.choose(patch);
  view.pin = (path, group) => context.choose(pinned(path, group));
  view.tooltip = showTooltip;
  view.untip = hideTooltip;
  view.light = () => lightUp(view);
  view.again = () => void openTab(view);
  const styled = loadStyle('device.css');
  build(view);
  view.store.subscribe(() => nextFrame(view.light));
  context.bind([...keysOf(view), ...explainKeys()], 'Device Memory');
  const stopCards = explainWith(async (key) => (await import('./explain.js')).cardOf(view, key));
  return {
    show: (selection, route) => Promise.all([styled, show(view, selection, route)]),
    hear: (route) => apply(view, route),
    escape: () => escape(view),
    unmount() {
      view.controller.abort();
      stopCards();
      hideTooltip();
      view.details.clear();
      for (const tab of view.tabs.values()) tab.destroy?.();
    },
  };
}

function build(view) {
  view.head = createHead(view);
  view.controls = createControls(view);
  view.details = createDetailsOf(view);
  view.place = el('div', { class: 'device-views' });
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  const body = el('div', { class: 'device-body' }, view.controls.node, view.wholePage, view.place);
  fill(view.root, el('div', { class: 'device' }, view.head.node, body));
}

/* ---- loading ------------------------------------------------------------------- */

/* selection: what the frame found; without a session, what was dropped on the page is shown. */
async function show(view, selection, route) {
  view.session = selection.session?.id ?? '';
  view.sessionName = selection.session?.name ?? '';
  view.state = stateOf(route);
  view.profiles = [];
  view.summary = null;
  view.key = '';
  view.controller.abort();
  for (const tab of view.tabs.values()) tab.forget();
  const hasNone = !view.session || selection.session.profile_count === 0;
  if (hasNone && !compared(view.state).shown) {
    instead(view, empty.noProfiles(), 'No device profile to show.');
    view.controls.node.hidden = true;
    return;
  }
  await Promise.all([listProfiles(view), apply(view, route)]);
}

/* What there is to choose from, and what could not be read. */
async function listProfiles(view) {
  if (!view.session) return;
  const { session } = view;
  try {
    const list = await get(`sessions/${encodeURIComponent(session)}/profiles`);
    if (session !== view.session) return;
    view.profiles = list.profiles;
    view.notRead = list.not_read;
    view.controls.draw();
    view.head.setNotRead(list.not_read);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/* Shows what the route says; asks only for what changed. */
async function apply(view, route) {
  view.state = stateOf(route);
  const key = JSON.stringify([view.session, commonParams(view.state, view.session)]);
  const isOther = key !== view.key;
  if (isOther) {
    view.key = key;
    view.controller.abort();
    view.controller = new AbortController();
    hideTooltip();
  }
  view.controls.draw();
  const path = view.state.pin;
  view.store.set({ pin: path ? path.slice(path.lastIndexOf('.') + 1) : null });
  if (isOther) view.summaryRead = loadSummary(view);
  await Promise.all([view.summaryRead, openTab(view)]);
}

async function loadSummary(view) {
  const { signal } = view.controller;
  try {
    const { data, notes } = await view.ask('summary');
    if (signal.aborted) return;
    view.summary = data;
    view.wholePage.hidden = true;
    view.place.hidden = view.controls.node.hidden = false;
    view.context.setTitle(say.titleOf(data));
    if (data.sample_count === 0 && countFilters(view.state) === 0)
      instead(view, empty.noSamples(data), 'Nothing is live in this profile.');
    view.head.show(data, notes);
    view.controls.draw();
    view.light();
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'gone') throw error;
    const { local } = view.state;
    const isLost = error.status === 404 && local && compared(view.state).shown === local;
    instead(view, isLost ? uploadAgain(local, uploaded(local)) : empty.failed('This profile', error), 'Nothing to show.');
  }
}

/* One message in place of all views; where another profile can be chosen the selectors stay. */
function instead(view, content, sentence) {
  view.head.say(sentence);
  view.place.hidden = true;
  view.controls.node.hidden = !view.session;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
  view.details.clear();
  view.context.setNothing();
}

async function openTab(view) {
  const { view: name } = view.state;
  if (!view.tabs.has(name)) {
    const end = begin();
    const create = await MAKERS[name]().finally(end);
    if (!view.tabs.has(name)) view.tabs.set(name, create(view));
    if (view.state.view !== name) return;
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
  view.light();
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
  if (!view.state.pin) return false;
  view.pin(null);
  return true;
}

