/* SPDX-License-Identifier: Apache-2.0
 * drop_zone.js: files and folders dropped anywhere on the page, a text pasted anywhere outside a field. */

import { el, isTyping } from '../lib/dom.js';

const MOST_FILES = 5000;
const MOST_DEPTH = 8;

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');

/* Files of a folder come in pieces, until a piece is empty. */
async function entriesOf(folder) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0 || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}

async function collect(entry, into, depth = 0) {
  if (entry.name.startsWith('.') || into.length >= MOST_FILES || depth > MOST_DEPTH) return;
  if (entry.isFile) {
    const blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
    into.push({ name: entry.fullPath.replace(/^\/+/, ''), blob });
    return;
  }
  for (const each of await entriesOf(entry)) await collect(each, into, depth + 1);
}

/* [{name: with its folders, blob}]. The event's own list is gone once it was handled: all is taken from it at once. */
async function filesOf({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return [...files].map((blob) => ({ name: blob.name, blob }));
  const all = [];
  for (const entry of entries.filter(Boolean)) await collect(entry, all);
  return all;
}

/* onFiles(promise of [{name, blob}]), onText(text). */
export function watchDrops({ onFiles, onText }) {
  const veil = el('div', { class: 'drop-veil', hidden: true, 'aria-hidden': 'true' }, el('p', {}, 'Let go to see what it is'));
  let depth = 0;
  const show = (isOver) => {
    veil.hidden = !isOver;
  };
  document.body.append(veil);
  document.addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    depth++;
    show(true);
  });
  document.addEventListener('dragleave', (event) => {
    if (hasFiles(event) && --depth <= 0) show(false);
  });
  document.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    depth = 0;
    show(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    onFiles(filesOf(event.dataTransfer));
  });
  document.addEventListener('paste', (event) => {
    if (event.defaultPrevented || isTyping(event.target)) return;
    const files = [...event.clipboardData.files].map((blob) => ({ name: blob.name, blob }));
    const text = event.clipboardData.getData('text/plain');
    if (files.length) onFiles(files);
    else if (text.trim()) onText(text);
    else return;
    event.preventDefault();
  });
}
