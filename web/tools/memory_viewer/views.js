/* SPDX-License-Identifier: Apache-2.0
 * views.js: loads and draws the views of one memory space. Each stands for
 * itself: one that cannot be read says so in its place and leaves the others alone. */

import { button, el } from '../../lib/dom.js';
import { count, cutMiddle, visible } from '../../lib/format.js';
import { isAbort, Problem, problemText } from '../../lib/api.js';
import { nextFrame } from '../../lib/activity.js';
import { whole } from '../../lib/range.js';
import { lazy } from '../../lib/lazy.js';
import { askFiltered, curveOf, usualSpace } from './load.js';
import { loadAdvice } from './advice.js';
import { capacityLabel, pageTitle } from './answer.js';
import { askFits, settleCapacity } from './capacity.js';
import { failureParts, failureTitle } from './failure.js';
import { categoriesOf, coversTerm, readOpened } from './filter.js';
import { editOffsets } from './light.js';
import { hearLook, openWhatif } from './look.js';
import * as say from './text.js';
import { legend } from '../../widgets/categories.js';
import { message } from '../../widgets/panel.js';
import { cannotReplay, failed, noPositions } from './empty.js';

const CURVE_WIDTH = 1024;

/* data: the summary; said: {notes, errorTexts}. Resolves when every view is drawn. */
export async function showSpace(view, data, route, said, signal) {
  if (signal.aborted) return;
  const usual = usualOf(data.spaces);
  const space = data.spaces.find((each) => each.space === route.space) ?? usual;
  if (route.space != null && space.space !== route.space) {
    view.context.banners.set('space', {
      text:
        `Memory space ${cutMiddle(visible(route.space), 40)} is not in this module; showing ` +
        `${visible(space.name)}.`,
    });
  }
  Object.assign(view.program, {
    space,
    spaces: data.spaces,
    said,
    drawn: null,
    predicted: null,
    platform: data.module.platform,
  });
  view.place.start(route);
  view.context.setSpaces(data.spaces, space, usual);
  settleCapacity(view.program, view.context.banners);
  for (const panel of view.panels) panel.node.hidden = false;
  view.tabs.node.hidden = false;
  view.strips.panel.node.hidden = Boolean(space.replay_error);
  sayAnswer(view);
  await Promise.all([
    view.table.load(),
    loadCurve(view),
    loadStrips(view),
    loadMap(view, route),
    view.code.load(),
    view.patterns.load(),
    view.whatif.hear(route),
  ]);
  if (view.program.space === space) await Promise.all([loadWindow(view), loadMarks(view), loadAdvice(view)]);
}

/* Another moment: the curve only moves its line; strips and table are asked once it is at rest. */
export function showMoment(view) {
  view.curve.setMoment(view.place.moment);
  view.context.setTitle(titleOf(view));
}

function titleOf(view) {
  const { place } = view;
  const { space, module, live, said } = view.program;
  const moment = place.isPeak ? null : { step: place.step, live };
  return pageTitle(space, module.name, moment, failureParts(said, view.program) ? failureTitle(said.failure) : '');
}

function sayAnswer(view) {
  view.context.setTitle(titleOf(view));
  view.head.show(view.program);
}

const usualOf = (spaces) => usualSpace(spaces, ({ total_bytes: total, fit }) => total > 0 && fit.word === 'over');

/* Another capacity: sentence, title and curve change, nothing is asked again but whether it fits. The space stays, and
   the
 * address names it where another one would open there now. */
export async function changeCapacity(view, wanted) {
  if (wanted === view.program.wanted) return;
  view.program.wanted = wanted;
  const { space } = view.program;
  if (!(await askFits(view.program)) || view.program.space !== space || view.program.wanted !== wanted) return;
  settleCapacity(view.program, view.context.banners);
  const usual = usualOf(view.program.spaces);
  view.context.setSpaces(view.program.spaces, view.program.space, usual);
  if (usual !== view.program.space && view.context.route.space == null)
    view.context.move({ space: view.program.space.space });
  sayAnswer(view);
  if (view.program.drawn) drawCurve(view);
  view.map.setLimit();
  await loadAdvice(view);
}

/* Asks for a view and draws it; a failure is said in the panel. A newer question of the same
 * panel gives up the older one. */
async function fillPanel(view, panel, what, name, params, draw) {
  const { space } = view.program;
  panel.asked?.abort();
  panel.asked = new AbortController();
  try {
    const { data } = await askFiltered(view.program, name, { space: space.space, ...params }, panel.asked.signal);
    if (view.program.space !== space) return null;
    panel.show();
    draw(data, space);
    return data;
  } catch (error) {
    if (isAbort(error)) return null;
    if (!(error instanceof Problem)) throw error;
    /* A filter that cannot be read is explained where it is typed; the last picture stays. */
    if (error.status === 400 && view.context.route.filter) return null;
    /* What is seen stays while nobody answers. */
    if (error.code !== 'gone' || !view.program.drawn) panel.say(failed(what, error));
    return null;
  }
}

const stepOf = ({ place }) => (place.isPeak ? {} : { step: place.step });

export function loadStrips(view) {
  if (!view.program.space || view.program.space.replay_error) return Promise.resolve(null);
  const opened = readOpened(view.context.route.bars);
  view.marked = view.place.within;
  return fillPanel(
    view,
    view.strips.panel,
    'The strips',
    'strips',
    { width: view.strips.width, ...stepOf(view), filter: view.context.route.filter, mark: view.marked, ...opened },
    (data, space) => {
      for (const order of Object.values(data.orders)) view.records.add(order);
      /* What lies behind the last buffer is no part of a strip: the answer holds all. */
      const isThere = !opened || data.orders[opened.order][0]?.first_rank === opened.first;
      if (!isThere)
        view.context.banners.set('bars', {
          text:
            `${count(data.matched_count)} buffers are in the strips, so there is no bar number ` +
            `${count(opened.first + 1)}; showing all.`,
        });
      view.strips.draw(data, {
        space,
        isPeak: view.place.isPeak,
        opened: isThere ? opened : null,
        chosen: categoriesOf(view.context.route.filter),
      });
      view.program.live = data.bytes;
      view.context.setTitle(titleOf(view));
    },
  );
}

function loadCurve(view) {
  const { curvePanel } = view;
  const { space } = view.program;
  if (space.replay_error) return curvePanel.say(message(cannotReplay(view.program.module.name, space.replay_error)));
  if (space.step_unit === 'none') return curvePanel.say(message(noPositions(space, view.program.said)));
  const width = widthOf(view);
  return fillPanel(view, curvePanel, 'The curve', 'curve', { width, stack: 'category' }, (data) => {
    view.program.drawn = curveOf(data, width);
    drawCurve(view);
    view.curve.setMoment(view.place.moment);
    view.curve.setRange(view.place.range);
    loadDetail(view);
  });
}

function loadMap(view, route) {
  const { map } = view;
  const { space } = view.program;
  map.panel.node.hidden = Boolean(space.replay_error) || space.step_unit === 'none';
  hearLook(view, route);
  return map.panel.node.hidden ? null : map.start(route);
}

/* As many points of a prediction as the daemon gives. */
const MAX_PREDICTED = 4096;
const widthOf = (view) => Math.max(CURVE_WIDTH, Math.ceil(view.root.clientWidth / 64) * 64);

/* More points for the steps in view, where the whole curve was thinned. */
export function loadDetail(view) {
  const { drawn } = view.program;
  if (!drawn || view.place.isWhole) return Promise.resolve(null);
  const [from, to] = whole(view.place.range);
  const params = { width: widthOf(view), from, to, stack: 'category' };
  return Promise.all([
    drawn.isThinned &&
      fillPanel(view, view.curvePanel, 'The curve', 'curve', params, (data) =>
        view.curve.setDetail(curveOf(data, params.width)),
      ),
    loadPredictedDetail(view, params),
  ]);
}

/* The same of what would be live after the changes that are ticked; without an answer that of the whole stays. */
async function loadPredictedDetail(view, { width, from, to }) {
  const { predicted } = view.program;
  view.predictedAsked?.abort();
  if (!predicted?.isThinned) return;
  const { signal } = (view.predictedAsked = new AbortController());
  try {
    const { data } = await view.program.ask(
      'whatif',
      { change: predicted.changes, width: Math.min(width, MAX_PREDICTED), from, to },
      signal,
    );
    if (!signal.aborted && view.program.predicted === predicted && data.curve)
      view.curve.setPredictedDetail({ from, to: to - 1, steps: data.curve.step, bytes: data.curve.bytes_after });
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem)) throw error;
  }
}

/* Asks what changes in the steps [from, to) and gives the answer to `show`, unless another question of the same
 * slot came meanwhile. */
async function askChanges(view, slot, [from, to], show, filter = '') {
  const { space } = view.program;
  view[slot]?.abort();
  const mine = (view[slot] = new AbortController());
  const tell = (data, problem) =>
    view.window.with(
      (parts) => view.program.space === space && !mine.signal.aborted && show(parts, data, space, problem),
    );
  try {
    const { data } = await view.program.ask('window', { space: space.space, from, to, filter }, mine.signal);
    await tell(data);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    await tell(null, problemText(error));
  }
}

/* The lines below the curve's title that say what the window and the marks hold, and what the pane says of them. */
export const windowLines = (view) =>
  lazy(
    () => import('./window.js'),
    ({ createMarksLine, createWindowLine, marksDetails, windowDetails }) => {
      const line = createWindowLine({
        onZoom: () => view.place.zoomToWindow(),
        onNames: view.context.details.open,
        onClear: () => view.place.letWindowGo(),
        onMoment: (step) => view.place.setMoment(step),
        onEdit: () => editOffsets(view),
      });
      const marks = createMarksLine({
        onSwap: () => view.place.swapMarks(),
        onNames: view.context.details.open,
        onClear: () => view.place.clearMarks(),
        onMoment: (step) => view.place.setMoment(step),
      });
      const moveTo = ({ head }) => head.nextElementSibling !== line.node && head.after(line.node, marks.node);
      moveTo(view.curvePanel);
      const details = () => {
        if (line.data) return windowDetails(line.data, view.program.space, view.pinItem);
        return marks.data && marksDetails(marks.data, view.program.space, view.pinItem);
      };
      nextFrame(() => hearLook(view, view.context.route));
      return { line, marks, moveTo, details };
    },
  );

/* What is born and dies in the selected window, and its own peak. */
export async function loadWindow(view) {
  const { window, offsets, begun } = view.place;
  view.curve.setWindow(view.place.shownWindow);
  if (window) {
    await askChanges(
      view,
      'windowAsked',
      [window[0], window[1] + 1],
      ({ line }, data, space, problem) => (data ? line.show(data, space, offsets) : line.say(problem)),
      offsets ? coversTerm(offsets) : '',
    );
    return;
  }
  view.windowAsked?.abort();
  if (begun == null) view.window.now?.line.clear();
  else
    await view.window.with(({ line }) => view.place.begun != null && line.begin(view.place.begun, view.program.space));
}

/* The same between two marked moments; what is live at the earlier one is there already. */
export async function loadMarks(view) {
  const { space } = view.program;
  const { marks } = view.place;
  const isNow = () => view.program.space === space && view.place.marks.a === marks.a && view.place.marks.b === marks.b;
  view.curve.setMarks(marks);
  view.marksAsked?.abort();
  const set = [marks.a, marks.b].filter((step) => step != null);
  if (set.length === 0) view.window.now?.marks.clear();
  else if (set.length === 1) await view.window.with((parts) => isNow() && parts.marks.show(marks, null, space));
  else
    await askChanges(view, 'marksAsked', [Math.min(...set) + 1, Math.max(...set) + 1], (parts, data, space, problem) =>
      data ? parts.marks.show(marks, data, space) : parts.marks.say(problem),
    );
}

/* data: of the view whatif, of which the curve shows what would be live after the ticked changes; null: nothing is
   ticked.
 * Predictions are of the device's own memory. */
export function setPredicted(view, data) {
  const isAny =
    Boolean(data?.curve) && view.program.space?.space === 0 && data.changes.some(({ refusal }) => refusal == null);
  if (!isAny && !view.program.predicted) return;
  view.program.predicted = isAny
    ? {
        steps: data.curve.step,
        bytes: data.curve.bytes_after,
        isThinned: data.curve.step.length < data.curve.step_count,
        peak: data.peak_bytes_after,
        sentence: data.sentence,
        changes: data.changes.filter(({ refusal }) => refusal == null).map(({ change }) => change),
      }
    : null;
  if (!view.program.drawn) return;
  drawCurve(view);
  loadDetail(view);
}

/* Red is what rises above the capacity of a program that does not fit. */
function drawCurve(view) {
  const { space, capacity, drawn, predicted } = view.program;
  const mark = capacity && {
    bytes: capacity.bytes,
    text: capacityLabel(space, capacity),
    isOver: space.fit.word === 'over',
  };
  const isRed = Boolean(mark?.isOver) && drawn.bytes.some((value) => value > mark.bytes);
  view.curvePanel.setAside(curveLegend(space, drawn, isRed, predicted && predictedKey(view)));
  view.curve.draw({ ...drawn, capacity: mark, predicted, label: say.curveLabel(space, drawn, capacity, predicted) });
}

/* What the dashed line is; a click opens what is ticked. */
const predictedKey = (view) =>
  button(
    'link-button key-line key-dashed key-after',
    () => openWhatif(view, { glob: view.context.route.glob }),
    ['predicted', el('span', { class: 'for-wide' }, ' after the ticked changes')],
    {
      title: `After the ticked changes: ${visible(view.program.predicted.sentence)}`,
      'aria-label': 'predicted after the ticked changes',
    },
  );

function curveLegend(space, data, isRed, predicted) {
  const isSchedule = space.step_unit === 'schedule';
  return [
    isSchedule ? el('span', { class: 'caution' }, say.SCHEDULE_HINT) : null,
    data.stack ? el('span', { class: 'for-phones' }, legend(new Set(data.stack.map(({ name }) => name)))) : null,
    el('span', { class: 'key-line key-solid' }, 'padded'),
    el('span', { class: 'key-line key-dashed' }, 'unpadded'),
    isRed ? el('span', { class: 'key-line key-over' }, 'above capacity') : null,
    predicted,
    !predicted &&
      el(
        'span',
        { class: 'dim for-wide' },
        `${isSchedule ? 'positions in the schedule' : 'steps of the heap trace'} ${count(data.from)} … ` +
          `${count(data.to)}`,
      ),
  ].filter(Boolean);
}
