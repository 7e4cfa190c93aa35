/* SPDX-License-Identifier: Apache-2.0
 * fold.js: what the chart of modules draws: programs that are alike as one column, and the parts of a column. Pure.
 * Its own file: it is tested without a page. */

import { token } from '../../lib/theme.js';
import { CATEGORY_NAMES, categoryFill, categoryWords } from '../../widgets/categories.js';

const REST = 'not live at the peak';

/* What makes two rows alike: their programs need not be one, but nothing here tells them apart. */
const figuresOf = (row) => JSON.stringify([row.module, row.space, row.total_bytes, row.peak_bytes, row.argument_bytes, row.temporary_bytes, row.output_bytes, row.padding_bytes, row.categories]);

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

/* Pure: bytes of each category in each column, in the order of all pages; the last part is what of the total
 * is not live at the peak. */
export function partsOf(columns) {
  const valueOf = (row, name) => row.categories?.find(({ category }) => category === name)?.bytes ?? 0;
  const parts = CATEGORY_NAMES.map((name) => ({ name, word: categoryWords(name), values: columns.map(({ row }) => valueOf(row, name)), fill: () => categoryFill(name) }));
  const live = (row) => (row.categories ?? []).reduce((sum, part) => sum + part.bytes, 0);
  const rest = { name: '', word: REST, values: columns.map(({ row }) => Math.max(0, (row.total_bytes ?? 0) - live(row))), fill: () => token('line') };
  return [...parts, rest].filter(({ values }) => values.some((value) => value > 0));
}
