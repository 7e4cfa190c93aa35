/* SPDX-License-Identifier: Apache-2.0
 * memory_profile_explain.js: what the figures of the Memory Profile are made of. Pure: what the page knows
 * in, cards of explain.js out. Loaded when the first card is opened. */

import { bytes, count, percent, time, visible } from '../lib/format.js';

const EVENTS = 'events `MemoryAllocation` and `MemoryDeallocation` of `/host:CPU`';
const stat = (name) => `stat \`${name}\` of the event`;
const fileOf = (view) => view.summary.hosts.find((host) => host.host === view.pool.host)?.file ?? '';

function peak(view) {
  const { peak: at } = view.pool;
  return {
    title: `Peak ${bytes(at.in_use_bytes)}`,
    formula: `stack ${bytes(at.stack_bytes)} + heap ${bytes(at.heap_bytes)} = ${bytes(at.in_use_bytes)}: the largest that the allocator said after one of its ${count(view.pool.event_count)} events.`,
    inputs: [
      { name: 'stack, reserved', bytes: at.stack_bytes },
      { name: 'heap, in use', bytes: at.heap_bytes },
      { name: 'peak', bytes: at.in_use_bytes },
    ],
    file: fileOf(view),
    field: `${EVENTS}: \`bytes_reserved\` + \`bytes_allocated\``,
    confidence: 'exact',
    why: `Recorded by the allocator at ${time(at.time_ps, 1e6)}.`,
    caveat: 'Of what was recorded: a higher peak before or after the trace is not in it, nor is memory outside of this allocator.',
  };
}

function capacity(view) {
  const { peak: at, capacity_bytes: whole, capacity_source: source } = view.pool;
  if (!whole) return null;
  return {
    title: `Capacity ${bytes(whole)}`,
    formula: `${visible(source ?? '')}: in use ${bytes(at.in_use_bytes)} + free ${bytes(at.free_bytes)} = ${bytes(whole)}.`,
    inputs: [
      { name: 'in use at the peak', bytes: at.in_use_bytes },
      { name: 'free at the peak', bytes: at.free_bytes },
      { name: 'capacity', bytes: whole },
    ],
    file: fileOf(view),
    field: stat('bytes_available'),
    confidence: 'exact',
    why: 'It is what the allocator may give out, not the size of the card.',
  };
}

function free(view) {
  const { peak: at } = view.pool;
  const largest = at.free_bytes * (1 - (at.fragmentation ?? 0));
  return {
    title: `Free ${bytes(at.free_bytes)} at the peak`,
    formula: `fragmentation = 1 − largest free chunk ÷ free = ${percent(at.fragmentation ?? 0, 1)}, so the largest free chunk has ${bytes(at.free_bytes)} × ${percent(1 - (at.fragmentation ?? 0), 1)} = ${bytes(largest)}.`,
    inputs: [
      { name: 'largest free chunk', bytes: Math.round(largest) },
      { name: 'in smaller holes', bytes: at.free_bytes - Math.round(largest) },
      { name: 'free', bytes: at.free_bytes },
    ],
    file: fileOf(view),
    field: `${stat('bytes_available')} and \`fragmentation\``,
    confidence: 'bound',
    why: 'The allocator prints the share with six digits; the chunk follows from it to that precision.',
  };
}

function lifetime(view) {
  return {
    title: `Highest since the program began: ${bytes(view.pool.lifetime_peak_bytes)}`,
    formula: 'What the allocator itself remembers as its peak, after its last event.',
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
  const [most, least] = [Math.max(...peaks), Math.min(...peaks)];
  return {
    title: `Spread ${bytes(view.summary.spread_bytes)}`,
    formula: `largest peak ${bytes(most)} − smallest ${bytes(least)} of ${count(pools.length)} devices = ${bytes(most - least)}.`,
    inputs: [
      { name: 'largest peak', bytes: most },
      { name: 'smallest peak', bytes: least },
    ],
    confidence: 'exact',
    caveat: 'Devices that do the same work have nearly equal peaks; one that stands out holds more of something.',
  };
}

function size() {
  return {
    title: 'Size',
    formula: 'What the allocator took for a request: rounded up to its chunks, and larger where it did not split one. Rows and the named remainders add up to what is in use at the moment.',
    field: stat('allocation_bytes'),
    confidence: 'exact',
    why: 'A free of a TPU carries no size: it is that of its allocation, found by the address.',
  };
}

const CARDS = { peak, capacity, free, lifetime, spread, size };

export function cardOf(view, key) {
  return view.pool ? (CARDS[key.split(':')[0]]?.(view) ?? null) : null;
}
