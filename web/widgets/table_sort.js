/* SPDX-License-Identifier: Apache-2.0
 * table_sort.js: the order of a table as text, "-size,name". Pure. */

/* [{key, isDescending}] */
export function parseSort(text) {
  return text
    .split(',')
    .filter((part) => part !== '' && part !== '-')
    .map((part) => ({ key: part.replace(/^-/, ''), isDescending: part.startsWith('-') }));
}

export function formatSort(keys) {
  return keys.map(({ key, isDescending }) => `${isDescending ? '-' : ''}${key}`).join(',');
}

/* A key of an order is that of a column under any of its names. */
const isOf =
  (column) =>
  ({ key }) =>
    key === column.sortKey || column.aliases?.includes(key);

/* The order after a click on the header of `column`: largest first for figures, then reversed;
 * `isAdded` (Shift) keeps the first key and makes the column the second. */
export function nextSort(text, column, isAdded = false) {
  const keys = parseSort(text);
  const at = keys.findIndex(isOf(column));
  const own = { key: column.sortKey, isDescending: at < 0 ? Boolean(column.isNumber) : !keys[at].isDescending };
  if (!isAdded) return formatSort([{ ...own, isDescending: at === 0 ? own.isDescending : Boolean(column.isNumber) }]);
  if (at >= 0) return formatSort(keys.map((key, index) => (index === at ? own : key)));
  return formatSort([...keys.slice(0, 1), own]);
}

/* {direction: "ascending" | "descending" | null, rank: 0 …} of a column. */
export function sortOf(text, column) {
  const keys = parseSort(text);
  const rank = column.sortKey ? keys.findIndex(isOf(column)) : -1;
  if (rank < 0) return { direction: null, rank };
  return { direction: keys[rank].isDescending ? 'descending' : 'ascending', rank };
}

/* Rows in that order, for tables whose rows are all here. A column's `value(row)` is compared; what is
 * null comes last. */
export function sortRows(rows, text, columns) {
  const keys = parseSort(text)
    .map(({ key, isDescending }) => ({
      value: columns.find((column) => column.sortKey === key)?.value,
      sign: isDescending ? -1 : 1,
    }))
    .filter(({ value }) => value);
  const order = (a, b) => {
    for (const { value, sign } of keys) {
      const [left, right] = [value(a) ?? null, value(b) ?? null];
      if (left === right) continue;
      if (left == null || right == null) return left == null ? 1 : -1;
      if (left < right) return -sign;
      if (left > right) return sign;
    }
    return 0;
  };
  return [...rows].sort(order);
}
