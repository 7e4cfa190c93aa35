/* SPDX-License-Identifier: Apache-2.0
 * place.js: where the reader stands: the moment, the steps in view, the selected window, on the map with
 * its offsets, and two marks. All are in the URL; what of them does not exist becomes a banner. */

import { later } from '../../lib/activity.js';
import { bytes as sizeWords, bytesApart, count, cutMiddle, visible } from '../../lib/format.js';
import { nextMarks, swappedMarks } from '../../lib/marks.js';
import { following, isAll, moved, nearest, zoomed } from '../../lib/range.js';
import { MIN_STEPS } from '../../widgets/curve.js';
import { peakBeside } from '../../widgets/curve_keys.js';
import { coversTerm, readOpened } from './only.js';
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
  if (step !== null && !isStep(step, space)) {
    said.step = `${unit[0].toUpperCase()}${unit.slice(1)} ${typeof step === 'number' ? count(step) : quoted(step)} is not in ${name}, which has ${has}; showing the peak.`;
    step = null;
  }
  let range = null;
  if (route.from !== null || route.to !== null) {
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
    if (offsets && offsets[0] < offsets[1] && offsets[0] < space.total_bytes && space.step_count > 0) window ??= [0, space.step_count - 1];
    else {
      const words = offsets?.[0] < offsets?.[1] ? offsetWords(offsets) : quoted(route.offsets);
      offsets = null;
      said.offsets = `Offsets ${words} are not in ${name}, which needs ${sizeWords(space.total_bytes)}; ${window ? 'the window takes all of them' : 'nothing is selected'}.`;
    }
  }
  const marks = { a: null, b: null };
  for (const name of ['a', 'b']) {
    if (!route[name]) continue;
    const at = /^\d{1,15}$/.test(route[name]) ? Number(route[name]) : null;
    if (isStep(at, space)) marks[name] = at;
    else said.marks = `${said.marks ? `${said.marks} ` : ''}The mark ${name.toUpperCase()} at ${quoted(route[name])} is not in ${visible(space.name)}, which has ${has}; it is left out.`;
  }
  const isBytes = Number.isInteger(route.low) && Number.isInteger(route.high) && route.low >= 0 && route.high > route.low;
  if (!isBytes && (route.low !== null || route.high !== null))
    said.bytes = `Offsets ${quoted(route.low ?? '')} to ${quoted(route.high ?? '')} are no range; showing all.`;
  else if (isBytes && route.high > space.total_bytes) {
    const [high, total] = bytesApart(route.high, space.total_bytes);
    said.bytes = `Offsets up to ${high} are not in ${name}, which needs ${total}; showing all.`;
  }
  const bytes = isBytes && !said.bytes ? [route.low, route.high] : null;
  if (route.bars && !readOpened(route.bars)) said.bars = `There is no bar ${quoted(route.bars)} in the strips; showing all buffers.`;
  return { step: step === space.peak_step ? null : step, range, bytes, window, offsets, marks, said };
}

/* hooks: marks(), moment(step), momentAtRest() and rangeAtRest(range) 120 ms after the last movement, the first
 * at once after a click, range([from, to)), window(). They are called after the part of the place that changed. */
export function createPlace(view, hooks) {
  let place = NOWHERE;
  let takeBack = null;
  let isHeld = false; // the hand still moves the moment
  let takeBackMoment = null;
  let marked = null; // where a window begins that keys select

  const all = () => [0, view.space.step_count];
  const range = () => place.range ?? all();
  const moment = () => place.step ?? view.space.peak_step ?? 0;
  const hasSteps = () => view.space && view.space.step_unit !== 'none' && view.space.step_count > 0;

  const adopt = (route) => {
    const { said, ...next } = readPlace(view.space, route);
    for (const name of ['step', 'range', 'bytes', 'window', 'offsets', 'marks', 'bars']) {
      if (said[name]) view.context.banners.set(name, { text: said[name] });
      else view.context.banners.drop(name);
    }
    const before = place;
    /* Between two steps the hand is more exact than the URL. */
    const kept = (name) => place[name] && nearest(place[name]).join() === next[name]?.join();
    place = { ...next, range: kept('range') ? place.range : next.range, bytes: kept('bytes') ? place.bytes : next.bytes };
    return before;
  };
  const soon = (task) => {
    takeBack?.();
    takeBack = later(task, ASK_AFTER_MS);
  };
  const momentRests = () => {
    isHeld = false;
    hooks.momentAtRest();
  };
  const momentMoved = () => {
    takeBackMoment?.();
    takeBackMoment = null;
    if (marked !== null) hooks.window();
    hooks.moment(moment());
    if (isHeld) takeBackMoment = later(momentRests, ASK_AFTER_MS);
    else momentRests();
  };
  const rest = () => {
    hooks.range(range());
    soon(() => {
      /* As the URL has it, so that a reload gives the same picture. */
      place = { ...place, range: place.range && nearest(place.range), bytes: place.bytes && nearest(place.bytes) };
      hooks.range(range());
      hooks.rangeAtRest(range());
    });
  };
  const put = (next) => {
    place = { ...place, range: isAll(next, all()) ? null : next };
    const [from, to] = place.range ? nearest(place.range) : [null, null];
    view.context.move({ from: from || null, to: to === view.space.step_count ? null : to });
    rest();
  };
  /* Offsets in view; null: all. */
  const putBytes = (next) => {
    place = { ...place, bytes: next };
    const [low, high] = next ? nearest(next) : [null, null];
    view.context.move({ low, high });
    rest();
  };
  return {
    get step() {
      return place.step;
    },
    get moment() {
      return moment();
    },
    get isPeak() {
      return place.step === null;
    },
    get isMoving() {
      return isHeld;
    },
    get range() {
      return range();
    },
    get isWhole() {
      return place.range === null;
    },
    get window() {
      return place.window;
    },
    /* Offsets [low, high) that the window takes; null: all. */
    get offsets() {
      return place.offsets;
    },
    /* What is drawn: the window, or what it would be if it ended now. */
    get shownWindow() {
      return place.window ?? (marked === null ? null : [Math.min(marked, moment()), Math.max(marked, moment())]);
    },
    /* Where a window begins that keys select; null: none was begun. */
    get begun() {
      return place.window ? null : marked;
    },
    /* Terms of a filter that keep what overlaps a window with offsets; "" without one. */
    get within() {
      const { window, offsets } = place;
      return offsets ? `alive:${window[0]}..${window[1]} ${coversTerm(offsets)}` : '';
    },
    /* A space was opened: reads the place, calls nothing. */
    start(route) {
      takeBack?.();
      takeBackMoment?.();
      isHeld = false;
      marked = null;
      place = NOWHERE;
      adopt(route);
    },
    hear(route) {
      if (!view.space) return;
      const before = adopt(route);
      if (before.step !== place.step) momentMoved();
      if (before.range?.join() !== place.range?.join() || before.bytes?.join() !== place.bytes?.join()) rest();
      if (before.window?.join() !== place.window?.join() || before.offsets?.join() !== place.offsets?.join()) {
        marked = null;
        hooks.window();
      }
      if (before.marks.a !== place.marks.a || before.marks.b !== place.marks.b) hooks.marks();
    },
    /* isMoved: the hand is still moving, or a key may be held down. */
    setMoment(step, isMoved = false) {
      if (!hasSteps()) return;
      const to = Math.max(0, Math.min(view.space.step_count - 1, step));
      const patch = { step: to === view.space.peak_step ? null : to, bars: '' };
      const next = following(range(), all(), to);
      if (next.join() !== range().join()) put(next);
      const before = place.step;
      isHeld = isMoved;
      if (isMoved) view.context.move(patch);
      else view.context.choose(patch);
      if (before === place.step && isHeld) momentMoved();
    },
    setWindow(window, offsets = null) {
      view.context.choose({ sel: window?.join('-') ?? '', offsets: offsets?.join('-') ?? '' });
    },
    /* False if there is none, and none was begun. */
    letWindowGo() {
      if (marked !== null) {
        marked = null;
        hooks.window();
      } else if (place.window) this.setWindow(null);
      else return false;
      return true;
    },
    get marks() {
      return place.marks;
    },
    /* The moment becomes A, then B; the third time both go. */
    mark() {
      if (hasSteps()) view.context.choose(nextMarks(place.marks, moment()));
    },
    swapMarks() {
      const swapped = swappedMarks(place.marks);
      if (swapped) view.context.choose(swapped);
      return Boolean(swapped);
    },
    clearMarks: () => view.context.choose({ a: '', b: '' }),
    /* By keys: the first call begins a window at the moment, the second ends it there, the third clears it. */
    markWindow() {
      if (!hasSteps()) return;
      if (place.window) this.setWindow(null);
      else if (marked !== null) this.setWindow(this.shownWindow);
      else {
        marked = moment();
        hooks.window();
      }
    },
    setRange: (next) => hasSteps() && put(next),
    setBytes: (next) => hasSteps() && putBytes(next),
    get bytes() {
      return place.bytes;
    },
    showAll() {
      if (!hasSteps()) return;
      put(all());
      putBytes(null);
    },
    /* Notches in, or out when negative; about the moment if it is in view. */
    zoom(notches) {
      if (!hasSteps()) return;
      const [from, to] = range();
      const at = moment() >= from && moment() < to ? moment() + 0.5 : (from + to) / 2;
      put(zoomed(range(), all(), MIN_STEPS, at, NOTCH ** notches));
    },
    pan(direction) {
      if (!hasSteps()) return;
      const [from, to] = range();
      put(moved(range(), all(), direction * PAN_SHARE * (to - from)));
    },
    zoomToWindow() {
      if (!place.window) return false;
      const [a, b] = place.window;
      put(zoomed([a, b + 1], all(), MIN_STEPS, (a + b + 1) / 2, 1));
      if (place.offsets) view.map.fit(place.offsets);
      return true;
    },
    byPeak(direction) {
      if (!hasSteps() || !view.drawn) return;
      const next = peakBeside(view.drawn, moment(), direction);
      if (next !== moment()) this.setMoment(next);
    },
    stop() {
      takeBack?.();
      takeBackMoment?.();
    },
  };
}
