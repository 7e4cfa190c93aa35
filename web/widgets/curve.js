/* SPDX-License-Identifier: Apache-2.0
 * curve.js: live bytes over program order, the moment on it and a brush below. The plot is
 * drawn once for a range; hover, moment and window lie over it.
 *
 * Data: {from, to, stepCount, steps[], bytes[], unpadded[], isThinned, peak, localPeaks[], capacity};
 * value i holds during step i and up to the next one; capacity is {bytes, text, isOver} or null. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { onTheme } from '../lib/theme.js';
import { following, moved, whole, zoomed } from '../lib/range.js';
import { curveDrawing } from './curve_picture.js';
import { createBrush } from './brush.js';
import { bindSliderKeys } from './curve_keys.js';
import { createCurveOver } from './curve_over.js';
import { columnsOf, createPlot } from './curve_plot.js';
import { bindGestures } from './gestures.js';
import { pointAt, readAt } from './readings.js';

const SNAP_PX = 4;
export const MIN_STEPS = 8;

const largest = (...lists) => {
  let max = 1;
  for (const list of lists) for (const value of list) if (value > max) max = value;
  return max;
};

/* The step under x; where steps are narrower than a pixel, the peak within 4 px of it. */
function stepUnder(u, data, x) {
  const step = Math.max(data.from, Math.min(data.to, Math.floor(u.posToVal(x, 'x'))));
  if (!data.peak || u.valToPos(1, 'x') - u.valToPos(0, 'x') >= SNAP_PX) return step;
  return Math.abs(u.valToPos(data.peak.step + 0.5, 'x') - x) <= SNAP_PX ? data.peak.step : step;
}

/* actions: onHover(reading, mark), onLeave(), sentence(reading), onMoment(step, isMoving),
 * onWindow([first, last] | null), onRange([from, to), isEnd), onAll(), onHint().
 * Out: {node, draw(data), setDetail(data), setRange, setMoment, setWindow, setMarks, showSpans, showStep,
 * setUnpadded, drawing, table, cancel, pointCount, destroy}. */
export function createCurve(actions) {
  const { onHover, onLeave, sentence } = actions;
  const slider = el('div', {
    class: 'curve-slider',
    role: 'slider',
    tabindex: '0',
    'aria-orientation': 'horizontal',
  });
  const over = createCurveOver();
  const host = el('div', { class: 'curve-host' });
  const brush = createBrush({ onRange: actions.onRange, min: MIN_STEPS });
  const node = el('div', { class: 'curve' }, host, brush.node, slider);
  let all = null;
  let detail = null;
  let data = null;
  let range = [0, 1];
  let drawn = null;
  let plot = null;
  let gestures = null;
  let isKeyed = false;
  let hasUnpadded = true;
  let moment = null;
  let selected = null;

  const end = () => all.to + 1;
  /* What is drawn: the detail where it covers what is in view, else the whole, stretched. */
  const compose = () => {
    const [from, to] = whole(range);
    const isIn = detail && detail.from <= from && detail.to + 1 >= to;
    const base = isIn ? detail : all;
    const { capacity, max, label, peak, localPeaks } = all;
    data = { ...base, base, capacity, max, label, peak, localPeaks, hasUnpadded, lastStep: base.to, view: range, from, to: to - 1 };
  };
  const markAt = (step) => {
    const box = plot.over.getBoundingClientRect();
    const x = box.left + plot.valToPos(step + 0.5, 'x');
    return { left: x - 1, right: x + 1, top: box.top + 8, bottom: box.bottom };
  };
  const report = (reading) => onHover(reading, markAt(reading.step));
  const hooks = {
    setCursor: [
      (u) => {
        if (isKeyed) return;
        if (u.cursor.left < 0) onLeave();
        /* A new size moves the cursor too, which the map may have put there. */
        else if (u.over.matches(':hover')) report(readAt(data, stepUnder(u, data, u.cursor.left)));
      },
    ],
    /* uPlot settles its scales after the call that changes them. */
    draw: [(u) => over.place((step) => u.valToPos(step, 'x'), u.over.clientWidth)],
  };
  const paint = () => {
    if (!data || host.clientWidth <= 0 || host.clientHeight <= 0) return;
    if (!plot) {
      plot = createPlot(host, () => data, hooks);
      plot.over.append(over.node);
      plot.ctx.canvas.setAttribute('role', 'img');
      gestures = bindPlot();
      drawn = data.base;
    } else {
      if (plot.width !== host.clientWidth || plot.height !== host.clientHeight)
        plot.setSize({ width: host.clientWidth, height: host.clientHeight });
      if (drawn === data.base) plot.setScale('x', { min: data.view[0], max: data.view[1] });
      else plot.setData(columnsOf(data));
      drawn = data.base;
    }
    plot.ctx.canvas.setAttribute('aria-label', data.label);
  };
  const selection = (a, b) => {
    const [first, last] = [a.x, b.x].sort((x, y) => x - y).map((x) => Math.floor(plot.posToVal(x, 'x')));
    return [Math.max(data.from, first), Math.min(data.to, last)];
  };
  const bindPlot = () =>
    bindGestures(
      plot.over,
      {
        click: ({ x }) => actions.onMoment(readAt(data, stepUnder(plot, data, x)).step, false),
        double: () => actions.onAll(),
        select: (a, b, isEnd) => {
          if (!b) over.set({ window: selected });
          else if (isEnd) actions.onWindow(selection(a, b));
          else over.set({ window: [selection(a, b)[0], selection(a, b)[1] + 1] });
        },
        pan: (dx, dy, isEnd) => {
          const perPx = (range[1] - range[0]) / Math.max(1, plot.over.clientWidth);
          actions.onRange(moved(range, [0, end()], -dx * perPx), isEnd);
        },
        zoom: ({ x }, factor) =>
          actions.onRange(zoomed(range, [0, end()], MIN_STEPS, plot.posToVal(x, 'x'), factor), true),
        grip: (at) => (over.isOnGrip(at) ? 'moment' : null),
        drag: (kind, { x }, isEnd) => actions.onMoment(readAt(data, stepUnder(plot, data, x)).step, !isEnd),
        hint: actions.onHint,
      },
      { owner: node },
    );
  const say = (step) => {
    slider.setAttribute('aria-valuenow', String(step));
    slider.setAttribute('aria-valuetext', sentence(readAt(all, step, true)));
  };
  const showStep = (step) => {
    if (!plot) return;
    isKeyed = true;
    const isOut = step === null || step < data.from || step > data.to;
    plot.setCursor(isOut ? { left: -10, top: -10 } : { left: plot.valToPos(step + 0.5, 'x'), top: 10 });
    isKeyed = false;
  };
  bindSliderKeys(slider, {
    get: () => all && { ...all, moment },
    to: (step) => {
      actions.onMoment(Math.max(0, Math.min(all.to, step)), true);
      if (plot) report(readAt(data, moment, true));
    },
    leave: () => {
      showStep(null);
      onLeave();
    },
  });
  const watch = new ResizeObserver(() => nextFrame(paint));
  watch.observe(host);
  const redraw = () => plot?.redraw(false, true);
  const offTheme = onTheme(() => {
    if (plot) nextFrame(redraw);
  });

  return {
    node,
    get range() {
      return range;
    },
    /* The curve of all steps. The same steps with another capacity keep range and moment. */
    draw(next) {
      const isSame = all?.steps === next.steps;
      all = { ...next, lastStep: next.to, max: largest(next.bytes, next.unpadded) };
      if (!isSame) {
        detail = null;
        range = [0, end()];
        drawn = null;
        moment = next.peak?.step ?? 0;
        brush.setRange(range);
      }
      brush.draw(all);
      slider.setAttribute(
        'aria-label',
        `${next.label} Arrow keys move the moment by one step; p goes to the peak, brackets to the local peaks.`,
      );
      slider.setAttribute('aria-valuemin', '0');
      slider.setAttribute('aria-valuemax', String(next.to));
      say(moment);
      compose();
      drawn = null;
      nextFrame(paint);
    },
    /* More points of a part of it. */
    setDetail(next) {
      detail = next;
      compose();
      nextFrame(paint);
    },
    setRange(next) {
      if (!all || (next[0] === range[0] && next[1] === range[1])) return;
      range = next;
      brush.setRange(next);
      compose();
      nextFrame(paint);
    },
    setMoment(step) {
      moment = step;
      over.set({ moment: step });
      if (all && step !== null) say(step);
    },
    /* First and last step of the selected window, or nothing. */
    setWindow(next) {
      selected = next && [next[0], next[1] + 1];
      over.set({ window: selected });
    },
    /* {a, b}: steps with a flag, or null. */
    setMarks(marks) {
      over.set({ marks });
    },
    /* Shades steps [from, to), or nothing. */
    showSpans(next) {
      over.set({ spans: next });
    },
    showStep,
    /* A range as wide as now that holds the step. */
    rangeWith: (step) => following(range, [0, end()], step),
    setUnpadded(isShown) {
      if (hasUnpadded === isShown) return;
      hasUnpadded = isShown;
      if (!all) return;
      compose();
      plot?.setSeries(2, { show: isShown });
    },
    /* What is in view, for a picture and for its table; null while nothing is drawn. */
    drawing: () => data && curveDrawing(data, host.clientWidth),
    table: () => ({
      columns: [{ key: 'step' }, { key: 'live_bytes' }, { key: 'live_unpadded_bytes' }],
      rows: data.steps
        .map((step, at) => ({ step, live_bytes: data.bytes[at], live_unpadded_bytes: data.unpadded[at] }))
        .filter(({ step }) => step >= data.from && step <= data.to),
    }),
    pointCount: () => (data ? pointAt(data.steps, data.to) - pointAt(data.steps, data.from) : 0),
    cancel: () => gestures?.cancel() ?? false,
    destroy() {
      watch.disconnect();
      offTheme();
      brush.destroy();
      plot?.destroy();
    },
  };
}
