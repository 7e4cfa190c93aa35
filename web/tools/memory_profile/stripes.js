/* SPDX-License-Identifier: Apache-2.0
 * stripes.js: allocations as stripes below the line of memory over time, as ../../widgets/stripes.js lays and paints
 * them: which there are, what each is called, and the ones beside it. Each has the colour of the band that counts it;
 * where the timeline has no bands, those of the stack and of the heap. Its own file: the timeline without stripes knows
 * nothing of it. */

import { bytes, duration, spokenBytes, time, visible } from '../../lib/format.js';
import { categoryWord } from '../../widgets/categories.js';
import { layStripes } from '../../widgets/stripes.js';
import { taken } from '../../widgets/spread.js';
import { toneOf } from './bands.js';
import { guessWords } from './text.js';

/* So many are asked for: more are narrower than a pixel on any screen. */
export const MAX_BLOCKS = 1200;

const UNKNOWN = 'unknown';
const HEAP = 'heap';
/* No event is behind all others, and none before them. */
const idOf = ({ event, block }) => (event == null ? `k:${block}` : `e:${event}`);

/* "modeling_llama.py:208 eager_attention_forward" → the function, and its file and line; of a line without a file all
   of it. */
function partsOfLine(line) {
  const [, source, name] = /^(\S+:\d+) (.+)$/.exec(line) ?? [null, '', line];
  return { name, source };
}

const unmadeWords = ({ from_event: from, block }, hasCategories) =>
  from == null && block == null ? 'from before the recording' : hasCategories ? 'no stack recorded' : 'no op recorded';
/* Who made it: of what was there before the recording nobody knows. hasCategories: of the recording, told from its
   stacks. */
export const madeWords = (row, hasCategories = true) =>
  row.line ?? row.op ?? (guessWords(row) || unmadeWords(row, hasCategories));

const categoryOf = ({ category, confidence }) =>
  `${categoryWord(category ?? UNKNOWN)}${confidence === 'guess' ? ' (guess)' : ''}`;

/* Pure: a block of the answer as stripes.js wants it; block: the row itself; category: the band that counts it, by its
   place;
 * kind: its category, or its shape where the recording has none. */
export const itemOf = (block, hasCategories = true) => ({
  id: idOf(block),
  ...partsOfLine(madeWords(block, hasCategories)),
  bytes: block.size_bytes,
  category: block.band,
  from: block.from_event ?? -1,
  to: block.to_event ?? Infinity,
  made: madeWords(block, hasCategories),
  kind: hasCategories ? categoryOf(block) : visible(block.shape ?? ''),
  block,
});

/* Pure: the place of the band that counts an allocation which is not in the answer, as far as its labels tell. */
const placeOf = ({ block }, { stacked }) => {
  if (!stacked) return HEAP;
  const labels = { category: block.category, op: block.op, program: block.program };
  if (!Object.hasOwn(labels, stacked.by)) return -1; /* not drawn */
  const label = labels[stacked.by];
  return stacked.bands.findIndex((band) =>
    label == null ? band.kind === 'unnamed' : band.kind === 'group' && band.label === label,
  );
};

/* Pure: the base of the stripes, from the bottom: the bands of the answer, or stack and heap. at(): of a list what is
   drawn. */
function baseOf(data, columns, hasBefore, at) {
  const clipped = (values) => at(values).map((value) => Math.max(0, value));
  if (!data.stacked)
    return [
      { name: 'stack', tone: 'alloc-stack', values: clipped(columns.stack_bytes) },
      { name: HEAP, tone: 'alloc-heap', values: clipped(columns.heap_bytes) },
    ];
  return data.stacked.bands.map((band, place) => ({
    name: place,
    tone: toneOf(data, band),
    values: clipped(hasBefore ? [band.before_bytes, ...band.bytes] : band.bytes),
  }));
}

/* Pure: the first index of each part whose events share a pixel: they have one lowest event. */
const partsOf = (lowAt) => lowAt.flatMap((low, at) => (at === 0 || low !== lowAt[at - 1] ? [at] : []));

/* Pure: what is drawn below the line: {steps: ps, stripes, gap: what is reserved above it, or null}; null where the
   answer has
 * no blocks, or cannot tell the bands that were asked for. drawn: {x, columns, ends, shift, used, held: reserved, or
 * null} of timelineOf; extra: an item that is pinned, whatever its size. Where events share a pixel, the stripes are
 * those at the lowest of them. */
export function stripesOf(data, { x, columns, ends, shift, used, held }, { extra = null, hasCategories = true } = {}) {
  if (!data.blocks || data.stacked?.bands.length === 0) return null;
  const parts = ends ? partsOf(ends.lowAt) : null;
  const lowAt = parts ? taken(ends.lowAt, parts) : null;
  const at = (list) => (lowAt ? taken(list, lowAt) : list);
  const items = data.blocks.map((block) => itemOf({ ...block, band: data.stacked ? block.band : HEAP }, hasCategories));
  if (extra && items.every(({ id }) => id !== extra.id)) items.push({ ...extra, category: placeOf(extra, data) });
  const laid = { steps: at(columns.event.map((event) => event ?? -1)), stack: baseOf(data, columns, shift > 0, at) };
  const highAt = parts && taken(ends.highAt, parts);
  const isHeldKnown = held?.every((value) => value != null);
  const gap = isHeldKnown
    ? {
        item: null,
        first: 0,
        low: highAt ? taken(used, highAt) : used,
        high: highAt ? taken(held, highAt) : held,
        words: 'free in segments',
      }
    : null;
  return { steps: parts ? taken(x, parts) : x, stripes: layStripes(laid, items), gap };
}

/* Pure: the stripe beside that of `id` at a time: 1 above, -1 below, in what is drawn there; the widest part of its
   life that is
 * drawn where it is not there at that time. What has less than leastBytes is passed over. Without an id the largest
 * one. */
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

/* "446.8 ms to 512.0 ms, 65.2 ms"; what is not told of its ends is said. */
export function lifeWords({ born_ps: born, freed_ps: freed }) {
  if (born == null) return freed == null ? 'there all the time' : `from before the recording to ${time(freed, 1e6)}`;
  if (freed == null) return `from ${time(born, 1e6)}, not freed in the recording`;
  return `${time(born, 1e6)} to ${time(freed, 1e6)}, ${duration(freed - born)}`;
}

/* Lines of the tooltip: what it is, and what all there hold then. */
export const stripeLines = ({ block, made, kind }, reading) => [
  [bytes(block.size_bytes), kind ? ` ${kind}` : ''],
  [visible(made)],
  [`${lifeWords(block)} · at ${time(reading.time_ps)} ${bytes(reading.in_use_bytes)} in use`],
];

export const stripeSentence = ({ block, made, kind }) =>
  `${[spokenBytes(block.size_bytes), kind, visible(made), lifeWords(block)].filter(Boolean).join(', ')}.`;
