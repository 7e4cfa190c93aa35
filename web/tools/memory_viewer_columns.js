/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_columns.js: columns and footer of the table of buffers. One unit a
 * column, said in the header; what would print 0.00 is printed in its own unit. */

import {
  bytes,
  bytesIn,
  bytesInColumn,
  count,
  counted,
  exactBytes,
  factor,
  sourceLine,
  splitShape,
  unitName,
  unitOf,
  visible,
} from '../lib/format.js';
import { el, figure, name } from '../lib/dom.js';
import { categoryWord, swatch } from '../widgets/categories.js';

function inUnit(value, unit) {
  const { text, isOwn } = bytesInColumn(value, unit);
  const figure = el('span', { class: isOwn ? 'figure dim' : 'figure', title: exactBytes(value) }, text);
  /* Cards on a phone have no header that says the unit. */
  return isOwn ? figure : [figure, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

function padding(row) {
  if (row.unpadded_bytes === null || row.unpadded_bytes === undefined)
    return el('span', { class: 'dim' }, 'not known');
  if (row.padding_bytes === 0) return '–';
  return [
    figure(row.padding_bytes),
    row.expansion ? el('span', { class: 'dim figure' }, ` ${factor(row.expansion)}`) : null,
  ];
}

function source(row) {
  const text = sourceLine(row.source_file, row.source_line);
  if (!text) return el('span', { class: 'dim' }, row.category === 'parameter' ? 'argument' : '–');
  const node = name(text);
  node.title = visible(row.source_line ? `${row.source_file}:${row.source_line}` : row.source_file);
  return node;
}

const step = (value, row, edge) => {
  if (row.is_indefinite) return el('span', { class: 'dim' }, edge);
  return value === null || value === undefined ? '–' : el('span', { class: 'figure' }, count(value));
};

/* Widest first: size, padding, name, shape, source, kind, opcode, born, dies. */
export function columnsOf(rows) {
  const unit = unitOf(rows.reduce((most, row) => Math.max(most, row.bytes), 0));
  return [
    {
      key: 'size',
      title: `Size, ${unitName(unit)}`,
      className: 'c-size',
      sort: 'descending',
      cell: (row) => inUnit(row.bytes, unit),
    },
    { key: 'padding', title: 'Padding', className: 'c-padding', cell: padding },
    { key: 'name', title: 'Name', className: 'c-name', cell: (row) => name(row.name) },
    { key: 'shape', title: 'Shape', className: 'c-shape', cell: (row) => name(splitShape(row.shape)[0]) },
    { key: 'source', title: 'Source', className: 'c-source', cell: source },
    {
      key: 'kind',
      title: 'Kind',
      className: 'c-kind',
      cell: (row) => [swatch(row.category), categoryWord(row.category)],
    },
    { key: 'opcode', title: 'Opcode', className: 'c-opcode', cell: (row) => name(row.opcode || '–') },
    { key: 'born', title: 'Born', className: 'c-born', cell: (row) => step(row.born_step, row, 'start') },
    { key: 'dies', title: 'Dies', className: 'c-dies', cell: (row) => step(row.dies_step, row, 'end') },
  ];
}

/* Pure: "100 of 293 buffers, 33.10 of 33.41 GiB". */
export function footText({ rows, matched_count: all, matched_bytes: whole }) {
  if (rows.length >= all) return `${counted(all, 'buffer')}, ${bytes(whole)}`;
  const shown = rows.reduce((sum, row) => sum + row.bytes, 0);
  return `${count(rows.length)} of ${counted(all, 'buffer')}, ${bytesIn(shown, unitOf(whole))} of ${bytes(whole)}`;
}

/* The rest as a row, then "100 of 293 buffers, 33.10 of 33.41 GiB". */
export function footOf(answer) {
  const { rows, matched_count: all, matched_bytes: whole } = answer;
  const unit = unitOf(rows.reduce((most, row) => Math.max(most, row.bytes), 0));
  const shown = rows.reduce((sum, row) => sum + row.bytes, 0);
  const rest = all - rows.length;
  const restRow =
    rest > 0
      ? [
          [
            { className: 'c-size', parts: [inUnit(whole - shown, unit)] },
            { className: 'c-rest', span: 8, parts: [`${counted(rest, 'smaller buffer')}, not listed`] },
          ],
        ]
      : [];
  return [...restRow, [{ className: 'c-foot', span: 9, parts: [footText(answer)] }]];
}
