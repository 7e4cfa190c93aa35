/* SPDX-License-Identifier: Apache-2.0
 * address_strip.js: an address range to scale: blocks, and the holes between them. */

import { el } from '../lib/dom.js';
import { bytes, cutMiddle, visible } from '../lib/format.js';
import { moved, zoomed } from '../lib/range.js';
import { token } from '../lib/theme.js';
import { createLayers, markIn } from './canvas.js';
import { bindGestures } from './gestures.js';
import { createKeyboardList } from './keyboard_list.js';
import { OUTLINE_PX } from './strips_paint.js';

export const MIN_BYTES = 64 * 1024;
const LABEL_FROM_PX = 64;
const LETTER_PX = 7.3;
const NEAR_PX = 4;
const FILLS = { allocation: 'alloc-heap', before_window: 'panel', mixed: 'alloc-heap', hole: null };

/* actions: onHover(block, mark), onLeave(), onPick(block), onRange([low, high], isEnd), onHint(), sentence(block).
 * Data: {blocks: [{offset_bytes, size_bytes, kind, used_bytes, op, …}], span, all: [first, last] as offsets from
 * `low` of the answer, range}. Out: {node, width, draw, setRange, setPinned, paintInto, destroy}. */
export function createAddressStrip(actions) {
  const layers = createLayers({ name: 'strip', outsetPx: OUTLINE_PX, isReady: () => data != null, paint, paintOver });
  const plot = el('div', { class: 'strip-plot address-plot' }, layers.nodes);
  let data = null;
  let lit = null;
  let pinned = null;

  const boxOf = (block, width = plot.clientWidth) => blockBox(block, data.range, width);
  const light = (block) => {
    if (block === lit) return;
    lit = block;
    layers.repaintOver();
    if (!block) {
      actions.onLeave();
      return;
    }
    const page = plot.getBoundingClientRect();
    const { x, width } = boxOf(block);
    const [left, right] = [Math.max(0, x), Math.min(page.width, x + width)];
    actions.onHover(block, markIn(page, { x: left, y: 0, width: right - left, height: page.height }));
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: actions.sentence,
    onMove: (at) => light(data.blocks[at]),
    onEnter: (at) => actions.onPick(data.blocks[at]),
    onLeave: () => light(null),
  });
  plot.append(keyboard.node);
  layers.watch(plot);
  const offsetAt = (x) => data.range[0] + (x / Math.max(1, plot.clientWidth)) * (data.range[1] - data.range[0]);
  const blockAt = (x) => nearest(data.blocks, boxOf, x);
  bindGestures(plot, {
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
    pan: (dx, dy, isEnd) => data && actions.onRange(moved(data.range, data.all, offsetAt(0) - offsetAt(dx)), isEnd),
    zoom: (at, factor) =>
      data && actions.onRange(zoomed(data.range, data.all, MIN_BYTES, offsetAt(at.x), factor), false),
    hint: actions.onHint,
  });
  function paint(context, { width, height }) {
    for (const block of data.blocks) paintBlock(context, block, boxOf(block, width), width, height, data.largest);
  }
  function paintOver(context, { width, height }) {
    const held = pinned == null ? null : data.blocks.find((block) => block.event === pinned);
    for (const [block, colour] of [
      [lit, 'text'],
      [held, 'accent'],
    ]) {
      if (!block) continue;
      const box = boxOf(block, width);
      context.strokeStyle = token(colour);
      context.lineWidth = 2;
      context.strokeRect(box.x - 1, -1, box.width + 2, height + 2);
    }
  }

  return {
    node: plot,
    get width() {
      return plot.clientWidth || 1024;
    },
    draw(next, label) {
      data = { ...next };
      lit = null;
      layers.setLabel(label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      keyboard.setItems(data.blocks);
      layers.repaint();
    },
    setRange(range) {
      if (!data) return;
      data.range = range;
      layers.repaint();
    },
    setPinned(event) {
      pinned = event;
      layers.repaintOver();
    },
    /* The same range on another context, see picture.js. */
    paintInto(context, width, height) {
      context.save();
      context.beginPath();
      context.rect(0, 0, width, height);
      context.clip();
      paint(context, { width, height });
      context.restore();
      context.strokeStyle = token('line');
      context.lineWidth = 1;
      context.strokeRect(0.5, 0.5, width - 1, height - 1);
    },
    destroy: layers.destroy,
  };
}

/* Pure: where a block stands in a strip that shows offsets [from, to) over `width` pixels. */
function blockBox({ offset_bytes: offset, size_bytes: size }, [from, to], width) {
  const xOf = (at) => ((at - from) / Math.max(1, to - from)) * width;
  return { x: xOf(offset), width: Math.max(1, xOf(offset + size) - xOf(offset)) };
}

/* Pure: the block at x, else the nearest within 4 px, else null. */
function nearest(blocks, boxOf, x) {
  const away = (block) => {
    const box = boxOf(block);
    return Math.max(box.x - x, x - box.x - box.width, 0);
  };
  let best = null;
  for (const block of blocks) if (!best || away(block) < away(best)) best = block;
  return best && away(best) <= NEAR_PX ? best : null;
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
  const word =
    block.kind === 'before_window' ? whole('before the trace', 'before') : cutMiddle(visible(block.op ?? ''), max);
  context.fillText(word, left, height - 5);
  context.restore();
}
