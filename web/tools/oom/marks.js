/* SPDX-License-Identifier: Apache-2.0
 * marks.js: from the ranges of a failure to the pieces of a text: what is marked, what was read
 * and what was not understood. Ranges count bytes, so pieces are cut from bytes and decoded each. Pure. */

/* [{begin, end, keys: [key]}], ascending, without overlaps; of two that overlap the earlier named stays. */
export function marksOf(ranges) {
  const kept = [];
  const add = ([begin, end], key) => {
    const same = kept.find((mark) => mark.begin === begin && mark.end === end);
    if (same) same.keys.push(key);
    else if (!kept.some((mark) => begin < mark.end && mark.begin < end)) kept.push({ begin, end, keys: [key] });
  };
  const { text, buffers, io_buffers: io, ...figures } = ranges;
  for (const [key, range] of Object.entries(figures)) add(range, key);
  for (const [list, rows] of [['buffers', buffers], ['io_buffers', io]]) {
    for (const [at, row] of rows.entries()) {
      for (const [key, range] of Object.entries(row)) if (key !== 'label' || !row.shape) add(range, `${list}.${at}.${key}`);
    }
  }
  return kept.sort((a, b) => a.begin - b.begin);
}

/* The bytes [from, from + data.length) of a text as pieces: {text, keys, isRead}. `whole`: the range of the
 * failure itself; what lies outside was not understood as part of it. */
export function piecesOf(data, from, marks, whole, encoding) {
  const decoder = new TextDecoder(encoding);
  const end = from + data.length;
  const cuts = new Set([from, end]);
  for (const at of [...marks.flatMap((mark) => [mark.begin, mark.end]), ...(whole ?? [])]) if (at > from && at < end) cuts.add(at);
  const places = [...cuts].sort((a, b) => a - b);
  const byBegin = new Map(marks.map((mark) => [mark.begin, mark]));
  const pieces = [];
  let open = null;
  for (let i = 0; i + 1 < places.length; i++) {
    const [begin, stop] = [places[i], places[i + 1]];
    open = byBegin.get(begin) ?? (open && begin < open.end ? open : null);
    pieces.push({
      text: decoder.decode(data.subarray(begin - from, stop - from)),
      keys: open?.keys ?? [],
      isRead: Boolean(whole && begin >= whole[0] && begin < whole[1]),
    });
  }
  return pieces;
}

/* Where to look: the failure with a little around it, at most `most` bytes. */
export function windowAround(whole, size, around, most) {
  const [begin, end] = whole ?? [0, 0];
  const from = Math.max(0, begin - around);
  return [from, Math.min(size, Math.max(end + around, from + 2 * around), from + most)];
}
