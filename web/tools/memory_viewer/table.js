/* SPDX-License-Identifier: Apache-2.0
 * table.js: the table of the buffers that live at the moment, one by one or in groups that
 * open; paged, sorted and filtered by the daemon. What is asked stands in the URL: step, filter, sort, group. */

import { el } from '../../lib/dom.js';
import { count, counted, cutMiddle, spokenBytes, visible } from '../../lib/format.js';
import { isAbort, Problem } from '../../lib/api.js';
import { createFilter } from '../../widgets/filter.js';
import { createPanel } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { filterFields } from '../../widgets/table_columns.js';
import { groupedRows, pagedRows } from '../../widgets/table_rows.js';
import { columnsOf, footOf } from './columns.js';
import { valuesOfFields } from './filter.js';
import { createGroupChoice, groupedBy, wayOf } from './groups.js';
import { askWithin } from './load.js';
import * as say from './text.js';
import { failed, why } from './why.js';

const PAGE_ROWS = 100;
const DEFAULT_SORT = '-size';

/* view: {ask, space, records, context}; actions: onHover(row, mark), onLeave(), onPin(row), onDraw().
 * Out: {panel, load(), hear(), mark(hover, pin), rankOf(id, order), groupOf(id), focusFilter(), beside(id, direction), destroy()}. */
export function createBuffersTable(view, actions) {
  const panel = createPanel('panel-table', 'Buffers');
  const { context } = view;
  const table = createTable({
    kind: ['buffer', 'buffers'],
    ...actions,
    onHover: (row, mark, isFocus) => !row.isGroup && actions.onHover(row, mark, isFocus),
    onSort: (sort) => context.choose({ sort: sort === DEFAULT_SORT ? '' : sort }),
  });
  const filter = createFilter({
    label: 'Filter buffers',
    placeholder: 'filter, e.g. >64MiB cat:temporary ( / )',
    fields: () => filterFields(said?.member_columns ?? said?.columns ?? [], valuesOfFields(view)),
    onFilter: (text, isTyping) => (isTyping ? context.move({ filter: text }) : context.choose({ filter: text })),
  });
  const group = createGroupChoice((by) => context.choose(groupedBy(by, context.route)));
  const ranks = new Map();
  const groupsById = new Map();
  let asked = '';
  let good = null; // the last filter that the daemon took
  let drawnStep = null;
  let said = null; // the last answer
  let refused = null; // the order that the daemon does not know
  panel.node.classList.add('has-filter');
  panel.node.dataset.explain = 'table';
  panel.setAside(filter.node, group.node);
  panel.body.append(table.node);
  panel.setMenu(async () => (await import('./table_menu.js')).tableMenu({ view, table, wanted }));

  /* What the URL asks of the table. */
  function wanted() {
    const { filter: text, sort, step, group: by } = context.route;
    const { space } = view;
    const isStep = Number.isInteger(step) && step >= 0 && step < space.step_count;
    const way = wayOf(by);
    return {
      space: space.space,
      step: space.replay_error || view.place.within ? 'all' : isStep ? step : 'peak',
      filter: text,
      sort: (refused === orderOf(way, sort) ? '' : sort) || DEFAULT_SORT,
      by: way,
    };
  }

  const kept = ({ filter: text }) => ({ filter: text, within: view.place.within });
  const questionOf = (params) => JSON.stringify([params, view.place.within, view.ask.serial]);

  /* An order and a grouping that are not here are named, and the usual ones shown. */
  function sayUnknown() {
    const { sort, group: by } = context.route;
    const isGroup = !by || wayOf(by) !== '';
    const isSort = !sort || refused !== orderOf(wayOf(by), sort);
    if (isGroup) context.banners.drop('group');
    else context.banners.set('group', { text: `Buffers are not grouped by ${cutMiddle(visible(by), 40)} here; listing them one by one.` });
    if (isSort) context.banners.drop('sort');
    else context.banners.set('sort', { text: `There is no order ${cutMiddle(visible(sort), 40)} here; the largest come first.` });
  }

  /* A filter that is refused leaves what the last good one showed, at the step of now. */
  async function load() {
    if (!view.space) return;
    const params = wanted();
    sayUnknown();
    const key = questionOf(params);
    asked = key;
    filter.set(params.filter);
    group.set(params.by);
    const end = panel.wait('', null);
    try {
      await ask(params, key);
      if (asked !== key) return;
      if (good !== null && good !== params.filter) context.tell(filterSentence(said, kept(params)));
      good = params.filter;
      filter.accept();
    } catch (error) {
      if (isAbort(error) || asked !== key) return;
      if (!(error instanceof Problem)) throw error;
      /* What is seen stays; the page asks again once the daemon is back. */
      if (error.code === 'gone' && said) asked = '';
      else if (isOfSort(error)) {
        refused = orderOf(params.by, params.sort);
        await load();
      } else if (isOfFilter(error)) await refuse(error, params, key);
      else panel.say(failed('The table', error));
    } finally {
      end();
    }
  }

  async function refuse(error, params, key) {
    filter.refuse(error);
    const isDrawn = good !== null && drawnStep === key.replace(JSON.stringify(params.filter), '');
    if (!isDrawn) await ask({ ...params, filter: good ?? '' }, key).catch(() => {});
  }

  async function ask(params, key) {
    const asks = askWithin(view.ask, view.place.within);
    const { by, ...rest } = params;
    const { data } = await asks(by ? 'groups' : 'buffers', { ...(by ? params : rest), limit: PAGE_ROWS });
    if (asked !== key) return;
    said = data;
    if (by) drawGroups(data, params, asks);
    else drawRows(data, params, asks);
    drawnStep = key.replace(JSON.stringify(params.filter), '');
  }

  const keep = (rows) => {
    view.records.add(rows);
    for (const row of rows) ranks.set(row.id, row.ranks);
    return rows;
  };
  const onProblem = (error) => error.code !== 'gone' && panel.say(failed('The table', error));

  function show(data, params, source) {
    const where = whereText(data, view);
    panel.show();
    panel.setTitle('Buffers', el('span', { class: 'dim' }, ` ${where}`));
    table.show({
      sort: params.sort,
      label: `Buffers ${where}`,
      columns: columnsOf(data, params.by),
      foot: footOf(data, kept(params)),
      source,
    });
    if (data.total_count === 0) panel.say(why('noBuffers'));
    else if (view.place.within && data.matched_count === 0) panel.say(why('noneWithin', data.total_count, params.filter));
    filter.forget();
    actions.onDraw();
  }

  function drawRows(data, params, asks) {
    const { by, ...rest } = params;
    ranks.clear();
    const ask = async (offset, limit, signal) => keep((await asks('buffers', { ...rest, offset, limit }, signal)).data.rows);
    show(data, params, pagedRows({ count: data.matched_count, first: keep(data.rows), pageRows: PAGE_ROWS, ask, onProblem }));
  }

  function drawGroups(data, params, asks) {
    groupsById.clear();
    const named = (groups) => {
      const rows = groups.map((each) => ({ ...each, id: `g:${each.key}` }));
      for (const row of rows) groupsById.set(row.id, row);
      return rows;
    };
    const members = (of) =>
      pagedRows({
        count: of.count,
        pageRows: PAGE_ROWS,
        ask: async (offset, limit, signal) => {
          const { data: page } = await asks(
            'buffers',
            { ...params, sort: DEFAULT_SORT, key: of.key, offset, limit },
            signal,
          );
          return keep(page.rows);
        },
        onProblem,
      });
    ranks.clear();
    const ask = async (offset, limit, signal) => named((await asks('groups', { ...params, offset, limit }, signal)).data.groups);
    const groups = pagedRows({ count: data.group_count, first: named(data.groups), pageRows: PAGE_ROWS, ask, onProblem });
    show(data, params, groupedRows({ groups, membersOf: members }));
  }

  return {
    panel,
    load,
    /* Another step, filter, order or grouping. */
    hear() {
      const isNew = view.space && questionOf(wanted()) !== asked;
      return isNew ? load() : null;
    },
    mark: table.mark,
    /* Scrolls to a buffer that was pinned elsewhere, where its place is known. */
    reveal(id) {
      const { filter: text, sort, by } = wanted();
      const rank = by || text || view.place.within || sort !== DEFAULT_SORT ? null : view.records.get(id)?.ranks?.size;
      if (rank !== null && rank !== undefined) table.reveal(rank);
      else table.revealId(id);
    },
    groupOf: (id) => groupsById.get(id) ?? null,
    focusFilter: filter.focus,
    beside: table.beside,
    /* Place of a buffer in an order of the strips at this step, if it is known. */
    rankOf: (id, order) => ranks.get(id)?.[order] ?? null,
    destroy() {
      filter.destroy();
      table.destroy();
    },
  };
}

const orderOf = (way, sort) => `${way} ${sort}`;
const isOfSort = (error) => error.code === 'argument' && /^sort: /.test(error.message);
const isOfFilter = (error) => error.code === 'argument' && /^filter: /.test(error.message);

/* Spoken when a filter took effect. */
const filterSentence = ({ matched_count: matched, total_count: all, matched_bytes: bytes }, { filter, within }) =>
  `${within ? `${filter ? 'Filter, in' : 'In'} the rectangle` : 'Filter'}: ${count(matched)} of ${counted(all, 'buffer')}, ${spokenBytes(bytes)}.`;

/* "at the peak · step 376" */
function whereText(data, { space, place }) {
  if (place.within) return `of ${say.windowWords(space, place.window, place.offsets)}`;
  if (data.step === null) return 'of this memory space';
  if (space.step_unit === 'none') return 'at the peak';
  const at = `${say.unitWord(space)} ${count(data.step)}`;
  return data.step === space.peak_step ? `at the peak · ${at}` : `live at ${at}`;
}
