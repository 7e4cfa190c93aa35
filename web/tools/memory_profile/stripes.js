/* SPDX-License-Identifier: Apache-2.0
 * stripes.js: allocations of a snapshot as stripes below the line of memory over time, as ../../widgets/stripes.js lays and
 * paints them: which there are, what each is called, and the ones beside it. Its own file: the timeline without stripes
 * knows nothing of it. */

import { bytes, count, duration, spokenBytes, time, visible } from '../../lib/format.js';
import { categoryWord } from '../../widgets/categories.js';
import { layStripes } from '../../widgets/stripes.js';
import { taken } from '../../widgets/spread.js';

/* So many are asked for: more are narrower than a pixel on any screen. */
export const MAX_BLOCKS = 1200;

const UNKNOWN = 'unknown';
/* No event is behind all others, and none before them. */
const idOf = ({ event, block }) => (event == null ? `k:${block}` : `e:${event}`);

/* "modeling_llama.py:208 eager_attention_forward" → the function, and its file and line; of a line without a file all of it. */
function partsOfLine(line) {
  const [, source, name] = /^(\S+:\d+) (.+)$/.exec(line) ?? [null, '', line];
  return { name, source };
}

/* Who made it: of what was there before the recording nobody knows. */
export const madeWords = ({ line, op, from_event: from, block }) => line ?? op ?? (from == null && block == null ? 'from before the recording' : 'no stack recorded');

/* Pure: a block of the answer as stripes.js wants it; block: the row itself. */
export const itemOf = (block) => ({
  id: idOf(block),
  ...partsOfLine(madeWords(block)),
  bytes: block.size_bytes,
  category: block.category ?? UNKNOWN,
  from: block.from_event ?? -1,
  to: block.to_event ?? Infinity,
  block,
});

/* Pure: the bands of the answer as the base of the stripes, from the bottom: what was there before has no category. */
const baseOf = ({ stacked }, hasBefore, lowAt) =>
  stacked.bands.map((band) => {
    const values = (hasBefore ? [band.before_bytes, ...band.bytes] : band.bytes).map((value) => Math.max(0, value));
    const name = band.kind === 'group' ? band.label : band.kind === 'unnamed' ? UNKNOWN : band.kind;
    return { name, values: lowAt ? taken(values, lowAt) : values, ...(band.kind === 'before' ? { tone: 'alloc-stack' } : {}) };
  });

/* Pure: the first index of each part whose events share a pixel: they have one lowest event. */
const partsOf = (lowAt) => lowAt.flatMap((low, at) => (at === 0 || low !== lowAt[at - 1] ? [at] : []));

/* Pure: what is drawn below the line: {steps: ps, stripes, gap: what is reserved above it, or null}; null where the answer has no blocks, or no categories. drawn:
 * {x, events, ends, shift, used, held: reserved, or null} of timelineOf; extra: an item that is pinned, whatever its size. Where events share a pixel,
 * the stripes are those at the lowest of them. */
export function stripesOf(data, { x, events, ends, shift, used, held }, extra = null) {
  if (!data.blocks || data.stacked?.by !== 'category' || data.stacked.bands.length === 0) return null;
  const parts = ends ? partsOf(ends.lowAt) : null;
  const lowAt = parts ? taken(ends.lowAt, parts) : null;
  const at = (list) => (lowAt ? taken(list, lowAt) : list);
  const items = data.blocks.map(itemOf);
  if (extra && items.every(({ id }) => id !== extra.id)) items.push(extra);
  const laid = { steps: at(events.map((event) => event ?? -1)), stack: baseOf(data, shift > 0, lowAt) };
  const highAt = parts && taken(ends.highAt, parts);
  const isHeldKnown = held?.every((value) => value != null);
  const gap = isHeldKnown ? { item: null, first: 0, low: highAt ? taken(used, highAt) : used, high: highAt ? taken(held, highAt) : held, words: 'free in segments' } : null;
  return { steps: parts ? taken(x, parts) : x, stripes: layStripes(laid, items), gap };
}

/* Pure: the stripe beside that of `id` at a time: 1 above, -1 below, in what is drawn there; the widest part of its life that is
 * drawn where it is not there at that time. What has less than leastBytes is passed over. Without an id the largest one. */
export function stripeBeside(view, { id, leastBytes }, ps, direction) {
  const own = view.stripes.find(({ item }) => item?.id === id);
  const index = view.steps.findLastIndex((step) => step <= ps);
  const isThere = ({ first, low }, at) => at >= first && at < first + low.length;
  const at = !own || isThere(own, index) ? index : own.first + (own.low.length >> 1);
  const there = view.stripes
    .filter((band) => band.item && isThere(band, at) && (band === own || band.item.bytes >= leastBytes))
    .sort((a, b) => a.low[at - a.first] - b.low[at - b.first]);
  if (!own) return there.reduce((largest, { item }) => (largest && largest.bytes >= item.bytes ? largest : item), null);
  return there[there.indexOf(own) + direction]?.item ?? null;
}

const categoryOf = ({ category, confidence }) => `${categoryWord(category ?? UNKNOWN)}${confidence === 'guess' ? ' (guess)' : ''}`;

/* "446.8 ms to 512.0 ms, 65.2 ms"; what is not told of its ends is said. */
export function lifeWords({ born_ps: born, freed_ps: freed }) {
  if (born == null) return freed == null ? 'there all the time' : `from before the recording to ${time(freed, 1e6)}`;
  if (freed == null) return `from ${time(born, 1e6)}, not freed in the recording`;
  return `${time(born, 1e6)} to ${time(freed, 1e6)}, ${duration(freed - born)}`;
}

/* Lines of the tooltip: what it is, and what all there hold then. */
export const stripeLines = ({ block }, reading) => [
  [bytes(block.size_bytes), ` ${categoryOf(block)}`],
  [visible(madeWords(block))],
  [`${lifeWords(block)} · at ${time(reading.time_ps)} ${bytes(reading.in_use_bytes)} in use`],
];

export const stripeSentence = ({ block }) =>
  `${spokenBytes(block.size_bytes)}, ${categoryOf(block)}, ${visible(madeWords(block))}, ${lifeWords(block)}.`;

/* "the 1,200 largest of 12,345 allocations are drawn apart", or nothing where each has its stripe. */
export const apartWords = ({ blocks, block_count: all }) => (blocks && blocks.length < all ? `the ${count(blocks.length)} largest of ${count(all)} allocations are drawn apart` : '');
