/* SPDX-License-Identifier: Apache-2.0
 * capture.js: running jobs asked for a trace: how long, how far it is, which hosts failed; then its session opens.
 * Which jobs may be asked is said at the daemon's start. Its own file: it lives longer than one drawing of the list. */

import { button, el, fill } from '../../lib/dom.js';
import { bytes, count, counted, visible } from '../../lib/format.js';
import { createTask, isEnded } from '../../lib/task.js';

const USUAL_SECONDS = 3;
const MAX_SECONDS = 3600;

/* Its traces lie there, and the scanner has not met them yet. */
const isAwaited = (run) => isEnded(run) && run.session == null && run.hosts.some(({ file }) => file != null);
const isAtWork = (run) => !isEnded(run) || isAwaited(run);

/* Pure: "Recording: 2 s of 3 s". */
export function progressWords({ state, seconds, recorded_ms, trace_bytes }) {
  if (state === 'cancelling') return 'Cancelling';
  if (state === 'done' || state === 'cancelled') return 'Opening';
  if (recorded_ms < seconds * 1000) return `Recording: ${Math.floor(recorded_ms / 1000)} s of ${seconds} s`;
  return trace_bytes > 0 ? `Receiving: ${bytes(trace_bytes)}` : `Recorded ${seconds} s: waiting for the trace`;
}

/* Pure: what went wrong, a sentence each. */
export const failures = (run) =>
  [run.reason, ...run.hosts.map(({ address, reason }) => reason && `${address}: ${reason}`)]
    .filter(Boolean)
    .map((text) => `${visible(text)}.`);

/* context: {choose(patch), link(session), tell(words)}. Out: {node, set(addresses), stop()}. */
export function createCapture(context) {
  const node = el('div', { class: 'home-capture', hidden: true });
  const seconds = el('input', {
    type: 'number',
    class: 'home-seconds',
    min: '1',
    max: String(MAX_SECONDS),
    value: String(USUAL_SECONDS),
    'aria-label': 'Seconds to record',
  });
  const which = el('select', { class: 'home-which', 'aria-label': 'Jobs to record' });
  const act = button('text-button', () => begin(), 'Capture', { 'data-key': 'capture' });
  const said = el('div', { class: 'home-capture-said', role: 'status' });
  let known = [];
  const task = createTask('captures', { isAtWork, draw, onEnd });
  node.append(el('span', {}, 'Record ', seconds, ' s of ', which, ' ', act), said);

  function draw() {
    const { run, fault } = task;
    const isBusy = run != null && isAtWork(run);
    const isWhole = run != null && !isBusy;
    act.disabled = isBusy;
    fill(
      said,
      fault ? el('p', { class: 'caution' }, visible(fault)) : null,
      isBusy
        ? [
            el('span', {}, progressWords(run)),
            ' ',
            isEnded(run) ? null : button('text-button', task.cancel, 'Cancel', { 'data-key': 'capture cancel' }),
          ]
        : null,
      isWhole ? failures(run).map((words) => el('p', { class: 'caution' }, words)) : null,
      isWhole && run.state === 'cancelled' ? el('p', { class: 'dim' }, 'Cancelled.') : null,
      isWhole && run.session ? el('a', { href: context.link(run.session) }, 'Open the trace') : null,
    );
  }

  function onEnd(run) {
    if (run.state === 'done' && run.session && failures(run).length === 0)
      context.choose({ tool: '', session: run.session, filter: '', sort: '', verdict: '' });
    else context.tell(failures(run)[0] ?? 'Cancelled.');
  }

  const begin = () =>
    seconds.value && seconds.checkValidity()
      ? task.begin({ seconds: Number(seconds.value), ...(which.value && { addresses: [which.value] }) })
      : task.refuse(`Seconds are a whole number from 1 to ${count(MAX_SECONDS)}.`);

  return {
    node,
    set(addresses) {
      if (addresses.join() === known.join()) return;
      known = addresses;
      node.hidden = addresses.length === 0;
      const all = addresses.length > 1 ? [el('option', { value: '' }, `all ${counted(addresses.length, 'job')}`)] : [];
      fill(
        which,
        all,
        addresses.map((address) => el('option', { value: address }, visible(address))),
      );
      draw();
    },
    stop: task.stop,
  };
}
