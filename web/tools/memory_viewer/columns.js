/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the table of buffers, one by one or in groups that open, draws the columns that the answer names; and
 * its footer. */

import {
  baseName,
  bytes,
  bytesIn,
  bytesInColumn,
  count,
  counted,
  expansion,
  percent,
  sourceLine,
  splitShape,
  unitOf,
} from '../../lib/format.js';
import { el, figure, name, titled } from '../../lib/dom.js';
import { categoryWord, categoryWords, swatch } from '../../widgets/categories.js';
import { inUnit, roomFor, tableColumns, TWIST_REM } from '../../widgets/table_columns.js';
import { wordsOf } from './groups.js';
import { kindWord } from './text.js';

const dim = (text) => el('span', { class: 'dim' }, text);
/* Of what is live at the moment; buffers of all steps are no parts of one whole. */
const shareColumn = (data) => ({
  key: 'share',
  title: 'Share',
  width: 4.5,
  isNumber: true,
  className: 'c-share',
  explain: 'size',
  cell: (row) => el('span', { class: 'figure' }, percent(row.bytes, data.total_bytes)),
  copy: ['share_percent', (row) => (data.total_bytes > 0 ? (100 * row.bytes) / data.total_bytes : null)],
});

/* A guess is never without its word. */
const whose = ({ category, confidence }) => [
  swatch(category),
  categoryWord(category),
  confidence === 'guess' && category !== 'unknown' ? dim(' guess') : null,
];

function padding(row) {
  if (row.unpadded_bytes == null) return dim('not known');
  if (row.padding_bytes === 0) return '–';
  return [
    figure(row.padding_bytes),
    expansion(row.expansion) ? el('span', { class: 'dim figure' }, ` ${expansion(row.expansion)}`) : null,
  ];
}

const wholeSource = (row) => (row.source_line ? `${row.source_file}:${row.source_line}` : (row.source_file ?? ''));

function source(row) {
  const text = sourceLine(row.source_file, row.source_line);
  return text ? titled(name(text), wholeSource(row)) : dim(row.kind === 'parameter' ? 'argument' : '–');
}

/* "attention scores, saved activations" */
const patterns = (row) => (row.patterns ? row.patterns.replaceAll('_', ' ') : '');

function step(value, row, edge) {
  if (row.is_indefinite) return dim(edge);
  return value == null ? '–' : el('span', { class: 'figure' }, count(value));
}

/* Most of what lives saves nothing where the curve has two peaks. */
const saves = (unit) => (row) => (row.saves_bytes ? inUnit(row.saves_bytes, unit) : dim('0'));

/* What a buffer's columns look like here; the unit is that of all sizes. */
const ownOf = (unit) => ({
  saves: { in: unit, explain: 'saves', explainGroup: 'group_saves', width: 7.75, cell: saves(unit) },
  size: { in: unit, explain: 'size', card: 'figure', width: 6.75 },
  pad: { explain: 'padding', width: 8.25, cell: padding },
  name: { card: 'title', isTree: true },
  cat: { explain: 'category', width: 10, cell: whose },
  shape: { card: 'line', cell: (row) => name(splitShape(row.shape)[0]) },
  line: { explain: 'source', isSource: true, card: 'line', value: wholeSource, cell: source },
  confidence: { explain: 'category', width: 5.5, isHidden: true },
  rule: { explain: 'category', width: 9, isHidden: true },
  kind: { explain: 'kind', width: 6.5, isHidden: true, cell: (row) => kindWord(row.kind) },
  pattern: { width: 9.5, isHidden: true, cell: patterns },
  op: { width: 6.25 },
  born: { explain: 'alive', width: 4.25, cell: (row) => step(row.born_step, row, 'start') },
  dies: { explain: 'alive', width: 4.25, cell: (row) => step(row.dies_step, row, 'end') },
  scope: { isHidden: true },
  next_peak: { explain: 'saves', explainGroup: 'group_saves', width: 5.5, isHidden: true },
  dtype: { width: 5, isHidden: true },
  unpadded: { explain: 'unpadded', width: 6.5, isHidden: true },
  alloc: { explain: 'allocation', width: 6, isHidden: true, value: (row) => Number(row.allocation.index) },
  offset: { explain: 'allocation', width: 6.5, isHidden: true, value: (row) => row.allocation.offset_bytes },
});

/* ---- groups ---- */

/* "layer_{i}/mlp/dot_general"; on hover with what was taken away, and of how many layers it is. */
function labelCell(row) {
  const layers = row.layer_count ? `, ${counted(row.layer_count, 'layer')}` : '';
  return titled(
    row.scope ? name(row.label) : dim(row.label || wordsOf('whose').none),
    `${row.scope || wordsOf('whose').none}${layers}`,
  );
}

function keyCell(row, by) {
  if (by === 'whose') return labelCell(row);
  if (row.key === '') return dim(wordsOf(by).none);
  if (by === 'category') return [swatch(row.key), categoryWords(row.key)];
  if (by === 'kind') return kindWord(row.key);
  if (by !== 'line') return name(by === 'shape' ? splitShape(row.key)[0] : row.key);
  return titled(name(baseName(row.key)), row.key);
}

/* "13 × 2.00 GiB", or "28 × ≤ 2.00 GiB" where they differ. */
function amount(row) {
  if (!row.isGroup) return '';
  const isAlike = row.count * row.largest_bytes === row.bytes;
  return [
    el('span', { class: 'figure' }, `${count(row.count)} ×\u00a0${isAlike ? '' : '≤\u00a0'}`),
    figure(row.largest_bytes),
  ];
}

/* Left out of groups until the reader turns them on. */
const OF_ONE = new Set(['op', 'born', 'dies']);
/* The column that is the group itself. */
const SAME = { shape: 'shape', line: 'line', category: 'cat', kind: 'kind' };

const total = (rows, field) => rows.reduce((sum, row) => sum + row[field], 0);

/* All columns fit beside the open pane at 1440 px; a label is longer than a shape or a line. */
const WIDTHS = { shape: { width: 7.5, card: null }, line: { width: 7, card: null }, cat: { card: 'line' } };
/* Padding of less than this part of what is shown has no column of its own. */
const LITTLE = 0.01;

/* The columns of buffers, with what a group says in their place. */
function groupColumns(buffers, { columns: said, groups }, unit, by) {
  const { word } = wordsOf(by);
  const [amounts, ...others] = tableColumns(said, {
    count: {
      width: 9,
      card: 'line',
      explainGroup: 'group_row',
      cell: amount,
      copy: ['count', (row) => (row.isGroup ? row.count : 1)],
    },
    size: { in: unit },
    saves: { in: unit, cell: saves(unit) },
    pad: { cell: (row) => (row.padding_bytes ? figure(row.padding_bytes) : '–') },
  });
  const ofAll = [
    {
      key: 'share',
      title: 'Share',
      sortKey: null,
      cell: (row) => el('span', { class: 'figure' }, percent(row.share_percent, 100)),
      copy: ['share_percent', (row) => row.share_percent],
    },
    {
      key: 'cat',
      sortKey: null,
      cell: (row) => (row.category ? whose(row) : dim('several')),
      copy: ['category', (row) => row.category],
    },
    { key: 'pattern', sortKey: null, cell: patterns, copy: ['patterns', (row) => row.patterns] },
  ];
  if (by === 'whose') {
    ofAll.push(
      {
        key: 'shape',
        sortKey: null,
        cell: (row) => (row.shape ? name(row.shape) : dim('–')),
        copy: ['shape', (row) => row.shape],
      },
      {
        key: 'line',
        sortKey: null,
        cell: (row) =>
          row.source
            ? titled(name(baseName(row.source)), row.source)
            : dim(row.kind === 'parameter' ? 'argument' : '–'),
        copy: ['source', (row) => row.source],
      },
    );
  }
  const wide = {
    name: roomFor(groups.map(({ label }) => label)) + TWIST_REM,
    shape: roomFor(groups.map(({ shape }) => shape)),
    line: roomFor(groups.map(({ source }) => baseName(source))),
  };
  const isTight = total(groups, 'padding_bytes') < LITTLE * total(groups, 'bytes');
  const key = {
    key: 'name',
    title: `${word[0].toUpperCase()}${word.slice(1)}`,
    sortKey: 'name',
    cell: (row) => keyCell(row, by),
    copy: ['key', (row) => row.key],
  };
  const columns = buffers.map((column) => {
    const own = [key, ...ofAll, ...others].find((each) => each.key === column.key);
    return {
      ...column,
      title: own?.title ?? column.title,
      sortKey: own?.sortKey ?? null,
      explainGroup: column.explainGroup ?? 'group_row',
      isHidden:
        column.isHidden || OF_ONE.has(column.key) || SAME[by] === column.key || (column.key === 'pad' && isTight),
      min: column.key === 'name' ? 11 : column.min,
      ...(by === 'whose' ? { ...WIDTHS[column.key], wide: wide[column.key] } : null),
      cell: (row) => (row.isGroup ? (own?.cell(row) ?? '') : column.cell(row)),
      copy: [column.copy[0], (row) => (row.isGroup ? (own?.copy[1](row) ?? null) : column.copy[1](row))],
    };
  });
  return columns.flatMap((column) => (column.key === 'size' ? [column, amounts] : [column]));
}

/* Savings are of the peak, also where the rows are of another moment. */
const ofPeak = (column) =>
  column.key === 'saves' ? { ...column, title: column.title.replace('Saves', 'Saves at peak'), width: 11.5 } : column;

/* Columns of an answer `buffers`, or of an answer `groups` by that way; isPeak: at the peak, or of no moment. */
export function columnsOf(data, by = '', isPeak = true) {
  const unit = unitOf(data.largest_bytes || data.total_bytes);
  const columns = tableColumns(by ? data.member_columns : data.columns, ownOf(unit));
  const buffers =
    data.step == null
      ? columns
      : columns.flatMap((column) => (column.key === 'size' ? [column, shareColumn(data)] : [column]));
  const all = by ? groupColumns(buffers, data, unit, by) : buffers;
  return isPeak ? all : all.map(ofPeak);
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
export function footOf(answer, { filter, within }) {
  const unit = unitOf(answer.largest_bytes || answer.total_bytes);
  const rest = answer.total_count - answer.matched_count;
  return {
    rest: rest > 0 && {
      /* Savings are no parts of a sum. */
      values: { saves: '', size: inUnit(answer.total_bytes - answer.matched_bytes, unit) },
      text: `${counted(rest, 'buffer')} ${
        within ? `outside of the ` + `rectangle${filter ? ' or the filter' : ''}` : 'that the filter leaves out'
      }`,
    },
    /* By keys: `i` in the table. */
    text: el(
      'button',
      { type: 'button', class: 'explained', tabindex: '-1', 'data-explain': 'table' },
      footText(answer),
    ),
  };
}
