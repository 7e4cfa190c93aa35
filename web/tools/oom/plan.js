/* SPDX-License-Identifier: Apache-2.0
 * plan.js: the compiler's plan of the program that a text speaks of, where the session has it: what the
 * text does not itemise, and where the two do not say the same. All but planOf is pure. */

import { get, Problem } from '../../lib/api.js';
import { bytes, visible } from '../../lib/format.js';

const MAX_BUFFERS = 1000;
const NEAR = 0.01;
const UNITS = [1024 ** 4, 1024 ** 3, 1024 ** 2, 1024];

/* The space of the plan that a failure is about; null: the plan has none of that name. */
export function spaceOf(failure, spaces) {
  const wanted = (failure.memory_space ?? 'hbm').toLowerCase();
  return spaces.find((space) => space.name.toLowerCase() === wanted) ?? null;
}

/* How far a size may be from what the text printed: texts round to two places of their unit. */
export const roundingOf = (printed) => 0.0051 * (UNITS.find((each) => printed >= each) ?? 0);

/* Is what the text asks for the whole of a program? Only the compiler asks for that, and not for one buffer. */
export const isOfPlan = (failure) => failure.phase === 'compile' && failure.form !== 'allocation_exceeds';

/* {parts, limit, of, whole, over} as barOf() of bar.js gives it; null without sizes. */
export function planBarOf(plan, failure) {
  const { space } = plan;
  if (!space || !space.total_bytes) return null;
  const lost = Math.max(0, Math.min(space.fragmentation_bytes ?? 0, space.temporary_bytes));
  const parts = [
    ['arguments', space.parameter_bytes, 'parameter'],
    ['outputs', space.output_bytes - space.output_reused_bytes, 'output'],
    ['constants', space.constant_bytes, 'constant'],
    ['temporaries', space.temporary_bytes, 'temporary', lost],
  ]
    .filter(([, size]) => size > 0)
    .map(([word, size, look, fragmentation = 0]) => ({ word, bytes: size, fragmentation_bytes: fragmentation, key: null, look }));
  const rest = space.total_bytes - parts.reduce((sum, part) => sum + part.bytes, 0);
  if (rest > 0) parts.push({ word: 'others', bytes: rest, fragmentation_bytes: 0, key: null, look: 'unknown' });
  const capacity = failure.capacity_bytes;
  const limit = capacity === null ? null : { word: 'capacity', bytes: capacity, key: 'capacity_bytes' };
  const { over_bytes: over, over_text: text } = failure.verdict;
  return { parts, limit, of: 'in the plan', whole_bytes: space.total_bytes, over_bytes: over ?? 0, over_word: 'over by', over_text: text };
}

/* Does the text and its plan say the same? One or two sentences. */
export function agreement(failure, plan) {
  const spaceName = visible((failure.memory_space ?? 'hbm').toUpperCase());
  const total = plan.space?.total_bytes ?? 0;
  const asked = failure.needed_bytes;
  if (asked === null) return plan.space ? `The text states no total; the plan takes ${bytes(total)} of ${spaceName}.` : '';
  const isOfKernel = failure.form === 'scoped_vmem' || (failure.form === 'allocation_exceeds' && spaceName !== 'HBM');
  if (isOfKernel)
    return `Text and plan speak of different things: the ${bytes(asked)} are asked for inside one kernel, and no plan lists that. The plan takes ${bytes(total)} of ${spaceName}.`;
  if (total === 0) return `The plan of the program takes nothing of ${spaceName}; the text asks for ${bytes(asked)}.`;
  if (!isOfPlan(failure))
    return `The text asks for ${bytes(asked)} in one piece, which need not be all of the program; its plan takes ${bytes(total)} of ${spaceName}.`;
  const by = total - asked;
  const isRounded = Math.abs(by) <= roundingOf(asked);
  if (isRounded) return `Text and plan agree: ${bytes(asked)} in the text, ${bytes(total)} in the plan${by === 0 ? '' : ', the same but for rounding'}.`;
  const share = Math.abs(by) / Math.max(1, asked);
  const why = share > NEAR ? ' The plan may be of another compile of the program: with other flags, or before the last change.' : '';
  return `Text and plan disagree: ${bytes(asked)} in the text, ${bytes(total)} in the plan, ${bytes(Math.abs(by))} ${by > 0 ? 'more' : 'less'}.${why}`;
}

const bare = (shape) => (shape ?? '').replace(/\{.*$/, '');

/* Rows of the text → the buffer of the plan that is meant, each at most once: same size as far as it was printed,
 * and the same op name or shape. Out: Map of id → buffer. */
export function matchRows(rows, buffers) {
  const left = new Set(buffers);
  const found = new Map();
  const looks = [
    (row, buffer) => row.op_name !== null && row.op_name === buffer.op_name && bare(row.shape) === bare(buffer.shape),
    (row, buffer) => row.shape !== null && bare(row.shape) === bare(buffer.shape),
    (row, buffer) => row.op_name !== null && row.op_name === buffer.op_name,
  ];
  for (const isSame of looks)
    for (const row of rows) {
      if (found.has(row.id) || row.size_bytes === null) continue;
      for (const buffer of left) {
        if (Math.abs(buffer.bytes - row.size_bytes) > roundingOf(row.size_bytes) || !isSame(row, buffer)) continue;
        found.set(row.id, buffer);
        left.delete(buffer);
        break;
      }
    }
  return found;
}

/* The buffers of the plan as rows of the table, where the text lists none. */
export function planRows(plan) {
  return plan.buffers.map((buffer, place) => ({
    id: `plan.${buffer.id}`,
    list: 'plan',
    place,
    keys: [],
    size_bytes: buffer.bytes,
    unpadded_bytes: buffer.unpadded_bytes,
    padding_bytes: buffer.padding_bytes,
    shape: bare(buffer.shape),
    op_name: buffer.op_name || null,
    source_file: buffer.source_file || null,
    source_line: buffer.source_line || null,
    stack_frame_id: null,
    label: null,
    allocation_type: buffer.category,
    name: buffer.op_name || buffer.name,
    times: buffer.unpadded_bytes > 0 ? buffer.bytes / buffer.unpadded_bytes : null,
    buffer,
  }));
}

/* {module, space: of the summary or null, buffers: alive at its peak, largest first, total: how many are alive there}; null
 * when the program has no plan. */
export async function planOf(failure, session, module, signal) {
  const about = { session: session.id, module: module.id };
  try {
    const { data } = await get('memory_viewer/summary', about, { signal });
    if (!data.module.has_buffer_assignment) return null;
    const space = spaceOf(failure, data.spaces);
    if (!space || space.total_bytes === 0) return { session, module, space, buffers: [], total: 0 };
    const answer = await get('memory_viewer/buffers', { ...about, space: space.space, sort: '-size', limit: MAX_BUFFERS }, { signal });
    return { session, module, space, buffers: answer.data.rows, total: answer.data.total_count };
  } catch (error) {
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}
