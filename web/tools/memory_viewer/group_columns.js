/* SPDX-License-Identifier: Apache-2.0
 * group_columns.js: the columns of a table of groups; a group opens to its buffers. */

import { el, figure, name, titled } from '../../lib/dom.js';
import { count, splitShape, unitName, unitOf } from '../../lib/format.js';
import { categoryWord, swatch } from '../../widgets/categories.js';
import { columnsOf, inUnit } from './columns.js';
import { wordsOf } from './groups.js';

function keyCell(row, by) {
  if (row.key === '') return el('span', { class: 'dim' }, wordsOf(by).none);
  if (by === 'category') return [swatch(row.key), categoryWord(row.key)];
  if (by !== 'line') return name(by === 'shape' ? splitShape(row.key)[0] : row.key);
  return titled(name(row.key.slice(row.key.lastIndexOf('/') + 1)), row.key);
}

/* "13 × 2.00 GiB", or "28 × ≤ 2.00 GiB" where they differ. */
function amountOf(row) {
  const isAlike = row.count * row.largest_bytes === row.bytes;
  return [el('span', { class: 'figure' }, `${count(row.count)} ×\u00a0${isAlike ? '' : '≤\u00a0'}`), figure(row.largest_bytes)];
}

/* Left out of groups until the reader turns them on. */
const OF_ONE = new Set(['opcode', 'born', 'dies']);
/* The column that is the group itself. */
const SAME = { shape: 'shape', line: 'source', category: 'kind' };

/* The columns of buffers, with what a group says in their place. */
export function groupColumns(largest, by) {
  const unit = unitOf(largest);
  const { word } = wordsOf(by);
  const groupCells = {
    size: (row) => inUnit(row.bytes, unit),
    padding: (row) => (row.padding_bytes ? figure(row.padding_bytes) : '–'),
    name: (row) => keyCell(row, by),
  };
  const groupCopies = { size: (row) => row.bytes, padding: (row) => row.padding_bytes, name: (row) => row.key };
  const sorts = { size: 'size', padding: 'padding', name: 'key' };
  const columns = columnsOf(largest).map((column) => ({
    ...column,
    title: { size: `Total, ${unitName(unit)}`, name: `${word[0].toUpperCase()}${word.slice(1)}` }[column.key] ?? column.title,
    sortKey: sorts[column.key] ?? null,
    explainGroup: 'group_row',
    isHidden: column.isHidden || OF_ONE.has(column.key) || SAME[by] === column.key,
    min: column.key === 'name' ? 16 : column.min,
    cell: (row) => (row.isGroup ? (groupCells[column.key]?.(row) ?? '') : column.cell(row)),
    copy: column.copy && [
      column.copy[0],
      (row) => (row.isGroup ? (groupCopies[column.key]?.(row) ?? null) : column.copy[1](row)),
    ],
  }));
  const amount = {
    key: 'count',
    title: 'Count × each',
    hint: '≤: they differ, and no one is larger.',
    className: 'c-count',
    width: 10.5,
    isNumber: true,
    sortKey: 'count',
    explainGroup: 'group_row',
    card: 'line',
    cell: (row) => (row.isGroup ? amountOf(row) : ''),
    copy: ['count', (row) => (row.isGroup ? row.count : 1)],
  };
  return [columns[0], amount, ...columns.slice(1)];
}
