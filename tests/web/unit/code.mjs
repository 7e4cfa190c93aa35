/* SPDX-License-Identifier: Apache-2.0
 * code.mjs: an answer of the view `tree` as the page draws it, and the terms that a place adds to the filter. */

import { termsOf, withoutPlace, withPlace, readCode, wayTo } from '../../../web/tools/memory_viewer/code_tree.js';

const name = (text, kind = 'scope') => ({ text, kind, file: null, function: null, line: null });
/* all 100 → layer_{i} of 3 layers 70 (→ mlp 40, 30 not listed), 10 of its own, 20 not listed. */
const ANSWER = {
  by: 'scope',
  metric: 'bytes',
  matched_total: 100,
  path: [],
  nodes: {
    depth: [0, 1, 2],
    id: ['a', 'b', 'c'],
    name: [0, 1, 2],
    key: [0, 1, 2],
    total: [100, 70, 40],
    self: [10, 0, 40],
    rest: [20, 30, 0],
    rest_count: [4, 5, 0],
    count: [20, 12, 7],
    layers: [0, 3, 0],
    category: [0, 0, 0],
  },
  names: [name('all', 'group'), name('layer_{i}', 'layers'), name('mlp')],
  categories: ['parameter'],
};

export function run({ test, equal }) {
  test('what is not listed is one more place, last among its siblings', () => {
    const { tree, places } = readCode(ANSWER);
    equal([...tree.depth], [0, 1, 2, 2, 1]);
    equal([...tree.total], [100, 70, 40, 30, 20]);
    equal(
      places.map(({ isRest }) => isRest),
      [false, false, false, true, true],
    );
    equal(
      places.map(({ id }) => id),
      ['a', 'b', 'c', 'b', 'a'],
    ); // it leads to what holds it
    equal([...tree.width], [100, 70, 40, 30, 20]);
  });

  test('a way ends at a place that is listed', () => {
    const read = readCode(ANSWER);
    equal(
      wayTo(read, 2).map(({ text }) => text),
      ['layer_{i}', 'mlp'],
    );
    equal(
      wayTo(read, 3).map(({ text }) => text),
      ['layer_{i}'],
    );
    equal(wayTo(read, 0), []);
  });

  test('terms name a place exactly; a layer that stands apart has a term of its own', () => {
    const layers = { id: 'b', key: 'layer_{i}', text: 'layer_{i}', layers: 3 };
    const mlp = { id: 'c', key: 'mlp', text: 'mlp', layers: 0 };
    const one = { id: 'd', key: 'layer_2', text: 'layer_2', layers: 0 };
    equal(termsOf([layers, mlp], 'scope', ''), 'in:"layer_{i}/mlp/"*');
    equal(termsOf([layers, one, mlp], 'scope', 'b'), 'in:"layer_{i}/mlp/"* layer:"/layer_2/"');
    equal(termsOf([{ key: '/w/a.py:3 f', layers: 0 }], 'stack', ''), 'stack:"/w/a.py:3 f > "*');
    equal(termsOf([{ key: 'a"b', layers: 0 }], 'scope', ''), 'in:"a"*"b/"*');
    equal(termsOf([], 'scope', ''), '');
  });

  test('a path too long for an address is its last place alone', () => {
    const way = Array.from({ length: 400 }, (_, at) => ({ key: `scope_${at}`, layers: 0 }));
    equal(termsOf(way, 'scope', ''), 'in:"scope_399/"');
  });

  test('another place takes the place of the former one; what else was typed stays', () => {
    equal(withoutPlace('>64MiB in:"a b/"* -in:x layer:"/l_1/" fusion'), '>64MiB -in:x fusion');
    equal(withPlace('in:"a/"* >1GiB', 'in:"b/"*'), 'in:"b/"* >1GiB');
    equal(withPlace('in:"a/"*', ''), '');
  });
}
