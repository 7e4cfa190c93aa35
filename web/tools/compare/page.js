/* SPDX-License-Identifier: Apache-2.0
 * page.js: two programs, moments or memory spaces side by side: what B needs more or less, why, and where.
 * What is compared stands in the URL as a= and b=; without them the newest two, or what was set as A. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, fill, loadStyle, prose } from '../../lib/dom.js';
import { parseReference } from '../../lib/reference.js';
import { listSessions } from '../../lib/selection.js';
import { setting, setSetting } from '../../lib/settings.js';
import { message } from '../../widgets/panel.js';
import { notesButton } from '../../widgets/notices.js';
import { dismissTooltip, hideTooltip } from '../../widgets/tooltip.js';
import { createCurves } from './curves.js';
import { detailsOf } from './details.js';
import { createPickers } from './pickers.js';
import { createTableOfPairs, VIEWS } from './table.js';
import { createWaterfall } from './waterfall.js';
import * as say from './text.js';

/* Sessions of programs; others hold nothing to compare here. */
const hasPrograms = (session) => session.module_count !== 0 && session.kind !== 'profiles' && session.kind !== 'text';

/* What is compared where the URL leaves a side out: A is what was set as A, else the second newest; B the newest. */
async function filledIn({ a, b }, signal) {
  if (a && b) return { a, b };
  const list = await listSessions('', signal);
  const ids = list.sessions.filter(hasPrograms).map(({ id }) => id);
  const after = b || ids.find((id) => id !== parseReference(a).session) || ids[0] || '';
  const kept = setting('last_a');
  const before = a || (kept && kept !== after ? kept : '') || ids.find((id) => id !== parseReference(after).session) || ids[0] || '';
  return { a: before, b: after };
}

/* A problem of the kept A alone: it may have gone since. */
const isOfKept = (error, route) => error.status === 404 && !route.a && setting('last_a') !== '';

function createHead() {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const share = el('p', { class: 'compare-share dim' });
  const node = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, el('div', { class: 'answer-beside' }, aside)), share);
  return {
    node,
    say(sentence, notes = []) {
      fill(title, el('span', { class: 'answer-first' }, prose(sentence)));
      fill(aside, notesButton(notes));
      fill(share);
    },
    show(data, notes) {
      this.say(say.literalSentence(data), notes);
      fill(share, say.matchedSentence(data));
    },
  };
}

/* What stands in place of charts and table. Out: {node, say(what) of message()}. */
function createInstead(body) {
  const node = el('div', { class: 'compare-instead', hidden: true });
  return {
    node,
    say(what) {
      body.hidden = true;
      node.hidden = false;
      fill(node, message(what));
    },
    hide() {
      node.hidden = true;
      body.hidden = false;
    },
  };
}

const NOTHING = {
  title: 'No program was found.',
  text: 'A comparison needs one or two compiled programs: a trace, an XLA dump or an HLO file. Drop them here, or start the daemon with their folder.',
};

const keysOf = ({ pickers, table, choose }) => [
  { keys: ['x'], does: 'swap A and B', run: () => pickers.swap() },
  { keys: ['/'], does: 'to the filter', run: () => table.focusFilter() },
  ...VIEWS.map(([id, word, key]) => ({ keys: [key], does: `show ${word.toLowerCase()}`, run: () => choose({ view: id }) })),
  { keys: ['0'], does: 'show the whole program', run: () => choose({ from: null, to: null }) },
];

/* context: see app.js. */
export function mount(root, context) {
  const ready = loadStyle('compare.css');
  const view = { context, sides: { a: '', b: '' }, asked: '', controller: null, data: null };
  const head = createHead();
  const choose = (patch) => context.choose({ ...patch, tool: 'compare' });
  const other = { step: null, from: null, to: null, pin: null, filter: '', view: '' };
  const pickers = createPickers({
    onChoose: (sides) => choose({ ...view.sides, ...sides, ...other }),
    onSwap: () => choose({ a: view.sides.b, b: view.sides.a, ...other, filter: context.route.filter }),
  });
  const ask = async (name, params, signal = view.controller?.signal) => get(`compare/${name}`, { ...view.sides, ...params }, { signal });
  const waterfall = createWaterfall({
    onPart: (category) => choose({ filter: say.toggledCategory(context.route.filter, category) }),
  });
  const curves = createCurves({ context, ask, onCompareSteps: (steps) => choose({ ...say.sidesAt(view.sides, view.data, steps), ...other }) });
  const table = createTableOfPairs({
    context,
    ask,
    sides: () => view.sides,
    onSpans: (spans) => curves.showSpans(spans),
    onShow: (row, isPinned) => {
      if (row) context.details.show({ ...detailsOf(row, view, context), isPinned });
      else showWhole();
    },
  });
  const body = el('div', { class: 'compare-body' }, el('div', { class: 'compare-charts' }, waterfall.node, curves.node), table.node);
  const instead = createInstead(body);
  fill(root, el('div', { class: 'compare' }, pickers.node, head.node, instead.node, body));

  function showWhole() {
    if (view.data) context.details.show({ heading: 'From A to B', parts: say.wholeParts(view.data) });
  }
  function show(data, notes) {
    view.data = data;
    instead.hide();
    head.show(data, notes);
    waterfall.show(data, context.route.filter);
    context.setTitle(`${say.changeWords(data)} · Compare – memviewd`);
    showWhole();
  }
  function refuse(error) {
    view.data = null;
    head.say(error.status === 409 ? 'These two cannot be compared.' : 'The comparison could not be made.');
    instead.say({ kind: error.status === 409 ? 'empty' : 'error', title: '', text: say.refusal(error) });
    context.setTitle('Compare – memviewd');
  }
  async function load(route, isAgain = false) {
    view.controller?.abort();
    view.controller = new AbortController();
    const { signal } = view.controller;
    await ready;
    try {
      view.sides = await filledIn(route, signal);
      if (!view.sides.a || !view.sides.b) {
        pickers.show(view.sides, signal);
        head.say('Nothing to compare yet.');
        instead.say(NOTHING);
        return;
      }
      view.asked = askedOf(route);
      pickers.show(view.sides, signal);
      const [{ data, notes }] = await Promise.all([ask('summary', {}, signal), curves.load(route), table.load(route)]);
      if (signal.aborted) return;
      show(data, notes);
      table.count(data.counts, data.pair_count);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem) || ['gone', 'token'].includes(error.code)) throw error;
      if (!isAgain && isOfKept(error, route)) {
        setSetting('last_a', '');
        await load(route, true);
        return;
      }
      refuse(error);
    }
  }
  const askedOf = (route) => `${route.a} ${route.b}`;

  context.bind(keysOf({ pickers, table, choose }), 'Compare');
  return {
    show: (selection, route) => load(route),
    hear(route) {
      if (askedOf(route) !== view.asked) return load(route);
      waterfall.light(route.filter);
      return Promise.all([curves.hear(route), table.hear(route)]);
    },
    escape() {
      return dismissTooltip() || table.letGo();
    },
    unmount() {
      view.controller?.abort();
      hideTooltip();
      waterfall.destroy();
      curves.destroy();
      table.destroy();
    },
  };
}
