/* SPDX-License-Identifier: Apache-2.0
 * segments.js: the address map of an allocator snapshot: what PyTorch held at this time as a picture, segment by
 * segment as a table, and who pins the holes. Its own file: it stands in place of addresses.js, which has one range of
 * addresses. */

import { createHoles } from './holes.js';
import { createReader } from './reader.js';
import { createSegmentPicture } from './segment_picture.js';
import { createProfileTable } from './table.js';

/* onPickBlock(pin): of the table of holes; onPickId(id): of a block of the picture. Out: as createAddresses. */
export function createSegments({ trace, url, onPickBlock, onPickId, onDraw }) {
  const picture = createSegmentPicture({ trace, url, onPick: onPickId }, createReader);
  const table = createProfileTable('segments', { trace, url, onPin: () => {}, onDraw });
  const holes = createHoles({ trace, url, onPickBlock }, createReader);
  const all = [picture, holes, table];
  return {
    panels: all.map(({ panel }) => panel),
    load: () => Promise.all(all.map(({ load }) => load())),
    hear: () => Promise.all(all.map(({ hear }) => hear())),
    focusFilter: table.focusFilter,
    setPinned: picture.setPinned,
    beside: table.beside,
    reset: () => [picture, holes].forEach(({ reset }) => reset()),
    destroy: () => all.forEach(({ destroy }) => destroy()),
  };
}
