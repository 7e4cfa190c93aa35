/* SPDX-License-Identifier: Apache-2.0
 * explain_card.js: the card of a figure; see explain.js. */

import { el, nameInline, prose } from '../lib/dom.js';
import { bytes, exactBytes } from '../lib/format.js';
import { dialogHead, openDialog } from './dialog.js';

const WORDS = {
  exact: 'Bytes from the plan or the file.',
  bound: 'True at least, or at most.',
  guess: 'Rests on names or on a model of the compiler.',
};
const AWAY_PX = 8;

function inputRow({ name, bytes: value, text, note, sign = '' }) {
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, prose(name), note ? el('span', { class: 'dim' }, ` ${note}`) : null),
    el('td', { class: 'figure' }, value === undefined || value === null ? (text ?? 'not known') : `${sign}${bytes(value)}`),
    el('td', { class: 'figure dim' }, value === undefined || value === null ? '' : exactBytes(value)),
  );
}

const line = (word, ...value) => el('p', { class: 'explain-line' }, el('span', { class: 'dim' }, `${word} `), value);

/* Beside `mark`, inside the window; in the middle without one. */
function place(node, mark) {
  if (!mark || window.innerWidth < 600) return;
  const { width, height } = node.getBoundingClientRect();
  const left = Math.min(Math.max(AWAY_PX, mark.left), window.innerWidth - width - AWAY_PX);
  const below = mark.bottom + AWAY_PX;
  const top = below + height <= window.innerHeight ? below : Math.max(AWAY_PX, mark.top - AWAY_PX - height);
  Object.assign(node.style, { margin: '0', left: `${Math.round(left)}px`, top: `${Math.round(top)}px` });
}

export function openCard(card, mark) {
  const { title, formula, inputs = [], file, field, confidence, why, caveat } = card;
  const { node } = openDialog({
    title: `Explained: ${title}`,
    className: 'explain',
    content: (close) => [
      dialogHead(title, close),
      el(
        'div',
        { class: 'dialog-body' },
        formula ? el('p', { class: 'explain-formula' }, prose(formula)) : null,
        inputs.length ? el('table', { class: 'explain-inputs' }, el('tbody', {}, inputs.map(inputRow))) : null,
        confidence ? line(confidence, prose(why || WORDS[confidence])) : null,
        file ? line('file', nameInline(file, 120)) : null,
        field ? line('field', prose(field)) : null,
        caveat ? line('but', prose(caveat)) : null,
      ),
    ],
  });
  place(node, mark);
}
