/* SPDX-License-Identifier: Apache-2.0
 * home_rows.js: the table of sessions. Rows stand at once and fill in as files are read, two
 * sessions at a time. */

import { isAbort } from '../lib/api.js';
import { el, figure, fill, name } from '../lib/dom.js';
import { bytes, bytesInColumn, count, percent, unitName, when } from '../lib/format.js';
import { foundText, lookAt } from './home_found.js';

const MOST_READ = 20;
const AT_A_TIME = 2;
const GIB_UNIT = 3;
const COLUMNS = [
  ['When', 'h-when'],
  ['Session', 'h-name'],
  ['Found', 'h-found'],
  ['Hosts', 'h-hosts'],
  ['Largest, GiB', 'h-largest'],
  ['Of capacity', 'h-share'],
  ['Verdict', 'h-verdict'],
];

/* A bar with the capacity as a tick; what is over it is red. */
export function shareBar(value, capacity) {
  const share = value / capacity;
  const scale = Math.max(1, share);
  const part = (className, from, to) => {
    const node = el('span', { class: className });
    node.style.left = `${(100 * from) / scale}%`;
    node.style.width = `${(100 * (to - from)) / scale}%`;
    return node;
  };
  const bar = el('span', { class: 'share-bar', 'aria-hidden': 'true' }, part('share-part', 0, Math.min(1, share)));
  if (share > 1) bar.append(part('share-over', 1, share));
  bar.append(part('share-tick', 1, 1));
  return el(
    'span',
    { class: 'share', title: `${bytes(value)} of ${bytes(capacity)}` },
    bar,
    el('span', { class: 'figure' }, percent(value, capacity)),
  );
}

function largestCell(value) {
  const { text, isOwn } = bytesInColumn(value, GIB_UNIT);
  return [figure(value, text, isOwn ? 'dim' : ''), isOwn ? null : el('span', { class: 'unit' }, ` ${unitName(GIB_UNIT)}`)];
}

/* session of the list → {session, node, show({worst, module_count}), fail(error)}. */
export function sessionRow(session, href) {
  const hosts = session.host_count ?? session.hosts?.length ?? 0;
  const cell = (className, ...parts) => el('td', { class: className }, parts);
  const found = cell('h-found', foundText(session));
  const largest = cell('h-largest', el('span', { class: 'dim' }, '–'));
  const share = cell('h-share');
  const verdict = cell('h-verdict');
  const node = el(
    'tr',
    {},
    cell('h-when', when(session.modified_at_ms)),
    cell('h-name', el('a', { href, title: `${bytes(session.size_bytes)} on disk` }, name(session.name))),
    found,
    cell('h-hosts', hosts > 0 ? count(hosts) : '–'),
    largest,
    share,
    verdict,
  );
  return {
    session,
    node,
    worst: null,
    show({ worst, module_count: total = session.module_count }) {
      this.worst = worst;
      fill(found, foundText({ ...session, module_count: total }));
      if (!worst) return;
      if (worst.bytes !== null) fill(largest, largestCell(worst.bytes));
      if (worst.bytes !== null && worst.capacity) fill(share, shareBar(worst.bytes, worst.capacity));
      fill(verdict, el('span', { class: worst.word === 'over' ? 'over' : 'dim' }, worst.word));
    },
    fail(error) {
      fill(largest, el('span', { class: 'caution', title: error.message }, 'not readable'));
    },
  };
}

export function sessionTable(list, rows) {
  const rest = list.matched - list.sessions.length;
  const foot = `${count(list.sessions.length)} of ${count(list.matched)} sessions; the filter narrows the list.`;
  return el(
    'table',
    { class: 'grid home-grid' },
    el('caption', { class: 'hidden' }, 'What was found'),
    el('thead', {}, el('tr', {}, COLUMNS.map(([title, className]) => el('th', { scope: 'col', class: className }, title)))),
    el('tbody', {}, rows.map((row) => row.node)),
    rest > 0 ? el('tfoot', {}, el('tr', {}, el('td', { colspan: COLUMNS.length }, foot))) : null,
  );
}

/* Reads the newest of them; onRow(row) after each. Ends early when `signal` aborts. */
export async function fillRows(rows, signal, onRow) {
  const queue = rows.slice(0, MOST_READ);
  const work = async () => {
    for (let row = queue.shift(); row && !signal.aborted; row = queue.shift()) {
      try {
        const found = await lookAt(row.session, signal);
        if (signal.aborted) return;
        row.show(found);
      } catch (error) {
        if (isAbort(error)) return;
        row.fail(error);
      }
      onRow(row);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}
