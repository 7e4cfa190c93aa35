/* SPDX-License-Identifier: Apache-2.0
 * dropped.js: what this tab knows of files and texts that were dropped or pasted: their name and size,
 * of a text up to 1 MiB the text itself. sessionStorage: gone with the tab, in no link. */

import { bytes, cutMiddle, visible } from './format.js';
import { isDroppedSession } from './route.js';

const MAX_TEXT = 1 << 20;
const keyOf = (id) => `memviewd.dropped.${id}`;

/* id: the `local` of the URL. */
export function keepDropped(id, { name, size_bytes, text = null, is_forgotten = false }) {
  const kept = { name, size_bytes, text: text !== null && text.length <= MAX_TEXT ? text : null, is_forgotten };
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
export function forgotten(id) {
  const known = dropped(id);
  if (known) keepDropped(id, { ...known, is_forgotten: true });
}

/* The ids of files that this tab dropped and that are opened like a session; not those that are forgotten. */
export function droppedSessions() {
  try {
    const ids = Object.keys(sessionStorage).map((key) => (key.startsWith(keyOf('')) ? key.slice(keyOf('').length) : ''));
    return ids.filter((id) => isDroppedSession(id) && !dropped(id)?.is_forgotten);
  } catch {
    return [];
  }
}

/* {name, size_bytes, text or null}; null if this tab never saw it. */
export function dropped(id) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(id)));
  } catch {
    return null;
  }
}

/* The daemon keeps what is dropped in its memory only. known: of lib/dropped.js, or null. */
export function dropAgain(sha, known = null) {
  const file = known ? `${cutMiddle(visible(known.name), 60)}, ${bytes(known.size_bytes)}, ` : '';
  return {
    title: 'This link shows a file that was dropped, not stored:',
    text: `${file}sha256 ${visible(sha).slice(0, 12)}…. Drop it again to see the same view.`,
  };
}
