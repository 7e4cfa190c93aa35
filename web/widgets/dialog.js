/* SPDX-License-Identifier: Apache-2.0
 * dialog.js: a box above the page. The browser keeps focus inside, Esc and a click beside it close
 * it, and focus returns to what opened it. One at a time. */

import { button, el } from '../lib/dom.js';

let open = null;

/* content(close) → nodes. Out: {node, close}; onClose() once. */
export function openDialog({ title, className = '', content, onClose = () => {} }) {
  open?.close();
  const opener = document.activeElement;
  const node = el('dialog', { class: `dialog ${className}`.trim(), 'aria-label': title });
  const close = () => node.close();
  node.append(...[content(close)].flat());
  node.addEventListener('close', () => {
    node.remove();
    if (open?.node === node) open = null; // told late: the next one may be open
    if (opener?.isConnected) opener.focus();
    onClose();
  });
  /* The padding belongs to the children, so that the box itself is only hit beside them. */
  node.addEventListener('pointerdown', (event) => {
    if (event.target === node) close();
  });
  document.body.append(node);
  node.showModal();
  open = { node, close };
  return open;
}

/* Title and × of a dialog that is read, not typed into. */
export function dialogHead(title, close) {
  return el(
    'header',
    { class: 'dialog-head' },
    el('h2', {}, title),
    button('icon-button', close, '×', { 'aria-label': 'Close' }),
  );
}
