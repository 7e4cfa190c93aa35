/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the columns of what is live, of the pairs of events and of growth are drawn. One unit a
 * column, said in the header; what would print 0.00 is printed in its own unit. */

import { count, duration, signedBytes, splitShape, timeIn, timesUnit, unitOf, visible } from '../../lib/format.js';
import { el, name } from '../../lib/dom.js';
import { categoryWord, categoryWords, swatch } from '../../widgets/categories.js';
import { sparkline } from '../../widgets/sparkline.js';
import { tableColumns } from '../../widgets/table_columns.js';
import { guessTag } from './bands.js';
import { segmentStrip } from './segments_strip.js';
import { verdictWord } from './text.js';

const isKnown = (value) => value != null;
const none = () => el('span', { class: 'dim' }, '–');

/* The unit of the largest of some figures of rows. */
export const unitFor = (rows, fields) =>
  unitOf(rows.reduce((max, row) => Math.max(max, ...fields.map((field) => Math.abs(row[field] ?? 0))), 0));

/* code: [what it is, where its figure comes from, shortly]. */
const REMAINDERS = {
  stack: ['stack, reserved by the runtime', 'stack bytes'],
  before_window: ['before the trace (inferred)', 'in use at the start'],
  before_window_freed: ['before the trace, freed in it (inferred)', 'unmatched frees'],
  unaccounted: ['not explained by any event', 'the difference'],
};

/* Cards on a phone have no header that says what is counted. */
function countOf(row) {
  if (!isKnown(row.count)) return none();
  return [
    el('span', { class: 'figure' }, count(row.count)),
    el('span', { class: 'unit' }, row.count === 1 ? '\u00a0event' : '\u00a0events'),
  ];
}

/* Blocks that no event tells of. */
const isBlock = (row) => ['before_recording', 'at_end'].includes(row.origin);

/* "before the trace (inferred)" in place of an op. */
function opOf(row) {
  const isBefore = row.origin === 'before_recording';
  const own = row.op ? name(row.op) : el('span', { class: 'dim' }, isBlock(row) ? 'no stack recorded' : 'not recorded');
  if (!row.isRemainder) return isBefore ? [own, ' ', el('span', { class: 'inferred' }, 'before the recording')] : own;
  return el('span', { class: 'inferred' }, REMAINDERS[row.code]?.[0] ?? row.code);
}

/* What a program of the trace makes of what nobody named; never without saying that it is a guess. */
function roleOf(row) {
  if (!isKnown(row.role)) return none();
  if (row.confidence !== 'guess') return el('span', { class: 'dim' }, row.role);
  return [name(row.role), ' ', guessTag()];
}

/* Of PyTorch's blocks, whose memory they are. */
function categoryOf(row) {
  if (row.isRemainder && row.categories)
    return row.categories
      .toSorted((a, b) => b.size_bytes - a.size_bytes)
      .slice(0, 2)
      .map(({ category }, at) => [at ? ', ' : '', swatch(category), categoryWords(category)]);
  if (!isKnown(row.category)) return none();
  const word = row.count === undefined || row.count === 1 ? categoryWord(row.category) : categoryWords(row.category);
  return [swatch(row.category), word, row.confidence === 'guess' ? [' ', guessTag()] : null];
}
const GUESSED = {
  cat: { width: 11, card: 'line', cell: categoryOf },
  program: { width: 11 },
  role: { width: 12, card: 'line', cell: roleOf },
  confidence: { isHidden: true },
};
const GUESSED_KEYS = ['program', 'role', 'cat'];
/* Fields of the answer that are called otherwise than their column. */
const FIELDS = { cat: 'category' };

function sourceOf(row) {
  if (row.isRemainder) return el('span', { class: 'dim', title: row.text }, REMAINDERS[row.code]?.[1] ?? row.text);
  const word = isBlock(row) ? 'block' : 'event';
  return el('span', { class: 'dim' }, row.count === 1 ? `1 ${word}` : `${count(row.count)} ${word}s`);
}

/* What no row says is off until the reader turns it on. */
function unlessSaid(columns, rows, keys) {
  const isSaid = (key) => rows.some((row) => isKnown(row[FIELDS[key] ?? key]) && row[FIELDS[key] ?? key] !== '');
  return columns.map((column) =>
    keys.includes(column.key) && !isSaid(column.key) ? { ...column, isHidden: true } : column,
  );
}

/* data: the answer; rows: those listed first. Between A and B it also says what was born and died. */
export function liveColumns(data, rows) {
  const hasMarks = Boolean(data.between);
  const size = { in: unitFor(rows, ['size_bytes']), width: 6.75, explain: 'size' };
  const mark = hasMarks && { ...size, explain: 'between' };
  const columns = tableColumns(data.columns, {
    size: { ...size, card: 'figure' },
    requested: { ...size, width: 8.75, isHidden: hasMarks },
    born: mark,
    died: mark,
    count: { width: 4.5, card: 'line', cell: countOf },
    op: { card: 'title', cell: opOf },
    ...GUESSED,
    program: {
      width: Math.max(
        11,
        Math.min(18, rows.reduce((most, { program }) => Math.max(most, program?.length ?? 0), 0) * 0.5 + 1),
      ),
    },
    step: { width: 3.75 },
    region: { width: rows.some(({ region }) => region?.length > 8) ? 9 : 4.75 },
    dtype: { width: 5 },
    shape: { card: 'line', width: 10, cell: ({ shape }) => (shape ? name(splitShape(shape)[0]) : none()) },
    thread: { width: 10, isHidden: true },
    origin: { width: 9, isHidden: true },
  });
  const source = {
    key: 'source',
    title: 'Figure from',
    className: 'c-figure-source',
    width: 8.75,
    isHidden: hasMarks,
    cell: sourceOf,
    copy: ['source', (row) => (row.isRemainder ? row.text : `${row.count} events`)],
  };
  return unlessSaid([...columns, source], rows, [...GUESSED_KEYS, 'step', 'region', 'dtype', 'shape']);
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

/* Of a trace that ends at `endPs`: the figures of a column of times share the unit of the largest. */
export function eventColumns(data, rows, endPs) {
  const size = { in: unitFor(rows, ['size_bytes']), explain: 'size' };
  const columns = tableColumns(data.columns, {
    time: {
      title: `Time, ${timesUnit(endPs).name}`,
      width: 7,
      cell: whenOf(timesUnit(endPs)),
      copy: ['time_ms', (row) => inMs(row.time_ps)],
    },
    size: { ...size, width: 6.75, card: 'figure' },
    requested: { ...size, width: 8.75, isHidden: true },
    op: { card: 'title' },
    ...GUESSED,
    address: { width: 9, sortKey: null },
    lifetime: {
      card: 'line',
      width: 7,
      cell: lifetimeOf,
      explain: 'lasting',
      copy: ['lifetime_ms', (row) => inMs(row.lifetime_ps)],
    },
    freed_by: { value: (row) => row.freed_by ?? (row.freed_ps == null ? '' : row.freed_thread) },
    step: { width: 3.75 },
    freed_step: { width: 5.5, sortKey: null },
    region: { width: 6, isHidden: true },
    dtype: { width: 5.5 },
    shape: { card: 'line' },
    thread: { width: 10, isHidden: true },
  });
  return unlessSaid(columns, rows, [
    ...GUESSED_KEYS,
    'op',
    'step',
    'freed_step',
    'freed_by',
    'dtype',
    'shape',
    'address',
  ]);
}

function slopeOf(row) {
  const className = row.slope_bytes_per_step > 0 ? 'grown' : row.slope_bytes_per_step < 0 ? 'shrunk' : 'dim';
  const mark = row.verdict === 'grows' ? ' ▲' : row.verdict === 'shrinks' ? ' ▼' : '';
  return el(
    'span',
    { class: `figure ${mark ? className : ''}` },
    signedBytes(Math.round(row.slope_bytes_per_step)),
    mark,
  );
}

/* Told from step to step, or from launch to launch. */
export function growthColumns(data, rows) {
  const { boundary } = data;
  const size = { in: unitFor(rows, ['first_bytes', 'last_bytes']), width: 6.75, explain: 'slope' };
  const course = {
    key: 'sparkline',
    title: `Each ${boundary}`,
    className: 'c-sparkline',
    width: 6.5,
    cell: (row) => sparkline(row.sparkline_bytes, `Live at each ${boundary}`),
  };
  const [slope, verdict, ...others] = tableColumns(data.columns, {
    slope: {
      title: `Slope a ${boundary}`,
      card: 'line',
      width: boundary === 'launch' ? 9.75 : 8.5,
      cell: slopeOf,
      explain: 'slope',
      copy: [`slope_bytes_per_${boundary}`, (row) => row.slope_bytes_per_step],
    },
    verdict: {
      className: 'c-growth-verdict',
      width: 5.5,
      cell: (row) => el('span', { title: visible(row.sentence) }, verdictWord(row.verdict)),
      copy: ['verdict', (row) => verdictWord(row.verdict)],
    },
    first: { ...size, sortKey: null },
    size: { ...size, card: 'figure' },
    grown: {
      width: 6.5,
      sortKey: null,
      cell: (row) => el('span', { class: 'figure' }, `${count(row.grown_count)} of ${count(row.step_count)}`),
    },
    op: { card: 'title', cell: opOf },
    ...GUESSED,
    dtype: { width: 5.5 },
    shape: { card: 'line' },
  });
  return unlessSaid([slope, verdict, course, ...others], rows, GUESSED_KEYS);
}

/* Of all rows one unit and one scale: that of the largest segment. */
export function segmentColumns(data, rows) {
  const size = { in: unitFor(rows, ['size_bytes']), width: 6.75 };
  const largest = rows.reduce((max, row) => Math.max(max, row.size_bytes), 0);
  const strip = {
    key: 'strip',
    title: 'Blocks, to scale',
    className: 'c-strip',
    cell: (row) => segmentStrip(row, largest),
    copy: ['pieces', (row) => row.pieces.length],
  };
  const columns = tableColumns(data.columns, {
    size: { ...size, card: 'figure' },
    used: size,
    free: size,
    hole: { ...size, width: 9.5 },
    pending: { ...size, width: 8 },
    for: { width: 4 },
    stream: { width: 4.5, cell: ({ stream }) => el('span', { class: 'figure' }, String(stream)) },
    pool: { width: 5 },
    expandable: { width: 6.5 },
    blocks: { width: 4.75 },
    holes: { width: 4.25, isHidden: true },
    requested: { ...size, width: 8.75, isHidden: true },
    address: { width: 10, isHidden: true },
    op: { width: 12, card: 'title' },
  });
  const isTold = {
    pending: rows.some((row) => row.pending_bytes > 0),
    pool: rows.some((row) => row.pool !== 'default'),
    expandable: rows.some((row) => row.expandable === 'yes'),
  };
  const shown = columns.map((column) => (isTold[column.key] === false ? { ...column, isHidden: true } : column));
  const behind = shown.findIndex(({ key }) => key === 'hole') + 1;
  return unlessSaid([...shown.slice(0, behind), strip, ...shown.slice(behind)], rows, ['op']);
}
