/* SPDX-License-Identifier: Apache-2.0
 * page.js: two programs, moments or memory spaces side by side, or two device profiles: what B needs more or less, why,
 * and where. What is compared stands in the URL as a= and b=; without them the newest two, or what was set as A.
 *
 * Below pickers and sentence is one part or the other: {node, summary: the view that says it all, load(route),
 * show(summary, route), shareWords(summary), wholeParts(summary), hear(route), focusFilter(), letGo(), destroy()}. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, fill, loadStyle, prose } from '../../lib/dom.js';
import { setting, setSetting } from '../../lib/settings.js';
import { message } from '../../widgets/panel.js';
import { notesButton } from '../../widgets/notices.js';
import { dismissTooltip, hideTooltip } from '../../widgets/tooltip.js';
import { createPickers } from './pickers.js';
import { createProfiles } from './profiles.js';
import { createPrograms } from './programs.js';
import { filledIn, kindOf } from './sides.js';
import { VIEWS } from './table.js';
import * as say from './text.js';

/* A problem of the kept A alone: it may have gone since. */
const isOfKept = (error, route) => error.status === 404 && !route.a && setting('last_a') !== '';

function createHead() {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const share = el('p', { class: 'compare-share dim' });
  const node = el(
    'div',
    { class: 'head' },
    el('div', { class: 'answer-row' }, title, el('div', { class: 'answer-beside' }, aside)),
    share,
  );
  return {
    node,
    say(sentence, notes = []) {
      fill(title, el('span', { class: 'answer-first' }, prose(sentence)));
      fill(aside, notesButton(notes));
      fill(share);
    },
    show(data, notes, shareWords) {
      this.say(say.literalSentence(data), notes);
      fill(share, shareWords(data));
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
  title: 'Nothing to compare was found.',
  text:
    'A comparison needs one or two compiled programs (a trace, an XLA dump or an HLO file), two device profiles, ' +
    'or an allocator snapshot of PyTorch. Drop them here, or start the daemon with their folder.',
};

/* One and the same on both sides, which nobody chose: there is no second one to begin with. */
const ONE = {
  programs: {
    answer: 'Only one program is here: nothing to compare it with yet.',
    text:
      'Choose another module, memory space or step for A or B above, or drop a second trace, XLA dump or HLO file: ' +
      'of a step before and after a change, this page says what grew and why.',
  },
  profiles: {
    answer: 'Only one profile is here: nothing to compare it with yet.',
    text: 'Choose another profile for A or B above, or drop one that was taken later: this page says what grew.',
  },
};

const keysOf = ({ pickers, part, choose }) => [
  { keys: ['x'], does: 'swap A and B', run: () => pickers.swap() },
  { keys: ['/'], does: 'to the filter', run: () => part().focusFilter() },
  ...VIEWS.map(([id, word, key]) => ({
    keys: [key],
    does: `show ${word.toLowerCase()}`,
    run: () => choose({ view: id }),
  })),
  { keys: ['0'], does: 'show the whole program', run: () => choose({ from: null, to: null }) },
];

/* What another comparison does not keep of this one. */
const OTHER = { step: null, from: null, to: null, pin: null, filter: '', view: '' };
const CREATE = { programs: createPrograms, profiles: createProfiles };

/* The parts, each made when it is first needed. */
function createParts(deps) {
  const made = new Map();
  return {
    of(kind) {
      if (!made.has(kind)) made.set(kind, CREATE[kind](deps));
      return made.get(kind);
    },
    destroy: () => made.forEach((part) => part.destroy()),
  };
}

/* context: see app.js. */
export function mount(root, context) {
  const ready = loadStyle('compare.css');
  const view = { context, sides: { a: '', b: '' }, asked: '', controller: null, data: null };
  const head = createHead();
  const choose = (patch) => context.choose({ ...patch, tool: 'compare' });
  const pickers = createPickers({
    onChoose: (sides) => choose({ ...view.sides, ...sides, ...OTHER }),
    onSwap: () => choose({ a: view.sides.b, b: view.sides.a, ...OTHER, filter: context.route.filter }),
  });
  const ask = async (name, params, signal = view.controller?.signal) =>
    get(name, { ...view.sides, ...params }, { signal });
  const parts = createParts({ context, view, ask, choose, other: OTHER, showWhole });
  let part = parts.of('programs');
  const body = el('div', { class: 'compare-body' });
  const instead = createInstead(body);
  fill(root, el('div', { class: 'compare' }, pickers.node, head.node, instead.node, body));

  function showWhole() {
    if (view.data) context.details.show({ heading: 'From A to B', parts: part.wholeParts(view.data) });
  }
  function show(data, notes, route) {
    view.data = data;
    instead.hide();
    head.show(data, notes, part.shareWords);
    part.show(data, route);
    context.setTitle(`${say.changeWords(data)} · Compare – memviewd`);
    showWhole();
  }
  function refuse(error) {
    view.data = null;
    head.say(error.status === 409 ? 'These two cannot be compared.' : 'The comparison could not be made.');
    instead.say({ kind: error.status === 409 ? 'empty' : 'error', title: '', text: say.refusal(error) });
    context.setTitle('Compare – memviewd');
  }
  function sayOne({ answer, text }) {
    view.data = null;
    head.say(answer);
    instead.say({ title: '', text });
    context.setTitle('Compare – memviewd');
  }
  async function compare(route, signal) {
    view.sides = await filledIn(route, signal);
    const isWhole = Boolean(view.sides.a && view.sides.b);
    pickers.show(view.sides, signal);
    if (!isWhole) {
      head.say('Nothing to compare yet.');
      instead.say(NOTHING);
      return;
    }
    view.asked = askedOf(route);
    const kind = await kindOf(view.sides, signal);
    if (signal.aborted) return;
    if (view.sides.a === view.sides.b && !(route.a && route.b)) {
      sayOne(ONE[kind]);
      return;
    }
    part = parts.of(kind);
    if (part.node.parentNode !== body) fill(body, part.node);
    const [{ data, notes }] = await Promise.all([ask(part.summary, {}, signal), part.load(route)]);
    if (!signal.aborted) show(data, notes, route);
  }
  async function load(route, isAgain = false) {
    view.controller?.abort();
    view.controller = new AbortController();
    const { signal } = view.controller;
    await ready;
    try {
      await compare(route, signal);
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

  context.bind(keysOf({ pickers, part: () => part, choose }), 'Compare');
  return {
    show: (selection, route) => load(route),
    hear: (route) => (askedOf(route) === view.asked ? part.hear(route) : load(route)),
    escape() {
      return dismissTooltip() || part.letGo();
    },
    unmount() {
      view.controller?.abort();
      hideTooltip();
      parts.destroy();
    },
  };
}
