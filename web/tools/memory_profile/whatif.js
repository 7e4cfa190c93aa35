/* SPDX-License-Identifier: Apache-2.0
 * whatif.js: what other settings of PyTorch's allocator, or another program, would have made of this recording: each
 * change alone, those that are ticked together, and their curve for the timeline. Figures, sentences and refusals are
 * the daemon's; what is ticked stands in the URL. */

import { isAbort, Problem, problemText } from '../../lib/api.js';
import { button, el, fill, keepingFocus, loadStyle } from '../../lib/dom.js';
import { counted, visible } from '../../lib/format.js';
import { callLine, confidenceButton, landingFigure, savingFigure } from '../../widgets/fit_sets.js';
import { createPanel, message } from '../../widgets/panel.js';
import * as empty from './empty.js';
import { isReplayed } from './state.js';

/* Parts of the time in the curve. */
const WIDTH = 2048;
/* Of `opened`, beside the changes: the list of those that do not apply. */
const REFUSED = 'refused';
const HEADS = ['Change', 'Saves', 'Reserved', 'Failed request', 'How sure'];

export const toggled = (ticked, change) =>
  ticked.includes(change) ? ticked.filter((each) => each !== change) : [...ticked, change];

/* Two lines of the table: figures, then the line to write and, if it is open, the reason. data: of the change alone. */
function changeRows({ change, data }, at, { ticked, opened, onTick, hasRequest }) {
  const [row] = data.changes;
  const box = el('input', {
    type: 'checkbox',
    id: `replay-${at}`,
    'data-key': `tick ${change}`,
    on: { change: () => onTick(change) },
  });
  box.checked = ticked.includes(change);
  const why = `replay-why-${at}`;
  return [
    el(
      'tr',
      { class: box.checked ? 'is-ticked' : null },
      el(
        'th',
        { scope: 'row' },
        el(
          'label',
          {},
          box,
          el('span', {}, el('code', {}, visible(change)), el('span', { class: 'dim' }, visible(row.words))),
        ),
      ),
      el('td', { class: 'number' }, savingFigure(row)),
      el('td', { class: 'number' }, landingFigure(row)),
      hasRequest
        ? el('td', { class: data.failed_request?.is_placed ? 'whatif-fits' : 'dim' }, visible(data.request_word ?? ''))
        : null,
      el('td', {}, confidenceButton({ key: change, word: row.confidence, id: why, opened })),
    ),
    el(
      'tr',
      { class: 'whatif-more' },
      el(
        'td',
        { colspan: '5' },
        callLine(row.call),
        el('p', { class: 'dim', id: why, hidden: !opened.has(change) }, visible(row.reason)),
      ),
    ),
  ];
}

function listNodes({ alone, offered }, about) {
  const rows = alone.filter(({ data }) => data);
  const refused = alone.filter(({ data }) => !data);
  const heads = HEADS.filter((word) => about.hasRequest || word !== 'Failed request');
  const left = offered.length - alone.length;
  return [
    rows.length
      ? el(
          'table',
          { class: 'whatif-list' },
          el('caption', { class: 'hidden' }, 'Changes, each one alone, compared with the job as recorded'),
          el(
            'thead',
            {},
            el(
              'tr',
              {},
              heads.map((word, at) => el('th', { scope: 'col', class: at === 1 || at === 2 ? 'number' : null }, word)),
            ),
          ),
          el(
            'tbody',
            {},
            rows.map((row, at) => changeRows(row, at, about)),
          ),
        )
      : null,
    left > 0 ? el('p', { class: 'dim', role: 'status' }, `Replaying: ${counted(left, 'change')} to go.`) : null,
    refused.length
      ? el(
          'details',
          {
            class: 'folded',
            open: about.opened.has(REFUSED),
            on: { toggle: ({ target }) => about.opened[target.open ? 'add' : 'delete'](REFUSED) },
          },
          el(
            'summary',
            { 'data-key': REFUSED },
            `${counted(refused.length, 'change')} ${refused.length === 1 ? 'does' : 'do'} not apply`,
          ),
          el(
            'ul',
            {},
            refused.map(({ change, why }) => el('li', {}, el('code', {}, visible(change)), `: ${visible(why)}`)),
          ),
        )
      : null,
  ];
}

/* onCurve(curve | null): of what is ticked. Out: as any tab of the page, and hear() also while another tab is open. */
export function createProfileWhatif({ trace, url, onCurve }) {
  const panel = createPanel('panel-inner panel-replay', 'What if');
  const says = el('p', { class: 'whatif-answer' });
  const how = el('p', { class: 'dim' });
  const clear = button('text-button', () => url.choose({ whatif: [] }), 'Untick all');
  const list = el('div', { class: 'whatif-list-place' });
  panel.body.append(says, how, list);
  panel.setAside(clear);
  const styled = loadStyle('whatif.css');
  const state = { key: '', question: '', offered: [], alone: [], opened: new Set(), hasRequest: false, asked: null };
  const isShown = () => url.wanted.view === 'whatif';
  const ticked = () => [...new Set(url.route.whatif)];

  function draw() {
    const onTick = (change) => url.choose({ whatif: toggled(ticked(), change) });
    const { opened, hasRequest } = state;
    keepingFocus(list, () =>
      fill(list, listNodes(state, { ticked: ticked(), opened, hasRequest, onTick }).filter(Boolean)),
    );
    clear.hidden = ticked().length === 0;
  }

  /* Each change alone, one after the other: a replay takes its time. What was answered is kept. */
  async function askAlone() {
    const { key } = state;
    state.isAsking = true;
    try {
      while (state.key === key && isShown() && state.alone.length < state.offered.length) {
        const change = state.offered[state.alone.length];
        state.alone.push(await askOne(change));
        if (state.key === key) draw();
      }
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      panel.say(message(empty.failed('The replay', error)));
    } finally {
      state.isAsking = false;
    }
  }

  async function askOne(change) {
    try {
      return { change, data: (await trace.ask('whatif', { change: [change] })).data };
    } catch (error) {
      if (!(error instanceof Problem) || isAbort(error)) throw error;
      if (error.status !== 400) throw error; // busy, or not to be had now: another time it may be
      return { change, why: problemText(error) };
    }
  }

  /* Those that are ticked, together. */
  async function askTogether() {
    state.asked?.abort();
    const { signal } = (state.asked = new AbortController());
    const end = panel.wait('', null);
    try {
      const [{ data }] = await Promise.all([trace.ask('whatif', { change: ticked(), width: WIDTH }, signal), styled]);
      if (signal.aborted) return;
      panel.show();
      fill(says, visible(data.sentence));
      fill(how, data.replay ? visible(data.replay.sentence) : '');
      Object.assign(state, { offered: data.offered ?? [], hasRequest: Boolean(data.request_word) });
      onCurve(data.changes.length ? data.curve : null);
      draw();
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      onCurve(null);
      panel.say(message(empty.failed('The replay', error)));
    } finally {
      end();
    }
  }

  async function hear() {
    if (!isReplayed(trace.pool)) return;
    const own = ticked();
    if (!isShown() && own.length === 0) {
      if (state.question) onCurve(null);
      state.question = '';
      return;
    }
    if (state.key !== trace.key) Object.assign(state, { key: trace.key, alone: [], offered: [], question: '' });
    const question = JSON.stringify([trace.key, own]);
    if (question !== state.question) {
      state.question = question;
      await askTogether();
    }
    if (isShown() && !state.isAsking) await askAlone();
  }

  return {
    panel,
    load: hear,
    hear,
    setPinned: () => {},
    beside: () => null,
    focusFilter: () => list.querySelector('input')?.focus(),
    destroy: () => state.asked?.abort(),
  };
}
