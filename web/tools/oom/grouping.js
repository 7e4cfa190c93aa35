/* SPDX-License-Identifier: Apache-2.0
 * grouping.js: listed buffers that have something in common, as one row that opens. Pure.
 * Its own file: buffers.js needs a browser. */

const place = ({ source_file: file, source_line: line }) => (file ? `${file}:${line ?? ''}` : '');

/* Lists of arguments and outputs say in the label which of the two a buffer is; an output may lie in the memory of an
 * argument, so that the two are never added up. */
export const isOutput = ({ label }) => /^Output/.test(label ?? '');

/* [name in the URL, word, what buffers of one group have in common, beside that]. */
const WAYS = [
  ['', 'equal buffers', (row) => [row.list, row.size_bytes, row.shape, place(row), row.category]],
  ['none', 'none', null],
  ['category', 'category', (row) => [row.category]],
  ['line', 'source line', (row) => [place(row)]],
  ['shape', 'shape', (row) => [row.shape]],
];
export const GROUP_WAYS = WAYS.map(([name, word]) => [name, word]);
const keyOf = (group) => (WAYS.find(([name]) => name === group) ?? WAYS[0])[2];
export const wayOf = (group) => (WAYS.find(([name]) => name === group) ?? WAYS[0])[0];

/* What all rows have of it; null where they differ. */
const common = (rows, key) => (rows.every((row) => row[key] === rows[0][key]) ? rows[0][key] : null);
const SHARED = [
  'shape',
  'source_file',
  'source_line',
  'name',
  'list',
  'category',
  'confidence',
  'allocation_type',
  'label',
  'times',
  'op_name',
];
const sum = (rows, key) => {
  const known = rows.map((row) => row[key]).filter((value) => value != null);
  return known.length ? known.reduce((all, value) => all + value, 0) : null;
};

function groupOf(id, rows) {
  const sizes = new Set(rows.map((row) => row.size_bytes));
  return {
    ...Object.fromEntries(SHARED.map((key) => [key, common(rows, key) ?? null])),
    id,
    rows,
    count: rows.length,
    keys: rows.flatMap((row) => row.keys),
    size_bytes: sum(rows, 'size_bytes'),
    unpadded_bytes: sum(rows, 'unpadded_bytes'),
    padding_bytes: sum(rows, 'padding_bytes'),
    each_bytes: sizes.size === 1 ? rows[0].size_bytes : null,
    is_shape_of_result: rows.some((row) => row.is_shape_of_result),
    buffer: null,
  };
}

/* Rows as groups, in the order of their first; a single one is itself, with `isSingle`. null: not grouped. */
export function groupsOf(rows, way) {
  const parts = keyOf(way);
  if (!parts) return null;
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([isOutput(row), ...parts(row)]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].map(([key, members]) =>
    members.length === 1
      ? { ...members[0], count: 1, each_bytes: members[0].size_bytes, rows: members, isSingle: true }
      : groupOf(`g:${key}`, members),
  );
}
