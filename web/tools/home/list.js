/* SPDX-License-Identifier: Apache-2.0
 * list.js: the list of sessions. Rows stand at once, as many as are scrolled to, and fill in as files are
 * read: those in view first, then the others while nothing else is to be done. What was read stays known. */

import { tellApart } from '../../lib/apart.js';
import { isAbort } from '../../lib/api.js';
import { button, el, fill, name } from '../../lib/dom.js';
import { bytes, bytesInColumn, count, percent, unitName, visible, when } from '../../lib/format.js';
import { categoryWords, swatch } from '../../widgets/categories.js';
import { explained } from '../../widgets/explain.js';
import { foundText, lookAt, lookCloser, pairsOf, sameCount, shareOf, toldOf, verdictName } from './found.js';

const AT_A_TIME = 2;
const FIRST_READ = 20; /* in view, or nearly */
const PIECE = 200;
const MAX_KNOWN = 20000;

/* Of this tab, for as long as a session stays as it is: id and time → found, or {error}. */
const known = new Map();
const keyOf = ({ id, modified_at_ms: atMs }) => `${id} ${atMs}`;

const idleTime = () =>
  new Promise((resolve) => {
    if (document.hidden) document.addEventListener('visibilitychange', () => resolve(), { once: true });
    else if (window.requestIdleCallback) requestIdleCallback(() => resolve(), { timeout: 1000 });
    else setTimeout(resolve, 50);
  });

const ORDERS = {
  peak: ({ worst }) => worst?.bytes ?? -1,
  share({ worst }) {
    const limit = worst && shareOf(worst)?.limit;
    return limit ? worst.bytes / limit : -1;
  },
};
export const isByFigure = (sort) => Object.hasOwn(ORDERS, sort);

/* Pure: sessions in the order of a figure that is read from them, what is not known last; other orders are the
   daemon's. */
export function ordered(sessions, sort, foundOf) {
  if (!isByFigure(sort)) return sessions;
  const value = (session) => {
    const found = foundOf(session);
    return found && !found.error ? ORDERS[sort](found) : -2;
  };
  const all = sessions.map((session, at) => ({ session, at, value: value(session) }));
  return all.sort((a, b) => b.value - a.value || a.at - b.at).map(({ session }) => session);
}

export const foundOf = (session) => known.get(keyOf(session)) ?? toldOf(session);

/* ---- one row ---- */

const GIB_UNIT = 3;
const MANY_TIMES = 10; // as often as that, a percentage is no help
/* Title, class, and the order that a click on it gives. */
const COLUMNS = [
  ['When', 'h-when', 'newest'],
  ['Session', 'h-name', 'name'],
  ['Found', 'h-found', ''],
  ['Hosts', 'h-hosts', ''],
  ['Largest, GiB', 'h-largest', 'peak'],
  ['Most of its peak', 'h-most', ''],
  ['Of capacity', 'h-share', 'share'],
  ['Verdict', 'h-verdict', ''],
];

/* A figure of a row is reached by `i` from its name: one stop of the keyboard a row. */
function rowFigure(key, value, text, className = '') {
  const node = explained(key, value, text, className);
  node.tabIndex = -1;
  return node;
}

/* A bar with the limit as a tick; what is over it is red. */
function shareCell(id, value, { limit, words, title }) {
  const whole = (...parts) => el('span', { class: 'share', title }, parts);
  if (!limit) return whole(el('span', { class: 'dim' }, words));
  const share = value / limit;
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
  const figure = rowFigure(
    `share:${id}`,
    value,
    words && share >= MANY_TIMES ? `${count(Math.round(share))} ×` : percent(value, limit),
  );
  figure.title = title;
  return whole(bar, figure, words && el('span', { class: 'dim share-of' }, share < MANY_TIMES ? `of ${words}` : words));
}

function largestCell(id, value) {
  const { text, isOwn } = bytesInColumn(value, GIB_UNIT);
  return [
    rowFigure(`needs:${id}`, value, text, isOwn ? 'dim' : ''),
    isOwn ? null : el('span', { class: 'unit' }, ` ${unitName(GIB_UNIT)}`),
  ];
}

/* "saved activations 83 %": whose memory most of the peak is, as the core says of the program; "padding 96 %" where its
 * sentence begins with that. */
function mostCell({
  category,
  category_bytes: most,
  bytes: own,
  share_of_peak: share,
  pattern_bytes: padded,
  sentence: [lead],
}) {
  const part = share > 0 ? (value) => percent(value, own / share) : () => '';
  if (lead === 'Padding')
    return el(
      'span',
      { title: `${bytes(padded)} of the peak are padding` },
      el('span', { class: 'swatch swatch-padding', 'aria-hidden': 'true' }),
      'padding ',
      el('span', { class: 'figure dim' }, part(padded)),
    );
  return el(
    'span',
    { title: `${bytes(most)} of the peak are ${categoryWords(category)}` },
    swatch(category),
    categoryWords(category),
    ' ',
    el('span', { class: 'figure dim' }, part(most)),
  );
}

/* session of the list → {node, show(found), fail(error)}; found: of lookAt(). */
function sessionRow(session, href) {
  const hosts = hostsOf(session);
  const cell = (className, ...parts) => el('td', { class: className }, parts);
  const found = cell('h-found', foundText(session));
  const largest = cell('h-largest', el('span', { class: 'dim' }, '–'));
  const most = cell('h-most');
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
    most,
    share,
    verdict,
  );
  return {
    node,
    show({
      worst,
      culprit,
      module_count: total = session.module_count,
      has_memory_events: has = session.has_memory_events,
    }) {
      fill(found, foundText({ ...session, module_count: total, has_memory_events: has }));
      if (!worst) return;
      if (worst.bytes != null) fill(largest, largestCell(session.id, worst.bytes));
      const of = shareOf(worst);
      if (of) fill(share, shareCell(session.id, worst.bytes, of));
      if (culprit) fill(most, mostCell(culprit));
      fill(verdict, el('span', { class: worst.word === 'over' ? 'over' : 'dim' }, worst.word));
    },
    fail(error) {
      fill(
        found,
        foundText({ ...session, module_count: session.module_count ?? 0 }).replace(', no program', ''),
        ': ',
        visible(error.message),
      );
      found.classList.add('is-whole');
      fill(largest, el('span', { class: 'caution' }, 'not readable'));
      fill(share);
      fill(verdict);
    },
  };
}

const DESCENDING = ['newest', 'peak', 'share'];

/* Snapshots of an allocator are one each, whichever machine they are of. */
const hostsOf = ({ host_count: total, hosts, snapshot_count: snapshots }) =>
  Math.max(0, (total ?? hosts?.length ?? 0) - (snapshots ?? 0));

/* Columns in which no row of the list can have anything. */
function emptyColumns(sessions) {
  return [
    sessions.every((session) => hostsOf(session) === 0) && 'has-no-hosts',
    sessions.every(({ module_count: total }) => total === 0) && 'has-no-most',
  ].filter(Boolean);
}

/* A head without onSort is plain text. Out: the table, its body empty. */
function sessionTable(caption, sessions, { sort = '', onSort = null } = {}) {
  const head = ([title, className, order]) =>
    el(
      'th',
      {
        scope: 'col',
        class: className,
        'aria-sort': order && order === sort ? (DESCENDING.includes(order) ? 'descending' : 'ascending') : null,
      },
      order && onSort ? button('head-button', () => onSort(order), title) : title,
    );
  return el(
    'table',
    { class: ['grid home-grid', ...emptyColumns(sessions)].join(' ') },
    el('caption', { class: 'hidden' }, caption),
    el('thead', {}, el('tr', {}, COLUMNS.map(head))),
    el('tbody'),
  );
}

/* ---- rows as they are scrolled to ---- */

/* shown: sessions in their order; verdict: only those of which it is known, '' all; linkOf(session) → href; onView()
   when other rows came into view. Out: {table, show(session):
 * what is known of it is drawn, inView: Set of sessions, stop()}. */
function createRows(shown, { caption, sort, onSort, verdict, linkOf, onView }) {
  const table = sessionTable(caption, shown, { sort, onSort });
  const rest = el('tr', { class: 'home-rest' }, el('td', { colspan: String(COLUMNS.length) }, ''));
  const sessions = new Map(); /* node → session */
  const drawn = new Map(); /* session → row */
  const inView = new Set();
  let nextAt = 0;

  function show(session) {
    const found = foundOf(session);
    const row = drawn.get(session);
    if (row) row.node.hidden = verdict !== '' && verdictName(found) !== verdict;
    if (!row || !found) return;
    if (found.error) row.fail(found.error);
    else row.show(found);
  }
  function drawPiece() {
    const piece = shown.slice(nextAt, nextAt + PIECE);
    nextAt += piece.length;
    const nodes = piece.map((session) => {
      const row = sessionRow(session, linkOf(session));
      drawn.set(session, row);
      sessions.set(row.node, session);
      show(session);
      watcher?.observe(row.node);
      return row.node;
    });
    rest.remove();
    table.tBodies[0].append(...nodes);
    tellApart([...table.querySelectorAll('tbody a .name')]);
    if (nextAt < shown.length) {
      rest.cells[0].textContent = `${shown.length - nextAt} more below`;
      table.tBodies[0].append(rest);
      watcher?.observe(rest);
    }
  }
  function onSeen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (target === rest && isIntersecting) drawPiece();
      else if (isIntersecting) inView.add(sessions.get(target));
      else inView.delete(sessions.get(target));
    }
    onView();
  }
  const watcher = window.IntersectionObserver && new IntersectionObserver(onSeen, { rootMargin: '200px' });
  drawPiece();
  return { table, show, inView, stop: () => watcher?.disconnect() };
}

/* ---- reading ---- */

/* sessions: of the list; linkOf(session) → href; onRead() after each that was read; sort, onSort(order) for the
 * heads; verdict: only rows of that name of VERDICT_NAMES are shown; lead: the session that is read as a whole. Out:
 * {node, sessions: in the order shown, counts: {unknown: not read yet, over, same: of these, that tell a failure which
 * another one tells}, start(signal), stop()}. */
export function createSessionList(
  sessions,
  { caption, sort = '', onSort = null, verdict = '', lead = null, linkOf, onRead = () => {} },
) {
  const shown = ordered(sessions, sort, foundOf);
  const wake = [];
  const rows = createRows(shown, {
    caption,
    sort,
    onSort,
    verdict,
    linkOf,
    onView: () => wake.splice(0).forEach((go) => go()),
  });
  const isRead = (session) => {
    const found = foundOf(session);
    return Boolean(found) && (session !== lead || found.isWhole || Boolean(found.error));
  };
  const closer = new Set(); /* asked for already */
  const waiting = new Set(shown.filter((session) => !isRead(session)));
  const isOver = (session) => verdictName(foundOf(session)) === 'over';
  /* Kept as they are read: of 5,000 sessions each is counted once. */
  const pairs = pairsOf(sessions);
  const counts = {
    unknown: waiting.size,
    over: shown.filter(isOver).length,
    get same() {
      return sameCount(pairs, foundOf);
    },
  };

  const isCloser = (session) => {
    const found = foundOf(session);
    return Boolean(found?.worst) && !found.isWhole;
  };
  /* The next to be read, and whether somebody looks at it. Whose memory it is costs the reading of a program: of those
     that
   * somebody looks at, once their figures stand. */
  function next() {
    for (const session of rows.inView) if (waiting.has(session)) return [session, true];
    for (const session of shown.slice(0, FIRST_READ)) if (waiting.has(session)) return [session, true];
    for (const session of rows.inView) if (isCloser(session) && !closer.has(session)) return [session, true];
    const [session] = waiting;
    return [session, false];
  }
  /* A program that cannot be read leaves the figures of its session as they are. */
  async function readCloser(session, how) {
    const found = foundOf(session);
    closer.add(session);
    try {
      return await lookCloser(session, found, how);
    } catch (error) {
      if (isAbort(error) || error.code === 'gone') throw error;
      return { ...found, isWhole: true };
    }
  }
  async function read(session, how) {
    if (!waiting.has(session)) return readCloser(session, how);
    waiting.delete(session);
    const found = foundOf(session) ?? (await lookAt(session, how));
    return session === lead ? lookCloser(session, found, how) : found;
  }
  /* Out: false when nobody is asked any more. */
  async function take(session, how) {
    const isFirst = waiting.has(session);
    let found;
    try {
      found = await read(session, how);
    } catch (error) {
      if (isAbort(error) || error.code === 'gone') {
        if (isFirst) waiting.add(session);
        return false;
      }
      found = { error };
    }
    if (known.size >= MAX_KNOWN) known.clear();
    counts.over -= isOver(session);
    known.set(keyOf(session), found);
    counts.unknown -= isFirst;
    counts.over += isOver(session);
    rows.show(session);
    onRead();
    return true;
  }

  async function work(signal) {
    while (!signal.aborted) {
      let [session, isSeen] = next();
      if (!isSeen) {
        await Promise.race([
          session ? idleTime() : new Promise(() => {}),
          new Promise((resolve) => wake.push(resolve)),
        ]);
        if (signal.aborted) return;
        [session, isSeen] = next();
      }
      if (session && !(await take(session, { signal, isQuiet: !isSeen }))) return;
    }
  }

  return {
    node: rows.table,
    sessions: shown,
    counts,
    start(signal) {
      for (let at = 0; at < AT_A_TIME; at++) void work(signal);
    },
    stop: rows.stop,
  };
}
