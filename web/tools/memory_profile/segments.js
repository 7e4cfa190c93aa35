/* SPDX-License-Identifier: Apache-2.0
 * segments.js: the address map of an allocator snapshot: what PyTorch held at this time, segment by segment, with the blocks
 * in each to scale, and who pins the holes. Its own file: it stands in place of addresses.js, which has one range of addresses. */

import { createHoles } from './holes.js';
import { createReader } from './reader.js';
import { createProfileTable } from './table.js';

/* onPickBlock(pin): of the table of holes. Out: as createAddresses. */
export function createSegments({ trace, url, onPickBlock, onDraw }) {
  const table = createProfileTable('segments', { trace, url, onPin: () => {}, onDraw });
  const holes = createHoles({ trace, url, onPickBlock }, createReader);
  const all = [table, holes];
  return {
    panels: all.map(({ panel }) => panel),
    load: () => Promise.all(all.map(({ load }) => load())),
    hear: () => Promise.all(all.map(({ hear }) => hear())),
    focusFilter: table.focusFilter,
    setPinned: () => {},
    beside: table.beside,
    reset: () => holes.reset(),
    destroy: () => all.forEach(({ destroy }) => destroy()),
  };
}
