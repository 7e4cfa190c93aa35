/* SPDX-License-Identifier: Apache-2.0
 * table.js: jobs, regressions, hosts and commits as tables, one at a time; sorted and paged by the daemon.
 * Its own file: one table for all tabs. */

import { isAbort, Problem } from '../../lib/api.js';
import { el } from '../../lib/dom.js';
import { count, counted } from '../../lib/format.js';
import { openLink } from '../../lib/route.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { createTabs } from '../../widgets/tabs.js';
import { pagedRows } from '../../widgets/table_rows.js';
import { fleetColumns } from './columns.js';
import * as empty from './empty.js';
import { compareHref, hrefOf, TABS } from './state.js';

const PAGE_ROWS = 100;

/* view: of page.js. Out: {node, show(isAtTop), setCounts(counts) of tabs, focus(), destroy()}. */
export function createFleetTable(view) {
  const state = { view, asked: '' };
  state.tabs = createTabs({
    tabs: Object.entries(TABS).map(([id, { word }], at) => ({ id, word, key: String(at + 1) })),
    label: 'Tables',
    onChoose: (id) => view.choose({ view: id === 'jobs' ? '' : id, sort: '' }),
  });
  state.panel = createPanel('panel-fleet-table panel-table', TABS.jobs.word);
  state.table = createTable({
    kind: ['row', 'rows'],
    onPin: (row) => open(view, row),
    onSort: (sort) => view.choose({ sort: sort === shownOf(TABS[view.state.tab].sort) ? '' : sort }),
  });
  state.panel.body.append(state.table.node);
  state.panel.setMenu(menuOf(state));
  return {
    node: el('div', { class: 'fleet-tables' }, state.tabs.node, state.panel.node),
    show: (isAtTop) => load(state, isAtTop),
    setCounts: (counts) => state.tabs.setCounts(counts),
    focus: () => state.table.focus(),
    destroy: () => state.table.destroy(),
  };
}

/* Of an order that nobody chose the head marks the first column; what decides between equals needs no mark. */
const shownOf = (sort) => sort.split(',')[0];

/* Enter and click open what the row is of. */
function open(view, row) {
  const href = compareHref(row, view.context) ?? hrefOf(row.reference, row.kind, view.context);
  if (href) openLink(href);
}

function questionOf({ view }) {
  const { tab, sort } = view.state;
  return { ...TABS[tab].params, sort: sort || TABS[tab].sort };
}

async function load(state, isAtTop) {
  const { view, panel, tabs } = state;
  const { tab } = view.state;
  const question = questionOf(state);
  const key = JSON.stringify([tab, view.state.params, question, view.summary.reading]);
  tabs.set(tab);
  panel.node.dataset.tab = tab;
  for (const [name, value] of Object.entries(tabs.panelAttributes(tab))) panel.node.setAttribute(name, value);
  state.asked = key;
  const end = panel.wait('', null);
  try {
    const { data } = await view.ask(TABS[tab].view, { ...question, limit: PAGE_ROWS });
    if (state.asked === key) draw(state, data, question, isAtTop);
  } catch (error) {
    if (isAbort(error) || state.asked !== key) return;
    if (!(error instanceof Problem)) throw error;
    panel.say(message(empty.failed('The table', error)));
  } finally {
    end();
  }
}

const numbered = (rows, from) => rows.map((row, at) => ({ ...row, id: String(from + at) }));

function draw(state, data, question, isAtTop) {
  const { view, panel, table } = state;
  const { tab } = view.state;
  const { context } = view;
  panel.show();
  panel.setTitle(
    TABS[tab].title ?? TABS[tab].word,
    el('span', { class: 'dim' }, ` ${counted(data.matched_count, 'row')}`),
  );
  table.show({
    source: pagedRows({
      count: data.matched_count,
      first: numbered(data.rows, 0),
      pageRows: PAGE_ROWS,
      ask: async (offset, limit, signal) =>
        numbered((await view.ask(TABS[tab].view, { ...question, offset, limit }, signal)).data.rows, offset),
      onProblem: (problem) => panel.say(message(empty.failed('The table', problem))),
    }),
    columns: fleetColumns(tab, data.columns, {
      hrefOf: (row) => hrefOf(row.reference, row.kind, context),
      compareHref: (row) => compareHref(row, context),
      onJob: view.onlyJob,
    }),
    sort: view.state.sort ? question.sort : shownOf(question.sort),
    foot: { text: `${count(data.matched_count)} of ${counted(data.total_count, 'row')}` },
    label: TABS[tab].word,
    isAtTop,
  });
  if (data.matched_count === 0) panel.say(message(empty.noRows(tab)));
}

/* Behind ⋯: the whole table, and the columns as switches. */
function menuOf(state) {
  const { view } = state;
  const title = () => state.panel.node.querySelector('h2').textContent;
  const exports = exportEntries({
    name: 'fleet-table',
    title,
    csv: () => view.csv(TABS[view.state.tab].view, questionOf(state)),
  });
  return () => [
    exports(),
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
