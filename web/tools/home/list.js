/* SPDX-License-Identifier: Apache-2.0
 * list.js: the list of sessions. Rows stand at once, as many as are scrolled to, and fill in as files are
 * read: those in view first, then the others while nothing else is to be done. What was read stays known. */

import { isAbort } from '../../lib/api.js';
import { el } from '../../lib/dom.js';
import { lookAt, lookCloser, toldOf } from './found.js';
import { sessionRow, sessionTable } from './rows.js';

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
  share: ({ worst }) => (worst?.capacity && worst.bytes !== null ? worst.bytes / worst.capacity : -1),
};
export const isByFigure = (sort) => Object.hasOwn(ORDERS, sort);

/* Pure: sessions in the order of a figure, what is not known last; other orders are the daemon's. */
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

/* sessions: of the list; linkOf(session) → href; onRead() after each that was read; sort, onSort(order) for the
 * heads; lead: the session that is read as a whole. Out: {node, sessions: in the order shown, counts: {unknown: not read yet, over}, start(signal), stop()}. */
export function createSessionList(sessions, { caption, sort = '', onSort = null, lead = null, linkOf, onRead = () => {} }) {
  const shown = ordered(sessions, sort, foundOf);
  const table = sessionTable(caption, { sort, onSort });
  const body = table.tBodies[0];
  const rest = el('tr', { class: 'home-rest' }, el('td', { colspan: '7' }, ''));
  const rows = new Map(); /* node → session */
  const drawn = new Map(); /* session → row */
  const inView = new Set();
  const isRead = (session) => {
    const found = foundOf(session);
    return Boolean(found) && (session !== lead || found.isWhole || Boolean(found.error));
  };
  const waiting = new Set(shown.filter((session) => !isRead(session)));
  const isOver = (session) => foundOf(session)?.worst?.word === 'over';
  /* Kept as they are read: of 5,000 sessions each is counted once. */
  const counts = { unknown: waiting.size, over: shown.filter(isOver).length };
  let signal = null;
  let nextAt = 0;
  const wake = [];

  function showRow(session) {
    const found = foundOf(session);
    const row = drawn.get(session);
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
      rows.set(row.node, session);
      showRow(session);
      watcher?.observe(row.node);
      return row.node;
    });
    rest.remove();
    body.append(...nodes);
    if (nextAt < shown.length) {
      rest.cells[0].textContent = `${shown.length - nextAt} more below`;
      body.append(rest);
      watcher?.observe(rest);
    }
  }

  const watcher =
    window.IntersectionObserver &&
    new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (target === rest) {
            if (isIntersecting) drawPiece();
            continue;
          }
          const session = rows.get(target);
          if (isIntersecting) inView.add(session);
          else inView.delete(session);
        }
        wake.splice(0).forEach((go) => go());
      },
      { rootMargin: '200px' },
    );

  /* The next to be read, and whether somebody looks at it. */
  function next() {
    for (const session of inView) if (waiting.has(session)) return [session, true];
    for (const session of shown.slice(0, FIRST_READ)) if (waiting.has(session)) return [session, true];
    const [session] = waiting;
    return [session, false];
  }

  async function work() {
    while (waiting.size && !signal.aborted) {
      let [session, isSeen] = next();
      if (!isSeen) {
        await Promise.race([idleTime(), new Promise((resolve) => wake.push(resolve))]);
        if (signal.aborted) return;
        [session, isSeen] = next();
        if (!session) return;
      }
      waiting.delete(session);
      let found;
      try {
        const how = { signal, isQuiet: !isSeen };
        found = foundOf(session) ?? (await lookAt(session, how));
        if (session === lead) found = await lookCloser(session, found, how);
      } catch (error) {
        if (isAbort(error) || error.code === 'gone') {
          waiting.add(session);
          return;
        }
        found = { error };
      }
      if (known.size >= MAX_KNOWN) known.clear();
      counts.over -= isOver(session);
      known.set(keyOf(session), found);
      counts.unknown--;
      counts.over += isOver(session);
      showRow(session);
      onRead();
    }
  }

  drawPiece();
  return {
    node: table,
    sessions: shown,
    counts,
    start(of) {
      signal = of;
      for (let at = 0; at < AT_A_TIME; at++) void work();
    },
    stop: () => watcher?.disconnect(),
  };
}
