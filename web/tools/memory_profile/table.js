/* SPDX-License-Identifier: Apache-2.0
 * table.js: the three tables: what is live at the moment, pairs of events, growth.
 * Sorted, filtered and paged by the daemon; what is asked stands in the URL. */

import { isAbort, Problem } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { counted, unitOf } from '../../lib/format.js';
import { nodesOf } from '../../widgets/explain.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createFilter } from '../../widgets/filter.js';
import { createTable } from '../../widgets/table.js';
import { pagedRows } from '../../widgets/table_rows.js';
import { eventColumns, growthColumns, inUnit, liveColumns } from './columns.js';
import { createGroupChoice, filterFields, isOfFilter, tableMenu } from './filter.js';
import { csvLink, markOf, PAGE_ROWS } from './load.js';
import * as empty from './empty.js';
import * as say from './text.js';

const FIND_ROWS = 1000; // the most that the daemon gives at once

const largestOf = (rows, names) =>
  rows.reduce((most, row) => Math.max(most, ...names.map((name) => Math.abs(row[name] ?? 0))), 0);

/* What makes the three differ. params(view) → question; id(row); title(view, data); columns(data); said(view, data). */
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
    title: (view, data) => ['Live ', el('span', { class: 'dim' }, say.momentWords(data, view.wanted.time === null))],
    columns: (view, data, rows) =>
      liveColumns(rows, largestOf(rows, ['size_bytes']), data.between !== null && data.between !== undefined),
    lead: (data) =>
      data.remainders
        .filter(({ size_bytes: size }) => size !== 0)
        .sort((a, b) => b.size_bytes - a.size_bytes)
        .map((row) => ({ ...row, id: `r:${row.code}`, isRemainder: true, requested_bytes: null })),
    aside: (data) => (data.between ? say.betweenWords(data.between) : ''),
    foot: (data, unit) => ({
      rest: data.matched_count < data.total_count && {
        values: { size: inUnit(data.rows_bytes - data.matched_bytes, unit) },
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
    params: ({ wanted }) => ({
      from: wanted.window?.[0] ?? wanted.from,
      to: wanted.window?.[1] ?? wanted.to,
    }),
    id: (row) => `e:${row.event}`,
    title: (view) => [
      'Events ',
      el('span', { class: 'dim' }, view.wanted.window ? 'of the selected window' : view.isZoomed() ? 'of what is in view' : 'of the whole trace'),
    ],
    columns: (view, data, rows) => eventColumns(rows, largestOf(rows, ['size_bytes']), view.all[1]),
    foot: (data) => ({ rest: null, text: say.matchedWords('events', data, null) }),
  },
  growth: {
    sort: '-verdict,-slope',
    kind: ['row', 'rows'],
    params: () => ({}),
    id: (row) => row.key,
    title: (view, data) => ['Growth ', el('span', { class: 'dim' }, `from ${data.boundary ?? 'step'} to ${data.boundary ?? 'step'}`)],
    columns: (view, data, rows) => growthColumns(largestOf(rows, ['first_bytes', 'last_bytes']), data.boundary ?? 'step'),
    answer: (data) => nodesOf(say.growthAnswer(data)),
    foot: (data) => ({ rest: null, text: say.matchedWords('growth', data, null) }),
  },
};

const hasBoth = (route) => markOf(route.a) !== null && markOf(route.b) !== null;

/* Rows that stand above those of the daemon, in one source. */
function withLead(lead, source) {
  const inner = (index) => Math.max(0, index - lead.length);
  return {
    get count() {
      return lead.length + source.count;
    },
    at: (index) => (index < lead.length ? lead[index] : source.at(index - lead.length)),
    need: (from, to) => source.need(inner(from), inner(to)),
    load: (from, to) => source.load(inner(from), inner(to)),
    listen: source.listen,
    stop: source.stop,
  };
}

/* view: {ask, place, context, wanted, all, isZoomed()}; actions: onHover(row), onLeave(), onPin(row, kind).
 * Out: {panel, load(), hear(), mark(hover, pin), focusFilter(), destroy()}. */
export function createProfileTable(view, name, actions) {
  const kind = KINDS[name];
  const { context } = view;
  const answer = el('p', { class: 'tab-answer', hidden: true });
  const panel = createPanel(`panel-inner panel-${name}`, kind.kind[1]);
  const panelTitle = () => panel.node.querySelector('h2').textContent;
  const table = createTable({
    kind: kind.kind,
    onHover: actions.onHover,
    onLeave: actions.onLeave,
    onPin: (row) => actions.onPin(row, name),
    onSort: (sort) => context.choose({ sort: sort === kind.sort ? '' : sort }),
  });
  const filter = createFilter({
    label: `Filter ${kind.kind[1]}`,
    placeholder: 'filter, e.g. >1MiB op:mul ( / )',
    fields: () => filterFields(view, name),
    onFilter: (text, isTyping) => (isTyping ? context.move({ filter: text }) : context.choose({ filter: text })),
  });
  const group = name === 'live' ? createGroupChoice((by) => context.choose({ group: by, sort: '' })) : null;
  panel.node.classList.add('has-filter');
  panel.setAside(filter.node, group?.node ?? '');
  panel.body.append(answer, table.node);
  panel.setMenu(tableMenu({ name, title: panelTitle, table, csv: () => csvLink(view.place, name, params()) }));
  let good = null; // the last filter that the daemon took
  let asked = '';

  const params = () => {
    const { route } = context;
    return {
      ...kind.params({ wanted: view.wanted, route }),
      sort: route.sort || kind.sort,
      filter: route.filter,
    };
  };
  const keyOf = () => JSON.stringify([view.place, params(), view.serial]);

  const setTools = () => {
    filter.set(context.route.filter);
    group?.set(context.route.group);
  };
  const ask = async (question, key) => {
    const { ask: asks } = view;
    const { data } = await asks(name, { ...question, limit: PAGE_ROWS });
    if (asked === key) draw(data, question, asks);
  };
  /* A filter that is refused leaves what the last good one shows, at the moment of now. */
  const load = async () => {
    const question = params();
    const key = keyOf();
    asked = key;
    setTools();
    const end = panel.wait('', null);
    try {
      await ask(question, key);
      if (asked !== key) return;
      good = question.filter;
      filter.accept();
    } catch (error) {
      if (isAbort(error) || asked !== key) return;
      if (!(error instanceof Problem)) throw error;
      if (isOfFilter(error)) {
        filter.refuse(error);
        await ask({ ...question, filter: good ?? '' }, key).catch(() => {});
      } else panel.say(message(empty.failed('The table', error)));
    } finally {
      end();
    }
  };

  const known = new Map(); // rows that came, by id
  const named = ({ rows, boundary = 'step' }) => {
    const all = rows.map((row) => ({ ...row, id: kind.id(row), boundary }));
    for (const row of all) known.set(row.id, row);
    return all;
  };

  function draw(data, question, asks) {
    if (data.reason) {
      panel.say(message(empty.reasonOf(data.reason)));
      return;
    }
    known.clear();
    const first = named(data);
    const lead = kind.lead?.(data) ?? [];
    for (const row of lead) known.set(row.id, row);
    const all = [...lead, ...first];
    const title = kind.title(view, data);
    panel.show();
    panel.setTitle(...title);
    fill(answer, kind.answer?.(data) ?? kind.aside?.(data) ?? '');
    answer.hidden = answer.textContent === '';
    const source = pagedRows({
      count: data.matched_count,
      first,
      pageRows: PAGE_ROWS,
      ask: async (offset, limit, signal) => named((await asks(name, { ...question, offset, limit }, signal)).data),
      onProblem: (error) => panel.say(message(empty.failed('The table', error))),
    });
    table.show({
      source: lead.length ? withLead(lead, source) : source,
      columns: kind.columns(view, data, all),
      sort: question.sort,
      foot: kind.foot(data, unitOf(largestOf(all, ['size_bytes']))),
      label: panelTitle(),
    });
    if (all.length === 0) panel.say(message(empty.noRows(name, Boolean(question.filter))));
    actions.onDraw(name, data);
  }

  return {
    panel,
    load,
    /* Another moment, window, filter or order. */
    hear() {
      setTools();
      return keyOf() === asked ? null : load();
    },
    mark: table.mark,
    beside: table.beside,
    rowOf: (id) => known.get(id) ?? null,
    /* Id of the row of one event, if it came. */
    idOfEvent: (event) => [...known.values()].find((row) => row.event === event)?.id ?? null,
    /* The row of this id, also of those that the filter leaves out or that did not come; null if there is none. */
    async find(id) {
      if (known.has(id)) return known.get(id);
      const { data } = await view.ask(name, { ...params(), filter: '', limit: FIND_ROWS });
      return [...(kind.lead?.(data) ?? []), ...named(data)].find((row) => row.id === id) ?? null;
    },
    focusFilter: filter.focus,
    destroy: table.destroy,
  };
}
