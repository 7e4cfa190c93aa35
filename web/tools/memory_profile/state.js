/* SPDX-License-Identifier: Apache-2.0
 * state.js: what the URL asks of the Memory Profile. Pure. */

import { notesOf } from '../../lib/notes.js';
import { isAll } from '../../lib/range.js';
import { pinText } from '../../lib/route.js';
import { markOf, windowOf } from './load.js';

const PIN =
  /^(e:\d{1,15}|[gw]:[0-9a-f]{16}|r:[a-z_]{1,40}|s:\d{1,16}-\d{1,16}|l:\d{1,16}-\d{1,16}:\d{1,4}|k:\d{1,10})$/;
const STACKS = ['program', 'op', 'trend', 'category'];
const VIEWS = ['live', 'events', 'growth', 'addresses', 'whatif'];
/* Of these what a snapshot without a history cannot tell. */
export const OVER_TIME = ['events', 'growth'];
/* Snapshots of PyTorch's allocator with a history can be replayed with other settings. */
export const isReplayed = (pool) => Boolean(pool?.has_segments && !pool.end);

/* Below this share of what there is, the free area leaves no height for the curve. */
const MIN_SHARE = 0.4;

/* The free area is there unless the curve would be a line at the foot; the URL says otherwise. */
function isFreeShown(route, pool) {
  if (route.hide.includes('free')) return false;
  if (route.show.includes('free')) return true;
  if (!pool?.has_free) return false;
  if (pool.has_segments) return true; // what PyTorch holds beyond what is allocated is the cost of its cache
  const { in_use_bytes: used, free_bytes: free } = pool.peak;
  const isFlat = pool.peak.in_use_bytes - pool.min_bytes < 0.02 * pool.peak.in_use_bytes;
  return !isFlat && used >= MIN_SHARE * (used + (free ?? 0));
}

/* What is known of stacks is shown in bands by category, unless the URL says otherwise. */
const stackDefault = (pool) => (pool?.categories ? 'category' : '');
const stackOf = (route, pool) =>
  STACKS.includes(route.stack) ? route.stack : route.stack === 'none' ? '' : stackDefault(pool);
/* What the URL says of the bands that were chosen: nothing of the default. */
export const stackPatch = (by, pool) => (by === (stackDefault(pool) || 'none') ? '' : by);

const isLeftOut = (view, pool) =>
  Boolean(pool) && ((pool.end && OVER_TIME.includes(view)) || (view === 'whatif' && !isReplayed(pool)));

const pinOfText = (pin) => (pin && PIN.test(pinText(pin)) ? pinText(pin) : null);

/* {time (ps, null: the peak), from, to, window, a, b, notes, pin, beside (as in pins.js, or null), view, stack, isFree,
 * isFragmentation}. */
export function wantedOf(route, pool) {
  return {
    time: Number.isInteger(route.time) && route.time >= 0 ? route.time : null,
    from: Number.isInteger(route.from) ? route.from : null,
    to: Number.isInteger(route.to) ? route.to : null,
    window: windowOf(route.sel),
    a: markOf(route.a),
    b: markOf(route.b),
    notes: notesOf(route.note),
    pin: pinOfText(route.pin),
    beside: pinOfText(route.beside),
    view: VIEWS.includes(route.view) && !isLeftOut(route.view, pool) ? route.view : VIEWS[0],
    isEnd: Boolean(pool?.end),
    stack: stackOf(route, pool),
    isFree: isFreeShown(route, pool),
    isFragmentation: isFragmentationShown(route, pool),
  };
}

/* Fragmentation is drawn where the core says that it is worth a line; the URL says otherwise. */
function isFragmentationShown(route, pool) {
  if (route.hide.includes('fragmentation')) return false;
  return route.show.includes('fragmentation') || Boolean(pool?.is_fragmentation_shown);
}

/* [from, to) in view: that of the URL within the trace, else all. */
export function rangeOf({ from, to }, all) {
  const low = Math.max(all[0], from ?? all[0]);
  const high = Math.min(all[1], to ?? all[1]);
  return high > low ? [low, high] : all;
}

/* What the URL says of a range: whole picoseconds, nothing for all of it. */
export function rangePatch(range, all) {
  if (isAll(range, all)) return { from: null, to: null };
  const [from, to] = range.map(Math.round);
  return { from, to: Math.max(to, from + 1) };
}

/* Names of what differs; "range" for from and to. */
export function changed(before, now) {
  const names = new Set();
  for (const name of ['time', 'a', 'b', 'pin', 'beside', 'view', 'stack', 'isFree', 'isFragmentation'])
    if (before[name] !== now[name]) names.add(name);
  if (before.from !== now.from || before.to !== now.to) names.add('range');
  if (String(before.window) !== String(now.window)) names.add('window');
  return names;
}
