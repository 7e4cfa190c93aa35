/* SPDX-License-Identifier: Apache-2.0
 * spread.mjs: values that share a pixel are drawn from the smallest to the largest, not as a block up to the largest.
 * */

import { curveOf } from '../../../web/tools/memory_viewer/load.js';
import { overviewOf, timelineOf } from '../../../web/tools/memory_profile/load.js';
import { spread, taken } from '../../../web/widgets/spread.js';
import { paleTone } from '../../../web/widgets/tones.js';

/* A saw of four events a part, in 8 parts of 100 ps; the last part never falls below 50. */
const TIMES = Array.from({ length: 32 }, (_, at) => at * 25);
const SAW = TIMES.map((ps, at) => (ps >= 700 ? 50 : 0) + [10, 2, 40, 5][at % 4]);
const answer = (isThinned, more = {}) => ({
  from_ps: 0,
  to_ps: 800,
  start_ps: 0,
  end_ps: 800,
  event_count: 32000,
  is_thinned: isThinned,
  has_free: false,
  has_fragmentation: false,
  before: null,
  columns: {
    time_ps: TIMES,
    event: TIMES.map((_, at) => at),
    stack_bytes: TIMES.map(() => 0),
    heap_bytes: SAW,
    free_bytes: TIMES.map(() => null),
    fragmentation: TIMES.map(() => null),
    step: TIMES.map(() => null),
  },
  peak: { time_ps: 750, in_use_bytes: 90 },
  local_peaks: [],
  failures: [],
  ...more,
});

export function run({ test, equal }) {
  test('each part has its smallest and its largest value, and no value of its neighbours', () => {
    const { lowAt, highAt } = spread(TIMES, SAW, [0, 800], 8);
    equal(
      taken(
        SAW,
        lowAt.filter((_, at) => at % 4 === 0),
      ),
      [2, 2, 2, 2, 2, 2, 2, 52],
    );
    equal(
      taken(
        SAW,
        highAt.filter((_, at) => at % 4 === 0),
      ),
      [40, 40, 40, 40, 40, 40, 40, 90],
    );
  });

  test('parts begin where those of the daemon begin, also where steps do not divide by them', () => {
    /* 10 steps in 3 parts: 0, 1, 2 · 3, 4, 5 · 6, 7, 8, 9 */
    const steps = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    const { lowAt } = spread(steps, [9, 9, 1, 9, 9, 2, 9, 9, 9, 3], [0, 10], 3);
    equal(lowAt, [2, 2, 2, 5, 5, 5, 9, 9, 9, 9]);
  });

  test('what a pixel reached is not held over the empty ones behind it', () => {
    const { lowAt, highAt } = spread([0, 1, 2, 50, 51, 90, 91], [1, 9, 3, 8, 4, 2, 7], [0, 200], 20);
    equal(
      [lowAt, highAt],
      [
        [0, 0, 2, 4, 4, 5, 6],
        [1, 1, 2, 3, 4, 6, 6],
      ],
    );
    equal(
      spread([0, 1, 12], [9, 1, 5], [0, 20], 2),
      { lowAt: [1, 1, 2], highAt: [0, 0, 2] },
      'the next part has values',
    );
  });

  test('events that share a pixel: solid to the lowest, pale to the highest; else one area', () => {
    const shown = timelineOf(answer(true), { range: [0, 800], isFree: false, width: 8 });
    equal(
      shown.layers.map(({ isPale, values }) => [isPale, Math.max(...values.slice(0, 28)), values[31]]),
      [
        [true, 40, 90],
        [false, 2, 52],
      ],
    );
    const all = timelineOf(answer(false), { range: [0, 800], isFree: false, width: 8 });
    equal(
      all.layers.map(({ isPale, values }) => [isPale, Math.max(...values.slice(0, 28))]),
      [[false, 40]],
    );
  });

  test('bands are those of the lowest and those of the highest event of a pixel', () => {
    const half = SAW.map((value) => value / 2);
    const stacked = {
      by: 'category',
      bands: ['parameter', 'workspace'].map((label) => ({ kind: 'group', label, before_bytes: 0, bytes: half })),
    };
    const { layers } = timelineOf(answer(true, { stacked }), { range: [0, 800], isFree: false, width: 8 });
    equal(
      layers.map(({ isPale, values }) => [isPale, values[0]]),
      [
        [true, 40],
        [true, 20],
        [false, 2],
        [false, 1],
      ],
    );
  });

  test('the whole run in small has the lowest of each part too', () => {
    const { bytes, lowest } = overviewOf(answer(true), [0, 600 * 800]);
    equal([Math.max(...bytes), Math.min(...lowest)], [90, 2]);
  });

  test('a curve says into how many parts it was thinned', () => {
    const data = { from: 0, to: 2, step_count: 2, is_thinned: true, columns: { step: [0, 1], bytes: [1, 2] } };
    equal(curveOf(data, 1024).width, 1024);
  });

  test('a pale tone is nearer to the ground', () => {
    equal(
      [paleTone('#000000', '#FFFFFF'), paleTone('#FFFFFF', '#000000'), paleTone('red', '#000000')],
      ['#949494', '#6b6b6b', 'red'],
    );
  });
}
