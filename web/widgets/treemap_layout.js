/* SPDX-License-Identifier: Apache-2.0
 * treemap_layout.js: where the boxes of a treemap stand: squarified, as Bruls, Huizing and van Wijk (2000) do it, so
 * that boxes are as near to squares as they can be. Pure. It knows the trees of icicle_layout.js.
 * Its own file: what unit tests reckon with, without a canvas. */

import { childrenOf } from './icicle_layout.js';

export const HEAD_PX = 16;
const PAD_PX = 2;
/* A box with less room than this shows no boxes inside. */
const MIN_INNER_PX = 12;
/* Narrower boxes are left out: what is around them shows through. */
const MIN_PX = 1.5;

/* The worst ratio of sides among boxes of these areas that share a row along `side`. */
function worst(sum, least, most, side) {
  const wide = side * side;
  return Math.max((wide * most) / (sum * sum), (sum * sum) / (wide * least));
}

/* Areas in falling order → boxes {x, y, width, height}, in the same order, that fill `box` as far as the areas do. */
export function squarify(areas, box) {
  const boxes = [];
  const left = { ...box };
  let at = 0;
  while (at < areas.length && areas[at] > 0 && left.width > 0 && left.height > 0) {
    const side = Math.min(left.width, left.height);
    let end = at + 1;
    let sum = areas[at];
    while (end < areas.length && areas[end] > 0) {
      const next = sum + areas[end];
      if (worst(next, areas[end], areas[at], side) > worst(sum, areas[end - 1], areas[at], side)) break;
      sum = next;
      end++;
    }
    const thick = Math.min(sum / side, left.width > left.height ? left.width : left.height);
    let along = 0;
    for (; at < end; at++) {
      const long = (areas[at] / sum) * side;
      boxes.push(
        left.width > left.height
          ? { x: left.x, y: left.y + along, width: thick, height: long }
          : { x: left.x + along, y: left.y, width: long, height: thick },
      );
      along += long;
    }
    if (left.width > left.height) {
      left.x += thick;
      left.width -= thick;
    } else {
      left.y += thick;
      left.height -= thick;
    }
  }
  return boxes;
}

/* Inside of a box whose name stands on top. */
function insideOf({ x, y, width, height }, hasHead) {
  const head = hasHead ? HEAD_PX : PAD_PX;
  return { x: x + PAD_PX, y: y + head, width: width - 2 * PAD_PX, height: height - head - PAD_PX };
}

/* A node, and those inside that alone hold all of it: they share a box. */
function chainOf(tree, node) {
  const chain = [node];
  const isAlone = (at) =>
    tree.end[at] > at + 1 && tree.end[at + 1] === tree.end[at] && tree.width[at + 1] === tree.width[at];
  while (isAlone(chain[chain.length - 1])) chain.push(chain[chain.length - 1] + 1);
  return chain;
}

/* The boxes of `root` and what is below it, parents before their children: [{node, chain: the nodes that share it, the
 * last is `node`, x, y, width, height, isOpen: there are boxes inside, hasHead: its name stands above them, isOwn: what
 * of a node is in none of its children}]; at most `max`. */
export function layTreemap(tree, root, box, max) {
  const boxes = [];
  const open = [{ at: root, box, isRoot: true }];
  while (open.length && boxes.length < max) {
    const { at: first, box: own, isRoot, isOwn } = open.pop();
    const chain = isRoot || isOwn ? [first] : chainOf(tree, first);
    const node = chain[chain.length - 1];
    const children = isOwn ? [] : childrenOf(tree, node);
    const hasHead = !isRoot && own.width >= 2 * HEAD_PX && own.height >= 2.5 * HEAD_PX;
    const inside = isRoot ? own : insideOf(own, hasHead);
    const isOpen = children.length > 0 && inside.width >= MIN_INNER_PX && inside.height >= MIN_INNER_PX;
    boxes.push({ node, chain, ...own, isOpen, hasHead: hasHead && isOpen, isOwn: Boolean(isOwn) });
    if (!isOpen) continue;
    const parts = partsOf(tree, node, children);
    const scale = (inside.width * inside.height) / (tree.width[node] || 1);
    const laid = squarify(
      parts.map(({ width }) => width * scale),
      inside,
    );
    for (let at = laid.length - 1; at >= 0; at--)
      if (laid[at].width >= MIN_PX && laid[at].height >= MIN_PX) open.push({ ...parts[at], box: laid[at] });
  }
  return boxes;
}

/* The children and what is of none of them, largest first. */
function partsOf(tree, node, children) {
  const held = children.reduce((sum, child) => sum + tree.width[child], 0);
  const parts = children.map((child) => ({ at: child, width: tree.width[child] }));
  if (tree.width[node] > held) parts.push({ at: node, width: tree.width[node] - held, isOwn: true });
  return parts.sort((a, b) => b.width - a.width);
}

/* The innermost box at a place, or -1: it comes last. */
export function boxAt(boxes, x, y) {
  for (let at = boxes.length - 1; at >= 0; at--) {
    const box = boxes[at];
    if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) return at;
  }
  return -1;
}
