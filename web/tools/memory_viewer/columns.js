/* SPDX-License-Identifier: Apache-2.0
 * columns.js: columns and footer of the table of buffers. One unit a
 * column, said in the header; what would print 0.00 is printed in its own unit. */

import {
  bytes,
  bytesIn,
  bytesInColumn,
  count,
  counted,
  exactBytes,
  expansion,
  sourceLine,
  splitShape,
  unitName,
  unitOf,
} from '../../lib/format.js';
import { el, figure, name, titled } from '../../lib/dom.js';
import { categoryWord, swatch } from '../../widgets/categories.js';

const isKnown = (value) => value !== null && value !== undefined;

export function inUnit(value, unit) {
  const { text, isOwn } = bytesInColumn(value, unit);
  const node = el('span', { class: isOwn ? 'figure dim' : 'figure', title: exactBytes(value) }, text);
  /* Cards on a phone have no header that says the unit. */
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

function padding(row) {
  if (!isKnown(row.unpadded_bytes)) return el('span', { class: 'dim' }, 'not known');
  if (row.padding_bytes === 0) return '–';
  return [
    figure(row.padding_bytes),
    expansion(row.expansion) ? el('span', { class: 'dim figure' }, ` ${expansion(row.expansion)}`) : null,
  ];
}

const wholeSource = (row) => (row.source_line ? `${row.source_file}:${row.source_line}` : (row.source_file ?? ''));

function source(row) {
  const text = sourceLine(row.source_file, row.source_line);
  if (!text) return el('span', { class: 'dim' }, row.category === 'parameter' ? 'argument' : '–');
  return titled(name(text), wholeSource(row));
}

const step = (value, row, edge) => {
  if (row.is_indefinite) return el('span', { class: 'dim' }, edge);
  return isKnown(value) ? el('span', { class: 'figure' }, count(value)) : '–';
};

const text = (key, of) => ({ cell: (row) => (of(row) ? name(of(row)) : '–'), copy: [key, (row) => of(row) || ''] });

/* Columns of buffers. `largest` fixes the unit of the sizes. */
export function columnsOf(largest) {
  const unit = unitOf(largest);
  return [
    {
      key: 'size',
      explain: 'size',
      title: `Size, ${unitName(unit)}`,
      className: 'c-size',
      card: 'figure',
      width: 6.75,
      isNumber: true,
      sortKey: 'size',
      cell: (row) => inUnit(row.bytes, unit),
      copy: ['size_bytes', (row) => row.bytes],
    },
    {
      key: 'padding',
      explain: 'padding',
      title: 'Padding',
      className: 'c-padding',
      width: 8.25,
      isNumber: true,
      sortKey: 'padding',
      cell: padding,
      copy: ['padding_bytes', (row) => row.padding_bytes],
    },
    {
      key: 'name',
      title: 'Name',
      className: 'c-name',
      card: 'title',
      sortKey: 'name',
      isTree: true,
      ...text('name', (row) => row.name),
    },
    {
      key: 'shape',
      title: 'Shape',
      className: 'c-shape',
      card: 'line',
      sortKey: 'shape',
      cell: (row) => name(splitShape(row.shape)[0]),
      copy: ['shape', (row) => row.shape],
    },
    {
      key: 'source',
      explain: 'source',
      title: 'Source',
      className: 'c-source',
      isSource: true,
      card: 'line',
      sortKey: 'source',
      cell: source,
      copy: ['source', wholeSource],
    },
    {
      key: 'kind',
      explain: 'kind',
      title: 'Kind',
      className: 'c-kind',
      width: 6.5,
      sortKey: 'category',
      cell: (row) => [swatch(row.category), categoryWord(row.category)],
      copy: ['category', (row) => row.category],
    },
    {
      key: 'opcode',
      title: 'Opcode',
      className: 'c-opcode',
      width: 6.25,
      sortKey: 'opcode',
      ...text('opcode', (row) => row.opcode),
    },
    {
      key: 'born',
      explain: 'alive',
      title: 'Born',
      className: 'c-born',
      width: 4.25,
      isNumber: true,
      sortKey: 'born',
      cell: (row) => step(row.born_step, row, 'start'),
      copy: ['born_step', (row) => row.born_step],
    },
    {
      key: 'dies',
      explain: 'alive',
      title: 'Dies',
      className: 'c-dies',
      width: 4.25,
      isNumber: true,
      sortKey: 'dies',
      cell: (row) => step(row.dies_step, row, 'end'),
      copy: ['dies_step', (row) => row.dies_step],
    },
    {
      key: 'scope',
      title: 'Op scope',
      className: 'c-scope',
      sortKey: 'scope',
      isHidden: true,
      ...text('op_name', (row) => row.op_name),
    },
    {
      key: 'dtype',
      title: 'Dtype',
      className: 'c-dtype',
      width: 5,
      sortKey: 'dtype',
      isHidden: true,
      ...text('dtype', (row) => row.dtype),
    },
    {
      key: 'unpadded',
      explain: 'unpadded',
      title: 'Unpadded',
      className: 'c-unpadded',
      width: 6.5,
      isNumber: true,
      sortKey: 'unpadded',
      isHidden: true,
      cell: (row) => (isKnown(row.unpadded_bytes) ? figure(row.unpadded_bytes) : '–'),
      copy: ['unpadded_bytes', (row) => row.unpadded_bytes],
    },
    {
      key: 'allocation',
      explain: 'allocation',
      title: 'Allocation',
      className: 'c-allocation',
      width: 6,
      isNumber: true,
      isHidden: true,
      cell: (row) => el('span', { class: 'figure' }, count(Number(row.allocation.index))),
      copy: ['allocation_index', (row) => Number(row.allocation.index)],
    },
    {
      key: 'offset',
      explain: 'allocation',
      title: 'Offset',
      className: 'c-offset',
      width: 6.5,
      isNumber: true,
      isHidden: true,
      cell: (row) => figure(row.allocation.offset_bytes),
      copy: ['allocation_offset_bytes', (row) => row.allocation.offset_bytes],
    },
  ];
}

/* Pure: "391 buffers, 33.41 GiB", or of what a filter keeps "37 of 391 buffers, 30.10 of 33.41 GiB". */
export function footText({ matched_count: matched, matched_bytes: part, total_count: all, total_bytes: whole }) {
  if (matched === all) return `${counted(all, 'buffer')}, ${bytes(whole)}`;
  const unit = unitOf(whole);
  const { text: figureText, isOwn } = bytesInColumn(part, unit);
  const shown = part === 0 ? '0' : isOwn ? figureText : bytesIn(part, unit);
  return `${count(matched)} of ${counted(all, 'buffer')}, ${shown} of ${bytes(whole)}`;
}

/* What the filter or a rectangle leaves out, as a row; so that the sum is whole. */
export function footOf(answer, unit, { filter, within }) {
  const rest = answer.total_count - answer.matched_count;
  return {
    rest: rest > 0 && {
      values: { size: inUnit(answer.total_bytes - answer.matched_bytes, unit) },
      text: `${counted(rest, 'buffer')} ${within ? `outside of the rectangle${filter ? ' or the filter' : ''}` : 'that the filter leaves out'}`,
    },
    /* By keys: `i` in the table. */
    text: el('button', { type: 'button', class: 'explained', tabindex: '-1', 'data-explain': 'table' }, footText(answer)),
  };
}
