/* SPDX-License-Identifier: Apache-2.0
 * listbox.js: the options below a field (WAI-ARIA combobox): each with its figure, one of them active. */

import { el, fill, name } from '../lib/dom.js';

/* The field above; its name is the placeholder if it is not given. */
export const comboField = (attributes) =>
  el('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': attributes.placeholder,
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    ...attributes,
  });

/* In: id of the field; isChosen(option) marks the one that holds now, left out the active one is marked; onTake(option).
 * Out: {node, options, active, show(options [{label, figure}]), activate(at)}; -1 is none. */
export function createListbox({ id, input, label, className, isChosen = null, onTake }) {
  const node = el('ul', { id: `${id}-list`, role: 'listbox', class: className, 'aria-label': label });
  let options = [];
  let active = -1;

  const mark = (row, isOn) => {
    row?.classList.toggle('is-active', isOn);
    if (!isChosen) row?.setAttribute('aria-selected', String(isOn));
  };
  const activate = (at) => {
    mark(node.children[active], false);
    active = at;
    const row = node.children[active];
    mark(row, true);
    row?.scrollIntoView({ block: 'nearest' });
    if (row) input.setAttribute('aria-activedescendant', row.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const rowOf = (option, at) =>
    el(
      'li',
      {
        id: `${id}-${at}`,
        role: 'option',
        class: 'selector-option',
        'aria-selected': String(Boolean(isChosen?.(option))),
        on: {
          /* The field keeps the focus. */
          mousedown: (event) => event.preventDefault(),
          click: () => onTake(option),
          pointermove: () => {
            if (active !== at) activate(at);
          },
        },
      },
      name(option.label),
      el('span', { class: 'selector-figure' }, option.figure ?? ''),
    );
  return {
    node,
    get options() {
      return options;
    },
    get active() {
      return active;
    },
    show(next) {
      options = next;
      active = -1;
      fill(node, options.map(rowOf));
    },
    activate,
  };
}
