/* SPDX-License-Identifier: Apache-2.0
 * canned_pool.mjs: the events of a small training loop, the pools that they make, and the summary of them. */

import { bytes } from '../../web/lib/format.js';

export const MIB = 1024 ** 2;
export const STEP_PS = 10e9;
export const CAPACITY = 1024 * MIB;
const BEFORE = 400 * MIB;

/* Events of a loop: `steps` steps of four layers; each leaks 1 MiB. */
function makeEvents({ steps = 20, before = BEFORE, scale = 1 } = {}) {
  const events = [];
  let used = before;
  const add = (time, chunk, isAllocation) => {
    used += isAllocation ? chunk.size : -chunk.size;
    events.push({
      ...chunk,
      time,
      isAllocation,
      used,
      step: Math.floor((time - STEP_PS) / STEP_PS),
      event: events.length,
    });
  };
  let address = 0x7f0000000000;
  const chunk = (op, mib, shape, region = 'temp') => {
    const size = mib * MIB * scale;
    address += size + (op === 'mul' ? 8 * MIB : 0);
    return { op, size, requested: size - 16, shape, region, dtype: 'f32', address: address - size };
  };
  for (let step = 0; step < steps; step++) {
    const at = STEP_PS * (step + 1);
    const held = [];
    address = 0x7f0000000000 + step * MIB;
    add(at + 0.5e9, chunk('metrics/append', 1, '[1048576]', 'persist'), true);
    for (let layer = 0; layer < 4; layer++) {
      const activation = chunk(layer % 2 ? 'mul' : 'dot_general', 16 + 4 * layer, `[${layer + 1},1024,1024]`);
      add(at + 1e9 + layer * 1e9, activation, true);
      held.push(activation);
    }
    if (step === 1)
      add(at + 4.6e9, { op: '', size: 100 * MIB, address: 0x7effff000000, shape: '', region: '', dtype: '' }, false);
    held.reverse().forEach((activation, layer) => add(at + 5e9 + layer * 1e9, activation, false));
  }
  return events;
}

/* Sentences as the core makes them; a figure is [bytes, its name]. */
export function said(...parts) {
  const made = parts.map((one) =>
    Array.isArray(one) ? { bytes: one[0], text: bytes(one[0]), ...(one[1] ? { figure: one[1] } : {}) } : one,
  );
  return { sentence: made.map((one) => one.text ?? one.name ?? one).join(''), parts: made };
}

export const point = (event, before) => ({
  time_ps: event.time,
  event: event.event,
  in_use_bytes: event.used,
  stack_bytes: 0,
  heap_bytes: event.used,
  free_bytes: CAPACITY - event.used,
  fragmentation: 0.1,
  step: event.step,
  ...before,
});

/* Pairs by address: [{allocation | null, free | null}]. */
function pairsOf(events) {
  const open = new Map();
  const pairs = [];
  for (const event of events) {
    if (event.isAllocation) {
      const pair = { allocation: event, free: null };
      open.set(event.address, pair);
      pairs.push(pair);
    } else if (open.has(event.address)) {
      open.get(event.address).free = event;
      open.delete(event.address);
    } else pairs.push({ allocation: null, free: event });
  }
  return pairs;
}

export function makePool(memory, host, options = {}) {
  const events = makeEvents(options);
  const peak = events.reduce((best, event) => (event.used > best.used ? event : best));
  const pairs = pairsOf(events);
  const bounds = Array.from({ length: options.steps ?? 20 }, (_, step) => STEP_PS * (step + 1));
  return { memory, host, events, peak, pairs, bounds, options };
}

export function summaryOf(pools, hosts, reason, notes = []) {
  return {
    reason,
    hosts: hosts.map((host) => ({
      ...host,
      file: `${host.name}.xplane.pb`,
      error: null,
      reason,
      event_count: 100,
      allocation_count: 50,
      deallocation_count: 50,
      pool_count: pools.length,
      step_count: 20,
      launch_count: 20,
      start_ps: Math.min(...pools.map((pool) => pool.events[0].time)),
      end_ps: Math.max(...pools.map((pool) => pool.events.at(-1).time)),
      profile_start_unix_ns: null,
      has_tpu: false,
      has_gpu: true,
      program_count: 1,
      notes,
    })),
    pools: pools.map((pool) => ({
      host: pool.host,
      host_name: hosts.find(({ host }) => host === pool.host).name,
      memory: pool.memory,
      kind: 'device',
      event_count: pool.events.length,
      allocation_count: pool.events.filter((event) => event.isAllocation).length,
      deallocation_count: pool.events.filter((event) => !event.isAllocation).length,
      never_freed_count: pool.pairs.filter((pair) => !pair.free).length,
      before_window_count: pool.pairs.filter((pair) => !pair.allocation).length,
      capacity_bytes: CAPACITY,
      capacity_source: 'reserved + in use + free of the events',
      peak: point(pool.peak),
      peak_largest_free_bytes: Math.floor((CAPACITY - pool.peak.used) * 0.9),
      ...((is) => ({ is_peak_free_in_pieces: is, is_fragmentation_shown: is }))(pool.peak.used > CAPACITY / 2),
      lifetime_peak_bytes: pool.peak.used,
      min_bytes: Math.min(...pool.events.map((event) => event.used)),
      first_bytes: pool.events[0].used,
      last_bytes: pool.events.at(-1).used,
      start_ps: pool.events[0].time,
      end_ps: pool.events.at(-1).time,
      has_free: true,
      free_word: 'free',
      has_fragmentation: true,
      has_addresses: true,
      chain: { link_count: pool.events.length - 1, break_count: 0 },
      finding: pool.options.finding ?? null,
      course: said(`${pool.events.length} allocations and frees.`),
      sparkline_bytes: Array.from(
        { length: 64 },
        (_, at) => pool.events[Math.floor((at * pool.events.length) / 64)].used,
      ),
      notes: [],
    })),
    spread_bytes: pools.length > 1 ? pools[0].peak.used - pools.at(-1).peak.used : null,
  };
}
