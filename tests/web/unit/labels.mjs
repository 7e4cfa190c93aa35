/* SPDX-License-Identifier: Apache-2.0
 * labels.mjs: words on a picture, none on another. */

import { placeLabels } from '../../../web/widgets/labels.js';

/* Sizes of a plot: a phone, a drawer, half a page, a page, a large screen. */
const SIZES = [
  [330, 90],
  [420, 200],
  [680, 160],
  [1300, 360],
  [2400, 900],
];

/* The same in every run. */
function createRandom() {
  let state = 7;
  return (most) => {
    state = (state * 48271) % 2147483647;
    return (state / 2147483647) * most;
  };
}

const overlap = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-9;

export function run({ test, equal, truth }) {
  test('labels: at five sizes none lies on another, and all lie within', () => {
    const random = createRandom();
    for (const [width, height] of SIZES)
      for (let round = 0; round < 50; round++) {
        const labels = Array.from({ length: 1 + Math.floor(random(14)) }, () => ({
          x: random(width),
          y: random(height),
          width: 20 + random(160),
          height: 14,
        }));
        const placed = placeLabels(labels, { left: 0, right: width, top: 0, bottom: height })
          .map((place, at) => place && { ...labels[at], ...place })
          .filter(Boolean);
        truth(placed.length > 0, 'none is drawn');
        for (const [at, one] of placed.entries()) {
          truth(one.x >= 0 && one.x + one.width <= width && one.y >= 7 && one.y <= height - 7, `outside of ${width}`);
          for (const other of placed.slice(at + 1))
            truth(!overlap(one, other), `${JSON.stringify(one)} on ${JSON.stringify(other)}`);
        }
      }
  });

  test('labels: who has room stays, who has none moves no further than needed, or is left out', () => {
    const within = { left: 0, right: 100, top: 0, bottom: 40 };
    const label = (x, y) => ({ x, y, width: 60, height: 14 });
    const low = { ...within, bottom: 60 };
    equal(placeLabels([label(0, 20), label(0, 21)], low), [
      { x: 0, y: 20 },
      { x: 0, y: 34 },
    ]);
    equal(placeLabels([label(0, 20), label(70, 20)], low)[1], { x: 40, y: 34 });
    equal(placeLabels([label(0, 10), label(0, 26), label(0, 20)], within)[2], null);
    equal(placeLabels([{ x: 0, y: 0, width: 101, height: 14 }], within), [null]);
  });
}
