/* SPDX-License-Identifier: Apache-2.0
 * empty.js: what stands where nothing can be drawn: what is missing, why,
 * and the option that records it. Pure; each answer is {title, text, run, kind}. */

import { whyOf } from '../../lib/failure.js';
import { cutMiddle, literal } from '../../lib/format.js';

export { failure as failed, stopped } from '../../lib/failure.js';

const RECORD = [
  'options = jax.profiler.ProfileOptions()',
  'options.host_tracer_level = 2',
  'jax.profiler.start_trace("/tmp/xprof", profiler_options=options)',
].join('\n');
const HISTORY = [
  'torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # before the steps',
  'torch.cuda.memory._dump_snapshot("/tmp/xprof/job/rank0.pickle")  # after them',
].join('\n');
const short = (text) => literal(cutMiddle(text, 60));
const ended = (text) => literal(text).replace(/[.]?$/, '.');

const NOTHING = {
  no_memory_events: 'no memory event was recorded',
  no_history: 'the snapshot has no history',
  no_host_plane: 'the trace has no host events',
  cut: 'the trace was cut short',
  empty_file: 'the trace file is empty',
  not_a_trace: 'this session holds no trace',
};

/* The answer where there is none. */
export const nothing = ({ code }) => `Nothing to show: ${NOTHING[code] ?? 'the memory events cannot be read'}.`;

/* reason: {code, text} of the summary. */
export function noEvents(reason) {
  if (reason.code === 'no_memory_events')
    return {
      title: 'No memory events in this session.',
      text: 'JAX on CPU records none; on GPU and TPU they need host tracer level 2 or higher:',
      run: RECORD,
    };
  if (reason.code === 'no_history')
    return {
      title: 'No history in this snapshot.',
      text: `${ended(reason.text)} For memory over time and by line of code:`,
      run: HISTORY,
    };
  if (reason.code === 'no_host_plane')
    return {
      title: 'No host events in this session.',
      text:
        'Memory events are recorded by the host, and this trace has no host plane. Record it with the host tracer ' +
        'on:',
      run: RECORD,
    };
  if (reason.code === 'unparsed_events')
    return {
      title: 'The memory events of this trace are cut off.',
      text:
        'Their figures are in their names (`MemoryAllocation#key=value,…#`), and no name is complete: each ends ' +
        'early or is longer than 4 kB. A profiler of JAX or TensorFlow takes them apart when it writes the trace.',
    };
  if (reason.code === 'not_a_trace')
    return {
      title: 'This session holds no trace.',
      text: `${ended(reason.text)} A trace is recorded with:`,
      run: 'jax.profiler.trace("/tmp/xprof")',
    };
  if (reason.code === 'empty_file')
    return { kind: 'error', title: 'The trace file is empty.', text: ended(reason.text) };
  if (reason.code === 'cut')
    return {
      kind: 'error',
      title: 'The trace was cut short.',
      text: `${ended(reason.text)} Traces above 2 GiB are cut or empty: record fewer steps.`,
    };
  return { kind: 'error', title: 'The memory events cannot be read.', text: ended(reason.text) };
}

export function unreadable(sessionName, problem) {
  return {
    kind: 'error',
    title: `${short(sessionName)} cannot be read.`,
    text: `${whyOf(problem)} The other sessions still work: choose one in the bar above.`,
  };
}

export function noRows(view, isFiltered) {
  if (isFiltered) return { title: 'Nothing matches.', text: 'The filter leaves out every row. Clear it to see all.' };
  const texts = {
    live: [
      'Nothing is live at this time.',
      'No allocation of the trace is live here; what is in use was allocated before.',
    ],
    events: ['No allocation in this window.', 'Show all with `0`, or move the window.'],
    segments: ['No segment.', 'PyTorch holds no memory of this device at this time.'],
    growth: ['Nothing outlives a step.', 'Each step frees what it allocates before the next one begins.'],
  };
  const [title, text] = texts[view];
  return { title, text };
}

/* Why there is no growth, no address map, no fragmentation. */
export function reasonOf(reason) {
  const titles = {
    no_steps: 'No step boundaries.',
    no_addresses: 'No addresses in this trace.',
    no_free_figures: 'This allocator does not say what is free.',
  };
  const more = {
    no_addresses: 'The events carry no address, so blocks and holes cannot be placed.',
    no_free_figures: 'Free memory and fragmentation are recorded by BFC allocators and the TPU runtime only.',
  };
  return { title: titles[reason.code] ?? 'Not known.', text: more[reason.code] ?? ended(reason.text) };
}
