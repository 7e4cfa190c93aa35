/* SPDX-License-Identifier: Apache-2.0
 * views.mjs: the page as it is gets a name, and is opened by it from the palette and from the dialog. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { idle } from '../harness.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export function run({ test, equal, includes, truth, daemon, open }) {
  const openDialog = async (page) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('>save this view');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.views input');
  };
  const inUrl = (page) => new URL(page.url()).search;

  test('a view that is saved by name is opened from the palette and the dialog, and let go', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&filter=%3E64MiB`);
    const saved = inUrl(page);
    await openDialog(page);
    await page.locator('.views input').fill('the large ones');
    await page.keyboard.press('Enter');
    await idle(page);
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await idle(page);
    truth(inUrl(page) !== saved, 'somewhere else');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('>open view large');
    await page.keyboard.press('Enter');
    await idle(page);
    equal(inUrl(page), saved);
    await page.goBack();
    await idle(page);
    await openDialog(page);
    await page.evaluate(readFileSync(AXE, 'utf8'));
    equal(await page.evaluate(async () => (await globalThis.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)), []);
    await page.locator('.view-name', { hasText: 'the large ones' }).click();
    await idle(page);
    equal(inUrl(page), saved);
    await openDialog(page);
    await page.locator('.view-row .icon-button').click();
    includes(await page.locator('.views').innerText(), 'No view is saved yet.');
    await page.reload();
    await openDialog(page);
    equal(await page.locator('.view-row').count(), 0);
    await page.finish();
  });

  test('what is stored by others in the place of views is passed over', async () => {
    const init = () => localStorage.setItem('memviewd.views', '[{"name":1},{"name":"x","query":"javascript:alert(1)"},{"name":"<b>","query":"?tool=home"},7');
    const page = await open(`${await daemon('--demo')}?tool=home`, { init });
    await openDialog(page);
    equal(await page.locator('.view-row').count(), 0, 'not even JSON');
    await page.finish();
    const whole = () => localStorage.setItem('memviewd.views', '[{"name":1},null,{"name":"x","query":"javascript:alert(1)"},{"name":"<b>","query":"?tool=home"}]');
    const other = await open(`${await daemon('--demo')}?tool=home`, { init: whole });
    await openDialog(other);
    equal(await other.locator('.view-name').allInnerTexts(), ['<b>']);
    await other.finish();
  });
}
