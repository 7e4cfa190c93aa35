/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of the Memory Profile are made of. Pure: what the page knows
 * in (`trace` of page.js, what is drawn of it, rowOf(id)), cards of explain.js out. Loaded when the first card is
 * opened. */

import { bytes, count, percent, time, visible } from '../../lib/format.js';

const EVENTS = 'events `MemoryAllocation` and `MemoryDeallocation` of `/host:CPU`';
const stat = (name) => `stat \`${name}\` of the event`;
const fileOf = (view) => view.summary.hosts.find((host) => host.host === view.pool.host)?.file ?? '';

function peak(view) {
  const { peak: at } = view.pool;
  return {
    title: `Peak ${bytes(at.in_use_bytes)}`,
    formula:
      `stack ${bytes(at.stack_bytes)} + heap ${bytes(at.heap_bytes)} = ${bytes(at.in_use_bytes)}: the largest ` +
      `value that the allocator recorded after one of its ${count(view.pool.event_count)} events.`,
    inputs: [
      { name: 'stack, reserved', bytes: at.stack_bytes },
      { name: 'heap, in use', bytes: at.heap_bytes },
      { name: 'peak', bytes: at.in_use_bytes },
    ],
    file: fileOf(view),
    field: `${EVENTS}: \`bytes_reserved\` + \`bytes_allocated\``,
    confidence: 'exact',
    why: `Recorded by the allocator at ${time(at.time_ps, 1e6)}.`,
    caveat:
      'Only what was recorded: a higher peak before or after the trace is not included, nor is memory outside this ' +
      'allocator.',
  };
}

function capacity(view) {
  const { peak: at, capacity_bytes: whole, capacity_source: source } = view.pool;
  if (!whole) return null;
  return {
    title: `Capacity ${bytes(whole)}`,
    formula:
      `${visible(source ?? '')}: in use ${bytes(at.in_use_bytes)} + free ${bytes(at.free_bytes)} = ` +
      `${bytes(whole)}.`,
    inputs: [
      { name: 'in use at the peak', bytes: at.in_use_bytes },
      { name: 'free at the peak', bytes: at.free_bytes },
      { name: 'capacity', bytes: whole },
    ],
    file: fileOf(view),
    field: stat('bytes_available'),
    confidence: 'exact',
    why: 'It is what the allocator may allocate, not the size of the card.',
  };
}

function free(view) {
  const { peak: at } = view.pool;
  const largest = view.pool.peak_largest_free_bytes;
  return {
    title: `Free ${bytes(at.free_bytes)} at the peak`,
    formula:
      `fragmentation = 1 − largest free chunk ÷ free = ${percent(at.fragmentation ?? 0, 1)}, so the largest ` +
      `free chunk has ${bytes(at.free_bytes)} × ${percent(1 - (at.fragmentation ?? 0), 1)} = ${bytes(largest)}.`,
    inputs: [
      { name: 'largest free chunk', bytes: largest },
      { name: 'in smaller holes', bytes: at.free_bytes == null || largest == null ? null : at.free_bytes - largest },
      { name: 'free', bytes: at.free_bytes },
    ],
    file: fileOf(view),
    field: `${stat('bytes_available')} and \`fragmentation\``,
    confidence: 'bound',
    why: 'The allocator prints the share with six digits; the chunk follows from it to that precision.',
  };
}

function lifetimePeak(view) {
  return {
    title: `Highest since the program began: ${bytes(view.pool.lifetime_peak_bytes)}`,
    formula: 'Its peak as the allocator itself records it, after its last event.',
    inputs: [{ name: 'lifetime peak', bytes: view.pool.lifetime_peak_bytes }],
    file: fileOf(view),
    field: stat('peak_bytes_in_use'),
    confidence: 'exact',
    caveat: 'It may lie before the trace: what was live then is not recorded.',
  };
}

function spread(view) {
  const pools = view.summary.pools.filter((pool) => pool.kind === 'device');
  const peaks = pools.map((pool) => pool.peak.in_use_bytes);
  const [max, min] = [Math.max(...peaks), Math.min(...peaks)];
  return {
    title: `Spread ${bytes(view.summary.spread_bytes)}`,
    formula:
      `largest peak ${bytes(max)} − smallest ${bytes(min)} of ${count(pools.length)} devices = ` +
      `${bytes(max - min)}.`,
    inputs: [
      { name: 'largest peak', bytes: max },
      { name: 'smallest peak', bytes: min },
    ],
    confidence: 'exact',
    caveat: 'Devices that do the same work have nearly equal peaks; a device that stands out holds more of something.',
  };
}

function curve(view) {
  const { pool, drawn: data } = view;
  return {
    title: 'Memory over time',
    formula:
      'Each event says what is in use after it: stack (`bytes_reserved`) and heap (`bytes_allocated`). A value holds ' +
      'until the next event; nothing is drawn between two events. ' +
      (data.is_thinned
        ? `Of ${count(data.event_count)} events in view, each pixel keeps the first, smallest, largest and last: no ` +
          `peak is lost.`
        : `All ${count(data.event_count)} events in view are drawn.`),
    inputs: [
      { name: 'peak', bytes: pool.peak.in_use_bytes },
      { name: 'min', bytes: pool.min_bytes },
      { name: 'before the first event', bytes: pool.first_bytes },
    ],
    file: fileOf(view),
    field: EVENTS,
    confidence: 'exact',
    why: pool.chain.break_count
      ? `${count(pool.chain.break_count)} of ${count(pool.chain.link_count)} events do not follow from the event ` +
        `before: events are missing, or their order is not known.`
      : `For all ${count(pool.chain.link_count)} events, bytes in use before the event plus its size are the bytes ` +
        `in use after it.`,
  };
}

const REMAINDERS = {
  stack: ['What the runtime set aside for itself, after the event at this time.', 'bytes_reserved', 'exact'],
  before_window: [
    'In use before the first event, minus what later frees of unknown allocations return: it was allocated before ' +
      'the trace began and is never freed in it.',
    'bytes_allocated',
    'exact',
  ],
  before_window_freed: [
    'The sizes of later frees whose allocation is not in the trace, so the memory was already in use.',
    'allocation_bytes',
    'exact',
  ],
  unaccounted: [
    'The allocator’s own figure for memory in use, minus all rows and the other remainders: events are missing, or ' +
      'their sizes are not known.',
    'bytes_allocated',
    'exact',
  ],
};

function size(view, id) {
  const row = view.rowOf(id);
  const remainder = row?.isRemainder ? REMAINDERS[row.code] : null;
  if (remainder)
    return {
      title: `${bytes(row.size_bytes)}, inferred`,
      formula: remainder[0],
      inputs: [{ name: 'this remainder', bytes: row.size_bytes }],
      file: fileOf(view),
      field: stat(remainder[1]),
      confidence: remainder[2],
      why: 'Rows and remainders add up to the curve at this time; this is what makes them balance.',
      caveat: 'What it was allocated for is not recorded.',
    };
  const isGroup = row?.count > 1;
  return {
    title: row ? `Size ${bytes(row.size_bytes)}` : 'Size',
    formula:
      (isGroup ? `The sum of ${count(row.count)} allocations that are open at this time. ` : '') +
      'What the allocator took for a request: rounded up to whole chunks, and larger if it did not split one.',
    inputs: row
      ? [
          row.requested_bytes != null && { name: 'asked for', bytes: row.requested_bytes },
          { name: 'taken', bytes: row.size_bytes },
        ].filter(Boolean)
      : [],
    file: fileOf(view),
    field: stat('allocation_bytes'),
    confidence: 'exact',
    why: 'Rows and the named remainders add up to what is in use at this time.',
    caveat: 'On TPUs a free has no size: it is that of its allocation, found by address.',
  };
}

function between(view, id) {
  const row = view.rowOf(id);
  return {
    title: `Born ${bytes(row?.born_bytes ?? 0)}, died ${bytes(row?.died_bytes ?? 0)}`,
    formula:
      'Between the times A and B: allocations in this range are born, allocations freed in it died. An allocation ' +
      'that is made and freed between A and B counts in both.',
    inputs: row
      ? [
          { name: 'born', bytes: row.born_bytes, note: count(row.born_count) },
          { name: 'died', bytes: row.died_bytes, note: count(row.died_count) },
        ]
      : [],
    file: fileOf(view),
    field: EVENTS,
    confidence: 'exact',
  };
}

function lifetime(view, id) {
  const row = view.rowOf(id);
  const isPair = row?.kind === 'pair';
  return {
    title: isPair ? `Lifetime ${time(row.lifetime_ps, 1e6)}` : 'Lifetime not known',
    formula: isPair
      ? `freed at ${time(row.freed_ps, 1e6)} − allocated at ${time(row.time_ps, 1e6)}. The free is the next event at ` +
        `the same address.`
      : 'An allocation and the next free at its address are a pair. This one has no partner in the trace.',
    file: fileOf(view),
    field: stat('addr'),
    confidence: 'exact',
    caveat: 'Two allocations at one address without a free between them: the first ends where the second begins.',
  };
}

function slope(view, id) {
  const row = view.rowOf(id);
  const line = 'The least-squares line through what is live at each boundary';
  return {
    title: row ? `${bytes(Math.abs(row.slope_bytes_per_step))} a step` : 'Growth',
    formula: row
      ? `${line}, ${count(row.step_count + 1)} of them. It grew in ${count(row.grown_count)} and shrank in ` +
        `${count(row.shrunk_count)} of ${count(row.step_count)} steps.`
      : `${line}, for each op, data type and shape.`,
    inputs: row
      ? [
          { name: 'first', bytes: row.first_bytes },
          { name: 'last', bytes: row.last_bytes },
          { name: 'largest', bytes: row.largest_bytes },
        ]
      : [],
    file: fileOf(view),
    field: EVENTS,
    confidence: 'exact',
    why:
      'Grows: up in at least half of the steps, down in at most a tenth, and higher at the end than at the ' +
      'beginning. Steps once: one change, then level. Steady: none.',
    caveat: 'A step that ends after the last recorded time is left out.',
  };
}

function hole(view) {
  return {
    title: 'Largest hole',
    formula: 'The longest range of addresses between two blocks that are known to be in use at this time.',
    file: fileOf(view),
    field: stat('addr'),
    confidence: 'bound',
    why:
      'An upper bound: memory from before the trace that is never freed has no address here, and may lie in this ' +
      'range.',
  };
}

function unknown(view) {
  return {
    title: 'In use at unknown addresses',
    formula:
      'Memory in use according to the allocator, minus the blocks whose address is known from an allocation or a ' +
      'later free.',
    file: fileOf(view),
    field: `${stat('bytes_allocated')} and \`addr\``,
    confidence: 'exact',
  };
}

function chunk(view) {
  return {
    title: 'Largest free chunk',
    formula: 'free × (1 − fragmentation): the allocator reports fragmentation as (free − largest free chunk) ÷ free.',
    file: fileOf(view),
    field: `${stat('bytes_available')} and \`fragmentation\``,
    confidence: 'bound',
    why: 'The allocator prints the share with six digits. If it may still grow its pool, a larger request may succeed.',
  };
}

function request(view) {
  return {
    title: 'Largest request',
    formula: 'The largest request in the trace, compared with the largest free chunk after each event.',
    file: fileOf(view),
    field: stat('requested_bytes'),
    confidence: 'bound',
    why: 'Whether it would have failed follows from the largest free chunk, which is known to six digits.',
  };
}

/* Keys: "peak", "size:ROW". */
const CARDS = {
  peak,
  capacity,
  free,
  lifetime: lifetimePeak,
  spread,
  curve,
  size,
  between,
  lasting: lifetime,
  slope,
  hole,
  unknown,
  chunk,
  request,
};

export function cardOf(view, name, id) {
  return view.pool ? (CARDS[name]?.(view, id) ?? null) : null;
}
