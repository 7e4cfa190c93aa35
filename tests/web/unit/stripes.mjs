/* SPDX-License-Identifier: Apache-2.0
 * stripes.mjs: stripes of buffers lie one on the other and together are as high as the line; equal neighbours are seen
 * apart, and a name has its contrast on both tones. */

import { bandAt, besideLine, layStripes } from '../../../web/widgets/stripes.js';
import { secondTone } from '../../../web/widgets/tones.js';

/* Steps 0 to 5: 10 parameters all along; a (4) lives from 1 to 4, b (4) from 2 to 5, c (1) has no stripe. */
const STEPS = [0, 1, 2, 3, 4, 5];
const curve = () => ({
  steps: STEPS,
  stack: [
    { name: 'parameter', values: [10, 10, 10, 10, 10, 10] },
    { name: 'workspace', values: [0, 4, 8, 9, 4, 0] },
  ],
});
const buffer = (id, from, to, bytes = 4) => ({ id, name: id, bytes, category: 'workspace', from, to });
const topAt = (bands, at) =>
  Math.max(
    ...bands
      .filter(({ first, high }) => at >= first && at < first + high.length)
      .map(({ first, high }) => high[at - first]),
  );

export function run({ test, equal, truth }) {
  test('stripes: a name stands beside the line of the capacity, not on it', () => {
    const room = { x: 5, y: 100, width: 80, height: 40 };
    equal(besideLine(room, 118, 14), { ...room, y: 118, height: 22 });
    equal(besideLine(room, 123, 14), { ...room, height: 23 });
    equal(besideLine(room, 105, 14), room, 'it does not touch the words');
    equal(besideLine(room, -Infinity, 14), room, 'there is no capacity');
  });

  test('all stripes together are as high as the line at every step, in whatever order they come', () => {
    for (const items of [[], [buffer('a', 1, 4)], [buffer('b', 2, 5), buffer('a', 1, 4)]]) {
      const bands = layStripes(curve(), items);
      equal(
        STEPS.map((at) => topAt(bands, at)),
        [10, 14, 18, 19, 14, 10],
      );
      for (const { low, high } of bands)
        truth(
          low.every((value, at) => value <= high[at]),
          'a stripe stands on its head',
        );
    }
  });

  test('what is always there lies below, then the oldest; a place belongs to the stripe that is there', () => {
    const bands = layStripes(curve(), [buffer('b', 2, 5), buffer('a', 1, 4)]);
    equal(
      bands.map(({ item, category }) => item?.id ?? category),
      ['parameter', 'a', 'b', 'workspace'],
    );
    const shown = { steps: STEPS, stripes: bands };
    const idAt = (step, byte) => bandAt(shown, step, byte)?.item?.id ?? null;
    equal([idAt(1, 11), idAt(2, 15), idAt(3, 15), idAt(4, 11)], ['a', 'b', 'b', 'b']);
    equal([idAt(1, 5), idAt(3, 18.5), idAt(0, 11)], [null, null, null]);
    equal(bandAt(shown, 0, 11), null);
  });

  test('between two kept steps nothing is drawn, and a category that the curve does not tell has no stripe', () => {
    const thin = { steps: [0, 4], stack: [{ name: 'workspace', values: [0, 4] }] };
    equal(layStripes(thin, [buffer('a', 1, 4)]).filter(({ item }) => item).length, 0);
    equal(layStripes(curve(), [{ ...buffer('a', 1, 4), category: 'cache' }]).filter(({ item }) => item).length, 0);
  });

  test('equal buffers that lie one on the other have two tones, also with small ones between', () => {
    const items = Array.from({ length: 12 }, (_, at) => buffer(`large ${at}`, at, 24 - at, 64));
    const between = Array.from({ length: 12 }, (_, at) => buffer(`small ${at}`, at, 20, 1));
    const steps = Array.from({ length: 24 }, (_, at) => at);
    const values = steps.map((step) =>
      [...items, ...between].reduce((sum, { from, to, bytes }) => sum + (step >= from && step < to ? bytes : 0), 0),
    );
    const large = layStripes({ steps, stack: [{ name: 'workspace', values }] }, [...items, ...between]).filter(
      ({ item }) => item?.bytes === 64,
    );
    equal(
      large.map(({ isSecond }) => isSecond),
      large.map((_, at) => at % 2 === 1),
    );
  });

  test('the second tone goes away from its ink', () => {
    equal([secondTone('#808080', '#FFFFFF'), secondTone('#808080', '#000000')], ['#666666', '#999999']);
    equal(secondTone('red', '#000000'), 'red');
  });
}
