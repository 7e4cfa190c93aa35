/* SPDX-License-Identifier: Apache-2.0
 * uploads.js: files and texts that were dropped or pasted: the daemon keeps them in memory, this tab their name and
 * size, of a text up to 1 MiB the text itself. sessionStorage: gone with the tab, in no link; never on disk. */

import { post } from './api.js';
import { bytes, cutMiddle, visible } from './format.js';
import { isDroppedSession } from './route.js';

/* Where the daemon takes files, below api/v1/. */
export const UPLOADS = 'uploads';

const MAX_TEXT = 1 << 20;
const keyOf = (id) => `memviewd.dropped.${id}`;

/* id: the `local` of the URL. */
export function keepUpload(id, { name, size_bytes, text = null, is_forgotten = false }) {
  const kept = { name, size_bytes, text: text != null && text.length <= MAX_TEXT ? text : null, is_forgotten };
  for (const each of [kept, { ...kept, text: null }]) {
    try {
      sessionStorage.setItem(keyOf(id), JSON.stringify(each));
      return;
    } catch {
      /* full: without the text it may fit */
    }
  }
}

/* The daemon holds it no more: its name stays known, for when it is asked for again. */
export function forgetUpload(id) {
  const known = uploaded(id);
  if (known) keepUpload(id, { ...known, is_forgotten: true });
}

/* The ids of files that this tab dropped and that are opened like a session; not those that are forgotten. */
export function uploadedSessions() {
  try {
    const ids = Object.keys(sessionStorage).map((key) =>
      key.startsWith(keyOf('')) ? key.slice(keyOf('').length) : '',
    );
    return ids.filter((id) => isDroppedSession(id) && !uploaded(id)?.is_forgotten);
  } catch {
    return [];
  }
}

/* {name, size_bytes, text or null}; null if this tab never saw it. */
export function uploaded(id) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(id)));
  } catch {
    return null;
  }
}

/* The daemon keeps what is dropped in its memory only. known: of uploaded(), or null. */
export function uploadAgain(sha, known = null) {
  const file = known ? `${cutMiddle(visible(known.name), 60)}, ${bytes(known.size_bytes)}, ` : '';
  return {
    title: 'This link shows a file that was dropped, not stored:',
    text: `${file}sha256 ${visible(sha).slice(0, 12)}…. Drop it again to see the same view.`,
  };
}

/* Text or Blob → the answer of api/v1/oom, whose `local` names it from then on. */
export async function uploadText(source, signal = null) {
  const isText = typeof source === 'string';
  const answer = await post('oom', source, 'text/plain; charset=utf-8', {}, { signal });
  const text = isText ? source : source.size <= MAX_TEXT ? await source.text() : null;
  keepUpload(answer.local, { name: source.name ?? 'pasted text', size_bytes: answer.size_bytes, text });
  return answer;
}

/* The text of that name, if this tab still has it. */
export const keptText = (id) => uploaded(id)?.text ?? null;

/* "train.log", "pasted text"; what another tab uploaded has no name here. */
export const uploadedName = (id) => uploaded(id)?.name ?? 'given text';
