/* SPDX-License-Identifier: Apache-2.0
 * segments_strip.js: the blocks of one segment, to scale, as a cell of a table. Its own file: a drawing, among columns
 * of words. */

import { svg } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { blockWord } from './text.js';

const WIDTH = 1000;
const HEIGHT = 16;

function pieceWords(piece) {
  const what = piece.op ? visible(piece.op) : '';
  const kind = piece.kind === 'allocation' ? '' : blockWord(piece.kind);
  return [
    what,
    kind,
    piece.kind === 'mixed' ? `${bytes(piece.used_bytes)} of ${bytes(piece.size_bytes)} used` : bytes(piece.size_bytes),
    piece.address,
  ]
    .filter(Boolean)
    .join(', ');
}

/* The blocks of a segment, as wide as its share of the largest one. */
export function segmentStrip(row, largestBytes) {
  const scale = WIDTH / Math.max(1, largestBytes);
  const wide = row.size_bytes * scale;
  const box = ({ offset_bytes: offset, size_bytes: size }) => ({
    x: (offset * scale).toFixed(2),
    width: Math.max(0.75, size * scale).toFixed(2),
    y: 0,
    height: HEIGHT,
  });
  const label =
    `${bytes(row.used_bytes)} of ${bytes(row.size_bytes)} used, largest hole ` + `${bytes(row.largest_hole_bytes)}`;
  return svg(
    'svg',
    {
      class: 'segment-strip',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    svg('rect', { class: 'segment-frame', x: 0, y: 0, width: wide.toFixed(2), height: HEIGHT }),
    row.pieces
      .filter(({ kind }) => kind !== 'hole')
      .map((piece) =>
        svg('rect', { class: `piece-${piece.kind}`, ...box(piece) }, svg('title', {}, pieceWords(piece))),
      ),
  );
}
