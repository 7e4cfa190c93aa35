/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_views.js: loads and draws the views of one memory space. Each stands for
 * itself: one that cannot be read says so in its place and leaves the others alone. */

import { el } from '../lib/dom.js';
import { bytes, count, counted, cutMiddle, visible } from '../lib/format.js';
import { isAbort, Problem } from '../lib/api.js';
import { verdictOf } from '../lib/capacity.js';
import { message } from '../widgets/panel.js';
import { chooseSpace, curveOf, LISTED_ROWS } from './memory_viewer_load.js';
import { capacityLabel, pageTitle } from './memory_viewer_answer.js';
import { devicesFor, settleCapacity } from './memory_viewer_capacity.js';
import * as empty from './memory_viewer_empty.js';
import * as say from './memory_viewer_text.js';

const CURVE_WIDTH = 1024;

/* data: the summary; said: {notes, errorTexts}. Resolves when every view is drawn. */
export async function showSpace(view, data, route, said, signal) {
  const space = chooseSpace(data.spaces, route.space);
  if (route.space !== null && space.space !== route.space) {
    view.context.banners.set('space', {
      text: `Memory space ${cutMiddle(visible(route.space), 40)} is not in this module; showing ${visible(space.name)}.`,
    });
  }
  const devices = await devicesFor(view.wanted);
  if (signal.aborted) return;
  Object.assign(view, { space, said, buffers: null, drawn: null, platform: data.module.platform });
  view.context.setSpaces(data.spaces, space);
  settleCapacity(view, devices);
  for (const panel of view.panels) panel.node.hidden = false;
  view.strips.panel.node.hidden = Boolean(space.replay_error);
  sayAnswer(view);
  const largest = loadLargest(view).then((buffers) => {
    if (!buffers || view.space !== space) return;
    view.buffers = buffers;
    sayAnswer(view);
  });
  await Promise.all([largest, view.table.load(), loadCurve(view), loadStrips(view)]);
}

function sayAnswer(view) {
  const { space, capacity, wanted, buffers, said, module } = view;
  view.context.setTitle(pageTitle(space, module.name, capacity));
  view.head.show({ space, capacity, wanted, buffers, ...said });
}

/* Another capacity: sentence, title and curve change, nothing is asked again but the devices. */
export async function changeCapacity(view, wanted) {
  if (wanted === view.wanted) return;
  view.wanted = wanted;
  const devices = await devicesFor(wanted);
  if (!view.space || view.wanted !== wanted) return;
  settleCapacity(view, devices);
  sayAnswer(view);
  if (view.drawn) drawCurve(view);
}

/* Asks for a view and draws it; a failure is said in the panel. */
async function fillPanel(view, panel, what, name, params, draw) {
  const { space } = view;
  try {
    const { data } = await view.ask(name, { space: space.space, ...params });
    if (view.space !== space) return null;
    panel.show();
    draw(data, space);
    return data;
  } catch (error) {
    if (isAbort(error)) return null;
    if (!(error instanceof Problem)) throw error;
    panel.say(message(empty.failed(what, error)));
    return null;
  }
}

export function loadStrips(view) {
  if (!view.space || view.space.replay_error) return Promise.resolve(null);
  return fillPanel(
    view,
    view.strips.panel,
    'The strips',
    'strips',
    { width: view.strips.width },
    (data, space) => {
      for (const order of Object.values(data.orders)) view.records.add(order);
      view.strips.draw(data, space);
    },
  );
}

function loadCurve(view) {
  const { space, curvePanel } = view;
  if (space.replay_error) {
    curvePanel.say(message(empty.cannotReplay(view.module.name, space.replay_error)));
    return null;
  }
  if (space.step_unit === 'none') {
    curvePanel.say(message(empty.noPositions(space)));
    return null;
  }
  const width = Math.max(CURVE_WIDTH, Math.ceil(view.root.clientWidth / 64) * 64);
  return fillPanel(view, curvePanel, 'The curve', 'curve', { width }, (data) => {
    view.drawn = curveOf(data);
    drawCurve(view);
  });
}

/* Red is what rises above the capacity of a program that does not fit. */
function drawCurve(view) {
  const { space, capacity, drawn } = view;
  const mark = capacity && {
    bytes: capacity.bytes,
    text: capacityLabel(space, capacity),
    isOver: verdictOf(space.total_bytes, capacity, space.space).word === 'over',
  };
  const isRed = Boolean(mark?.isOver) && drawn.bytes.some((value) => value > mark.bytes);
  view.curvePanel.setAside(curveLegend(space, drawn, isRed));
  view.curve.draw({ ...drawn, capacity: mark, label: say.curveLabel(space, drawn, capacity) });
}

function curveLegend(space, data, isRed) {
  const isSchedule = space.step_unit === 'schedule';
  return [
    isSchedule ? el('span', { class: 'caution' }, empty.scheduleHint()) : null,
    el('span', { class: 'key-line key-solid' }, 'padded'),
    el('span', { class: 'key-line key-dashed' }, 'unpadded'),
    isRed ? el('span', { class: 'key-line key-over' }, 'above capacity') : null,
    el(
      'span',
      { class: 'dim' },
      `${isSchedule ? 'positions in the schedule' : 'steps of the heap trace'} ${count(data.from)} … ${count(data.to)}`,
    ),
  ].filter(Boolean);
}

/* The largest buffers at the peak, for the sentence about them. */
async function loadLargest(view) {
  const { space, ask } = view;
  if (space.replay_error) return null;
  try {
    const { data } = await ask('buffers', { space: space.space, step: 'peak', sort: '-size', limit: LISTED_ROWS });
    if (view.space !== space) return null;
    view.sizeRanks = new Map(data.rows.map((row, at) => [row.id, at]));
    return data;
  } catch (error) {
    if (isAbort(error) || error instanceof Problem) return null;
    throw error;
  }
}
