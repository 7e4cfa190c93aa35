/* SPDX-License-Identifier: Apache-2.0
 * address_strip.js: an address range to scale: blocks, and the holes between them. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { bytes, cutMiddle, visible } from '../lib/format.js';
import { moved, zoomed } from '../lib/range.js';
import { onTheme, token } from '../lib/theme.js';
import { bindGestures } from './gestures.js';
import { createKeyboardList } from './keyboard_list.js';
import { OUTLINE_PX, prepare } from './strips_paint.js';

export const MIN_BYTES = 64 * 1024;
const LABEL_FROM_PX = 64;
const LETTER_PX = 7.3;
const NEAR_PX = 4;
const FILLS = { allocation: 'alloc-heap', before_window: 'panel', mixed: 'alloc-heap', hole: null };

/* actions: onHover(block, mark), onLeave(), onPick(block), onRange([low, high], isEnd), onHint(), sentence(block).
 * Data: {blocks: [{offset_bytes, size_bytes, kind, used_bytes, op, …}], span, all: [first, last] as offsets from
 * `low` of the answer, range}. Out: {node, width, draw, setRange, setPinned, paintInto, destroy}. */
export function createAddressStrip(actions) {
  const base = el('canvas', { role: 'img', class: 'strip-base' });
  const over = el('canvas', { 'aria-hidden': 'true', class: 'strip-over' });
  const plot = el('div', { class: 'strip-plot address-plot' }, base, over);
  let data = null;
  let lit = null;
  let pinned = null;

  const size = () => [plot.clientWidth, plot.clientHeight, window.devicePixelRatio || 1];
  const xOf = (offset, width = plot.clientWidth) =>
    ((offset - data.range[0]) / Math.max(1, data.range[1] - data.range[0])) * width;
  const offsetAt = (x) => data.range[0] + (x / Math.max(1, plot.clientWidth)) * (data.range[1] - data.range[0]);
  const boxOf = (block, width) => {
    const left = xOf(block.offset_bytes, width);
    return { x: left, width: Math.max(1, xOf(block.offset_bytes + block.size_bytes, width) - left) };
  };
  const markOf = (block) => {
    const box = plot.getBoundingClientRect();
    const { x, width } = boxOf(block);
    return { left: box.left + Math.max(0, x), right: box.left + Math.min(box.width, x + width), top: box.top, bottom: box.bottom };
  };
  const light = (block) => {
    if (block === lit) return;
    lit = block;
    nextFrame(paintOver);
    if (block) actions.onHover(block, markOf(block));
    else actions.onLeave();
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: actions.sentence,
    onMove: (at) => light(data.blocks[at]),
    onEnter: (at) => actions.onPick(data.blocks[at]),
    onLeave: () => light(null),
  });
  plot.append(keyboard.node);

  const blockAt = (x) => {
    const away = (block) => {
      const box = boxOf(block);
      return Math.max(box.x - x, x - box.x - box.width, 0);
    };
    let best = null;
    for (const block of data.blocks) if (!best || away(block) < away(best)) best = block;
    return best && away(best) <= NEAR_PX ? best : null;
  };
  bindGestures(
    plot,
    {
      hover: (at) => data && light(blockAt(at.x)),
      leave: () => !keyboard.hasFocus && light(null),
      click: (at) => {
        const block = data && blockAt(at.x);
        if (block) actions.onPick(block);
      },
      double: () => data && actions.onRange(data.all, true),
      select: (from, to, isEnd) => {
        if (!to || !data || !isEnd) return;
        const ends = [offsetAt(Math.min(from.x, to.x)), offsetAt(Math.max(from.x, to.x))];
        actions.onRange(zoomed(ends, data.all, MIN_BYTES, (ends[0] + ends[1]) / 2, 1), true);
      },
      pan: (dx, dy, isEnd) =>
        data && actions.onRange(moved(data.range, data.all, offsetAt(0) - offsetAt(dx)), isEnd),
      zoom: (at, factor) =>
        data && actions.onRange(zoomed(data.range, data.all, MIN_BYTES, offsetAt(at.x), factor), false),
      hint: actions.onHint,
    },
    { owner: plot },
  );
  const paint = () => {
    const [width, height, ratio] = size();
    if (!data || width <= 0 || height <= 0) return;
    const context = prepare(base, width, height, ratio);
    if (!context) return;
    paintBlocks(context, width, height);
    paintOver();
  };
  const paintBlocks = (context, width, height) => {
    for (const block of data.blocks) paintBlock(context, block, boxOf(block, width), width, height, data.largest);
  };
  const paintOver = () => {
    const [width, height, ratio] = size();
    if (!data || width <= 0) return;
    const context = prepare(over, width + 2 * OUTLINE_PX, height + 2 * OUTLINE_PX, ratio);
    if (!context) return;
    context.translate(OUTLINE_PX, OUTLINE_PX);
    const held = pinned === null ? null : data.blocks.find((block) => block.event === pinned);
    for (const [block, colour] of [
      [lit, 'text'],
      [held, 'accent'],
    ]) {
      if (!block) continue;
      const box = boxOf(block);
      context.strokeStyle = token(colour);
      context.lineWidth = 2;
      context.strokeRect(box.x - 1, -1, box.width + 2, height + 2);
    }
  };
  const watch = new ResizeObserver(() => nextFrame(paint));
  watch.observe(plot);
  const offTheme = onTheme(() => nextFrame(paint));

  return {
    node: plot,
    get width() {
      return plot.clientWidth || 1024;
    },
    draw(next, label) {
      data = { ...next };
      lit = null;
      base.setAttribute('aria-label', label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      keyboard.setItems(data.blocks);
      nextFrame(paint);
    },
    setRange(range) {
      if (!data) return;
      data.range = range;
      nextFrame(paint);
    },
    setPinned(event) {
      pinned = event;
      nextFrame(paintOver);
    },
    /* The same range on another context, see picture.js. */
    paintInto(context, width, height) {
      context.save();
      context.beginPath();
      context.rect(0, 0, width, height);
      context.clip();
      paintBlocks(context, width, height);
      context.restore();
      context.strokeStyle = token('line');
      context.lineWidth = 1;
      context.strokeRect(0.5, 0.5, width - 1, height - 1);
    },
    destroy() {
      watch.disconnect();
      offTheme();
    },
  };
}

/* What is inferred has a dotted outline; the largest hole says its size. */
function paintBlock(context, block, { x, width }, plotWidth, height, largest) {
  if (x > plotWidth || x + width < 0) return;
  const gap = width >= 4 ? 1 : 0;
  const fillName = FILLS[block.kind];
  if (fillName) {
    const share = block.kind === 'mixed' ? Math.max(0.15, block.used_bytes / Math.max(1, block.size_bytes)) : 1;
    context.globalAlpha = block.kind === 'mixed' ? 0.35 + 0.65 * share : 1;
    context.fillStyle = token(fillName);
    context.fillRect(x, 0, width - gap, height);
    context.globalAlpha = 1;
  }
  if (block.kind === 'before_window' && width >= 3) {
    context.save();
    context.setLineDash([2, 2]);
    context.strokeStyle = token('text2');
    context.strokeRect(x + 0.5, 0.5, width - gap - 1, height - 1);
    context.restore();
  } else if (block.kind === 'before_window') {
    context.fillStyle = token('text2');
    context.fillRect(x, 0, width, height);
  }
  const isLargest = block.kind === 'hole' && block.address === largest;
  if (width < LABEL_FROM_PX || (block.kind === 'hole' && !isLargest)) return;
  const left = Math.max(0, x) + 6;
  const max = Math.floor((Math.min(plotWidth, x + width) - left - 6) / LETTER_PX);
  if (max < 4) return;
  context.save();
  context.fillStyle = token(block.kind === 'allocation' || block.kind === 'mixed' ? 'alloc-ink' : 'text');
  context.font = `600 12px ${token('sans')}`;
  context.textBaseline = 'bottom';
  const size = bytes(block.size_bytes);
  /* Half a figure is none, half a name is a name. */
  const whole = (...texts) => texts.find((text) => text.length <= max) ?? '';
  context.fillText(isLargest ? whole(`largest hole ${size}`, `hole ${size}`, size) : whole(size), left, height - 20);
  context.font = `12px ${token('mono')}`;
  const word = block.kind === 'before_window' ? whole('before the window', 'before') : cutMiddle(visible(block.op ?? ''), max);
  context.fillText(word, left, height - 5);
  context.restore();
}
