/* SPDX-License-Identifier: Apache-2.0
 * labels.js: words on a picture, placed so that none lies on another.
 * Its own file: it knows no picture, and is tested at five sizes. */

/* Pure: do two boxes {x, y: their middle, width, height} lie on each other? */
export const meet = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-9;

/* Pure. labels: [{width, height, x, y}] in the order of their weight, y their middle; or `places` instead of x and y:
 * [{x, y}], the best first, and isStill: it stands at one of these or nowhere. within: {left, right, top, bottom};
 * there: boxes of what is painted already. Out: for each {x, y}, a place that it asked for or as near above or below
 * the first as the others leave room, or null: there is none, and it is left out. */
export function placeLabels(labels, { left, right, top, bottom }, there = []) {
  const taken = [...there];
  return labels.map(({ x: wantedX, y: wantedY, places = [{ x: wantedX, y: wantedY }], isStill, width, height }) => {
    if (width > right - left || height > bottom - top || places.length === 0) return null;
    const within = ({ x, y }) => ({
      x: Math.max(left, Math.min(x, right - width)),
      y: Math.max(top + height / 2, Math.min(y, bottom - height / 2)),
    });
    const isFree = (place) => !taken.some((other) => meet({ ...place, width, height }, other));
    const first = within(places[0]);
    const beside = () =>
      taken
        .flatMap((other) => [-1, 1].map((side) => other.y + (side * (height + other.height)) / 2))
        .map((y) => within({ x: first.x, y }))
        .filter(isFree)
        .sort((a, b) => Math.abs(a.y - first.y) - Math.abs(b.y - first.y))[0];
    const place = places.map(within).find(isFree) ?? (isStill ? undefined : beside());
    if (!place) return null;
    taken.push({ ...place, width, height });
    return place;
  });
}
