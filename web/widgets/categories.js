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

/* A legend word that shows only its kind: a click alone, or Ctrl/⌘ to add it or take it away. */
function wordButton(category, { onOnly, chosen }) {
  const word = categoryWord(category);
  const isShown = chosen.length === 0 || chosen.includes(category);
  return el(
    'button',
    {
      type: 'button',
      class: 'legend-word',
      'aria-pressed': String(isShown),
      title: `Only ${word}; with Ctrl as well; again: all`,
      on: { click: (event) => onOnly(category, event.ctrlKey || event.metaKey) },
    },
    swatch(category),
    word,
  );
}

/* Words of the kinds present, in the order of the table above. filter: {onOnly(category, isAdded), chosen: kinds
 * that are shown, none: all}, where the words choose. */
export function legend(categories, filter = null) {
  const present = [
    ...Object.keys(ROWS).filter((category) => categories.has(category)),
    ...(categories.has('mixed') ? ['mixed'] : []),
  ];
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    present.map((category) =>
      el('li', {}, filter && category !== 'mixed' ? wordButton(category, filter) : [swatch(category), categoryWord(category)]),
    ),
  );
}
