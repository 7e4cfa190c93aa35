/* SPDX-License-Identifier: Apache-2.0
 * icicle.mjs: where the frames of a flame graph stand, and what a search adds up to. */

import {
  buildTree,
  childrenOf,
  makeRects,
  pathOf,
  rectAt,
  rectOf,
  searchTree,
  silhouetteOf,
  visibleRects,
} from '../../../web/widgets/icicle_layout.js';

/* all 100 → main 90 (→ fit 60 (→ step 50), load 20), ema 6, 4 of its own. */
const small = () =>
  buildTree({
    depth: [0, 1, 2, 3, 2, 1],
    frame: [0, 1, 2, 3, 4, 5],
    total: [100, 90, 60, 50, 20, 6],
    self: [4, 10, 10, 50, 20, 6],
  });

const rectangles = (tree, window) => {
  const out = visibleRects(
    tree,
    { from: 0, to: tree.width[0], base: 0, firstRow: 0, lastRow: 99, px: 1000, ...window },
    makeRects(window?.max ?? 4000),
  );
  return Array.from({ length: out.length }, (_, at) => [
    out.node[at],
    out.row[at],
    Math.round(out.x[at]),
    Math.round(out.width[at]),
    out.merged[at],
  ]);
};

/* A root over `count` children of one byte each. */
const flat = (count) =>
  buildTree({
    depth: [0, ...Array(count).fill(1)],
    frame: [0, ...Array(count).fill(1)],
    total: [count, ...Array(count).fill(1)],
    self: [0, ...Array(count).fill(1)],
  });

export function run({ test, equal, truth }) {
  test('icicle: the silhouette says how deep the tree is along its width', () => {
    /* step 0…50 four rows, the rest of fit 50…60 three, load 60…80 three, main's own 80…90 two, ema 90…96, all's own
       96…100. */
    equal(silhouetteOf(small()), { steps: [0, 50, 60, 80, 90, 96], bytes: [4, 3, 3, 2, 2, 1], lastStep: 99, max: 4 });
    equal(silhouetteOf(buildTree({ depth: [0], frame: [0], total: [0], self: [0] })).steps, []);
  });

  test('children stand under their parent, from its left edge, what is its own at the right', () => {
    equal(rectangles(small()), [
      [0, 0, 0, 1000, 0],
      [1, 1, 0, 900, 0],
      [2, 2, 0, 600, 0],
      [3, 3, 0, 500, 0],
      [4, 2, 600, 200, 0],
      [5, 1, 900, 60, 0],
    ]);
  });

  test('a window shows its part at full width, from the depth of the frame that was chosen', () => {
    equal(rectangles(small(), { from: 60, to: 80, base: 2 }), [[4, 0, 0, 1000, 0]]);
  });

  test('rows outside the picture are not drawn', () => {
    equal(
      rectangles(small(), { firstRow: 1, lastRow: 2 }).map(([node]) => node),
      [1, 2, 4, 5],
    );
  });

  test('frames narrower than two pixels are one, which says how many', () => {
    equal(rectangles(flat(2000)), [
      [0, 0, 0, 1000, 0],
      [1, 1, 0, 1000, 2000],
    ]);
  });

  test('no picture holds more rectangles than there is room for', () => {
    const found = rectangles(flat(400), { max: 50 });
    truth(found.length <= 50, `${found.length} rectangles`);
    equal(
      found.reduce((sum, [, row, , width]) => sum + (row === 1 ? width : 0), 0),
      1000,
    );
  });

  test('what grew and what shrank both have a width, and fit in their parent', () => {
    const tree = buildTree({ depth: [0, 1, 1], frame: [0, 1, 2], total: [1, 30, -29], self: [0, 30, -29] });
    equal(Array.from(tree.width), [59, 30, 29]);
  });

  test('what a search finds is added once where it is nested', () => {
    const tree = small();
    const isMatch = Uint8Array.from([0, 0, 1, 1, 0, 1]);
    const { nodes, total } = searchTree(tree, isMatch);
    equal([nodes, total], [[2, 3, 5], 66]);
  });

  test('a node has a path from the root, and children in order', () => {
    const tree = small();
    equal(pathOf(tree, 3), [0, 1, 2, 3]);
    equal(childrenOf(tree, 0), [1, 5]);
  });

  test('the rectangle under the pointer is found, and the nearest one beside a gap', () => {
    const tree = small();
    const out = visibleRects(tree, { from: 0, to: 100, base: 0, firstRow: 0, lastRow: 9, px: 1000 }, makeRects(100));
    equal(out.node[rectAt(out, 899, 1)], 1);
    equal(rectAt(out, 975, 1), -1);
    equal(out.node[rectAt(out, 962, 1, 4)], 5);
    equal(out.node[rectOf(tree, out, 4)], 4);
  });

  test('where nothing holds anything there is no rectangle, and an end', () => {
    const tree = buildTree({ depth: [0, 1], frame: [-1, 0], total: [0, 0], self: [0, 0] });
    equal(rectangles(tree, { from: 0, to: 0, px: 1000 }), []);
  });

  test('a hundred thousand frames of a deep tree are laid out, none lost', () => {
    const depth = [0];
    const total = [1000];
    const self = [0];
    for (let branch = 0; branch < 1000; branch++)
      for (let level = 1; level <= 100; level++) {
        depth.push(level);
        total.push(1);
        self.push(level === 100 ? 1 : 0);
      }
    const tree = buildTree({ depth, frame: depth, total, self });
    equal([tree.length, tree.width[0], tree.deepest], [100001, 1000, 100]);
    equal(rectangles(tree, { from: 500, to: 501, base: 100, px: 1000 }), [[50100, 0, 0, 1000, 0]]);
  });
}
