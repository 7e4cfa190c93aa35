/* SPDX-License-Identifier: Apache-2.0
 * empty.js: what stands where nothing can be drawn: what is missing, why,
 * and the command that fills it. Each answer is {title, text, kind} for message() of panel.js. */

import { failure, whyOf } from '../../lib/failure.js';
import { bytes, capital, count, cutMiddle, literal, visible } from '../../lib/format.js';
import { message } from '../../widgets/panel.js';

const DUMP = '`XLA_FLAGS="--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto"`';
const short = (text) => literal(cutMiddle(text, 60));

/* profile: the address of the same session's Memory Profile, if it is a trace; isTorch: it has allocator snapshots. */
export function noHlo(notes = [], profile = '', isTorch = false) {
  const texts = notes.find((note) => note.code === 'text_only');
  if (texts)
    return { title: 'No HLO proto in this dump.', text: `${literal(texts.text).replace(/[.]?$/, '.')} ${DUMP}` };
  const cut = notes.find((note) => note.code === 'cut');
  if (cut)
    return {
      kind: 'error',
      title: 'The trace was cut short.',
      text:
        `The part that was written contains no program: ${literal(cut.text).replace(/[.]?$/, '.')} Record it ` +
        `again with fewer steps.`,
    };
  const action = profile ? { label: 'What the allocator did: Memory Profile', href: profile } : null;
  if (isTorch)
    return {
      title: 'No compiled program in this session.',
      text: 'Snapshots of PyTorch tell what its allocator did, and of no plan of a compiler.',
      action,
    };
  return {
    title: 'No HLO in this session.',
    text:
      'The trace was recorded without HLO protos. Record again with `jax.profiler.trace` ' +
      `(TensorFlow: \`tf.profiler.experimental.start\`), or add an XLA dump: ${DUMP}.`,
    action,
  };
}

export function unreadableSession(session, problem) {
  return {
    kind: 'error',
    title: `${short(session.name)} cannot be read.`,
    text: `${whyOf(problem)} The other sessions still work: choose one in the bar above.`,
  };
}

/* arrays: those of the module as the core lists them; null: there are none. */
export function noAssignment(module, arrays = null) {
  const stage = module.stage ? ` (\`${short(module.stage)}\`)` : '';
  return {
    title: 'No buffer assignment in this module.',
    text:
      `${arrays ? `${literal(arrays.sentence)} ` : ''}The file holds the HLO only${stage}, so sizes and positions in ` +
      `memory ` +
      `are not in it. A dump of the compiled program has them: ${DUMP}, then open its \`after_optimizations.hlo.pb\`.`,
  };
}

export function noSpaces(module) {
  return {
    title: 'This module takes no device memory.',
    text: `The buffer assignment of \`${short(module.name)}\` holds no allocation in any memory space.`,
  };
}

export function unreadableModule(module, total = 2) {
  const { error } = module;
  const at =
    error.offset_bytes == null ? '' : ` (byte ${count(error.offset_bytes)} of \`${short(module.file ?? '')}\`)`;
  return {
    kind: 'error',
    title: `${short(module.name)} cannot be read.`,
    text:
      `${capital(short(error.reason ?? error.code))}${at}.` +
      (total > 1
        ? ' The other modules of this session still work: choose one in the bar above.'
        : ' Write or copy the file again; the page then says that it changed.'),
  };
}

/* replayError: what failed and where; what follows a semicolon is about other views. */
export function cannotReplay(moduleName, replayError) {
  const text = literal(replayError).split(';')[0].replace(/[.]?$/, '.');
  return {
    kind: 'error',
    title: `${short(moduleName)} cannot be replayed.`,
    text: `${text} Totals and the table are still right; curve and strips are left out.`,
  };
}

/* What happened in a kernel's own memory, which no program order shows; "" of other failures. */
function kernelWords(lack) {
  const where = lack && ['vmem', 'smem'].includes(lack.memory_class) ? lack.memory_class.toUpperCase() : '';
  if (!where || lack.needed_bytes == null) return '';
  const limit = lack.limit_bytes == null ? '' : `, more than the ${bytes(lack.limit_bytes)} there are`;
  return (
    ` What failed is no buffer of it: one kernel asks for ${bytes(lack.needed_bytes)} of ${where}${limit}, ` +
    'and the compiler writes no curve of the memory inside a kernel.'
  );
}

/* Why a space has no curve. said: {failure: of the session, or null; why: the address of the page that explains it}. */
export function noPositions(space, said = {}) {
  const kernel = kernelWords(said.failure);
  const action = kernel && said.why ? { label: 'See which kernel, and what makes it fit', href: said.why } : null;
  if (space.temporary_bytes === 0) {
    return {
      title: 'Nothing is allocated or freed.',
      text:
        `Everything in ${literal(space.name)} lives for the whole program: ${bytes(space.peak_bytes)} from start ` +
        `to end.${kernel}`,
      action,
    };
  }
  return {
    title: 'No heap trace and no schedule.',
    text:
      'Sizes are exact; the lifetimes of buffers are not recorded in this module. ' +
      `A dump of the compiled program has it: ${DUMP}.${kernel}`,
    action,
  };
}

/* What a key says that needs steps where there are none. */
export const noSteps = ({ name, temporary_bytes: temporary }) =>
  `There are no steps here: ${
    temporary === 0
      ? `everything in ${visible(name)} lives for the whole program.`
      : 'this module does not record the lifetimes of buffers.'
  }`;

/* A strip in which the filter leaves nothing. */
export function noMatch(order) {
  return {
    title: 'Nothing matches the filter.',
    text: order === 'padding' ? 'No matching buffer is padded.' : 'Buffers of other moments may match it.',
  };
}

/* A strip by padding of buffers that have none. */
export function noPadding(buffers, where) {
  return {
    title: 'No padding.',
    text:
      buffers === 1
        ? `The one buffer live ${where} is not padded.`
        : `None of the ${count(buffers)} buffers live ${where} is padded.`,
  };
}

/* A table of what overlaps a rectangle, where nothing does. */
export function noneWithin(buffers, filter) {
  return {
    title: filter ? 'Nothing in the rectangle matches the filter.' : 'Nothing lies in the rectangle.',
    text: `${
      buffers === 1
        ? 'The one buffer of this memory space is'
        : `All ${count(buffers)} buffers of this ` + `memory space are`
    } outside of ${filter ? 'the rectangle or the filter' : 'it'}. Esc removes the rectangle.`,
  };
}

export function noBuffers(where = 'at the peak') {
  const text =
    where === 'at the peak'
      ? 'No buffer of this memory space has a size.'
      : 'Every buffer of this memory space is allocated later or already freed.';
  return { title: `Nothing is live ${where}.`, text };
}

/* The message that something could not be read. */
export const failed = (what, problem) => message(failure(what, problem));
