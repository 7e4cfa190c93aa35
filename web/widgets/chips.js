/* SPDX-License-Identifier: Apache-2.0
 * chips.js: conditions as a row of words that can be taken away one by one, and a field that adds
 * one. A fault is underlined where it stands, and said below; the rest goes on.
 * Its own file: knows no tool, so that any page may have it. */

import { button, consume, el, fill } from '../lib/dom.js';
import { cutMiddle, visible } from '../lib/format.js';

const MAX = 48;
let serial = 0;

/* The value with the part from `faultAt` on underlined. */
function valueNode(value, faultAt) {
  if (faultAt == null) return el('bdi', { class: 'condition-value', dir: 'ltr' }, cutMiddle(visible(value), MAX));
  const at = Math.min(faultAt, Math.max(0, value.length - 1));
  return el(
    'bdi',
    { class: 'condition-value', dir: 'ltr' },
    visible(value.slice(0, at)),
    el('span', { class: 'condition-fault' }, visible(value.slice(at)) || '\u00a0'),
  );
}

function chipNode({ key, value, text, faultAt = null, isEmpty = false, onDrop }) {
  return el(
    'li',
    { class: `condition ${isEmpty ? 'is-empty' : ''} ${faultAt != null ? 'is-faulty' : ''}`.trim(), title: text },
    key ? el('span', { class: 'condition-key' }, `${key}: `) : null,
    valueNode(value, faultAt),
    button('condition-drop', onDrop, '×', {
      'aria-label': `Remove ${key ? `${key} ` : ''}${cutMiddle(visible(value), MAX)}`,
    }),
  );
}

/* In: kinds [[name, word]] of the select, label, placeholder, onAdd(kind, text).
 * Out: {node, set({chips, faults, kind, hints, onClear}), focus()}. chips: [{key, value, text, faultAt, isEmpty,
 * onDrop}]; faults: sentences; hints: texts that the field offers. */
export function createChips({ kinds, label, placeholder, onAdd }) {
  const id = `chips-${++serial}`;
  const list = el('ul', { class: 'condition-list', 'aria-label': label });
  const select = el(
    'select',
    { class: 'condition-kind', 'aria-label': 'Kind of filter' },
    kinds.map(([name, word]) => el('option', { value: name }, word)),
  );
  const offers = el('datalist', { id: `${id}-offers` });
  const input = el('input', {
    type: 'text',
    class: 'condition-input',
    placeholder,
    'aria-label': label,
    'aria-describedby': `${id}-faults`,
    list: `${id}-offers`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const faultList = el('div', { id: `${id}-faults`, class: 'condition-faults', role: 'status' });
  const clear = el('button', { type: 'button', class: 'text-button condition-clear', hidden: true }, 'no filters');
  const form = el('span', { class: 'condition-form' }, select, input, offers);
  const node = el('div', { class: 'conditions' }, el('div', { class: 'condition-row' }, list, form, clear), faultList);
  let onClear = () => {};
  let drop = null;

  clear.addEventListener('click', () => onClear());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && input.value.trim() && !event.isComposing) {
      const text = input.value;
      input.value = '';
      onAdd(select.value, text);
      event.preventDefault();
    } else if (event.key === 'Backspace' && input.value === '' && drop) {
      drop();
      event.preventDefault();
    } else if (event.key === 'Escape') {
      if (input.value) input.value = '';
      else input.blur();
      consume(event);
    }
  });
  return {
    node,
    set({ chips, faults = [], hints = [], onClear: clearAll = () => {} }) {
      onClear = clearAll;
      drop = chips.at(-1)?.onDrop ?? null;
      const hadFocus = list.contains(document.activeElement);
      fill(list, chips.map(chipNode));
      list.hidden = chips.length === 0;
      clear.hidden = chips.length < 2;
      fill(
        faultList,
        faults.map((text) => el('p', { class: 'condition-said' }, text)),
      );
      fill(
        offers,
        hints.map((text) => el('option', { value: text })),
      );
      if (hadFocus) input.focus();
    },
    get kind() {
      return select.value;
    },
    focus: () => input.focus(),
  };
}
