/* SPDX-License-Identifier: Apache-2.0
 * places.js: both curves on their common axis. Pure.
 * Its own file: what is drawn of it needs a browser. */

import { lastBefore } from '../../lib/range.js';

const SIDES = ['a', 'b'];

/* Pure: what holds at a place: {step, bytes} of one side, and the scope there. */
function readSide({ columns, indefinite_bytes: before }, place) {
  const at = lastBefore(columns.place.length, (index) => columns.place[index] <= place);
  return at < 0
    ? { step: 0, bytes: before, scope: '' }
    : { step: columns.step[at], bytes: columns.bytes[at], scope: columns.scope[at] };
}

export function readPlace(data, place) {
  const [a, b] = SIDES.map((side) => readSide(data[side], place));
  return { place, a, b, scope: b.scope || a.scope };
}

/* Pure: both sides over one list of places: [places, bytes of A, bytes of B]. */
export function mergedCurves(data) {
  const places = [...new Set([0, ...data.a.columns.place, ...data.b.columns.place, data.axis_length])].sort(
    (x, y) => x - y,
  );
  const next = { a: 0, b: 0 };
  const held = { a: data.a.indefinite_bytes, b: data.b.indefinite_bytes };
  const values = { a: [], b: [] };
  for (const place of places)
    for (const side of SIDES) {
      const { columns } = data[side];
      while (next[side] < columns.place.length && columns.place[next[side]] <= place)
        held[side] = columns.bytes[next[side]++];
      values[side].push(held[side]);
    }
  return [places, values.a, values.b];
}
