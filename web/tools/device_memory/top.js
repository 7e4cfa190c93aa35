/* SPDX-License-Identifier: Apache-2.0
 * top.js: functions or lines by what they hold, themselves and with all they called. */

import { el } from '../../lib/dom.js';
import { count, counted } from '../../lib/format.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { countFilters } from './state.js';
import { createRowFilter, menuOf, rowsFrom } from './parts.js';
import { createLoader } from './load.js';
import { topColumns } from './columns.js';
import * as empty from './empty.js';
import { amount, faultsOf } from './text.js';

const PAGE_ROWS = 100;
const DEFAULT_SORT = '-total';

/* Rows carry the id of their frame, so that hover and pin meet in all views. */
const rowsOf = ({ rows }) => rows.map((row) => ({ ...row, id: row.frame.id }));

/* isShort: below the flame graph, without filter and order of its own. */
export function createTopPanel({ url, subject, store }, { isShort = false } = {}) {
  const params = () =>
    isShort ? { sort: shortSort } : { sort: url.state.sort || DEFAULT_SORT, filter: url.state.filter };
  let shortSort = DEFAULT_SORT;
  const panel = createPanel('panel-top panel-table', 'Top', {
    menu: menuOf(subject, { name: 'top', title: 'Top', csv: () => subject.link('top', params()) }),
  });
  const find = isShort ? null : createRowFilter({ url, subject }, 'Filter functions');
  if (find) {
    panel.node.classList.add('has-filter');
    panel.setAside(find.node);
  }
  const loader = createLoader(subject, panel, { what: 'The table', sentence: 'functions', filter: find });
  const table = createTable({
    kind: ['row', 'rows'],
    onHover: (row) => store.set({ hover: row.id }),
    onLeave: () => store.set({ hover: null }),
    onPin: (row) => url.pin(row.id === store.state.pin ? null : row.id),
    onSort: (sort) => {
      if (!isShort) url.choose({ sort: sort === DEFAULT_SORT ? '' : sort });
      else {
        shortSort = sort;
        show();
      }
    },
  });
  panel.body.append(table.node);

  const draw = (data) => {
    const asked = params();
    find?.said(data.columns);
    panel.setTitle('Top', el('span', { class: 'dim' }, ` ${counted(data.total_count, rowWord(url.state.by))}`));
    table.show({
      source: rowsFrom({ subject, panel }, 'top', asked, {
        data,
        count: data.matched_count,
        pageRows: PAGE_ROWS,
        rowsOf,
      }),
      columns: topColumns(data),
      sort: asked.sort,
      foot: footOf(data),
      label: 'Functions by what they hold',
    });
    if (data.total_count === 0)
      panel.say(message(empty.noRows(countFilters(url.state), () => faultsOf(subject.summary))));
  };
  const show = async () => {
    find?.set(url.state.filter);
    await loader.load('top', { ...params(), limit: PAGE_ROWS }, draw);
  };
  return {
    node: panel.node,
    show,
    forget: loader.forget,
    light: (hover, pin) => table.mark(hover, pin),
    focusFind: find ? find.focus : null,
    destroy() {
      find?.destroy();
      table.destroy();
    },
  };
}

const rowWord = (by) => ({ line: 'line', function: 'function', filefunction: 'function', file: 'file' })[by];

/* Totals nest, so only what is a row's own adds up. */
function footOf(data) {
  const all = `${count(data.matched_count)} of ${counted(data.total_count, 'row')}`;
  return {
    text:
      `${all}; self adds up to ${amount(data.metric, data.matched_self)} of ${amount(data.metric, data.total)}; ` +
      `totals nest and do not add up`,
  };
}

export function createTop(parts) {
  const { focusFind, ...panel } = createTopPanel(parts);
  return { ...panel, focusFind };
}
