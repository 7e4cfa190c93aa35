/* SPDX-License-Identifier: Apache-2.0
 * table_text.js: rows of a table as text: tab-separated, with exact figures. Pure. */

import { visible } from '../lib/format.js';

const plain = (value) => (value === null || value === undefined ? '' : visible(String(value)));

/* Pure. A cell that a spreadsheet would take for a formula gets a quote before it; numbers do not. */
export function tabSeparated(columns, rows) {
  const cell = (value) => {
    const text = plain(value);
    return typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
  };
  const kept = columns.filter((column) => column.copy);
  return [
    kept.map((column) => column.copy[0]).join('\t'),
    ...rows.map((row) => kept.map((column) => cell(column.copy[1](row))).join('\t')),
  ].join('\n');
}

/* Pure. The same rows as a table of lib/export.js. */
export function tableOf(columns, rows) {
  const kept = columns.filter((column) => column.copy);
  return {
    columns: kept.map((column) => ({ key: column.copy[0], title: column.copy[0], isSource: column.isSource })),
    rows: rows.map((row) => Object.fromEntries(kept.map((column) => [column.copy[0], column.copy[1](row)]))),
  };
}
