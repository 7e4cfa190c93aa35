/* SPDX-License-Identifier: Apache-2.0
 * keyboard_list.js: the focusable, visually hidden list beside a canvas, for keyboard and
 * screen reader. At most 200 options stand in the document, around the active one. */

import { el, fill } from '../lib/dom.js';

const LOADED = 200;
const PAGE = 10;
let serial = 0;

/* onMove(at), onEnter(at), onLeave(); sentence(item) names an option. */
export function createKeyboardList({ label, sentence, onMove, onEnter, onLeave }) {
  const id = `keyboard-list-${++serial}`;
  const list = el('ul', { id, class: 'hidden', role: 'listbox', tabindex: '0', 'aria-label': label });
  let items = [];
  let active = -1;
  let pinned = -1;

  const draw = () => {
    const from = Math.max(0, Math.min(items.length - LOADED, active - LOADED / 2));
    fill(
      list,
      items.slice(from, from + LOADED).map((item, at) =>
        el(
          'li',
          {
            id: `${id}-${from + at}`,
            role: 'option',
            'aria-selected': String(from + at === pinned),
            'aria-setsize': item.setSize ?? items.length,
            'aria-posinset': item.position ?? from + at + 1,
          },
          sentence(item),
        ),
      ),
    );
    if (active >= 0) list.setAttribute('aria-activedescendant', `${id}-${active}`);
    else list.removeAttribute('aria-activedescendant');
  };
  const move = (to) => {
    active = Math.max(0, Math.min(items.length - 1, to));
    draw();
    onMove(active);
  };
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  list.addEventListener('keydown', (event) => {
    if (items.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) move(active < 0 ? 0 : active + steps[event.key] * (event.shiftKey ? PAGE : 1));
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(items.length - 1);
    else if (event.key === 'Enter' && active >= 0) onEnter(active);
    else return;
    event.preventDefault();
  });
  list.addEventListener('focus', () => {
    if (items.length) move(active < 0 ? Math.max(0, pinned) : active);
  });
  list.addEventListener('blur', onLeave);
  return {
    node: list,
    setLabel(text) {
      list.setAttribute('aria-label', text);
    },
    setItems(next) {
      items = next;
      active = -1;
      draw();
    },
    setPinned(at) {
      if (at !== pinned) {
        pinned = at;
        draw();
      }
    },
    get hasFocus() {
      return document.activeElement === list;
    },
  };
}
