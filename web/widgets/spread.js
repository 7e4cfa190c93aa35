/* SPDX-License-Identifier: Apache-2.0
 * spread.js: where many values share a pixel, the smallest and the largest of each pixel: a picture of the largest
 * alone is a block that was never there. Its own file: the curve, the timeline and the small picture below each have
 * it. */

/* Pure. x: ascending integers; values: the value that holds from each x on; [from, to): what `parts` equal parts
   divide, as the
 * daemon does that thins. Out, for each index: lowAt[], highAt[]: index of the smallest and of the largest value in its
 * part; before parts without any value the last one of a part stands for itself: it is what holds in them. */
export function spread(x, values, [from, to], parts) {
  const part = Math.max(Number.MIN_VALUE, (to - from) / Math.max(1, parts));
  const partOf = (at) => Math.ceil((x[at] - from + 1) / part); // part i holds whole numbers from ⌊i · part⌋ on
  const lowAt = new Array(x.length);
  const highAt = new Array(x.length);
  for (let first = 0, end = 0; first < x.length; first = end) {
    const number = partOf(first);
    let [low, high] = [first, first];
    for (end = first + 1; end < x.length && partOf(end) === number; end++) {
      if (values[end] < values[low]) low = end;
      if (values[end] > values[high]) high = end;
    }
    lowAt.fill(low, first, end);
    highAt.fill(high, first, end);
    const next = end < x.length ? partOf(end) : parts + 1;
    if (next > number + 1) lowAt[end - 1] = highAt[end - 1] = end - 1;
  }
  return { lowAt, highAt };
}

/* Pure: the values of `values` at those indices. */
export const taken = (values, indices) => indices.map((at) => values[at]);
