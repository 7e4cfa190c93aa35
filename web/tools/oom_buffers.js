/* SPDX-License-Identifier: Apache-2.0
 * oom_buffers.js: the buffers that a text lists, as a table. */

import { el, figure, name } from '../lib/dom.js';
import { bytes, bytesInColumn, counted, factor, sourceLine, unitName, unitOf } from '../lib/format.js';
import { createPanel } from '../widgets/panel.js';
import { createTable } from '../widgets/table.js';
import { localRows } from '../widgets/table_rows.js';
import { sortRows } from '../widgets/table_sort.js';

const ROW_REM = 1.75;
const MOST_ROWS = 12;
const LISTS = { buffers: 'allocation', io_buffers: 'argument or output' };

/* Pure: both lists as rows; `keys` are the ranges of a row in the text. */
export function rowsOf(failure) {
  return Object.keys(LISTS).flatMap((list) =>
    failure[list].map((buffer, at) => ({
      ...buffer,
      id: `${list}.${at}`,
      list,
      place: at,
      keys: Object.keys(failure.ranges[list][at] ?? {}).map((key) => `${list}.${at}.${key}`),
      name: buffer.op_name ?? buffer.label,
      times: buffer.unpadded_bytes > 0 && buffer.size_bytes > 0 ? buffer.size_bytes / buffer.unpadded_bytes : null,
    })),
  );
}

/* Pure: what leaves the page. */
export function tableOf(rows) {
  const keys = ['list', 'size_bytes', 'unpadded_bytes', 'padding_bytes', 'shape', 'op_name', 'source_file', 'source_line', 'stack_frame_id', 'allocation_type', 'label'];
  return {
    columns: keys.map((key) => ({ key, title: key, isSource: key === 'source_file' })),
    rows: rows.map((row) => ({ ...Object.fromEntries(keys.map((key) => [key, row[key]])), list: LISTS[row.list] })),
  };
}

function inUnit(value, unit) {
  if (value === null) return el('span', { class: 'dim' }, '–');
  const { text, isOwn } = bytesInColumn(value, unit);
  const node = figure(value, text, isOwn ? 'dim' : '');
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

const text = (key) => (row) => (row[key] === null ? el('span', { class: 'dim' }, '–') : name(row[key]));

function columnsOf(rows, unit) {
  const has = (key) => rows.some((row) => row[key] !== null);
  const column = (key, title, more) => ({ key, title, sortKey: key, value: (row) => row[key], copy: [key, (row) => row[key]], cell: text(key), ...more });
  const isBoth = new Set(rows.map((row) => row.list)).size > 1;
  return [
    column('size_bytes', `Size, ${unitName(unit)}`, { sortKey: 'size', width: 7, isNumber: true, card: 'figure', cell: (row) => inUnit(row.size_bytes, unit) }),
    rows.some((row) => row.times > 1.005) &&
      column('times', 'Padded', {
        sortKey: 'padding',
        width: 5,
        isNumber: true,
        copy: ['padding_bytes', (row) => row.padding_bytes],
        cell: (row) => (row.times > 1.005 ? el('span', { title: `${bytes(row.unpadded_bytes)} of data` }, factor(row.times)) : el('span', { class: 'dim' }, '–')),
      }),
    has('shape') && column('shape', 'Shape', { card: 'title' }),
    column('name', 'Op name or label', { card: has('shape') ? 'line' : 'title' }),
    has('source_file') &&
      column('source_file', 'Source', {
        sortKey: 'source',
        width: 11,
        copy: ['source', (row) => sourceLine(row.source_file ?? '', row.source_line)],
        cell: (row) => (row.source_file ? el('span', { title: `${row.source_file}:${row.source_line}` }, sourceLine(row.source_file, row.source_line)) : el('span', { class: 'dim' }, '–')),
      }),
    has('allocation_type') && column('allocation_type', 'Type', { width: 7 }),
    isBoth && column('list', 'List', { width: 9, cell: (row) => LISTS[row.list] }),
    has('label') && column('label', 'Label', { isHidden: true }),
  ].filter(Boolean);
}

/* figures: see oom_figures.js; context: of the frame. Out: {panel, show(failure)}. */
export function createBuffers(figures, context, menu) {
  const panel = createPanel('panel-table panel-oom-table', 'Largest buffers', { menu });
  let rows = [];
  let shown = [];
  let columns = [];
  const table = createTable({
    kind: ['buffer', 'buffers'],
    onHover: (row) => figures.light(row.keys),
    onLeave: () => figures.light([]),
    onPin: (row) => {
      table.mark(null, row.id);
      figures.text?.jump(row.keys);
    },
    onSort: (sort) => context.choose({ sort: sort === '-size' ? '' : sort }),
  });
  panel.body.append(table.node);
  figures.rows = {
    light: (keys) => table.mark(rows.find((row) => keys.length && row.keys.some((key) => keys.includes(key)))?.id ?? null, null),
    jump(key) {
      const at = shown.findIndex((row) => row.keys.includes(key));
      if (at >= 0) table.reveal(at, true);
      return at >= 0;
    },
  };
  const drawRows = () => {
    const sort = context.route.sort || '-size';
    shown = sortRows(rows, sort, columns);
    const sum = rows.reduce((all, row) => all + (row.size_bytes ?? 0), 0);
    table.show({
      label: 'Largest buffers',
      columns,
      source: localRows(shown),
      sort,
      foot: { rest: null, text: `${counted(rows.length, 'buffer')} listed in the text, ${bytes(sum)}. They need not be alive at the same time.` },
    });
  };
  return {
    panel,
    get rows() {
      return rows;
    },
    show(failure) {
      rows = rowsOf(failure);
      panel.node.hidden = rows.length === 0;
      if (!rows.length) return;
      columns = columnsOf(rows, unitOf(Math.max(...rows.map((row) => row.size_bytes ?? 0))));
      table.node.style.minHeight = `${ROW_REM * (Math.min(rows.length, MOST_ROWS) + 2) + 0.25}rem`;
      panel.setTitle('Largest buffers', el('span', { class: 'dim' }, ` as the text lists them`));
      panel.show();
      drawRows();
    },
    resort: () => rows.length && drawRows(),
    destroy: () => table.destroy(),
  };
}
