/* SPDX-License-Identifier: Apache-2.0
 * timeline.js: memory over time, with moment, window and marks A and B on it. Zoom and pan stretch what
 * is there at once; whoever owns it asks for more. Hover is an overlay; the base is drawn once.
 *
 * Data: {all: [start, end], range, x (ascending, distinct ps), end, layers, min, max, isFitted, peak:
 * {step: ps, bytes}, localPeaks, peakWords, label}; see timeline_plot.js. */

import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { moved, zoomed } from '../lib/range.js';
import { onTheme } from '../lib/theme.js';
import { createCurveOver } from './curve_over.js';
import { bindGestures } from './gestures.js';
import { pointAt } from './readings.js';
import { axisWords, byteRange, columnsOf } from './timeline_axis.js';
import { createPlot, plotPx } from './timeline_plot.js';

export const MIN_PS = 1e6;
const SNAP_PX = 4;

const shapeOf = (data) => data.layers.map((layer) => `${layer.fill}${layer.stroke}${layer.isShare}`).join();

/* actions: onHover(at, mark), onLeave(), onMoment(ps, isEnd), onRange(range, isEnd), onSelect(range | null, isEnd),
 * onHint(), sentence(at). `at` is an index of the data. Out: {node, slider, draw, setRange, set, destroy}. */
export function createTimeline({ className = '', ...actions }) {
  const slider = el('div', {
    class: 'curve-slider',
    role: 'slider',
    tabindex: '0',
    'aria-orientation': 'horizontal',
  });
  const host = el('div', { class: 'curve-host' });
  const words = el('span', { class: 'axis-words', hidden: true });
  const node = el('div', { class: `curve timeline ${className}`.trim() }, host, words, slider);
  const over = createCurveOver();
  const flags = createFlags();
  let data = null;
  let plot = null;
  let drawn = '';
  let moment = null;

  const timeAt = (x) => plot.posToVal(x, 'x');
  const markAt = (ps) => {
    const box = plot.over.getBoundingClientRect();
    const x = box.left + plot.valToPos(ps, 'x');
    return { left: x - 1, right: x + 1, top: box.top + 8, bottom: box.bottom };
  };
  const clamp = (ps) => Math.round(Math.max(data.all[0], Math.min(data.all[1], ps)));
  /* The time of the event that holds at `x`; the peak within 4 px of it. */
  const momentAt = (x) => {
    if (data.peak && Math.abs(plot.valToPos(data.peak.step, 'x') - x) <= SNAP_PX) return data.peak.step;
    const ps = timeAt(x);
    return data.isThinned || ps < data.x[0] ? clamp(ps) : data.times[pointAt(data.x, ps)];
  };
  const place = () => {
    if (!plot) return;
    const xOf = (ps) => plot.valToPos(ps, 'x');
    over.place(xOf, plot.over.clientWidth);
    flags.place(xOf, plot.over.clientWidth);
  };
  const hover = (at) => {
    if (data.x.length) actions.onHover(at, markAt(data.x[at]));
  };
  const rangeOf = (a, b) => {
    const [low, high] = [timeAt(Math.min(a.x, b.x)), timeAt(Math.max(a.x, b.x))];
    return [clamp(low), Math.max(clamp(low) + 1, clamp(high))];
  };
  const gestures = {
    hover: (at) => hover(pointAt(data.x, timeAt(at.x))),
    leave: actions.onLeave,
    click: (at) => actions.onMoment(momentAt(at.x), true),
    double: () => actions.onRange(data.all, true),
    select: (from, to, isEnd) => actions.onSelect(to ? rangeOf(from, to) : null, isEnd),
    pan: (dx, dy, isEnd) => actions.onRange(moved(data.range, data.all, timeAt(0) - timeAt(dx)), isEnd),
    zoom: (at, factor) =>
      actions.onRange(zoomed(data.range, data.all, MIN_PS, timeAt(at.x), factor), false),
    hint: actions.onHint,
    grip: (at) => (over.isOnGrip(at) ? 'moment' : null),
    drag: (kind, at, isEnd) => actions.onMoment(momentAt(at.x), isEnd),
  };
  const paint = () => {
    const [width, height] = [host.clientWidth, host.clientHeight];
    if (!data || width <= 0 || height <= 0) return;
    const [low, high] = byteRange(data, plotPx(height));
    Object.assign(data, { low, high });
    words.textContent = axisWords(low);
    words.hidden = low <= 0;
    const shape = shapeOf(data);
    if (plot && shape !== drawn) {
      plot.destroy();
      plot = null;
    }
    if (!plot) {
      drawn = shape;
      plot = createPlot(host, () => data, { draw: [place] });
      plot.over.append(over.node, flags.node);
      plot.ctx.canvas.setAttribute('role', 'img');
      bindGestures(plot.over, gestures, { owner: node });
    } else {
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
      plot.setData(columnsOf(data));
    }
    plot.ctx.canvas.setAttribute('aria-label', data.label);
    place();
  };
  const redraw = () => plot?.redraw(false, true);
  const say = () => {
    const at = moment === null ? (data.peak?.step ?? data.all[0]) : moment;
    slider.setAttribute('aria-valuenow', String(at));
    if (data.x.length) slider.setAttribute('aria-valuetext', actions.sentence(pointAt(data.x, at)));
  };
  slider.addEventListener('focus', () => {
    if (data?.x.length) hover(pointAt(data.x, Number(slider.getAttribute('aria-valuenow'))));
  });
  slider.addEventListener('blur', actions.onLeave);
  const watch = new ResizeObserver(() => nextFrame(paint));
  watch.observe(host);
  const offTheme = onTheme(() => nextFrame(redraw));

  return {
    node,
    slider,
    get width() {
      return plot?.over.clientWidth || host.clientWidth || 1024;
    },
    draw(next) {
      data = { ...next };
      slider.setAttribute('aria-label', data.keys ? `${data.label} ${data.keys}` : data.label);
      slider.setAttribute('aria-valuemin', String(data.all[0]));
      slider.setAttribute('aria-valuemax', String(data.all[1]));
      say();
      nextFrame(paint);
    },
    /* What is there is stretched to `range`. */
    setRange(range) {
      if (!data) return;
      data.range = range;
      nextFrame(paint);
    },
    /* {moment, window: [a, b], span: [a, b], a, b}, each ps or null. */
    set({ a, b, ...patch }) {
      over.set(patch);
      flags.set({ a, b });
      if (patch.moment !== undefined) {
        moment = patch.moment;
        if (data) say();
      }
      place();
    },
    /* Event before or after the moment in what is drawn: its index. */
    indexAt: (ps) => pointAt(data.x, ps),
    hover,
    destroy() {
      watch.disconnect();
      offTheme();
      plot?.destroy();
    },
  };
}

/* The marks A and B. */
function createFlags() {
  const flag = (letter) =>
    el('div', { class: 'time-flag', hidden: true }, el('span', { class: 'time-flag-word' }, letter));
  const flagOf = { a: flag('A'), b: flag('B') };
  const node = el('div', { class: 'curve-over', 'aria-hidden': 'true' }, flagOf.a, flagOf.b);
  let at = { a: null, b: null };
  let scale = null;
  const place = () => {
    if (!scale) return;
    for (const [letter, box] of Object.entries(flagOf)) {
      const x = at[letter] === null ? NaN : scale.xOf(at[letter]);
      box.hidden = !(x >= -1 && x <= scale.width + 1);
      box.style.transform = `translateX(${x || 0}px)`;
    }
  };
  return {
    node,
    set({ a = at.a, b = at.b }) {
      at = { a, b };
      place();
    },
    place(xOf, width) {
      scale = { xOf, width };
      place();
    },
  };
}
