/* SPDX-License-Identifier: Apache-2.0
 * categories.js: the colour and the words of each category of memory: rows of analysis/plan/category.def, in their
 * order. */

import { token } from '../lib/theme.js';
import { button, el } from '../lib/dom.js';
import { bytes, percent } from '../lib/format.js';

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
/* Shares of what is live: of a figure in the legend, of what should be known. */
const LEAST_SAID = 0.001;
const WELL_KNOWN = 0.8;
const DOTTED = 'copy_of_argument';

/* In the order of the legend and, from the bottom, of a stack. */
export const CATEGORY_NAMES = Object.keys(ROWS);

const row = (category) => ROWS[category] ?? OTHER;

/* Of one buffer: "saved activation". */
export const categoryWord = (category) => row(category)[1];
/* Of several: "saved activations". */
export const categoryWords = (category) => row(category)[2];
/* The category that a piece of a segment, {kind, category}, is drawn and named by. */
export const categoryOf = ({ kind, category }) => (kind === 'mixed' ? 'mixed' : (category ?? 'unknown'));
/* Drawn with a dotted outline. */
export const isDotted = (category) => category === DOTTED;

/* Style of a swatch of its colour; of another word the word itself. */
export const swatchStyle = (category) => `swatch-${ROWS[category]?.[0] ?? category}`;

/* Fill colour, for a canvas. */
export const categoryFill = (category) => token(`cat-${row(category)[0]}`);

/* Text colour on that fill. */
export const categoryInk = (category) => token(`ink-${row(category)[0]}`);

/* A small square of the colour; the word always stands beside it. */
export function swatch(category) {
  return el('span', {
    class: `swatch swatch-${row(category)[0]}${isDotted(category) ? ' swatch-dotted' : ''}`,
    'aria-hidden': 'true',
  });
}

/* Behind a legend word: what the category has now, and whether that is a guess. */
function amountOf(sum, whole) {
  if (!sum || sum.bytes < whole * LEAST_SAID) return null;
  const guess = sum.guessed_bytes === 0 ? '' : sum.guessed_bytes === sum.bytes ? ' guess' : ' part guess';
  return [
    ' ',
    el('span', { class: 'figure' }, bytes(sum.bytes)),
    guess && sum.category !== 'unknown' ? el('span', { class: 'dim' }, guess) : null,
  ];
}

/* Pure: "category known for 62 % of the bytes", where it is for less than 80 %; sums: [{category, bytes}]. */
export function coverage(sums) {
  const whole = sums.reduce((all, { bytes: own }) => all + own, 0);
  const known = whole - (sums.find(({ category }) => category === 'unknown')?.bytes ?? 0);
  return whole > 0 && known < whole * WELL_KNOWN ? `category known for ${percent(known, whole)} of the bytes` : '';
}

/* A legend word that shows only its category: a click alone, or Ctrl/⌘ to add it or take it away. */
function wordButton(category, { onOnly, chosen }, amount) {
  const words = categoryWords(category);
  const isShown = chosen.length === 0 || chosen.includes(category);
  return button(
    'legend-word',
    (event) => onOnly(category, event.ctrlKey || event.metaKey),
    [swatch(category), words, amount],
    { 'aria-pressed': String(isShown), title: `Only ${words}; with Ctrl as well; again: all` },
  );
}

/* Words of the categories present, in the order of the table above. filter: {onOnly(category, isAdded), chosen:
 * categories that are shown, none: all}, where the words choose. sums: what each has, [{category, bytes,
 * guessed_bytes}]. */
export function legend(categories, filter = null, sums = []) {
  const whole = sums.reduce((all, { bytes: own }) => all + own, 0);
  const amount = (category) =>
    amountOf(
      sums.find((sum) => sum.category === category),
      whole,
    );
  const present = [
    ...CATEGORY_NAMES.filter((category) => categories.has(category)),
    ...(categories.has('mixed') ? ['mixed'] : []),
  ];
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    present.map((category) =>
      el(
        'li',
        {},
        filter && category !== 'mixed'
          ? wordButton(category, filter, amount(category))
          : [swatch(category), categoryWords(category), amount(category)],
      ),
    ),
    coverage(sums) ? el('li', { class: 'caution' }, coverage(sums)) : null,
  );
}
