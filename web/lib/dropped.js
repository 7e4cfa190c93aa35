/* SPDX-License-Identifier: Apache-2.0
 * dropped.js: what this tab knows of files and texts that were dropped or pasted: their name and size,
 * of a text up to 1 MiB the text itself. sessionStorage: gone with the tab, in no link. */

const MOST_TEXT = 1 << 20;
const keyOf = (id) => `memviewd.dropped.${id}`;

/* id: the `local` of the URL. */
export function keepDropped(id, { name, size_bytes, text = null }) {
  const kept = { name, size_bytes, text: text !== null && text.length <= MOST_TEXT ? text : null };
  for (const each of [kept, { ...kept, text: null }]) {
    try {
      sessionStorage.setItem(keyOf(id), JSON.stringify(each));
      return;
    } catch {
      /* full: without the text it may fit */
    }
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
