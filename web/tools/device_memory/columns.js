/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the columns of the tables of the Device Memory page are drawn. One unit a
 * column, said in the header. */

import { el, figure, name } from '../../lib/dom.js';
import {
  bytes,
  count,
  counted,
  exactBytes,
  percent,
  signedBytes,
  sourceLine,
  TIMES,
  unitName,
  unitOf,
  visible,
} from '../../lib/format.js';
import { inUnit as bytesInUnit, tableColumns } from '../../widgets/table_columns.js';
import { frameName } from './parts.js';
import { isBytes, relativeWords, siteName } from './text.js';

const NONE = '–';

/* In the unit of its column; `isSigned` for a change. */
export function inUnit(metric, value, unit, isSigned = false) {
  if (value == null) return NONE;
  const sign = isSigned && value > 0 ? '+' : '';
  return isBytes(metric) ? bytesInUnit(value, unit, sign) : el('span', { class: 'figure' }, sign + count(value));
}

export function unitWords(metric, unit) {
  return isBytes(metric) ? unitName(unit) : metric.unit || 'count';
}

const keyOf = (metric, word) => (isBytes(metric) ? `${word}_bytes` : `${word}_count`);

/* file:line, whole on hover. */
export function placeCell(frame) {
  const { file, line } = frame;
  const text = sourceLine(file, line);
  if (!text) return NONE;
  const node = frameName(frame, text);
  node.title = visible(line ? `${file}:${line}` : file);
  return node;
}

export function functionCell(frame, callee = null) {
  const text = frame.function || (frame.file ? '' : frame.name);
  if (!text) return NONE;
  return [frameName(frame, text), callee ? el('span', { class: 'dim' }, [' › ', name(callee)]) : null];
}

const FILE = {
  card: 'line',
  cell: (row) => placeCell(row.frame),
  copy: ['source', (row) => (row.frame.line ? `${row.frame.file}:${row.frame.line}` : row.frame.file)],
};

const SITE = {
  card: 'title',
  cell: (row) => functionCell(row.frame, row.callee),
  copy: ['call_site', (row) => siteName(row.frame, row.callee)],
};

/* ▲ +1.80 MiB in the colour of growth, ▼ in that of shrinkage. */
export function changeCell(metric, value, unit) {
  if (value == null) return NONE;
  if (value === 0) return el('span', { class: 'dim' }, '0');
  const className = value > 0 ? 'is-grown' : 'is-shrunk';
  return el('span', { class: className }, value > 0 ? '▲ ' : '▼ ', inUnit(metric, value, unit, true));
}

/* "8 × 988.16 MiB"; a range where sizes differ. */
export function eachText(min, max) {
  if (min == null) return NONE;
  return min === max ? bytes(min) : `${bytes(min)} … ${bytes(max)}`;
}

function eachCell(min, max) {
  if (min == null) return el('span', { class: 'dim' }, 'unknown');
  const title = min === max ? exactBytes(min) : `${exactBytes(min)} … ${exactBytes(max)}`;
  return el('span', { class: 'figure', title }, eachText(min, max));
}

const programsCell = (row) => el('span', { class: 'dim' }, counted(row.executable_count, 'executable'));

/* Two rows with equal figures print alike only if they are equal: the largest decides the unit. */
export const unitFor = (metric, values) =>
  isBytes(metric) ? unitOf(values.reduce((max, value) => Math.max(max, Math.abs(value ?? 0)), 0)) : 0;

/* Figures of what is measured, in the unit of the column. */
const amountOf = ({ metric, is_diff: isDiff }, key, unit, more = {}) => ({
  width: 7,
  cell: (row) => (isDiff ? changeCell(metric, row[key], unit) : inUnit(metric, row[key], unit)),
  copy: [keyOf(metric, key), (row) => row[key]],
  ...more,
});

/* The unit stands behind the titles of these; a column of the page alone stands before that named `at`. */
function finished(columns, { metric }, unit, keys, { at = '', own = null } = {}) {
  const titled = columns.map((column) =>
    keys.includes(column.key) ? { ...column, title: `${column.title}, ${unitWords(metric, unit)}` } : column,
  );
  return own ? titled.flatMap((column) => (column.key === at ? [own, column] : [column])) : titled;
}

/* Columns of Top. */
export function topColumns(data) {
  const { metric, percent_base: base, is_diff: isDiff, rows, columns } = data;
  const unit = unitFor(
    metric,
    rows.map(({ total }) => total),
  );
  const shareOf = (key, title) => ({
    title: `${title}, % of ${isDiff ? 'A' : 'all'}`,
    width: 7,
    sortKey: null,
    cell: (row) => el('span', { class: 'figure' }, percent(Math.abs(row[key]), base)),
  });
  const own = tableColumns(columns, {
    self: amountOf(data, 'self', unit),
    self_percent: shareOf('self', 'Self'),
    total: amountOf(data, 'total', unit, { card: 'figure' }),
    total_percent: shareOf('total', 'Total'),
    count: !isDiff && { width: 5 },
    each: !isDiff && {
      width: 11,
      cell: (row) =>
        row.count === 0 && row.executable_count > 0 ? programsCell(row) : eachCell(row.each_min, row.each_max),
      copy: ['each_max_bytes', (row) => row.each_max],
    },
    fn: {
      card: 'title',
      cell: (row) => functionCell(row.frame),
      copy: ['function', (row) => row.frame.function || row.frame.name],
    },
    file: FILE,
  });
  const relative = isDiff && {
    key: 'change',
    title: 'Relative',
    width: 6,
    isNumber: true,
    cell: (row) => relativeWords({ before: row.before_total, after: row.after_total }),
    copy: ['change', (row) => row.change],
  };
  return finished(own, data, unit, ['self', 'total'], { at: 'fn', own: relative });
}

/* Columns of Buffers. The two sides of a difference may hold other sizes. */
export function bufferColumns(data) {
  const { metric, rows, is_diff: isDiff, columns } = data;
  const unit = unitFor(
    metric,
    rows.map((row) => row.total),
  );
  const own = tableColumns(columns, {
    each: !isDiff && { width: 7, card: 'figure', cell: (row) => eachCell(row.each, row.each) },
    count: {
      width: 5,
      cell: (row) =>
        isDiff
          ? `${count(row.before_count)} → ${count(row.before_count + row.count)}`
          : el('span', { class: 'figure' }, `${count(row.count)} ${TIMES}`),
    },
    total: amountOf(data, 'total', unit, { width: 8, ...(isDiff ? { title: 'Change', card: 'figure' } : {}) }),
    device: { width: 9 },
    kind: { width: 6 },
    copies: !isDiff && { width: 5, cell: (row) => (row.copies > 1 ? `${count(row.copies)} copies` : NONE) },
    fn: SITE,
    file: FILE,
  });
  const relative = isDiff && {
    key: 'relative',
    title: 'Relative',
    width: 6,
    isNumber: true,
    cell: (row) => relativeWords({ before: row.before_total, after: row.before_total + row.total }),
    copy: ['before_bytes', (row) => row.before_total],
  };
  return finished(own, data, unit, ['total'], { at: 'fn', own: relative });
}

/* Columns of the series; spark(row) draws its values. */
export function seriesColumns(data, spark, verdictWord) {
  const { metric, sites, columns } = data;
  const unit = unitFor(
    metric,
    sites.map(({ last, first }) => Math.max(Math.abs(last), Math.abs(first))),
  );
  const own = tableColumns(columns, {
    verdict: {
      width: 5,
      card: 'figure',
      sortKey: null,
      cell: (row) => verdictWord(row.verdict),
      copy: ['verdict', (row) => verdictWord(row.verdict)],
    },
    name: SITE,
    file: { ...FILE, sortKey: null, width: 8 },
    first: amountOf(data, 'first', unit, { width: 6 }),
    last: amountOf(data, 'last', unit, { width: 6 }),
    change: amountOf({ metric, is_diff: true }, 'change', unit, { width: 7.5 }),
    slope: {
      width: 8,
      cell: (row) => slopeCell(metric, row.slope),
      copy: [`${keyOf(metric, 'slope')}_per_profile`, (row) => row.slope],
    },
    share: { width: 6.5 },
    values: { width: 6.5, cell: spark, copy: ['values', (row) => row.values.join(' ')] },
  });
  return finished(own, data, unit, ['first', 'last', 'change']);
}

function slopeCell(metric, slope) {
  if (slope == null) return NONE;
  const whole = Math.round(slope);
  if (whole === 0) return el('span', { class: 'dim' }, '0');
  return isBytes(metric) ? figure(whole, signedBytes(whole)) : `${slope > 0 ? '+' : ''}${slope.toFixed(1)}`;
}
