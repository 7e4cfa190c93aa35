/* SPDX-License-Identifier: Apache-2.0
 * map_items.js: buffers as the picture of the map draws them: rectangles of steps and offsets.
 * Its own file: pure, of what the panel of the map knows. */

/* Buffers that are large enough for a stripe; what lives from begin to end has no steps of its own. */
export function stripesOf({ rectangles, indefinite, step_count: steps }) {
  return [...indefinite.map((item) => ({ ...item, from: 0, to: steps })), ...rectangles].filter(({ id }) => id != null);
}

/* What is known of a buffer from its rectangle. */
export function recordOf(item) {
  return {
    id: item.id,
    name: item.name,
    is_cut: item.is_cut,
    bytes: item.bytes,
    padding_bytes: item.padding_bytes,
    category: item.category,
    born_step: item.from,
    dies_step: item.to,
  };
}

/* The rectangle of a row of the table. */
export function itemOfRow(row, space) {
  if (row.is_indefinite) return { ...row, from: undefined };
  const low = row.allocation.offset_bytes;
  return {
    ...row,
    from: row.born_step,
    to: row.dies_step ?? space.step_count,
    low_bytes: low,
    high_bytes: low + row.bytes,
  };
}

const NONE = [];
const itemsOfGroups = new WeakMap();

/* Of a group that is pinned: the same as long as it is. */
export function itemsOf(group, space) {
  if (!group) return NONE;
  if (!itemsOfGroups.has(group))
    itemsOfGroups.set(
      group,
      group.all.rows.map((row) => itemOfRow(row, space)),
    );
  return itemsOfGroups.get(group);
}
