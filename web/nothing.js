/* SPDX-License-Identifier: Apache-2.0
 * nothing.js: title and pane of a page that can draw nothing of what the URL names. */

import { el, name } from './lib/dom.js';
import { bytes, count, cutMiddle, visible, when } from './lib/format.js';
import { copyButton, fact, facts } from './widgets/details.js';
import { nameOf } from './pages.js';

/* "nothing to show · jit_f · Memory Viewer – memviewd" */
export function nothingTitle(subject, row) {
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
