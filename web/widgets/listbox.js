/* SPDX-License-Identifier: Apache-2.0
 * listbox.js: the options below a field (WAI-ARIA combobox): each with its figure, one of them active. */

import { tellApart } from '../lib/apart.js';
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

/* In: id of the field; isChosen(option) marks the one that holds now, left out the active one is marked;
   onTake(option);
 * rowClass and partsOf(option) of a row: its label and its figure if they are not given.
 * Out: {node, options, active, show(options), activate(at): -1 is none, activateRound(at): round at both ends}. */
export function createListbox({
  id,
  input,
  label,
  className,
  rowClass = 'selector-option',
  partsOf = labelAndFigure,
  isChosen = null,
  onTake,
}) {
  const node = el('ul', { id: `${id}-list`, role: 'listbox', class: className, 'aria-label': label });
  const list = { node, options: [], active: -1, show, activate, activateRound };
  const mark = (row, isOn) => {
    row?.classList.toggle('is-active', isOn);
    if (!isChosen) row?.setAttribute('aria-selected', String(isOn));
  };
  function activate(at) {
    mark(node.children[list.active], false);
    list.active = at;
    const row = node.children[at];
    mark(row, true);
    row?.scrollIntoView({ block: 'nearest' });
    if (row) input.setAttribute('aria-activedescendant', row.id);
    else input.removeAttribute('aria-activedescendant');
  }
  function activateRound(at) {
    const { length } = list.options;
    activate(length ? (at + length) % length : -1);
  }
  const rowOf = (option, at) =>
    el(
      'li',
      {
        id: `${id}-${at}`,
        role: 'option',
        class: rowClass,
        'aria-selected': String(Boolean(isChosen?.(option))),
        on: {
          /* The field keeps the focus. */
          mousedown: (event) => event.preventDefault(),
          click: () => onTake(option),
          pointermove: () => list.active !== at && activate(at),
        },
      },
      partsOf(option),
    );
  function show(options) {
    Object.assign(list, { options, active: -1 });
    fill(node, options.map(rowOf));
    tellApart([...node.querySelectorAll('.name')]);
  }
  return list;
}

const labelAndFigure = ({ label, figure }) => [name(label), el('span', { class: 'selector-figure' }, figure ?? '')];
