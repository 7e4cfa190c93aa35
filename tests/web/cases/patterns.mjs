/* SPDX-License-Identifier: Apache-2.0
 * patterns.mjs: ways of spending memory that have a name, in the place of the map. Of the demo's 33.41 GiB at the peak
 * 26.00 are attention scores in 13 buffers. */

import { idle, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const query = (page) => new URL(page.url()).searchParams;
  const openPatterns = async (more = '', options = {}) =>
    open(`${await daemon('--demo')}?tool=memory_viewer&view=patterns${more}`, options);

  test('a pattern has its sentence, its rule, and what it looks like when it is gone', async () => {
    const page = await openPatterns();
    truth(!(await page.locator('.panel-table tbody').first().isVisible()));
    const says = await text(page, '.patterns');
    includes(says, 'Activations saved for the backward pass hold 27.80 GiB at the peak, 83 % of it');
    includes(says, 'Attention scores hold 26.00 GiB at the peak, 78 % of it: 13 × 2.00 GiB bf16[16,16,2048,2048]');
    includes(says, 'Rule:');
    includes(says, 'Without it: No array has two dimensions of sequence length');
    await page.finish();
  });

  test('a space without patterns says so, and what is looked for', async () => {
    const page = await openPatterns('&space=2');
    const says = await text(page, '.panel-patterns .message');
    includes(says, 'No pattern holds 1 % of the peak. 19 are looked for: logits, attention scores,');
    await page.finish();
  });

  test('its buffers are shown by a click, and all again by another', async () => {
    const page = await openPatterns();
    await page.locator('.pattern', { hasText: 'Attention scores' }).locator('button').first().click();
    equal(query(page).get('filter'), 'pattern:attention_scores');
    await idle(page);
    includes(await text(page, '.panel-table .c-foot'), '13 of 379 buffers');
    await page.locator('.pattern.is-on button').first().click();
    equal(query(page).get('filter'), null);
    await page.finish();
  });

  test('the key 6 leads there', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    await page.locator('body').press('6');
    equal(query(page).get('view'), 'patterns');
    await idle(page);
    equal(await page.locator('.pattern').count(), 3);
    await page.finish();
  });
}
