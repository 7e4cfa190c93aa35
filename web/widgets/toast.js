/* SPDX-License-Identifier: Apache-2.0
 * toast.js: a word that something was copied, or one sentence why a key does nothing here. */

import { el, fill } from '../lib/dom.js';

const SHOWN_MS = 1600;
const READ_MS = 60; /* a letter, at leisure */
const node = el('p', { class: 'toast', role: 'status' });
let timer = 0;

export function toast(word) {
  if (!node.isConnected) document.body.append(node);
  fill(node, word);
  clearTimeout(timer);
  timer = setTimeout(() => fill(node), Math.max(SHOWN_MS, READ_MS * word.length));
}

/* Where the page is not served from localhost or by TLS, browsers have the old way only. */
function copyByField(text) {
  const field = el('textarea', { class: 'hidden', readonly: true });
  const opener = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  opener?.focus?.();
  return isCopied;
}

/* Text to the clipboard, and the word that it is there. */
export async function copyText(text, what = 'Copied') {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else if (!copyByField(text)) throw new Error('refused');
    toast(what);
  } catch {
    toast('Copying is not allowed here');
  }
}

/* A promise of a PNG to the clipboard, and the word that it is there. */
export async function copyPicture(png) {
  try {
    await navigator.clipboard.write([new globalThis.ClipboardItem({ 'image/png': png })]);
    toast('Picture copied');
  } catch {
    toast('Copying is not allowed here');
  }
}
