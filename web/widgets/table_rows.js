/* SPDX-License-Identifier: Apache-2.0
 * table_rows.js: where a table takes its rows from: a list that is here, pages of the daemon's, or
 * groups that open to their members; and which of many rows stand in the document.
 *
 * A source: {count, at(index) → row or null while it is not here, need(from, to), load(from, to) → Promise,
 * listen(listener), stop()}; the listener hears when rows came. A tree adds toggle(index). */

import { isAbort } from '../lib/api.js';
import { later } from '../lib/activity.js';

const PAGE_ROWS = 100;
const KEPT_PAGES = 60;
const ASK_AFTER_MS = 50;

export function localRows(rows) {
  return {
    count: rows.length,
    at: (index) => rows[index] ?? null,
    need() {},
    load: () => Promise.resolve(),
    listen() {},
    stop() {},
  };
}

/* ask(offset, limit, signal) → Promise of rows. `first`: the rows of the first page, if they are here.
 * onProblem(problem) hears what could not be read. */
export function pagedRows({ count, first = null, pageRows = PAGE_ROWS, ask, onProblem = () => {} }) {
  const pages = new Map();
  const asked = new Map();
  let hear = () => {};
  let takeBack = null;
  let wanted = [0, 0];
  if (first)
    for (let at = 0; at < first.length; at += pageRows) pages.set(at / pageRows, first.slice(at, at + pageRows));

  /* A page that holds less than it should is only the beginning of one. */
  const isWhole = (page) => (pages.get(page)?.length ?? 0) >= Math.min(pageRows, count - page * pageRows);

  const forget = (around) => {
    if (pages.size <= KEPT_PAGES) return;
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - around) - Math.abs(a - around));
    for (const page of far.slice(0, pages.size - KEPT_PAGES)) pages.delete(page);
  };
  const read = (page) => {
    if (asked.has(page)) return asked.get(page).promise;
    const controller = new AbortController();
    const promise = (async () => {
      try {
        pages.set(page, await ask(page * pageRows, pageRows, controller.signal));
        asked.delete(page);
        forget(page);
        hear();
      } catch (error) {
        asked.delete(page);
        if (!isAbort(error)) onProblem(error);
      }
    })();
    asked.set(page, { promise, controller });
    return promise;
  };
  const missing = (from, to) => {
    const list = [];
    for (let page = Math.floor(from / pageRows); page * pageRows < Math.min(to, count); page++)
      if (!isWhole(page)) list.push(page);
    return list;
  };
  /* What scrolled by meanwhile is not asked for, or not waited for. */
  const readWanted = () => {
    takeBack = null;
    const list = missing(...wanted);
    for (const [page, { controller }] of asked) if (!list.includes(page)) controller.abort();
    list.forEach(read);
  };
  return {
    count,
    at: (index) => pages.get(Math.floor(index / pageRows))?.[index % pageRows] ?? null,
    need(from, to) {
      wanted = [from, to];
      if (missing(from, to).length) takeBack ??= later(readWanted, ASK_AFTER_MS);
    },
    load: (from, to) => Promise.all(missing(from, to).map(read)),
    listen(listener) {
      hear = listener;
    },
    stop() {
      takeBack?.();
      for (const { controller } of asked.values()) controller.abort();
      hear = () => {};
    },
  };
}

/* groups: a source of group rows {id, count, …}; membersOf(group) → a source of the rows in it. Rows get
 * `level`, `setSize`, `position`, and groups `isGroup` and `isOpen`; one with `isSingle` is a row by itself, and does
 * not open. */
export function groupedRows({ groups, membersOf }) {
  const open = new Map();
  let hear = () => {};
  groups.listen(() => hear());
  const opened = () => [...open.entries()].sort(([a], [b]) => a - b);

  /* Row `index` is group `group` itself (member −1) or one of its members. */
  const place = (index) => {
    let before = 0;
    for (const [group, members] of opened()) {
      const head = group + before;
      if (index <= head) break;
      if (index <= head + members.count) return { group, member: index - head - 1, members };
      before += members.count;
    }
    return { group: index - before, member: -1, members: open.get(index - before) ?? null };
  };
  const both = (from, to) => {
    const places = [];
    for (let index = from; index < to; index++) places.push(place(index));
    return places;
  };
  const ask = (method) => (from, to) => {
    const waits = [];
    const spans = new Map();
    for (const { group, member, members } of both(from, to)) {
      const [source, at] = member < 0 ? [groups, group] : [members, member];
      const [low, high] = spans.get(source) ?? [at, at];
      spans.set(source, [Math.min(low, at), Math.max(high, at)]);
    }
    for (const [source, [low, high]] of spans) waits.push(source[method](low, high + 1));
    return Promise.all(waits);
  };
  return {
    isTree: true,
    get count() {
      return groups.count + [...open.values()].reduce((sum, members) => sum + members.count, 0);
    },
    at(index) {
      const { group, member, members } = place(index);
      const row = member < 0 ? groups.at(group) : members.at(member);
      if (!row) return null;
      return member < 0
        ? {
            ...row,
            isGroup: !row.isSingle,
            isOpen: members != null,
            level: 1,
            setSize: groups.count,
            position: group + 1,
          }
        : { ...row, level: 2, setSize: members.count, position: member + 1 };
    },
    parentOf(index) {
      const { member } = place(index);
      return member < 0 ? index : index - member - 1;
    },
    toggle(index) {
      const { group, member, members } = place(index);
      if (member >= 0 || !groups.at(group) || groups.at(group).isSingle) return;
      if (members) {
        members.stop();
        open.delete(group);
      } else {
        const source = membersOf(groups.at(group));
        source.listen(() => hear());
        open.set(group, source);
      }
      hear();
    },
    need(from, to) {
      ask('need')(from, to);
    },
    load: ask('load'),
    listen(listener) {
      hear = listener;
    },
    stop() {
      groups.stop();
      for (const members of open.values()) members.stop();
      hear = () => {};
    },
  };
}

/* ---- which rows stand in the document, and where; pure --------------------------
 * Browsers cap the height of an element. Up to TALLEST_PX a row lies at its own place; beyond it the
 * position of the scroll bar is mapped to the row, so that the last row is reached in any table. */

export const TALLEST_PX = 8_000_000;
const EXTRA_ROWS = 20;

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/* Heights: as they would be, and as they are. */
function heights({ count, rowPx, viewPx }) {
  const natural = count * rowPx;
  const whole = Math.min(natural, TALLEST_PX);
  return { natural, whole, naturalEnd: Math.max(0, natural - viewPx), end: Math.max(0, whole - viewPx) };
}

/* size: {count, rowPx, viewPx}. Scroll position ↔ position among all rows, both in pixels. */
export function naturalOf(size, scrollPx) {
  const { natural, whole, naturalEnd, end } = heights(size);
  const at = clamp(scrollPx, 0, end);
  return natural === whole || end === 0 ? at : (at / end) * naturalEnd;
}

export function scrollOf(size, naturalPx) {
  const { natural, whole, naturalEnd, end } = heights(size);
  const at = clamp(naturalPx, 0, naturalEnd);
  return natural === whole || naturalEnd === 0 ? at : (at / naturalEnd) * end;
}

/* {from, to, beforePx, afterPx}: rows from … to − 1 stand in the document, with this much room around them. */
export function windowOf(size, scrollPx, naturalPx = naturalOf(size, scrollPx)) {
  const { count, rowPx, viewPx } = size;
  const { whole, end } = heights(size);
  if (count === 0) return { from: 0, to: 0, beforePx: 0, afterPx: 0 };
  const at = clamp(scrollPx, 0, end);
  const first = clamp(Math.floor(naturalPx / rowPx), 0, count - 1);
  const from = Math.max(0, first - Math.min(EXTRA_ROWS, Math.floor(at / rowPx)));
  const beforePx = Math.max(0, at - (naturalPx - from * rowPx));
  const wanted = first + Math.ceil(viewPx / rowPx) + 1 + EXTRA_ROWS;
  const room = Math.floor((whole - beforePx) / rowPx + 1e-6);
  const to = Math.min(count, wanted, from + Math.max(1, room));
  return { from, to, beforePx, afterPx: Math.max(0, whole - beforePx - (to - from) * rowPx) };
}

/* Natural position that shows row `index` whole, moving as little as possible from `naturalPx`. */
export function revealed({ count, rowPx, viewPx }, naturalPx, index) {
  const top = index * rowPx;
  if (top < naturalPx) return top;
  if (top + rowPx > naturalPx + viewPx) return clamp(top + rowPx - viewPx, 0, Math.max(0, count * rowPx - viewPx));
  return naturalPx;
}
