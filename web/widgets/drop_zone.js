/* SPDX-License-Identifier: Apache-2.0
 * drop_zone.js: a file dropped anywhere on the page, a text pasted anywhere outside a field. */

import { el, isTyping } from '../lib/dom.js';

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');

/* onFile(File), onText(text). */
export function watchDrops({ onFile, onText }) {
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
    for (const file of event.dataTransfer.files) onFile(file);
  });
  document.addEventListener('paste', (event) => {
    if (event.defaultPrevented || isTyping(event.target)) return;
    const [file] = event.clipboardData.files;
    const text = event.clipboardData.getData('text/plain');
    if (file) onFile(file);
    else if (text.trim()) onText(text);
    else return;
    event.preventDefault();
  });
}
