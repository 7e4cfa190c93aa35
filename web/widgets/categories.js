/* SPDX-License-Identifier: Apache-2.0
 * categories.js: the colour and the word of each kind of buffer. */

import { token } from '../lib/theme.js';
import { el } from '../lib/dom.js';

/* Kind in an answer → colour token and legend word. */
const ROWS = {
  parameter: { colour: 'parameter', word: 'argument' },
  output: { colour: 'output', word: 'output' },
  constant: { colour: 'constant', word: 'constant' },
  temporary: { colour: 'temporary', word: 'temporary' },
  thread_local: { colour: 'unknown', word: 'thread-local' },
};
const OTHER = { colour: 'unknown', word: 'several kinds' };

/* In the order of the legend. */
export const CATEGORY_NAMES = Object.keys(ROWS);

const row = (category) => ROWS[category] ?? OTHER;

export function categoryWord(category) {
  return row(category).word;
}

/* Fill colour, for a canvas. */
export function categoryFill(category) {
  return token(`cat-${row(category).colour}`);
}

/* Text colour on that fill. */
export function categoryInk(category) {
  return token(`ink-${row(category).colour}`);
}

/* A small square of the colour; the word always stands beside it. */
export function swatch(category) {
  return el('span', { class: `swatch swatch-${row(category).colour}`, 'aria-hidden': 'true' });
}

/* Words of the kinds present, in the order of the table above. */
export function legend(categories) {
  const present = [
    ...Object.keys(ROWS).filter((category) => categories.has(category)),
    ...(categories.has('mixed') ? ['mixed'] : []),
  ];
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    present.map((category) => el('li', {}, swatch(category), categoryWord(category))),
  );
}
