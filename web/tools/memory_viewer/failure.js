/* SPDX-License-Identifier: Apache-2.0
 * failure.js: what an out-of-memory text of the session says, before what the plan says. Pure. A part is
 * a string, {name} or {bytes, text, role, explain}. */

import { bytes, bytesApart, visible } from '../../lib/format.js';
import { isOfText } from './answer.js';

const ACTS = { compile: ' does not compile', load: ' cannot be loaded' };

export const spaceWord = (failure) => {
  const name = failure.memory_space ?? (['vmem', 'smem'].includes(failure.memory_class) ? failure.memory_class : '');
  return visible(name).toUpperCase();
};

/* Classes of memory that are the device's own: space 0 of a plan. */
const DEVICE = ['hbm', 'gpu', null];

/* The class tells device memory from that of a kernel; of other classes the text's word, else the class, is the space.
 */
const isOfSpace = ({ memory_class: kind, memory_space: name }, space) =>
  DEVICE.includes(kind) ? space.space === 0 : (name ?? kind) === space.name.toLowerCase();

/* {needed, limit: {bytes, word} | null, over, overText}: figures of the text, null where it gives none. */
export function figuresOf(failure) {
  const {
    needed_bytes: needed,
    limit_bytes: limit,
    limit_phrase: word,
    over_bytes: over,
    over_text: overText,
  } = failure;
  return { needed, limit: limit == null ? null : { bytes: limit, word }, over, overText };
}

/* True where the plan says by itself what the text says: more is needed of this space than there is. A capacity that
 * was chosen is a question of its own. */
function isSaidByPlan(failure, { space, wanted, module }) {
  if (!space) return false;
  const isOfThis = !failure.module || failure.module === module.name;
  if (failure.phase !== 'compile' || !isOfThis || !isOfSpace(failure, space)) return false;
  return Boolean(wanted) || (space.fit.word === 'over' && !isOfText(space));
}

/* The first sentence, or null where the plan says it. program: the name of the only program of the session, else null.
 */
export function failureParts({ failure, program = null }, view) {
  if (!failure || isSaidByPlan(failure, view)) return null;
  const { needed, limit, over, overText } = figuresOf(failure);
  const who = failure.module ?? program;
  const act = ACTS[failure.phase] ?? ' ran out of memory';
  const space = spaceWord(failure);
  const head = [who ? { name: who } : 'A program of this session', act];
  if (needed == null) return [...head, space ? ` in ${space}` : '', '; the text gives no size.'];
  const texts = limit ? bytesApart(needed, limit.bytes) : [bytes(needed)];
  const parts = [
    ...head,
    ': ',
    { bytes: needed, text: texts[0], role: 'main', explain: 'failure:needed' },
    `${space ? ` of ${space}` : ''} ${failure.phase === 'compile' ? 'needed' : 'asked for'}`,
  ];
  if (limit) parts.push(', ', { bytes: limit.bytes, text: texts[1], explain: 'failure:limit' }, ` ${limit.word}`);
  if (over != null)
    parts.push(limit ? ': ' : ', ', {
      bytes: over,
      text: `over by ${overText}`,
      role: 'over',
      explain: 'failure:over',
    });
  return [...parts, '.'];
}

/* "over by 128.00 MiB in VMEM", for the title of the document. */
export function failureTitle(failure) {
  const { over, overText } = figuresOf(failure);
  const by = over == null ? 'failed' : `over by ${overText}`;
  return `${by}${spaceWord(failure) ? ` in ${spaceWord(failure)}` : ''}`;
}
