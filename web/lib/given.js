/* SPDX-License-Identifier: Apache-2.0
 * given.js: an error text that the reader gave: sent to the daemon, which keeps it in memory, and kept in
 * this tab, so that a reload finds it again. Never in the URL, never on disk. */

import { post } from './api.js';
import { dropped, keepDropped } from './dropped.js';

const MAX_READ = 1 << 20;

/* Text or Blob → the answer of api/v1/oom, whose `local` names it from then on. */
export async function giveText(given, signal = null) {
  const isText = typeof given === 'string';
  const answer = await post('oom', given, 'text/plain; charset=utf-8', {}, { signal });
  const text = isText ? given : given.size <= MAX_READ ? await given.text() : null;
  keepDropped(answer.local, { name: given.name ?? 'pasted text', size_bytes: answer.size_bytes, text });
  return answer;
}

/* The text of that name, if this tab still has it. */
export const keptText = (id) => dropped(id)?.text ?? null;

/* "train.log", "pasted text"; what another tab gave has no name here. */
export const givenName = (id) => dropped(id)?.name ?? 'given text';
