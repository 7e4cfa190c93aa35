/* SPDX-License-Identifier: Apache-2.0
 * segment_groups.js: what of the answer the picture of segments draws: groups of segments, the request that failed,
 * names of blocks. Pure. Its own file: the picture needs a page, this does not. */

import { visible } from '../../lib/format.js';

/* Pure: how the URL names a block; null of what is free or several. */
export const pieceId = ({ event, block }) => (event != null ? `e:${event}` : block != null ? `k:${block}` : null);

/* "large", "small, stream 7", "pool 1.0, large" */
export const groupTitle = ({ pool, stream, for: serves }) =>
  [
    pool === 'default' ? '' : `pool ${visible(pool)}`,
    serves ?? (pool === 'default' ? 'segments' : ''),
    stream ? `stream ${stream}` : '',
  ]
    .filter(Boolean)
    .join(', ');

/* Pure: segments of one pool, stream and size of requests stand together, the group with most bytes first; in each the
 * largest first, as they come. */
export function groupsOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    const title = groupTitle(row);
    if (!groups.has(title)) groups.set(title, { title, segments: [], bytes: 0 });
    const group = groups.get(title);
    group.segments.push(row);
    group.bytes += row.size_bytes;
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
}

/* Pure: the bar of a request that failed at this time, or null. */
export function requestOf({ failure }) {
  if (!failure) return null;
  return { bytes: failure.requested_bytes, fits_bytes: failure.largest_hole_bytes ?? 0 };
}
