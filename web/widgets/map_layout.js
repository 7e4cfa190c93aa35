/* SPDX-License-Identifier: Apache-2.0
 * map_layout.js: where the rectangles of an allocation map stand and which one lies under a
 * point. Pure. Steps go across, offsets up; a rectangle is [from, to) × [low, high).
 * Its own file: pure, tested without a page. */

import { lastBefore } from '../lib/range.js';

/* Rectangles by the step in which they begin, as columns that are quick to walk. `last` is the
 * largest end so far, so that a search knows when nothing before can reach a step. */
export function arrange(rectangles) {
  const items = [...rectangles].sort((a, b) => a.from - b.from || a.low_bytes - b.low_bytes);
  const { length } = items;
  const columns = {
    length,
    items,
    from: new Float64Array(length),
    to: new Float64Array(length),
    low: new Float64Array(length),
    high: new Float64Array(length),
    last: new Float64Array(length),
    atOfId: new Map(),
  };
  let last = -Infinity;
  items.forEach((item, at) => {
    columns.from[at] = item.from;
    columns.to[at] = item.to;
    columns.low[at] = item.low_bytes;
    columns.high[at] = item.high_bytes;
    last = Math.max(last, item.to);
    columns.last[at] = last;
    if (item.id != null) columns.atOfId.set(item.id, at);
  });
  return columns;
}

/* The rectangle at (step, byte), else the nearest within (nearSteps, nearBytes); a single buffer
 * goes before a merged one. -1 if there is none. */
export function rectangleAt(columns, step, byte, nearSteps, nearBytes) {
  const { from, to, low, high, last, items } = columns;
  let best = -1;
  let bestAway = Infinity;
  for (
    let at = lastBefore(from.length, (each) => from[each] < step + nearSteps);
    at >= 0 && last[at] > step - nearSteps;
    at--
  ) {
    const dx = Math.max(from[at] - step, step - to[at], 0) / nearSteps;
    const dy = Math.max(low[at] - byte, byte - high[at], 0) / nearBytes;
    if (dx > 1 || dy > 1) continue;
    const away = dx + dy + (items[at].id == null ? 0.5 : 0);
    if (away < bestAway) {
      best = at;
      bestAway = away;
    }
  }
  return best;
}

/* Heights of the bands of what lives from begin to end: largest first within each category, together
 * `height`; a band has at least one device pixel. Out: [{item, y, height}], from the top. */
export function bandsOf(items, height, ratio) {
  const total = items.reduce((sum, item) => sum + item.bytes, 0);
  if (total <= 0) return [];
  const device = Math.round(height * ratio);
  const sums = new Map();
  for (const item of items) sums.set(item.category, (sums.get(item.category) ?? 0) + item.bytes);
  const sorted = [...items].sort(
    (a, b) =>
      sums.get(b.category) - sums.get(a.category) ||
      (a.category < b.category ? -1 : a.category > b.category ? 1 : b.bytes - a.bytes),
  );
  let before = 0;
  return sorted
    .map((item) => {
      const from = Math.round((device * before) / total);
      before += item.bytes;
      return {
        item,
        y: from / ratio,
        height: (Math.max(from + 1, Math.round((device * before) / total)) - from) / ratio,
      };
    })
    .filter((band) => band.y < height);
}

/* Index of the band under y: the last that begins above it. */
export const bandAt = (bands, y) => lastBefore(bands.length, (at) => bands[at].y <= y);

/* Where the capacity cuts a plot of the offsets [low, high): the height of what lies above it, from the top, and
   whether
 * its line is in view; null: all of the plot lies below. */
export function cutOf({ top, height, y, view }, limit) {
  if (limit >= view.high) return null;
  if (limit <= view.low) return { height, hasLine: false };
  return { height: Math.round(y(limit)) - top, hasLine: true };
}
