/* SPDX-License-Identifier: Apache-2.0
 * labels.mjs: words on a picture, none on another. */

import { placeLimit } from '../../../web/widgets/curve_capacity.js';
import { meet, placeLabels } from '../../../web/widgets/labels.js';
import { placeMapWords } from '../../../web/widgets/map_words.js';

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

const ROUNDS = 50;

export function run({ test, equal, truth }) {
  test('labels: at five sizes none lies on another, and all lie within', () => {
    const random = createRandom();
    for (const [width, height] of SIZES)
      for (let round = 0; round < ROUNDS; round++) {
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
            truth(!meet(one, other), `${JSON.stringify(one)} on ${JSON.stringify(other)}`);
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
  test('labels: what is painted already is not crossed, not even by what has to move', () => {
    const random = createRandom();
    for (const [width, height] of SIZES)
      for (let round = 0; round < ROUNDS; round++) {
        const lines = Array.from({ length: 3 }, () => ({ x: 0, y: random(height), width, height: 2 }));
        const labels = lines.map(({ y }) => ({ x: 4, y: y - 9, width: 120, height: 14 }));
        const places = placeLabels(labels, { left: 0, right: width, top: 0, bottom: height }, lines);
        places.forEach((place, at) => {
          for (const line of place ? lines : [])
            truth(!meet({ ...labels[at], ...place }, line), `${JSON.stringify(place)} on ${JSON.stringify(line)}`);
        });
      }
  });

  test('labels: of several places the first that is free, and none beside them for what stands still', () => {
    const within = { left: 0, right: 100, top: 0, bottom: 100 };
    const label = {
      places: [
        { x: 0, y: 20 },
        { x: 0, y: 60 },
      ],
      width: 60,
      height: 14,
    };
    const there = [20, 60].map((y) => ({ x: 0, y, width: 60, height: 14 }));
    equal(placeLabels([label], within), [{ x: 0, y: 20 }]);
    equal(placeLabels([label], within, there.slice(0, 1)), [{ x: 0, y: 60 }]);
    equal(placeLabels([{ ...label, isStill: true }], within, there), [null]);
    equal(placeLabels([label], within, there), [{ x: 0, y: 34 }]);
  });

  test('labels: at five sizes the words of a capacity lie on no label, on a mark only if they must', () => {
    const random = createRandom();
    for (const [width, height] of SIZES)
      for (let round = 0; round < ROUNDS; round++) {
        const box = { left: 0, top: 0, width, height };
        const y = round % 10 === 0 ? null : random(height);
        const peak = { x: random(width - 150), y: 8 + random(height - 16), width: 150, height: 16 };
        const marks = Array.from({ length: 12 }, () => ({ x: random(width), y: random(height), width: 8, height: 8 }));
        const place = placeLimit(box, y, 150, 1, [peak], marks);
        if (!place) continue;
        const words = { ...place, width: 150, height: 16 };
        truth(!meet(words, peak), `${JSON.stringify(words)} on ${JSON.stringify(peak)}`);
        const isOnMark = marks.some((mark) => meet(words, mark));
        const other = isOnMark && placeLimit(box, y, 150, 1, [peak, ...marks], []);
        const isBeside = other && y != null && Math.abs(Math.abs(other.y - y) - 10.5) <= 0.5;
        truth(!isBeside, `on a mark, though ${JSON.stringify(other)} is free`);
      }
    equal(placeLimit({ left: 0, top: 0, width: 300, height: 100 }, 50, 100, 1, [], []), { x: 196, y: 39 });
    const mark = { x: 250, y: 39, width: 8, height: 8 };
    equal(placeLimit({ left: 0, top: 0, width: 300, height: 100 }, 50, 100, 1, [], [mark]), { x: 196, y: 60 });
  });

  test('labels: at five sizes no two words of a map lie on each other', () => {
    const random = createRandom();
    for (const [width, height] of SIZES)
      for (let round = 0; round < ROUNDS; round++) {
        const plot = { left: 64, right: 64 + width, top: 34, bottom: 34 + height, width, height };
        const sizes = { limit: 60 + random(200), from: 60 + random(120), peak: 30 };
        const placed = placeMapWords(
          plot,
          {
            limit: { width: sizes.limit, y: 34 + random(height) },
            from: { width: sizes.from },
            peak: { width: sizes.peak, x: 64 + random(width) },
          },
          Array.from({ length: 8 }, () => ({ x: 64 + random(width), y: 34 + random(height), width: 90, height: 14 })),
        );
        const words = Object.entries(placed)
          .filter(([, place]) => place)
          .map(([name, place]) => ({ ...place, width: sizes[name], height: 16 }));
        truth(words.length > 0, 'no words');
        for (const [at, one] of words.entries())
          for (const other of words.slice(at + 1))
            truth(!meet(one, other), `${JSON.stringify(one)} on ${JSON.stringify(other)}`);
      }
  });
}
