/* SPDX-License-Identifier: Apache-2.0
 * saving.mjs: what a buffer or a group would save: the order of the table, the sentence in the pane, its card, and
 * where the peak would be on the curve. The demo's curve was added up again without each (tests/golden/marginal.py):
 * without the attention scores of its layers it is 10.94 GiB at step 300, without its logits 32.94 GiB there. */

import { idle, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const openDemo = async (query, how = {}) => open(`${await daemon('--demo')}${query}`, how);
  const figures = (page) => page.locator('.panel-table tbody .c-saves').allInnerTexts();
  const said = async (page, node) => (await text(page, node)).replace(/\s+/g, ' ');
  const mark = (page) => page.locator('.panel-curve .curve-next');

  test('what saves most stands first, and a group of 24.00 GiB saves 22.47', async () => {
    const page = await openDemo('');
    equal(await page.locator('.panel-table th').first().innerText(), 'Saves, GiB');
    equal(await page.locator('.panel-table th.c-saves').getAttribute('aria-sort'), 'descending');
    const all = (await figures(page)).map(Number);
    truth(all.length > 3 && all.every((each, at) => at === 0 || each <= all[at - 1]), `${all}`);
    const first = page.locator('.panel-table tbody tr').first();
    equal(
      [await first.locator('.c-saves').innerText(), await first.locator('.c-size').innerText()],
      ['22.47', '24.00'],
    );
    await first.locator('.c-saves').click();
    await page.waitForURL(/pin=g/);
    await idle(page);
    includes(
      await said(page, '.details-body'),
      'Cutting the group saves 22.47 of its 24.00 GiB at the peak: another peak is at step 300.',
    );
    equal(await mark(page).innerText(), 'peak without it 10.94 GiB');
    await page.locator('.details-body [data-explain="pinned_saves"]').click();
    includes(
      await said(page, '.explain'),
      'peak 33.41 GiB − 10.94 GiB, the most that is live without it, at step 300, = 22.47 GiB',
    );
    includes(await said(page, '.explain'), 'bound Exact for the live bytes');
    await page.finish();
  });

  test('away from the peak the head says that savings are of the peak', async () => {
    const page = await openDemo('?step=253');
    equal(await page.locator('.panel-table th').first().innerText(), 'Saves at peak, GiB');
    await page.finish();
  });

  test('a buffer that is pinned says what it saves, and the curve where the peak is then', async () => {
    const page = await openDemo('?group=none&filter=pattern:logits');
    truth(!(await mark(page).isVisible()), 'a mark without a buffer');
    await page.locator('.panel-table tbody tr .c-name').first().click();
    await page.waitForURL(/pin=b/);
    await idle(page);
    const pane = await said(page, '.details-body');
    truth(/Cutting \S+ alone saves 0\.47 of its 1\.95 GiB: another peak is at step 300\./.test(pane), pane);
    equal(await mark(page).innerText(), 'peak without it 32.94 GiB');
    const at = async (node) => (await page.locator(node).boundingBox()).x;
    truth(
      (await at('.panel-curve .curve-next')) < (await at('.panel-curve .curve-moment')),
      'step 300 is before the peak at 376',
    );
    await page.locator('.details-body button[data-explain^="saves:"]').click();
    includes(await said(page, '.explain'), 'The total, with fragmentation, is then at least 32.94 GiB');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !location.search.includes('pin='));
    await idle(page);
    truth(!(await mark(page).isVisible()), 'the mark stays after the pin');
    await page.finish();
  });

  test('a row that is hovered marks the next peak; the figure of a group explains itself', async () => {
    const page = await openDemo('?group=none&filter=pattern:logits');
    await page.locator('.panel-table tbody tr .c-name').first().hover();
    await idle(page);
    truth(await mark(page).isVisible(), 'no mark while hovered');
    await page.finish();
    const grouped = await openDemo('');
    await grouped.locator('.panel-table tbody tr').first().focus();
    await grouped.keyboard.press('ArrowRight');
    await grouped.keyboard.press('i');
    await idle(grouped);
    includes(await said(grouped, '.explain'), 'Saves 22.47 GiB');
    await grouped.finish();
  });

  test('a filter takes what a buffer saves', async () => {
    const page = await openDemo('?group=none&filter=saves:%3E1.9GiB');
    const all = await figures(page);
    truth(all.length > 3 && all.every((each) => each === '2.00'), `${all}`);
    includes(await text(page, '.panel-table .c-foot'), 'of 379 buffers');
    await page.finish();
  });
}
