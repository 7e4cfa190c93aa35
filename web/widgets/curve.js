/* SPDX-License-Identifier: Apache-2.0
 * curve.js: live bytes over program order. Memory is constant between events, so the
 * line is stepped, never interpolated. Hover is an overlay; the base is drawn once.
 *
 * Data: {from, to, steps[], bytes[], unpadded[], isThinned, peak, localPeaks[], capacity}; value i
 * holds during step i; capacity is {bytes, text, isOver} or null. */

import uPlot from '../vendor/uPlot.js';
import { el } from '../lib/dom.js';
import { nextFrame } from '../lib/activity.js';
import { onTheme, token } from '../lib/theme.js';
import { count } from '../lib/format.js';
import { pointAt, readAt } from './readings.js';
import { byteLabels, byteSplits, paintMarks, stepIncrements } from './curve_marks.js';
import { paintCapacityLabel, paintCapacityLine, splitAt, topWith } from './curve_capacity.js';

const FONT = '13px';
const X_AXIS_PX = 26;
const SNAP_PX = 4;

function options(host, get, hooks) {
  const font = `${FONT} ${token('sans')}`;
  const axis = { stroke: () => token('text2'), grid: { stroke: () => token('line'), width: 1 }, font };
  const paths = uPlot.paths.stepped({ align: 1 });
  return {
    width: Math.max(80, host.clientWidth),
    height: Math.max(60, host.clientHeight),
    legend: { show: false },
    pxAlign: 1,
    padding: [4, 12, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false, setScale: false },
      bind: { dblclick: () => null },
      dataIdx: (u, series, hovered, x) => pointAt(get().steps, x),
    },
    scales: {
      x: { time: false, range: () => [get().from, get().to + 1] },
      y: { range: (u) => [0, topWith(get(), u.height - X_AXIS_PX - 4)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { stroke: () => token('line'), size: 4 },
        size: X_AXIS_PX,
        gap: 2,
        space: 70,
        incrs: stepIncrements(),
        values: (u, splits) => splits.map((value) => (Number.isInteger(value) ? count(value) : '')),
      },
      {
        ...axis,
        ticks: { show: false },
        size: 72,
        gap: 6,
        splits: (u, at, low, high) => byteSplits(high, u.height - X_AXIS_PX - 4),
        values: (u, splits) => byteLabels(splits),
      },
    ],
    series: [
      {},
      {
        stroke: (u) => splitAt(u, get().capacity, 'text', 'over'),
        width: 1.5,
        fill: (u) => splitAt(u, get().capacity, 'area', 'over-area'),
        paths,
        points: { show: false },
      },
      { stroke: () => token('text'), width: 1.25, dash: [4, 3], paths, points: { show: false } },
    ],
    hooks: { draw: [(u) => paintOver(u, get(), uPlot.pxRatio)], ...hooks },
  };
}

function paintOver(u, data, ratio) {
  paintCapacityLine(u, data, ratio);
  paintCapacityLabel(u, data, ratio, paintMarks(u, data, ratio));
}

/* The step under the pointer; where steps are narrower than a pixel, the peak within 4 px of it. */
function stepUnder(u, data) {
  const { left } = u.cursor;
  const step = Math.floor(u.posToVal(left, 'x'));
  if (!data.peak || u.valToPos(1, 'x') - u.valToPos(0, 'x') >= SNAP_PX) return step;
  return Math.abs(u.valToPos(data.peak.step + 0.5, 'x') - left) <= SNAP_PX ? data.peak.step : step;
}

/* One value more at the end, so that the last step has a width as well. */
function columns(data) {
  const last = data.steps.length - 1;
  return [
    [...data.steps, data.to + 1],
    [...data.bytes, data.bytes[last]],
    [...data.unpadded, data.unpadded[last]],
  ];
}

/* onHover(reading, mark), onLeave(), sentence(reading). Out: {node, draw, showSpan, resize, destroy}. */
export function createCurve({ onHover, onLeave, sentence }) {
  const slider = el('div', {
    class: 'curve-slider',
    role: 'slider',
    tabindex: '0',
    'aria-orientation': 'horizontal',
  });
  const span = el('div', { class: 'curve-span', hidden: true });
  const host = el('div', { class: 'curve-host' });
  const node = el('div', { class: 'curve' }, host, slider);
  let data = null;
  let plot = null;
  let shown = null;
  let isKeyed = false;

  const markAt = (step) => {
    const box = plot.over.getBoundingClientRect();
    const x = box.left + plot.valToPos(step + 0.5, 'x');
    return { left: x - 1, right: x + 1, top: box.top + 8, bottom: box.bottom };
  };
  const report = (reading) => {
    slider.setAttribute('aria-valuenow', String(reading.step));
    slider.setAttribute('aria-valuetext', sentence(reading));
    onHover(reading, markAt(reading.step));
  };
  const hooks = {
    setCursor: [
      (u) => {
        if (isKeyed) return;
        if (u.cursor.left < 0) {
          onLeave();
          return;
        }
        report(readAt(data, stepUnder(u, data)));
      },
    ],
  };
  const place = () => {
    if (!plot || !shown) {
      span.hidden = true;
      return;
    }
    const [from, to] = shown;
    const left = Math.max(0, plot.valToPos(Math.max(from, data.from), 'x'));
    const right = plot.valToPos(Math.min(to, data.to + 1), 'x');
    span.hidden = !(right > left - 1);
    span.style.left = `${left}px`;
    span.style.width = `${Math.max(2, right - left)}px`;
  };
  const paint = () => {
    if (!data || host.clientWidth <= 0 || host.clientHeight <= 0) return;
    const size = { width: host.clientWidth, height: host.clientHeight };
    if (!plot) {
      plot = new uPlot(
        options(host, () => data, hooks),
        columns(data),
        host,
      );
      plot.over.append(span);
      plot.ctx.canvas.setAttribute('role', 'img');
    } else {
      if (plot.width !== size.width || plot.height !== size.height) plot.setSize(size);
      plot.setData(columns(data));
    }
    plot.ctx.canvas.setAttribute('aria-label', data.label);
    place();
  };
  const keyTo = (step) => {
    const reading = readAt(data, Math.max(data.from, Math.min(data.to, step)));
    isKeyed = true;
    plot.setCursor({ left: plot.valToPos(reading.step + 0.5, 'x'), top: 10 });
    isKeyed = false;
    report(reading);
  };
  bindKeys(
    slider,
    () => data,
    keyTo,
    () => {
      plot?.setCursor({ left: -10, top: -10 });
      onLeave();
    },
  );
  const watch = new ResizeObserver(() => nextFrame(paint));
  watch.observe(host);
  const offTheme = onTheme(() => {
    if (plot) nextFrame(redraw);
  });
  const redraw = () => plot?.redraw(false, true);

  return {
    node,
    /* The same steps with another capacity keep the place of the slider. */
    draw(next) {
      const isSame = data?.steps === next.steps;
      data = { ...next, most: Math.max(1, ...next.bytes, ...next.unpadded) };
      slider.setAttribute('aria-label', `${data.label} Arrow keys read a step; p goes to the peak.`);
      slider.setAttribute('aria-valuemin', String(data.from));
      slider.setAttribute('aria-valuemax', String(data.to));
      const place = isSame ? Number(slider.getAttribute('aria-valuenow')) : (data.peak?.step ?? data.from);
      const at = readAt(data, place);
      slider.setAttribute('aria-valuenow', String(at.step));
      slider.setAttribute('aria-valuetext', sentence(at));
      nextFrame(paint);
    },
    /* Shades steps [from, to), or nothing. */
    showSpan(next) {
      shown = next;
      place();
    },
    destroy() {
      watch.disconnect();
      offTheme();
      plot?.destroy();
    },
  };
}

function bindKeys(slider, get, keyTo, leave) {
  const now = () => Number(slider.getAttribute('aria-valuenow'));
  const local = (direction) => {
    const steps = [...get().localPeaks.map((mark) => mark.step), get().peak?.step ?? get().from].sort(
      (a, b) => a - b,
    );
    const next =
      direction > 0 ? steps.find((step) => step > now()) : steps.filter((step) => step < now()).pop();
    return next ?? now();
  };
  /* In a thinned curve a step is to the next kept one. */
  const beside = (far) => {
    const { steps, isThinned } = get();
    return isThinned
      ? steps[Math.max(0, Math.min(steps.length - 1, pointAt(steps, now()) + far))]
      : now() + far;
  };
  const targets = {
    ArrowRight: beside,
    ArrowUp: beside,
    ArrowLeft: (far) => beside(-far),
    ArrowDown: (far) => beside(-far),
    Home: () => get().from,
    End: () => get().to,
    p: () => get().peak?.step ?? now(),
    ']': () => local(1),
    '[': () => local(-1),
  };
  slider.addEventListener('keydown', (event) => {
    if (!get() || event.ctrlKey || event.metaKey || event.altKey || !(event.key in targets)) return;
    event.preventDefault();
    keyTo(targets[event.key](event.shiftKey ? 10 : 1));
  });
  slider.addEventListener('focus', () => {
    if (get()) keyTo(now());
  });
  slider.addEventListener('blur', leave);
}
