/* SPDX-License-Identifier: Apache-2.0
 * labels.js: words on a picture, placed so that none lies on another.
 * Its own file: it knows no picture, and is tested at five sizes. */

/* Pure. labels: [{x, y, width, height}] in the order of their weight, y their middle; within: {left, right, top,
 * bottom}. Out: for each {x, y} as near to where it asked as the others leave room, or null: there is none, and it is
 * left out. */
export function placeLabels(labels, { left, right, top, bottom }) {
  const taken = [];
  return labels.map(({ x: wantedX, y: wantedY, width, height }) => {
    if (width > right - left || height > bottom - top) return null;
    const x = Math.max(left, Math.min(wantedX, right - width));
    const within = (y) => Math.max(top + height / 2, Math.min(y, bottom - height / 2));
    const isFree = (y) =>
      taken.every(
        (other) =>
          x >= other.x + other.width || x + width <= other.x || Math.abs(y - other.y) >= (height + other.height) / 2,
      );
    const beside = taken.flatMap((other) => [-1, 1].map((side) => other.y + (side * (height + other.height)) / 2));
    const [y] = [wantedY, ...beside]
      .map(within)
      .filter(isFree)
      .sort((a, b) => Math.abs(a - wantedY) - Math.abs(b - wantedY));
    if (y === undefined) return null;
    taken.push({ x, y, width, height });
    return { x, y };
  });
}
