/* SPDX-License-Identifier: Apache-2.0
 * marks.js: two moments that the reader marked, A and B, as they stand in the URL. Pure. */

/* What `m` does: mark A, then B, the third clears. */
export function nextMarks({ a, b }, moment) {
  if (a == null) return { a: String(moment), b: '' };
  if (b == null) return { a: String(a), b: String(moment) };
  return { a: '', b: '' };
}

/* What `x` does; null while one is missing. */
export function swappedMarks({ a, b }) {
  return a == null || b == null ? null : { a: String(b), b: String(a) };
}
