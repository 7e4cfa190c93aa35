/* SPDX-License-Identifier: Apache-2.0
 * table.js: the tables: what is live at one time, pairs of events, growth, segments.
 * Sorted, filtered and paged by the daemon; what is asked stands in the URL. */

import { isAbort, Problem } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { counted } from '../../lib/format.js';
import { nodesOf } from '../../widgets/explain.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createFilter } from '../../widgets/filter.js';
import { createTable } from '../../widgets/table.js';
import { filterFields, inUnit } from '../../widgets/table_columns.js';
import { pagedRows } from '../../widgets/table_rows.js';
import { eventColumns, growthColumns, liveColumns, segmentColumns, unitFor } from './columns.js';
import { createGroupChoice, isOfFilter, tableMenu, valuesOf } from './filter.js';
import { csvLink, markOf, PAGE_ROWS, placesOf } from './load.js';
import * as empty from './empty.js';
import * as say from './text.js';

const hasBoth = (route) => markOf(route.a) != null && markOf(route.b) != null;

const STRIP_PARTS = 512;

/* What makes them differ. params({wanted, route}) → question; title(url, data), columns(data, rows, trace); foot(data,
   rows). */
const KINDS = {
  live: {
    sort: '-size',
    kind: ['group', 'groups'],
    params: ({ wanted, route }) => ({
      time: wanted.time ?? 'peak',
      group: route.group || 'same',
      a: hasBoth(route) ? markOf(route.a) : null,
      b: hasBoth(route) ? markOf(route.b) : null,
    }),
    id: (row) => row.key,
    title: ({ wanted, stacksHref }, data) => [
      'Live ',
      el('span', { class: 'dim' }, say.timeWords(data, wanted)),
      stacksHref(data.time_ps)
        ? [' ', el('a', { class: 'see-why', href: stacksHref(data.time_ps) }, 'By line of code')]
        : '',
    ],
    columns: liveColumns,
    lead: (data) =>
      data.remainders
        .filter(({ size_bytes: size }) => size !== 0)
        .sort((a, b) => b.size_bytes - a.size_bytes)
        .map((row) => ({ ...row, id: `r:${row.code}`, isRemainder: true, requested_bytes: null })),
    answer: (data) => (data.between ? say.betweenWords(data.between) : ''),
    foot: (data, rows) => ({
      rest: data.matched_count < data.total_count && {
        values: { size: inUnit(data.rows_bytes - data.matched_bytes, unitFor(rows, ['size_bytes'])) },
        text: `${counted(data.total_count - data.matched_count, 'group')} that the filter leaves out`,
      },
      text: el(
        'span',
        { class: data.matches_curve ? '' : 'caution' },
        `${say.matchedWords('live', data, data.rows_bytes)} · ${say.balance(data)}`,
      ),
    }),
  },
  events: {
    sort: 'time',
    kind: ['pair', 'pairs'],
    params: ({ wanted }) => ({ from: wanted.window?.[0] ?? wanted.from, to: wanted.window?.[1] ?? wanted.to }),
    id: (row) => `e:${row.event}`,
    title: ({ wanted, isZoomed }) => [
      'Events ',
      el(
        'span',
        { class: 'dim' },
        wanted.window ? 'of the selected window' : isZoomed() ? 'of what is in view' : 'of the whole trace',
      ),
    ],
    columns: (data, rows, { all }) => eventColumns(data, rows, all[1]),
    foot: (data) => ({ rest: null, text: say.matchedWords('events', data, null) }),
  },
  growth: {
    sort: '-verdict,-slope',
    kind: ['row', 'rows'],
    params: () => ({}),
    id: (row) => row.key,
    title: (url, { boundary }) => ['Growth ', el('span', { class: 'dim' }, `from ${boundary} to ${boundary}`)],
    columns: growthColumns,
    answer: (data) => nodesOf(say.growthAnswer(data)),
    foot: (data) => ({ rest: null, text: say.matchedWords('growth', data, null) }),
  },
  segments: {
    sort: '-size,address',
    kind: ['segment', 'segments'],
    params: ({ wanted }) => ({ time: wanted.time ?? 'peak', width: STRIP_PARTS }),
    id: (row) => `a:${row.address}`,
    title: ({ wanted }, data) => [
      'Segments ',
      el('span', { class: 'dim' }, say.timeWords({ ...data, step: null }, wanted)),
    ],
    columns: segmentColumns,
    foot: (data) => ({ rest: null, text: say.matchedWords('segments', data, null) }),
  },
};

/* These among the rows of the daemon, in one source. */
function among(places, source) {
  const at = (index) => places.findIndex(({ before }, nth) => before + nth === index);
  const inner = (index) => index - places.filter(({ before }, nth) => before + nth < index).length;
  return {
    get count() {
      return places.length + source.count;
    },
    at: (index) => (at(index) < 0 ? source.at(inner(index)) : places[at(index)].row),
    need: (from, to) => source.need(inner(from), inner(to)),
    load: (from, to) => source.load(inner(from), inner(to)),
    listen: source.listen,
    stop: source.stop,
  };
}

/* onPin(row, name), onMenu(row, place, giveBack), onDraw(). Out: {panel, load(), hear(), mark(hover, pin), find(id),
   focusFilter(), destroy(), …}. */
export function createProfileTable(name, { trace, url, onPin, onMenu, onDraw }) {
  const kind = KINDS[name];
  const answer = el('p', { class: 'tab-answer', hidden: true });
  const panel = createPanel(`panel-inner panel-${name}`, '');
  const table = createTable({
    kind: kind.kind,
    onPin: (row) => onPin(row, name),
    onMenu,
    onSort: (sort) => url.choose({ sort: sort === kind.sort ? '' : sort }),
  });
  const filter = createFilter({
    label: `Filter ${kind.kind[1]}`,
    placeholder: 'filter, e.g. >1MiB op:mul ( / )',
    fields: () => filterFields(state.said, valuesOf({ trace, url })),
    onFilter: (text, isTyping) => (isTyping ? url.move({ filter: text }) : url.choose({ filter: text })),
  });
  const group = name === 'live' ? createGroupChoice((by) => url.choose({ group: by, sort: '' })) : null;
  /* known: rows that came, by id; good: the last filter that the daemon took; said: the columns of the answer. */
  const state = {
    name,
    kind,
    trace,
    url,
    panel,
    table,
    filter,
    group,
    answer,
    onDraw,
    known: new Map(),
    good: null,
    asked: '',
    said: [],
  };
  panel.node.classList.add('has-filter');
  panel.setAside(filter.node, group?.node ?? '');
  panel.body.append(answer, table.node);
  panel.setMenu(
    tableMenu({ name, title: () => titleOf(panel), table, csv: () => csvLink(trace.place, name, questionOf(state)) }),
  );
  return {
    panel,
    load: () => load(state),
    /* Another time, window, filter or order. */
    hear() {
      setTools(state);
      return keyOf(state) === state.asked ? null : load(state);
    },
    mark: table.mark,
    beside: table.beside,
    rowOf: (id) => state.known.get(id) ?? null,
    /* Id of the row of one event, if it came. */
    idOfEvent: (event) => [...state.known.values()].find((row) => row.event === event)?.id ?? null,
    find: (id) => find(state, id),
    reveal: table.revealId,
    /* What a filter would keep, whatever is shown: {rows, count}. */
    async found(text, limit, signal) {
      const { data } = await trace.ask(name, { ...questionOf(state), sort: kind.sort, filter: text, limit }, signal);
      return { rows: rowsOf(state, data), count: data.matched_count };
    },
    focusFilter: filter.focus,
    destroy() {
      filter.destroy();
      table.destroy();
    },
  };
}

const titleOf = (panel) => panel.node.querySelector('h2').textContent;

/* ---- asking --------------------------------------------------------------------- */

function questionOf({ kind, url }) {
  const { route } = url;
  return { ...kind.params(url), sort: route.sort || kind.sort, filter: route.filter };
}

const keyOf = (state) => JSON.stringify([state.trace.key, questionOf(state)]);

function setTools({ filter, group, url }) {
  filter.set(url.route.filter);
  group?.set(url.route.group);
}

/* A filter that is refused leaves what the last good one shows, at the time of now. */
async function load(state) {
  const { panel, filter, trace, name } = state;
  const question = questionOf(state);
  const key = keyOf(state);
  const { ask } = trace;
  const read = async (asked) => {
    const { data } = await ask(name, { ...asked, limit: PAGE_ROWS });
    if (state.asked === key) draw(state, data, asked, ask);
  };
  state.asked = key;
  setTools(state);
  const end = panel.wait('', null);
  try {
    await read(question);
    if (state.asked !== key) return;
    state.good = question.filter;
    filter.accept();
  } catch (error) {
    if (isAbort(error) || state.asked !== key) return;
    if (!(error instanceof Problem)) throw error;
    if (isOfFilter(error)) {
      filter.refuse(error);
      await read({ ...question, filter: state.good ?? '' }).catch(() => {});
    } else panel.say(message(empty.failed('The table', error)));
  } finally {
    end();
  }
}

/* The row of this id, also of those that the filter leaves out or that did not come; null if there is none. */
async function find(state, id) {
  const { known, kind, trace, name } = state;
  if (known.has(id)) return known.get(id);
  const filter = id.startsWith('r:') ? '' : `key:${id}`;
  const { data } = await trace.ask(name, { ...questionOf(state), filter, limit: 1 });
  return [...(kind.lead?.(data) ?? []), ...rowsOf(state, data)].find((row) => row.id === id) ?? null;
}

/* ---- drawing -------------------------------------------------------------------- */

function rowsOf({ kind, known }, { rows, boundary }) {
  const all = rows.map((row) => ({ ...row, id: kind.id(row), boundary }));
  for (const row of all) known.set(row.id, row);
  return all;
}

function draw(state, data, question, ask) {
  const { name, kind, panel, table, answer, known, trace, url } = state;
  if (data.reason) {
    panel.say(message(empty.reasonOf(data.reason)));
    return;
  }
  state.said = data.columns;
  known.clear();
  const first = rowsOf(state, data);
  const lead = kind.lead?.(data) ?? [];
  for (const row of lead) known.set(row.id, row);
  const all = [...lead, ...first];
  panel.show();
  panel.setTitle(...kind.title(url, data));
  fill(answer, kind.answer?.(data) ?? '');
  answer.hidden = answer.textContent === '';
  const source = pagedRows({
    count: data.matched_count,
    first,
    pageRows: PAGE_ROWS,
    ask: async (offset, limit, signal) => rowsOf(state, (await ask(name, { ...question, offset, limit }, signal)).data),
    onProblem: (error) => panel.say(message(empty.failed('The table', error))),
  });
  table.show({
    source: lead.length ? among(placesOf(lead, first, data.matched_count, question.sort), source) : source,
    columns: kind.columns(data, all, trace),
    sort: question.sort,
    foot: kind.foot(data, all, url.wanted),
    label: titleOf(panel),
  });
  if (all.length === 0) panel.say(message(empty.noRows(name, Boolean(question.filter))));
  state.onDraw();
}
