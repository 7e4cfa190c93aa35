/* SPDX-License-Identifier: Apache-2.0
 * whatif_curve.js: what is live as the program is, and as it would be after the ticked changes, on one pair of axes.
 * Its own file: a chart of two lines, beside the list that it belongs to. */

import { el } from '../../lib/dom.js';
import { bytes, count, spokenBytes } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { createChart, makePlot, X_AXIS_PX } from '../../widgets/chart.js';
import { paintCapacityLabel, paintCapacityLine, topWith } from '../../widgets/curve_capacity.js';
import { bindSliderKeys } from '../../widgets/curve_keys.js';
import { CURVE_AXES, RIGHT_PX } from '../../widgets/curve_plot.js';
import { pointAt } from '../../widgets/readings.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';

const createPlot = (host, get, hooks) =>
  makePlot(host, {
    padding: [4, RIGHT_PX, 0, 0],
    xs: () => get().columns[0],
    scales: {
      x: { time: false, range: () => [0, get().end] },
      y: { range: (u) => [0, topWith(get(), u.height - X_AXIS_PX - 4)] },
    },
    axes: CURVE_AXES,
    series: [
      { stroke: () => token('text'), width: 1.5, fill: () => token('area') },
      { stroke: () => token('accent'), width: 1.75, dash: [4, 3] },
    ],
    paint(u, ratio) {
      paintCapacityLine(u, get(), ratio);
      paintCapacityLabel(u, get(), ratio);
    },
    hooks,
    columns: get().columns,
  });

/* Pure: the curve of an answer with a value at its end, so that the last step has a width. */
export function whatifColumns({ step_count: end, step, bytes_before: before, bytes_after: after }) {
  const whole = (list) => [...list, list[list.length - 1]];
  return { end, columns: [[...step, end], whole(before), whole(after)], max: Math.max(1, ...before, ...after) };
}

/* unit: "step" or "position". Out: {node, show(curve, capacity bytes or null, unit, isChanged), destroy()}. */
export function createWhatifCurve() {
  const state = { end: 1, columns: [[], [], []], max: 1, capacity: null, unit: 'step', isChanged: false, at: 0 };
  const read = (step) => {
    const at = pointAt(state.columns[0], step);
    const [steps, before, after] = state.columns;
    return { step: steps[at], before: before[at], after: after[at] };
  };
  const words = ({ step, before, after }, say) =>
    `${state.unit} ${count(step)}: ${say(before)} as it is${
      state.isChanged ? `, ${say(after)} after the ` + `changes` : ''
    }`;
  const tell = (step) => {
    const reading = read(step);
    showTooltip(`w:${reading.step}`, [words(reading, bytes)], chart.markAt(reading.step));
  };
  const onCursor = (u) => {
    if (u.cursor.left < 0) hideTooltip();
    else if (u.over.matches(':hover')) tell(Math.max(0, Math.min(state.end - 1, u.posToVal(u.cursor.left, 'x'))));
  };
  const label = () =>
    `Memory over program order: at most ${spokenBytes(Math.max(0, ...state.columns[1]))} live as it is` +
    (state.isChanged ? `, ${spokenBytes(Math.max(0, ...state.columns[2]))} after the ticked changes.` : '.');
  const chart = createChart({
    className: 'curve',
    overlay: { flagClass: 'curve-mark', isFlagOnTop: false, unit: 1 },
    isReady: () => state.columns[0].length > 0,
    make: (host, place) => createPlot(host, () => state, { setCursor: [onCursor], draw: [place] }),
    stretch: (plot) => plot.setData(state.columns),
    label,
    gestures: {},
  });
  bindSliderKeys(chart.slider, {
    get: () => ({
      to: state.end - 1,
      peak: { step: state.columns[0][state.columns[1].indexOf(Math.max(...state.columns[1]))] },
      localPeaks: [],
      moment: state.at,
    }),
    to(step) {
      state.at = Math.max(0, Math.min(state.end - 1, step));
      chart.say(state.at, words(read(state.at), spokenBytes));
      if (chart.plot) tell(state.at);
    },
    leave: hideTooltip,
  });
  const after = el('span', { class: 'key-line key-dashed key-after' }, 'after the ticked changes');
  const node = el(
    'div',
    { class: 'whatif-curve' },
    el('p', { class: 'whatif-legend' }, el('span', { class: 'key-line key-solid' }, 'live as it is'), after),
    el('div', { class: 'whatif-plot' }, chart.node),
  );
  return {
    node,
    show(curve, capacity, unit, isChanged) {
      Object.assign(state, whatifColumns(curve), { unit, isChanged, capacity });
      if (!isChanged) state.columns[2] = state.columns[2].map(() => null);
      after.hidden = !isChanged;
      state.at = Math.min(state.at, state.end - 1);
      chart.setSlider(`${label()} Arrow keys move the ${unit} that is read, p goes to the peak.`, [0, state.end - 1]);
      chart.say(state.at, words(read(state.at), spokenBytes));
      chart.repaint();
    },
    destroy: chart.destroy,
  };
}
