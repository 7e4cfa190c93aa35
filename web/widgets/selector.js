/* SPDX-License-Identifier: Apache-2.0
 * selector.js: a searchable choice (combobox with a listbox). Each option carries its
 * figure. With one option there is nothing to choose: plain text. */

import { later } from '../lib/activity.js';
import { isAbort } from '../lib/api.js';
import { consume, el, fill, name } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { comboField, createListbox } from './listbox.js';

const ASK_AFTER_MS = 120;
let serial = 0;

/* What opens below a selector: a field and the options that it finds. current: what holds now; choose(option),
   close(isFocusBack). Out: {node, start(), destroy()}. */
function createPopup({ id, title, load, current, choose, close }) {
  const input = comboField({
    'aria-expanded': 'true',
    'aria-controls': `${id}-list`,
    class: 'selector-input',
    placeholder: `Find a ${title}`,
  });
  const list = createListbox({
    id,
    input,
    label: title,
    className: 'selector-list',
    isChosen: (option) => option.id === current.id,
    onTake: (option) => choose(option),
  });
  const foot = el('p', { class: 'selector-foot', role: 'status' });
  const node = el('div', { class: 'selector-popup' }, input, list.node, foot);
  let asked = null;
  let takeBack = null;
  let isSettled = false; // the options are those of what is typed
  let isTaken = false; // Enter was pressed before they came

  const show = ({ options, matched }) => {
    list.show(options);
    isSettled = true;
    const rest = matched - options.length;
    fill(
      foot,
      options.length === 0
        ? `No ${title} matches. Clear the field to see all.`
        : rest > 0
          ? `${count(options.length)} of ${count(matched)}; type to narrow.`
          : '',
    );
    foot.hidden = foot.textContent === '';
    list.activateRound(
      Math.max(
        0,
        options.findIndex((option) => option.id === current.id),
      ),
    );
    if (isTaken) take();
    isTaken = false;
  };
  const take = () => {
    if (!isSettled) isTaken = true;
    else if (list.options[list.active]) choose(list.options[list.active]);
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      show(await load(input.value.trim(), asked.signal));
    } catch (error) {
      if (isAbort(error)) return;
      isTaken = false;
      fill(foot, error.message);
      foot.hidden = false;
    }
  };
  const onKey = (event) => {
    isTaken = false;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 11, PageUp: -11 };
    if (event.key in moves) list.activateRound(Math.max(-1, list.active + moves[event.key]));
    else if (event.key === 'Enter') take();
    else if (event.key === 'Escape') close(true);
    else if (event.key === 'Tab') {
      close(false);
      return;
    } else return;
    consume(event);
  };
  const outside = (event) => {
    if (!node.parentElement?.contains(event.target)) close(false);
  };
  input.addEventListener('keydown', onKey);
  input.addEventListener('input', () => {
    takeBack?.();
    isSettled = false;
    takeBack = later(ask, ASK_AFTER_MS);
  });
  document.addEventListener('pointerdown', outside, true);

  return {
    node,
    start() {
      /* To the left where there is no room at the right: nothing scrolls for it. */
      const edge = node.closest('main')?.getBoundingClientRect().right ?? window.innerWidth;
      node.classList.toggle('is-right', node.getBoundingClientRect().right > edge);
      input.focus();
      ask();
    },
    destroy() {
      takeBack?.();
      asked?.abort();
      document.removeEventListener('pointerdown', outside, true);
      node.remove();
    },
  };
}

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
        if (event.ctrlKey || event.metaKey || event.altKey || event.key !== 'ArrowDown' || popup) return;
        open();
        consume(event);
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
          el('span', { class: 'selector-plain' }, el('span', { class: 'hidden' }, `${title}: `), name(next.label)),
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
