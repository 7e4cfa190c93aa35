/* SPDX-License-Identifier: Apache-2.0
 * table_window.js: which rows of a long table stand in the document, and where. Pure.
 *
 * Browsers cap the height of an element. Up to TALLEST_PX a row lies at its own place; beyond it the
 * position of the scroll bar is mapped to the row, so that the last row is reached in any table. */

export const TALLEST_PX = 8_000_000;
const EXTRA_ROWS = 20;

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/* Heights: as they would be, and as they are. */
function heights({ count, rowPx, viewPx }) {
  const natural = count * rowPx;
  const whole = Math.min(natural, TALLEST_PX);
  return {
    natural,
    whole,
    naturalEnd: Math.max(0, natural - viewPx),
    end: Math.max(0, whole - viewPx),
  };
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
