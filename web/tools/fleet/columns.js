/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the columns of jobs, regressions, hosts and commits are drawn.
 * Its own file: one place for what a cell looks like. */

import { button, el, name } from '../../lib/dom.js';
import { bytes, counted, percent, signedBytes, visible, when } from '../../lib/format.js';
import { tableColumns } from '../../widgets/table_columns.js';

const none = () => el('span', { class: 'dim' }, '–');
const isKnown = (value) => value != null;

const dateOf = (field) => (row) => (isKnown(row[field]) ? el('span', { class: 'figure' }, when(row[field])) : none());

function changeOf(field) {
  return (row) => {
    const by = row[field];
    if (!isKnown(by)) return none();
    if (by === 0) return el('span', { class: 'dim' }, '0');
    return el('span', { class: `figure ${by > 0 ? 'grown' : 'shrunk'}` }, signedBytes(by), by > 0 ? ' ▲' : ' ▼');
  };
}

function shareOf(row) {
  const share = row.of_capacity_percent;
  if (!isKnown(share)) return none();
  const isOver = share > 100;
  return el(
    'span',
    { class: `figure${isOver ? ' over' : ''}` },
    isOver ? `${percent(share, 100)}, over` : percent(share, 100),
  );
}

function failsOf(row) {
  if (row.trend === 'over') return el('span', { class: 'figure over' }, 'over now');
  if (!isKnown(row.fails_in_days)) return none();
  return el(
    'span',
    { class: 'figure' },
    row.fails_in_days < 1 ? 'a day' : counted(Math.round(row.fails_in_days), 'day'),
  );
}

/* A job narrows the page to itself. */
const jobOf = (onJob) => (row) =>
  button('job-button', (event) => (event.stopPropagation(), onJob(row.job)), name(row.job), {
    title: `Only ${visible(row.job)}`,
  });

function linked(field, hrefOf) {
  return (row) => {
    if (!isKnown(row[field])) return none();
    const href = hrefOf(row);
    return href ? el('a', { href, class: 'fleet-link' }, name(row[field])) : name(row[field]);
  };
}

const sentenceOf = (words) => el('bdi', { class: 'fleet-sentence', title: visible(words) }, visible(words));
const sentence = (field) => (row) => sentenceOf(row[field]);

/* What the plans differ by, or why that is not known. */
function diffOf(compareHref) {
  return (row) => {
    const href = compareHref(row);
    if (!row.diff_sentence) return el('span', { class: 'dim' }, 'Not known: ', visible(row.diff_unknown ?? ''));
    const words = sentenceOf(row.diff_sentence);
    return href ? el('a', { href, class: 'fleet-link' }, words) : words;
  };
}

/* Tab → what the page draws in its own way, in its order; false: left out. A card has room for two lines. */
function ownOf(tab, { hrefOf, compareHref, onJob }) {
  const job = { cell: jobOf(onJob), width: 11, card: 'title' };
  const module = { cell: linked('module', hrefOf), card: 'line' };
  const needed = { width: 7.5, card: 'figure' };
  const commit = { width: 6.5 };
  const last = { cell: dateOf('last_at_ms'), width: 8.5 };
  const first = { cell: dateOf('first_at_ms'), width: 8.5 };
  const change = { cell: changeOf('change_bytes'), width: 6.75 };
  const share = { cell: shareOf, width: 7.25 };
  const onCard = { ...share, card: 'line' };
  const rows = {
    jobs: {
      job: { ...job, width: null, min: 9 },
      module,
      needed: { ...needed, width: 6.75 },
      share: onCard,
      change: { ...change, width: 6.5 },
      steps: { width: 3.5 },
      fails: { cell: failsOf, width: 5 },
      growth: false,
      next: false,
      commits: { width: 5 },
      hosts: { width: 3.5 },
      commit,
      last_at_ms: last,
      configuration: { min: 6 },
      kind: { isHidden: true },
      space: { isHidden: true },
    },
    next: {
      job,
      module: { ...module, width: 9 },
      needed,
      share: onCard,
      fails: { cell: failsOf, width: 5 },
      growth: { width: 5 },
      next: { cell: sentence('trend_sentence'), card: 'sentence' },
      kind: { width: 4.5 },
      space: { width: 4.5 },
      change: false,
      steps: false,
      hosts: false,
      commits: { isHidden: true, width: 5 },
      commit: { isHidden: true, ...commit },
      last_at_ms: last,
    },
    regressions: {
      change: { ...change, card: 'figure' },
      job,
      module: { ...module, width: 9 },
      commit: { ...commit, cell: linked('commit', hrefOf), card: 'line', width: 8 },
      at: first,
      diff: { cell: diffOf(compareHref), card: 'sentence' },
      sentence: { cell: sentence('sentence'), isHidden: true },
      change_percent: false,
      before: false,
      after: false,
      lasting: { width: 4 },
    },
    hosts: {
      host: { width: 8, card: 'title' },
      differs: { cell: changeOf('difference_bytes'), width: 6.75, card: 'figure' },
      needed: { width: 5.5 },
      usual: { width: 5.5 },
      job: { ...job, card: 'line', width: 9 },
      module: { card: 'line', width: 9 },
      commit,
      sentence: { cell: sentence('sentence'), card: 'sentence' },
      hosts: { width: 4 },
      at: first,
    },
    commits: {
      job,
      module: { card: 'line' },
      commit: { ...commit, cell: linked('commit', hrefOf), card: 'line' },
      at: first,
      needed,
      change,
      share,
      peak: { width: 6.5 },
      step: { width: 7 },
      hosts: { width: 4 },
    },
  };
  return rows[tab === 'modules' ? 'jobs' : tab];
}

/* acts: {hrefOf(row), compareHref(row), onJob(job)}. */
export function fleetColumns(tab, columns, acts) {
  return tableColumns(columns, ownOf(tab, acts));
}

/* Tooltip of a point: name, size and share, what happened there. */
export function pointLines(line, point, metric) {
  const value = line.needed_bytes[point];
  const capacity = line.capacity_bytes[point];
  const step = line.steps.find((each) => each.point === point);
  const share = isKnown(capacity) && capacity > 0 ? `, ${percent(value, capacity)} of ${bytes(capacity)}` : '';
  const peak = metric === 'peak' && isKnown(line.peak_bytes[point]) ? `, peak ${bytes(line.peak_bytes[point])}` : '';
  return [
    `${visible(line.job)}${line.module ? `: ${visible(line.module)}` : ''} at ` +
      `${visible(line.commits[point] ?? 'no commit')}`,
    `${bytes(value)}${share}${peak}`,
    step
      ? visible(step.sentence)
      : `${when(line.at_ms[point])}${
          isKnown(line.host_counts[point]) ? `, ` + `${counted(line.host_counts[point], 'host')}` : ''
        }`,
  ];
}
