/* SPDX-License-Identifier: Apache-2.0
 * map.js: the allocation map on our own canvas: steps across, offsets up, one rectangle a buffer;
 * what lives from begin to end as bands above, since it has no offset. The base is drawn for a
 * view; hover, pin, moment and window lie on an overlay. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { bytesApart } from '../lib/format.js';
import { moved, zoomed } from '../lib/range.js';
import { onTheme, token } from '../lib/theme.js';
import { LEFT_PX, RIGHT_PX } from './curve_plot.js';
import { bindGestures } from './gestures.js';
import { colouring } from './map_colours.js';
import { arrange, bandAt, bandsOf, rectangleAt } from './map_layout.js';
import { boxOf, paintAxes, paintBands, paintRectangles, scales } from './map_paint.js';
import { createKeyboardList } from './keyboard_list.js';
import { paintOutline, prepare } from './strips_paint.js';

const NEAR_PX = 4;
const AXIS_PX = 22;
const BAND_PX = 30;
const BAND_GAP_PX = 4;
const FRAMED_PX = 6;
const OUTLINES = [['panel', 1, 0.5], ['accent', 2, 2]]; // colour, width, distance; see paintOutline
const MIN_HIGH_PX = 8; // a drag that is flatter selects steps alone
const MIN_STEPS = 8;
export const MIN_BYTES = 64 * 1024;
const MIN_PICTURE_PX = [960, 360];
const EMPTY = { step_count: 1, height_bytes: 1, rectangles: [], indefinite: [] };

/* actions: onHover(item, mark), onLeave(), onStep(step | null), onPin(item), onMoment(step),
 * onWindow([first, last], [low, high) | null), onView({from, to, low, high}, isEnd), onAll(), onHint(), sentence(item).
 * Out: {node, draw(answer), drawing(), table(), setView, setColour, setMatches, mark({hover, pin, group}), setPlace, showStep,
 * cancel, destroy}. */
export function createMap(actions) {
  const base = el('canvas', { role: 'img', class: 'map-base' });
  const over = el('canvas', { 'aria-hidden': 'true', class: 'map-over' });
  const node = el('div', { class: 'map-plot' }, base, over);
  let answer = EMPTY;
  let map = { columns: arrange([]), slots: [], colouring: colouring('category', [], 1) };
  let bands = [];
  let size = { width: 0, height: 0, ratio: 1 };
  let view = { from: 0, to: 1, low: 0, high: 1 };
  let how = 'category';
  let place = { moment: null, peak: null, window: null, offsets: null, marks: { a: null, b: null } };
  let drag = null;
  let step = null;
  let lit = { hover: null, pin: null, group: [] };
  let matches = [];
  let found = new Set();
  let drawnCount = 0;
  let isOnMark = false;

  const frame = (of = size) => {
    const bandHeight = answer.indefinite.length ? BAND_PX : 0;
    const top = bandHeight ? bandHeight + BAND_GAP_PX : 0;
    return {
      left: LEFT_PX,
      width: Math.max(1, of.width - LEFT_PX - RIGHT_PX),
      bandTop: 0,
      bandHeight,
      top,
      height: Math.max(1, of.height - top - AXIS_PX),
    };
  };
  const recolour = () => {
    const { items } = map.columns;
    map.colouring = colouring(how, [...items, ...answer.indefinite], answer.step_count);
    map.slots = Uint8Array.from(items, map.colouring.classOf);
  };
  const boxOfLife = ({ from, to, low, high }) => boxOf(frame(), scales(frame(), view), from, to, low, high, size.ratio);
  /* Where an item is drawn: its rectangle, its band, or the place that is known of it otherwise. */
  const boxOfItem = (item) => {
    const { left, width } = frame();
    const band = bands.find((each) => each.item === item || (item.id !== null && each.item.id === item.id));
    if (band) return { x: left, y: band.y, width, height: band.height };
    if (item.from === undefined || item.low_bytes === undefined) return null;
    return boxOfLife({ from: item.from, to: item.to, low: item.low_bytes, high: item.high_bytes });
  };
  const outline = (context, item, isPinned) => {
    const box = item && boxOfItem(item);
    if (!box) return;
    context.save();
    context.translate(0, box.y);
    paintOutline(context, box, box.height, isPinned);
    context.restore();
  };
  /* Many at once, in two strokes. */
  const outlineGroup = (context, items) => {
    const boxes = items.map(boxOfItem).filter(Boolean);
    for (const [name, wide, away] of boxes.length ? OUTLINES : []) {
      context.strokeStyle = token(name);
      context.lineWidth = wide;
      context.beginPath();
      for (const { x, y, width, height } of boxes) context.rect(x - away, y - away, width + 2 * away, height + 2 * away);
      context.stroke();
    }
  };
  const line = (context, at, colour, wide, plot = frame()) => {
    const { left, width, top, height } = plot;
    const x = scales(plot, view).x(at + 0.5);
    if (x < left - 1 || x > left + width + 1) return;
    context.fillStyle = colour;
    context.fillRect(Math.round(x) - wide / 2, top, wide, height);
  };
  /* The window; with offsets it is a rectangle with an edge, which may lie outside of the view. */
  const shade = (context, { window: [first, last], offsets }) => {
    const [low, high] = offsets ?? [view.low, view.high];
    const box = boxOfLife({ from: first, to: last + 1, low, high });
    if (!box || first >= view.to || last + 1 <= view.from || low >= view.high || high <= view.low) return;
    context.fillStyle = token('wash');
    context.fillRect(box.x, box.y, box.width, box.height);
    if (!offsets) return;
    const plot = frame();
    const scale = scales(plot, view);
    const [x, y] = [scale.x(first), scale.y(high)];
    context.save();
    context.beginPath();
    context.rect(plot.left - 2, plot.top - 2, plot.width + 4, plot.height + 4); /* an edge at the plot's edge is whole */
    context.clip();
    for (const [name, wide] of [['panel', 4], ['accent', 2]]) {
      context.strokeStyle = token(name);
      context.lineWidth = wide;
      context.strokeRect(x, y, scale.x(last + 1) - x, scale.y(low) - y);
    }
    context.restore();
    if (drag) caption(context, box, offsets);
  };
  /* What a drag would select, above it or, at the upper edge, in it. */
  const caption = (context, { x, y }, [low, high]) => {
    context.font = `600 12px ${token('sans')}`;
    context.textBaseline = 'bottom';
    const at = y - frame().top > 18 ? y - 3 : y + 17;
    const text = bytesApart(low, high).join(' to ');
    const from = Math.min(x, size.width - context.measureText(text).width - 4);
    context.lineWidth = 3;
    context.strokeStyle = token('panel');
    context.strokeText(text, from, at);
    context.fillStyle = token('text');
    context.fillText(text, from, at);
  };
  /* A marked moment, with its letter at the foot. */
  const flag = (context, letter, at) => {
    const { left, width, top, height } = frame();
    const x = Math.round(scales(frame(), view).x(at + 0.5));
    if (x < left - 1 || x > left + width + 1) return;
    line(context, at, token('accent'), 1);
    context.fillRect(x, top + height - 16, 14, 16);
    context.font = `600 12px ${token('sans')}`;
    context.textBaseline = 'middle';
    context.fillStyle = token('panel');
    context.fillText(letter, x + 3, top + height - 8);
  };
  const peakMark = (context, plot = frame()) => {
    const { left, width, top } = plot;
    const x = scales(plot, view).x(place.peak + 0.5);
    if (x < left || x > left + width) return;
    context.fillStyle = token('text');
    context.beginPath();
    context.moveTo(x - 5, top);
    context.lineTo(x + 5, top);
    context.lineTo(x, top + 9);
    context.closePath();
    context.fill();
    context.font = `600 12px ${token('sans')}`;
    context.textBaseline = 'top';
    const isRight = x + 44 < left + width;
    context.textAlign = isRight ? 'left' : 'right';
    context.lineWidth = 3;
    context.strokeStyle = token('panel');
    /* Below "offsets from …", where that stands. */
    const y = view.low > 0 && x < left + 160 ? top + 16 : top;
    context.strokeText('peak', x + (isRight ? 8 : -8), y);
    context.fillText('peak', x + (isRight ? 8 : -8), y);
    context.textAlign = 'left';
  };
  const paintOver = () => {
    if (size.width <= 0 || size.height <= 0) return;
    const context = prepare(over, size.width, size.height, size.ratio);
    if (!context) return;
    const shown = drag ?? (place.window && place);
    if (shown) shade(context, shown);
    if (place.peak !== null) peakMark(context);
    if (step !== null) line(context, step, token('text2'), 1);
    if (place.moment !== null) line(context, place.moment, token('accent'), 1);
    if (lit.hover && lit.hover.id !== lit.pin?.id) outline(context, lit.hover, false);
    outline(context, lit.pin, true);
    outlineGroup(context, lit.group);
    for (const [name, at] of Object.entries(place.marks)) if (at !== null) flag(context, name.toUpperCase(), at);
  };
  const paintMatches = (context) => {
    context.strokeStyle = token('accent');
    context.lineWidth = 1.5;
    for (const item of matches) {
      const box = boxOfItem(item);
      if (box && box.height >= FRAMED_PX && box.width >= FRAMED_PX)
        context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
    }
  };
  const paint = () => {
    if (size.width <= 0 || size.height <= 0) return;
    const context = prepare(base, size.width, size.height, size.ratio);
    if (!context) return;
    const at = frame();
    bands = bandsOf(answer.indefinite, at.bandHeight, size.ratio);
    paintAxes(context, at, view, view.low === 0);
    drawnCount = paintRectangles(context, { ...map, found: matches.length ? found : null }, at, view, size.ratio);
    if (bands.length) paintBands(context, bands, map.colouring, at);
    paintMatches(context);
    paintOver();
  };
  /* What is in view, with the moment, on a picture of its own. */
  const paintInto = (context, of) => {
    const plot = frame(of);
    paintAxes(context, plot, view, view.low === 0);
    paintRectangles(context, { ...map, found: null }, plot, view, of.ratio);
    if (bands.length) paintBands(context, bandsOf(answer.indefinite, plot.bandHeight, of.ratio), map.colouring, plot);
    if (place.peak !== null) peakMark(context, plot);
    if (place.moment !== null) line(context, place.moment, token('accent'), 1, plot);
  };
  const usedClasses = () => {
    const used = new Set([...map.slots, ...answer.indefinite.map(map.colouring.classOf)]);
    return map.colouring.classes.filter((look, at) => used.has(at));
  };
  const itemAt = ({ x, y }) => {
    const at = frame();
    if (x < at.left || x > at.left + at.width) return null;
    if (y < at.bandHeight) return bands[bandAt(bands, y)]?.item ?? null;
    const scale = scales(at, view);
    const found = rectangleAt(map.columns, scale.stepAt(x), scale.byteAt(y), NEAR_PX / scale.perStep, NEAR_PX / scale.perByte);
    return found < 0 ? null : map.columns.items[found];
  };
  const stepAt = (x) => {
    const at = Math.floor(scales(frame(), view).stepAt(x));
    return Math.max(Math.floor(view.from), Math.min(Math.ceil(view.to) - 1, at));
  };
  const markOf = (item, page = node.getBoundingClientRect()) => {
    const box = boxOfItem(item) ?? { x: 0, y: 0, width: 0, height: 0 };
    return {
      left: page.left + box.x,
      right: page.left + box.x + Math.min(box.width, 400),
      top: page.top + box.y,
      bottom: page.top + box.y + box.height,
    };
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: actions.sentence,
    onMove: (at) => {
      const item = [...answer.indefinite, ...map.columns.items][at];
      if (item) actions.onHover(item, markOf(item));
    },
    onEnter: (at) => {
      const item = [...answer.indefinite, ...map.columns.items][at];
      if (item) actions.onPin(item);
    },
    onLeave: actions.onLeave,
  });
  node.append(keyboard.node);

  const all = () => ({ steps: [0, answer.step_count], bytes: [0, answer.height_bytes] });
  const ordered = (a, b) => [Math.min(a, b), Math.max(a, b)];
  /* Offsets between two heights of the plot; null: all, also where a drag is flat. */
  const offsetsOf = (a, b) => {
    const { top, height } = frame();
    const [upper, lower] = ordered(a.y, b.y).map((y) => Math.max(top, Math.min(top + height, y)));
    if (lower - upper < MIN_HIGH_PX) return null;
    const { byteAt } = scales(frame(), view);
    const [low, high] = [Math.max(0, Math.floor(byteAt(lower))), Math.min(answer.height_bytes, Math.ceil(byteAt(upper)))];
    return low === 0 && high === answer.height_bytes ? null : [low, high];
  };
  const selection = (a, b) => ({ window: ordered(a.x, b.x).map(stepAt), offsets: offsetsOf(a, b) });
  const gestures = bindGestures(node, {
    /* Where the plot lies follows from the event: asked of the page it would have to be laid out anew. */
    hover: (at, event) => {
      const item = itemAt(at);
      if (item) actions.onHover(item, markOf(item, { left: event.clientX - at.x, top: event.clientY - at.y }));
      else actions.onLeave();
      actions.onStep(at.y >= frame().top ? stepAt(at.x) : null);
      if ((item !== null) === isOnMark) return;
      isOnMark = item !== null;
      node.classList.toggle('is-on-mark', isOnMark);
    },
    leave: () => {
      actions.onStep(null);
      if (!keyboard.hasFocus) actions.onLeave();
    },
    click: (at) => {
      const item = itemAt(at);
      if (item && item.id !== null) actions.onPin(item);
      else if (item) actions.onOpen(item);
      else if (at.x >= LEFT_PX && at.y >= frame().top) actions.onMoment(stepAt(at.x));
    },
    double: (at) => {
      const item = itemAt(at);
      if (item && item.from !== undefined) actions.onOpen(item);
      else actions.onAll();
    },
    select: (a, b, isEnd) => {
      const selected = b && selection(a, b);
      drag = isEnd ? null : selected;
      if (b && isEnd) actions.onWindow(selected.window, selected.offsets);
      nextFrame(paintOver);
    },
    pan: (dx, dy, isEnd) => {
      const scale = scales(frame(), view);
      const [from, to] = moved([view.from, view.to], all().steps, -dx / scale.perStep);
      const [low, high] = moved([view.low, view.high], all().bytes, dy / scale.perByte);
      actions.onView({ from, to, low, high }, isEnd);
    },
    zoom: ({ x, y }, factor, isVertical) => {
      const scale = scales(frame(), view);
      const [from, to] = isVertical
        ? [view.from, view.to]
        : zoomed([view.from, view.to], all().steps, MIN_STEPS, scale.stepAt(x), factor);
      const [low, high] = zoomed([view.low, view.high], all().bytes, MIN_BYTES, scale.byteAt(y), factor);
      actions.onView({ from, to, low, high }, true);
    },
    hint: actions.onHint,
  });
  const watch = new ResizeObserver(() => {
    size = { width: node.clientWidth, height: node.clientHeight, ratio: window.devicePixelRatio || 1 };
    nextFrame(paint);
    actions.onWidth?.();
  });
  watch.observe(node);
  const offTheme = onTheme(() => nextFrame(paint));

  return {
    node,
    get width() {
      return Math.max(64, frame().width);
    },
    get classes() {
      return usedClasses();
    },
    /* For pictures and tables of export_menu.js; null while nothing is drawn. */
    drawing() {
      if (answer === EMPTY) return null;
      const of = { width: Math.max(MIN_PICTURE_PX[0], size.width), height: Math.max(MIN_PICTURE_PX[1], size.height), ratio: 2 };
      return {
        ...of,
        paint: (context) => paintInto(context, of),
        legend: usedClasses().map((look) => ({ word: look.word, colour: look.fill() })),
      };
    },
    table: () => mapTable([...answer.indefinite, ...answer.rectangles]),
    get drawnCount() {
      return drawnCount;
    },
    draw(next, label) {
      answer = next;
      map = { columns: arrange(next.rectangles) };
      recolour();
      base.setAttribute('aria-label', label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      const setSize = next.rectangle_count + next.indefinite.length;
      keyboard.setItems([...next.indefinite, ...map.columns.items].map((item) => ({ ...item, setSize })));
      nextFrame(paint);
    },
    setView(next) {
      view = { ...view, ...next };
      nextFrame(paint);
    },
    setColour(next) {
      how = next;
      recolour();
      nextFrame(paint);
    },
    /* Items that a search found: {id, from, to, low_bytes, high_bytes}. */
    setMatches(next) {
      matches = next;
      found = new Set(next.map((item) => item.id));
      nextFrame(paint);
    },
    /* hover, pin: items or null; group: items that are pinned together; what is not among the rectangles is outlined where it lies. */
    mark(next) {
      if (next.hover === lit.hover && next.pin === lit.pin && next.group === lit.group) return;
      lit = next;
      nextFrame(paintOver);
    },
    setPlace(next) {
      place = { ...place, ...next };
      nextFrame(paintOver);
    },
    showStep(next) {
      if (next === step) return;
      step = next;
      nextFrame(paintOver);
    },
    itemOf: (id) => {
      const at = map.columns.atOfId.get(id);
      return at === undefined ? (answer.indefinite.find((item) => item.id === id) ?? null) : map.columns.items[at];
    },
    cancel: gestures.cancel,
    destroy() {
      watch.disconnect();
      offTheme();
    },
  };
}

const COLUMNS = ['id', 'name', 'buffers', 'bytes', 'padding_bytes', 'category', 'from_step', 'to_step', 'low_bytes', 'high_bytes'];

/* Every rectangle and band in view; one that stands for several says how many. */
function mapTable(items) {
  return {
    columns: [...COLUMNS.map((key) => ({ key })), { key: 'source', isSource: true }],
    rows: items.map(({ from = null, to = null, count, ...item }) => ({
      ...item,
      name: item.id === null ? 'merged' : item.name,
      buffers: item.id === null ? count : 1,
      from_step: from,
      to_step: to,
    })),
  };
}
