/* SPDX-License-Identifier: Apache-2.0
 * selector.js: a searchable choice (combobox with a listbox). Each option carries its
 * figure. With one option there is nothing to choose: plain text. */

import { el, fill, name } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { isAbort } from '../lib/api.js';

const ASK_AFTER_MS = 120;
let serial = 0;

/* In: title ("module"), load(filter, signal) → {options: [{id, label, figure, isOver}], matched},
 * onChoose(id). Out: {node, set({id, label, count})}. */
export function createSelector({ title, load, onChoose }) {
  const id = `selector-${++serial}`;
  const node = el('div', { class: 'selector' });
  let current = { id: '', label: '', count: 0 };
  let popup = null;

  const close = (isFocusBack) => {
    if (!popup) return;
    popup.destroy();
    popup = null;
    button.setAttribute('aria-expanded', 'false');
    if (isFocusBack) button.focus();
  };
  const open = () => {
    if (popup) {
      close(true);
      return;
    }
    button.setAttribute('aria-expanded', 'true');
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
      keydown: (event) => {
        if (event.key === 'ArrowDown' && !popup) {
          event.preventDefault();
          open();
        }
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

function createPopup({ id, title, load, current, choose, close }) {
  const input = el('input', {
    type: 'text',
    class: 'selector-input',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': `${id}-list`,
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-label': `Find a ${title}`,
    placeholder: `Find a ${title}`,
  });
  const list = el('ul', { id: `${id}-list`, role: 'listbox', class: 'selector-list', 'aria-label': title });
  const foot = el('p', { class: 'selector-foot', role: 'status' });
  const node = el('div', { class: 'selector-popup' }, input, list, foot);
  let options = [];
  let active = -1;
  let asked = null;
  let timer = 0;

  const activate = (at) => {
    list.children[active]?.classList.remove('is-active');
    active = options.length ? (at + options.length) % options.length : -1;
    const row = list.children[active];
    row?.classList.add('is-active');
    row?.scrollIntoView({ block: 'nearest' });
    if (row) input.setAttribute('aria-activedescendant', row.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const show = (answer) => {
    options = answer.options;
    fill(
      list,
      options.map((option, at) =>
        el(
          'li',
          {
            id: `${id}-${at}`,
            role: 'option',
            class: 'selector-option',
            'aria-selected': String(option.id === current.id),
            on: {
              click: () => choose(option),
              pointermove: () => {
                if (active !== at) activate(at);
              },
            },
          },
          name(option.label),
          el('span', { class: 'selector-figure' }, option.figure ?? ''),
        ),
      ),
    );
    const rest = answer.matched - options.length;
    fill(
      foot,
      options.length === 0
        ? `No ${title} matches. Clear the field to see all.`
        : rest > 0
          ? `${count(options.length)} of ${count(answer.matched)}; type to narrow.`
          : '',
    );
    foot.hidden = foot.textContent === '';
    activate(
      Math.max(
        0,
        options.findIndex((option) => option.id === current.id),
      ),
    );
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      show(await load(input.value.trim(), asked.signal));
    } catch (error) {
      if (isAbort(error)) return;
      fill(foot, error.message);
      foot.hidden = false;
    }
  };
  const onKey = (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 11, PageUp: -11 };
    if (event.key in moves) activate(Math.max(-1, active + moves[event.key]));
    else if (event.key === 'Enter' && options[active]) choose(options[active]);
    else if (event.key === 'Escape') close(true);
    else if (event.key === 'Tab') {
      close(false);
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const outside = (event) => {
    if (!node.parentElement?.contains(event.target)) close(false);
  };
  input.addEventListener('keydown', onKey);
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, ASK_AFTER_MS);
  });
  document.addEventListener('pointerdown', outside, true);

  return {
    node,
    start() {
      input.focus();
      ask();
    },
    destroy() {
      clearTimeout(timer);
      asked?.abort();
      document.removeEventListener('pointerdown', outside, true);
      node.remove();
    },
  };
}
