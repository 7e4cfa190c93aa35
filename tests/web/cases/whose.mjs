/* SPDX-License-Identifier: Apache-2.0
 * whose.mjs: whose memory it is, on the Memory Viewer: groups first, a legend with bytes, the curve by category, panels
 * that take the whole height, the person's own rules. Figures are those of the demo's dump. */

import { idle, pixels, text } from '../harness.mjs';

const RULES = '.dialog.rules';

export function run({ test, includes, equal, truth, daemon, open }) {
  const rows = (page, selector = '') => page.locator(`.panel-table tbody tr[role="row"]${selector}`);
  const url = (page) => new URL(page.url()).searchParams;

  test('the table opens in groups with their share; a row opens in place, b lists buffers one by one', async () => {
    const page = await open(await daemon('--demo'));
    equal(await page.locator('.panel-table [role="treegrid"]').count(), 1);
    const first = rows(page).first();
    equal((await first.locator('.c-count').innerText()).replace(/\s+/g, ' '), '12 × 2.00 GiB');
    equal((await first.locator('.c-share').innerText()).trim(), '72 %');
    includes(await first.locator('.c-name').innerText(), 'layer_{i}/attention/');
    includes(await first.locator('.c-cat').innerText(), 'saved activation');
    equal(await page.locator('.panel-table .c-foot').innerText(), '379 buffers, 33.41 GiB');
    await first.focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    equal(await rows(page, '[aria-level="2"]').count(), 12);
    equal((await rows(page, '[aria-level="2"]').first().locator('.c-share').innerText()).trim(), '6.0 %');
    await page.keyboard.press('b');
    await page.waitForURL(/group=none/);
    await idle(page);
    equal(await page.locator('.panel-table [role="grid"]').count(), 1);
    await page.keyboard.press('b');
    await page.waitForFunction(() => !location.search.includes('group='));
    await page.finish();
  });

  test('what is pinned elsewhere is found in its group, and the pane says whose it is and why', async () => {
    const page = await open(await daemon('--demo'));
    const box = await page.locator('.strip-plot').nth(1).boundingBox();
    await page.mouse.click(box.x + 10, box.y + box.height / 2);
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await rows(page, '.is-pinned[aria-level="2"]').count(), 1);
    const said = await text(page, '.details');
    includes(said, 'saved activation · rule');
    includes(said, 'backward pass');
    await page.finish();
  });

  test('the legend has the bytes of each category at the moment', async () => {
    const page = await open(await daemon('--demo'));
    const legend = () => text(page, '.panel-strips .legend');
    includes(await legend(), 'saved activations 27.80 GiB');
    includes(await legend(), 'parameters 413.05 MiB');
    await page.keyboard.press('Home');
    await idle(page);
    truth(!(await legend()).includes('27.80 GiB'), 'the legend stays at the peak');
    await page.finish();
  });

  test('the curve shows each buffer; t and its buttons draw it by category and as one', async () => {
    const page = await open(await daemon('--demo'));
    const stacked = await pixels(page, '.curve-host canvas');
    const seen = [stacked];
    const shown = page.locator('.panel-curve .switch-button[aria-pressed="true"]');
    for (const [stack, word] of [
      ['category', 'By category'],
      ['none', 'As one'],
    ]) {
      await page.keyboard.press('t');
      await page.waitForURL(new RegExp(`stack=${stack}`));
      await idle(page);
      seen.push(await pixels(page, '.curve-host canvas'));
      equal(await shown.allInnerTexts(), [word]);
    }
    equal(new Set(seen).size, 3, 'two of three pictures are the same');
    await page.locator('.panel-curve .switch-button', { hasText: 'By buffer' }).click();
    await idle(page);
    equal(url(page).get('stack'), null);
    equal(await pixels(page, '.curve-host canvas'), stacked);
    await page.finish();
  });

  test('a panel takes the whole height by its button and by z; Esc gives it back', async () => {
    const page = await open(await daemon('--demo'));
    const height = () => page.locator('.panel-table').evaluate((node) => node.getBoundingClientRect().height);
    const before = await height();
    await page.locator('.panel-table .large-button').click();
    await page.waitForURL(/large=table/);
    await idle(page);
    truth((await height()) > before * 2, 'the table is no larger');
    equal(await page.locator('.panel-curve').isVisible(), false);
    await page.keyboard.press('Escape');
    await idle(page);
    equal(url(page).get('large'), null);
    equal(await height(), before);
    await page.locator('.panel-curve .curve-slider').focus();
    await page.keyboard.press('z');
    await page.waitForURL(/large=curve/);
    await page.finish();
  });

  test('padding below 1 % steps back; where there is more it has the scale of its neighbours', async () => {
    const page = await open(await daemon('--demo'));
    equal(await text(page, '.strip >> nth=2 >> h3'), 'by padding 1,004.5 KiB');
    equal(await page.locator('.strip-plot').nth(2).isVisible(), false);
    await page.finish();
  });

  test('rules of the person: a broken one is named, a good one stands in the URL and changes every view', async () => {
    const page = await open(await daemon('--demo'), { allow: /400/ });
    const before = await pixels(page, '.strip-base');
    await page.locator('.panel-strips .menu-dots').click();
    await page.locator('.panel-strips .menu-item', { hasText: 'Category rules' }).click();
    await page.locator(`${RULES} textarea`).fill('# mine\nattention cahce');
    await page.locator(`${RULES} .text-button`).click();
    await page.waitForSelector(`${RULES} [role="alert"]:not([hidden])`);
    includes(await text(page, RULES), 'line 2: there is no category "cahce"; did you mean "cache"?');
    await page.locator(`${RULES} textarea`).fill('# mine\nattention cache');
    await page.locator(`${RULES} .text-button`).click();
    await page.waitForURL(/rules=/);
    await idle(page);
    equal(url(page).get('rules'), '# mine\nattention cache');
    includes(await text(page, '.panel-strips .legend'), 'cache ');
    includes(await rows(page).first().locator('.c-cat').innerText(), 'cache');
    truth((await pixels(page, '.strip-base')) !== before, 'the strips are as they were');
    await page.goBack();
    await idle(page);
    equal(await pixels(page, '.strip-base'), before);
    await page.finish();
  });
}
