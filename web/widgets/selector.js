/* SPDX-License-Identifier: Apache-2.0
 * selector.js: a searchable choice (combobox with a listbox). Each option carries its
 * figure. With one option there is nothing to choose: plain text. What opens is loaded when it first does. */

import { el, fill, name } from '../lib/dom.js';
import { lazy } from '../lib/lazy.js';

const parts = lazy(() => import('./selector_popup.js'));
let serial = 0;

/* In: title ("module"), load(filter, signal) → {options: [{id, label, figure, isOver}], matched},
 * onChoose(id). Out: {node, set({id, label, count})}. */
export function createSelector({ title, load, onChoose }) {
  const id = `selector-${++serial}`;
  const node = el('div', { class: 'selector' });
  let current = { id: '', label: '', count: 0 };
  let popup = null;
  let awaited = null; // keys pressed while what opens is loaded

  const close = (isFocusBack) => {
    if (!popup) return;
    popup.destroy();
    popup = null;
    button.setAttribute('aria-expanded', 'false');
    if (isFocusBack) button.focus();
  };
  const open = () => {
    if (awaited) return;
    if (popup) {
      close(true);
      return;
    }
    button.setAttribute('aria-expanded', 'true');
    awaited = [];
    Promise.resolve(parts.with((it) => button.isConnected && show(it.createPopup))).finally(() => {
      const keys = awaited ?? [];
      awaited = null;
      keys.forEach(type);
    });
  };
  /* What was pressed before the field was there. */
  const type = (key) => {
    const input = popup?.node.querySelector('input');
    if (input && key.length === 1) {
      input.value += key;
      input.dispatchEvent(new Event('input'));
    } else input?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
  const show = (createPopup) => {
    popup = createPopup({
      id,
      title,
      load,
      current,
      choose: (option) => {
        close(true);
        if (option.id !== current.id) onChoose(option.id);
      },
      close,
    });
    node.append(popup.node);
    popup.start();
  };
  const button = el('button', {
    type: 'button',
    class: 'selector-button',
    'aria-haspopup': 'listbox',
    'aria-expanded': 'false',
    on: {
      click: open,
      pointerenter: parts.warm,
      focus: parts.warm,
      keydown: (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (awaited) awaited.push(event.key);
        else if (event.key === 'ArrowDown' && !popup) open();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
  });

  return {
    node,
    set(next) {
      current = next;
      close(false);
      if (next.count <= 1) {
        fill(
          node,
          el(
            'span',
            { class: 'selector-plain' },
            el('span', { class: 'hidden' }, `${title}: `),
            name(next.label),
          ),
        );
        return;
      }
      fill(
        button,
        el('span', { class: 'hidden' }, `${title}: `),
        name(next.label),
        el('span', { class: 'selector-mark', 'aria-hidden': 'true' }, '▾'),
      );
      if (button.parentNode !== node) fill(node, button);
    },
  };
}
