/* SPDX-License-Identifier: Apache-2.0
 * fold.js: what the chart of modules draws: programs that are alike as one column, and the parts of a column. Pure.
 * Its own file: it is tested without a page. */

import { token } from '../../lib/theme.js';
import { CATEGORY_NAMES, categoryFill, categoryWords } from '../../widgets/categories.js';

/* What the core tells of a row beside its categories, so that they add up to the total. */
const BESIDE = [
  { name: 'rest', word: 'not live at the peak', token: 'line', bytesOf: (row) => row.fragmentation_bytes ?? 0 },
  {
    name: 'untold',
    word: 'peak not known',
    token: 'control',
    bytesOf: (row) => (row.peak_bytes == null ? row.total_bytes : 0),
  },
];

/* What makes two rows alike: their programs need not be one, but nothing here tells them apart. */
const figuresOf = (row) =>
  JSON.stringify([
    row.module,
    row.space,
    row.total_bytes,
    row.peak_bytes,
    row.argument_bytes,
    row.temporary_bytes,
    row.output_bytes,
    row.padding_bytes,
    row.categories,
  ]);

/* Pure: rows of the table in its order → [{row: the first, rows: all that are like it}]. */
export function foldAlike(rows) {
  const folds = new Map();
  for (const row of rows) {
    const key = figuresOf(row);
    if (folds.has(key)) folds.get(key).rows.push(row);
    else folds.set(key, { row, rows: [row] });
  }
  return [...folds.values()];
}

/* Pure: bytes of each category in each column, in the order of all pages; behind them what stands beside categories. */
export function partsOf(columns) {
  const valueOf = (row, name) => row.categories?.find(({ category }) => category === name)?.bytes ?? 0;
  const parts = CATEGORY_NAMES.map((name) => ({
    name,
    word: categoryWords(name),
    values: columns.map(({ row }) => valueOf(row, name)),
    fill: () => categoryFill(name),
  }));
  const beside = BESIDE.map(({ name, word, token: colour, bytesOf }) => ({
    name,
    word,
    values: columns.map(({ row }) => bytesOf(row)),
    fill: () => token(colour),
  }));
  return [...parts, ...beside].filter(({ values }) => values.some((value) => value > 0));
}
