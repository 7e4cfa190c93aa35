/* SPDX-License-Identifier: Apache-2.0
 * capture.js: running jobs asked for a trace: how long, how far it is, which hosts failed; then its session opens. Which
 * jobs may be asked is said at the daemon's start. Its own file: it lives longer than one drawing of the list. */

import { get, isAbort, post, Problem, problemText, remove } from '../../lib/api.js';
import { button, el, fill } from '../../lib/dom.js';
import { bytes, count, counted, visible } from '../../lib/format.js';

const ASK_EVERY_MS = 300;
const USUAL_SECONDS = 3;
const MAX_SECONDS = 3600;

/* A beat of an interval: the page itself is at rest meanwhile. */
const beat = () =>
  new Promise((resolve) => {
    const timer = setInterval(() => {
      clearInterval(timer);
      resolve();
    }, ASK_EVERY_MS);
  });

const isEnded = ({ state }) => state === 'done' || state === 'cancelled';
/* Its traces lie there, and the scanner has not met them yet. */
const isAwaited = (run) => isEnded(run) && run.session == null && run.hosts.some(({ file }) => file != null);

/* Pure: "Recording: 2 s of 3 s". */
export function progressWords({ state, seconds, recorded_ms, trace_bytes }) {
  if (state === 'cancelling') return 'Cancelling';
  if (state === 'done' || state === 'cancelled') return 'Opening';
  if (recorded_ms < seconds * 1000) return `Recording: ${Math.floor(recorded_ms / 1000)} s of ${seconds} s`;
  return trace_bytes > 0 ? `Receiving: ${bytes(trace_bytes)}` : `Recorded ${seconds} s: waiting for the trace`;
}

/* Pure: what went wrong, a sentence each. */
export const failures = (run) => [run.reason, ...run.hosts.map(({ address, reason }) => reason && `${address}: ${reason}`)].filter(Boolean).map((text) => `${visible(text)}.`);

/* context: {choose(patch), link(session), tell(words)}. Out: {node, set(addresses), stop()}. */
export function createCapture(context) {
  const node = el('div', { class: 'home-capture', hidden: true });
  const seconds = el('input', { type: 'number', class: 'home-seconds', min: '1', max: String(MAX_SECONDS), value: String(USUAL_SECONDS), 'aria-label': 'Seconds to record' });
  const which = el('select', { class: 'home-which', 'aria-label': 'Jobs to record' });
  const act = button('text-button', () => begin(), 'Capture', { 'data-key': 'capture' });
  const said = el('div', { class: 'home-capture-said', role: 'status' });
  const state = { addresses: [], run: null, fault: '', ending: new AbortController() };
  node.append(el('span', {}, 'Record ', seconds, ' s of ', which, ' ', act), said);

  const isAtWork = () => state.run != null && (!isEnded(state.run) || isAwaited(state.run));

  function draw() {
    const { run, fault } = state;
    const isWhole = run != null && isEnded(run) && !isAwaited(run);
    act.disabled = isAtWork();
    fill(
      said,
      fault ? el('p', { class: 'caution' }, visible(fault)) : null,
      isAtWork() ? [el('span', {}, progressWords(run)), ' ', isEnded(run) ? null : button('text-button', cancel, 'Cancel', { 'data-key': 'capture cancel' })] : null,
      isWhole ? failures(run).map((words) => el('p', { class: 'caution' }, words)) : null,
      isWhole && run.state === 'cancelled' ? el('p', { class: 'dim' }, 'Cancelled.') : null,
      isWhole && run.session ? el('a', { href: context.link(run.session) }, 'Open the trace') : null,
    );
  }

  async function tried(task) {
    try {
      state.fault = '';
      await task();
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      state.fault = problemText(error);
      if (error.status === 404) state.run = null;
      draw();
    }
  }

  async function follow() {
    const { signal } = state.ending;
    while (isAtWork()) {
      await beat();
      if (signal.aborted) return;
      state.run = await get(`captures/${state.run.id}`, {}, { signal, isQuiet: true });
      draw();
    }
    if (state.run?.state === 'done' && state.run.session && failures(state.run).length === 0)
      context.choose({ tool: '', session: state.run.session, filter: '', sort: '', verdict: '' });
    else if (state.run) context.tell(failures(state.run)[0] ?? 'Cancelled.');
  }

  const begin = () =>
    tried(async () => {
      if (!seconds.value || !seconds.checkValidity()) {
        state.fault = `Seconds are a whole number from 1 to ${count(MAX_SECONDS)}.`;
        draw();
        return;
      }
      state.run = await post('captures', JSON.stringify({ seconds: Number(seconds.value), ...(which.value && { addresses: [which.value] }) }), 'application/json');
      draw();
      await follow();
    });
  const cancel = () => tried(() => remove(`captures/${state.run.id}`));

  return {
    node,
    set(addresses) {
      if (addresses.join() === state.addresses.join()) return;
      state.addresses = addresses;
      node.hidden = addresses.length === 0;
      const all = addresses.length > 1 ? [el('option', { value: '' }, `all ${counted(addresses.length, 'job')}`)] : [];
      fill(which, all, addresses.map((address) => el('option', { value: address }, visible(address))));
      draw();
    },
    stop: () => state.ending.abort(),
  };
}
