/* SPDX-License-Identifier: Apache-2.0
 * parts.mjs: parts of a page that are loaded when they are needed: what is pressed meanwhile is not lost. No act
 * waits here, as the page is not at rest while a part is kept back. */

import { fileOf, holdBack } from '../acts.mjs';
import { idle } from '../harness.mjs';

const TABLE_MENU = fileOf('tools/memory_viewer/table_menu.js');
const MAP = fileOf('tools/memory_viewer/map_view.js');

export function run({ test, equal, truth, daemon, open }) {
  const isIdle = (page) => page.evaluate(() => document.body.hasAttribute('data-idle'));
  const focused = (page) => page.evaluate(() => document.activeElement.textContent);

  test('keys pressed while a menu is loaded move in it', async () => {
    const page = await open(await daemon('--demo'), { isMeasured: true });
    const { release, asked } = await holdBack(page, TABLE_MENU);
    await page.locator('.panel-table .menu-dots').focus();
    await page.keyboard.press('Enter');
    await asked;
    equal(await isIdle(page), false, 'idle while a part is on its way');
    await page.keyboard.press('ArrowDown');
    release();
    await idle(page);
    await page.waitForFunction(() => document.activeElement.matches('.menu-item'));
    equal(await focused(page), await page.locator('.panel-table .menu-item').nth(1).textContent());
    await page.keyboard.press('Escape');
    equal(await focused(page), '⋯');
    await page.finish();
  });

  test('a menu that is late does not open, nor take the focus, once the reader is elsewhere', async () => {
    const page = await open(await daemon('--demo'), { isMeasured: true });
    const { release, asked } = await holdBack(page, TABLE_MENU);
    await page.locator('.panel-table .menu-dots').click();
    await asked;
    await page.locator('.filter-input').focus();
    release();
    await idle(page);
    equal(await page.evaluate(() => document.activeElement.className), 'filter-input', 'the focus');
    equal(await page.locator('.menu-popup:visible').count(), 0);
    await page.locator('.panel-table .menu-dots').click();
    await page.waitForSelector('.panel-table .menu-popup:visible');
    await page.finish();
  });

  test('what is known late of a buffer does not take the pin from a newer one', async () => {
    const page = await open(await daemon('--demo'), { isMeasured: true });
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

  test('a key of the map loads the map where it is folded', async () => {
    const page = await open(await daemon('--demo'), { width: 1280, height: 720, isMeasured: true });
    const isLoaded = (pattern) => performance.getEntriesByType('resource').some(({ name }) => new RegExp(pattern).test(name));
    equal(await page.evaluate(isLoaded, MAP.source), false, 'loaded though it is folded');
    const { release, asked } = await holdBack(page, MAP);
    await page.keyboard.press('c');
    await asked;
    equal(await isIdle(page), false);
    release();
    await page.waitForURL(/color=size/);
    truth(await page.evaluate(isLoaded, MAP.source), 'not loaded');
    await page.finish();
  });
}
