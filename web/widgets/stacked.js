/* SPDX-License-Identifier: Apache-2.0
 * stacked.js: columns of stacked parts, one column a profile, on our own canvas; two of them can be
 * marked A and B. Hover and marks are drawn on an overlay. */

import { el } from '../lib/dom.js';
import { byteStep, bytes, count, unitOf } from '../lib/format.js';
import { lastBefore } from '../lib/range.js';
import { token } from '../lib/theme.js';
import { bindMarks, createLayers, fitted, markIn } from './canvas.js';
import { increment, STEP_INCREMENTS } from './curve_marks.js';
import { createKeyboardList } from './keyboard_list.js';

const LEFT_PX = 64;
const BOTTOM_PX = 22;
const TOP_PX = 18;
const GAP_FROM_PX = 6;
const LABEL_GAP_PX = 16;
const LEAST_LABEL_PX = 96; // in which a name that is cut tells what it is of
const MAX_LETTERS = 24;
const MEASURED = 50;
const TICK_PX = 40;
const LEAST_SHARE = 1 / 200;

/* Pure: tops of the parts of each column: [part][column] → sum up to and with it. */
export function stackUp(parts, columns) {
  const sums = new Float64Array(columns);
  return parts.map(({ values }) => {
    for (let at = 0; at < columns; at++) sums[at] += Math.max(0, values[at] ?? 0);
    return Float64Array.from(sums);
  });
}

/* Pure: whether columns can stand at these times, each as wide as the time to the next: they ascend, and none is too
   narrow to
 * be seen. */
export function areApart(times) {
  const whole = times.at(-1) - times[0];
  return (
    times.length > 1 && times.slice(1).every((time, at) => time - times[at] >= whole * LEAST_SHARE && time > times[at])
  );
}

/* Pure: edges of the columns as shares of the width, one more than there are columns: at times that are apart, the last
   one as
 * wide as they are on the average; else all of one width. */
export function edgesOf(columns, times) {
  const isTimed = times?.length === columns && areApart(times);
  if (!isTimed) return Array.from({ length: columns + 1 }, (_, at) => at / columns);
  const [first, last] = [times[0], times.at(-1)];
  const whole = (last - first) * (1 + 1 / (columns - 1));
  return [...times.map((time) => (time - first) / whole), 1];
}

/* Column under x, or -1. */
export function columnAt(x, width, edges) {
  const share = (x - LEFT_PX) / Math.max(1, width - LEFT_PX);
  return share >= 0 && share < 1 ? lastBefore(edges.length, (at) => edges[at] <= share) : -1;
}

/* In: sentence(column), onHover(column, mark), onLeave(), onPick(column); keys: what they do.
 * Out: {node, draw({parts: [{fill(), values}], names, times: where columns stand, or none, isBytes, label}), mark({a,
 * b}), drawing(), destroy()}. */
export function createStacked({
  sentence,
  onHover,
  onLeave,
  onPick,
  keys = 'Arrow keys move, Enter chooses A, then B.',
}) {
  let data = { parts: [], names: [], isBytes: true, label: '' };
  let tops = [];
  let edges = [0];
  let marks = { a: -1, b: -1 };
  let hover = -1;
  const columns = () => data.names.length;
  const layers = createLayers({
    name: 'stacked',
    isReady: () => columns() > 0 && size.width > LEFT_PX && size.height > TOP_PX + BOTTOM_PX,
    paint,
    paintOver,
  });
  const { size } = layers;
  const plot = el('div', { class: 'stacked' }, layers.nodes);

  const left = (at) => LEFT_PX + (size.width - LEFT_PX) * edges[at];
  const max = () => Math.max(1, ...(tops.at(-1) ?? [1]));
  const y = (value) => size.height - BOTTOM_PX - ((size.height - TOP_PX - BOTTOM_PX) * value) / max();
  const boxOf = (at) => ({
    x: left(at),
    y: TOP_PX,
    width: left(at + 1) - left(at),
    height: size.height - TOP_PX - BOTTOM_PX,
  });

  function paint(context) {
    paintAxis(context, { ...data, size, y, max: max() });
    for (let part = 0; part < data.parts.length; part++) {
      context.fillStyle = data.parts[part].fill();
      for (let at = 0; at < columns(); at++) {
        const low = part ? tops[part - 1][at] : 0;
        const high = tops[part][at];
        if (high <= low) continue;
        const from = Math.round(left(at));
        const to = Math.round(left(at + 1));
        const gap = to - from >= GAP_FROM_PX ? Math.max(1, Math.round((to - from) * 0.12)) : 0;
        context.fillRect(from, y(high), Math.max(1, to - from - gap), Math.max(0.5, y(low) - y(high)));
      }
    }
    (edges.every((edge, at) => Math.abs(edge * columns() - at) < 1e-6) ? paintNames : paintApart)(context, {
      names: data.names,
      left,
      size,
    });
  }
  function paintOver(context) {
    if (hover >= 0) {
      const box = boxOf(hover);
      context.fillStyle = token('hover');
      context.fillRect(box.x, box.y, box.width, box.height);
    }
    for (const [name, at] of Object.entries(marks))
      if (at >= 0) flag(context, name.toUpperCase(), (left(at) + left(at + 1)) / 2, size);
    keyboard.setPinned(marks.b >= 0 ? marks.b : marks.a);
  }
  const setHover = (at) => {
    if (at === hover) return;
    hover = at;
    layers.repaintOver();
  };
  const show = (at) => {
    setHover(at);
    onHover(at, markIn(plot.getBoundingClientRect(), { ...boxOf(at), height: size.height - TOP_PX }));
  };
  const leave = () => {
    setHover(-1);
    onLeave();
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: (item) => sentence(item.at),
    onMove: show,
    onEnter: onPick,
    onLeave: leave,
  });
  plot.append(keyboard.node);
  layers.watch(plot);
  bindMarks(plot, {
    markAt({ x }) {
      const at = columnAt(x, size.width, edges);
      return at < 0 ? null : at;
    },
    keyboard,
    onHover: show,
    onLeave: leave,
    onClick: onPick,
  });
  return {
    node: plot,
    draw(next) {
      data = next;
      tops = stackUp(data.parts, columns());
      edges = edgesOf(columns(), data.times);
      layers.setLabel(data.label);
      keyboard.setLabel(`${data.label} ${keys}`);
      keyboard.setItems(data.names.map((_, column) => ({ at: column })));
      layers.repaint();
    },
    mark(next) {
      marks = next;
      layers.repaintOver();
    },
    drawing: () => layers.isReady() && { width: size.width, height: size.height, paint },
    destroy: layers.destroy,
  };
}

function paintAxis(context, { isBytes, size, y, max }) {
  const room = size.height - TOP_PX - BOTTOM_PX;
  const step = isBytes ? byteStep(max, room) : increment(STEP_INCREMENTS, max, Math.max(room, TICK_PX), TICK_PX);
  const unit = unitOf(max);
  context.font = `12px ${token('sans')}`;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.lineWidth = 1;
  for (let value = 0; value <= max; value += step) {
    context.strokeStyle = token('line');
    context.beginPath();
    const at = Math.round(y(value)) + 0.5;
    context.moveTo(LEFT_PX, at);
    context.lineTo(size.width, at);
    context.stroke();
    context.fillStyle = token('text2');
    const isLast = value + step > max;
    const words = isBytes ? bytes(value, unit, decimals(step, unit)) : count(value);
    context.fillText(isLast || !isBytes ? words : value === 0 ? '0' : words.split(' ')[0], LEFT_PX - 8, at);
  }
  context.textAlign = 'left';
}

/* As many as it takes for two ticks to differ. */
function decimals(step, unit) {
  const share = step / 1024 ** unit;
  return share >= 1 ? 0 : share >= 0.25 ? 2 : 3;
}

/* Enough of them to know how wide names are. */
const sampled = (names) =>
  names.filter((_, at) => at % Math.ceil(names.length / MEASURED) === 0 || at === names.length - 1);

function paintNames(context, { names, left, size }) {
  context.font = `12px ${token('sans')}`;
  context.textBaseline = 'top';
  context.textAlign = 'center';
  context.fillStyle = token('text2');
  const wide = Math.max(1, left(1) - left(0));
  const widest = Math.max(...sampled(names).map((name) => context.measureText(name).width));
  const every = Math.max(1, Math.ceil(Math.min(LEAST_LABEL_PX, widest + LABEL_GAP_PX) / wide));
  const room = every * wide - LABEL_GAP_PX;
  for (let at = 0; at < names.length; at += every) {
    const short = fitted(context, names[at], room);
    const half = context.measureText(short).width / 2;
    const x = Math.min(size.width - half - 1, (left(at) + left(at + 1)) / 2);
    context.fillText(short, x, size.height - BOTTOM_PX + 6);
  }
  context.textAlign = 'left';
}

/* Names of columns that are not of one width: as many as do not meet. */
function paintApart(context, { names, left, size }) {
  context.font = `12px ${token('sans')}`;
  context.textBaseline = 'top';
  context.textAlign = 'center';
  context.fillStyle = token('text2');
  let taken = LEFT_PX;
  names.forEach((name, at) => {
    const short = name.length > MAX_LETTERS ? `…${name.slice(1 - MAX_LETTERS)}` : name;
    const half = context.measureText(short).width / 2;
    const x = Math.min(size.width - half - 1, Math.max(LEFT_PX + half, (left(at) + left(at + 1)) / 2));
    if (x - half < taken) return;
    context.fillText(short, x, size.height - BOTTOM_PX + 6);
    taken = x + half + LABEL_GAP_PX;
  });
  context.textAlign = 'left';
}

function flag(context, word, x, size) {
  context.strokeStyle = token('accent');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, 4);
  context.lineTo(Math.round(x) + 0.5, size.height - BOTTOM_PX);
  context.stroke();
  context.fillStyle = token('accent');
  context.fillRect(Math.round(x), 2, 16, 15);
  context.fillStyle = token('panel');
  context.font = `600 12px ${token('sans')}`;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  context.fillText(word, Math.round(x) + 8, 10);
  context.textAlign = 'left';
}
