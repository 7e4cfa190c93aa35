/* SPDX-License-Identifier: Apache-2.0
 * readings.js: what a curve says about one step. Pure. */

import { lastBefore } from '../lib/range.js';

/* Index of the point that holds at `step`: the last one not after it. */
export const pointAt = (steps, step) =>
  Math.max(
    0,
    lastBefore(steps.length, (at) => steps[at] <= step),
  );

/* {step, bytes, unpadded, schedulePosition, instruction, change}: what the curve says about a step. In a
 * thinned curve only kept steps are known, so the nearest before it answers; `isExact` asks for that very
 * step, and its figures are null where it was not kept. */
export function readAt(data, wanted, isExact = false) {
  const at = pointAt(data.steps, wanted);
  const isKept = data.steps[at] === wanted;
  const isNear = data.isThinned && !isExact;
  const step = isNear ? data.steps[at] : Math.max(data.from, Math.min(data.to, wanted));
  if (isExact && data.isThinned && !isKept)
    return { step, bytes: null, unpadded: null, schedulePosition: null, instruction: '', change: null };
  const before = pointAt(data.steps, step - 1);
  const isKnown = step > data.steps[0] && (!data.isThinned || data.steps[before] === step - 1);
  return {
    step,
    bytes: data.bytes[at],
    unpadded: data.unpadded[at],
    schedulePosition: data.steps[at] === step ? (data.positions?.[at] ?? null) : null,
    instruction: data.steps[at] === step ? (data.instructions?.[at] ?? '') : '',
    change: isKnown ? data.bytes[at] - data.bytes[before] : null,
  };
}
