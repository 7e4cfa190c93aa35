/* SPDX-License-Identifier: Apache-2.0
 * categories.js: the colour and the words of each category of memory: rows of analysis/plan/category.def, in their order. */

import { token } from '../lib/theme.js';
import { button, el } from '../lib/dom.js';

/* Category in an answer → colour token, word of one buffer, words of several. Those that share a hue have its lighter
 * step; a copy has the hue of what it copies, with a dotted outline. */
const ROWS = {
  parameter: ['parameter', 'parameter', 'parameters'],
  optimizer_state: ['optimizer', 'optimizer state', 'optimizer state'],
  cache: ['parameter-light', 'cache', 'cache'],
  batch: ['parameter-light', 'batch', 'batch'],
  rng: ['parameter-light', 'random state', 'random state'],
  input: ['parameter-light', 'input', 'inputs'],
  other: ['parameter-light', 'other argument', 'other arguments'],
  copy_of_argument: ['parameter', 'copy of an argument', 'copies of arguments'],
  constant: ['constant', 'constant', 'constants'],
  saved_activation: ['activation', 'saved activation', 'saved activations'],
  gradient: ['gradient', 'gradient', 'gradients'],
  gradient_accumulator: ['gradient-light', 'gradient accumulator', 'gradient accumulators'],
  optimizer_temporary: ['temporary-light', 'optimizer temporary', 'optimizer temporaries'],
  collective: ['collective', 'collective', 'collectives'],
  output: ['output', 'output', 'outputs'],
  workspace: ['temporary', 'workspace', 'workspace'],
  unknown: ['unknown', 'unknown', 'unknown'],
};
const OTHER = ['unknown', 'several categories', 'several categories'];
const DOTTED = 'copy_of_argument';

/* In the order of the legend and, from the bottom, of a stack. */
export const CATEGORY_NAMES = Object.keys(ROWS);

const row = (category) => ROWS[category] ?? OTHER;

/* Of one buffer: "saved activation". */
export const categoryWord = (category) => row(category)[1];
/* Of several: "saved activations". */
export const categoryWords = (category) => row(category)[2];
/* Drawn with a dotted outline. */
export const isDotted = (category) => category === DOTTED;

/* Fill colour, for a canvas. */
export const categoryFill = (category) => token(`cat-${row(category)[0]}`);

/* Text colour on that fill. */
export const categoryInk = (category) => token(`ink-${row(category)[0]}`);

/* A small square of the colour; the word always stands beside it. */
export function swatch(category) {
  return el('span', { class: `swatch swatch-${row(category)[0]}${isDotted(category) ? ' swatch-dotted' : ''}`, 'aria-hidden': 'true' });
}

/* A legend word that shows only its category: a click alone, or Ctrl/⌘ to add it or take it away. */
function wordButton(category, { onOnly, chosen }) {
  const words = categoryWords(category);
  const isShown = chosen.length === 0 || chosen.includes(category);
  return button(
    'legend-word',
    (event) => onOnly(category, event.ctrlKey || event.metaKey),
    [swatch(category), words],
    { 'aria-pressed': String(isShown), title: `Only ${words}; with Ctrl as well; again: all` },
  );
}

/* Words of the categories present, in the order of the table above. filter: {onOnly(category, isAdded), chosen:
 * categories that are shown, none: all}, where the words choose. */
export function legend(categories, filter = null) {
  const present = [
    ...CATEGORY_NAMES.filter((category) => categories.has(category)),
    ...(categories.has('mixed') ? ['mixed'] : []),
  ];
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    present.map((category) =>
      el('li', {}, filter && category !== 'mixed' ? wordButton(category, filter) : [swatch(category), categoryWords(category)]),
    ),
  );
}
