/* SPDX-License-Identifier: Apache-2.0
 * map.js: the allocation map on our own canvas: steps across, offsets up, one rectangle a buffer;
 * what lives from begin to end as bands above, since it has no offset. The base is drawn for a
 * view; hover, pin, moment and window lie on an overlay. */

import { el } from '../lib/dom.js';
import { MIN_BYTES, moved, zoomed } from '../lib/range.js';
import { createLayers } from './canvas.js';
import { bindGestures } from './gestures.js';
import { createKeyboardList } from './keyboard_list.js';
import { colouring } from './map_colours.js';
import { arrange, bandAt, bandsOf, rectangleAt } from './map_layout.js';
import {
  boxOfItem,
  mapPlot,
  paintAxes,
  paintBands,
  paintFound,
  paintLimit,
  paintMapOver,
  paintRectangles,
  paintStep,
} from './map_paint.js';
import { paintPeak, paintStillWords } from './map_words.js';

const NEAR_PX = 4;
const MIN_HIGH_PX = 8; // a drag that is flatter selects steps alone
const MIN_STEPS = 8;
const MAX_OUTLINED = 8; // more edges would cover the colours; what is not pinned is faded in any case
const MIN_PICTURE_PX = [960, 360];
const EMPTY = { step_count: 1, height_bytes: 1, rectangles: [], indefinite: [] };

/* actions: onHover(item), onLeave(), onStep(step | null), onPin(item), onMoment(step),
 * onWindow([first, last], [low, high) | null), onView({from, to, low, high}, isEnd), onAll(), onHint(), sentence(item).
 * Out: {node, draw(answer), drawing(), table(), setView, setColour, setMatches, mark({hover, pin, group}), setLimit,
 * setPlace, showStep, cancel, destroy}. */
export function createMap(actions) {
  const state = {
    answer: EMPTY,
    columns: arrange([]),
    slots: [],
    seconds: [],
    limit: null,
    colouring: colouring('category', [], 1),
    how: 'category',
    bands: [],
    names: [],
    view: { from: 0, to: 1, low: 0, high: 1 },
    place: { moment: null, peak: null, window: null, offsets: null, marks: { a: null, b: null } },
    drag: null, // what is being selected
    step: null,
    lit: { hover: null, pin: null, group: [] },
    matches: [],
    drawnCount: 0,
    plot: (size = layers.size) => mapPlot(size, state.view, state.answer.indefinite.length > 0),
  };
  const layers = createLayers({
    name: 'map',
    paint: (context) => paintMap(context, state),
    paintOver: (context) => paintMapOver(context, state.plot(), overlayOf(state)),
    onSize: () => actions.onWidth?.(),
  });
  const node = el('div', { class: 'map-plot' }, layers.nodes);
  const keyboard = createKeyboardList({
    label: '',
    sentence: actions.sentence,
    onMove: (at) => itemsOf(state)[at] && actions.onHover(itemsOf(state)[at]),
    onEnter: (at) => itemsOf(state)[at] && actions.onPin(itemsOf(state)[at]),
    onLeave: actions.onLeave,
  });
  node.append(keyboard.node);
  const gestures = bindMapGestures(node, state, { actions, keyboard, repaintOver: layers.repaintOver });
  layers.watch(node);
  const recolour = () => {
    state.colouring = colouring(state.how, itemsOf(state), state.answer.step_count);
    state.slots = Uint8Array.from(state.columns.items, state.colouring.classOf);
    state.seconds = secondsOf(state);
    layers.repaint();
  };
  const setBase = (patch) => {
    Object.assign(state, patch);
    layers.repaint();
  };
  const setOver = (patch) => {
    Object.assign(state, patch);
    layers.repaintOver();
  };

  return {
    node,
    width: () => Math.max(64, state.plot().width),
    classes: () => usedClasses(state),
    drawing: () => (state.answer === EMPTY ? null : mapDrawing(state, layers.size)),
    table: () => mapTable([...state.answer.indefinite, ...state.answer.rectangles]),
    get drawnCount() {
      return state.drawnCount;
    },
    draw(answer, label) {
      Object.assign(state, { answer, columns: arrange(answer.rectangles) });
      recolour();
      layers.setLabel(label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins.`);
      const setSize = answer.rectangle_count + answer.indefinite.length;
      keyboard.setItems(itemsOf(state).map((item) => ({ ...item, setSize })));
    },
    setView: (next) => setBase({ view: { ...state.view, ...next } }),
    setColour(how) {
      state.how = how;
      recolour();
    },
    /* Items that a search found: {id, from, to, low_bytes, high_bytes}. */
    setMatches: (matches) => setBase({ matches }),
    /* hover, pin: items or null; group: items that are pinned together; what is not among the rectangles is outlined
       where it lies. */
    mark(next) {
      const { lit } = state;
      if (next.pin !== lit.pin || next.group !== lit.group) setBase({ lit: next });
      else if (next.hover !== lit.hover) setOver({ lit: next });
    },
    /* {bytes: an offset, text, short: where that is too long, isOver}, or null: where the device's memory ends. */
    setLimit: (limit) => setBase({ limit }),
    setPlace(next) {
      const place = { ...state.place, ...next };
      if (place.peak === state.place.peak) setOver({ place });
      else setBase({ place }); /* its mark moves the words of the capacity */
    },
    showStep: (step) => step === state.step || setOver({ step }),
    itemOf(id) {
      const at = state.columns.atOfId.get(id);
      return at === undefined
        ? (state.answer.indefinite.find((item) => item.id === id) ?? null)
        : state.columns.items[at];
    },
    cancel: gestures.cancel,
    destroy: layers.destroy,
  };
}

/* ---- what is drawn ---------------------------------------------------------------- */

/* All items, in the order of the keyboard. */
const itemsOf = ({ answer, columns }) => [...answer.indefinite, ...columns.items];

function usedClasses({ slots, answer, colouring: { classes, classOf } }) {
  const used = new Set([...slots, ...answer.indefinite.map(classOf)]);
  return classes.filter((look, at) => used.has(at));
}

/* Every other of a class has the second tone, in the order of birth; a scale of colours has one tone a step. */
function secondsOf({ columns, slots, colouring: { classes, mixed } }) {
  const counts = new Map();
  return Uint8Array.from(columns.items, (item, at) => {
    const number = counts.get(slots[at]) ?? 0;
    counts.set(slots[at], number + 1);
    return slots[at] === mixed || classes[slots[at]].isSequential ? 0 : number % 2;
  });
}

/* Ids that keep their colour: what is pinned, else what a search found; null: all. */
function clearOf({ matches, lit: { pin, group } }) {
  const items = pin ? [pin] : group.length ? group : matches;
  return items.length ? new Set(items.map((item) => item.id)) : null;
}

function paintMap(context, state) {
  const plot = state.plot();
  const { matches, answer } = state;
  state.bands = bandsOf(answer.indefinite, plot.bandHeight, plot.ratio);
  paintAxes(context, plot);
  const found = clearOf(state);
  const { drawn, names } = paintRectangles(context, { ...state, found }, plot);
  state.drawnCount = drawn;
  state.names = names;
  if (state.bands.length) paintBands(context, state.bands, state.colouring, plot, found);
  if (state.limit) paintLimit(context, plot, state.limit);
  paintStillWords(context, plot, { ...state, peak: state.place.peak });
  paintFound(
    context,
    matches.map((item) => boxOfItem(plot, state.bands, item)),
  );
}

/* For paintMapOver(). */
function overlayOf(state) {
  const { place, drag, step, limit, names, lit, bands } = state;
  const plot = state.plot();
  const box = (item) => item && boxOfItem(plot, bands, item);
  return {
    ...place,
    selected: drag ?? (place.window && place),
    isDragged: drag != null,
    step,
    limit,
    names,
    hovered: lit.hover?.id !== lit.pin?.id ? box(lit.hover) : null,
    pinned: box(lit.pin),
    group: lit.group.length > MAX_OUTLINED ? [] : lit.group.map(box).filter(Boolean),
  };
}

/* What is in view, with the moment, as a picture of its own, for export_menu.js. */
function mapDrawing(state, size) {
  const of = {
    width: Math.max(MIN_PICTURE_PX[0], size.width),
    height: Math.max(MIN_PICTURE_PX[1], size.height),
    ratio: 2,
  };
  return {
    ...of,
    paint(context) {
      const plot = state.plot(of);
      const { peak, moment } = state.place;
      const bands = bandsOf(state.answer.indefinite, plot.bandHeight, of.ratio);
      paintAxes(context, plot);
      const { names } = paintRectangles(context, { ...state, found: null }, plot);
      if (bands.length) paintBands(context, bands, state.colouring, plot);
      if (state.limit) paintLimit(context, plot, state.limit);
      paintStillWords(context, plot, { ...state, peak, names });
      paintPeak(context, plot, { ...state, peak, names });
      if (moment != null) paintStep(context, plot, moment, 'accent');
    },
    legend: usedClasses(state).map((look) => ({ word: look.word, colour: look.fill() })),
  };
}

/* ---- pointer and wheel -------------------------------------------------------------- */

function itemAt({ bands, columns }, plot, { x, y }) {
  if (x < plot.left || x > plot.right) return null;
  if (y < plot.bandHeight) return bands[bandAt(bands, y)]?.item ?? null;
  const at = rectangleAt(columns, plot.stepAt(x), plot.byteAt(y), NEAR_PX / plot.perStep, NEAR_PX / plot.perByte);
  return at < 0 ? null : columns.items[at];
}

const stepUnder = ({ view, stepAt }, x) =>
  Math.max(Math.floor(view.from), Math.min(Math.ceil(view.to) - 1, Math.floor(stepAt(x))));

const ordered = (a, b) => [Math.min(a, b), Math.max(a, b)];

/* Offsets between two heights of the plot; null: all, also where a drag is flat. */
function offsetsBetween({ top, bottom, byteAt }, heightBytes, a, b) {
  const [upper, lower] = ordered(a.y, b.y).map((y) => Math.max(top, Math.min(bottom, y)));
  if (lower - upper < MIN_HIGH_PX) return null;
  const [low, high] = [Math.max(0, Math.floor(byteAt(lower))), Math.min(heightBytes, Math.ceil(byteAt(upper)))];
  return low === 0 && high === heightBytes ? null : [low, high];
}

function bindMapGestures(node, state, { actions, keyboard, repaintOver }) {
  const itemUnder = (at) => itemAt(state, state.plot(), at);
  const all = () => ({ steps: [0, state.answer.step_count], bytes: [0, state.answer.height_bytes] });
  return bindGestures(node, {
    hover(at) {
      const item = itemUnder(at);
      if (item) actions.onHover(item);
      else actions.onLeave();
      const plot = state.plot();
      actions.onStep(at.y >= plot.top ? stepUnder(plot, at.x) : null);
      node.classList.toggle('is-on-mark', item != null);
    },
    leave() {
      actions.onStep(null);
      if (!keyboard.hasFocus) actions.onLeave();
    },
    click(at) {
      const item = itemUnder(at);
      const plot = state.plot();
      if (item && item.id != null) actions.onPin(item);
      else if (item) actions.onOpen(item);
      else if (at.x >= plot.left && at.y >= plot.top) actions.onMoment(stepUnder(plot, at.x));
    },
    double(at) {
      const item = itemUnder(at);
      if (item && item.from !== undefined) actions.onOpen(item);
      else actions.onAll();
    },
    select(a, b, isEnd) {
      const plot = state.plot();
      const selected = b && {
        window: ordered(a.x, b.x).map((x) => stepUnder(plot, x)),
        offsets: offsetsBetween(plot, state.answer.height_bytes, a, b),
      };
      state.drag = isEnd ? null : selected;
      if (b && isEnd) actions.onWindow(selected.window, selected.offsets);
      repaintOver();
    },
    pan(dx, dy, isEnd) {
      const { view, perStep, perByte } = state.plot();
      const [from, to] = moved([view.from, view.to], all().steps, -dx / perStep);
      const [low, high] = moved([view.low, view.high], all().bytes, dy / perByte);
      actions.onView({ from, to, low, high }, isEnd);
    },
    zoom({ x, y }, factor, isVertical) {
      const { view, stepAt, byteAt } = state.plot();
      const steps = [view.from, view.to];
      const [from, to] = isVertical ? steps : zoomed(steps, all().steps, MIN_STEPS, stepAt(x), factor);
      const [low, high] = zoomed([view.low, view.high], all().bytes, MIN_BYTES, byteAt(y), factor);
      actions.onView({ from, to, low, high }, true);
    },
    hint: actions.onHint,
  });
}

/* ---- as a table ---------------------------------------------------------------------- */

const COLUMNS = [
  'id',
  'name',
  'buffers',
  'bytes',
  'padding_bytes',
  'category',
  'from_step',
  'to_step',
  'low_bytes',
  'high_bytes',
];

/* Every rectangle and band in view; one that stands for several says how many. */
function mapTable(items) {
  return {
    columns: [...COLUMNS.map((key) => ({ key })), { key: 'source', isSource: true }],
    rows: items.map(({ from = null, to = null, count, ...item }) => ({
      ...item,
      name: item.id == null ? 'merged' : item.name,
      buffers: item.id == null ? count : 1,
      from_step: from,
      to_step: to,
    })),
  };
}
