/* SPDX-License-Identifier: Apache-2.0
 * rows.js: one row a session, and the head of their table. */

import { el, fill, name } from '../../lib/dom.js';
import { bytes, bytesInColumn, count, percent, unitName, visible, when } from '../../lib/format.js';
import { explained } from '../../widgets/explain.js';
import { foundText } from './found.js';

const GIB_UNIT = 3;
/* Title, class, and the order that a click on it gives. */
const COLUMNS = [
  ['When', 'h-when', 'newest'],
  ['Session', 'h-name', 'name'],
  ['Found', 'h-found', ''],
  ['Hosts', 'h-hosts', ''],
  ['Largest, GiB', 'h-largest', 'peak'],
  ['Of capacity', 'h-share', 'share'],
  ['Verdict', 'h-verdict', ''],
];

/* A figure of a row is reached by `i` from its name: one stop of the keyboard a row. */
function rowFigure(key, value, text, className = '') {
  const node = explained(key, value, text, className);
  node.tabIndex = -1;
  return node;
}

/* A bar with the capacity as a tick; what is over it is red. */
function shareBar(id, value, capacity) {
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
  const figure = rowFigure(`share:${id}`, value, percent(value, capacity));
  figure.title = `${bytes(value)} of ${bytes(capacity)}`;
  return el(
    'span',
    { class: 'share' },
    bar,
    figure,
  );
}

function largestCell(id, value) {
  const { text, isOwn } = bytesInColumn(value, GIB_UNIT);
  return [rowFigure(`needs:${id}`, value, text, isOwn ? 'dim' : ''), isOwn ? null : el('span', { class: 'unit' }, ` ${unitName(GIB_UNIT)}`)];
}

/* session of the list → {node, show(found), fail(error)}; found: of lookAt(). */
export function sessionRow(session, href) {
  const hosts = session.host_count ?? session.hosts?.length ?? 0;
  const cell = (className, ...parts) => el('td', { class: className }, parts);
  const found = cell('h-found', foundText(session));
  const largest = cell('h-largest', el('span', { class: 'dim' }, '–'));
  const share = cell('h-share');
  const verdict = cell('h-verdict');
  const node = el(
    'tr',
    { 'data-explain': `needs:${session.id}` },
    cell('h-when', session.modified_at_ms ? when(session.modified_at_ms) : '–'),
    cell('h-name', el('a', { href, title: `${bytes(session.size_bytes)} in its files` }, name(session.name))),
    found,
    cell('h-hosts', hosts > 0 ? count(hosts) : '–'),
    largest,
    share,
    verdict,
  );
  return {
    node,
    show({ worst, module_count: total = session.module_count, has_memory_events: has = session.has_memory_events }) {
      fill(found, foundText({ ...session, module_count: total, has_memory_events: has }));
      if (!worst) return;
      if (worst.bytes !== null) fill(largest, largestCell(session.id, worst.bytes));
      if (worst.bytes !== null && worst.capacity) fill(share, shareBar(session.id, worst.bytes, worst.capacity));
      fill(verdict, el('span', { class: worst.word === 'over' ? 'over' : 'dim' }, worst.word));
    },
    fail(error) {
      fill(found, foundText({ ...session, module_count: session.module_count ?? 0 }).replace(', no program', ''), ': ', visible(error.message));
      found.classList.add('is-whole');
      fill(largest, el('span', { class: 'caution' }, 'not readable'));
      fill(share);
      fill(verdict);
    },
  };
}

const DESCENDING = ['newest', 'peak', 'share'];

/* A head without onSort is plain text. Out: the table, its body empty. */
export function sessionTable(caption, { sort = '', onSort = null } = {}) {
  const head = ([title, className, order]) =>
    el(
      'th',
      { scope: 'col', class: className, 'aria-sort': order && order === sort ? (DESCENDING.includes(order) ? 'descending' : 'ascending') : null },
      order && onSort ? el('button', { type: 'button', class: 'head-button', on: { click: () => onSort(order) } }, title) : title,
    );
  return el(
    'table',
    { class: 'grid home-grid' },
    el('caption', { class: 'hidden' }, caption),
    el('thead', {}, el('tr', {}, COLUMNS.map(head))),
    el('tbody'),
  );
}
