/* SPDX-License-Identifier: Apache-2.0
 * subject.js: what is shown now, for captions, file names and links that leave the page. */

import { baseName, visible } from './format.js';
import { setting } from './settings.js';

let subject = () => ({ session: '', module: '', space: '', file: '', link: '', reference: '' });

/* The frame says it: {session, module, space, file, link, reference}, each a text; the link names the session, so
 * that it still shows the same when there is a newer one. reference: see reference.js; "" where no program is shown. */
export function setSubject(next) {
  subject = next;
}

/* What is shown, as a side of a comparison. */
export const referenceNow = () => subject().reference ?? '';

/* Did the reader choose to leave source paths out of what leaves the page? */
export const isWithoutPaths = () => setting('paths') === 'without';

/* The address of this state; a filter may name a source line. */
export function linkHere() {
  const { link } = subject();
  if (!isWithoutPaths() || !link) return link;
  const url = new URL(link);
  url.searchParams.delete('filter');
  return url.href;
}

/* "session · module · HBM · file · 2025-11-21 12:02" */
export function factsLine(nowMs = Date.now()) {
  const { session, module, space, file } = subject();
  const date = new Date(nowMs - new Date(nowMs).getTimezoneOffset() * 60000).toISOString();
  const base = isWithoutPaths() ? '' : baseName(file);
  return [session, module, space, base, date.slice(0, 16).replace('T', ' ')].filter(Boolean).map(visible).join(' · ');
}

/* "memviewd-jit_train_step-curve.png": what is no plain character becomes a dash. */
export function fileName(name, ending) {
  const { session, module } = subject();
  const words = ['memviewd', module || session, name].filter(Boolean).join('-');
  return `${words.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 120)}.${ending}`;
}
