/* SPDX-License-Identifier: Apache-2.0
 * range.mjs: ranges that are zoomed and moved, and the map's hit test, without a browser. */

import { around, following, isAll, moved, nearest, whole, zoomed } from '../../../web/lib/range.js';
import { arrange, bandAt, bandsOf, cutOf, rectangleAt } from '../../../web/widgets/map_layout.js';
import { toggledCategory } from '../../../web/tools/memory_viewer/filter.js';

export function run({ test, equal, truth }) {
  const all = [0, 1000];

  test('zoom keeps what lies under the pointer, and stays inside', () => {
    equal(zoomed([0, 1000], all, 8, 250, 2), [125, 625]);
    equal(zoomed([125, 625], all, 8, 250, 0.5), [0, 1000]);
    equal(zoomed([0, 100], all, 8, 0, 0.5), [0, 200]);
    equal(zoomed([10, 20], all, 8, 15, 100), [11, 19]);
    equal(zoomed([0, 3], [0, 3], 8, 1, 2), [0, 3]);
  });
  test('a range is moved as far as there is room', () => {
    equal(moved([100, 200], all, 50), [150, 250]);
    equal(moved([100, 200], all, -500), [0, 100]);
    equal(moved([800, 950], all, 500), [850, 1000]);
  });
  test('a range follows a step only when it leaves', () => {
    equal(following([100, 200], all, 150), [100, 200]);
    equal(following([100, 200], all, 200), [111, 211]);
    equal(following([100, 200], all, 0), [0, 100]);
    equal(around([400, 500], all, 8, 0.5), [350, 550]);
    equal(whole([10.4, 20.2]), [10, 21]);
    equal(nearest([10.4, 10.4]), [10, 11]);
    equal(isAll([0, 1000], all), true);
  });

  const box = (id, from, to, low, high) => ({ id, from, to, low_bytes: low, high_bytes: high });
  const columns = arrange([
    box('c', 50, 60, 0, 10),
    box('a', 0, 100, 20, 30),
    box('b', 10, 20, 0, 10),
    box(null, 70, 90, 0, 8),
  ]);

  test('the rectangle under a point is found, however long one before it lives', () => {
    const id = (step, byte, near = 0.001) => {
      const at = rectangleAt(columns, step, byte, near, near);
      return at < 0 ? 'none' : columns.items[at].id;
    };
    equal([id(15, 5), id(55, 5), id(55, 25), id(99, 25), id(80, 4)], ['b', 'c', 'a', 'a', null]);
    equal([id(30, 5), id(15, 15), id(200, 25)], ['none', 'none', 'none']);
    equal([id(62, 5, 4), id(21, 12, 4)], ['c', 'b']);
  });
  test('the hit test agrees with a plain search over ten thousand rectangles', () => {
    const many = [];
    for (let at = 0; at < 10000; at++)
      many.push(box(String(at), (at * 37) % 5000, ((at * 37) % 5000) + 1 + (at % 41), at * 10, at * 10 + 9));
    const made = arrange(many);
    for (let at = 0; at < 500; at++) {
      const [step, byte] = [((at * 61) % 5000) + 0.5, ((at * 997) % 10000) * 10 + 5];
      const found = rectangleAt(made, step, byte, 1e-9, 1e-9);
      const plain = many.find(
        (each) => step >= each.from && step <= each.to && byte >= each.low_bytes && byte <= each.high_bytes,
      );
      equal(found < 0 ? null : made.items[found].id, plain?.id ?? null);
    }
  });
  test('bands fill their height, the heaviest kind first', () => {
    const bands = bandsOf(
      [
        { id: '1', category: 'output', bytes: 10 },
        { id: '2', category: 'parameter', bytes: 60 },
        { id: '3', category: 'parameter', bytes: 30 },
      ],
      100,
      1,
    );
    equal(
      bands.map(({ item, y, height }) => [item.id, y, height]),
      [
        ['2', 0, 60],
        ['3', 60, 30],
        ['1', 90, 10],
      ],
    );
    equal([bandAt(bands, 0), bandAt(bands, 59), bandAt(bands, 60), bandAt(bands, 99)], [0, 0, 1, 2]);
    truth(bandsOf([], 100, 1).length === 0, 'bands of nothing');
  });
  test('where all in view is above the capacity all of it is, without a line', () => {
    const plot = (low, high) => ({
      top: 34,
      height: 100,
      view: { low, high },
      y: (byte) => 134 - (100 * (byte - low)) / (high - low),
    });
    equal(cutOf(plot(0, 200), 150), { height: 25, hasLine: true });
    equal(cutOf(plot(150, 250), 150), { height: 100, hasLine: false });
    equal(cutOf(plot(200, 300), 150), { height: 100, hasLine: false });
    equal([cutOf(plot(0, 150), 150), cutOf(plot(0, 100), 150)], [null, null]);
  });
  test('a legend word changes only its own term of the filter', () => {
    equal(toggledCategory('', 'output', false), 'cat:output');
    equal(toggledCategory('cat:output >1MiB', 'output', false), '>1MiB');
    equal(toggledCategory('cat:output >1MiB', 'constant', true), 'cat:output,constant >1MiB');
    equal(toggledCategory('>1MiB cat:output,constant', 'output', true), 'cat:constant >1MiB');
    equal(toggledCategory('scat:x -cat:output', 'constant', false), 'cat:constant scat:x -cat:output');
  });
}
