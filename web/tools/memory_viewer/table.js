/* SPDX-License-Identifier: Apache-2.0
 * table.js: the table of the buffers that live at the moment, one by one or in groups that
 * open; paged, sorted and filtered by the daemon. What is asked stands in the URL: step, filter, sort, group. */

import { el } from '../../lib/dom.js';
import { count, counted, cutMiddle, spokenBytes, visible } from '../../lib/format.js';
import { apiUrl, isAbort, Problem } from '../../lib/api.js';
import { createFilter } from '../../widgets/filter.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { filterFields } from '../../widgets/table_columns.js';
import { groupedRows, pagedRows } from '../../widgets/table_rows.js';
import { columnsOf, footOf } from './columns.js';
import { valuesOfFields } from './filter.js';
import { createGroupChoice, groupedBy, isWay, wayOf } from './groups.js';
import { askWithin } from './load.js';
import * as say from './text.js';
import { failed, noBuffers, noneWithin } from './empty.js';
import { setSetting } from '../../lib/settings.js';
import { isWithoutPaths } from '../../lib/subject.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { copyText } from '../../widgets/toast.js';

const PAGE_ROWS = 100;
/* What saves most first; of what saves the same the largest. */
const DEFAULT_SORT = '-saves,-size';
const SHOWN_SORT = '-saves';

/* What is known of the rows that were shown: places of buffers in the strips' orders, groups by their ids. */
function createKnown(records) {
  const ranks = new Map();
  const groups = new Map();
  return {
    rankOf: (id, order) => ranks.get(id)?.[order] ?? null,
    groupOf: (id) => groups.get(id) ?? null,
    clear() {
      ranks.clear();
      groups.clear();
    },
    buffers(rows) {
      records.add(rows);
      for (const row of rows) ranks.set(row.id, row.ranks);
      return rows;
    },
    groups(rows) {
      const named = rows.map((each) => ({ ...each, id: `g:${each.key}` }));
      for (const row of named) groups.set(row.id, row);
      return named;
    },
  };
}

/* The rows of an answer to `params`, further pages by `asks`: buffers, or groups that open to theirs. */
function sourceOf(data, { by, ...params }, asks, known, onProblem) {
  const more = (view, of, pick) => async (offset, limit, signal) =>
    pick((await asks(view, { ...of, offset, limit }, signal)).data);
  const paged = (count, first, ask) => pagedRows({ count, first, pageRows: PAGE_ROWS, ask, onProblem });
  const buffers = (page) => known.buffers(page.rows);
  const groups = (page) => known.groups(page.groups);
  known.clear();
  if (!by) return paged(data.matched_count, buffers(data), more('buffers', params, buffers));
  return groupedRows({
    groups: paged(data.group_count, groups(data), more('groups', { ...params, by }, groups)),
    membersOf: (group) =>
      paged(group.count, null, more('buffers', { ...params, by, sort: DEFAULT_SORT, key: group.key }, buffers)),
  });
}

/* What the URL asks of the table; an order that the daemon refused gives way to the default. */
function wantedOf({ context, program: { space }, place }, refused) {
  const { filter, sort, step, group } = context.route;
  const isStep = Number.isInteger(step) && step >= 0 && step < space.step_count;
  const by = wayOf(group);
  return {
    space: space.space,
    step: space.replay_error || place.within ? 'all' : isStep ? step : 'peak',
    sort: (refused === orderOf(by, sort) ? '' : sort) || DEFAULT_SORT,
    filter,
    by,
  };
}

/* An order and a grouping that are not here are named, and the usual ones shown. */
function sayUnknown({ banners, route: { sort, group } }, refused) {
  const say = (name, text) => (text ? banners.set(name, { text }) : banners.drop(name));
  const isGroup = isWay(group);
  const isSort = !sort || refused !== orderOf(wayOf(group), sort);
  say('group', isGroup ? '' : `Buffers are not grouped by ${cutMiddle(visible(group), 40)} here; folding layers.`);
  say('sort', isSort ? '' : `There is no order ${cutMiddle(visible(sort), 40)} here; what saves most comes first.`);
}

/* Asks for what the URL wants. onAnswer(data, params, asks, isNewFilter), onFilterProblem(error), onProblem(error).
 * Out: {load(), wanted(), isNew(), said: the last answer}. A filter that is refused leaves what the last good one
 * showed, at the step of now. */
function createLoader(page, { onStart, onAnswer, onFilterProblem, onProblem }) {
  const { program, context, place } = page;
  let asked = '';
  let good = null; // the last filter that the daemon took
  let drawn = null; // what was asked last, without the filter
  let said = null;
  let refused = null; // the order that the daemon does not know
  const wanted = () => wantedOf(page, refused);
  const questionOf = (params) => JSON.stringify([params, place.within, program.ask.serial]);
  const withoutFilter = (params) => questionOf({ ...params, filter: '' });

  async function ask(params, key, isNewFilter) {
    const asks = askWithin(program.ask, place.within);
    const { by, ...rest } = params;
    const { data } = await asks(by ? 'groups' : 'buffers', { ...(by ? params : rest), limit: PAGE_ROWS });
    if (asked !== key) return;
    said = data;
    drawn = withoutFilter(params);
    onAnswer(data, params, asks, isNewFilter);
  }
  async function load() {
    if (!program.space) return;
    const params = wanted();
    const key = questionOf(params);
    asked = key;
    sayUnknown(context, refused);
    const end = onStart(params);
    try {
      await ask(params, key, good != null && good !== params.filter);
      if (asked === key) good = params.filter;
    } catch (error) {
      if (isAbort(error) || asked !== key) return;
      if (!(error instanceof Problem)) throw error;
      /* What is seen stays; the page asks again once the daemon is back. */
      if (error.code === 'gone' && said) asked = '';
      else if (isOfSort(error) && params.sort !== DEFAULT_SORT) {
        refused = orderOf(params.by, params.sort);
        await load();
      } else if (isOfFilter(error)) {
        onFilterProblem(error);
        if (good == null || drawn !== withoutFilter(params))
          await ask({ ...params, filter: good ?? '' }, key).catch(() => {});
      } else onProblem(error);
    } finally {
      end();
    }
  }
  return {
    load,
    wanted,
    isNew: () => Boolean(program.space) && questionOf(wanted()) !== asked,
    get said() {
      return said;
    },
  };
}

/* page: {program: what is open, context, place, records}; actions: onHover(row, mark), onLeave(), onPin(row), onDraw().
 * Out: {panel, load(), hear(), mark(hover, pin), rankOf(id, order), groupOf(id), focusFilter(), beside(id, direction),
 * destroy()}. */
export function createBuffersTable(page, actions) {
  const panel = createPanel('panel-table', 'Buffers');
  const { program, context, place, records } = page;
  const known = createKnown(records);
  const table = createTable({
    kind: ['buffer', 'buffers'],
    ...actions,
    onHover: (row, mark, isFocus) => !row.isGroup && actions.onHover(row, mark, isFocus),
    onSort: (sort) => context.choose({ sort: sort === SHOWN_SORT ? '' : sort }),
  });
  const filter = createFilter({
    label: 'Filter buffers',
    placeholder: 'filter, e.g. >64MiB cat:gradient ( / )',
    fields: () =>
      filterFields(loader.said?.member_columns ?? loader.said?.columns ?? [], valuesOfFields(program, context)),
    onFilter: (text, isTyping) => (isTyping ? context.move({ filter: text }) : context.choose({ filter: text })),
  });
  const group = createGroupChoice((by) => context.choose(groupedBy(by, context.route)));
  const onProblem = (error) => panel.say(failed('The table', error));
  const loader = createLoader(page, {
    onStart(params) {
      filter.set(params.filter);
      group.set(params.by);
      return panel.wait('', null);
    },
    onAnswer(data, params, asks, isNewFilter) {
      show(
        data,
        params,
        sourceOf(data, params, asks, known, (error) => error.code !== 'gone' && onProblem(error)),
      );
      if (isNewFilter) context.tell(filterSentence(data, kept(params)));
      if (params.filter === context.route.filter) filter.accept();
    },
    onFilterProblem: filter.refuse,
    onProblem,
  });
  panel.node.classList.add('has-filter');
  panel.node.dataset.explain = 'table';
  panel.setAside(filter.node, group.node);
  panel.body.append(table.node);
  panel.setMenu(() => tableMenu({ ...page, table, wanted: loader.wanted }));

  /* What leaves out rows, for words. */
  const kept = ({ filter: text }) => ({ filter: text, within: place.within });

  function show(data, params, source) {
    const where = whereText(data, program.space, place);
    panel.show();
    panel.setTitle('Buffers', el('span', { class: 'dim' }, ` ${where}`));
    table.show({
      sort: params.sort === DEFAULT_SORT ? SHOWN_SORT : params.sort,
      label: `Buffers ${where}`,
      columns: columnsOf(data, params.by, data.step == null || data.step === program.space.peak_step),
      foot: footOf(data, kept(params)),
      source,
    });
    if (data.total_count === 0) panel.say(message(noBuffers()));
    else if (place.within && data.matched_count === 0) panel.say(message(noneWithin(data.total_count, params.filter)));
    filter.forget();
    actions.onDraw();
  }

  return {
    panel,
    load: loader.load,
    wanted: loader.wanted,
    /* Another step, filter, order or grouping. */
    hear: () => (loader.isNew() ? loader.load() : null),
    mark: table.mark,
    /* Scrolls to a buffer that was pinned elsewhere, where its place is known; its group opens. */
    async reveal(id) {
      const { filter: text, sort, by } = loader.wanted();
      const key = by === 'whose' ? records.get(id)?.group : null;
      if (key) await table.openId(`g:${key}`).catch(() => {});
      const rank = by || text || place.within || sort !== '-size' ? null : records.get(id)?.ranks?.size;
      if (rank != null) table.reveal(rank);
      else table.revealId(id);
    },
    groupOf: known.groupOf,
    focusFilter: filter.focus,
    beside: table.beside,
    /* Place of a buffer in an order of the strips at this step, if it is known. */
    rankOf: known.rankOf,
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
  `${within ? `${filter ? 'Filter, in' : 'In'} the rectangle` : 'Filter'}: ${count(matched)} of ` +
  `${counted(all, 'buffer')}, ${spokenBytes(bytes)}.`;

/* "at the peak · step 376" */
function whereText(data, space, place) {
  if (place.within) return `of ${say.windowWords(space, place.window, place.offsets)}`;
  if (data.step == null) return 'of this memory space';
  if (space.step_unit === 'none') return 'at the peak';
  const at = `${say.unitWord(space)} ${count(data.step)}`;
  return data.step === space.peak_step ? `at the peak · ${at}` : `live at ${at}`;
}

/* ---- what stands behind ⋯ ---- */

/* Address of all rows that the filter keeps, as CSV. */
function csvLink({ program, place }, wanted) {
  const { by, filter, ...rest } = wanted;
  const kept = [place.within, filter].filter(Boolean).join(' ');
  const params = {
    ...program.ask.place,
    ...rest,
    filter: kept,
    by,
    format: 'csv',
    paths: isWithoutPaths() ? 'without' : '',
  };
  return apiUrl(`memory_viewer/${by ? 'groups' : 'buffers'}`, params).href;
}

/* wanted(): what is asked for now. Out: entries of menu.js. */
function tableMenu({ program, context, place, table, wanted }) {
  const exports = exportEntries({
    name: 'buffers',
    title: 'Buffers',
    csv: () => csvLink({ program, place }, wanted()),
  });
  const rowLink = () => {
    const row = table.activeRow;
    return row ? context.linkHere({ pin: row.isGroup ? { kind: 'g', id: row.key } : { kind: 'b', id: row.id } }) : null;
  };
  return [
    exports(),
    {
      word: 'Leave out source paths',
      isOn: isWithoutPaths(),
      run: () => setSetting('paths', isWithoutPaths() ? 'with' : 'without'),
    },
    explainEntry('table'),
    { word: 'Copy chosen rows', key: 'Ctrl+c', run: () => table.copy('tabs') },
    { word: 'Copy chosen rows as Markdown', run: () => table.copy('markdown') },
    {
      word: 'Copy link to the row',
      why: rowLink() ? '' : 'no row is chosen',
      run: () => copyText(new URL(rowLink(), document.baseURI).href),
    },
    ...table
      .columns()
      .map(({ key, title, isShown }) => ({
        word: `Column ${title.replace(/, [KMGT]?i?B$/, '')}`,
        isOn: isShown,
        run: () => table.setColumnShown(key, !isShown),
      })),
  ];
}
