/* SPDX-License-Identifier: Apache-2.0
 * menu.js: the ⋯ button that every panel has (WAI-ARIA menu button). Its entries are commands of
 * the palette as well.
 *
 * An entry: {word, run, why, isOn, key}. `why` dims it and says the reason; `isOn` true or false
 * makes it a switch; `key` is shown beside it. Entries may be a function, asked at each opening;
 * null entries are left out. What opens is loaded when it is first asked for. */

import { el } from '../lib/dom.js';
import { lazy } from '../lib/lazy.js';

const entriesOf = new WeakMap();
let serial = 0;

/* Every entry of every menu in the document: [{title, word, run, why, …}]. */
export function menuCommands() {
  return [...document.querySelectorAll('[data-menu]')]
    .filter((node) => node.checkVisibility?.() ?? true)
    .flatMap((node) => {
      const { title, list } = entriesOf.get(node);
      return list().map((entry) => ({ ...entry, title: title() }));
    });
}

/* In: title ("Memory over program order", or a function), entries. Out: the node: a button and its menu. */
export function createMenu(title, entries) {
  const id = `menu-${++serial}`;
  const titleOf = () => (typeof title === 'function' ? title() : title);
  const list = () => (typeof entries === 'function' ? entries() : entries).filter(Boolean);
  const button = el(
    'button',
    { type: 'button', class: 'icon-button menu-dots', 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
    '⋯',
  );
  const node = el('div', { class: 'menu', 'data-menu': '' }, button);
  entriesOf.set(node, { title: titleOf, list });
  const popup = lazy(
    () => import('./menu_popup.js'),
    ({ createPopup }) => createPopup({ id, node, button, titleOf, list }),
  );
  let isAwaited = false; // opening: what is pressed meanwhile is for the menu, unless the reader went elsewhere
  const leave = ({ target }) => {
    if (!node.contains(target)) isAwaited = false;
  };
  const watch = (how) => {
    for (const type of ['pointerdown', 'focusin']) document[how](type, leave, true);
  };
  const open = (at) => {
    isAwaited = true;
    watch('addEventListener');
    Promise.resolve(popup.with((it) => isAwaited && it.open(at))).finally(() => {
      isAwaited = false;
      watch('removeEventListener');
    });
  };
  const soon = () => {
    button.setAttribute('aria-label', `More: ${titleOf()}`);
    popup.warm();
  };
  button.addEventListener('pointerenter', soon);
  button.addEventListener('focus', soon);
  button.setAttribute('aria-label', `More: ${titleOf()}`);
  button.addEventListener('click', () => {
    if (popup.now?.isOpen) popup.now.close(true);
    else if (!isAwaited) open(0);
  });
  node.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isAwaited && event.key !== 'Tab') popup.with((it) => it.isOpen && it.onKey(event.key));
    else if (popup.now?.isOpen) {
      if (!popup.now.onKey(event.key)) return;
    } else if (['ArrowDown', 'ArrowUp'].includes(event.key)) open(event.key === 'ArrowDown' ? 0 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return node;
}
