/* SPDX-License-Identifier: Apache-2.0
 * page.js: what many jobs took over their commits: which grew with which commit, which host differs, what fails next.
 * Of a catalog, or of the folders of this daemon, which are read in pieces; the page shows each as it comes.
 *
 * Reads top down: build the page, read what the URL names, draw it. */

import { apiUrl, get, isAbort, Problem } from '../../lib/api.js';
import { begin } from '../../lib/activity.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { count, counted, visible } from '../../lib/format.js';
import { createFilter } from '../../widgets/filter.js';
import { notesButton } from '../../widgets/notices.js';
import { message } from '../../widgets/panel.js';
import { dismissTooltip } from '../../widgets/tooltip.js';
import { createFleetChart } from './chart.js';
import * as empty from './empty.js';
import { FIELDS, stateOf, TABS, withField } from './state.js';
import { createFleetTable } from './table.js';

/* The first piece is soon there; a longer one asks less often. */
const FIRST_MS = 250;
const PIECE_MS = 1000;
const KINDS = ['module', 'memory', 'failure', 'profiles'];

/* context: of app.js. */
export function mount(root, context) {
  const view = { context, state: stateOf({}), summary: null, isComplete: false, controller: new AbortController() };
  view.choose = (patch) => context.choose({ ...patch, tool: 'fleet' });
  view.onlyJob = (job) => view.choose({ filter: withField(view.state.filter, 'job', job), sort: '' });
  view.ask = (name, params, signal = view.controller.signal) =>
    get(`fleet/${name}`, { ...view.state.params, ...params, within_ms: view.isComplete ? '' : '0' }, { signal });
  view.csv = (name, params) => apiUrl(`fleet/${name}`, { ...view.state.params, ...params, format: 'csv' }).href;
  const styled = loadStyle('fleet.css');
  build(view, root);
  context.bind(keysOf(view), 'Fleet');
  return {
    show: (selection, route) => Promise.all([styled, show(view, route)]),
    hear: (route) => (route.filter === view.state.filter ? apply(view, route) : show(view, route)),
    escape: () => dismissTooltip(),
    unmount() {
      view.controller.abort();
      view.filter.destroy();
      view.chart.destroy();
      view.table.destroy();
    },
  };
}

function build(view, root) {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const more = el('p', { class: 'answer-more' });
  const progress = el('p', { class: 'fleet-progress dim', role: 'status', hidden: true });
  view.head = { title, aside, more, progress };
  view.filter = createFilter({
    label: 'Filter jobs',
    placeholder: 'filter, e.g. job:bert user:ada since:2026-11-01 ( / )',
    fields: () => Object.entries(FIELDS).map(([name, says]) => ({ name, says, values: valuesOf(view, name) })),
    onFilter: (text, isTyping) =>
      isTyping ? view.context.move({ filter: text, tool: 'fleet' }) : view.choose({ filter: text }),
  });
  view.chart = createFleetChart(view);
  view.table = createFleetTable(view);
  view.wholePage = el('div', { class: 'whole-page', hidden: true });
  view.rules = el('details', { class: 'fleet-rules' });
  view.place = el(
    'div',
    { class: 'fleet-views' },
    el('div', { class: 'fleet-charts' }, view.chart.nodes),
    view.table.node,
    view.rules,
  );
  const head = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside), more, progress);
  fill(
    root,
    el(
      'div',
      { class: 'fleet' },
      head,
      el('div', { class: 'fleet-filter' }, view.filter.node),
      view.wholePage,
      view.place,
    ),
  );
}

/* What the filter proposes behind a field. */
function valuesOf(view, field) {
  const values = { job: () => view.summary?.jobs ?? [], kind: () => KINDS }[field];
  return values
    ? async () =>
        values().map((value) => ({ value, figure: '', typed: /^[^\s":]+$/.test(value) ? value : `"${value}"` }))
    : null;
}

/* ---- reading -------------------------------------------------------------------- */

async function show(view, route) {
  view.controller.abort();
  view.controller = new AbortController();
  const { signal } = view.controller;
  Object.assign(view, { state: stateOf(route), isComplete: false });
  view.filter.set(view.state.filter);
  if (refused(view)) return;
  view.filter.accept();
  const end = begin();
  try {
    await readOn(view, signal);
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof Problem) || error.code === 'gone') throw error;
    instead(view, empty.failed('What many jobs took', error), 'Nothing to show.');
  } finally {
    end();
  }
}

/* A term that is none: the last good result stays. */
function refused(view) {
  const { fault } = view.state;
  if (!fault) return false;
  view.filter.refuse(
    new Problem({ status: 400, code: 'argument', detail: `filter: ${fault.text}`, offset_bytes: fault.place }),
  );
  return true;
}

/* Piece by piece until all is read; each is shown. */
async function readOn(view, signal) {
  for (let piece = 0; !view.isComplete; piece++) {
    const { data, notes } = await get(
      'fleet/summary',
      { ...view.state.params, within_ms: piece ? PIECE_MS : FIRST_MS },
      { signal },
    );
    if (signal.aborted) return;
    view.summary = data;
    view.isComplete = data.reading.is_complete;
    drawHead(view, notes);
    if (data.point_count > 0) await drawViews(view, piece === 0);
    else if (view.isComplete)
      instead(
        view,
        empty.nothing(data, view.state.filter !== '', () => view.choose({ filter: '' })),
        data.sentence,
      );
    if (signal.aborted) return;
  }
}

/* More than one job: each by the module that needs most; one: its modules, or beside the hosts that differ its hosts,
   each by its module that needs most. */
function linesOf({ summary, state }) {
  if (summary.job_count > 1) return 'job';
  return state.tab === 'hosts' ? 'host' : 'module';
}

const QUESTIONS = {
  job: { rows: 'job', categories: '1' },
  module: { rows: 'series', categories: '1' },
  host: { rows: 'job', by: 'host', lines: '32', categories: '1' },
};

async function drawLines(view, signal) {
  const of = linesOf(view);
  const { data } = await view.ask('chart', QUESTIONS[of]);
  if (signal.aborted || of !== linesOf(view)) return;
  view.lines = { data, of };
  view.chart.draw(data, view.state, of);
}

async function drawViews(view, isAtTop) {
  const { signal } = view.controller;
  view.wholePage.hidden = true;
  view.place.hidden = false;
  await Promise.all([drawLines(view, signal), view.table.show(isAtTop)]);
  await countFound(view);
}

/* Behind the words of the tabs: what was found. Hosts are a question of their own, which comes last and may fail. */
async function countFound(view) {
  const { signal } = view.controller;
  const known = { regressions: view.summary.regression_count, next: view.summary.next_to_fail_count };
  view.table.setCounts(known);
  try {
    const { data } = await view.ask('hosts', { limit: 0 });
    if (!signal.aborted) view.table.setCounts({ ...known, hosts: data.total_count });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

function drawHead({ head, summary, context, isComplete, rules }, notes) {
  const { reading } = summary;
  fill(head.title, el('span', { class: 'answer-first' }, visible(summary.sentence)));
  fill(head.aside, notesButton(notes));
  fill(head.more, el('span', {}, `Read from ${visible(summary.source)}.`));
  head.progress.hidden = isComplete;
  fill(
    head.progress,
    `${count(reading.read_count)} of ${counted(reading.file_count, 'file')} are read; the others follow.`,
  );
  const said = Object.values(summary.rules).map((rule) => el('p', {}, visible(rule)));
  const isOpen = rules.open;
  fill(rules, el('summary', {}, 'How steps, hosts and trends are found'), said);
  rules.open = isOpen;
  context.setTitle(`${counted(summary.job_count, 'job')} · Fleet – memviewd`);
}

function instead(view, content, sentence) {
  fill(view.head.title, el('span', { class: 'answer-first' }, visible(sentence)));
  view.head.progress.hidden = true;
  view.place.hidden = true;
  fill(view.wholePage, message(content));
  view.wholePage.hidden = false;
}

/* ---- what is chosen --------------------------------------------------------------- */

async function apply(view, route) {
  const before = view.state;
  view.state = stateOf(route);
  if (!view.summary?.point_count) return;
  const { lines } = view;
  if (before.metric !== view.state.metric && lines) view.chart.draw(lines.data, view.state, lines.of);
  try {
    await Promise.all([
      lines && lines.of !== linesOf(view) ? drawLines(view, view.controller.signal) : null,
      before.tab !== view.state.tab || before.sort !== view.state.sort ? view.table.show(true) : null,
    ]);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    view.context.say(`The chart is still the previous one: ${error.message}`);
  }
}

/* Keys; also entries of the palette and of `?`. */
function keysOf(view) {
  return [
    { keys: ['/'], does: 'to the filter', run: () => view.filter.focus() },
    { keys: ['0'], does: 'show all jobs', run: () => view.choose({ filter: '' }) },
    ...Object.entries(TABS).map(([id, { word }], at) => ({
      keys: [String(at + 1)],
      does: `show ${word.toLowerCase()}`,
      run: () => view.choose({ view: id === 'jobs' ? '' : id, sort: '' }),
    })),
  ];
}
