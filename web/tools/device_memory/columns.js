/* SPDX-License-Identifier: Apache-2.0
 * columns.js: columns and footers of the tables of the Device Memory page. One unit a
 * column, said in the header. */

import { el, figure, name } from '../../lib/dom.js';
import {
  bytes,
  bytesInColumn,
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
import { isBytes, relativeWords, siteName } from './text.js';

const NONE = '–';

/* In the unit of its column; `isSigned` for a change. */
export function inUnit(metric, value, unit, isSigned = false) {
  if (value === null || value === undefined) return NONE;
  if (!isBytes(metric)) return el('span', { class: 'figure' }, `${isSigned && value > 0 ? '+' : ''}${count(value)}`);
  const { text, isOwn } = bytesInColumn(value, unit);
  const sign = isSigned && value > 0 ? '+' : '';
  const node = el('span', { class: isOwn ? 'figure dim' : 'figure', title: exactBytes(value) }, sign + text);
  return isOwn ? node : [node, el('span', { class: 'unit' }, `\u00a0${unitName(unit)}`)];
}

export function unitWords(metric, unit) {
  return isBytes(metric) ? unitName(unit) : 'count';
}

const keyOf = (metric, word) => (isBytes(metric) ? `${word}_bytes` : `${word}_count`);

const share = (part, whole) => el('span', { class: 'figure' }, percent(Math.abs(part), whole));

/* file:line, whole on hover. */
export function placeCell({ file, line }) {
  const text = sourceLine(file, line);
  if (!text) return NONE;
  const node = name(text);
  node.title = visible(line ? `${file}:${line}` : file);
  return node;
}

export function functionCell(frame, callee = null) {
  const text = frame.function || (frame.file ? '' : frame.name);
  if (!text) return NONE;
  return [name(text), callee ? el('span', { class: 'dim' }, [' › ', name(callee)]) : null];
}

const fileColumn = {
  key: 'file',
  title: 'File:line',
  sortKey: 'file',
  card: 'line',
  cell: (row) => placeCell(row.frame),
  copy: ['source', (row) => (row.frame.line ? `${row.frame.file}:${row.frame.line}` : row.frame.file)],
};

const siteColumn = (key, sortKey = key) => ({
  key,
  title: 'Call site',
  sortKey,
  card: 'title',
  cell: (row) => functionCell(row.frame, row.callee),
  copy: ['call_site', (row) => siteName(row.frame, row.callee)],
});

/* ▲ +1.80 MiB in the colour of growth, ▼ in that of shrinkage. */
export function changeCell(metric, value, unit) {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return el('span', { class: 'dim' }, '0');
  const className = value > 0 ? 'is-grown' : 'is-shrunk';
  return el('span', { class: className }, value > 0 ? '▲ ' : '▼ ', inUnit(metric, value, unit, true));
}

/* "8 × 988.16 MiB"; a range where sizes differ. */
export function eachText(least, most) {
  if (least === null || least === undefined) return NONE;
  return least === most ? bytes(least) : `${bytes(least)} … ${bytes(most)}`;
}

function eachCell(least, most) {
  if (least === null || least === undefined) return el('span', { class: 'dim' }, 'unknown');
  const title = least === most ? exactBytes(least) : `${exactBytes(least)} … ${exactBytes(most)}`;
  return el('span', { class: 'figure', title }, eachText(least, most));
}

const programsCell = (row) => el('span', { class: 'dim' }, counted(row.executable_count, 'executable'));

/* Two rows with equal figures print alike only if they are equal: the largest decides the unit. */
export const unitFor = (metric, values) =>
  isBytes(metric) ? unitOf(values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0)) : 0;

/* Columns of Top. */
export function topColumns({ metric, percent_base: base, is_diff: isDiff, rows }) {
  const unit = unitFor(
    metric,
    rows.map(({ total }) => total),
  );
  const figureColumn = (key, title) => ({
    key,
    title: `${title}, ${unitWords(metric, unit)}`,
    width: 7,
    isNumber: true,
    sortKey: key,
    card: key === 'total' ? 'figure' : null,
    cell: (row) => (isDiff ? changeCell(metric, row[key], unit) : inUnit(metric, row[key], unit)),
    copy: [keyOf(metric, key), (row) => row[key]],
  });
  const shareColumn = (key, title) => ({
    key: `${key}_share`,
    title: `${title}, % of ${isDiff ? 'A' : 'all'}`,
    width: 7,
    isNumber: true,
    cell: (row) => share(row[key], base),
    copy: [`${key}_percent`, (row) => row[`${key}_percent`]],
  });
  const wordColumn = {
    key: 'change',
    title: 'Relative',
    width: 6,
    isNumber: true,
    cell: (row) => relativeWords({ before: row.before_total, after: row.after_total }),
    copy: ['change', (row) => row.change],
  };
  return [
    figureColumn('self', 'Self'),
    shareColumn('self', 'Self'),
    figureColumn('total', 'Total'),
    shareColumn('total', 'Total'),
    isDiff
      ? wordColumn
      : {
          key: 'count',
          title: 'Buffers',
          width: 5,
          isNumber: true,
          sortKey: 'count',
          cell: (row) => el('span', { class: 'figure' }, count(row.count)),
          copy: ['count', (row) => row.count],
        },
    isDiff
      ? null
      : {
          key: 'each',
          title: 'Each',
          width: 11,
          isNumber: true,
          cell: (row) => (row.count === 0 && row.executable_count > 0 ? programsCell(row) : eachCell(row.each_least, row.each_most)),
          copy: ['each_most_bytes', (row) => row.each_most],
        },
    {
      key: 'function',
      title: 'Function',
      sortKey: 'fn',
      card: 'title',
      cell: (row) => functionCell(row.frame),
      copy: ['function', (row) => row.frame.function || row.frame.name],
    },
    fileColumn,
  ].filter(Boolean);
}

/* Columns of Buffers. */
export function bufferColumns({ metric, rows, is_diff: isDiff }) {
  const total = unitFor(
    metric,
    rows.map((row) => row.total),
  );
  const words = (key, title, width, of) => ({
    key,
    title,
    width,
    sortKey: key,
    cell: (row) => (of(row) ? name(of(row)) : NONE),
    copy: [key, (row) => of(row) ?? ''],
  });
  return [
    /* The two sides of a difference may hold other sizes. */
    !isDiff && {
      key: 'each',
      title: 'Each',
      width: 7,
      isNumber: true,
      sortKey: 'each',
      card: 'figure',
      cell: (row) => eachCell(row.each, row.each),
      copy: ['each_bytes', (row) => row.each],
    },
    {
      key: 'count',
      title: 'Count',
      width: 5,
      isNumber: true,
      sortKey: 'count',
      cell: (row) =>
        isDiff ? `${count(row.before_count)} → ${count(row.before_count + row.count)}` : el('span', { class: 'figure' }, `${count(row.count)} ${TIMES}`),
      copy: ['count', (row) => row.count],
    },
    {
      key: 'total',
      title: `${isDiff ? 'Change' : 'Total'}, ${unitWords(metric, total)}`,
      width: 8,
      isNumber: true,
      sortKey: 'total',
      card: isDiff ? 'figure' : null,
      cell: (row) => (isDiff ? changeCell(metric, row.total, total) : inUnit(metric, row.total, total)),
      copy: [keyOf(metric, 'total'), (row) => row.total],
    },
    words('device', 'Device', 9, (row) => row.device),
    words('kind', 'Kind', 6, (row) => row.kind),
    isDiff
      ? {
          key: 'relative',
          title: 'Relative',
          width: 6,
          isNumber: true,
          cell: (row) => relativeWords({ before: row.before_total, after: row.before_total + row.total }),
          copy: ['before_bytes', (row) => row.before_total],
        }
      : {
          key: 'copies',
          title: 'Copies',
          width: 5,
          isNumber: true,
          cell: (row) => (row.copies > 1 ? `${count(row.copies)} copies` : NONE),
          copy: ['copies', (row) => row.copies],
        },
    siteColumn('function', 'fn'),
    fileColumn,
  ].filter(Boolean);
}

/* Columns of the series; spark(row) draws its values. */
export function seriesColumns({ metric, sites }, spark, verdictWord) {
  const unit = unitFor(
    metric,
    sites.map(({ last, first }) => Math.max(Math.abs(last), Math.abs(first))),
  );
  const amountColumn = (key, title) => ({
    key,
    title: `${title}, ${unitWords(metric, unit)}`,
    width: 5,
    isNumber: true,
    sortKey: key,
    cell: (row) => inUnit(metric, row[key], unit),
    copy: [keyOf(metric, key), (row) => row[key]],
  });
  return [
    {
      key: 'verdict',
      title: 'Verdict',
      width: 5,
      card: 'figure',
      cell: (row) => verdictWord(row.verdict),
      copy: ['verdict', (row) => verdictWord(row.verdict)],
    },
    siteColumn('name'),
    { ...fileColumn, sortKey: '', width: 8 },
    amountColumn('first', 'First'),
    amountColumn('last', 'Last'),
    {
      ...amountColumn('change', 'Change'),
      width: 6,
      cell: (row) => changeCell(metric, row.change, unit),
    },
    {
      key: 'slope',
      title: 'Slope/profile',
      width: 6.5,
      isNumber: true,
      sortKey: 'slope',
      cell: (row) => slopeCell(metric, row.slope),
      copy: [`${keyOf(metric, 'slope')}_per_profile`, (row) => row.slope],
    },
    {
      key: 'share',
      title: 'Of growth',
      width: 5.5,
      isNumber: true,
      sortKey: 'share',
      cell: (row) => (row.share === null ? NONE : el('span', { class: 'figure' }, percent(row.share, 100))),
      copy: ['share_of_growth_percent', (row) => row.share],
    },
    { key: 'values', title: 'First … last', width: 5.5, cell: spark, copy: ['values', (row) => row.values.join(' ')] },
  ];
}

function slopeCell(metric, slope) {
  if (slope === null || slope === undefined) return NONE;
  const whole = Math.round(slope);
  if (whole === 0) return el('span', { class: 'dim' }, '0');
  return isBytes(metric) ? figure(whole, signedBytes(whole)) : `${slope > 0 ? '+' : ''}${slope.toFixed(1)}`;
}
