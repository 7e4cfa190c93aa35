/* SPDX-License-Identifier: Apache-2.0
 * icicle_layout.js: where the frames of a flame graph stand. Pure.
 *
 * A tree is columns in pre-order, siblings in drawing order: depth[] (0 = root), frame[] (index of
 * a name), total[], self[] (bytes or count; negative where something shrank). Widths come from the
 * leaves upwards, so that no frame is narrower than what it holds, and a change counts by its size. */

export const MIN_PX = 2;

/* In: {depth, frame, total, self, folded}. Out: the same as typed arrays, with width[], x[] (left edge,
 * in the unit of total), end[] (first node behind the subtree), parent[] (-1 for the root). */
export function buildTree({ depth, frame, total, self, folded = null }) {
  const length = depth.length;
  const tree = {
    length,
    depth: Uint16Array.from(depth),
    frame: Uint32Array.from(frame),
    total: Float64Array.from(total),
    self: Float64Array.from(self),
    folded: folded ? Uint16Array.from(folded) : null,
    width: new Float64Array(length),
    x: new Float64Array(length),
    end: new Uint32Array(length),
    parent: new Int32Array(length).fill(-1),
    deepest: 0,
  };
  link(tree);
  measure(tree);
  return tree;
}

function link(tree) {
  const { depth, end, parent, length } = tree;
  const open = [];
  for (let at = 0; at < length; at++) {
    while (open.length > depth[at]) end[open.pop()] = at;
    parent[at] = open.length ? open[open.length - 1] : -1;
    open.push(at);
    if (depth[at] > tree.deepest) tree.deepest = depth[at];
  }
  while (open.length) end[open.pop()] = length;
}

function measure({ length, parent, total, self, width, x }) {
  const inside = new Float64Array(length);
  for (let at = length - 1; at >= 0; at--) {
    width[at] = Math.max(Math.abs(total[at]), Math.abs(self[at]) + inside[at]);
    if (parent[at] >= 0) inside[parent[at]] += width[at];
  }
  const next = new Float64Array(length);
  for (let at = 0; at < length; at++) {
    x[at] = parent[at] >= 0 ? next[parent[at]] : 0;
    next[at] = x[at];
    if (parent[at] >= 0) next[parent[at]] += width[at];
  }
}

/* Room for the rectangles of one picture, used again and again. */
export function makeRects(max) {
  return {
    length: 0,
    max,
    node: new Uint32Array(max),
    merged: new Uint32Array(max), // how many siblings it stands for; 0 = itself alone
    x: new Float32Array(max),
    width: new Float32Array(max),
    row: new Int32Array(max),
  };
}

/* Frames that stand in the window {from, to (unit of total), base (depth of the first row),
 * firstRow, lastRow, px}: siblings too narrow for `minPx` are one. False when there are more than fit. */
function collect(tree, window, minPx, out) {
  const { depth, width, x, end, length } = tree;
  const { from, to, base, firstRow, lastRow, px } = window;
  const scale = px / (to - from);
  const lastDepth = base + lastRow;
  out.length = 0;
  if (!(to > from)) return true; // nothing holds anything: no window has a width
  let at = 0;
  while (at < length) {
    const left = (x[at] - from) * scale;
    const wide = width[at] * scale;
    if (left >= px || left + wide <= 0 || depth[at] > lastDepth) {
      at = end[at];
      continue;
    }
    if (wide >= minPx) {
      if (depth[at] >= base + firstRow && !put(out, at, 0, left, wide, depth[at] - base, px)) return false;
      at = depth[at] === lastDepth ? end[at] : at + 1;
      continue;
    }
    const first = at;
    let many = 0;
    let sum = 0;
    while (at < length && depth[at] === depth[first] && width[at] * scale < minPx) {
      sum += width[at];
      many++;
      at = end[at];
    }
    if (depth[first] < base + firstRow || sum === 0) continue;
    if (!put(out, first, many > 1 ? many : 0, left, Math.max(sum * scale, 0), depth[first] - base, px)) return false;
  }
  return true;
}

function put(out, node, merged, left, wide, row, px) {
  if (out.length === out.max) return false;
  const at = out.length++;
  const from = Math.max(0, left);
  out.node[at] = node;
  out.merged[at] = merged;
  out.x[at] = from;
  out.width[at] = Math.min(px, left + wide) - from;
  out.row[at] = row;
  return true;
}

/* Fills `out` with at most out.max rectangles: when there are more, narrower ones are joined. */
export function visibleRects(tree, window, out) {
  let min = MIN_PX;
  while (!collect(tree, window, min, out) && min < window.px) min *= 1.2;
  return out;
}

/* Index of the rectangle at (x, row), else of the nearest in that row within `snapPx`, else -1. */
export function rectAt(rects, x, row, snapPx = 0) {
  let best = -1;
  let away = snapPx;
  for (let at = 0; at < rects.length; at++) {
    if (rects.row[at] !== row) continue;
    const left = rects.x[at];
    const right = left + Math.max(1, rects.width[at]);
    if (x >= left && x < right) return at;
    const far = x < left ? left - x : x - right;
    if (far < away) {
      away = far;
      best = at;
    }
  }
  return best;
}

/* Index of the rectangle that shows a node: its own, or the one that it is joined in; -1 if none. */
export function rectOf(tree, rects, node) {
  for (let at = 0; at < rects.length; at++) {
    if (rects.node[at] === node) return at;
    const first = rects.node[at];
    if (rects.merged[at] && first < node && tree.parent[first] === tree.parent[node]) {
      let last = first;
      for (let many = 1; many < rects.merged[at]; many++) last = tree.end[last];
      if (node <= last) return at;
    }
  }
  return -1;
}

/* Nodes from the root to this one. */
export function pathOf(tree, node) {
  const path = [];
  for (let at = node; at >= 0; at = tree.parent[at]) path.unshift(at);
  return path;
}

/* Siblings of a node in order (itself too). */
export function siblingsOf(tree, node) {
  const parent = tree.parent[node];
  return parent < 0 ? [node] : childrenOf(tree, parent);
}

export function childrenOf(tree, node) {
  const children = [];
  for (let at = node + 1; at < tree.end[node]; at = tree.end[at]) children.push(at);
  return children;
}

/* What frames that are searched for hold together, each part once: isMatch[frame] → {isHit[node],
 * nodes, total}; total is of the outermost hits. */
export function searchTree(tree, isMatch) {
  const isHit = new Uint8Array(tree.length);
  const nodes = [];
  let total = 0;
  let inside = 0;
  for (let at = 0; at < tree.length; at++) {
    if (!isMatch[tree.frame[at]]) continue;
    isHit[at] = 1;
    nodes.push(at);
    if (at < inside) continue;
    total += tree.total[at];
    inside = tree.end[at];
  }
  return { isHit, nodes, total };
}

/* Pure: how deep the tree is along its width, for brush.js: {steps, bytes: rows, lastStep, max}. */
export function silhouetteOf(tree) {
  const steps = [];
  const bytes = [];
  const add = (x, rows) => {
    if (steps.at(-1) === x) bytes[bytes.length - 1] = rows;
    else {
      steps.push(x);
      bytes.push(rows);
    }
  };
  /* In the order of the tree a frame stands before what it holds, and siblings follow one another. */
  const open = [];
  const closeTo = (x) => {
    while (open.length && tree.x[open.at(-1)] + tree.width[open.at(-1)] <= x) {
      const done = open.pop();
      if (open.length) add(tree.x[done] + tree.width[done], tree.depth[open.at(-1)] + 1);
    }
  };
  for (let node = 0; node < tree.length; node++) {
    if (!(tree.width[node] > 0)) continue;
    closeTo(tree.x[node]);
    add(tree.x[node], tree.depth[node] + 1);
    open.push(node);
  }
  closeTo(Infinity);
  const whole = tree.width[0] ?? 1;
  while (steps.length && steps.at(-1) >= whole) {
    steps.pop();
    bytes.pop();
  }
  return { steps, bytes, lastStep: whole - 1, max: Math.max(1, tree.deepest + 1) };
}
