/* SPDX-License-Identifier: Apache-2.0
 * menu.js: the ⋯ button that every panel has (WAI-ARIA menu button). Its entries are commands of
 * the palette as well.
 *
 * An entry: {word, run, why, isOn, key}. `why` dims it and says the reason; `isOn` true or false
 * makes it a switch; `key` is shown beside it. Entries may be a function, asked at each opening; null ones
 * are left out, and lists or promises of more may stand among them. What opens is loaded when it is first asked for. */

import { begin } from '../lib/activity.js';
import { el } from '../lib/dom.js';
import { lazy } from '../lib/lazy.js';

const entriesOf = new WeakMap();
let serial = 0;

/* Every entry of every menu in the document: [{title, word, run, why, …}]; without those of a menu that cannot be
 * loaded, which says so itself when it is opened. */
export async function menuCommands() {
  const nodes = [...document.querySelectorAll('[data-menu]')].filter((node) => node.checkVisibility?.() ?? true);
  const lists = nodes.map(async (node) => {
    const { title, list } = entriesOf.get(node);
    const entries = await list().catch(() => []);
    return entries.map((entry) => ({ ...entry, title: title() }));
  });
  return (await Promise.all(lists)).flat();
}

/* In: title ("Memory over program order", or a function), entries. Out: the node: a button and its menu. */
export function createMenu(title, entries) {
  const id = `menu-${++serial}`;
  const titleOf = () => (typeof title === 'function' ? title() : title);
  const list = async () => {
    const given = await (typeof entries === 'function' ? entries() : entries);
    return (await Promise.all(given)).flat().filter(Boolean);
  };
  const button = el(
    'button',
    { type: 'button', class: 'icon-button menu-dots', 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
    '⋯',
  );
  const node = el('div', { class: 'menu', 'data-menu': '' }, button);
  entriesOf.set(node, { title: titleOf, list });
  const popup = lazy(
    () => import('./menu_popup.js'),
    ({ createPopup }) => createPopup({ id, node, button, titleOf }),
  );
  let isAwaited = false; // opening: what is pressed meanwhile is for the menu, unless the reader went elsewhere
  let opening = null;
  const leave = ({ target }) => {
    if (!node.contains(target)) isAwaited = false;
  };
  const watch = (how) => {
    for (const type of ['pointerdown', 'focusin']) document[how](type, leave, true);
  };
  const open = (at) => {
    const end = begin();
    isAwaited = true;
    watch('addEventListener');
    opening = Promise.all([popup.with((it) => it), list()])
      .then(([it, rows]) => isAwaited && it.open(at, rows))
      .finally(() => {
        isAwaited = false;
        watch('removeEventListener');
        end();
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
    if (isAwaited && event.key !== 'Tab') opening.then(() => popup.now.isOpen && popup.now.onKey(event.key));
    else if (popup.now?.isOpen) {
      if (!popup.now.onKey(event.key)) return;
    } else if (['ArrowDown', 'ArrowUp'].includes(event.key)) open(event.key === 'ArrowDown' ? 0 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return node;
}
