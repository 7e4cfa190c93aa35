/* SPDX-License-Identifier: Apache-2.0
 * buffers.js: the buffers that a text lists, as a table; each leads to its like in the plan. */

import { el, figure, name } from '../../lib/dom.js';
import { bytes, bytesInColumn, count, counted, factor, sourceLine, unitName, unitOf } from '../../lib/format.js';
import { categoryWord, swatch } from '../../widgets/categories.js';
import { createGroupChoice } from '../../widgets/group_choice.js';
import { createPanel } from '../../widgets/panel.js';
import { createTable } from '../../widgets/table.js';
import { roomFor, TWIST_REM } from '../../widgets/table_columns.js';
import { groupedRows, localRows } from '../../widgets/table_rows.js';
import { sortRows } from '../../widgets/table_sort.js';
import { GROUP_WAYS, groupsOf, isOutput, wayOf } from './grouping.js';

const ROW_REM = 1.75;
const MAX_ROWS = 12;
const LISTS = { buffers: 'allocation', io_buffers: 'argument or output' };

/* Pure: both lists as rows; `keys` are the ranges of a row in the text. */
export function rowsOf(failure) {
  return ['buffers', 'io_buffers'].flatMap((list) =>
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
  const keys = [
    'list',
    'size_bytes',
    'unpadded_bytes',
    'padding_bytes',
    'shape',
    'op_name',
    'source_file',
    'source_line',
    'stack_frame_id',
    'allocation_type',
    'label',
  ];
  return {
    columns: keys.map((key) => ({ key, title: key, isSource: key === 'source_file' })),
    rows: rows.map((row) => ({ ...Object.fromEntries(keys.map((key) => [key, row[key]])), list: LISTS[row.list] })),
  };
}

function inUnit(value, unit) {
  if (value == null) return el('span', { class: 'dim' }, '–');
  const { text, isOwn } = bytesInColumn(value, unit);
  const node = figure(value, text, isOwn ? 'dim' : '');
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

/* The stack of a kernel has no shape of its own. */
const OF_KERNEL = 'stack of the kernel for ';
const shapeWords = (row) => `${row.is_shape_of_result ? OF_KERNEL : ''}${row.shape ?? ''}`;
const shapeCell = (row) => [
  row.is_shape_of_result ? el('span', { class: 'dim' }, OF_KERNEL) : null,
  text('shape')(row),
];

const text = (key) => (row) => (row[key] == null ? el('span', { class: 'dim' }, '–') : name(row[key]));

function footOf(rows, verdict) {
  const { listed_bytes: sum, listed_shared_bytes: shared } = verdict;
  const twice =
    shared > 0 ? ` Outputs of ${bytes(shared)} lie in the memory of arguments and are not counted again.` : '';
  return (
    `${counted(rows.length, 'buffer')} listed in the text, ` +
    `${bytes(sum)}.${twice}${rows.length > 1 ? ' They need not be alive at the same time.' : ''}`
  );
}

/* "13 × 2.00 GiB" */
function timesCell({ count: many, each_bytes: each }) {
  if (!(many > 1)) return el('span', { class: 'dim' }, '1');
  return el('span', { class: 'figure' }, each == null ? count(many) : `${count(many)} × ${bytes(each)}`);
}

const categoryCell = ({ category, confidence }) =>
  category
    ? [
        swatch(category),
        categoryWord(category),
        confidence === 'guess' && category !== 'unknown' ? el('span', { class: 'dim' }, ' guess') : null,
      ]
    : el('span', { class: 'dim' }, '–');

/* linkTo(buffer of the plan) → href. */
function columnsOf(rows, unit, linkTo, isGrouped) {
  const has = (key) => rows.some((row) => (row[key] ?? null) != null);
  const column = (key, title, more) => ({
    key,
    title,
    sortKey: key,
    value: (row) => row[key],
    copy: [key, (row) => row[key]],
    cell: text(key),
    ...more,
  });
  const isBoth = new Set(rows.map((row) => row.list)).size > 1;
  return [
    column('size_bytes', `${isGrouped ? 'Total' : 'Size'}, ${unitName(unit)}`, {
      sortKey: 'size',
      width: 7,
      isNumber: true,
      card: 'figure',
      cell: (row) => inUnit(row.size_bytes, unit),
    }),
    isGrouped &&
      column('count', 'Count × size', {
        width: 8.5,
        isNumber: true,
        value: (row) => row.count ?? 1,
        copy: ['count', (row) => row.count ?? 1],
        cell: timesCell,
      }),
    rows.some((row) => row.times > 1.005) &&
      column('times', 'Padded', {
        sortKey: 'padding',
        width: 5,
        isNumber: true,
        copy: ['padding_bytes', (row) => row.padding_bytes],
        cell: (row) =>
          row.times > 1.005
            ? el('span', { title: `${bytes(row.unpadded_bytes)} of data` }, factor(row.times))
            : el('span', { class: 'dim' }, '–'),
      }),
    has('shape') &&
      column('shape', 'Shape', {
        card: 'title',
        wide: (isGrouped ? TWIST_REM : 0) + roomFor(rows.map(shapeWords)),
        isTree: isGrouped,
        cell: shapeCell,
      }),
    has('category') && column('category', 'Category', { width: 9.5, cell: categoryCell }),
    rows.some((row) => row.buffer) &&
      column('buffer', 'In the plan', {
        width: 9,
        sortKey: '',
        value: (row) => row.buffer?.name ?? null,
        copy: ['buffer', (row) => row.buffer?.name ?? ''],
        cell: (row) =>
          row.buffer
            ? el(
                'a',
                { href: linkTo(row.buffer), title: `${row.buffer.name} in the Memory Viewer` },
                name(row.buffer.name),
              )
            : el('span', { class: 'dim' }, '–'),
      }),
    column('name', 'Op name or label', {
      card: has('shape') ? 'line' : 'title',
      wide: roomFor(rows.map((row) => row.name)),
      isTree: isGrouped && !has('shape'),
    }),
    has('source_file') &&
      column('source_file', 'Source', {
        sortKey: 'source',
        width: 11,
        wide: roomFor(rows.map((row) => sourceLine(row.source_file ?? '', row.source_line))),
        copy: ['source', (row) => sourceLine(row.source_file ?? '', row.source_line)],
        cell: (row) =>
          row.source_file
            ? el(
                'span',
                { title: `${row.source_file}:${row.source_line}` },
                sourceLine(row.source_file, row.source_line),
              )
            : el('span', { class: 'dim' }, '–'),
      }),
    has('allocation_type') && column('allocation_type', 'Type', { width: 9 }),
    isBoth &&
      column('list', 'List', {
        width: 9,
        cell: (row) => (isOutput(row.rows?.[0] ?? row) ? 'output' : (LISTS[row.list] ?? 'several')),
      }),
    has('label') && column('label', 'Label', { isHidden: true }),
  ].filter(Boolean);
}

/* figures: of marked.js; context: of the frame. Out: {panel, show(failure, plan: of planFor() of verdict.js or null)}.
 */
export function createBuffers(figures, context, menu) {
  const panel = createPanel('panel-table panel-oom-table', 'Largest buffers', { menu });
  let rows = [];
  let groups = null; // of rows; null: one by one
  let columnsFor = () => [];
  let verdict = null;
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
  const choice = createGroupChoice('Group buffers by', GROUP_WAYS, (group) => context.choose({ group }));
  panel.setAside(choice.node);
  /* The row that stands in the table: a member of a group that is closed is not there, but its group is. */
  const shownOf = (key) => {
    const row = rows.find((each) => each.keys.includes(key));
    const group = row && groups?.find((each) => !each.isSingle && each.rows.some(({ id }) => id === row.id));
    return { row, group };
  };
  figures.rows = {
    light(keys) {
      const { row, group } = shownOf(keys.find((key) => rows.some((each) => each.keys.includes(key))));
      table.mark(row ? ([row.id, group?.id].find((id) => id && table.holds(id)) ?? null) : null, null);
    },
    jump(key) {
      const { row, group } = shownOf(key);
      if (!row) return false;
      void (group ? table.openId(group.id) : Promise.resolve()).then(() => table.revealId(row.id, true));
      return true;
    },
  };
  const drawRows = () => {
    const { sort = '', group } = context.route;
    const order = sort || '-size';
    groups = groupsOf(rows, wayOf(group));
    const listed = sortRows(groups ?? rows, order, columnsFor(groups != null));
    choice.set(wayOf(group));
    table.node.style.minHeight = `${ROW_REM * (Math.min(listed.length, MAX_ROWS) + 2) + 0.25}rem`;
    table.show({
      label: 'Largest buffers',
      columns: columnsFor(groups != null),
      source: groups
        ? groupedRows({
            groups: localRows(listed),
            membersOf: ({ rows: members }) => localRows(sortRows(members, order, columnsFor(true))),
          })
        : localRows(listed),
      sort: order,
      foot: { rest: null, text: footOf(rows, verdict) },
    });
  };
  return {
    panel,
    get rows() {
      return rows;
    },
    show(failure, plan) {
      ({ verdict } = failure);
      rows = rowsOf(failure).map((row) => {
        const buffer = plan?.[row.list][row.place] ?? null;
        return { ...row, buffer, category: buffer?.category ?? null, confidence: buffer?.confidence ?? null };
      });
      panel.node.hidden = rows.length === 0;
      if (!rows.length) return;
      const unit = unitOf(Math.max(...rows.map((row) => row.size_bytes ?? 0)));
      columnsFor = (isGrouped) => columnsOf(rows, unit, plan?.linkTo, isGrouped);
      panel.setTitle('Largest buffers', el('span', { class: 'dim' }, ' as the text lists them'));
      panel.show();
      drawRows();
    },
    resort: () => rows.length && drawRows(),
    destroy: () => table.destroy(),
  };
}
