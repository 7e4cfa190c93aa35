/* SPDX-License-Identifier: Apache-2.0
 * confirm.js: the compiler asked about the ticked changes: how far it is, what it says, the changed program to open.
 * What is said, and whether it counts as confirmed, is the daemon's word. Its own file: it lives longer than one
 * drawing of the drawer. */

import { get, Problem, problemText } from '../../lib/api.js';
import { button, el, fill } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { referenceText } from '../../lib/reference.js';
import { emptyRoute, format } from '../../lib/route.js';
import { createTask, isEnded } from '../../lib/task.js';

const STAGES = { reading: 'Reading the program', base: 'Unchanged program', changed: 'Changed program' };
const STEPS = {
  starting: 'the compiler starts',
  loading: 'the compiler is loaded',
  compiling: 'compiling',
  code: 'buffers are assigned',
};

const isOf = (run, changes) =>
  run.changes.length === changes.length && run.changes.every((each, at) => each === changes[at]);

/* Pure: "Unchanged program (1 of 2): compiling, 3 s, 243 MiB". */
export function progressWords({ state, stage, step, took_ms, resident_bytes }) {
  if (state === 'cancelling') return 'Cancelling';
  if (stage === 'reading') return STAGES.reading;
  const memory = resident_bytes > 0 ? `, ${bytes(resident_bytes)}` : '';
  return (
    `${STAGES[stage]} (${stage === 'base' ? 1 : 2} of 2): ${STEPS[step]}, ${Math.floor(took_ms / 1000)} ` + `s${memory}`
  );
}

const link = (words, route) => el('a', { class: 'text-button', href: format({ ...emptyRoute(), ...route }) }, words);

/* Pure but for nodes: what came of it. */
function answerNodes({ session, confirmed, plan_session, plan_reason }, place) {
  const from = referenceText({ ...place, session, space: '', step: '' });
  return [
    el('p', { class: confirmed.state === 'confirmed' ? 'whatif-fits' : 'caution' }, visible(confirmed.sentence)),
    plan_reason ? el('p', { class: 'caution' }, `The new plan cannot be opened: ${visible(plan_reason)}`) : null,
    plan_session
      ? el(
          'p',
          { class: 'whatif-acts' },
          link('Open the new plan', { tool: 'memory_viewer', session: plan_session }),
          link('Compare', { tool: 'compare', a: from, b: referenceText({ session: plan_session }) }),
        )
      : null,
  ];
}

/* place() → {session, host, module} of the program; device() → the name of the one that is chosen, or null: for a dump
   that
 * does not say its chip; changes() → those that are ticked and apply; tell(words).
 * Out: {act, node, set(), destroy()}: a button, what it leads to, to be drawn again when what is ticked has changed. */
export function createConfirm({ place, device, changes, tell }) {
  const act = button('text-button', () => begin(), 'Confirm with the compiler', { 'data-key': 'confirm' });
  const node = el('div', { class: 'whatif-confirm' });
  const state = { offer: null, at: null };
  const onEnd = ({ confirmed }) => confirmed && tell(confirmed.sentence);
  const task = createTask('confirmations', { draw: set, onEnd });

  async function look() {
    try {
      state.offer ??= await get('confirmations', {}, { isQuiet: true });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      state.offer = { is_available: false, reason: problemText(error) };
    }
    set();
  }

  function begin() {
    state.at = place();
    return task.begin({ ...state.at, host: state.at.host || null, device: device(), change: changes() });
  }

  function set() {
    const { offer } = state;
    const { run, fault } = task;
    const isRunning = run != null && !isEnded(run);
    const isShown = run != null && (isRunning || (isOf(run, changes()) && place().session === run.session));
    act.hidden = !offer?.is_available;
    act.disabled = isRunning || changes().length === 0;
    fill(
      node,
      offer && !offer.is_available
        ? el('p', { class: 'dim' }, `The compiler cannot be used: ${visible(offer.reason)}`)
        : null,
      fault ? el('p', { class: 'caution' }, visible(fault)) : null,
      isRunning
        ? el(
            'p',
            { class: 'whatif-acts' },
            el('span', {}, progressWords(run)),
            button('text-button', task.cancel, 'Cancel', { 'data-key': 'confirm cancel' }),
          )
        : null,
      isShown && !isRunning ? answerNodes(run, state.at) : null,
    );
  }

  look();
  return { act, node, set, destroy: task.stop };
}
