/* SPDX-License-Identifier: Apache-2.0
 * group_choice.js: what the rows of a table are grouped by, beside its filter.
 * Its own file: tables of several tools have it. */

import { el } from '../lib/dom.js';

/* ways: [[value, word], …]; onChoose(value). Out: {node, set(value)}. */
export function createGroupChoice(label, ways, onChoose) {
  const select = el(
    'select',
    { class: 'group-choice', 'aria-label': label },
    ways.map(([value, word]) => el('option', { value }, word)),
  );
  select.addEventListener('change', () => onChoose(select.value));
  return {
    node: el('label', { class: 'group-label' }, el('span', { class: 'dim' }, 'group: '), select),
    set(value) {
      select.value = value;
    },
  };
}
