/* SPDX-License-Identifier: Apache-2.0
 * curve_lit.js: edges around the stripes that are hovered or pinned, on a canvas of their own over the plot, so that a
 * move of the pointer draws no more than these. Its own file: the plot below it is uPlot's. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { paintLit } from './stripes.js';

const MAX_OUTLINED = 8; // more edges would cover the colours; what is not pinned is faded in any case

/* get() → {u: plot, data, hovered, pinned: sets of ids or null}, or nothing while there are no stripes. Out: {node,
   repaint()}. */
export function createLit(get) {
  const node = el('canvas', { class: 'layer layer-over curve-lit', 'aria-hidden': 'true' });
  const paint = () => {
    const now = get();
    const ctx = node.getContext('2d');
    if (!ctx) return;
    if (!now) {
      ctx.clearRect(0, 0, node.width, node.height);
      return;
    }
    const { bbox } = now.u;
    if (node.width !== bbox.width) node.width = bbox.width;
    if (node.height !== bbox.height) node.height = bbox.height;
    ctx.clearRect(0, 0, node.width, node.height);
    const ratio = window.devicePixelRatio || 1;
    const u = { ctx, valToPos: (value, axis) => now.u.valToPos(value, axis) * ratio };
    if (now.hovered) paintLit(u, now.data, now.hovered, false, ratio);
    if (now.pinned && now.pinned.size <= MAX_OUTLINED) paintLit(u, now.data, now.pinned, true, ratio);
  };
  return { node, repaint: () => nextFrame(paint) };
}
