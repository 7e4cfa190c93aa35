/* SPDX-License-Identifier: Apache-2.0
 * buffers.js: every group of equal buffers with its exact size, and what each device
 * holds of each kind. */

import { el, fill } from '../../lib/dom.js';
import { count, counted, percent, visible } from '../../lib/format.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { addFilter, countFilters } from './state.js';
import { bufferColumns, inUnit, unitFor, unitWords } from './columns.js';
import { createRowFilter, menuOf, rowsFrom, shareBar } from './parts.js';
import { createLoader } from './load.js';
import * as empty from './empty.js';
import { amount, faultsOf, wholeWords } from './text.js';

const PAGE_ROWS = 100;
const DEFAULT_SORT = '-total';

/* Ids of rows are texts. */
const rowsOf = ({ rows }) => rows.map((row) => ({ ...row, id: String(row.id) }));

/* Out: a view for page.js, as all create… of this folder. */
export function createBuffers({ url, subject, store }) {
  const pivot = createPivot({ url, subject });
  const params = () => ({ sort: url.state.sort || DEFAULT_SORT, filter: url.state.filter });
  const panel = createPanel('panel-buffers panel-table', 'Buffers', {
    menu: menuOf(subject, { name: 'buffers', title: 'Buffers', csv: () => subject.link('buffers', params()) }),
  });
  const find = createRowFilter({ url, subject }, 'Filter buffers');
  panel.node.classList.add('has-filter');
  panel.setAside(find.node);
  const loader = createLoader(subject, panel, { what: 'The table', sentence: 'buffers', filter: find });
  const table = createTable({
    kind: ['row', 'rows'],
    onHover: (row) => store.set({ hover: row.frame.id }),
    onLeave: () => store.set({ hover: null }),
    onPin: (row) =>
      /* Rows of a difference are no samples of one profile, so that no stack of theirs is listed. */
      subject.summary?.is_diff
        ? url.pin(row.frame.id)
        : url.pin(String(row.id) === url.state.group ? null : row.frame.id, String(row.id)),
    onSort: (sort) => url.choose({ sort: sort === DEFAULT_SORT ? '' : sort }),
  });
  panel.body.append(table.node);
  const draw = (data) => {
    const asked = params();
    find.said(data.columns);
    panel.setTitle(
      'Buffers',
      el(
        'span',
        { class: 'dim' },
        ` ${counted(data.total_count, 'group')} of equal ` +
          `${data.is_diff ? 'stack and labels' : 'size, stack and device'}`,
      ),
    );
    table.show({
      source: rowsFrom({ subject, panel }, 'buffers', asked, {
        data,
        count: data.matched_count,
        pageRows: PAGE_ROWS,
        rowsOf,
      }),
      columns: bufferColumns(data),
      sort: asked.sort,
      foot: {
        text:
          `${count(data.matched_count)} of ${counted(data.total_count, 'group')}, ` +
          `${amount(data.metric, data.matched_total)} of ${amount(data.metric, data.total)}`,
      },
      label: 'Buffers by exact size',
    });
    if (data.total_count === 0)
      panel.say(message(empty.noRows(countFilters(url.state), () => faultsOf(subject.summary))));
  };
  return {
    node: el('div', { class: 'device-buffers' }, pivot.node, panel.node),
    async show() {
      find.set(url.state.filter);
      await Promise.all([pivot.show(), loader.load('buffers', { ...params(), limit: PAGE_ROWS }, draw)]);
    },
    forget() {
      loader.forget();
      pivot.forget();
    },
    light: () => table.mark(null, url.state.group),
    focusFind: find.focus,
    destroy() {
      find.destroy();
      table.destroy();
    },
  };
}

/* Devices × kinds; a click on a word or a figure adds it to the filters. */
function createPivot({ url, subject }) {
  const panel = createPanel('panel-pivot', 'By device and kind');
  const loader = createLoader(subject, panel, { what: 'Devices and kinds', sentence: 'devices' });
  const filterBy = (pairs) => {
    let patch = {};
    for (const [key, value] of pairs) {
      const next = addFilter({ filters: { tag: patch.tag ?? url.state.filters.tag } }, 'tag', `${key}=${value}`);
      patch = { ...patch, ...next };
    }
    url.choose(patch);
  };
  const word = (key, value) =>
    value === ''
      ? el('span', { class: 'dim' }, 'no label')
      : el(
          'button',
          {
            type: 'button',
            class: 'site-button',
            title: `Only ${key} ${visible(value)}`,
            on: { click: () => filterBy([[key, value]]) },
          },
          el('bdi', { dir: 'ltr', class: 'mono' }, visible(value)),
        );
  const draw = (data) => {
    const { metric, percent_base: base, pivot } = data;
    const flat = pivot.totals.flat();
    const unit = unitFor(metric, flat);
    const max = Math.max(...pivot.totals.map((row) => row.reduce((sum, value) => sum + Math.max(0, value), 0)), 1);
    panel.node.hidden = pivot.rows.length === 0;
    panel.setTitle('By device and kind', el('span', { class: 'dim' }, ` ${unitWords(metric, unit)}`));
    const row = (device, at) => {
      const sum = pivot.totals[at].reduce((all, value) => all + value, 0);
      return el(
        'tr',
        {},
        el('th', { scope: 'row' }, word(pivot.row_key, device)),
        pivot.columns.map((kind, column) =>
          el(
            'td',
            { class: 'is-number', title: `${count(pivot.counts[at][column])} ${visible(kind)}` },
            inUnit(metric, pivot.totals[at][column], unit),
          ),
        ),
        el('td', { class: 'is-number' }, inUnit(metric, sum, unit)),
        el('td', { class: 'is-number dim' }, percent(sum, base)),
        el('td', { class: 'pivot-bar' }, shareBar(sum / max)),
      );
    };
    fill(
      panel.body,
      el(
        'div',
        { class: 'pivot-scroll', tabindex: '0', role: 'region', 'aria-label': 'By device and kind' },
        el(
          'table',
          { class: 'pivot' },
          el(
            'thead',
            {},
            el(
              'tr',
              {},
              el('th', { scope: 'col' }, 'Device'),
              pivot.columns.map((kind) => el('th', { scope: 'col', class: 'is-number' }, word(pivot.column_key, kind))),
              el('th', { scope: 'col', class: 'is-number' }, 'Sum'),
              el('th', { scope: 'col', class: 'is-number' }, `Of ${wholeWords(data, 'total')}`),
              el('th', { scope: 'col' }, el('span', { class: 'hidden' }, 'Share')),
            ),
          ),
          el('tbody', {}, pivot.rows.map(row)),
        ),
      ),
    );
  };
  return {
    node: panel.node,
    show: () => loader.load('tags', { rows: 'device', columns: 'kind' }, draw),
    forget: loader.forget,
  };
}
