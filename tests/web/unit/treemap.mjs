/* SPDX-License-Identifier: Apache-2.0
 * treemap.mjs: boxes of a treemap: as large as what they hold, inside of what holds them, none over another. */

import { buildTree } from '../../../web/widgets/icicle_layout.js';
import { boxAt, layTreemap, squarify } from '../../../web/widgets/treemap_layout.js';

const BOX = { x: 0, y: 0, width: 600, height: 400 };
const area = ({ width, height }) => width * height;
const isNear = (a, b) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
const overlap = (a, b) =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/* all 100 → attention 80 (→ scores 60, 20 of its own), mlp 20 (→ dot 20 (→ wi 20)). */
const small = () =>
  buildTree({
    depth: [0, 1, 2, 1, 2, 3],
    frame: [0, 1, 2, 3, 4, 5],
    total: [100, 80, 60, 20, 20, 20],
    self: [0, 20, 60, 0, 0, 20],
  });

export function run({ test, equal, truth }) {
  test('areas fill the box, each as large as it should be, near to squares', () => {
    const areas = [6, 6, 4, 3, 2, 2, 1].map((share) => (share * area(BOX)) / 24);
    const boxes = squarify(areas, BOX);
    equal(boxes.length, areas.length);
    boxes.forEach((box, at) => truth(isNear(area(box), areas[at]), `${at}: ${area(box)}`));
    boxes.forEach((box) => truth(Math.max(box.width / box.height, box.height / box.width) < 3, 'a long box'));
    boxes.forEach((a, at) => boxes.slice(at + 1).forEach((b) => truth(overlap(a, b) < 1e-6, 'boxes overlap')));
  });

  test('nothing, and areas of nothing, have no boxes', () => {
    equal(squarify([], BOX), []);
    equal(squarify([0, 0], BOX), []);
    equal(squarify([10], { ...BOX, width: 0 }), []);
  });

  test('boxes stand inside of those that hold them; what is of no child has a box too', () => {
    const boxes = layTreemap(small(), 0, BOX, 100);
    const [, attention] = boxes;
    equal(attention.node, 1);
    truth(attention.isOpen && attention.hasHead);
    const own = boxes.find(({ isOwn }) => isOwn);
    equal(own.node, 1);
    const scores = boxes.find(({ node }) => node === 2);
    truth(isNear(area(scores), 3 * area(own)), 'sizes are not to scale');
    for (const inner of [own, scores]) truth(isNear(overlap(inner, attention), area(inner)), 'a box hangs over');
  });

  test('places that hold nothing but one place share its box', () => {
    const chain = layTreemap(small(), 0, BOX, 100).find(({ node }) => node === 5);
    equal(chain.chain, [3, 4, 5]);
    truth(!chain.isOpen);
  });

  test('the innermost box is found, and none outside', () => {
    const boxes = layTreemap(small(), 0, BOX, 100);
    const scores = boxes.find(({ node }) => node === 2);
    equal(boxes[boxAt(boxes, scores.x + scores.width / 2, scores.y + scores.height / 2)].node, 2);
    equal(boxAt(boxes, 601, 10), -1);
  });

  test('very many children are bounded', () => {
    const many = 50000;
    const ones = Array.from({ length: many }, () => 1);
    const tree = buildTree({ depth: [0, ...ones], frame: [0, ...ones], total: [many, ...ones], self: [0, ...ones] });
    truth(layTreemap(tree, 0, BOX, 1000).length <= 1000);
  });
}
