/* SPDX-License-Identifier: Apache-2.0
 * timeline.js: memory over time, with moment, window and marks A and B on it. Zoom and pan stretch what
 * is there at once; whoever owns it asks for more. Hover is an overlay; the base is drawn once.
 *
 * Data: {all: [start, end], range, x (ascending, distinct ps), end, layers, min, max, isFitted, peak:
 * {step: ps, bytes}, localPeaks, peakWords, label, striped: {steps, stripes} of stripes.js, or null}; see
 * timeline_plot.js. */

import { el } from '../lib/dom.js';
import { moved, zoomed } from '../lib/range.js';
import { createChart } from './chart.js';
import { createLit } from './curve_lit.js';
import { pointAt } from './readings.js';
import { bandAt } from './stripes.js';
import { axisWords, byteRange, columnsOf } from './timeline_axis.js';
import { createPlot, plotPx, roomPx, stripesInView } from './timeline_plot.js';

export const MIN_PS = 1e6;
const SNAP_PX = 4;
const LEAST_PX = 3;
const AROUND_PX = [-1.5, -1, -0.5, 0.5, 1, 1.5];

const shapeOf = (data) =>
  data.layers.map((layer) => `${layer.fill}${layer.stroke}${layer.isShare}${layer.isStripes}`).join();

/* actions: onHover(at, mark, item: of the stripe under the pointer, or null), onLeave(), onMoment(ps, isEnd),
   onPin(item, ps, isBeside: next to what is pinned), onMenu({item or null, time}, {x, y}: of the window, giveBack()),
 * onRange(range, isEnd), onSelect(range | null, isEnd), onHint(), sentence(at). `at` is an index of the data. Out:
 * {node, slider, view, bytesPerPx, draw, setRange, set, setLit({hovered, pinned}): sets of ids of stripes or null,
 * destroy}. */
export function createTimeline({ className = '', ...actions }) {
  const words = el('span', { class: 'axis-words', hidden: true });
  let data = null;
  let drawn = '';
  let moment = null;
  let marks = { a: null, b: null };
  let lit = { hovered: null, pinned: null };
  const timeAt = (x) => chart.plot.posToVal(x, 'x');
  const hover = (at, item = null) => {
    if (data.x.length) actions.onHover(at, chart.markAt(data.x[at]), item);
  };
  /* The stripe at a place; where they are too thin to be aimed at, the largest so near. */
  const itemAt = ({ x, y }) => {
    if (!data.view) return null;
    const under = (awayPx) => bandAt(data.view, timeAt(x), chart.plot.posToVal(y + awayPx, 'y'))?.item ?? null;
    const item = under(0);
    if (!item || item.bytes >= LEAST_PX * bytesPerPx()) return item;
    return AROUND_PX.map(under).reduce((most, each) => (each && each.bytes > most.bytes ? each : most), item);
  };
  const bytesPerPx = () => (data.high - data.low) / plotPx(chart.host.clientHeight);
  const chart = createChart({
    className: `curve timeline ${className}`.trim(),
    beside: words,
    overlay: { flagClass: 'time-flag', isFlagOnTop: true, unit: 0 },
    isReady(height) {
      if (!data) return false;
      const [low, high] = byteRange(data, plotPx(height), roomPx(data));
      chart.node.classList.toggle('has-stripes', data.striped != null);
      Object.assign(data, { low, high, view: stripesInView({ ...data, lit }) });
      words.textContent = axisWords(low);
      words.hidden = low <= 0;
      if (shapeOf(data) !== drawn) chart.destroyPlot();
      drawn = shapeOf(data);
      return true;
    },
    make(host, place) {
      const plot = createPlot(host, () => data, { draw: [place, () => litUp.repaint()] });
      if (data.striped) plot.over.append(litUp.node);
      return plot;
    },
    stretch: (plot) => plot.setData(columnsOf(data)),
    label: () => data.label,
    gestures: timelineGestures(actions, {
      get: () => data,
      timeAt,
      hover,
      itemAt,
      overOf: () => chart.plot.over,
      xOf: (ps) => chart.plot.valToPos(ps, 'x'),
      isOnGrip: (at) => chart.over.isOnGrip(at),
      momentNow: () => moment ?? data.peak?.step ?? data.all[0],
      focus: () => chart.slider.focus(),
    }),
  });
  const litUp = createLit(() => chart.plot && data?.view && { u: chart.plot, data: data.view, ...lit });
  const say = () => {
    const at = moment == null ? (data.peak?.step ?? data.all[0]) : moment;
    chart.say(at, data.x.length ? actions.sentence(pointAt(data.x, at)) : null);
  };
  chart.slider.addEventListener('focus', () => {
    if (data?.x.length) hover(pointAt(data.x, Number(chart.slider.getAttribute('aria-valuenow'))));
  });
  chart.slider.addEventListener('blur', actions.onLeave);

  return {
    node: chart.node,
    slider: chart.slider,
    get width() {
      return chart.plot?.over.clientWidth || chart.host.clientWidth || 1024;
    },
    draw(next) {
      data = { ...next };
      chart.setSlider(data.keys ? `${data.label} ${data.keys}` : data.label, data.all);
      say();
      chart.repaint();
    },
    /* What is there is stretched to `range`. */
    setRange(range) {
      if (!data) return;
      data.range = range;
      chart.repaint();
    },
    /* {moment, window: [from, to], span: [from, to], a, b}, each ps or null; what is left out stays. */
    set({ a = marks.a, b = marks.b, span, ...patch }) {
      marks = { a, b };
      chart.over.set({ ...patch, ...(span === undefined ? {} : { spans: span ? [span] : [] }), marks });
      if (patch.moment === undefined) return;
      moment = patch.moment;
      if (data) say();
    },
    setLit(next) {
      const isOther = String([...(next.pinned ?? [])]) !== String([...(lit.pinned ?? [])]);
      lit = next;
      if (!isOther || !data?.striped) return litUp.repaint();
      data.view = stripesInView({ ...data, lit });
      return chart.redraw();
    },
    /* Bytes that a pixel is high. */
    get bytesPerPx() {
      return bytesPerPx();
    },
    /* What is painted of stripes, or null. */
    get view() {
      return data?.view ?? null;
    },
    /* Event before or after the moment in what is drawn: its index. */
    indexAt: (ps) => pointAt(data.x, ps),
    hover,
    destroy: chart.destroy,
  };
}

function timelineGestures(actions, { get, timeAt, hover, itemAt, overOf, xOf, isOnGrip, momentNow, focus }) {
  const clamp = (ps) => Math.round(Math.max(get().all[0], Math.min(get().all[1], ps)));
  /* The time of the event that holds at `x`; the peak within 4 px of it. */
  const momentAt = (x) => {
    const { peak, isThinned, x: known, times } = get();
    if (peak && Math.abs(xOf(peak.step) - x) <= SNAP_PX) return peak.step;
    const ps = timeAt(x);
    return isThinned || ps < known[0] ? clamp(ps) : times[pointAt(known, ps)];
  };
  const rangeOf = (a, b) => {
    const [low, high] = [timeAt(Math.min(a.x, b.x)), timeAt(Math.max(a.x, b.x))];
    return [clamp(low), Math.max(clamp(low) + 1, clamp(high))];
  };
  return {
    hover(at) {
      const item = isOnGrip(at) ? null : itemAt(at);
      overOf().classList.toggle('is-on-mark', item != null);
      hover(pointAt(get().x, timeAt(at.x)), item);
    },
    leave: actions.onLeave,
    click(at, { ctrlKey, metaKey }) {
      const item = isOnGrip(at) ? null : itemAt(at);
      if (item) actions.onPin(item, momentAt(at.x), ctrlKey || metaKey);
      else actions.onMoment(momentAt(at.x), true);
    },
    menu: (at, { clientX: x, clientY: y }) =>
      actions.onMenu({ item: at && itemAt(at), time: at ? momentAt(at.x) : momentNow() }, { x, y }, focus),
    double: () => actions.onRange(get().all, true),
    select: (from, to, isEnd) => actions.onSelect(to ? rangeOf(from, to) : null, isEnd),
    pan: (dx, dy, isEnd) => actions.onRange(moved(get().range, get().all, timeAt(0) - timeAt(dx)), isEnd),
    zoom: (at, factor) => actions.onRange(zoomed(get().range, get().all, MIN_PS, timeAt(at.x), factor), false),
    hint: actions.onHint,
    grip: (at) => (isOnGrip(at) ? 'moment' : null),
    drag: (kind, at, isEnd) => actions.onMoment(momentAt(at.x), isEnd),
  };
}
