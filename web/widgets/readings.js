/* SPDX-License-Identifier: Apache-2.0
 * readings.js: what a curve says about one step. Pure. */

/* Index of the point that holds at `step`: the last one not after it. */
export function pointAt(steps, step) {
  let low = 0;
  let high = steps.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (steps[middle] <= step) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* {step, bytes, unpadded, schedulePosition, instruction, change}: what the curve says about a step. In a thinned curve only
 * kept steps are known, and the change only where the step before was kept too. */
export function readAt(data, wanted) {
  const at = pointAt(data.steps, wanted);
  const step = data.isThinned ? data.steps[at] : Math.max(data.from, Math.min(data.to, wanted));
  const before = pointAt(data.steps, step - 1);
  const isKnown = step > data.from && (!data.isThinned || data.steps[before] === step - 1);
  return {
    step,
    bytes: data.bytes[at],
    unpadded: data.unpadded[at],
    schedulePosition: data.steps[at] === step ? (data.positions?.[at] ?? null) : null,
    instruction: data.steps[at] === step ? (data.instructions?.[at] ?? '') : '',
    change: isKnown ? data.bytes[at] - data.bytes[before] : null,
  };
}
