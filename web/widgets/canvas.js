/* SPDX-License-Identifier: Apache-2.0
 * canvas.js: what plots on our own canvases have in common: a base that is drawn for a view, an overlay for what moves
 * on it, the mark under the pointer, outlines. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { cutMiddle } from '../lib/format.js';
import { onTheme, token } from '../lib/theme.js';

const MAX_PX = 8192;

/* Sizes the backing store if need be and clears it; returns a context in CSS pixels, or null. */
function prepare(canvas, { width, height, ratio }, outsetPx) {
  const wanted = [width, height].map((px) => Math.max(1, Math.round((px + 2 * outsetPx) * ratio)));
  if (canvas.width !== wanted[0]) [canvas.width] = wanted;
  if (canvas.height !== wanted[1]) [, canvas.height] = wanted;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, outsetPx * ratio, outsetPx * ratio);
  context.clearRect(-outsetPx, -outsetPx, width + 2 * outsetPx, height + 2 * outsetPx);
  return context;
}

/* In: name (of the classes NAME-base and NAME-over), isReady(): is there something to draw, paint(context, size),
 * paintOver(context, size), outsetPx: by how much the overlay is larger on each side, onSize().
 * Out: {nodes, setLabel(text): of a picture that has a name, size: {width, height, ratio}, watch(node): whose size they
 * have, measure(), isReady(), draw(): at once, repaint() and repaintOver(): in the next frame, destroy()}. Painted anew
 * with each size and theme. */
export function createLayers({ name, isReady = () => true, paint, paintOver = null, outsetPx = 0, onSize = () => {} }) {
  const base = el('canvas', { class: `layer ${name}-base` });
  const over = paintOver && el('canvas', { 'aria-hidden': 'true', class: `layer layer-over ${name}-over` });
  const size = { width: 0, height: 0, ratio: 1 };
  let watched = null;
  const isDrawable = () => size.width > 0 && size.height > 0 && isReady();
  const drawOn = (canvas, paintIt, px) => {
    const context = canvas && isDrawable() ? prepare(canvas, size, px) : null;
    if (context) paintIt(context, size);
    return context;
  };
  const drawOver = () => drawOn(over, paintOver, outsetPx);
  const draw = () => drawOn(base, paint, 0) && drawOver();
  const measure = () => {
    size.width = Math.min(watched.clientWidth, MAX_PX);
    size.height = Math.min(watched.clientHeight, MAX_PX);
    size.ratio = window.devicePixelRatio || 1;
    onSize();
    nextFrame(draw);
  };
  const watch = new ResizeObserver(measure);
  const stopTheme = onTheme(() => nextFrame(draw));
  return {
    nodes: [base, over],
    setLabel(text) {
      base.setAttribute('role', 'img');
      base.setAttribute('aria-label', text);
    },
    size,
    watch(node) {
      watched = node;
      try {
        watch.observe(node, { box: 'device-pixel-content-box' });
      } catch {
        watch.observe(node);
      }
    },
    measure,
    isReady: isDrawable,
    draw,
    repaint: () => nextFrame(draw),
    repaintOver: () => nextFrame(drawOver),
    destroy() {
      watch.disconnect();
      stopTheme();
    },
  };
}

/* The mark under the pointer. In: markAt({x, y}) → what stands there, or null; keyboard: keyboard_list.js, whose focus
 * keeps what is hovered; onHover(mark, box of the plot), onLeave(), onClick(mark, event), onDouble(mark). */
export function bindMarks(plot, { markAt, keyboard, onHover, onLeave, onClick, onDouble = () => {} }) {
  const placeOf = (event, box = plot.getBoundingClientRect()) => ({
    x: event.clientX - box.left,
    y: event.clientY - box.top,
  });
  const on = (type, act) =>
    plot.addEventListener(type, (event) => {
      const mark = markAt(placeOf(event));
      if (mark != null) act(mark, event);
    });
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect(); // once, before anything changes
    const mark = markAt(placeOf(event, box));
    if (mark == null) onLeave();
    else onHover(mark, box);
    plot.classList.toggle('is-on-mark', mark != null);
  });
  plot.addEventListener('pointerleave', () => {
    if (!keyboard.hasFocus) onLeave();
  });
  on('click', onClick);
  on('dblclick', onDouble);
}

const LEAST_LETTERS = 6;

/* A name in so many px, in the context's font: its middle gives way. */
export function fitted(context, name, px) {
  const whole = context.measureText(name).width;
  return whole > px ? cutMiddle(name, Math.max(LEAST_LETTERS, Math.floor((name.length * px) / whole) - 1)) : name;
}

/* Where a box of the plot lies in the window, for what stands beside it. */
export const markIn = ({ left, top }, box) => ({
  left: left + box.x,
  right: left + box.x + box.width,
  top: top + box.y,
  bottom: top + box.y + box.height,
});

/* 2 px in the text colour (hovered) or the accent (pinned), and 1 px of panel between, so that it shows beside every
 * fill; of many boxes in two strokes. */
export function paintOutlines(context, boxes, isPinned) {
  for (const [colour, wide, away] of [
    ['panel', 1, 0.5],
    [isPinned ? 'accent' : 'text', 2, 2],
  ]) {
    context.strokeStyle = token(colour);
    context.lineWidth = wide;
    context.beginPath();
    for (const { x, y, width, height } of boxes) context.rect(x - away, y - away, width + 2 * away, height + 2 * away);
    context.stroke();
  }
}
