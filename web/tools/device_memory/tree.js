/* SPDX-License-Identifier: Apache-2.0
 * tree.js: an answer of the view `flame` as a tree of icicle_layout.js, with its names,
 * ids and colours. Pure, but for the colours, which are those of the theme. */

import { sourceLine, visible } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { buildTree, childrenOf, pathOf } from '../../widgets/icicle_layout.js';
import { SET_SIZE, setFill, setInk } from '../../widgets/sets.js';
import { frameText } from './text.js';

/* Files with the most bytes get a colour each; the rest and libraries are grey. */
const GREY = SET_SIZE;
const ROOT = GREY + 1;
/* Of a difference: shrunk, little changed, grown. */
const SHRUNK = 0;
const SAME = 1;
const GROWN = 2;

/* data: the answer. Out: {tree, names: {id[], text[], source[], isMachinery[], file[]}, before, after, count}. */
export function readFlame({ files, frames, nodes }, rootName = 'all') {
  const tree = buildTree({
    depth: nodes.depth,
    frame: nodes.frame.map((at) => at + 1),
    total: nodes.total,
    self: nodes.self,
    folded: nodes.folded_above,
  });
  const names = { id: [''], text: [rootName], function: [''], source: [''], file: [''], isMachinery: [0] };
  for (let at = 0; at < frames.id.length; at++) {
    const file = frames.file[at] < 0 ? '' : files[frames.file[at]];
    const source = sourceLine(file, frames.line[at]);
    names.id.push(frames.id[at]);
    names.function.push(frames.function[at]);
    names.source.push(source);
    names.file.push(file);
    names.isMachinery.push(frames.is_machinery[at]);
    names.text.push(frameText({ files, frames }, at));
  }
  return {
    tree,
    names,
    folded: { above: nodes.folded_above ?? [], below: nodes.folded_below ?? [] },
    count: nodes.count ?? [],
    before: nodes.before ?? null,
    after: nodes.after ?? null,
  };
}

/* "id.id.id" of the frames from the root to a node; "" for the root. */
export function pathIds({ tree, names }, node) {
  return pathOf(tree, node)
    .map((each) => names.id[tree.frame[each]])
    .filter(Boolean)
    .join('.');
}

/* The node of such a path: {node, isWhole}; the deepest that is there if the rest was left out. */
export function findPath({ tree, names }, path) {
  let node = 0;
  for (const id of path.split('.').filter(Boolean)) {
    const next = childrenOf(tree, node).find((child) => names.id[tree.frame[child]] === id);
    if (next === undefined) return { node, isWhole: false };
    node = next;
  }
  return { node, isWhole: true };
}

/* The first node (the largest, as siblings go by size) that has this frame, or -1. */
export function nodeOfFrame({ tree, names }, id) {
  const at = names.id.indexOf(id);
  if (at < 0) return -1;
  let best = -1;
  for (let node = 0; node < tree.length; node++)
    if (tree.frame[node] === at && (best < 0 || tree.width[node] > tree.width[best])) best = node;
  return best;
}

/* ---- colours ----------------------------------------------------------------------- */

/* What each file holds: bytes of its outermost frames. */
function weighFiles({ tree, names }) {
  const weights = new Map();
  const inside = new Map();
  for (let node = 1; node < tree.length; node++) {
    const at = tree.frame[node];
    const file = names.file[at];
    if (!file || names.isMachinery[at] || (inside.get(file) ?? 0) > node) continue;
    inside.set(file, tree.end[node]);
    weights.set(file, (weights.get(file) ?? 0) + tree.width[node]);
  }
  return [...weights.entries()].sort((a, b) => b[1] - a[1]);
}

function filePalette() {
  const files = Array.from({ length: SET_SIZE }, (_, at) => ({ fill: setFill(at), ink: setInk(at) }));
  return [
    ...files,
    { fill: token('cat-unknown'), ink: token('ink-unknown') },
    { fill: token('line'), ink: token('text') },
  ];
}

function changePalette() {
  return [
    { fill: token('shrunk'), ink: token('ink-shrunk') },
    { fill: token('line'), ink: token('text') },
    { fill: token('grown'), ink: token('ink-grown') },
  ];
}

/* Words of a legend: [{slot, word, title}]. `known` keeps the colours of an earlier tree: file → slot. */
export function coloursOf(read, isDiff, known = null) {
  const { tree, names } = read;
  const slot = new Uint8Array(tree.length);
  if (isDiff) {
    for (let node = 0; node < tree.length; node++)
      slot[node] = tree.total[node] > 0 ? GROWN : tree.total[node] < 0 ? SHRUNK : SAME;
    return {
      slot,
      slotOfMany: (node) => slot[node],
      palette: changePalette,
      files: new Map(),
      legend: [
        { slot: GROWN, word: '▲ grown' },
        { slot: SHRUNK, word: '▼ shrunk' },
        { slot: SAME, word: 'same' },
      ],
    };
  }
  const files =
    known ??
    new Map(
      weighFiles(read)
        .slice(0, SET_SIZE)
        .map(([file], at) => [file, at]),
    );
  const ofFrame = Uint8Array.from(names.file, (file, at) => (names.isMachinery[at] ? GREY : (files.get(file) ?? GREY)));
  ofFrame[0] = ROOT;
  for (let node = 0; node < tree.length; node++) slot[node] = ofFrame[tree.frame[node]];
  const hasGrey = slot.includes(GREY);
  return {
    slot,
    slotOfMany: () => GREY,
    palette: filePalette,
    files,
    legend: [
      ...[...files].map(([file, at]) => ({ slot: at, word: visible(sourceLine(file, 0)), title: visible(file), file })),
      ...(hasGrey ? [{ slot: GREY, word: 'other files' }] : []),
    ],
  };
}

/* ---- search ------------------------------------------------------------------------ */

/* {isMatch[frame], isLiteral}: a regular expression, or the text itself if it is none. */
export function matcher(names, text) {
  let expression = null;
  try {
    expression = new RegExp(text);
  } catch {
    expression = null;
  }
  const holds = expression ? (value) => expression.test(value) : (value) => value.includes(text);
  return {
    isLiteral: expression == null,
    isMatch: Uint8Array.from(names.text, (value, at) => (at > 0 && (holds(value) || holds(names.file[at])) ? 1 : 0)),
  };
}
