/* SPDX-License-Identifier: Apache-2.0
 * parts.mjs: parts of a page that are loaded when they are needed: what is pressed meanwhile is not lost. No act
 * waits here, as the page is not at rest while a part is kept back. */

import { holdBack } from '../acts.mjs';
import { idle } from '../harness.mjs';

export function run({ test, equal, truth, daemon, open }) {
  test('what is known late of a buffer does not take the pin from a newer one', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`, { isMeasured: true });
    let late = null;
    const { release } = await holdBack(page, '**/memory_viewer/buffer?*', ({ searchParams }) => {
      late ??= searchParams.get('id');
      return searchParams.get('id') === late;
    });
    const rows = page.locator('.panel-table tbody tr[role="row"]');
    const names = await rows.locator('.c-name').allInnerTexts();
    await rows.nth(0).click();
    await page.waitForURL(/pin=/);
    const first = page.url();
    await rows.nth(1).click();
    await page.waitForURL((url) => url.href !== first);
    await page.waitForSelector('.details.is-pinned');
    release();
    await idle(page);
    truth(names[0] !== names[1], 'two rows of one name');
    equal(new URL(page.url()).searchParams.get('pin') === `b:${late}`, false);
    equal(await page.locator('.panel-table tr.is-pinned .c-name').innerText(), names[1]);
    await page.finish();
  });

  test('arrows and Enter act on the proposals of the filter at once', async () => {
    const page = await open(await daemon('--demo'), { isMeasured: true });
    await page.keyboard.press('/');
    await page.keyboard.type('ca');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.filter-input').value === 'cat:');
    equal(await page.locator('.panel-table .chip').count(), 0);
    await page.finish();
  });

  test('what is typed while a selector opens finds in it', async () => {
    const page = await open(await daemon('--demo'), { isMeasured: true });
    await page.locator('.capacity .selector-button').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('v5e');
    await page.waitForSelector('.selector-input');
    equal(await page.inputValue('.selector-input'), 'v5e');
    await page.finish();
  });
}
