/* SPDX-License-Identifier: Apache-2.0
 * table_columns.js: the columns of a table, from those that the answer names (`columns` of a table's answer: title,
 * unit, type, help, field of a row, head in CSV) and what a page draws in its own way.
 *
 *   table.show({ columns: tableColumns(data.columns, {
 *     size: { in: unitOf(largest), width: 6.75, card: 'figure', explain: 'size' },   in: the one unit of its bytes
 *     name: { card: 'title' },
 *     line: { value: (row) => `${row.source_file}:${row.source_line}`, cell: source },   a column without a field
 *     copies: data.is_diff ? false : {},                                               false: left out
 *   }), … });
 *   createFilter({ fields: () => filterFields(said?.columns ?? [], valuesOf), … });
 *
 * They stand in the page's order, under the answer's name (else its field); one that the page does not name stands
 * behind them. What the page says takes the place of what follows from the answer; the members are those of table.js.
 * `value(row)`: what is drawn and copied, if it is not the field. */

import { el, figure, name } from '../lib/dom.js';
import { bytesInColumn, count, duration, exactBytes, percent, unitName } from '../lib/format.js';

const none = () => el('span', { class: 'dim' }, '–');

/* Bytes in the one unit of their column; what would print 0.00 there is printed in its own. */
export function inUnit(value, unit, sign = '') {
  const { text, isOwn } = bytesInColumn(value, unit);
  const node = el('span', { class: isOwn ? 'figure dim' : 'figure', title: exactBytes(value) }, sign + text);
  /* Cards on a phone have no header that says the unit. */
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

const DRAWN = { bytes: figure, percent: (value) => percent(value, 100), ps: duration };

function drawn(value, { type, unit }, own) {
  if (value == null || value === '') return none();
  if (type === 'text') return name(value);
  if (own.in !== undefined) return inUnit(value, own.in);
  const part = (DRAWN[unit] ?? count)(value);
  return part.nodeType ? part : el('span', { class: 'figure' }, part);
}

/* Of ▸, which the column of a tree has before its names. */
export const TWIST_REM = 1.375;
const LETTER_REM = 0.49; // of the monospaced letters of names
const ASIDE_REM = 1;

/* Pure: `wide` of a column of such names: the longest of them is whole. */
export const roomFor = (names) =>
  ASIDE_REM + LETTER_REM * names.reduce((most, text) => Math.max(most, text?.length ?? 0), 0);

const keyOf = (said) => said.name || said.field;

function columnOf(said, own) {
  const value = own.value ?? ((row) => row[said.field]);
  return {
    key: keyOf(said),
    className: `c-${keyOf(said)}`,
    isNumber: said.type === 'number',
    sortKey: said.name || null,
    aliases: said.aliases,
    hint: said.help,
    value,
    cell: (row) => drawn(value(row), said, own),
    copy: [said.csv ?? keyOf(said), (row) => value(row) ?? (said.type === 'text' ? '' : null)],
    ...own,
    title: `${own.title ?? said.title}${own.in === undefined ? '' : `, ${unitName(own.in)}`}`,
  };
}

/* columns: of the answer; own: name → what the page draws in its own way, or false. */
export function tableColumns(columns, own) {
  const titled = columns.filter(({ title }) => title != null);
  const placed = Object.keys(own).map((key) => titled.find((said) => keyOf(said) === key));
  const others = titled.filter((said) => !(keyOf(said) in own));
  return [...placed, ...others]
    .filter((said) => said && own[keyOf(said)] !== false)
    .map((said) => columnOf(said, own[keyOf(said)] ?? {}));
}

/* Fields of filter.js. valuesOf(name) → what it proposes, or null. */
export const filterFields = (columns, valuesOf) =>
  columns
    .filter((said) => said.name && said.help)
    .map((said) => ({ name: said.name, says: said.help, values: valuesOf(said.name) }));
