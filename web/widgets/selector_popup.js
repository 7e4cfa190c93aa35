/* SPDX-License-Identifier: Apache-2.0
 * selector_popup.js: what opens below a selector: a field and the options that it finds. */

import { later } from '../lib/activity.js';
import { isAbort } from '../lib/api.js';
import { el, fill } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { createListbox } from './listbox.js';

const ASK_AFTER_MS = 120;

/* current: what holds now; choose(option), close(isFocusBack). Out: {node, start(), destroy()}. */
export function createPopup({ id, title, load, current, choose, close }) {
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

  /* Round at both ends. */
  const activate = (at) => list.activate(list.options.length ? (at + list.options.length) % list.options.length : -1);
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
    activate(
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
    if (event.key in moves) activate(Math.max(-1, list.active + moves[event.key]));
    else if (event.key === 'Enter') take();
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
