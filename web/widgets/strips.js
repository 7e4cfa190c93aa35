/* SPDX-License-Identifier: Apache-2.0
 * strips.js: one strip of buffers on our own canvas. Each buffer is a bar whose width
 * follows its bytes. The base is drawn once; hover and pin are drawn on an overlay. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { createKeyboardList } from './keyboard_list.js';
import { barAt, barOf, layOut, runsWhere } from './strips_layout.js';
import { OUTLINE_PX, paintBars, paintMarked, paintOutline, prepare } from './strips_paint.js';

const MAX_PX = 8192;

/* Keys of hover: a buffer, or a merged bar of one strip. */
export const buffersKey = (id) => `b:${id}`;
export const mergedKey = (order, at) => `m:${order}:${at}`;

/* In: order, sentence(bar), onHover(key, bar, mark), onLeave(), onPin(bar), onZoom(bar) by a double click.
 * Out: {node, draw(bars, label), mark({hover, pin, rankOf, runs}), repaint, width}. hover, pin: keys; runs(rects, order):
 * the boxes of a pinned group, if one is. */
export function createStrip({ order, sentence, onHover, onLeave, onPin, onZoom = null }) {
  const base = el('canvas', { role: 'img', class: 'strip-base' });
  const over = el('canvas', { 'aria-hidden': 'true', class: 'strip-over' });
  const plot = el('div', { class: 'strip-plot' }, base, over);
  let bars = [];
  let rects = [];
  let marked = []; // boxes of bars that hold what the daemon was asked to mark
  let size = { width: 0, height: 0, ratio: 1 };
  let marks = { hover: null, pin: null, rankOf: () => null };
  let isOnMark = false;

  const keyOf = (at) => (bars[at].id === null ? mergedKey(order, at) : buffersKey(bars[at].id));
  const markOf = (at, box = plot.getBoundingClientRect()) => {
    const rect = rects[at];
    return {
      left: box.left + rect.x,
      right: box.left + rect.x + rect.width,
      top: box.top,
      bottom: box.bottom,
    };
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: (item) => sentence(item.bar),
    onMove: (at) => rects[at] && onHover(keyOf(at), bars[at], markOf(at)),
    onEnter: (at) => onPin(bars[at]),
    onLeave,
  });
  plot.append(keyboard.node);

  const findKey = (key) => {
    if (!key) return -1;
    if (key.startsWith('m:')) {
      const [, of, at] = key.split(':');
      return of === order ? Number(at) : -1;
    }
    const id = key.slice(2);
    return barOf(rects, id, marks.rankOf(id, order));
  };
  const paintOver = () => {
    if (size.width <= 0 || size.height <= 0) return;
    const context = prepare(over, size.width + 2 * OUTLINE_PX, size.height + 2 * OUTLINE_PX, size.ratio);
    if (!context) return;
    context.translate(OUTLINE_PX, OUTLINE_PX);
    const pin = findKey(marks.pin);
    const hover = findKey(marks.hover);
    if (rects[hover] && hover !== pin) paintOutline(context, rects[hover], size.height, false);
    const pinned = marks.runs?.(rects, order) ?? [rects[pin]];
    for (const box of pinned) if (box) paintOutline(context, box, size.height, true);
    paintMarked(context, marked, size.height);
    keyboard.setPinned(pin);
  };
  const paint = () => {
    if (size.width <= 0 || size.height <= 0) return;
    const context = prepare(base, size.width, size.height, size.ratio);
    if (!context) return;
    rects = layOut(bars, order, size.width, size.ratio);
    marked = runsWhere(rects, (bar) => bar.marked_count > 0);
    paintBars(context, rects, order, size.width, size.height);
    paintOver();
  };
  const watch = new ResizeObserver(() => {
    const width = Math.min(plot.clientWidth, MAX_PX);
    size = { width, height: Math.min(plot.clientHeight, MAX_PX), ratio: window.devicePixelRatio || 1 };
    nextFrame(paint);
  });
  try {
    watch.observe(plot, { box: 'device-pixel-content-box' });
  } catch {
    watch.observe(plot);
  }

  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect(); // once, before anything changes
    const at = barAt(rects, event.clientX - box.left);
    if (at < 0) onLeave();
    else onHover(keyOf(at), bars[at], markOf(at, box));
    if ((at >= 0) === isOnMark) return;
    isOnMark = at >= 0;
    plot.classList.toggle('is-on-mark', isOnMark);
  });
  plot.addEventListener('pointerleave', () => {
    if (!keyboard.hasFocus) onLeave();
  });
  plot.addEventListener('click', (event) => {
    if (event.detail > 1) return; // the first click did it
    const at = barAt(rects, event.clientX - plot.getBoundingClientRect().left);
    if (at >= 0) onPin(bars[at]);
  });
  plot.addEventListener('dblclick', (event) => {
    const at = barAt(rects, event.clientX - plot.getBoundingClientRect().left);
    if (at >= 0 && bars[at].id !== null) onZoom?.(bars[at]);
  });

  return {
    node: plot,
    get width() {
      return plot.clientWidth;
    },
    draw(next, label) {
      bars = next;
      base.setAttribute('aria-label', label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      const setSize = bars.reduce((sum, bar) => sum + bar.count, 0);
      keyboard.setItems(bars.map((bar) => ({ bar, position: bar.first_rank + 1, setSize })));
      nextFrame(paint);
    },
    mark(next) {
      const isSame = next.hover === marks.hover && next.pin === marks.pin && next.runs === marks.runs;
      marks = next;
      if (!isSame) nextFrame(paintOver);
    },
    /* The same bars on another context, see picture.js. */
    paintInto(context, width, height) {
      paintBars(context, layOut(bars, order, width, 1), order, width, height);
    },
    repaint() {
      nextFrame(paint);
    },
    destroy() {
      watch.disconnect();
    },
  };
}
