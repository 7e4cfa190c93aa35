/* SPDX-License-Identifier: Apache-2.0
 * segments.mjs: the picture of what an allocator holds: all segments to one scale, none over another, each pool by
 * itself; the request that failed beside the largest piece. */

import { groupsOf, pieceId, requestOf } from '../../../web/tools/memory_profile/segment_groups.js';
import { laySegments } from '../../../web/widgets/segment_map.js';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const segment = (size, more = {}) => ({
  size_bytes: size,
  pool: 'default',
  stream: 0,
  for: 'large',
  pieces: [],
  ...more,
});

/* What a reader relies on, whatever is drawn. */
function check({ equal, truth }, groups, laid, width) {
  const all = groups.flatMap(({ segments }) => segments);
  equal(laid.places.length, all.length, 'each segment once');
  const rows = new Map();
  for (const place of laid.places) {
    truth(Math.abs(place.width - Math.max(1, place.segment.size_bytes / laid.scale)) < 1e-6, 'one scale');
    truth(place.x >= 0 && place.x + place.width <= width + 1e-6, 'within its row');
    const before = rows.get(place.row);
    truth(
      !before || (before.group === place.group && place.x >= before.x + before.width),
      'none over another, and no two groups in a row',
    );
    rows.set(place.row, place);
  }
  equal(rows.size, laid.rowCount);
}

export function run({ test, equal, truth }) {
  const tools = { equal, truth };

  test('segments: all are drawn to one scale and fill the rows that there are', () => {
    for (const sizes of [
      [16 * GIB, 8 * GIB, 2 * MIB],
      Array(1119).fill(132 * MIB),
      Array.from({ length: 225 }, (_, at) => (376 - at) * MIB),
      [2 * MIB],
    ]) {
      const groups = groupsOf(sizes.map((size) => segment(size)));
      const laid = laySegments(groups, { width: 600, height: 200 });
      check(tools, groups, laid, 600);
      truth(laid.rowCount * (laid.rowPx + 5) <= 200 + 5, `${laid.rowCount} rows of ${laid.rowPx} px`);
      const tighter = laySegments(groups, { width: 600, height: 400 });
      truth(tighter.scale <= laid.scale, 'more height is a larger picture');
    }
  });

  test('segments: a request that is larger than any segment fits in a row of the same scale', () => {
    const groups = groupsOf([segment(2 * GIB), segment(GIB)]);
    const { scale } = laySegments(groups, { width: 500, height: 300, leastBytes: 16 * GIB });
    truth((16 * GIB) / scale <= 500.001);
    equal(laySegments([], { width: 500, height: 300 }).places, []);
  });

  test(
    'segments: pools, streams and sizes of requests stand apart, the largest first, and more of them than rows are ' +
      'all there',
    () => {
      const rows = [
        segment(2 * MIB, { for: 'small' }),
        segment(40 * MIB, { pool: '1.0' }),
        segment(20 * MIB),
        segment(30 * MIB),
        segment(8 * MIB, { stream: 7 }),
        segment(4 * MIB, { for: undefined }),
      ];
      const groups = groupsOf(rows);
      equal(
        groups.map(({ title, segments }) => [title, segments.length]),
        [
          ['large', 2],
          ['pool 1.0, large', 1],
          ['large, stream 7', 1],
          ['segments', 1],
          ['small', 1],
        ],
      );
      const laid = laySegments(groups, { width: 300, height: 40 });
      check(tools, groups, laid, 300);
      equal(laid.rowCount, 5);
    },
  );

  test('segments: a failed request is drawn with what it could have taken; where nothing is free with nothing', () => {
    const of = (largest) => requestOf({ failure: { requested_bytes: 2 * GIB, largest_hole_bytes: largest } });
    equal(of(1.5 * GIB), { bytes: 2 * GIB, fits_bytes: 1.5 * GIB });
    equal(of(undefined), { bytes: 2 * GIB, fits_bytes: 0 });
    equal(requestOf({}), null);
  });

  test('segments: a block is pinned by its event, or by its number; what is free cannot be pinned', () => {
    equal([{ event: 0 }, { block: 3 }, { kind: 'hole' }].map(pieceId), ['e:0', 'k:3', null]);
  });
}
