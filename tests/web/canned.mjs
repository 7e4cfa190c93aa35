/* SPDX-License-Identifier: Apache-2.0
 * canned.mjs: answers in place of the daemon's, for what no real file shows: hostile
 * names, traces that do not replay, folders that cannot be read. */

const MIB = 1024 ** 2;
/* Nobody says what there is. */
const fitOf = (name, needed) => ({
  word: 'capacity not known',
  needed_bytes: needed,
  capacity_bytes: null,
  source: null,
  device_source: null,
  half_unit_bytes: 0,
  is_physical: false,
  share_bytes: null,
  over_bytes: null,
  free_bytes: null,
  sentence: `Needs ${needed} B of ${name}; capacity not known.`,
  parts: [
    ['Needs ', null, null],
    [`${needed} B`, needed, 'needed'],
    [` of ${name}; capacity not known.`, null, null],
  ].map(([text, bytes, role]) => ({ text, bytes, role })),
});
const NOW = Date.UTC(2025, 10, 21, 12, 2);

/* `columns` of an answer with a table. rows: [name, title, unit of a number or null, field if not the name, head in
   CSV]. */
export const columnsOf = (rows) =>
  rows.map(([name, title, unit, field = name, csv = field]) => ({
    name,
    aliases: [],
    title,
    type: unit == null ? 'text' : 'number',
    unit,
    field,
    csv,
    help: `what ${name} is`,
  }));

export const BUFFER_COLUMNS = columnsOf([
  ['name', 'Name', null],
  ['op', 'Opcode', null, 'opcode'],
  ['shape', 'Shape', null],
  ['size', 'Size', 'bytes', 'bytes', 'size_bytes'],
  ['pad', 'Padding', 'bytes', 'padding_bytes'],
  ['cat', 'Category', null, 'category'],
  ['kind', 'Kind', null, 'kind'],
  ['line', 'Source', null, null, 'source'],
  ['born', 'Born', 'step', 'born_step'],
  ['dies', 'Dies', 'step', 'dies_step'],
]);

const GROUP_COLUMNS = columnsOf([
  ['count', 'Count × each', 'count'],
  ['size', 'Total', 'bytes', 'bytes', 'size_bytes'],
  ['share', 'Share', 'percent', 'share_percent'],
  ['pad', 'Padding', 'bytes', 'padding_bytes'],
]);

/* Each buffer as a group of its own. */
const groupOf = (buffer, live) => ({
  key: buffer.group,
  count: 1,
  bytes: buffer.bytes,
  share_percent: live > 0 ? (100 * buffer.bytes) / live : 0,
  padding_bytes: buffer.padding_bytes,
  largest_bytes: buffer.bytes,
  smallest_bytes: buffer.bytes,
  largest_id: buffer.id,
  category: buffer.category,
  confidence: buffer.confidence,
  rule: buffer.rule,
  kind: buffer.kind,
  label: buffer.name,
  scope: buffer.op_name,
  shape: 'f32[1024,1024]',
  layer_count: null,
  source: `${buffer.source_file}:${buffer.source_line}`,
});

/* What each category has. */
const categoriesOf = (buffers) =>
  [...new Set(buffers.map(({ category }) => category))].map((category) => {
    const own = buffers.filter((buffer) => buffer.category === category);
    return { category, count: own.length, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0), guessed_bytes: 0 };
  });

export function makeWorld(change = {}) {
  const name = change.name ?? 'jit_train_step';
  const buffers = change.buffers ?? [
    makeBuffer('1', 'fusion.1', 64 * MIB),
    makeBuffer('2', 'copy.2', 32 * MIB, { padding_bytes: 8 * MIB }),
  ];
  const live = buffers.reduce((sum, buffer) => sum + buffer.bytes, 0);
  const space = {
    space: 0,
    name: 'HBM',
    name_is_known: true,
    total_bytes: live + MIB,
    peak_bytes: live,
    peak_unpadded_bytes: live - 8 * MIB,
    peak_step: 1,
    step_count: 4,
    schedule_length: 10,
    peak_schedule_position: 2,
    indefinite_bytes: 0,
    parameter_bytes: 0,
    output_bytes: 0,
    output_reused_bytes: 0,
    temporary_bytes: live + MIB,
    constant_bytes: 0,
    thread_local_bytes: 0,
    padding_bytes: 8 * MIB,
    fragmentation_bytes: MIB,
    buffer_count: buffers.length,
    live_at_peak_count: buffers.length,
    allocation_count: 1,
    step_unit: 'heap_trace',
    replay_error: null,
    scoped_vmem_bytes: null,
    scoped_vmem_instruction: null,
    fit: fitOf('HBM', live + MIB),
    ...change.space,
  };
  const module = {
    id: 'aaaaaaaaaaaa',
    name,
    key: name,
    program_id: '1',
    host: 'bbbbbbbbbbbb',
    file: 'host0.xplane.pb',
    stage: null,
    size_bytes: 1000,
    has_buffer_assignment: true,
    spaces: [{ space: 0, name: 'HBM', total_bytes: live, fit: fitOf('HBM', live) }],
    largest_total_bytes: live,
    error: null,
    ...change.module,
  };
  const session = {
    id: 'cccccccccccc',
    name: change.sessionName ?? 'run/one',
    kind: 'trace',
    modified_at_ms: NOW,
    size_bytes: 1000,
    host_count: 1,
    hosts: [{ id: 'bbbbbbbbbbbb', name: change.hostName ?? 'host0' }],
    module_count: change.modules?.length ?? 1,
    has_error_text: false,
    ...change.session,
  };
  return { buffers, live, space, module, session, change };
}

export function makeBuffer(id, name, bytes, more = {}) {
  const padding = more.padding_bytes ?? 0;
  return {
    id,
    name,
    opcode: 'fusion',
    shape: 'f32[1024,1024]{1,0:T(8,128)}',
    dtype: 'f32',
    bytes,
    unpadded_bytes: bytes - padding,
    padding_bytes: padding,
    expansion: bytes / (bytes - padding),
    category: 'workspace',
    confidence: 'rule',
    rule: 'outside_of_passes',
    kind: 'temporary',
    group: `group-${id}`,
    allocation: { index: 0, size_bytes: bytes, offset_bytes: 0 },
    op_name: 'jit(f)/mul',
    source_file: '/home/user/model.py',
    source_line: 41,
    born_step: 0,
    dies_step: 3,
    born_schedule: null,
    dies_schedule: null,
    is_indefinite: false,
    parameter_number: null,
    ...more,
  };
}

const bar = (buffer, at) => ({
  id: buffer.id,
  count: 1,
  bytes: buffer.bytes,
  unpadded_bytes: buffer.unpadded_bytes,
  padding_bytes: buffer.padding_bytes,
  name: buffer.name,
  category: buffer.category,
  confidence: buffer.confidence,
  rule: buffer.rule,
  kind: buffer.kind,
  first_rank: at,
});

function view(world, name, query) {
  const { buffers, live, space, module, change } = world;
  if (name === 'summary') {
    return {
      module: {
        name: module.name,
        entry_computation: 'main',
        instruction_count: 1,
        computation_count: 1,
        is_scheduled: true,
        has_buffer_assignment: module.has_buffer_assignment,
        platform: 'tpu',
      },
      peak_memory_bytes: live,
      spaces: change.spaces ?? [space],
    };
  }
  if (name === 'curve') {
    return {
      space: 0,
      step_unit: space.step_unit,
      step_count: 4,
      from: 0,
      to: 4,
      is_thinned: false,
      columns: {
        step: [0, 1, 2],
        bytes: [live / 2, live, 0],
        unpadded_bytes: [live / 2, live - 8 * MIB, 0],
        schedule_position: [0, 2, null],
        instruction: ['a', 'b', 'c'],
      },
      stack: [{ category: 'workspace', bytes: [live / 2, live, 0] }],
      peak: {
        step: 1,
        bytes: live,
        unpadded_bytes: live - 8 * MIB,
        instruction: buffers[0]?.name ?? '',
        schedule_position: 2,
      },
      local_peaks: [],
      failures: [],
      failure_count: 0,
      indefinite_bytes: 0,
    };
  }
  const ordered = [...buffers].sort((a, b) => b.bytes - a.bytes);
  if (name === 'strips') {
    return {
      space: 0,
      step: 1,
      bytes: live,
      buffer_count: buffers.length,
      matched_count: buffers.length,
      matched_bytes: live,
      categories: categoriesOf(buffers),
      bar_limit: 512,
      orders: {
        program: buffers.map(bar),
        size: ordered.map(bar),
        padding: ordered.filter((buffer) => buffer.padding_bytes > 0).map(bar),
      },
    };
  }
  if (name === 'map') {
    const rectangle = (buffer, at) => ({
      id: buffer.id,
      count: 1,
      from: 0,
      to: 3,
      low_bytes: at * MIB,
      high_bytes: at * MIB + buffer.bytes,
      bytes: buffer.bytes,
      padding_bytes: buffer.padding_bytes,
      largest_bytes: null,
      category: buffer.category,
      confidence: buffer.confidence,
      rule: buffer.rule,
      kind: buffer.kind,
      name: buffer.name,
      source: null,
    });
    return {
      space: 0,
      step_count: 4,
      height_bytes: live + MIB,
      from: 0,
      to: 4,
      low_bytes: 0,
      high_bytes: live + MIB,
      indefinite_count: 0,
      indefinite_bytes: 0,
      indefinite: [],
      rectangle_count: buffers.length,
      rectangles: buffers.map(rectangle),
    };
  }
  if (name === 'groups') {
    return {
      space: 0,
      step: 1,
      by: query.get('by') ?? 'shape',
      total_count: buffers.length,
      total_bytes: live,
      matched_count: buffers.length,
      matched_bytes: live,
      largest_bytes: ordered[0]?.bytes ?? 0,
      group_count: buffers.length,
      offset: 0,
      columns: GROUP_COLUMNS,
      member_columns: BUFFER_COLUMNS,
      groups: ordered.map((buffer) => groupOf(buffer, live)),
    };
  }
  if (name === 'buffers') {
    return {
      space: 0,
      step: 1,
      total_count: buffers.length,
      total_bytes: live,
      matched_count: buffers.length,
      matched_bytes: live,
      largest_bytes: ordered[0]?.bytes ?? 0,
      offset: 0,
      columns: BUFFER_COLUMNS,
      rows: ordered,
    };
  }
  const found = buffers.find((buffer) => buffer.id === query.get('id'));
  return (
    found && {
      ...found,
      stack: [{ file: found.source_file, function: found.name, line: 41, column: 1 }],
      layout: '{1,0}',
      computation: 'main',
      shared_with: [],
      is_live_at_peak: true,
      share_of_peak: found.bytes / live,
    }
  );
}

/* Answers a request of the page, or null to let it pass. */
export function answerer(world) {
  return (url) => {
    const parts = url.pathname.split('/api/v1/')[1]?.split('/');
    if (!parts) return null;
    const { session, module, change } = world;
    if (change.intercept) {
      const own = change.intercept(parts, url.searchParams);
      if (own) return own;
    }
    if (parts[0] === 'tools')
      return { json: { tools: [{ name: 'memory_viewer', title: 'Memory Viewer', views: [] }] } };
    if (parts[0] === 'about')
      return {
        json: {
          name: 'memviewd',
          version: '0',
          started_at_ms: NOW,
          scan_generation: 1,
          roots: change.roots ?? [
            {
              path: '/tmp/xprof',
              readable: true,
              missing: false,
              reason: '',
              last_scan_ms: NOW,
              file_count: 214,
              depth: 3,
            },
          ],
        },
      };
    if (parts[0] === 'sessions' && parts.length === 1) {
      const sessions = change.noSessions ? [] : [session];
      return {
        json: {
          total_count: sessions.length,
          matched_count: sessions.length,
          offset: 0,
          sessions,
          not_read: change.notRead ?? [],
          scan_generation: 1,
        },
      };
    }
    if (parts[0] === 'live' && parts.length === 1) return { json: { runs: [] } };
    if (parts[0] === 'verdict')
      return { json: { fits: 'unknown', cause: { kind: 'unknown', words: '', text: '' }, advice: [] } };
    if (parts[0] === 'sessions' && parts[1] !== session.id)
      return {
        status: 404,
        json: {
          type: 'about:blank',
          title: 'Not found',
          status: 404,
          detail: 'no such session',
          code: 'notfound',
          file: null,
          offset_bytes: null,
        },
      };
    if (parts[0] === 'sessions' && parts.length === 2)
      return {
        json: {
          id: session.id,
          name: session.name,
          kind: 'trace',
          modified_at_ms: NOW,
          hosts: session.hosts,
          files: [],
          notes: change.notes ?? [],
          error_texts: change.errorTexts ?? [],
          not_read: [],
        },
      };
    if (parts[0] === 'sessions') {
      const modules = change.modules ?? [module];
      const [worst] = modules.flatMap(({ id, name, file, spaces }) =>
        (spaces ?? []).map(({ space, name: spaceName, fit }) => ({
          module: id,
          name,
          file,
          space,
          space_name: spaceName,
          fit,
        })),
      );
      return {
        json: {
          total_count: modules.length,
          matched_count: modules.length,
          offset: 0,
          modules,
          notes: [],
          ...(worst && { worst }),
        },
      };
    }
    const data = view(world, parts[1], url.searchParams);
    if (!data)
      return {
        status: 404,
        json: {
          type: 'about:blank',
          title: 'Not found',
          status: 404,
          detail: 'no such buffer',
          code: 'notfound',
          file: null,
          offset_bytes: null,
        },
      };
    return { json: { tool: 'memory_viewer', view: parts[1], params: {}, notes: [], data } };
  };
}
