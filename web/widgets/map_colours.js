/* SPDX-License-Identifier: Apache-2.0
 * map_colours.js: ways to colour the buffers of a map. Each is a list of classes with a legend
 * word, and a rule that gives the class of a buffer; several buffers drawn as one have none. */

import { baseName, bytes } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { CATEGORY_NAMES, categoryFill, categoryInk, categoryWords } from './categories.js';
import { SET_SIZE, setFill, setInk } from './sets.js';

const KIB = 1024;
const SIZES = [4 * KIB, 64 * KIB, KIB ** 2, 16 * KIB ** 2, 256 * KIB ** 2];
const PADDING = [0, 0.01, 0.1, 0.25, 0.5];
const AGES = [0.001, 0.01, 0.05, 0.2, 0.5];
const MIXED = { fill: () => token('cat-unknown'), ink: () => token('ink-unknown'), word: 'several kinds' };

/* Every way: `color=` in the URL. */
export const COLOURS = ['category', 'size', 'padding', 'age', 'source'];
export const COLOUR_WORDS = {
  category: 'category',
  size: 'size',
  padding: 'share of padding',
  age: 'how long it lives',
  source: 'source line',
};

const sequential = (at) => ({
  fill: () => token(`seq-${at}`),
  ink: () => token(at < 3 ? 'text' : 'panel'),
  isSequential: true,
});
/* Class of a value on a scale of upper bounds. */
const rank = (value, bounds) => {
  const at = bounds.findIndex((bound) => value < bound);
  return at < 0 ? bounds.length : at;
};
const percent = (share) => `${100 * share} %`;

function scale(words, classOf) {
  return { classes: words.map((word, at) => ({ ...sequential(at), word })), classOf };
}

function bySource(items) {
  const sums = new Map();
  for (const { source, bytes: size } of items) if (source) sums.set(source, (sums.get(source) ?? 0) + size);
  const top = [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, SET_SIZE)
    .map(([source]) => source);
  const classes = top.map((source, at) => ({ fill: () => setFill(at), ink: () => setInk(at), word: baseName(source) }));
  const at = new Map(top.map((source, index) => [source, index]));
  const isMore = sums.size > top.length;
  classes.push({ ...MIXED, word: isMore ? 'other lines' : 'no line recorded' });
  return { classes, classOf: (item) => at.get(item.source) ?? top.length };
}

/* how: one of COLOURS; items: what is drawn; stepCount: of the whole program.
 * Out: {classes: [{fill(), ink(), word, isSequential, category}], classOf(item) → index, mixed: index}. */
export function colouring(how, items, stepCount) {
  const made = {
    category: () => ({
      classes: CATEGORY_NAMES.map((category) => ({
        fill: () => categoryFill(category),
        ink: () => categoryInk(category),
        word: categoryWords(category),
        category,
      })),
      classOf: (item) => CATEGORY_NAMES.indexOf(item.category),
    }),
    size: () =>
      scale([...SIZES.map((size) => `< ${bytes(size)}`), `≥ ${bytes(SIZES[SIZES.length - 1])}`], (item) =>
        rank(item.bytes, SIZES),
      ),
    padding: () =>
      scale(['none', ...PADDING.slice(1).map((share) => `< ${percent(share)}`), `≥ ${percent(0.5)}`], (item) =>
        item.padding_bytes > 0 ? rank(item.padding_bytes / item.bytes, PADDING) : 0,
      ),
    age: () =>
      scale([...AGES.map((share) => `< ${percent(share)} of the steps`), `≥ ${percent(0.5)} of the steps`], (item) =>
        rank(((item.to ?? stepCount) - (item.from ?? 0)) / Math.max(1, stepCount), AGES),
      ),
    source: () => bySource(items),
  }[how]();
  const mixed = made.classes.length;
  return {
    classes: [...made.classes, MIXED],
    mixed,
    classOf(item) {
      if (item.id == null && (how !== 'category' || item.category == null)) return mixed;
      const at = made.classOf(item);
      return at < 0 ? mixed : at;
    },
  };
}
