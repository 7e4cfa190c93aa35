/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the table of the comparison draws the columns that the answer names.
 * Its own file: one row a column, to be found by who adds one. */

import { el, figure, name, titled } from '../../lib/dom.js';
import { baseName, count, signedBytes, unitOf } from '../../lib/format.js';
import { categoryWord, swatch } from '../../widgets/categories.js';
import { inUnit, roomFor, tableColumns, TWIST_REM } from '../../widgets/table_columns.js';
import { arrow } from './text.js';

/* All columns and a scope that can be read; with less the category gives way, which the bars above say as well. */
const ALL_REM = 70;

const dim = (text) => el('span', { class: 'dim' }, text);

export function changeCell({ delta_bytes: delta }) {
  if (delta === 0) return dim('0');
  return figure(delta, `${arrow(delta)} ${signedBytes(delta)}`, delta > 0 ? 'compare-grown' : 'compare-shrunk');
}

const size = (unit, field) => (row) => (row[field] == null ? dim('–') : inUnit(row[field], unit));

/* Pure: "bf16[8→4,2048]", "f32→bf16[8,2048]" where as many dimensions are there, else "f32[8] → s32[2,4]"; one of them
 * where they agree or one side lacks it. */
export function shapeChange(a, b) {
  if (!a || !b || a === b) return b || a || '';
  const [, of, from] = /^([^[]*)\[([\d,]*)\]$/.exec(a) ?? [];
  const [, now, to] = /^([^[]*)\[([\d,]*)\]$/.exec(b) ?? [];
  const [before, after] = [(from ?? '').split(','), (to ?? '').split(',')];
  if (from === undefined || to === undefined || before.length !== after.length) return `${a} → ${b}`;
  const both = (x, y) => (x === y ? x : `${x}→${y}`);
  return `${both(of, now)}[${before.map((size, at) => both(size, after[at])).join(',')}]`;
}
const shapes = ({ a_shape: a, b_shape: b }) => (a || b ? name(shapeChange(a, b)) : dim('–'));

const place = (row) => (row.isGroup ? (row.scope ?? row.b_name ?? row.a_name ?? '') : (row.b_name ?? row.a_name ?? ''));

/* "24 × layer_{i}/mlp": how many a row stands for. */
const named = (row) =>
  row.isGroup && row.count > 1
    ? el(
        'span',
        { class: 'compare-named' },
        el('span', { class: 'figure' }, `${count(row.count)} ×\u00a0`),
        name(place(row)),
      )
    : name(place(row));

function source(row) {
  const text = baseName(row.source);
  return text ? titled(name(text), row.source) : dim('–');
}

const BOLD = 1.2; // words of a row that folds are wider than the letters of names

/* For table.show(); roomRem: how wide the table may be. */
export function columnsOf({ columns, groups }, roomRem) {
  const largest = groups.reduce((max, row) => Math.max(max, row.a_bytes ?? 0, row.b_bytes ?? 0), 0);
  const unit = unitOf(largest);
  return tableColumns(columns, {
    change: { width: 8.75, card: 'figure', cell: changeCell },
    a: { in: unit, width: 5.25, cell: size(unit, 'a_bytes') },
    b: { in: unit, width: 5.25, cell: size(unit, 'b_bytes') },
    match: { width: 6.5, wide: BOLD * roomFor(groups.map((row) => row.key_words)), cell: (row) => row.key_words },
    /* What tells rows apart has the width that is left. */
    scope: {
      card: 'title',
      min: 17,
      wide: TWIST_REM + roomFor(groups.map((row) => `${row.count > 1 ? `${count(row.count)} × ` : ''}${place(row)}`)),
      isTree: true,
      value: place,
      cell: named,
      copy: ['scope', (row) => row.op_name ?? ''],
    },
    shape: {
      width: 10.5,
      wide: roomFor(groups.map((row) => shapeChange(row.a_shape, row.b_shape))),
      card: 'line',
      value: (row) => shapeChange(row.a_shape, row.b_shape),
      cell: shapes,
    },
    line: {
      width: 7,
      wide: roomFor(groups.map((row) => baseName(row.source))),
      isSource: true,
      card: 'line',
      cell: source,
    },
    cat: {
      width: 9.75,
      isHidden: roomRem < ALL_REM,
      cell: (row) => [swatch(row.category), categoryWord(row.category)],
    },
    count: { width: 4, isHidden: true },
    state: { width: 5, isHidden: true },
  });
}
