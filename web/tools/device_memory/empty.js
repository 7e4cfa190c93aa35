/* SPDX-License-Identifier: Apache-2.0
 * empty.js: what stands where nothing can be shown: what is missing, why, and the
 * command that fills it. Pure: contents for message() of panel.js. */

import { whyOf } from '../../lib/failure.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { filterWords } from './text.js';

const SAVE = 'jax.profiler.save_device_memory_profile("memory.prof")';

export function noProfiles() {
  return {
    title: 'No device profile here.',
    text:
      'Call this while the arrays exist and put the file into the watched folder, or drop it on this page; for ' +
      'PyTorch, `torch.cuda.memory._dump_snapshot("FILE.pickle")`, after `torch.cuda.memory._record_memory_history()`:',
    run: SAVE,
  };
}

export function noSamples() {
  return {
    title: 'This profile has 0 samples.',
    text: 'It was taken when no array was alive, e.g. before the first step. Call this while the arrays exist:',
    run: SAVE,
  };
}

export function failed(what, problem) {
  return { kind: 'error', title: `${what} cannot be shown.`, text: whyOf(problem) };
}

/* chips: what chipFault() said of each filter. */
export function noMatch(filterCount, chips) {
  return {
    title: `Nothing passes ${filterWords(filterCount)}.`,
    text: chips.length ? chips.join(' ') : 'Each matches something, but no sample passes all of them.',
  };
}

/* A table without rows; faults(): what chipFault() said of each filter. */
export const noRows = (filterCount, faults) => (filterCount ? noMatch(filterCount, faults()) : noSamples());

export function noFrameChosen(what) {
  return { title: 'No frame is chosen.', text: `Click a frame in the flame graph or a row in Top; ${what}` };
}

export function noSource(file, reason) {
  return {
    title: `The text of ${cutMiddle(visible(file), 80)} is not shown.`,
    text: reason
      ? `${visible(reason[0].toUpperCase() + reason.slice(1))}.`.replace(/\.\.$/, '.')
      : 'Start the daemon with `--source-root=DIR` to see it beside its figures.',
  };
}

export function onlyOneProfile() {
  return {
    title: 'Only one profile here.',
    text: 'A series needs two or more: call this every few steps.',
    run: 'jax.profiler.save_device_memory_profile(f"memory{step}.prof")',
  };
}

export function noStacks() {
  return {
    title: 'No call stacks in this profile.',
    text: 'Tracebacks were switched off when it was taken; sizes and devices are in Buffers.',
  };
}

export function graphFailed(reason) {
  return {
    kind: 'error',
    title: 'The call graph could not be laid out.',
    text: `${visible(reason)}. The list beside it holds the same functions.`,
  };
}
