/* SPDX-License-Identifier: Apache-2.0
 * chart.js: what the curve and the timeline have in common: a plot of uPlot that follows its box and the theme, what
 * lies over it and moves, the slider that is its value for the keyboard. */

import { el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';
import { nextFrame } from '../lib/activity.js';
import { onTheme, token } from '../lib/theme.js';
import { bindGestures } from './gestures.js';
import { pointAt } from './readings.js';

/* Loaded by index.html as it is published, minified: half the size of its module. */
const { uPlot } = globalThis;
/* Height of the x axis. */
export const X_AXIS_PX = 26;
const X_AXIS = { grid: { show: false }, ticks: { stroke: () => token('line'), size: 4 }, size: X_AXIS_PX, gap: 2 };
const Y_AXIS = { ticks: { show: false }, gap: 6 };

/* In: className; beside: what stands between plot and slider; overlay: {flagClass: of marks, isFlagOnTop: of the
   moment,
 * unit: width of a value on the x axis}; isReady(height): is there something to draw; make(host, place) → the plot,
 * which calls place() when its scales are settled; stretch(plot): other data, or another range; label(); gestures. Out:
 * see the end of this function. */
export function createChart({ className, beside = [], overlay, isReady, make, stretch, label, gestures }) {
  const slider = el('div', { class: 'curve-slider', role: 'slider', tabindex: '0', 'aria-orientation': 'horizontal' });
  const host = el('div', { class: 'curve-host' });
  const node = el('div', { class: className }, host, beside, slider);
  const over = createOverlay(overlay);
  let bound = null;
  /* Of this plot: what comes late may move something after the chart is gone. */
  const place = () => {
    const { plot } = chart;
    if (plot) over.place((value) => plot.valToPos(value, 'x'), plot.over.clientWidth);
  };
  const paint = () => {
    const [width, height] = [host.clientWidth, host.clientHeight];
    if (width <= 0 || height <= 0 || !isReady(height)) return;
    if (!chart.plot) {
      chart.plot = make(host, place);
      chart.plot.over.append(over.node);
      chart.plot.ctx.canvas.setAttribute('role', 'img');
      bound = bindGestures(chart.plot.over, gestures, { owner: node });
    } else {
      if (chart.plot.width !== width || chart.plot.height !== height) chart.plot.setSize({ width, height });
      stretch(chart.plot);
    }
    chart.plot.ctx.canvas.setAttribute('aria-label', label());
    place();
  };
  const redraw = () => chart.plot?.redraw(false, true);
  const watch = new ResizeObserver(() => nextFrame(paint));
  const offTheme = onTheme(() => nextFrame(redraw));
  watch.observe(host);
  /* The key for menus: at the moment. */
  slider.addEventListener('contextmenu', (event) => {
    if (!gestures.menu || !chart.plot) return;
    event.preventDefault();
    const { left, top } = chart.plot.over.getBoundingClientRect();
    gestures.menu(null, {
      clientX: left + chart.plot.valToPos(Number(slider.getAttribute('aria-valuenow')), 'x'),
      clientY: top,
    });
  });
  const destroyPlot = () => {
    chart.plot?.destroy();
    chart.plot = null;
  };
  const chart = {
    node,
    host,
    slider,
    over,
    plot: null,
    place,
    repaint: () => nextFrame(paint),
    redraw: () => nextFrame(redraw),
    destroyPlot,
    /* The line of a value in the window, for what stands beside it. */
    markAt(value) {
      const box = chart.plot.over.getBoundingClientRect();
      const x = box.left + chart.plot.valToPos(value, 'x');
      return { left: x - 1, right: x + 1, top: box.top + 8, bottom: box.bottom };
    },
    setSlider(label, [min, max]) {
      slider.setAttribute('aria-label', label);
      slider.setAttribute('aria-valuemin', String(min));
      slider.setAttribute('aria-valuemax', String(max));
    },
    say(value, text) {
      slider.setAttribute('aria-valuenow', String(value));
      if (text != null) slider.setAttribute('aria-valuetext', text);
    },
    cancel: () => bound?.cancel() ?? false,
    destroy() {
      watch.disconnect();
      offTheme();
      destroyPlot();
    },
  };
  return chart;
}

/* A plot of uPlot in `host`. Memory is constant between events, so lines are stepped, never interpolated. In: padding,
 * xs() → values of x, scales, axes: [of x, of bytes, more], series, paintBelow(u), paint(u, ratio): what is painted
 * under and on them, hooks, columns. */
export function makePlot(
  host,
  { padding, xs, scales, axes: [xAxis, yAxis, ...more], series, paintBelow = null, paint, hooks, columns },
) {
  const axis = {
    stroke: () => token('text2'),
    grid: { stroke: () => token('line'), width: 1 },
    font: `13px ${token('sans')}`,
  };
  const paths = uPlot.paths.stepped({ align: 1 });
  const options = {
    width: Math.max(80, host.clientWidth),
    height: Math.max(60, host.clientHeight),
    legend: { show: false },
    pxAlign: 1,
    padding,
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false, setScale: false },
      bind: { dblclick: () => null },
      dataIdx: (u, at, hovered, x) => pointAt(xs(), x),
    },
    scales,
    axes: [
      { ...axis, ...X_AXIS, ...xAxis },
      { ...axis, ...Y_AXIS, ...yAxis },
      ...more.map((each) => ({ ...axis, ...Y_AXIS, ...each })),
    ],
    series: [{}, ...series.map((each) => ({ paths, points: { show: false }, ...each }))],
    hooks: {
      ...hooks,
      drawAxes: paintBelow ? [paintBelow] : [],
      draw: [(u) => paint(u, uPlot.pxRatio), ...(hooks.draw ?? [])],
    },
  };
  return new uPlot(options, columns, host);
}

/* What lies on a chart and moves without drawing it again: the lives of what is lit, the selected window, the moment,
 * marks A and B, notes [{at, text}], where the peak would be next. Out: {node, set(patch), place(xOf, width),
 * isOnGrip(place)}; xOf(value) → pixels from the left of the plot. */
function createOverlay({ flagClass, isFlagOnTop, unit }) {
  const makeSpan = () => el('div', { class: 'curve-span', hidden: true });
  const spans = [makeSpan()];
  const window = el('div', { class: 'curve-window', hidden: true });
  const moment = el('div', { class: 'curve-moment', hidden: true }, el('span', { class: 'curve-grip' }));
  const flags = ['a', 'b'].map((name) =>
    el('div', { class: flagClass, hidden: true }, el('span', { class: `${flagClass}-word` }, name.toUpperCase())),
  );
  const nextWord = el('span', { class: 'curve-next-word' });
  const next = el('div', { class: 'curve-next', hidden: true }, nextWord);
  const notes = el('div', {});
  const node = el(
    'div',
    { class: 'curve-over', 'aria-hidden': 'true' },
    window,
    spans,
    next,
    notes,
    isFlagOnTop ? [moment, flags] : [flags, moment],
  );
  let shown = { spans: [], window: null, moment: null, marks: { a: null, b: null }, next: null, notes: [] };
  let at = { xOf: null, width: 0, momentX: 0 };

  const stretch = (box, range, min) => {
    if (!range) {
      box.hidden = true;
      return;
    }
    const left = Math.max(0, at.xOf(range[0]));
    const right = Math.min(at.width, at.xOf(range[1]));
    box.hidden = !(right > left - 1 && left <= at.width);
    box.style.left = `${left}px`;
    box.style.width = `${Math.max(min, right - left)}px`;
  };
  /* At the middle of its unit; hidden where it is out of view. */
  const stand = (line, value) => {
    const x = value == null ? NaN : at.xOf(value + unit / 2);
    line.hidden = !(x >= -1 && x <= at.width + 1);
    line.style.transform = `translateX(${x || 0}px)`;
    return x;
  };
  const place = () => {
    if (!at.xOf) return;
    for (const [i, box] of spans.entries()) stretch(box, shown.spans[i], 2);
    stretch(window, shown.window, 1);
    at.momentX = stand(moment, shown.moment);
    if (shown.next) nextWord.textContent = shown.next.word;
    next.classList.toggle('is-left', stand(next, shown.next?.step ?? null) > at.width / 2);
    stand(flags[0], shown.marks.a);
    stand(flags[1], shown.marks.b);
    shown.notes.forEach((note, i) =>
      notes.children[i].classList.toggle('is-left', stand(notes.children[i], note.at) > at.width / 2),
    );
  };
  return {
    node,
    set(patch) {
      shown = { ...shown, ...patch };
      if (patch.notes)
        fill(
          notes,
          patch.notes.map(({ text }) =>
            el('div', { class: 'curve-note' }, el('span', { class: 'curve-note-word' }, visible(text))),
          ),
        );
      while (spans.length < shown.spans.length) {
        spans.push(makeSpan());
        spans[0].after(spans[spans.length - 1]);
      }
      place();
    },
    place(xOf, width) {
      at = { ...at, xOf, width };
      place();
    },
    /* The handle at the head of the moment. */
    isOnGrip: ({ x, y }) => !moment.hidden && y <= 16 && Math.abs(x - at.momentX) <= 9,
  };
}
