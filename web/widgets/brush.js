/* SPDX-License-Identifier: Apache-2.0
 * brush.js: the whole curve in small, with the part in view as a box that is moved and
 * widened by hand. The keys for it are those of zooming, so it is no stop of its own. */

import { el } from '../lib/dom.js';
import { moved } from '../lib/range.js';
import { token } from '../lib/theme.js';
import { createLayers } from './canvas.js';

const EDGE_PX = 6;

/* onRange([from, to), isEnd). Out: {node, draw({steps, bytes, lowest, lastStep, max}), setRange(range), destroy};
   lowest: where
 * many values share a place, the smallest of them, else left out. */
export function createBrush({ onRange, min }) {
  const layers = createLayers({
    name: 'brush',
    isReady: () => data != null,
    paint: (context, size) => paintOutline(context, size, data),
    onSize: () => place(),
  });
  const box = el('div', { class: 'brush-box' });
  const node = el('div', { class: 'brush', 'aria-hidden': 'true' }, layers.nodes, box);
  let data = null;
  let range = [0, 1];
  let hold = null;

  const end = () => (data ? data.lastStep + 1 : 1);
  const stepAt = (x) => (x / Math.max(1, node.clientWidth)) * end();
  const place = () => {
    const wide = node.clientWidth;
    box.style.left = `${(range[0] / end()) * wide}px`;
    box.style.width = `${Math.max(4, ((range[1] - range[0]) / end()) * wide)}px`;
    node.classList.toggle('is-part', range[0] > 0 || range[1] < end());
  };
  const next = (x) => {
    const all = [0, end()];
    const by = stepAt(x) - stepAt(hold.x);
    if (hold.kind === 'move') return moved(hold.range, all, by);
    const clamp = (value) => Math.max(0, Math.min(end(), Math.round(value)));
    const [a, b] =
      hold.kind === 'from'
        ? [hold.range[0] + by, hold.range[1]]
        : hold.kind === 'to'
          ? [hold.range[0], hold.range[1] + by]
          : [stepAt(hold.x), stepAt(x)];
    const low = clamp(Math.min(a, b));
    return [low, Math.max(clamp(Math.max(a, b)), Math.min(end(), low + min))];
  };
  const kindAt = (x) => {
    const [left, right] = range.map((step) => (step / end()) * node.clientWidth);
    const isPart = node.classList.contains('is-part');
    if (isPart && Math.abs(x - left) <= EDGE_PX) return 'from';
    if (isPart && Math.abs(x - right) <= EDGE_PX) return 'to';
    return isPart && x > left && x < right ? 'move' : 'new';
  };
  const xOf = (event) => event.clientX - node.getBoundingClientRect().left;
  node.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !data) return;
    hold = { x: xOf(event), range, kind: kindAt(xOf(event)), isMoved: false };
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener('pointermove', (event) => {
    const x = xOf(event);
    if (!hold) {
      node.dataset.cursor = kindAt(x);
      return;
    }
    if (!hold.isMoved && Math.abs(x - hold.x) < 3) return;
    hold.isMoved = true;
    onRange(next(x), false);
  });
  node.addEventListener('pointerup', (event) => {
    if (hold?.isMoved) onRange(next(xOf(event)), true);
    hold = null;
  });
  node.addEventListener('pointercancel', () => {
    hold = null;
  });
  layers.watch(node);
  return {
    node,
    draw(next) {
      data = next;
      layers.repaint();
      place();
    },
    setRange(next) {
      range = next;
      place();
    },
    destroy: layers.destroy,
  };
}

const ALPHA = 0.45;
const PALE_ALPHA = 0.2;

/* The curve as a grey area, in device pixels; pale above the smallest value of a place. */
function paintOutline(context, { width, height, ratio }, { steps, bytes, lowest = bytes, lastStep, max }) {
  const [pixels, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = token('text2');
  const xOf = (step) => (step / (lastStep + 1)) * pixels;
  for (let i = 0; i < steps.length; i++) {
    const from = Math.floor(xOf(steps[i]));
    const to = Math.ceil(xOf(steps[i + 1] ?? lastStep + 1));
    const [tall, solid] = [bytes[i], lowest[i]].map((value) => Math.round((value / max) * high));
    if (to > from) context.clearRect(from, 0, to - from, high);
    const wide = Math.max(1, to - from);
    context.globalAlpha = PALE_ALPHA;
    context.fillRect(from, high - tall, wide, tall - solid);
    context.globalAlpha = ALPHA;
    context.fillRect(from, high - solid, wide, solid);
  }
  context.globalAlpha = 1;
}
