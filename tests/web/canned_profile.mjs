/* SPDX-License-Identifier: Apache-2.0
 * canned_profile.mjs: a small training loop as the daemon would answer it, for what no recorded trace
 * shows together: several hosts, launches of programs, a leak, what was there before. Every figure is
 * computed here from the list of events, in the plainest way. */

import { columnsOf } from './canned.mjs';
import { bytes } from '../../web/lib/format.js';
import { CAPACITY, MIB, STEP_PS, makePool, point, said, summaryOf } from './canned_pool.mjs';

function stateAt(pool, time) {
  const at = pool.events.filter((event) => event.time <= time).at(-1);
  return at ?? { ...pool.events[0], time, event: null, used: pool.events[0].used - pool.events[0].size, step: null };
}

const TEXTS = ['op', 'region', 'dtype', 'shape', 'thread'].map((name) => [
  name,
  name[0].toUpperCase() + name.slice(1),
  null,
]);
const COLUMNS = {
  live: columnsOf([
    ['size', 'Size', 'bytes', 'size_bytes'],
    ['requested', 'Requested', 'bytes', 'requested_bytes'],
    ['count', 'Count', 'count'],
    ['step', 'Step', 'step'],
    ...TEXTS,
    ['born', 'Born', 'bytes', 'born_bytes'],
    ['died', 'Died', 'bytes', 'died_bytes'],
  ]),
  events: columnsOf([
    ['time', 'Time', 'ps', 'time_ps'],
    ['size', 'Size', 'bytes', 'size_bytes'],
    ['requested', 'Requested', 'bytes', 'requested_bytes'],
    ['step', 'Step', 'step'],
    ...TEXTS,
    ['address', 'Address', null],
    ['lifetime', 'Lifetime', 'ps', 'lifetime_ps'],
    ['freed_by', 'Freed by', null],
    ['freed_step', 'Freed in', 'step'],
  ]),
  growth: columnsOf([
    ...TEXTS.filter(([name]) => ['op', 'dtype', 'shape'].includes(name)),
    ['slope', 'Slope', 'bytes_per_step', 'slope_bytes_per_step'],
    ['first', 'First', 'bytes', 'first_bytes'],
    ['size', 'Last', 'bytes', 'last_bytes'],
    ['grown', 'Grew in', 'count', 'grown_count'],
    ['verdict', 'Verdict', null],
  ]),
};

const number = (query, name) => (query.has(name) ? Number(query.get(name)) : null);

function timeline(pool, query) {
  const [start, end] = [pool.events[0].time, pool.events.at(-1).time];
  const [from, to] = [number(query, 'from') ?? start, number(query, 'to') ?? end];
  const shown = pool.events.filter((event) => event.time >= from && event.time <= to);
  const texts = [...new Set(shown.flatMap(({ op, region, dtype, shape }) => [op, region, dtype, shape]))].filter(
    Boolean,
  );
  const index = (name) => shown.map((event) => texts.indexOf(event[name]));
  const columns = shown.map((event) => point(event));
  const column = (name) => columns.map((row) => row[name]);
  return {
    host: pool.host,
    memory: pool.memory,
    from_ps: from,
    to_ps: to,
    start_ps: start,
    end_ps: end,
    event_count: shown.length,
    is_thinned: false,
    has_free: true,
    has_fragmentation: true,
    capacity_bytes: CAPACITY,
    before: point(stateAt(pool, from - 1)),
    columns: Object.fromEntries([
      ...['time_ps', 'event', 'stack_bytes', 'heap_bytes', 'free_bytes', 'fragmentation', 'step'].map((name) => [
        name,
        column(name),
      ]),
      ['largest_fragmentation', null],
    ]),
    details: {
      texts,
      activity: shown.map((event) => (event.isAllocation ? 'allocation' : 'deallocation')),
      size_bytes: shown.map((event) => event.size),
      requested_bytes: shown.map((event) => event.requested ?? null),
      address: shown.map((event) => `0x${event.address.toString(16)}`),
      op: index('op'),
      region: index('region'),
      dtype: index('dtype'),
      shape: index('shape'),
    },
    window_peak: point(shown.reduce((best, event) => (event.used > best.used ? event : best), stateAt(pool, from - 1))),
    peak: point(pool.peak),
    ...{ local_peaks: [], failures: [], failure_count: 0 },
  };
}

function lanes(pool, query) {
  const run = (step) => ({ start_ps: STEP_PS * (step + 1), end_ps: STEP_PS * (step + 2) - 1e9, merged_count: 1 });
  const steps = pool.bounds.map((_, step) => ({ step, name: 'train', step_num: step + 100, ...run(step) }));
  const launches = pool.bounds.map((_, step) => ({
    name: 'jit_train_step',
    key: 'jit_train_step',
    program_id: '1',
    ...run(step),
  }));
  return {
    from_ps: number(query, 'from'),
    to_ps: number(query, 'to'),
    start_ps: STEP_PS,
    end_ps: STEP_PS * (pool.bounds.length + 1),
    step_count: steps.length,
    launch_count: launches.length,
    steps,
    lanes: [
      {
        name: 'TPU:0',
        plane: '/device:TPU:0',
        line: 'XLA Modules',
        is_inferred: false,
        launch_count: launches.length,
        launches,
      },
    ],
  };
}

function matches(row, filter) {
  if (filter?.startsWith('key:')) return row.key === filter.slice(4);
  return (
    !filter || JSON.stringify([row.op, row.shape, row.dtype]).includes(filter.replace(/^op:/, '').replaceAll('"', ''))
  );
}

function live(pool, query) {
  const time = query.get('time') === 'peak' || !query.has('time') ? pool.peak.time : number(query, 'time');
  const state = stateAt(pool, time);
  const alive = pool.pairs.filter(
    ({ allocation, free }) => allocation && allocation.time <= time && (!free || free.time > time),
  );
  const isEach = query.get('group') === 'none';
  const by = isEach
    ? null
    : ['same', null].includes(query.get('group'))
      ? ['op', 'step', 'region', 'dtype', 'shape']
      : query.get('group').split(',');
  const [a, b] = [number(query, 'a'), number(query, 'b')];
  const groups = new Map();
  const at = (event, key) => {
    const names = by ?? ['op', 'step', 'region', 'dtype', 'shape'];
    if (!groups.has(key))
      groups.set(key, {
        key,
        size_bytes: 0,
        requested_bytes: 0,
        count: 0,
        ...Object.fromEntries(
          ['op', 'step', 'region', 'dtype', 'shape'].map((name) => [name, names.includes(name) ? event[name] : null]),
        ),
        thread: null,
        address: null,
        event: event.event,
        born_ps: event.time,
        freed_ps: null,
        born_bytes: 0,
        born_count: 0,
        died_bytes: 0,
        died_count: 0,
      });
    return groups.get(key);
  };
  const keyOf = (event) => (isEach ? `e:${event.event}` : `g:${by.map((name) => event[name]).join('|')}`);
  for (const { allocation } of alive) {
    const row = at(allocation, keyOf(allocation));
    row.size_bytes += allocation.size;
    row.requested_bytes += allocation.requested;
    row.count++;
  }
  if (a != null)
    for (const { allocation, free } of pool.pairs.filter((pair) => pair.allocation)) {
      const row = at(allocation, keyOf(allocation));
      if (allocation.time > a && allocation.time <= b)
        Object.assign(row, { born_bytes: row.born_bytes + allocation.size, born_count: row.born_count + 1 });
      if (free && free.time > a && free.time <= b)
        Object.assign(row, { died_bytes: row.died_bytes + free.size, died_count: row.died_count + 1 });
    }
  const all = [...groups.values()]
    .filter((row) => row.size_bytes || row.born_bytes || row.died_bytes)
    .sort((x, y) => y.size_bytes - x.size_bytes);
  const rows = all.filter((row) => matches(row, query.get('filter')));
  const sum = (list) => list.reduce((total, row) => total + row.size_bytes, 0);
  const before = state.used - sum(all);
  return {
    host: pool.host,
    memory: pool.memory,
    ...point(state),
    group: by ?? [],
    total_count: all.length,
    matched_count: rows.length,
    matched_bytes: sum(rows),
    matched_allocation_count: rows.length,
    offset: 0,
    columns: COLUMNS.live,
    rows,
    remainders: [{ code: 'before_window', size_bytes: before, count: null, text: 'bytes in use at its start' }],
    rows_bytes: sum(all),
    total_bytes: sum(all) + before,
    matches_curve: true,
    balance: `${bytes(sum(all) + before)} = curve at this time`,
    between:
      a == null
        ? null
        : {
            a_ps: a,
            b_ps: b,
            born_bytes: all.reduce((total, row) => total + row.born_bytes, 0),
            born_count: all.reduce((total, row) => total + row.born_count, 0),
            died_bytes: all.reduce((total, row) => total + row.died_bytes, 0),
            died_count: all.reduce((total, row) => total + row.died_count, 0),
            in_use_difference_bytes: stateAt(pool, b).used - stateAt(pool, a).used,
          },
  };
}

function events(pool, query) {
  const rows = pool.pairs.map(({ allocation, free }) => ({
    event: (allocation ?? free).event,
    kind: !allocation ? 'before_window' : free ? 'pair' : 'never_freed',
    time_ps: allocation?.time ?? null,
    size_bytes: (allocation ?? free).size,
    requested_bytes: allocation?.requested ?? null,
    op: allocation?.op ?? null,
    step: allocation?.step ?? null,
    region: allocation?.region ?? null,
    dtype: allocation?.dtype ?? null,
    shape: allocation?.shape ?? null,
    address: `0x${(allocation ?? free).address.toString(16)}`,
    thread: 'python3',
    freed_event: free?.event ?? null,
    freed_ps: free?.time ?? null,
    lifetime_ps: allocation && free ? free.time - allocation.time : null,
    freed_by: free ? 'free_op' : null,
    freed_step: free?.step ?? null,
    freed_thread: 'python3',
    in_use_bytes: (allocation ?? free).used,
  }));
  const kept = rows.filter((row) => matches(row, query.get('filter')));
  const offset = number(query, 'offset') ?? 0;
  return {
    total_count: rows.length,
    matched_count: kept.length,
    matched_bytes: 0,
    offset,
    columns: COLUMNS.events,
    rows: kept.slice(offset, offset + 100),
  };
}

function event(pool, query) {
  const found = pool.events[number(query, 'id')];
  if (!found) return null;
  const pair = pool.pairs.find(({ allocation, free }) => allocation === found || free === found);
  const shown = (one) =>
    one && {
      ...point(one),
      activity: one.isAllocation ? 'allocation' : 'deallocation',
      size_bytes: one.size,
      requested_bytes: one.requested ?? null,
      address: `0x${one.address.toString(16)}`,
      op: one.op || null,
      step_name: 'train',
      step_num: one.step + 100,
      region: one.region || null,
      dtype: one.dtype || null,
      shape: one.shape || null,
      thread: 'python3',
      lifetime_peak_bytes: one.used,
      change_bytes: one.isAllocation ? one.size : -one.size,
      follows_chain: true,
    };
  const partner = pair.allocation === found ? pair.free : pair.allocation;
  return {
    event: shown(found),
    partner: shown(partner),
    relation: partner ? 'pair' : found.isAllocation ? 'never_freed' : 'before_window',
  };
}

function growth(pool) {
  const values = (of) => pool.bounds.map((time) => of(time));
  const series = (bytes, counts) => {
    const steps = bytes.slice(1).map((value, at) => value - bytes[at]);
    const grown = steps.filter((step) => step > 0).length;
    return {
      slope_bytes_per_step: steps.reduce((sum, step) => sum + step, 0) / steps.length,
      first_bytes: bytes[0],
      last_bytes: bytes.at(-1),
      largest_bytes: Math.max(...bytes),
      first_count: counts[0],
      last_count: counts.at(-1),
      step_count: steps.length,
      grown_count: grown,
      shrunk_count: steps.filter((step) => step < 0).length,
      verdict: grown === steps.length ? 'grows' : grown ? 'varies' : 'steady',
      sentence: `grows 1.00 MiB a step, ${grown} of ${steps.length} steps`,
      sparkline_bytes: bytes,
    };
  };
  const aliveAt = (time, op) =>
    pool.pairs.filter(
      ({ allocation, free }) => allocation?.op === op && allocation.time <= time && (!free || free.time > time),
    );
  const of = (op) =>
    series(
      values((time) => aliveAt(time, op).reduce((sum, pair) => sum + pair.allocation.size, 0)),
      values((time) => aliveAt(time, op).length),
    );
  return {
    host: pool.host,
    memory: pool.memory,
    boundary: 'step',
    reason: null,
    boundary_count: pool.bounds.length,
    boundaries: { step: pool.bounds.map((_, at) => at), time_ps: pool.bounds },
    whole: series(
      values((time) => stateAt(pool, time).used),
      values(() => 1),
    ),
    total_count: 1,
    matched_count: 1,
    offset: 0,
    columns: COLUMNS.growth,
    rows: [
      { ...of('metrics/append'), key: 'g:metrics/append', op: 'metrics/append', dtype: 'f32', shape: '[1048576]' },
    ],
  };
}

function addresses(pool, query) {
  const time = query.get('time') === 'peak' ? pool.peak.time : number(query, 'time');
  const alive = pool.pairs
    .filter(({ allocation, free }) => allocation && allocation.time <= time && (!free || free.time > time))
    .map((pair) => pair.allocation)
    .sort((x, y) => x.address - y.address);
  const [low, high] = [alive[0].address, alive.at(-1).address + alive.at(-1).size];
  const blocks = [];
  let at = low;
  const add = (address, size, kind, one) =>
    blocks.push({
      address: `0x${address.toString(16)}`,
      offset_bytes: address - low,
      size_bytes: size,
      kind,
      count: 1,
      event: one?.event ?? null,
      op: one?.op ?? null,
      shape: one?.shape ?? null,
      dtype: one?.dtype ?? null,
      step: one?.step ?? null,
      used_bytes: one ? size : 0,
    });
  for (const one of alive) {
    if (one.address > at) add(at, one.address - at, 'hole', null);
    if (one.address >= at) add(one.address, one.size, 'allocation', one);
    at = Math.max(at, one.address + one.size);
  }
  const holes = blocks.filter((block) => block.kind === 'hole').sort((x, y) => y.size_bytes - x.size_bytes);
  const hex = (value) => `0x${value.toString(16)}`;
  return {
    host: pool.host,
    memory: pool.memory,
    time_ps: time,
    event: 0,
    reason: null,
    low: hex(low),
    high: hex(high),
    span_bytes: high - low,
    first: hex(low),
    last: hex(high),
    known_bytes: 0,
    unknown_bytes: 300 * MIB,
    block_count: alive.length,
    hole_count: holes.length,
    said: said(
      `${alive.length} blocks and ${holes.length} holes. The largest hole between them has `,
      [holes[0].size_bytes, 'largest_hole'],
      '. ',
      [300 * MIB, 'unknown'],
      ' are in use at addresses that are not in the trace: a hole may be one of these.',
    ),
    largest_hole: holes[0] ? { address: holes[0].address, size_bytes: holes[0].size_bytes } : null,
    blocks,
  };
}

function fragmentation(pool) {
  const free = pool.events.map((one) => CAPACITY - one.used);
  const largest = free.map((value) => Math.round(value * 0.9));
  return {
    host: pool.host,
    memory: pool.memory,
    from_ps: pool.events[0].time,
    to_ps: pool.events.at(-1).time,
    reason: null,
    columns: {
      time_ps: pool.events.map((one) => one.time),
      event: pool.events.map((one) => one.event),
      free_bytes: free,
      fragmentation: free.map(() => 0.1),
      largest_free_bytes: largest,
      failed_request_bytes: free.map(() => null),
    },
    worst: {
      time_ps: pool.events[0].time,
      event: 0,
      free_bytes: free[0],
      fragmentation: 0.1,
      largest_free_bytes: largest[0],
    },
    said: said(
      `Worst at ${pool.events[0].time / 1e9} ms: `,
      [free[0]],
      ' free, the largest free chunk ',
      [largest[0], 'largest_chunk'],
      '. The largest request asked for ',
      [28 * MIB, 'largest_request'],
      ' (',
      { name: 'mul' },
      '); it would have fitted at any time.',
    ),
    largest_request: { event: 3, time_ps: pool.events[3].time, size_bytes: 28 * MIB, op: 'mul' },
    failing_ps: 0,
  };
}

const VIEWS = {
  timeline,
  lanes,
  live,
  events,
  event,
  growth,
  addresses,
  fragmentation,
  holes: ({ memory }) => ({
    memory,
    time_ps: 0,
    event: 0,
    reason: null,
    failure: null,
    finding: null,
    pin_count: 0,
    pins: [],
  }),
};

/* An `intercept` for makeWorld of canned.mjs. change: {reason, finding, notes, more: memory ids besides the two}. */
export function profileAnswers(change = {}) {
  const hosts = [{ host: 'bbbbbbbbbbbb', name: 'host0' }];
  const pools = change.reason
    ? []
    : [
        makePool('GPU_0_bfc', hosts[0].host, { finding: change.finding, steps: change.steps }),
        makePool('GPU_1_bfc', hosts[0].host, { before: 300 * MIB }),
        ...Array.from({ length: change.more ?? 0 }, (_, at) =>
          makePool(`GPU_${at + 2}_bfc`, hosts[0].host, { before: 300 * MIB }),
        ),
      ];
  return (parts, query) => {
    if (parts[0] !== 'memory_profile') return null;
    const pool = pools.find((each) => each.memory === query.get('memory')) ?? pools[0];
    const data =
      parts[1] === 'summary'
        ? summaryOf(pools, hosts, change.reason ?? null, change.notes)
        : VIEWS[parts[1]]?.(pool, query);
    if (!data)
      return {
        status: 404,
        json: {
          type: 'about:blank',
          title: 'Not found',
          status: 404,
          detail: 'no such event',
          code: 'notfound',
          file: null,
          offset_bytes: null,
        },
      };
    return { json: { tool: 'memory_profile', view: parts[1], params: {}, notes: [], data } };
  };
}
