/* SPDX-License-Identifier: Apache-2.0
 * graph_layout.js: a call graph as Graphviz wants it, and where Graphviz put its boxes. Boxes go
 * there by number and size only: no name of a file reaches it. Pure, but for the worker that
 * layOutGraph starts on first use. */

import { begin } from '../lib/activity.js';

const POINTS_PER_INCH = 72;
const LABEL_PX_PER_LETTER = 7;
const MAX_WIDTH = 5;
const MIN_BOX = 1;
const MAX_BOX = 1.7;
const HOTTEST = 0.7;

/* nodes: [{width, height}] in px; edges: [{from, to, share (0..1), text}], from and to indices. */
export function graphvizInput(nodes, edges) {
  return {
    directed: true,
    graphAttributes: { rankdir: 'TB', nodesep: 0.25, ranksep: 0.45, splines: 'true' },
    nodeAttributes: { shape: 'box', fixedsize: 'true', label: '' },
    edgeAttributes: { fontsize: 11, arrowsize: 0.7 },
    nodes: nodes.map(({ width, height }, at) => ({
      name: `n${at}`,
      attributes: { width: width / POINTS_PER_INCH, height: height / POINTS_PER_INCH },
    })),
    edges: edges.map(({ from, to, share, text }, at) => ({
      tail: `n${from}`,
      head: `n${to}`,
      attributes: {
        id: `e${at}`,
        weight: 1 + Math.round(100 * Math.min(1, share)),
        label: 'x'.repeat(Math.ceil((text.length * LABEL_PX_PER_LETTER) / 6)),
      },
    })),
  };
}

/* Pure. How much larger a box is drawn that has this share of all to itself; and how much of the colour it has, up to
   the
 * hottest, of which its words are read still. */
export const boxScale = (own) => MIN_BOX + (MAX_BOX - MIN_BOX) * Math.sqrt(Math.min(1, own));
export const boxHeat = (own) => HOTTEST * Math.sqrt(Math.min(1, own));

/* Line width of an edge that carries this share of the total. */
export function edgeWidth(share) {
  return 1 + Math.min(1, Math.abs(share)) * MAX_WIDTH;
}

const numbers = (text) => text.split(',').map(Number);

/* "e,x,y s,x,y x,y x,y x,y …": an arrow head at e, then one cubic curve after another. */
function curveOf(pos, flip) {
  let tip = null;
  const points = [];
  for (const part of pos.split(' ').filter(Boolean)) {
    if (part.startsWith('e,')) tip = flip(numbers(part.slice(2)));
    else if (!part.startsWith('s,')) points.push(flip(numbers(part)));
  }
  return { points, tip };
}

/* What Graphviz answered as JSON → {width, height, nodes: [{x, y}] centres, edges: [{points, tip, label}]},
 * in px, y downwards, in the order in which they were given. */
export function readLayout(json) {
  const [, , width, height] = numbers(json.bb);
  const flip = ([x, y]) => ({ x, y: height - y });
  const nodes = [];
  for (const object of json.objects ?? []) {
    if (object.pos) nodes[Number(object.name.slice(1))] = flip(numbers(object.pos));
  }
  const edges = [];
  for (const edge of json.edges ?? []) {
    edges[Number(edge.id.slice(1))] = {
      ...curveOf(edge.pos ?? '', flip),
      label: edge.lp ? flip(numbers(edge.lp)) : null,
    };
  }
  return { width, height, nodes, edges };
}

let worker = null;
let serial = 0;
const waiting = new Map();

function start() {
  worker = new Worker('widgets/graph_worker.js', { type: 'module' });
  const failAll = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    worker?.terminate();
    worker = null;
  };
  worker.addEventListener('error', (event) =>
    failAll(new Error(event.message || 'the layout code could not be loaded')),
  );
  worker.addEventListener('message', ({ data }) => {
    const wait = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) wait?.reject(new Error(data.error));
    else wait?.resolve(readLayout(data.layout));
  });
}

/* Resolves with readLayout()'s answer; rejects when Graphviz fails or `stopLayout` was called. */
export async function layOutGraph(nodes, edges) {
  const end = begin();
  try {
    if (!worker) start();
    const id = ++serial;
    return await new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, graph: graphvizInput(nodes, edges) });
    });
  } finally {
    end();
  }
}

/* Ends a layout that nobody waits for any more; the next one starts anew. */
export function stopLayout() {
  if (!worker) return;
  worker.terminate();
  worker = null;
  for (const { reject } of waiting.values()) reject(new DOMException('stopped', 'AbortError'));
  waiting.clear();
}
