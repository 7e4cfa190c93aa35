/* SPDX-License-Identifier: Apache-2.0
 * empty_state.js: what is said where a page can draw nothing of what the URL names, and where something failed.
 * Its own file: all sentences of the frame about what is missing or failed. */

import { Problem, problemText } from './lib/api.js';
import { el, fill, name } from './lib/dom.js';
import { uploadAgain, uploaded } from './lib/uploads.js';
import { bytes, count, cutMiddle, visible, when } from './lib/format.js';
import { copyButton, fact, facts } from './widgets/details.js';
import { message } from './widgets/panel.js';
import { isDroppedSession } from './lib/route.js';
import { nameOf } from './pages.js';

/* Sessions that are offered in place of one that is not here. */
const NEAREST = 5;

/* "nothing to show · jit_f · Memory Viewer – memviewd" */
function nothingTitle(subject, row) {
  const parts = ['nothing to show', cutMiddle(visible(subject), 60), nameOf(row)];
  return `${parts.filter(Boolean).join(' · ')} – memviewd`;
}

/* Title and pane: what the session holds, if there is one, of which the page draws nothing. */
export function sayNothing(details, session, subject, row) {
  document.title = nothingTitle(subject, row);
  if (!session) return;
  const some = (total) => (total ? count(total) : null);
  details.show({
    heading: 'This session',
    parts: [
      el('p', { class: 'details-name' }, name(session.name), copyButton(session.name)),
      facts(
        fact('kind', session.kind),
        fact('hosts', some(session.host_count ?? session.hosts?.length)),
        fact('programs', some(session.module_count)),
        fact('device profiles', some(session.profile_count)),
        fact('in its files', session.size_bytes ? bytes(session.size_bytes) : null),
        fact('from', session.modified_at_ms ? when(session.modified_at_ms) : null),
      ),
    ],
  });
}

/* One message in place of the page. */
function showInstead(title, content) {
  fill(
    document.getElementById('main'),
    el('h1', { class: 'answer' }, title),
    el('div', { class: 'whole-page' }, message({ kind: 'error', title: '', ...content })),
  );
}

/* A banner over the page; without one, a message in its place. */
export function sayFailure(error, banners, hasPage) {
  if (!(error instanceof Problem)) console.error(error);
  if (error.code === 'gone') return;
  if (error.code === 'token') {
    banners.set('token', {
      text:
        'This daemon requires a token. Open the link that it printed at start, or append #token= and the token ' +
        'from its file to the address.',
      canClose: false,
    });
  }
  if (hasPage) banners.set('failed', { text: problemText(error) });
  else showInstead('Nothing to show.', { text: problemText(error) });
}

/* A part of the page that is loaded when it is needed did not come. */
export function watchParts(banners) {
  window.addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof TypeError) || !/import|module/i.test(event.reason.message)) return;
    event.preventDefault();
    banners.set('failed', {
      text: `A part of this page could not be loaded from ${location.host}. What you see stays.`,
    });
  });
}

/* The URL names files that were dropped, and the daemon holds them no more; or a session that is not here. sessions:
   the
 * newest of the list; linkTo(id): href of the same page of another one. */
export function sayLost(id, row, sessions, linkTo) {
  document.body.classList.add('is-plain');
  if (isDroppedSession(id)) {
    const { title, text } = uploadAgain(id, uploaded(id));
    document.title = nothingTitle('dropped, not stored', row);
    showInstead('Nothing to show.', { kind: 'empty', title, text });
    return;
  }
  const shown = cutMiddle(visible(id), 40);
  document.title = nothingTitle(shown, row);
  showInstead('Nothing to show.', {
    kind: 'empty',
    title: `Session ${shown} is not here.`,
    text: 'Its files were moved or deleted, or the link is of another daemon.',
  });
  const near = sessions.filter((session) => !row.lacks(session)).slice(0, NEAREST);
  if (near.length)
    document
      .querySelector('.whole-page')
      .append(
        el(
          'div',
          { class: 'message lost-near' },
          'Newest sessions with something to show here:',
          el(
            'ul',
            {},
            ...near.map(({ id: to, name: called, modified_at_ms: at }) =>
              el('li', {}, el('a', { href: linkTo(to) }, name(called)), ` ${when(at)}`),
            ),
          ),
        ),
      );
}

export function sayNoAnswer() {
  document.title = `no answer · ${location.host} – memviewd`;
  showInstead('No answer from the daemon.', {
    text: 'Start it again with the command that printed this address; the page then continues by itself.',
  });
}
