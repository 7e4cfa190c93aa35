/* SPDX-License-Identifier: Apache-2.0
 * table.js: what is new, gone, grown, shrunk and the same, in groups that open to their members. */

import { apiUrl, isAbort, Problem } from '../../lib/api.js';
import { el } from '../../lib/dom.js';
import { failure } from '../../lib/failure.js';
import { count, counted, signedBytes } from '../../lib/format.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createFilter } from '../../widgets/filter.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { filterFields } from '../../widgets/table_columns.js';
import { groupedRows, pagedRows } from '../../widgets/table_rows.js';
import { remPx } from '../../widgets/table_header.js';
import { createTabs } from '../../widgets/tabs.js';

const PAGE_ROWS = 100;
const DEFAULT_SORT = '-change';

/* [name in the URL, word, key, state of the daemon]. */
const ROWS = [
  ['', 'All', '1', 'all'],
  ['only_b', 'Only B', '2', 'new'],
  ['only_a', 'Only A', '3', 'gone'],
  ['grown', 'Grown', '4', 'grown'],
  ['shrunk', 'Shrunk', '5', 'shrunk'],
  ['same', 'Same', '6', 'same'],
];
export const VIEWS = ROWS.map(([id, word, key]) => [id, word, key]);
const rowOf = (view) => ROWS.find(([id]) => id === view) ?? ROWS[0];
/* Tabs have a name each. */
const tabId = (view) => rowOf(view)[0] || 'all';

const STATES = ROWS.slice(1).map(([, , , state]) => ({ value: state, figure: '' }));
const valuesOf = (name) => (name === 'state' ? async () => STATES : null);

const groupId = (group) => `g:${group.group}`;

/* The groups of an answer, which open to their members. */
function sourceOf(data, params, { ask, about, onProblem }) {
  const groups = (page) => page.groups.map((row) => ({ ...row, id: groupId(row) }));
  const members = (page, from) => page.rows.map((row, at) => ({ ...row, id: about.idOf(row, from + at) }));
  const more = async (view, question, signal) => (await ask(view, question, signal)).data;
  return groupedRows({
    groups: pagedRows({
      count: data.matched_count,
      first: groups(data),
      pageRows: PAGE_ROWS,
      ask: async (offset, limit, signal) =>
        groups(await more(about.views.groups, { ...params, offset, limit }, signal)),
      onProblem,
    }),
    membersOf: (group) =>
      pagedRows({
        count: about.membersOf(group),
        pageRows: PAGE_ROWS,
        ask: async (offset, limit, signal) =>
          members(
            await more(
              about.views.members,
              { ...about.memberParams(params), group: group.group, offset, limit },
              signal,
            ),
            offset,
          ),
        onProblem,
      }),
  });
}

/* What is pinned stays in the pane while others are hovered. Out: {hover(row | null), pin(row), letGo(), forget()}. */
function createLights({ mark, onSpans, onShow }) {
  const spansOf = (row) => (row ? [row.a_span, row.b_span].filter(Boolean) : []);
  let pinned = null;
  let inPane = ''; // what the pane was told to show
  const hover = (row) => {
    const shown = pinned ?? row;
    mark(row?.id ?? null, pinned?.id ?? null);
    onSpans(spansOf(row ?? pinned));
    const key = `${shown?.id ?? ''} ${pinned != null}`;
    if (key !== inPane) onShow(shown, pinned != null);
    inPane = key;
  };
  const pin = (row) => {
    pinned = !row || row.id === pinned?.id ? null : row;
    hover(null);
  };
  return {
    hover,
    pin,
    /* False if nothing was pinned. */
    letGo() {
      const wasPinned = pinned != null;
      if (wasPinned) pin(null);
      return wasPinned;
    },
    forget() {
      pinned = null;
      inPane = '';
    },
  };
}

/* context: of the page; ask(view, params, signal) → Promise; about: {title, placeholder, views: {groups, members},
 * noneText, columnsOf(answer, width in rem), params(route), memberParams(params), csvParams(), idOf(member, at),
 * membersOf(group) → how many} of what is in the rows; sides() → {a, b}; onSpans([[from, to), …]) on the axis of the
 * curves; onShow(row | null, isPinned). Out: {node, load(route), hear(route), count(counts, all), focusFilter(),
 * letGo(), destroy()}. */
export function createTableOfPairs({ context, ask, about, sides, onSpans, onShow }) {
  let said = null;
  let asked = '';
  let serial = 0;
  const panel = createPanel('panel-table', about.title);
  const tabs = createTabs({
    label: `Which ${about.title.toLowerCase()}`,
    tabs: ROWS.map(([id, word, key]) => ({ id: id || 'all', word, key })),
    onChoose: (id) => context.choose({ tool: 'compare', view: id === 'all' ? '' : id }),
  });
  const filter = createFilter({
    label: `Filter ${about.title.toLowerCase()}`,
    placeholder: about.placeholder,
    fields: () => filterFields(said?.columns ?? [], valuesOf),
    onFilter: (text, isTyping) =>
      isTyping ? context.move({ tool: 'compare', filter: text }) : context.choose({ tool: 'compare', filter: text }),
  });
  const lights = createLights({ mark: (hovered, pinned) => table.mark(hovered, pinned), onSpans, onShow });
  const table = createTable({
    kind: ['row', 'rows'],
    onHover: lights.hover,
    onLeave: () => lights.hover(null),
    onPin: lights.pin,
    onSort: (sort) => context.choose({ tool: 'compare', sort: sort === DEFAULT_SORT ? '' : sort }),
  });
  panel.node.classList.add('has-filter');
  panel.setAside(filter.node);
  panel.body.append(tabs.node, el('div', { class: 'compare-rows', ...tabs.panelAttributes('all') }, table.node));
  const wanted = (route) => ({
    state: rowOf(route.view)[3],
    filter: route.filter,
    sort: route.sort,
    ...about.params(route),
  });
  panel.setMenu(
    exportEntries({
      name: 'compare',
      title: 'What differs between A and B',
      csv: () =>
        apiUrl(about.views.groups, { ...sides(), ...wanted(context.route), format: 'csv', ...about.csvParams() }).href,
    }),
  );
  const onProblem = (error) => panel.say(message(failure('The table', error)));

  function show(data, params) {
    said = data;
    lights.forget();
    panel.show();
    panel.setTitle(
      about.title,
      el('span', { class: 'dim' }, ` ${counted(data.matched_count, 'row')}, ${signedBytes(data.matched_delta_bytes)}`),
    );
    table.show({
      label: `${about.title} of A and B`,
      columns: about.columnsOf(data, panel.node.clientWidth / remPx()),
      source: sourceOf(data, params, { ask, about, onProblem }),
      sort: params.sort || DEFAULT_SORT,
      foot: {
        text:
          `${count(data.matched_count)} of ${counted(data.total_count, 'row')}, ` +
          `${signedBytes(data.matched_delta_bytes)}`,
      },
    });
    if (data.total_count === 0) panel.say(message({ title: 'There are none of these.', text: about.noneText }));
    filter.forget();
  }
  async function load(route) {
    const params = wanted(route);
    const own = ++serial;
    asked = JSON.stringify([sides(), params]);
    tabs.set(tabId(route.view));
    filter.set(params.filter);
    const end = panel.wait('', null);
    try {
      const { data } = await ask(about.views.groups, { ...params, limit: PAGE_ROWS });
      if (own !== serial) return;
      show(data, params);
      filter.accept();
    } catch (error) {
      if (isAbort(error) || own !== serial) return;
      if (!(error instanceof Problem)) throw error;
      if (/^filter: /.test(error.message)) filter.refuse(error);
      else if (/^sort: /.test(error.message) && route.sort) await load({ ...route, sort: '' });
      else throw error;
    } finally {
      end();
    }
  }
  return {
    node: panel.node,
    load,
    hear: (route) => (JSON.stringify([sides(), wanted(route)]) === asked ? null : load(route)),
    /* How many of each state there are. */
    count(counts, all) {
      const many = (state) => (state === 'all' ? all : counts[state]);
      for (const [at, button] of [...tabs.node.children].entries()) button.dataset.count = count(many(ROWS[at][3]));
    },
    focusFilter: filter.focus,
    letGo: lights.letGo,
    destroy() {
      filter.destroy();
      table.destroy();
    },
  };
}
