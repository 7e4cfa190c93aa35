/* SPDX-License-Identifier: Apache-2.0
 * explain_fields.js: where figures of the Memory Viewer stand in a program, and how sure their times are. */

export const ALLOCATIONS = '`HloProto.buffer_assignment.buffer_allocations[]`';
export const TRACES = '`HloProto.buffer_assignment.heap_simulator_traces[].events[]`';
export const BUFFERS = '`HloProto.buffer_assignment.logical_buffers[]`';

/* Fields of an allocation that make it one of these. */
export const FLAGS = {
  arguments: '`is_entry_computation_parameter`',
  outputs: '`maybe_live_out`, not a parameter',
  constants: '`is_constant`',
  temporaries: 'none of the flags',
  other: 'allocations with several flags or none',
};

/* From the schedule, sizes are exact and times are ours. */
export const sureOfTime = (space) =>
  space.step_unit === 'schedule'
    ? { confidence: 'bound', why: 'No heap trace: lifetimes come from the schedule; XLA may pack more tightly.' }
    : { confidence: 'exact', why: 'Replayed event by event from the heap trace.' };
