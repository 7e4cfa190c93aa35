/* SPDX-License-Identifier: Apache-2.0
 * state.mjs: hover lights a buffer everywhere, a pin stands in the URL, and a link gives
 * the same picture again. */

import { idle, pixels, pointOn, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const overlays = async (page) => [await pixels(page, '.strip-over', 0), await pixels(page, '.strip-over', 1)];
  const bases = async (page) => [
    await pixels(page, '.strip-base', 0),
    await pixels(page, '.strip-base', 1),
    await pixels(page, '.curve-host canvas'),
  ];
  const move = async (page, at, share) => {
    await page.mouse.move(...(await pointOn(page, at, share)));
    await idle(page);
  };

  test('hover lights the buffer in the strips, the curve, the table and the pane', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`);
    const before = await overlays(page);
    const drawn = await bases(page);
    await move(page, 1, 0.02);
    const after = await overlays(page);
    truth(before[0] !== after[0] && before[1] !== after[1], 'an overlay did not change');
    equal(await bases(page), drawn, 'the base was drawn again for a hover');
    truth(await page.locator('.curve-span').isVisible(), 'no lifetime on the curve');
    equal(await page.locator('.panel-table tr.is-hover').count(), 1);
    const lines = await page.locator('.tooltip-line').allInnerTexts();
    truth(lines.length >= 2 && lines.length <= 3, `${lines.length} lines in the tooltip`);
    const name = await text(page, '.details-name .name');
    equal(lines[0], name, 'tooltip and pane name another buffer');
    includes(lines[1], '2.00 GiB · 6.0 % of the peak');
    await page.mouse.move(700, 20);
    equal(await overlays(page), before, 'the outline stayed');
    equal(await page.locator('.tooltip').isVisible(), false);
    await page.finish();
  });

  test('the pane tells size, padding, shape, layout, source, stack and life', async () => {
    const page = await open(await daemon('--demo'));
    await page.mouse.click(...(await pointOn(page, 1, 0.02)));
    await idle(page);
    await page.waitForSelector('.folded');
    const pane = await text(page, '.details');
    for (const word of [
      'size 2.00 GiB',
      '6.0 % of the peak',
      'unpadded',
      'padding',
      'bf16[16,16,2048,2048]',
      'layout',
      'kind temporary',
      'opcode fusion',
      'op name jit(',
      '.py:',
      'stack frame',
      'alive steps',
    ])
      includes(pane, word);
    await page.finish();
  });

  test('a click pins: URL, outline, Back, reload and Esc', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`);
    const [x, y] = await pointOn(page, 1, 0.02);
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.mouse.click(x, y);
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(
      asked.filter((url) => /summary|curve|strips|buffers/.test(url)),
      [],
      'a pin read the module again',
    );
    const link = page.url();
    const name = await text(page, '.details-name .name');
    await page.mouse.move(700, 20);
    await idle(page);
    const pinned = await overlays(page);
    equal(await page.locator('.panel-table tr.is-pinned').count(), 1);
    await move(page, 1, 0.5);
    equal(await text(page, '.details-name .name'), name, 'hover took the pane from the pin');
    await page.mouse.move(700, 20);
    await page.reload();
    await idle(page);
    await page.mouse.move(701, 21);
    equal(page.url(), link);
    equal(await text(page, '.details-name .name'), name);
    equal(await overlays(page), pinned, 'the picture is another after a reload');
    await page.keyboard.press('Escape');
    await idle(page);
    truth(!page.url().includes('pin='), 'Esc did not let go');
    await page.goBack();
    await idle(page);
    equal(page.url(), link);
    equal(await page.locator('.panel-table tr.is-pinned').count(), 1);
    await page.mouse.click(x, y);
    await idle(page);
    truth(!page.url().includes('pin='), 'a second click did not let go');
    await page.finish();
  });

  test('the curve tells step, live bytes and change', async () => {
    const page = await open(await daemon('--demo'));
    const box = await page.locator('.curve .u-over').boundingBox();
    await page.mouse.move(box.x + box.width * (376.5 / 1018), box.y + box.height / 2);
    const lines = await page.locator('.tooltip-line').allInnerTexts();
    includes(lines[0], 'step 376');
    includes(lines[1], '33.41 GiB live');
    await page.finish();
  });

  test('a memory space is chosen by its figure and stands in URL and title', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('.breadcrumb .selector-button').last().click();
    await page.waitForSelector('.selector-option');
    const options = await page.locator('.selector-option').allInnerTexts();
    includes(options[0], 'HBM');
    includes(options[0], '33.49 GiB');
    await page.locator('.selector-option', { hasText: 'VMEM' }).first().click();
    await page.waitForURL(/space=1/);
    await idle(page);
    includes(await text(page, 'h1'), 'of VMEM');
    includes(await page.title(), 'VMEM – memviewd');
    const title = await text(page, 'h1');
    await page.reload();
    await idle(page);
    equal(await text(page, 'h1'), title);
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), 'of HBM');
    await page.finish();
  });

  test('ids that do not exist are named in a banner, the rest applies', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?space=77&pin=b:99999999&later=1`, { allow: /404/ });
    const banners = (await page.locator('.banner').allInnerTexts()).join('\n');
    includes(banners, 'Memory space 77 is not in this module; showing HBM.');
    includes(banners, 'Buffer 99999999 is not in this module; showing the peak.');
    includes(await text(page, 'h1'), 'Needs 33.49 GiB of HBM');
    await page.goto(`${base}?module=ffffffffffff&host=ffffffffffff`);
    await idle(page);
    includes(
      (await page.locator('.banner').allInnerTexts()).join('\n'),
      'Module ffffffffffff is not in this session; showing the largest.',
    );
    includes(await text(page, 'h1'), 'Needs 33.49 GiB of HBM');
    await page.finish();
  });

  for (const [id, shown] of [
    ['ffffffffffff', 'ffffffffffff'],
    ['nope', 'nope'],
    ['%00', '␀'],
  ])
    for (const tool of ['', '&tool=memory_viewer', '&tool=memory_profile', '&tool=oom', '&tool=modules'])
      test(`a link to the absent session ${shown} shows no other (${tool.slice(6) || 'no page'})`, async () => {
        const page = await open(`${await daemon('--demo')}?session=${id}${tool}`, { allow: /404|400/ });
        equal(await text(page, 'h1'), 'Nothing to show.');
        const said = await text(page, 'main');
        includes(said, `Session ${shown} is not here.`);
        truth(!/GiB/.test(said), said);
        const [near] = await page.locator('.lost-near a').all();
        await near.click();
        await idle(page);
        includes(await text(page, 'h1'), 'iB');
        await page.finish();
      });

  test('unknown names in the URL are kept', async () => {
    const page = await open(`${await daemon('--demo')}?later=1`);
    await page.mouse.click(...(await pointOn(page, 1, 0.02)));
    await page.waitForURL(/pin=b:/);
    includes(page.url(), 'later=1');
    await page.finish();
  });
}
