/* SPDX-License-Identifier: Apache-2.0
 * drop_zone.js: files and folders dropped anywhere on the page, a text pasted anywhere outside a field.
 * Its own file: needed at start; open_files.js, which reads what is dropped, is loaded when something is. */

import { el, isTyping } from '../lib/dom.js';

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');

/* The event's own list is gone once it was handled: all is taken from it at once. */
function givenBy({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.some((entry) => entry.isDirectory)) return { entries };
  return { files: [...files].map((blob) => ({ name: blob.name, blob })) };
}

/* onFiles({files: [{name, blob}]} or {entries: of the file system, folders among them}), onText(text). */
export function watchDrops({ onFiles, onText }) {
  const veil = el('div', { class: 'drop-veil', hidden: true, 'aria-hidden': 'true' }, el('p', {}, 'Drop to open'));
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
    onFiles(givenBy(event.dataTransfer));
  });
  document.addEventListener('paste', (event) => {
    if (event.defaultPrevented || isTyping(event.target)) return;
    const { files } = event.clipboardData;
    const text = event.clipboardData.getData('text/plain');
    if (files.length) onFiles({ files: [...files].map((blob) => ({ name: blob.name, blob })) });
    else if (text.trim()) onText(text);
    else return;
    event.preventDefault();
  });
}
