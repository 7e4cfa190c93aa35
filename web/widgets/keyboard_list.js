/* SPDX-License-Identifier: Apache-2.0
 * keyboard_list.js: the focusable, visually hidden list beside a canvas, for keyboard and
 * screen reader. At most 200 options stand in the document, around the active one. */

import { el, fill } from '../lib/dom.js';

const LOADED = 200;
const PAGE = 10;
let serial = 0;

/* What a list and a tree (icicle_tree.js) have in common. In: role; isEmpty(); rowsOf(idOf, active, pinned) → what
   stands
 * in the document; next(key, isShift, active) → the one to go to, or undefined; onMove(at), onEnter(at), onLeave().
 * Out: {node, active, pinned: -1 is none, draw(), hasFocus, setLabel(text), setPinned(at)}. */
export function createKeyboard({ role, label = null, isEmpty, rowsOf, next, onMove, onEnter, onLeave }) {
  const id = `keyboard-${++serial}`;
  const node = el('ul', { id, class: 'hidden', role, tabindex: '0', 'aria-label': label });
  const idOf = (at) => `${id}-${at}`;
  const keyboard = {
    node,
    active: -1,
    pinned: -1,
    draw() {
      fill(node, isEmpty() ? [] : rowsOf(idOf, keyboard.active, keyboard.pinned));
      if (keyboard.active >= 0 && !isEmpty()) node.setAttribute('aria-activedescendant', idOf(keyboard.active));
      else node.removeAttribute('aria-activedescendant');
    },
    get hasFocus() {
      return document.activeElement === node;
    },
    setLabel: (text) => node.setAttribute('aria-label', text),
    setPinned(at) {
      if (at === keyboard.pinned) return;
      keyboard.pinned = at;
      keyboard.draw();
    },
  };
  const move = (to) => {
    keyboard.active = to;
    keyboard.draw();
    onMove(to);
  };
  node.addEventListener('keydown', (event) => {
    if (isEmpty() || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = next(event.key, event.shiftKey, keyboard.active);
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' && keyboard.active >= 0) onEnter(keyboard.active);
    else return;
    event.preventDefault();
    if (role === 'tree') event.stopPropagation();
  });
  node.addEventListener('focus', () => {
    if (!isEmpty()) move(keyboard.active < 0 ? Math.max(0, keyboard.pinned) : keyboard.active);
  });
  node.addEventListener('blur', onLeave);
  return keyboard;
}

/* onMove(at), onEnter(at), onLeave(); sentence(item) names an option. */
export function createKeyboardList({ label, sentence, ...actions }) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  let items = [];
  const next = (key, isShift, active) => {
    const moves = { Home: 0, End: items.length - 1 };
    if (key in steps) moves[key] = active < 0 ? 0 : active + steps[key] * (isShift ? PAGE : 1);
    return key in moves ? Math.max(0, Math.min(items.length - 1, moves[key])) : undefined;
  };
  const rowsOf = (idOf, active, pinned) => {
    const from = Math.max(0, Math.min(items.length - LOADED, active - LOADED / 2));
    return items.slice(from, from + LOADED).map((item, index) => {
      const at = from + index;
      const place = { 'aria-setsize': item.setSize ?? items.length, 'aria-posinset': item.position ?? at + 1 };
      return el(
        'li',
        { id: idOf(at), role: 'option', 'aria-selected': String(at === pinned), ...place },
        sentence(item),
      );
    });
  };
  const keyboard = createKeyboard({
    role: 'listbox',
    label,
    isEmpty: () => items.length === 0,
    rowsOf,
    next,
    ...actions,
  });
  return Object.assign(keyboard, {
    setItems(list) {
      items = list;
      keyboard.active = -1;
      keyboard.draw();
    },
  });
}
