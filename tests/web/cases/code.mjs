/* SPDX-License-Identifier: Apache-2.0
 * code.mjs: memory by the person's code, and the way from buffer to buffer. Figures of the demo: 33.41 GiB are live at
 * its peak, of which 12 layers hold 30.12 GiB, 24.00 GiB of them 12 buffers made at models.py:11. */

import { explainIn } from '../acts.mjs';
import { idle, pixels, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const query = (page) => new URL(page.url()).searchParams;
  const openCode = async (more = '', options = {}) =>
    open(`${await daemon('--demo')}?tool=memory_viewer&view=code${more}`, options);
  const item = (page) => page.locator('.panel-code [role="treeitem"][aria-selected]');
  const active = async (page) => {
    const id = await page.locator('.panel-code [role="tree"]').getAttribute('aria-activedescendant');
    return page.evaluate((each) => document.getElementById(each).firstChild.textContent, id);
  };

  test('the code stands in the place of the table, by a button, a key and the URL', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    truth(await page.locator('.panel-table tbody').first().isVisible());
    truth(!(await page.locator('.panel-code').isVisible()));
    await page.locator('.panel-table .switch-button', { hasText: 'Code' }).click();
    equal(query(page).get('view'), 'code');
    truth(!(await page.locator('.panel-table tbody').first().isVisible()));
    includes(await text(page, '.panel-code h2'), 'Memory by scope 33.41 GiB');
    await page.locator('.panel-table .switch-button', { hasText: 'Buffers' }).click();
    truth(await page.locator('.panel-table tbody').first().isVisible());
    equal([query(page).get('view'), query(page).get('group')], [null, 'none']);
    await page.locator('.panel-table .switch-button', { hasText: 'Groups' }).click();
    equal(query(page).get('group'), null);
    await page.locator('body').press('5');
    truth(await page.locator('.panel-code').isVisible());
    includes(await active(page), 'all, 33.41');
    await page.finish();
  });

  test('keys walk the tree; Enter zooms and the other views follow; Escape leads back', async () => {
    const page = await openCode();
    await page.locator('.panel-code [role="tree"]').focus();
    await page.keyboard.press('ArrowRight');
    includes(await active(page), 'layer_{i}, 30.12');
    await page.keyboard.press('Enter');
    equal(query(page).get('filter'), 'in:"layer_{i}/"*');
    includes(await text(page, '.code-path'), 'all › layer_{i}');
    includes(await text(page, '.details'), 'Place in the code');
    includes(await text(page, '.panel-table .c-foot'), '30.12 of 33.41 GiB');
    const address = page.url();
    await page.keyboard.press('Escape');
    equal(query(page).get('filter'), null);
    equal(query(page).get('node'), null);
    await page.goto(address);
    await idle(page);
    includes(await text(page, '.code-path'), 'all › layer_{i}');
    await page.finish();
  });

  test('layers open to each of them, and one of them filters alone', async () => {
    const page = await openCode();
    await page.locator('.panel-code [role="tree"]').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'show the 12 layers apart' }).click();
    await page.locator('.panel-code [role="tree"]').focus();
    await page.keyboard.press('ArrowRight');
    includes(await active(page), 'layer_');
    await page.keyboard.press('Enter');
    truth(/^in:"layer_\{i\}\/"\* layer:"\/layer_\d+\/"$/.test(query(page).get('filter')), query(page).get('filter'));
    includes(await text(page, '.panel-table .c-foot'), 'of 33.41 GiB');
    await page.keyboard.press('l');
    equal(query(page).get('open'), null);
    await page.finish();
  });

  test('by source stack the person’s lines stand there, as icicle and as treemap', async () => {
    const page = await openCode();
    const icicle = await pixels(page, '.icicle-base');
    await page.locator('body').press('e');
    equal(query(page).get('by'), 'stack');
    truth((await pixels(page, '.icicle-base')) !== icicle, 'nothing was drawn anew');
    await page.locator('body').press('k');
    equal(query(page).get('picture'), 'treemap');
    truth(await page.locator('.treemap-base').isVisible());
    await page.locator('.panel-code [role="tree"]').focus();
    for (let at = 0; at < 7; at++) await page.keyboard.press('ArrowRight');
    includes(await active(page), 'models.py:11 layer, 24.00');
    await page.locator('.treemap-picture').scrollIntoViewIfNeeded();
    const box = await page.locator('.treemap-picture').boundingBox();
    await page.mouse.click(box.x + box.width / 3, box.y + box.height * 0.8);
    includes(query(page).get('filter'), 'models.py:11 layer');
    includes(await text(page, '.panel-table .c-foot'), '24.00 of 33.41 GiB');
    await page.finish();
  });

  test('bytes × steps and padding have sums of their own; a filter narrows the tree', async () => {
    const page = await openCode('&metric=byte_steps');
    includes(await text(page, '.panel-code h2'), '× steps');
    await page.locator('.panel-code select').nth(1).selectOption('padding');
    equal(query(page).get('metric'), 'padding');
    includes(await text(page, '.panel-code h2'), '1,004.5 KiB');
    await page.locator('.panel-code select').nth(1).selectOption('bytes');
    await page.locator('.filter-input').fill('>1GiB');
    await page.keyboard.press('Enter');
    includes(await text(page, '.panel-code h2'), '27.95 GiB');
    truth((await item(page).count()) > 0);
    await page.finish();
  });

  test('a place that is not there is named, and all is shown', async () => {
    const page = await openCode('&node=0123456789abcdef', { allow: /404/ });
    includes(await text(page, '.banner-text'), 'not in the code of this program');
    includes(await text(page, '.panel-code h2'), '33.41 GiB');
    await page.finish();
  });

  test('from a buffer to what it was made of and to what reads it, and back, by keyboard', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&group=none`);
    await page.locator('.panel-table tbody tr').first().click();
    const first = query(page).get('pin');
    includes(await text(page, '.links'), 'made from 3 values');
    includes(await text(page, '.links'), 'read by 4 instructions');
    await page.keyboard.press('<');
    const second = query(page).get('pin');
    truth(second !== first, 'nothing was stepped to');
    await page.keyboard.press('>');
    truth(query(page).get('pin') !== second, 'nothing was stepped to');
    await page.keyboard.press('Escape');
    equal(query(page).get('pin'), second);
    await page.keyboard.press('Escape');
    equal(query(page).get('pin'), first);
    await page.keyboard.press('Escape');
    equal(query(page).get('pin'), null);
    await page.finish();
  });

  test('the links in the pane lead there too, also into another space', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&group=none`);
    await page.locator('.panel-table tbody tr').first().click();
    const first = query(page).get('pin');
    const link = page.locator('.links li', { hasText: 'in VMEM' }).first();
    const figure = link.locator('[data-explain]', { hasText: 'in VMEM' }).first();
    await explainIn(page, await figure.getAttribute('data-explain'));
    includes(await text(page, '.dialog.explain'), `Size ${(await figure.textContent()).replace(' in VMEM', '')}`);
    await page.keyboard.press('Escape');
    await link.locator('button').first().click();
    equal(query(page).get('space'), '1');
    truth(query(page).get('pin') !== first);
    await page.keyboard.press('Escape');
    equal(query(page).get('space') ?? '0', '0');
    equal(query(page).get('pin'), first);
    await page.finish();
  });
}
