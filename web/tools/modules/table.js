/* SPDX-License-Identifier: Apache-2.0
 * table.js: a table of modules: all of the session, or the hosts of one of them side by side. Sorted, filtered and
 * paged by the daemon; what is asked stands in the URL. */

import { isAbort, Problem } from '../../lib/api.js';
import { el } from '../../lib/dom.js';
import { count, counted, visible } from '../../lib/format.js';
import { openLink } from '../../lib/route.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createFilter } from '../../widgets/filter.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { filterFields } from '../../widgets/table_columns.js';
import { remPx } from '../../widgets/table_header.js';
import { pagedRows } from '../../widgets/table_rows.js';
import { fitted, moduleColumns } from './columns.js';
import * as empty from './empty.js';
import { spaceOf } from './state.js';

const PAGE_ROWS = 100;
const PHONE_REM = 37.5;
const SCROLLBAR_REM = 1;
const DEFAULT_SORT = { module: '-total,module', host: '-outlier,-total,module' };

/* options: [value of the URL, word] …; a native list, which every reader knows how to use. */
function createChoice(label, options, onChoose) {
  const select = el('select', {
    class: 'group-choice',
    'aria-label': label,
    on: { change: () => onChoose(select.value) },
  });
  return {
    node: el('label', { class: 'group-label' }, el('span', { class: 'dim' }, label), select),
    set(value, list = options) {
      const key = JSON.stringify(list);
      if (select.dataset.options !== key) {
        select.replaceChildren(...list.map(([each, word]) => el('option', { value: each }, word)));
        select.dataset.options = key;
      }
      select.value = value;
    },
  };
}

/* name: "all", or "hosts" of the module that is pinned. Out: {node, show(isAtTop), rowOf(id), activeRow(), focus(),
 * focusFilter(), destroy()}. */
export function createModulesTable(view, name) {
  const isOfOne = name === 'hosts';
  const state = { view, name, isOfOne, known: new Map(), good: '', asked: '', said: [], hostSort: '', sort: '' };
  state.panel = createPanel(
    `panel-modules panel-table panel-modules-${name}`,
    isOfOne ? 'Hosts side by side' : 'Modules',
  );
  state.table = createTable({
    kind: ['row', 'rows'],
    onPin: (row) => open(view, row),
    onSort: (sort) => setSort(state, sort),
  });
  state.panel.body.append(state.table.node);
  state.panel.setMenu(menuOf(state));
  if (isOfOne) {
    const close = el(
      'button',
      { type: 'button', class: 'text-button', on: { click: () => view.context.choose({ pin: null }) } },
      'Close',
    );
    state.panel.setAside(close);
    state.panel.node.hidden = true;
  } else setTools(state);
  const stopWatch = watchRoom(state);
  return {
    node: state.panel.node,
    show: (isAtTop) => load(state, isAtTop),
    rowOf: (id) => state.known.get(id) ?? null,
    activeRow: () => state.table.activeRow,
    focus: () => state.table.focus(),
    focusFilter: () => state.filter?.focus(),
    destroy() {
      stopWatch();
      state.filter?.destroy();
      state.table.destroy();
    },
  };
}

function setTools(state) {
  const { context } = state.view;
  state.panel.node.classList.add('has-filter');
  state.filter = createFilter({
    label: 'Filter modules',
    placeholder: 'filter, e.g. >1GiB pad:>10% outlier:yes ( / )',
    fields: () => filterFields(state.said, valuesOf),
    onFilter: (text, isTyping) => (isTyping ? context.move({ filter: text }) : context.choose({ filter: text })),
  });
  state.rows = createChoice(
    'rows',
    [
      ['', 'modules'],
      ['host', 'hosts'],
    ],
    (group) => context.choose({ group, sort: '' }),
  );
  state.space = createChoice('space', [], (space) =>
    context.choose({ space: space === 'all' ? 'all' : space === '' ? null : Number(space) }),
  );
  state.which = createChoice(
    'hosts',
    [
      ['', 'all'],
      ['outliers', 'that differ'],
    ],
    (which) => context.choose({ view: which }),
  );
  state.panel.setAside(state.filter.node, state.rows.node, state.space.node, state.which.node);
}

const SAID = { outlier: ['yes', 'no'], state: ['read', 'not_read', 'failed', 'no_assignment'] };
const valuesOf = (field) =>
  SAID[field] ? async () => SAID[field].map((value) => ({ value, figure: '', typed: value })) : null;

/* What stands in the URL. */
function drawTools({ view, filter, rows, space, which }) {
  const { state, summary } = view;
  const hasHosts = summary.host_count > 1;
  filter.set(state.filter);
  rows.set(state.isSplit ? 'host' : '');
  which.set(state.isOutliers ? 'outliers' : '');
  rows.node.hidden = which.node.hidden = !hasHosts;
  const spaces = summary.spaces.map((each) => [String(each.space), visible(each.name)]);
  space.node.hidden = spaces.length < 2;
  const chosen = spaceOf(state, summary);
  space.set(chosen === '' ? 'all' : String(chosen), [...spaces, ['all', 'all']]);
}

/* Of an order that nobody chose the head marks the first column alone. */
const shownOf = (sort) => sort.split(',')[0];

function setSort(state, sort) {
  const isDefault = sort === shownOf(DEFAULT_SORT[rowsOf(state)]);
  if (!state.isOfOne) {
    state.view.context.choose({ sort: isDefault ? '' : sort });
    return;
  }
  state.hostSort = isDefault ? '' : sort;
  load(state, true);
}

/* Enter and click open the module where its memory is drawn. */
function open(view, row) {
  const href = view.hrefOf(row);
  if (href) openLink(href);
}

const rowsOf = ({ isOfOne, view }) => (isOfOne || view.state.isSplit ? 'host' : 'module');

function questionOf(state) {
  const { view, isOfOne } = state;
  const rows = rowsOf(state);
  return {
    rows,
    space: spaceOf(view.state, view.summary),
    module: isOfOne ? view.state.module : '',
    hosts: !isOfOne && view.state.isOutliers ? 'outliers' : '',
    sort: (isOfOne ? state.hostSort : view.state.sort) || DEFAULT_SORT[rows],
    filter: isOfOne ? '' : view.state.filter,
  };
}

const isOfFilter = (error) => error.status === 400 && /^filter\b/.test(error.message);

/* A filter that is refused leaves what the last good one shows. */
async function load(state, isAtTop) {
  const { view, panel, filter, isOfOne } = state;
  panel.node.hidden = isOfOne && !view.state.module;
  if (panel.node.hidden) return;
  if (!isOfOne) drawTools(state);
  const question = questionOf(state);
  const key = JSON.stringify([view.session.id, question, view.summary.reading]);
  const read = async (asked) => {
    const { data } = await view.ask('table', { ...asked, limit: PAGE_ROWS });
    if (state.asked === key) draw(state, data, asked, isAtTop);
  };
  state.asked = key;
  const end = panel.wait('', null);
  try {
    await read(question);
    if (state.asked !== key) return;
    state.good = question.filter;
    filter?.accept();
  } catch (error) {
    if (isAbort(error) || state.asked !== key) return;
    if (!(error instanceof Problem)) throw error;
    if (filter && isOfFilter(error)) {
      filter.refuse(error);
      await read({ ...question, filter: state.good }).catch(() => {});
    } else
      panel.say(
        message(
          isOfOne && error.status === 404
            ? empty.noModule(() => view.context.choose({ pin: null }))
            : empty.failed('The table', error),
        ),
      );
  } finally {
    end();
  }
}

/* ---- drawing -------------------------------------------------------------------- */

const idOf = (row) => `${row.module_id ?? row.file}/${row.space ?? ''}/${row.host ?? ''}`;

function rowsIn(state, data) {
  const rows = data.rows.map((row) => ({ ...row, id: idOf(row) }));
  for (const row of rows) state.known.set(row.id, row);
  return rows;
}

function columnsOf({ view, isOfOne }, data, question) {
  return moduleColumns(data, {
    hasHosts: view.summary.host_count > 1,
    isOfHosts: question.rows === 'host',
    isOneModule: isOfOne,
    isOneSpace: question.space !== '',
    hrefOf: view.hrefOf,
    openHosts: (row) => view.context.choose({ pin: { kind: 'g', id: row.module_id } }),
  });
}

const hiddenOf = (columns) =>
  columns
    .filter(({ isHidden }) => isHidden)
    .map(({ key }) => key)
    .join(' ');

/* In rem, beside the bar that scrolls; on a phone rows are cards, and nothing gives way. */
function roomIn({ body }) {
  const rem = body.clientWidth / remPx();
  return rem < PHONE_REM ? Infinity : rem - SCROLLBAR_REM;
}

/* Another width may have room for other columns. */
function watchRoom(state) {
  const watch = new ResizeObserver(() => {
    if (!state.drawn || state.panel.node.hidden) return;
    const [data, question] = state.drawn;
    if (state.hidden !== hiddenOf(fitted(columnsOf(state, data, question), roomIn(state.panel))))
      draw(state, data, question, false);
  });
  watch.observe(state.panel.body);
  return () => watch.disconnect();
}

function draw(state, data, question, isAtTop) {
  const { view, panel, table } = state;
  state.said = data.columns;
  state.known.clear();
  const first = rowsIn(state, data);
  if (!state.isOfOne) view.chart.show(data, question.rows === 'host');
  state.drawn = [data, question];
  panel.show();
  const columns = fitted(columnsOf(state, data, question), roomIn(panel));
  state.hidden = hiddenOf(columns);
  setTitle(state, data);
  table.show({
    source: pagedRows({
      count: data.matched_count,
      first,
      pageRows: PAGE_ROWS,
      ask: async (offset, limit, signal) =>
        rowsIn(state, (await view.ask('table', { ...question, offset, limit }, signal)).data),
      onProblem: (problem) => panel.say(message(empty.failed('The table', problem))),
    }),
    columns,
    sort: question.sort === DEFAULT_SORT[rowsOf(state)] ? shownOf(question.sort) : question.sort,
    foot: footOf(state, data),
    label: panel.node.querySelector('h2').textContent,
    isAtTop,
  });
  if (data.matched_count === 0)
    panel.say(message(empty.noRows(view.state, () => view.context.choose({ filter: '', view: '' }))));
}

function setTitle({ isOfOne, panel, view }, data) {
  const rows = view.state.isSplit ? 'row' : 'module';
  if (isOfOne)
    panel.setTitle(
      'Hosts of ',
      el('bdi', {}, visible(data.rows[0]?.module ?? 'the module')),
      el('span', { class: 'dim' }, ' side by side'),
    );
  else panel.setTitle('Modules ', el('span', { class: 'dim' }, counted(data.matched_count, rows)));
}

/* Totals of programs that do not run together are no sum: the row says so. */
function footOf({ isOfOne, view }, data) {
  const text = `${count(data.matched_count)} of ${counted(data.total_count, 'row')}`;
  if (isOfOne || view.summary.module_count < 2) return { text };
  const isOverlap = view.summary.additive.verdict === 'overlap';
  const values = { [view.state.isSplit ? 'host' : 'total']: isOverlap ? 'adds up in part' : 'no sum' };
  const why = isOverlap
    ? 'only what ran at the same time adds up: see above'
    : 'no device holds the sum of these totals: see above';
  return { rest: { values, text: why }, text };
}

/* Behind ⋯: the whole table, and the columns as switches. */
function menuOf(state) {
  const title = () => state.panel.node.querySelector('h2').textContent;
  const exports = exportEntries({ name: `modules-${state.name}`, title, csv: () => state.view.csv(questionOf(state)) });
  return () => [
    exports(),
    explainEntry('total'),
    { word: 'Copy chosen rows', key: 'Ctrl+c', run: () => state.table.copy('tabs') },
    { word: 'Copy chosen rows as Markdown', run: () => state.table.copy('markdown') },
    ...state.table
      .columns()
      .map(({ key, title: word, isShown }) => ({
        word: `Column ${word.replace(/, [KMGT]?i?B$/, '')}`,
        isOn: isShown,
        run: () => state.table.setColumnShown(key, !isShown),
      })),
  ];
}
