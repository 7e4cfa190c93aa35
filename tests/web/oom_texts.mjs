/* SPDX-License-Identifier: Apache-2.0
 * oom_texts.mjs: out-of-memory texts in the forms that runtimes write, and the page of one that is pasted. */

import { idle } from './harness.mjs';

/* The forms of the public documents: one buffer too large, the one-sentence total, a program that finds no place. */
export const EXCEEDS =
  'XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory (size=17179869184) :: ' +
  "#allocation7 [shape = 'u8[327680,327680]{1,0:T(8,128)(4,1)}', space=hbm, size = 0xffffffffffffffff, tag = 'output " +
  "of xor_convert_fusion@{}'] :: <no-hlo-instruction>\n";
export const GPU = 'XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 214748364800 bytes.\n';
export const LOAD =
  "XlaRuntimeError: RESOURCE_EXHAUSTED: Error loading program 'jit_embedding_pipeline_step_fn': Attempting to " +
  'reserve 29.49G at the bottom of memory. That was not possible. There are 147.64M free, 0B reserved, and 147.64M ' +
  'reservable. Scope: unknown..: while running replica 0 and partition 34 of a replicated computation (other ' +
  'replicas may have failed as well).\n';
export const USED =
  'RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 49.34G of 32.00G ' +
  'hbm. Exceeded hbm capacity by 17.34G.\n';
export const EARLY =
  "RESOURCE_EXHAUSTED: Compilation failure: Aborting compilation early because it's unlikely to have enough memory. " +
  'Requires 3.84T, has 90.96G available. If more detailed logging is desired, set ' +
  '--xla_tpu_impure_oom_fast_exit_threshold=-1\n';
export const HOLES =
  'RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 9.60G. That was not possible. There ' +
  'are 14.10G free. The largest contiguous region of free memory is 9.20G due to fragmentation.; (0x1x0_HBM0)\n';

/* The page of a text that is pasted into the field, as a reader does it. */
export const pasteInto =
  ({ daemon, open }) =>
  async (given, how = {}) => {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, { allow: /404/, ...how });
    await page.locator('.oom-field').fill(given);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.waitForURL(/local=[1-9a-f]/);
    await idle(page);
    return page;
  };
