/* SPDX-License-Identifier: Apache-2.0
 * strips.js: one strip of buffers on our own canvas. Each buffer is a bar whose width
 * follows its bytes. The base is drawn once; hover and pin are drawn on an overlay. */

import { el } from '../lib/dom.js';
import { bindMarks, createLayers, markIn, paintOutlines } from './canvas.js';
import { createKeyboardList } from './keyboard_list.js';
import { barAt, barOf, layOut, runsWhere } from './strips_layout.js';
import { OUTLINE_PX, paintBars, paintMarked } from './strips_paint.js';

/* Keys of hover: a buffer, or a merged bar of one strip. */
export const buffersKey = (id) => `b:${id}`;
export const mergedKey = (order, at) => `m:${order}:${at}`;

/* In: order, sentence(bar), onHover(key, bar, mark), onLeave(), onPin(bar), onZoom(bar) by a double click.
 * Out: {node, draw(bars, label, whole), mark({hover, pin, rankOf, runs}), repaint, width}. hover, pin: keys;
 * runs(rects, order): the boxes of a pinned group, if one is. */
export function createStrip({ order, sentence, onHover, onLeave, onPin, onZoom = null }) {
  let bars = [];
  let whole = 0; // what the width stands for, if it is more than the bars
  let rects = [];
  let marked = []; // boxes of bars that hold what the daemon was asked to mark
  let marks = { hover: null, pin: null, rankOf: () => null };
  const layers = createLayers({ name: 'strip', outsetPx: OUTLINE_PX, paint, paintOver });
  const plot = el('div', { class: 'strip-plot' }, layers.nodes);

  const keyOf = (at) => (bars[at].id == null ? mergedKey(order, at) : buffersKey(bars[at].id));
  const boxAt = ({ x, width }) => ({ x, y: 0, width, height: layers.size.height });
  const markOf = (at, box = plot.getBoundingClientRect()) => markIn(box, { ...boxAt(rects[at]), height: box.height });
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
  function paint(context, { width, height, ratio }) {
    rects = layOut(bars, order, width, ratio, whole);
    marked = runsWhere(rects, (bar) => bar.marked_count > 0);
    paintBars(context, rects, order, width, height);
  }
  function paintOver(context, { height }) {
    const pin = findKey(marks.pin);
    const hover = findKey(marks.hover);
    if (rects[hover] && hover !== pin) paintOutlines(context, [boxAt(rects[hover])], false);
    const pinned = marks.runs?.(rects, order) ?? [rects[pin]];
    for (const rect of pinned) if (rect) paintOutlines(context, [boxAt(rect)], true);
    paintMarked(context, marked, height);
    keyboard.setPinned(pin);
  }
  layers.watch(plot);
  bindMarks(plot, {
    markAt({ x }) {
      const at = barAt(rects, x);
      return at < 0 ? null : at;
    },
    keyboard,
    onHover: (at, box) => onHover(keyOf(at), bars[at], markOf(at, box)),
    onLeave,
    onClick: (at, event) => event.detail > 1 || onPin(bars[at]), // the first click did it
    onDouble: (at) => bars[at].id != null && onZoom?.(bars[at]),
  });

  return {
    node: plot,
    get width() {
      return plot.clientWidth;
    },
    draw(next, label, of = 0) {
      bars = next;
      whole = of;
      layers.setLabel(label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      const setSize = bars.reduce((sum, bar) => sum + bar.count, 0);
      keyboard.setItems(bars.map((bar) => ({ bar, position: bar.first_rank + 1, setSize })));
      layers.repaint();
    },
    mark(next) {
      const isSame = next.hover === marks.hover && next.pin === marks.pin && next.runs === marks.runs;
      marks = next;
      if (!isSame) layers.repaintOver();
    },
    /* The same bars on another context, see picture.js. */
    paintInto(context, width, height) {
      paintBars(context, layOut(bars, order, width, 1, whole), order, width, height);
    },
    repaint: layers.repaint,
    destroy: layers.destroy,
  };
}
