/* SPDX-License-Identifier: Apache-2.0
 * page.js: all modules of a session on one page: what each takes in each memory space, which hosts differ, and what
 * adding up would mean. The daemon reads a session in pieces; the page shows each as it comes.
 *
 * Reads top down: build the page, read what the URL names, open what is chosen. */

import { apiUrl, get, isAbort, Problem } from '../../lib/api.js';
import { begin } from '../../lib/activity.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { count, visible } from '../../lib/format.js';
import { openLink } from '../../lib/route.js';
import { evidenceLinks } from '../../widgets/evidence.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { notesButton } from '../../widgets/notices.js';
import { drawLedger } from '../../widgets/ledger.js';
import { createPanel, message } from '../../widgets/panel.js';
import { dismissTooltip } from '../../widgets/tooltip.js';
import * as empty from './empty.js';
import { createModulesChart } from './chart.js';
import { createModulesTable } from './table.js';
import { hrefOf, stateOf } from './state.js';

/* The first piece is soon there; a longer one asks less often. */
const FIRST_MS = 250;
const PIECE_MS = 500;

/* context: of app.js. Out: {show(selection, route), hear(route), escape(), unmount()}. */
export function mount(root, context) {
  const view = {
    context,
    state: stateOf({}),
    session: null,
    summary: null,
    capacity: null,
    isComplete: false,
    controller: new AbortController(),
  };
  /* A question to the daemon: of a session that is still being read only what is known is asked. */
  view.paramsOf = (params) => ({
    session: view.session?.id,
    capacity: view.capacity,
    category_rules: view.rules,
    ...params,
    within_ms: view.isComplete ? '' : '0',
  });
  view.ask = (name, params, signal = view.controller.signal) =>
    get(`modules/${name}`, view.paramsOf(params), { signal });
  view.csv = (params) =>
    apiUrl('modules/table', {
      session: view.session?.id,
      capacity: view.capacity,
      category_rules: view.rules,
      ...params,
      format: 'csv',
    }).href;
  view.hrefOf = (row) => hrefOf(row, view.session, context, view.rules);
  const styled = loadStyle('modules.css');
  build(view, root);
  context.bind([...keysOf(view), ...explainKeys()], 'All modules');
  const stopCards = explainWith(async (word, id) => {
    if (word === 'evidence') return view.evidence?.cardOf(id) ?? null;
    const row = view.all.rowOf(id) ?? view.hosts.rowOf(id);
    return row && (await import('./explain.js')).cardOf(word, row);
  });
  return {
    show: (selection, route) => Promise.all([styled, show(view, selection, route)]),
    hear: (route) =>
      route.rules === view.wantedRules ? apply(view, route) : show(view, { session: view.session }, route),
    escape: () => dismissTooltip() || closeHosts(view),
    unmount() {
      view.controller.abort();
      stopCards();
      view.chart.destroy();
      view.all.destroy();
      view.hosts.destroy();
    },
  };
}

function build(view, root) {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const more = el('p', { class: 'answer-more' });
  const progress = el('p', { class: 'modules-progress dim', role: 'status', hidden: true });
  view.head = { title, aside, more, progress };
  view.chart = createModulesChart((row) => {
    const href = view.hrefOf(row);
    if (href) openLink(href);
  });
  view.all = createModulesTable(view, 'all');
  view.hosts = createModulesTable(view, 'hosts');
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  view.ledger = createPanel('panel-ledger', 'Ledger of one device');
  view.ledger.node.hidden = true;
  view.place = el('div', { class: 'modules-views' }, view.chart.node, view.all.node, view.hosts.node, view.ledger.node);
  const head = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside), more, progress);
  fill(root, el('div', { class: 'modules' }, head, view.wholePage, view.place));
}

/* ---- reading -------------------------------------------------------------------- */

async function show(view, selection, route) {
  view.controller.abort();
  view.controller = new AbortController();
  const { signal } = view.controller;
  Object.assign(view, {
    session: selection.session,
    summary: null,
    isComplete: false,
    state: stateOf(route),
    rules: route.rules,
    wantedRules: route.rules,
  });
  view.context.banners.drop('rules');
  const end = begin();
  try {
    view.capacity = route.capacity;
    await readRuled(view, signal);
    if (!signal.aborted && view.summary?.module_count) await readLedger(view, signal);
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof Problem) || error.code === 'gone') throw error;
    instead(view, empty.failed('This session', error), 'Nothing to show.');
  } finally {
    end();
  }
}

/* What the plan, the allocator, device profiles and the programs each say; extra: the page stands without it. */
async function readLedger(view, signal) {
  const { session, context, ledger: panel } = view;
  panel.node.hidden = true;
  try {
    const verdict = await get(
      'verdict',
      { session: session.id, capacity: context.route.capacity },
      { signal, isQuiet: true, isSlow: true },
    );
    if (signal.aborted) return;
    const { ledger } = verdict;
    view.evidence = evidenceLinks(context, verdict, null);
    drawLedger(panel.body, ledger, view.evidence);
    panel.node.hidden = ledger.bars.length < 2; // one alone stands in the table
  } catch (error) {
    if (isAbort(error) || !(error instanceof Problem) || error.code === 'gone') throw error;
  }
}

/* With the capacity and the rules of the URL; with what the daemon refuses of them, without it. */
async function readRuled(view, signal) {
  try {
    await readOn(view, signal);
  } catch (error) {
    if (view.capacity && error.status === 400 && /^capacity is /.test(error.message)) {
      view.capacity = '';
      await readRuled(view, signal);
      return;
    }
    if (!view.rules || error.status !== 400 || !/^category_rules: /.test(error.message)) throw error;
    view.context.banners.set('rules', {
      text: `The rules of this link cannot be used: ${error.message} The page is shown without them.`,
    });
    view.rules = '';
    await readOn(view, signal);
  }
}

/* Piece by piece until all is read; each is shown. */
async function readOn(view, signal) {
  for (let piece = 0; !view.isComplete; piece++) {
    const params = {
      session: view.session.id,
      capacity: view.capacity,
      category_rules: view.rules,
      within_ms: piece ? PIECE_MS : FIRST_MS,
    };
    const { data, notes } = await get('modules/summary', params, { signal });
    if (signal.aborted) return;
    view.summary = data;
    view.isComplete = data.reading.is_complete;
    drawHead(view, notes);
    if (data.module_count === 0 && view.isComplete) {
      instead(view, empty.noModules(view.session, view.context), data.sentence);
      return;
    }
    view.wholePage.hidden = true;
    view.place.hidden = false;
    await Promise.all([view.all.show(piece === 0), view.hosts.show(piece === 0)]);
    if (signal.aborted) return;
  }
}

function drawHead({ head, summary, session, context, isComplete }, notes) {
  const { reading } = summary;
  fill(head.title, el('span', { class: 'answer-first' }, visible(summary.sentence)));
  fill(head.aside, notesButton(notes));
  const said = [summary.hosts_sentence, summary.module_count > 1 ? summary.additive.sentence : null];
  fill(
    head.more,
    said.filter(Boolean).map((sentence) => el('span', {}, visible(sentence), ' ')),
  );
  head.progress.hidden = isComplete;
  if (!isComplete) fill(head.progress, progressText(reading));
  context.setTitle(`${count(summary.module_count)} modules · ${visible(session.name)} – memviewd`);
}

function progressText({ module_count: all, unread_count: unread, trace_count: traces, trace_read_count: read }) {
  if (unread > 0) return `${count(all - unread)} of ${count(all)} modules are read; the others follow.`;
  return `All modules are read; when they ran is read in ${count(read)} of ${count(traces)} traces.`;
}

function instead(view, content, sentence) {
  fill(view.head.title, el('span', { class: 'answer-first' }, visible(sentence)));
  fill(view.head.more);
  view.head.progress.hidden = true;
  view.place.hidden = true;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
  view.context.setNothing();
}

/* ---- what is chosen --------------------------------------------------------------- */

async function apply(view, route) {
  view.state = stateOf(route);
  if (view.summary) await Promise.all([view.all.show(true), view.hosts.show(true)]);
}

function closeHosts(view) {
  if (!view.state.module) return false;
  view.context.choose({ pin: null });
  view.all.focus();
  return true;
}

/* Keys; also entries of the palette and of `?`. */
function keysOf(view) {
  const { context } = view;
  return [
    { keys: ['/'], does: 'to the filter', run: () => view.all.focusFilter() },
    {
      keys: ['h'],
      does: 'hosts of the row side by side',
      isOn: () => Boolean(view.all.activeRow()?.host),
      run: () => context.choose({ pin: { kind: 'g', id: view.all.activeRow().module_id } }),
    },
    { keys: ['1'], does: 'a row for each module', run: () => context.choose({ group: '', sort: '' }) },
    {
      keys: ['2'],
      does: 'a row for each host, those that differ first',
      run: () => context.choose({ group: 'host', sort: '' }),
    },
    {
      keys: ['3'],
      does: 'only hosts that differ, or all',
      run: () => context.choose({ view: view.state.isOutliers ? '' : 'outliers' }),
    },
  ];
}
