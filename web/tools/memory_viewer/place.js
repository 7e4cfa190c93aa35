/* SPDX-License-Identifier: Apache-2.0
 * place.js: where the reader stands: the moment, the steps in view, the selected window, on the map with
 * its offsets, and two marks. All are in the URL; what of them does not exist becomes a banner. */

import { later } from '../../lib/activity.js';
import { bytes as sizeWords, bytesApart, count, cutMiddle, visible } from '../../lib/format.js';
import { nextMarks, swappedMarks } from '../../lib/marks.js';
import { following, isAll, moved, nearest, zoomed } from '../../lib/range.js';
import { MIN_STEPS } from '../../widgets/curve.js';
import { peakBeside } from '../../widgets/curve_keys.js';
import { coversTerm, readOpened } from './filter.js';
import { offsetWords, unitWord } from './text.js';

const ASK_AFTER_MS = 120;
const PAN_SHARE = 0.2;
const NOTCH = 1.2;

const NOWHERE = { step: null, range: null, bytes: null, window: null, offsets: null, marks: { a: null, b: null } };
const isStep = (value, space) => Number.isInteger(value) && value >= 0 && value < space.step_count;
const quoted = (value) => cutMiddle(visible(String(value)), 40);

function pairOf(text) {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : null;
}

/* Pure: {step (null: the peak), range (null: all), bytes (null: all), window [first, last] (null: none),
 * offsets [low, high) of the window (null: all), marks: {a, b} (null: not set), said: {name: sentence}}. */
export function readPlace(space, route) {
  const said = {};
  const unit = unitWord(space);
  const has = space.step_count > 0 ? `${unit}s 0 to ${count(space.step_count - 1)}` : `no ${unit}s`;
  const name = visible(space.name);
  let { step } = route;
  if (step != null && !isStep(step, space)) {
    said.step =
      `${unit[0].toUpperCase()}${unit.slice(1)} ${typeof step === 'number' ? count(step) : quoted(step)} ` +
      `is not in ${name}, which has ${has}; showing the peak.`;
    step = null;
  }
  let range = null;
  if (route.from != null || route.to != null) {
    const [from, to] = [route.from ?? 0, route.to ?? space.step_count];
    const isRange = isStep(from, space) && Number.isInteger(to) && to > from && to <= space.step_count;
    if (isRange) range = [from, to];
    else said.range = `${quoted(from)} to ${quoted(to)} is no range of ${name}, which has ${has}; showing all.`;
  }
  let window = null;
  if (route.sel) {
    window = pairOf(route.sel);
    if (!window || window[1] < window[0] || !isStep(window[1], space)) {
      said.window = `The window ${quoted(route.sel)} is not in ${name}, which has ${has}; nothing is selected.`;
      window = null;
    }
  }
  let offsets = null;
  if (route.offsets && !said.window) {
    offsets = pairOf(route.offsets);
    if (offsets && offsets[0] < offsets[1] && offsets[0] < space.total_bytes && space.step_count > 0)
      window ??= [0, space.step_count - 1];
    else {
      const words = offsets?.[0] < offsets?.[1] ? offsetWords(offsets) : quoted(route.offsets);
      offsets = null;
      said.offsets =
        `Offsets ${words} are not in ${name}, which needs ${sizeWords(space.total_bytes)}; ` +
        `${window ? 'the window takes all of them' : 'nothing is selected'}.`;
    }
  }
  const marks = { a: null, b: null };
  for (const name of ['a', 'b']) {
    if (!route[name]) continue;
    const at = /^\d{1,15}$/.test(route[name]) ? Number(route[name]) : null;
    if (isStep(at, space)) marks[name] = at;
    else
      said.marks =
        `${said.marks ? `${said.marks} ` : ''}The mark ${name.toUpperCase()} at ${quoted(route[name])} is ` +
        `not in ${visible(space.name)}, which has ${has}; it is left out.`;
  }
  const isBytes =
    Number.isInteger(route.low) && Number.isInteger(route.high) && route.low >= 0 && route.high > route.low;
  if (!isBytes && (route.low != null || route.high != null))
    said.bytes = `Offsets ${quoted(route.low ?? '')} to ${quoted(route.high ?? '')} are not a range; showing all.`;
  else if (isBytes && route.high > space.total_bytes) {
    const [high, total] = bytesApart(route.high, space.total_bytes);
    said.bytes = `Offsets up to ${high} are not in ${name}, which needs ${total}; showing all.`;
  }
  const bytes = isBytes && !said.bytes ? [route.low, route.high] : null;
  if (route.bars && !readOpened(route.bars))
    said.bars = `There is no bar ${quoted(route.bars)} in the strips; showing all buffers.`;
  return { step: step === space.peak_step ? null : step, range, bytes, window, offsets, marks, said };
}

const allOf = ({ space }) => [0, space.step_count];
export const hasSteps = ({ space }) => Boolean(space) && space.step_unit !== 'none' && space.step_count > 0;

/* Steps and offsets in view. at: the place as it is now, of which `range` and `bytes` are set here; hooks: range(), at
 * once, and rangeAtRest(), 120 ms after the last movement. */
function rangeIn({ program, context }, at, hooks) {
  let takeBack = null;
  const now = () => at.range ?? allOf(program);
  const rest = () => {
    hooks.range(now());
    takeBack?.();
    takeBack = later(() => {
      /* As the URL has it, so that a reload gives the same picture. */
      Object.assign(at, { range: at.range && nearest(at.range), bytes: at.bytes && nearest(at.bytes) });
      hooks.range(now());
      hooks.rangeAtRest(now());
    }, ASK_AFTER_MS);
  };
  const set = (next) => {
    if (!hasSteps(program)) return;
    at.range = isAll(next, allOf(program)) ? null : next;
    const [from, to] = at.range ? nearest(at.range) : [null, null];
    context.move({ from: from || null, to: to === program.space.step_count ? null : to });
    rest();
  };
  /* Offsets in view; null: all. */
  const setBytes = (next) => {
    if (!hasSteps(program)) return;
    at.bytes = next;
    const [low, high] = next ? nearest(next) : [null, null];
    context.move({ low, high });
    rest();
  };
  return {
    now,
    rest,
    set,
    setBytes,
    stop: () => takeBack?.(),
    showAll() {
      if (!hasSteps(program)) return;
      set(allOf(program));
      setBytes(null);
    },
    /* Notches in, or out when negative; about the moment if it is in view. */
    zoom(notches, moment) {
      if (!hasSteps(program)) return;
      const [from, to] = now();
      const about = moment >= from && moment < to ? moment + 0.5 : (from + to) / 2;
      set(zoomed(now(), allOf(program), MIN_STEPS, about, NOTCH ** notches));
    },
    pan(direction) {
      if (!hasSteps(program)) return;
      const [from, to] = now();
      set(moved(now(), allOf(program), direction * PAN_SHARE * (to - from)));
    },
    toWindow() {
      const [a, b] = at.window;
      set(zoomed([a, b + 1], allOf(program), MIN_STEPS, (a + b + 1) / 2, 1));
    },
  };
}

/* The moment. at.step: null at the peak; hooks: moment(step), at once, and momentAtRest(), 120 ms after the last
   movement
 * of a hand, else at once. */
function momentIn({ program, context }, at, range, hooks) {
  let takeBack = null;
  let isHeld = false; // the hand still moves it
  const now = () => at.step ?? program.space.peak_step ?? 0;
  const rests = () => {
    isHeld = false;
    hooks.momentAtRest();
  };
  const isMoved = () => {
    takeBack?.();
    takeBack = null;
    hooks.moment(now());
    if (isHeld) takeBack = later(rests, ASK_AFTER_MS);
    else rests();
  };
  /* isHand: the hand is still moving, or a key may be held down. */
  const set = (step, isHand = false) => {
    if (!hasSteps(program)) return;
    const to = Math.max(0, Math.min(program.space.step_count - 1, step));
    const patch = { step: to === program.space.peak_step ? null : to, bars: '' };
    const next = following(range.now(), allOf(program), to);
    if (next.join() !== range.now().join()) range.set(next);
    const before = at.step;
    isHeld = isHand;
    if (isHand) context.move(patch);
    else context.choose(patch);
    if (before === at.step && isHeld) isMoved();
  };
  return {
    now,
    set,
    isMoved,
    isMoving: () => isHeld,
    byPeak(direction) {
      if (!hasSteps(program) || !program.drawn) return;
      const next = peakBeside(program.drawn, now(), direction);
      if (next !== now()) set(next);
    },
    stop() {
      takeBack?.();
      isHeld = false;
    },
  };
}

/* The selected window and the two marks: at.window, at.offsets, at.marks; hooks: window(). */
function windowIn({ program, context }, at, moment, hooks) {
  let begun = null; // where a window begins that keys select
  const choose = (window, offsets = null) =>
    context.choose({ sel: window?.join('-') ?? '', offsets: offsets?.join('-') ?? '' });
  const begin = (step) => {
    begun = step;
    hooks.window();
  };
  /* What is drawn: the window, or what it would be if it ended now. */
  const shown = () =>
    at.window ?? (begun == null ? null : [Math.min(begun, moment.now()), Math.max(begun, moment.now())]);
  return {
    choose,
    shown,
    begun: () => (at.window ? null : begun),
    isChanged: () => begin(null),
    isBegun: () => begun != null,
    forget() {
      begun = null;
    },
    /* False if there is none, and none was begun. */
    letGo() {
      if (begun != null) begin(null);
      else if (at.window) choose(null);
      else return false;
      return true;
    },
    /* By keys: the first call begins a window at the moment, the second ends it there, the third clears it. */
    mark() {
      if (!hasSteps(program)) return;
      if (at.window) choose(null);
      else if (begun != null) choose(shown());
      else begin(moment.now());
    },
    /* Terms of a filter that keep what overlaps a window with offsets; "" without one. */
    within: () => (at.offsets ? `alive:${at.window[0]}..${at.window[1]} ${coversTerm(at.offsets)}` : ''),
  };
}

/* Takes what the URL says into `at`; what does not exist becomes a banner. */
function adopt({ program, context }, at, route) {
  const { said, ...next } = readPlace(program.space, route);
  for (const name of ['step', 'range', 'bytes', 'window', 'offsets', 'marks', 'bars']) {
    if (said[name]) context.banners.set(name, { text: said[name] });
    else context.banners.drop(name);
  }
  /* Between two steps the hand is more exact than the URL. */
  const kept = (name) => at[name] && nearest(at[name]).join() === next[name]?.join();
  Object.assign(at, next, {
    range: kept('range') ? at.range : next.range,
    bytes: kept('bytes') ? at.bytes : next.bytes,
  });
}

/* program: what is open, with the curve as drawn; context: the page's, for the URL and its banners. hooks: marks(),
   moment(step), momentAtRest(), range([from, to)),
 * rangeAtRest(range), window(), fit(offsets). They are called after the part of the place that changed. */
export function createPlace({ program, context }, hooks) {
  const at = { ...NOWHERE };
  const page = { program, context };
  const range = rangeIn(page, at, hooks);
  const moment = momentIn(page, at, range, {
    ...hooks,
    moment(step) {
      if (window.isBegun()) hooks.window();
      hooks.moment(step);
    },
  });
  const window = windowIn(page, at, moment, hooks);
  const stop = () => {
    range.stop();
    moment.stop();
  };
  return {
    ...{ stop, setRange: range.set, setBytes: range.setBytes, showAll: range.showAll, pan: range.pan },
    ...{ setMoment: moment.set, byPeak: moment.byPeak },
    ...{ setWindow: window.choose, letWindowGo: window.letGo, markWindow: window.mark },
    /* null: the peak. */
    get step() {
      return at.step;
    },
    get moment() {
      return moment.now();
    },
    get isPeak() {
      return at.step == null;
    },
    get isMoving() {
      return moment.isMoving();
    },
    get range() {
      return range.now();
    },
    get isWhole() {
      return at.range == null;
    },
    get bytes() {
      return at.bytes;
    },
    get window() {
      return at.window;
    },
    /* Offsets [low, high) that the window takes; null: all. */
    get offsets() {
      return at.offsets;
    },
    get shownWindow() {
      return window.shown();
    },
    /* Where a window begins that keys select; null: none was begun. */
    get begun() {
      return window.begun();
    },
    get within() {
      return window.within();
    },
    get marks() {
      return at.marks;
    },
    /* A space was opened: reads the place, calls nothing. */
    start(route) {
      stop();
      window.forget();
      Object.assign(at, NOWHERE);
      adopt(page, at, route);
    },
    hear(route) {
      if (!program.space) return;
      const before = { ...at };
      const isOther = (name) => before[name]?.join() !== at[name]?.join();
      adopt(page, at, route);
      if (before.step !== at.step) moment.isMoved();
      if (isOther('range') || isOther('bytes')) range.rest();
      if (isOther('window') || isOther('offsets')) window.isChanged();
      if (before.marks.a !== at.marks.a || before.marks.b !== at.marks.b) hooks.marks();
    },
    zoom: (notches) => range.zoom(notches, moment.now()),
    zoomToWindow() {
      if (!at.window) return false;
      range.toWindow();
      if (at.offsets) hooks.fit(at.offsets);
      return true;
    },
    /* The moment becomes A, then B; the third time both go. */
    mark() {
      if (hasSteps(program)) context.choose(nextMarks(at.marks, moment.now()));
    },
    swapMarks() {
      const swapped = swappedMarks(at.marks);
      if (swapped) context.choose(swapped);
      return Boolean(swapped);
    },
    clearMarks: () => context.choose({ a: '', b: '' }),
  };
}
