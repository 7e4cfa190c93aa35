/* SPDX-License-Identifier: Apache-2.0
 * page.js: what the processes of a run have in use, while it runs: a chart for each device of each process, which
 * follows. The daemon is asked again every second as long as the run goes on. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { counted, visible } from '../../lib/format.js';
import { command, message } from '../../widgets/panel.js';
import { createLiveChart } from './chart.js';
import * as say from './text.js';

const ASK_EVERY_MS = 1000;
const MAX_CHARTS = 16;
const BUSY = Symbol('busy');
const ENDED = Symbol('ended');

/* A beat of an interval: the page itself is at rest meanwhile, and asks nothing while nobody sees it. */
function beat(signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setInterval(() => document.hidden || end(), ASK_EVERY_MS);
    signal.addEventListener('abort', end);
  });
}

/* What is no reason to take away what is shown. */
function passing(error) {
  if (error instanceof Problem && error.status === 503) return BUSY;
  if (error instanceof Problem && error.status === 404) return ENDED;
  throw error;
}

/* One for each line. The order stays as long as the lines are the same: nothing moves under the pointer. */
function createCharts(place) {
  const charts = new Map(); // key of a line → its chart
  function drop(key) {
    charts.get(key).destroy();
    charts.get(key).node.remove();
    charts.delete(key);
  }
  return {
    draw(lines) {
      const keys = lines.map(say.keyOf);
      [...charts.keys()].filter((key) => !keys.includes(key)).forEach(drop);
      for (const [at, key] of keys.entries()) {
        if (!charts.has(key)) {
          charts.set(key, createLiveChart());
          place.append(charts.get(key).node);
        }
        charts.get(key).draw(lines[at]);
      }
    },
    clear() {
      [...charts.keys()].forEach(drop);
      fill(place);
    },
  };
}

/* context: of app.js. view of the URL: the id of the run that is shown; without one the first of the list. */
export function mount(root, context) {
  const title = el('h1', { class: 'answer' });
  const more = el('p', { class: 'answer-more', role: 'status' });
  const which = el('select', {
    class: 'live-which',
    'aria-label': 'Run',
    on: { change: () => context.choose({ tool: 'live', view: which.value }) },
  });
  const aside = el('div', { class: 'answer-aside' }, which);
  const place = el('div', { class: 'live-charts' });
  const below = el('div', { class: 'live-below' });
  const styled = loadStyle('live.css');
  const charts = createCharts(place);
  let controller = new AbortController();
  fill(
    root,
    el(
      'div',
      { class: 'live' },
      el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside), more),
      place,
      below,
    ),
  );

  function clear() {
    charts.clear();
    fill(below);
    fill(more);
  }

  function instead(words, content) {
    clear();
    aside.hidden = true;
    fill(title, words);
    fill(place, message(content));
  }

  function draw(run) {
    const left = Math.max(0, run.lines.length - MAX_CHARTS) + run.left_out_count;
    aside.hidden = false;
    fill(title, say.answer(run));
    fill(more, say.second(run));
    charts.draw(run.lines.slice(0, MAX_CHARTS));
    fill(
      below,
      left > 0
        ? el('p', { class: 'dim' }, `${counted(left, 'more line')} for devices with less in use are left out.`)
        : null,
      run.is_running
        ? [
            el('p', {}, 'To see what holds the memory, save a snapshot of each process; the job continues:'),
            command(say.captureCommand(run)),
          ]
        : null,
    );
    context.setTitle(`${visible(run.name)} · Live – memviewd`);
  }

  function offer(runs, shown) {
    fill(
      which,
      runs.map((run) => el('option', { value: run.id, selected: run.id === shown }, say.optionOf(run))),
    );
  }

  async function follow(id, signal) {
    let isRunning = true;
    while (isRunning) {
      await beat(signal);
      if (signal.aborted) return;
      const run = await get(`live/${encodeURIComponent(id)}`, {}, { signal, isQuiet: true }).catch(passing);
      if (run === BUSY) continue;
      if (run === ENDED) {
        fill(below, el('p', {}, say.ENDED));
        return;
      }
      draw(run);
      isRunning = run.is_running;
    }
  }

  function fail(error, signal) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof Problem) || error.code === 'gone') throw error;
    instead('This run cannot be shown.', { kind: 'error', title: '', text: error.message });
  }

  async function show(route) {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      const { runs } = await get('live', {}, { signal });
      const id = route.view || runs[0]?.id;
      if (!id) {
        instead('No run is watched.', say.NOTHING);
        context.setTitle('Live – memviewd');
        return;
      }
      const run = await get(`live/${encodeURIComponent(id)}`, {}, { signal });
      clear();
      offer(runs, id);
      draw(run);
      if (run.is_running) follow(id, signal).catch((error) => fail(error, signal));
    } catch (error) {
      fail(error, signal);
    }
  }

  return {
    show: (selection, route) => Promise.all([styled, show(route)]),
    hear: (route) => show(route),
    escape: () => false,
    unmount() {
      controller.abort();
      clear();
    },
  };
}
