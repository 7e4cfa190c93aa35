/* SPDX-License-Identifier: Apache-2.0
 * pair.js: two pinned things, A and B: what each is, and by how much B differs. Its own file: what a row says is the
 * page's. */

import { el, nameInline } from '../lib/dom.js';
import { signedBytes } from '../lib/format.js';

const LONGEST_NAME = 40;

/* Pure: "+2.00 GiB" of two sizes, "the same"; empty where one is not known. */
export const sizeChange = (a, b) => (a == null || b == null ? '' : a === b ? 'the same' : signedBytes(b - a));

/* Pure: the difference of two words. */
export const wordChange = (a, b) => (a === b ? 'the same' : 'differs');

/* a, b: names; rows: [word, of A, of B, difference: text or ""]; onClose(): the comparison ends. */
export function pairTable(a, b, rows, onClose) {
  const head = (letter, name) =>
    el('th', { scope: 'col' }, el('strong', {}, letter), ' ', nameInline(name, LONGEST_NAME));
  return el(
    'section',
    { class: 'pair', 'aria-label': 'A and B compared' },
    el('h3', { class: 'details-sub' }, 'Compared '),
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, el('td', {}), head('A', a), head('B', b), el('th', { scope: 'col' }, 'B − A'))),
      el(
        'tbody',
        {},
        rows.map(([word, ofA, ofB, change]) =>
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, word),
            el('td', {}, ofA),
            el('td', {}, ofB),
            el('td', { class: 'figure' }, change),
          ),
        ),
      ),
    ),
    el('p', {}, el('button', { type: 'button', class: 'text-button', on: { click: onClose } }, 'End the comparison')),
  );
}
