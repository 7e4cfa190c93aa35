/* SPDX-License-Identifier: Apache-2.0
 * range.js: ranges [from, to) of steps, picoseconds or bytes that are zoomed and moved. Pure.
 * A range never leaves `all` and is never narrower than `min`. Bounds may lie between two
 * steps, so that small movements add up; `whole` gives the steps in view. */

/* As few bytes of offsets fill a view. */
export const MIN_BYTES = 64 * 1024;

function fitted(from, width, [first, end]) {
  const wide = Math.min(width, end - first);
  const start = Math.max(first, Math.min(end - wide, from));
  return [start, start + wide];
}

/* Factor above 1 shows less; what lies at `about` stays where it is. */
export function zoomed([from, to], all, min, about, factor) {
  const width = Math.max(Math.min(min, all[1] - all[0]), (to - from) / factor);
  const share = to > from ? (about - from) / (to - from) : 0.5;
  return fitted(about - share * width, width, all);
}

/* Moved by `by`, as wide as before. */
export function moved([from, to], all, by) {
  return fitted(from + by, to - from, all);
}

/* [a, b) in view with room beside it. */
export function around([a, b], all, min, room = 0.25) {
  const width = Math.max(min, (b - a) * (1 + 2 * room));
  return fitted((a + b) / 2 - width / 2, width, all);
}

/* As wide as before, moved only as far as `at` needs to be seen. */
export function following([from, to], all, at) {
  if (at >= from && at < to) return [from, to];
  const edge = (to - from) * 0.1;
  return moved([from, to], all, at < from ? at - from - edge : at + 1 - to + edge);
}

/* The steps that are at least partly in view. */
export function whole([from, to]) {
  return [Math.floor(from + 1e-6), Math.ceil(to - 1e-6)];
}

/* The same to the nearest step, as the URL has it. */
export function nearest([from, to]) {
  const first = Math.round(from);
  return [first, Math.max(first + 1, Math.round(to))];
}

export function isAll([from, to], [first, end]) {
  return from <= first && to >= end;
}

/* Index of the last of `count` things in order of which isBefore(at) holds; -1 if it holds of none. */
export function lastBefore(count, isBefore) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
