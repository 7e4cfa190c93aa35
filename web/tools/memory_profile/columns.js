/* SPDX-License-Identifier: Apache-2.0
 * columns.js: columns of what is live, of the pairs of events and of growth. One unit a
 * column, said in the header; what would print 0.00 is printed in its own unit. */

import { bytesInColumn, count, duration, exactBytes, signedBytes, timeIn, timesUnit, unitName, unitOf } from '../../lib/format.js';
import { el, name } from '../../lib/dom.js';
import { sparkline } from '../../widgets/sparkline.js';
import { growthWords, verdictWord } from './text.js';

const isKnown = (value) => value !== null && value !== undefined;
const none = () => el('span', { class: 'dim' }, '–');

export function inUnit(value, unit) {
  if (!isKnown(value)) return none();
  const { text, isOwn } = bytesInColumn(value, unit);
  const node = el('span', { class: isOwn ? 'figure dim' : 'figure', title: exactBytes(value) }, text);
  /* Cards on a phone have no header that says the unit. */
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

function size(key, title, unit, of, more = {}) {
  return {
    key,
    title: `${title}, ${unitName(unit)}`,
    className: `c-${key}`,
    width: 6.75,
    isNumber: true,
    sortKey: key,
    card: key === 'size' ? 'figure' : undefined,
    cell: (row) => inUnit(of(row), unit),
    explain: 'size',
    copy: [`${key}_bytes`, of],
    ...more,
  };
}

function number(key, title, of, more = {}) {
  return {
    key,
    title,
    className: `c-${key}`,
    width: 4.5,
    isNumber: true,
    sortKey: key,
    cell: (row) => (isKnown(of(row)) ? el('span', { class: 'figure' }, count(of(row))) : none()),
    copy: [key, of],
    ...more,
  };
}

function text(key, title, of, more = {}) {
  return {
    key,
    title,
    className: `c-${key}`,
    sortKey: key,
    cell: (row) => (of(row) ? name(of(row)) : none()),
    copy: [key, (row) => of(row) ?? ''],
    ...more,
  };
}

/* code: [what it is, where its figure comes from, shortly]. */
const REMAINDERS = {
  stack: ['stack, reserved by the runtime', 'stack bytes'],
  before_window: ['before the window (inferred)', 'in use at the start'],
  before_window_freed: ['before the window, freed in it (inferred)', 'unmatched frees'],
  unaccounted: ['not explained by any event', 'the difference'],
};

/* Cards on a phone have no header that says what is counted. */
function countOf(row) {
  if (!isKnown(row.count)) return none();
  return [el('span', { class: 'figure' }, count(row.count)), el('span', { class: 'unit' }, row.count === 1 ? '\u00a0event' : '\u00a0events')];
}

/* "before the window (inferred)" in place of an op. */
function opOf(row) {
  if (!row.isRemainder) return row.op ? name(row.op) : el('span', { class: 'dim' }, 'not recorded');
  return el('span', { class: 'inferred' }, REMAINDERS[row.code]?.[0] ?? row.code);
}

function sourceOf(row) {
  if (row.isRemainder) return el('span', { class: 'dim', title: row.text }, REMAINDERS[row.code]?.[1] ?? row.text);
  return el('span', { class: 'dim' }, row.count === 1 ? '1 event' : `${count(row.count)} events`);
}

/* What no row says is off until the reader turns it on. */
function unlessSaid(columns, rows, keys) {
  const isSaid = (key) => rows.some((row) => isKnown(row[key]) && row[key] !== '');
  return columns.map((column) =>
    keys.includes(column.key) && !isSaid(column.key) ? { ...column, isHidden: true } : column,
  );
}

/* rows: those listed first; hasMarks: born and died between A and B. */
export function liveColumns(rows, largest, hasMarks) {
  const unit = unitOf(largest);
  const marks = hasMarks
    ? [
        size('born', 'Born', unit, (row) => row.born_bytes, { explain: 'between' }),
        size('died', 'Died', unit, (row) => row.died_bytes, { explain: 'between' }),
      ]
    : [];
  const columns = [
    size('size', 'Size', unit, (row) => row.size_bytes),
    size('requested', 'Requested', unit, (row) => row.requested_bytes, { width: 8.25, isHidden: hasMarks }),
    ...marks,
    number('count', 'Count', (row) => row.count, { card: 'line', cell: countOf }),
    text('op', 'Op', (row) => row.op, { cell: opOf, card: 'title' }),
    number('step', 'Step', (row) => row.step, { width: 3.5 }),
    text('region', 'Region', (row) => row.region, { width: 4.75 }),
    text('dtype', 'Dtype', (row) => row.dtype, { width: 5 }),
    text('shape', 'Shape', (row) => row.shape, { card: 'line', width: 8.5 }),
    text('thread', 'Thread', (row) => row.thread, { width: 10, isHidden: true }),
    {
      key: 'source',
      title: 'Figure from',
      className: 'c-figure-source',
      width: 8.75,
      isHidden: hasMarks,
      cell: sourceOf,
      copy: ['source', (row) => (row.isRemainder ? row.text : `${row.count} events`)],
    },
  ];
  return unlessSaid(columns, rows, ['step', 'region', 'dtype', 'shape']);
}

const inMs = (ps) => (isKnown(ps) ? ps / 1e9 : null);

const whenOf = (unit) => (row) =>
  row.kind === 'before_window'
    ? el('span', { class: 'inferred' }, 'before')
    : el('span', { class: 'figure' }, timeIn(row.time_ps, unit, 1e6));

function lifetimeOf(row) {
  if (row.kind === 'never_freed') return el('span', { class: 'dim' }, 'never freed');
  return isKnown(row.lifetime_ps)
    ? el('span', { class: 'figure' }, duration(row.lifetime_ps))
    : el('span', { class: 'dim' }, 'not known');
}

/* The figures of a column of times share the unit of the largest. */
export function eventColumns(rows, largest, endPs) {
  const unit = unitOf(largest);
  const columns = [
    {
      key: 'time',
      title: `Time, ${timesUnit(endPs).name}`,
      className: 'c-time',
      width: 7,
      isNumber: true,
      sortKey: 'time',
      cell: whenOf(timesUnit(endPs)),
      copy: ['time_ms', (row) => inMs(row.time_ps)],
    },
    size('size', 'Size', unit, (row) => row.size_bytes),
    size('requested', 'Requested', unit, (row) => row.requested_bytes, { width: 8.5, isHidden: true }),
    text('op', 'Op', (row) => row.op, { card: 'title' }),
    text('address', 'Address', (row) => row.address, { width: 9, sortKey: null }),
    {
      key: 'lifetime',
      card: 'line',
      title: 'Lifetime',
      className: 'c-lifetime',
      width: 7,
      isNumber: true,
      sortKey: 'lifetime',
      cell: lifetimeOf,
      explain: 'lasting',
      copy: ['lifetime_ms', (row) => inMs(row.lifetime_ps)],
    },
    text('freed_by', 'Freed by', (row) => row.freed_by ?? (row.freed_ps === null ? '' : row.freed_thread)),
    number('step', 'Step', (row) => row.step, { width: 3.5 }),
    number('freed_step', 'Freed in', (row) => row.freed_step, { width: 5.5, sortKey: null }),
    text('region', 'Region', (row) => row.region, { width: 6, isHidden: true }),
    text('dtype', 'Dtype', (row) => row.dtype, { width: 5.5 }),
    text('shape', 'Shape', (row) => row.shape, { card: 'line' }),
    text('thread', 'Thread', (row) => row.thread, { width: 10, isHidden: true }),
  ];
  return unlessSaid(columns, rows, ['op', 'step', 'freed_step', 'freed_by', 'dtype', 'shape', 'address']);
}

function slopeOf(row) {
  const className = row.slope_bytes_per_step > 0 ? 'grown' : row.slope_bytes_per_step < 0 ? 'shrunk' : 'dim';
  const mark = row.verdict === 'grows' ? ' ▲' : row.verdict === 'shrinks' ? ' ▼' : '';
  return el('span', { class: `figure ${mark ? className : ''}` }, signedBytes(Math.round(row.slope_bytes_per_step)), mark);
}

/* boundary: "step" or "launch". */
export function growthColumns(largest, boundary) {
  const unit = unitOf(largest);
  return [
    {
      key: 'slope',
      card: 'line',
      title: `Slope a ${boundary}`,
      className: 'c-slope',
      width: boundary === 'launch' ? 9.75 : 8.5,
      isNumber: true,
      sortKey: 'slope',
      cell: slopeOf,
      explain: 'slope',
      copy: [`slope_bytes_per_${boundary}`, (row) => row.slope_bytes_per_step],
    },
    {
      key: 'verdict',
      title: 'Verdict',
      className: 'c-growth-verdict',
      width: 5.5,
      sortKey: 'verdict',
      cell: (row) => el('span', { title: growthWords(row, boundary) }, verdictWord(row.verdict)),
      copy: ['verdict', (row) => verdictWord(row.verdict)],
    },
    {
      key: 'sparkline',
      title: `Each ${boundary}`,
      className: 'c-sparkline',
      width: 6.5,
      cell: (row) => sparkline(row.sparkline_bytes, `Live at each ${boundary}`),
    },
    size('first', 'First', unit, (row) => row.first_bytes, { sortKey: null, explain: 'slope' }),
    size('size', 'Last', unit, (row) => row.last_bytes, { explain: 'slope', copy: ['last_bytes', (row) => row.last_bytes] }),
    number('grown', `Grew in`, (row) => row.grown_count, {
      width: 6.5,
      sortKey: null,
      cell: (row) => el('span', { class: 'figure' }, `${count(row.grown_count)} of ${count(row.step_count)}`),
    }),
    text('op', 'Op', (row) => row.op, { cell: opOf, card: 'title' }),
    text('dtype', 'Dtype', (row) => row.dtype, { width: 5.5 }),
    text('shape', 'Shape', (row) => row.shape, { card: 'line' }),
  ];
}
