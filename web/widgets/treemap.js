/* SPDX-License-Identifier: Apache-2.0
 * treemap.js: a tree as boxes in boxes, each as large as what it holds, on our own canvas. The base is drawn when the
 * tree or the size changes, hover and pin on an overlay. Keyboard and screen reader have the same tree beside it as an
 * icicle has. It knows trees (icicle_layout.js), no programs. */

import { cutMiddle, visible } from '../lib/format.js';
import { el } from '../lib/dom.js';
import { token } from '../lib/theme.js';
import { bindMarks, createLayers, markIn, paintOutlines } from './canvas.js';
import { buildTree } from './icicle_layout.js';
import { createKeyboardTree } from './icicle_tree.js';
import { boxAt, HEAD_PX, layTreemap } from './treemap_layout.js';

const MAX_BOXES = 8000;
const LETTER_PX = 7.25;
const PAD_PX = 4;
const LINE_PX = 15;

/* In: sentence(node), onHover(node, many, mark), onLeave(), onPick(node).
 * Out: {node, tree, look, draw(tree, look, label, zoom), mark({hover, pin}), recolour(look), zoomTo(node), focus(),
 * drawing(), destroy()}, as of icicle.js. */
export function createTreemap({ sentence, onHover, onLeave, onPick }) {
  const state = {
    tree: buildTree({ depth: [], frame: [], total: [], self: [] }),
    boxes: [],
    root: 0,
    look: null,
    marks: { hover: -1, pin: -1 },
  };
  const layers = createLayers({
    name: 'treemap',
    isReady: () => state.look != null && state.tree.length > 0,
    paint(context, { width, height }) {
      state.boxes = layTreemap(state.tree, state.root, { x: 0, y: 0, width, height }, MAX_BOXES);
      paintTreemap(context, state, layers.size.ratio);
      performance.mark('treemap drawn');
    },
    paintOver(context) {
      const focused = keyboard.active;
      const boxOf = (node) => state.boxes.find((box) => box.chain.includes(node) && !box.isOwn);
      for (const [node, isPinned] of [
        [focused >= 0 ? focused : state.marks.hover, focused >= 0],
        [state.marks.pin, true],
      ]) {
        const box = node >= 0 && node !== state.root ? boxOf(node) : null;
        if (box) paintOutlines(context, [insideEdge(box)], isPinned);
      }
      keyboard.setPinned(state.marks.pin);
    },
  });
  const keyboard = createKeyboardTree({
    sentence,
    onMove(node) {
      const box = state.boxes.find((each) => each.chain.includes(node));
      const all = picture.getBoundingClientRect();
      onHover(node, 0, box ? markIn(all, box) : all);
      layers.repaintOver();
    },
    onEnter: onPick,
    onLeave() {
      onLeave();
      layers.repaintOver();
    },
  });
  const picture = el('div', { class: 'treemap-picture' }, layers.nodes, keyboard.node);
  const node = el('div', { class: 'treemap' }, picture);
  layers.watch(node);
  bindMarks(picture, {
    markAt({ x, y }) {
      const at = boxAt(state.boxes, x, y);
      return at > 0 ? at : null;
    },
    keyboard: {
      get hasFocus() {
        return keyboard.active >= 0;
      },
    },
    onHover: (at, all) => onHover(state.boxes[at].node, 0, markIn(all, state.boxes[at])),
    onLeave,
    onClick: (at) => onPick(state.boxes[at].node),
  });
  return treemapApi(state, { node, layers, keyboard });
}

/* What whoever owns a treemap may do with it. */
function treemapApi(state, { node, layers, keyboard }) {
  return {
    node,
    get tree() {
      return state.tree;
    },
    draw(tree, look, label, zoom = null) {
      Object.assign(state, { tree, look, root: zoom ?? 0, marks: { hover: -1, pin: -1 } });
      layers.setLabel(label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins and zooms.`);
      keyboard.setTree(tree);
      layers.repaint();
    },
    mark(next) {
      state.marks = next;
      layers.repaintOver();
    },
    recolour(look) {
      state.look = look;
      layers.repaint();
    },
    zoomTo(root) {
      state.root = Math.max(0, root ?? 0);
      layers.repaint();
    },
    focus: () => keyboard.node.focus(),
    drawing: () =>
      layers.isReady() && {
        width: layers.size.width,
        height: layers.size.height,
        paint: (context) => paintTreemap(context, state, 1),
      },
    destroy: () => layers.destroy(),
  };
}

/* An outline stands on the box itself, so that those beside it stay whole. */
const insideEdge = ({ x, y, width, height }) => ({
  x: x + 2,
  y: y + 2,
  width: Math.max(0, width - 4),
  height: Math.max(0, height - 4),
});

function paintTreemap(context, { boxes, look }, ratio) {
  const onePx = 1 / ratio;
  const whole = (px) => Math.round(px / onePx) * onePx;
  for (const box of boxes.slice(1)) {
    const [x, y] = [whole(box.x), whole(box.y)];
    const width = Math.max(onePx, whole(box.x + box.width) - x - onePx);
    const height = Math.max(onePx, whole(box.y + box.height) - y - onePx);
    const { fill } = look.palette[look.slot[box.node]];
    context.fillStyle = box.isOpen ? token('page') : fill;
    context.fillRect(x, y, width, height);
    if (!box.isOpen) continue;
    /* What holds others is a frame in its colour. */
    context.strokeStyle = fill;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, width - 1), Math.max(0.5, height - 1));
  }
  context.font = `12px ${token('mono')}`;
  context.textBaseline = 'middle';
  for (const box of boxes.slice(1)) labelBox(context, box, look);
}

/* Its name on top; in one that is closed also a second line, where there is room. */
function labelBox(context, box, look) {
  const letters = Math.floor((box.width - 2 * PAD_PX) / LETTER_PX);
  if (letters < 3 || box.height < LINE_PX || (box.isOpen && !box.hasHead)) return;
  const { ink } = look.palette[look.slot[box.node]];
  context.fillStyle = box.isOpen ? token('text') : ink;
  const [name, size] = look.lines(box.node);
  const names = box.isOwn ? name : box.chain.map((node) => look.lines(node)[0]).join(' › ');
  const isLow = box.isOpen || box.height < 2 * LINE_PX + 2;
  const lines =
    !isLow && !box.isOwn
      ? [names, size]
      : [names.length + size.length + 3 <= letters && !box.isOwn ? `${names}   ${size}` : names];
  lines.forEach((line, at) => {
    const middle = box.y + (at === 0 ? HEAD_PX / 2 + 1 : HEAD_PX / 2 + 1 + at * LINE_PX);
    context.fillText(cutMiddle(visible(line), letters), box.x + PAD_PX, middle);
  });
}
