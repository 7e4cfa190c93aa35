/* SPDX-License-Identifier: Apache-2.0
 * canned_device.mjs: answers about one device profile, in place of the daemon's, for what no real
 * file shows: hostile names, stacks by the thousand, views that fail. */

import { columnsOf as tableColumns } from './canned.mjs';

const MIB = 1024 ** 2;
const ID = 'dddddddddddd';

const SITE = [
  ['fn', 'Function', null, null],
  ['file', 'File:line', null, null],
];
const COLUMNS = {
  top: tableColumns([
    ['self', 'Self', 'metric'],
    ['total', 'Total', 'metric'],
    ['self_percent', 'Self', 'percent'],
    ['total_percent', 'Total', 'percent'],
    ['count', 'Buffers', 'count'],
    ['each', 'Each', 'bytes', 'each_max'],
    ...SITE,
  ]),
  buffers: tableColumns([
    ['each', 'Each', 'bytes'],
    ['count', 'Count', 'count'],
    ['total', 'Total', 'metric'],
    ['device', 'Device', null],
    ['kind', 'Kind', null],
    ['copies', 'Copies', 'count'],
    ...SITE,
  ]),
  series: tableColumns([
    ['verdict', 'Verdict', null],
    ['name', 'Call site', null, null],
    ['file', 'File:line', null, null],
    ...['first', 'last', 'change', 'slope'].map((name) => [name, name[0].toUpperCase() + name.slice(1), 'metric']),
    ['share', 'Of growth', 'percent'],
    ['', 'First … last', null, 'values'],
  ]),
};

/* rows: [[frame indices root first], bytes, count]; frames: [{function, file, line}]. */
function treeOf(frames, rows) {
  const root = { frame: -1, total: 0, self: 0, count: 0, below: new Map() };
  for (const [stack, bytes, count] of rows) {
    let node = root;
    node.total += bytes;
    node.count += count;
    for (const at of stack) {
      if (!node.below.has(at)) node.below.set(at, { frame: at, total: 0, self: 0, count: 0, below: new Map() });
      node = node.below.get(at);
      node.total += bytes;
      node.count += count;
    }
    node.self += bytes;
  }
  return root;
}

function columnsOf(root) {
  const nodes = { depth: [], frame: [], total: [], self: [], count: [], folded_above: [], folded_below: [] };
  const add = (node, depth) => {
    for (const [name, value] of Object.entries({
      depth,
      frame: node.frame,
      total: node.total,
      self: node.self,
      count: node.count,
      folded_above: 0,
      folded_below: 0,
    }))
      nodes[name].push(value);
    for (const child of [...node.below.values()].sort((a, b) => b.total - a.total)) add(child, depth + 1);
  };
  add(root, 0);
  return nodes;
}

/* Stacks through one frame: what it called, and who called it (nearest first). */
function pivotOf(frames, rows, at) {
  const through = rows.filter(([stack]) => stack.includes(at));
  const parts = (cut) =>
    columnsOf(
      treeOf(
        frames,
        through.map(([stack, ...rest]) => [cut(stack, stack.indexOf(at)), ...rest]),
      ),
    );
  return {
    nodes: parts((stack, place) => stack.slice(place)),
    callers: parts((stack, place) => stack.slice(0, place + 1).reverse()),
  };
}

const idOf = (at) => `f${String(at).padStart(11, '0')}`;

/* change: {frames, rows, notes, summary (over the usual), fails: {view: problem}}. Out: intercept(parts, query) of
 * canned.mjs, with `session` to put into its world. */
export function makeDevice(change = {}) {
  const frames = change.frames ?? [
    { function: 'main', file: '/a/train.py', line: 140 },
    { function: 'fit', file: '/a/train.py', line: 102 },
    { function: 'init_state', file: '/a/train.py', line: 88 },
    { function: 'load_batch', file: '/a/data.py', line: 31 },
  ];
  const rows = change.rows ?? [
    [[0, 1, 2], 8 * MIB, 8],
    [[0, 3], 2 * MIB, 4],
  ];
  const total = rows.reduce((sum, [, bytes]) => sum + bytes, 0);
  const count = rows.reduce((sum, [, , many]) => sum + many, 0);
  const frameOf = (at) => ({
    id: idOf(at),
    ...frames[at],
    name: `${frames[at].function} ${frames[at].file.split('/').pop()}:${frames[at].line}`,
    is_machinery: false,
  });
  const common = {
    metric: { name: 'space', unit: 'bytes' },
    is_diff: false,
    percent_base: total,
    total,
    filters: change.filters ?? [],
  };
  const sums = frames.map(() => ({ self: 0, total: 0 }));
  for (const [stack, bytes] of rows) {
    sums[stack.at(-1)].self += bytes;
    for (const at of new Set(stack)) sums[at].total += bytes;
  }
  const holds = (at) => sums[at];
  const topRows = () =>
    frames
      .map((_, at) => {
        const { self, total: all } = holds(at);
        return {
          frame: frameOf(at),
          self,
          self_percent: (100 * self) / total,
          total: all,
          total_percent: (100 * all) / total,
          count: 1,
          each_min: self || null,
          each_max: self || null,
        };
      })
      .sort((a, b) => b.total - a.total)
      .slice(0, 100);
  const fileAt = new Map();
  for (const { file } of frames) if (!fileAt.has(file)) fileAt.set(file, fileAt.size);
  const files = [...fileAt.keys()];
  const views = {
    summary: () => ({
      ...common,
      profiles: [
        {
          id: ID,
          name: change.profileName ?? 'memory.prof',
          role: 'profile',
          size_bytes: 1234,
          captured_at_ms: null,
          captured_at_from: null,
          sample_count: rows.length,
          total,
        },
      ],
      sample_types: [
        { name: 'allocations', unit: 'count' },
        { name: 'space', unit: 'bytes' },
      ],
      buffer_count: count,
      executable_count: 2,
      executable_unknown_count: 2,
      executable_total: 0,
      stackless_count: 0,
      devices: change.devices ?? [{ name: change.device ?? 'TPU_0', total, count }],
      kinds: [{ name: 'buffer', total, count }],
      top: topRows()
        .filter(({ self }) => self > 0)
        .slice(0, 3)
        .map(({ frame, self }) => ({ frame, callee: null, self, percent: (100 * self) / total, count: 1 })),
      rest: 0,
      before_total: null,
      after_total: null,
      sample_count: rows.length,
      has_source: false,
      ...change.summary,
    }),
    flame: (query) => ({
      ...common,
      ...(query.get('pivot')
        ? pivotOf(
            frames,
            rows,
            frames.findIndex((_, at) => idOf(at) === query.get('pivot')),
          )
        : {}),
      files,
      frames: {
        id: frames.map((_, at) => idOf(at)),
        function: frames.map((each) => each.function),
        file: frames.map(({ file }) => fileAt.get(file)),
        line: frames.map(({ line }) => line),
        is_machinery: frames.map(() => 0),
      },
      ...(query.get('pivot') ? {} : { nodes: columnsOf(treeOf(frames, rows)) }),
      sample_count: rows.length,
      depth_max: 4,
      left_out: { node_count: 0, below: 0 },
    }),
    top: () => ({
      ...common,
      total_count: frames.length,
      matched_count: frames.length,
      offset: 0,
      matched_self: total,
      columns: COLUMNS.top,
      rows: topRows(),
    }),
    callers: (query) => {
      const at = frames.findIndex((_, each) => idOf(each) === query.get('frame'));
      if (at < 0) return { ...common, nodes: [] };
      const { self, total: all } = holds(at);
      const side = (step) => {
        const sums = new Map();
        for (const [stack, bytes] of rows) {
          const place = stack.indexOf(at);
          const next = place < 0 ? undefined : stack[place + step];
          if (next !== undefined) sums.set(next, (sums.get(next) ?? 0) + bytes);
        }
        return [...sums].map(([each, value]) => ({ frame: frameOf(each), value, percent: (100 * value) / all }));
      };
      return {
        ...common,
        nodes: [
          {
            frame: frameOf(at),
            self,
            self_percent: 0,
            total: all,
            total_percent: 0,
            callers: side(-1),
            callees: side(1),
          },
        ],
      };
    },
    traces: () => ({ ...common, total_count: 0, offset: 0, frames: [], rows: [] }),
    tags: () => ({
      ...common,
      keys: [],
      pivot: {
        row_key: 'device',
        column_key: 'kind',
        rows: [change.device ?? 'TPU_0'],
        columns: ['buffer'],
        totals: [[total]],
        counts: [[count]],
      },
    }),
    buffers: () => ({
      ...common,
      total_count: rows.length,
      matched_count: rows.length,
      matched_total: total,
      matched_buffers: count,
      offset: 0,
      columns: COLUMNS.buffers,
      rows: rows.map(([stack, bytes, many], at) => ({
        id: at,
        each: bytes / many,
        count: many,
        total: bytes,
        device: change.device ?? 'TPU_0',
        kind: 'buffer',
        frame: frameOf(stack.at(-1)),
        callee: null,
        copies: 1,
        is_base: false,
      })),
    }),
    series: () => {
      const names = change.series ?? ['memory1.prof', 'memory2.prof', 'memory3.prof'];
      const of = (self) => names.map((_, at) => Math.round((self * (at + 1)) / names.length));
      const values = rows.map(([, bytes]) => of(bytes));
      return {
        ...common,
        profiles: names.map((name, at) => ({
          id: `${at}`.padStart(12, 'e'),
          name,
          captured_at_ms: null,
          total: values.reduce((sum, each) => sum + each[at], 0),
          count: at + 1,
        })),
        left_out: [
          {
            id: 'ffffffffffff',
            name: 'other.prof',
            code: 'types',
            reason: 'its sample types (cpu, samples) do not match (allocations, space)',
          },
        ],
        growth: total - Math.round(total / names.length),
        finding: {
          kind: 'level',
          sentence: 'what the core says',
          parts: ['what the core says'],
          evidence: { view: 'series', params: {} },
        },
        total_count: rows.length,
        matched_count: rows.length,
        offset: 0,
        columns: COLUMNS.series,
        verdict_counts: { grows: rows.length, steps_once: 0, steady: 0, shrinks: 0, irregular: 0 },
        sites: rows.map(([stack], at) => ({
          frame: frameOf(stack.at(-1)),
          callee: null,
          verdict: 'grows',
          first: values[at][0],
          last: values[at].at(-1),
          change: values[at].at(-1) - values[at][0],
          slope: (values[at].at(-1) - values[at][0]) / (names.length - 1),
          share: 50,
          values: values[at],
        })),
        rest: names.map(() => 0),
      };
    },
    graph: () => ({
      ...common,
      node_count: frames.length,
      edge_count: 2,
      node_cutoff: 0,
      edge_cutoff: 0,
      dropped_node_count: 0,
      dropped_edge_count: 0,
      nodes: frames.map((_, at) => ({ frame: frameOf(at), ...holds(at), count: 1 })),
      edges: [...new Set(rows.flatMap(([stack]) => stack.slice(1).map((to, at) => `${stack[at]} ${to}`)))].map(
        (pair) => {
          const [from, to] = pair.split(' ').map(Number);
          return { from: idOf(from), to: idOf(to), value: holds(to).total, is_residual: false, is_inline: false };
        },
      ),
    }),
  };
  return {
    id: ID,
    session: { kind: 'profiles', profile_count: 1, module_count: 0 },
    intercept(parts, query) {
      if (parts[0] === 'sessions' && parts[2] === 'profiles')
        return {
          json: {
            session: parts[1],
            profiles: [
              {
                id: ID,
                name: change.profileName ?? 'memory.prof',
                file: 'memory.prof',
                size_bytes: 1234,
                modified_at_ms: 0,
              },
            ],
            not_read: [],
          },
        };
      if (parts[0] !== 'device_memory') return null;
      const problem = change.fails?.[parts[1]];
      if (problem)
        return {
          status: problem.status,
          json: { type: 'about:blank', title: '', file: null, offset_bytes: null, ...problem },
        };
      const make = views[parts[1]];
      return (
        make && {
          json: { tool: 'device_memory', view: parts[1], params: {}, notes: change.notes ?? [], data: make(query) },
        }
      );
    },
  };
}
