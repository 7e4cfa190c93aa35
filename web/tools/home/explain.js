/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of Home are made of. Pure: what was found of a session in, cards of explain.js
 * out. Its own file: loaded when the first card is opened. */

import { whyPhysical } from '../../lib/capacity.js';
import { baseName, bytes, bytesApart, count, percent, visible } from '../../lib/format.js';

const half = (capacity) =>
  capacity?.half > 0 ? [{ name: 'printed to ±', bytes: capacity.half, note: 'as the text rounds it' }] : [];

/* Where the figure of a session comes from, one row a kind of source: what it is, how it came about, where it stands in
 * the file. `worst` and its `from` are those of found.js. */
const SOURCES = {
  module: {
    what: ({ worst, from }) => `the total of ${visible(worst.name)} in ${visible(from.spaceName)}`,
    formula: ({ worst, from }) =>
      `Every allocation of ${visible(from.spaceName)} that the compiler made for ${visible(worst.name)}, with ` +
      `fragmentation, thread-local ones left out. Of all programs and memory spaces here it is the one furthest ` +
      `above its capacity, or nearest to it.`,
    field: (from) => `\`HloProto.buffer_assignment.buffer_allocations[].size\` where \`.color\` is ${from.space}`,
  },
  text: {
    what: ({ worst }) => `what ${visible(worst.name || 'the program')} asked for, as the text prints it`,
    formula: ({ from }) =>
      `The error text states it${from.spaceName ? ` for ${visible(from.spaceName)}` : ''}; the OOM page marks the ` +
      `place.`,
    field: () => 'a sentence of the error text',
    more: { why: 'As printed: where the text rounds it, to half of its last digit.' },
  },
  events: {
    what: ({ worst }) => `the peak in use of ${visible(worst.name)}`,
    formula: ({ worst, from }) =>
      `stack ${bytes(from.stack)} + heap ${bytes(from.heap)} = ${bytes(worst.bytes)}: the largest value that this ` +
      `allocator recorded after one of its ${count(from.eventCount)} events. It is the fullest one of the trace.`,
    field: () => 'events `MemoryAllocation` and `MemoryDeallocation`: `bytes_reserved` + `bytes_allocated`',
    more: { caveat: 'A higher peak before or after the trace is not included.' },
  },
  snapshot: {
    what: ({ worst }) => `the peak in use of ${visible(worst.name)}`,
    formula: ({ from }) =>
      `The blocks of the snapshot show what was in use at its end. From there, its ${count(from.eventCount)} ` +
      `allocations and frees are undone one by one. This is the fullest device.`,
    field: () => '`segments[].blocks[].requested_size` and `device_traces[][].size`',
    more: { caveat: 'A higher peak before the recording is not included.' },
  },
  profiles: {
    what: ({ from }) => `live arrays and code in ${visible(baseName(from.file))}`,
    formula: ({ from }) =>
      `The sum over the samples of ${visible(baseName(from.file))}; of ${count(from.profileCount)} profiles it has ` +
      `the most.`,
    field: (from) => `\`Profile.sample[].value[]\` of the sample type \`${visible(from.metric)}\``,
    more: { caveat: 'Temporaries inside a compiled program are not in such a file.' },
  },
};

const CAPACITIES = { events: 'what the allocator may give out', text: 'available, as the text prints it' };
const capacityWords = ({ kind, capacity }) =>
  capacity
    ? `${capacity.isPhysical ? 'physical size' : 'available'}: ${visible(capacity.source)}`
    : (CAPACITIES[kind] ?? CAPACITIES.text);

const placeOf = (from) => ({
  file: from.file ? visible(baseName(from.file)) : null,
  field: SOURCES[from.kind].field(from),
});

function needs(figure) {
  const { worst, from } = figure;
  const { what, formula, more } = SOURCES[from.kind];
  return {
    title: bytes(worst.bytes),
    formula: formula(figure),
    inputs: [{ name: what(figure), bytes: worst.bytes }],
    ...placeOf(from),
    confidence: 'exact',
    ...more,
  };
}

const against = ({ worst, from }, limit = { name: capacityWords(from), bytes: worst.capacity }) => [
  { name: SOURCES[from.kind].what({ worst, from }), bytes: worst.bytes },
  limit,
  ...half(from.capacity),
];

const sureOf = ({ from }) => ({
  ...placeOf(from),
  confidence: from.capacity?.isPhysical ? 'bound' : 'exact',
  why: whyPhysical(from.capacity),
});

/* Of a request: what it is held against, as the core says. */
function shareOfLimit(found) {
  const { worst, from } = found;
  const [asked, limit] = bytesApart(worst.bytes, worst.limit);
  const words = percent(worst.bytes, worst.limit);
  const limits = [
    { name: `${worst.limitWords.replace(/^(are|can be) /, '')}, as the text prints it`, bytes: worst.limit },
    ...(worst.capacity ? [{ name: 'the device has', bytes: worst.capacity }] : []),
  ];
  return {
    title: `${words} of the limit for the request`,
    formula: `${asked} ÷ ${limit} = ${words}`,
    inputs: [{ name: SOURCES[from.kind].what(found), bytes: worst.bytes }, ...limits],
    ...sureOf(found),
  };
}

function share(found) {
  const { worst } = found;
  if (worst.bytes != null && worst.limitWords) return shareOfLimit(found);
  if (!worst.capacity || worst.bytes == null) return null;
  const [needed, available] = bytesApart(worst.bytes, worst.capacity);
  const words = percent(worst.bytes, worst.capacity);
  return {
    title: `${words} of the capacity`,
    formula: `${needed} ÷ ${available} = ${words}`,
    inputs: against(found),
    ...sureOf(found),
  };
}

function over(found) {
  const { worst } = found;
  if (worst.bytes == null || !worst.capacity)
    return {
      title: `Over by ${worst.byText}`,
      formula: 'The text says by how much, but not of which capacity.',
      inputs: [{ name: 'over by', bytes: worst.by }],
      ...sureOf(found),
    };
  const isOfRequest = worst.limitWords != null && worst.limit != null;
  const limitName = isOfRequest ? worst.limitWords.replace(/^(are|can be) /, '') : 'what JAX takes by default';
  const limit = worst.isOfShare || isOfRequest ? { name: limitName, bytes: worst.limit } : undefined;
  const [needed, available] = bytesApart(worst.bytes, limit ? worst.limit : worst.capacity);
  return {
    title: `Over by ${worst.byText}`,
    formula: `${needed} − ${available} = ${worst.byText}`,
    inputs: against(found, limit),
    ...sureOf(found),
  };
}

const CARDS = { needs, share, over };

/* word: "needs", "share" or "over"; found: of lookAt(). Null where there is nothing to say. */
export function cardOf(word, found) {
  const worst = found?.worst;
  if (!worst?.from || (word === 'needs' && worst.bytes == null)) return null;
  return CARDS[word]?.({ worst, from: worst.from }) ?? null;
}
