/* SPDX-License-Identifier: Apache-2.0
 * strips_layout.js: where the bars of a strip stand. Pure.
 * In: bars in drawing order; Out: {x, width} in CSS pixels, on whole device pixels. */

import { lastBefore } from '../lib/range.js';

const GAP_FROM_PX = 4;
const SNAP_PX = 4;

export function weigh(bar, order) {
  return order === 'padding' ? bar.padding_bytes : bar.bytes;
}

/* Merged bars of one kind that stand side by side are one merged bar. */
export function joinMerged(bars) {
  const joined = [];
  for (const bar of bars) {
    const last = joined[joined.length - 1];
    if (!last || bar.id != null || last.id != null || bar.category !== last.category) {
      joined.push(bar);
      continue;
    }
    joined[joined.length - 1] = {
      ...last,
      count: last.count + bar.count,
      marked_count: last.marked_count + bar.marked_count,
      bytes: last.bytes + bar.bytes,
      unpadded_bytes: (last.unpadded_bytes ?? 0) + (bar.unpadded_bytes ?? 0),
      padding_bytes: (last.padding_bytes ?? 0) + (bar.padding_bytes ?? 0),
      largest_bytes: Math.max(last.largest_bytes ?? 0, bar.largest_bytes ?? 0),
    };
  }
  return joined;
}

/* `ratio` is device pixels per CSS pixel. Widths add up to `width`, or to the bars' part of `whole`; a bar has at least
 * one device pixel. */
export function layOut(bars, order, width, ratio, whole = 0) {
  const total = Math.max(
    whole,
    bars.reduce((sum, bar) => sum + weigh(bar, order), 0),
  );
  if (total <= 0) return [];
  const device = Math.round(width * ratio);
  let before = 0;
  return bars.map((bar) => {
    const from = Math.round((device * before) / total);
    before += weigh(bar, order);
    const to = Math.max(from + 1, Math.round((device * before) / total));
    const gap = (to - from) / ratio >= GAP_FROM_PX ? Math.max(1, Math.round(ratio)) : 0;
    return { bar, x: from / ratio, width: (to - from - gap) / ratio };
  });
}

/* Index of the bar at `x`, else of the nearest within 4 px, else -1. */
export function barAt(rects, x) {
  const last = lastBefore(rects.length, (at) => rects[at].x <= x);
  const away = (at) => (rects[at] ? Math.max(rects[at].x - x, x - (rects[at].x + rects[at].width), 0) : Infinity);
  const best = away(last + 1) < away(last) ? last + 1 : last;
  return away(best) <= SNAP_PX ? best : -1;
}

/* Bars of which isIn(bar) holds, those side by side as one box. */
export function runsWhere(rects, isIn) {
  const runs = [];
  let run = null;
  for (const { bar, x, width } of rects) {
    if (!isIn(bar)) run = null;
    else if (run) run.width = x + width - run.x;
    else runs.push((run = { x, width }));
  }
  return runs;
}

/* The bars that hold one of the rows, those side by side as one box. Ranks count all that lives, so they name no
 * merged bar of strips that a filter thinned out. */
export function runsOf(rects, order, rows, isFiltered = false) {
  const ids = new Set(rows.map((row) => row.id));
  const ranks = Float64Array.from(rows.map((row) => row.ranks?.[order] ?? -1)).sort();
  let next = 0;
  return runsWhere(rects, (bar) => {
    while (next < ranks.length && ranks[next] < bar.first_rank) next++;
    return bar.id == null ? !isFiltered && ranks[next] < bar.first_rank + bar.count : ids.has(bar.id);
  });
}

/* Share of a bar's height that is data; the rest is padding. */
export function dataShare(bar) {
  return bar.bytes > 0 ? Math.min(1, Math.max(0, 1 - bar.padding_bytes / bar.bytes)) : 1;
}

/* The bar that stands for a buffer: its own, or the merged one that holds its rank; -1 if not known. */
export function barOf(rects, id, rank) {
  const own = rects.findIndex(({ bar }) => bar.id === id);
  if (own >= 0 || rank == null) return own;
  return rects.findIndex(({ bar }) => bar.id == null && rank >= bar.first_rank && rank < bar.first_rank + bar.count);
}

/* Width to ask the daemon for: rounded up to 64, so that a small resize asks nothing new. */
export function askedWidth(px) {
  return Math.min(4096, Math.max(64, Math.ceil(px / 64) * 64));
}
