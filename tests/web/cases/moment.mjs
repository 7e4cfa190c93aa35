/* SPDX-License-Identifier: Apache-2.0
 * moment.mjs: any step: the moment, the window and the steps in view. Figures of the demo are
 * those of the heap trace in its module, counted by hand from it. */

import { drag, wheel } from '../acts.mjs';
import { idle, pixels, pointOn, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const overBox = (page) => page.locator('.curve .u-over').boundingBox();
  const xOf = async (page, step, from = 0, to = 1018) => {
    const box = await overBox(page);
    return [box.x + (box.width * (step + 0.5 - from)) / (to - from), box.y + 20];
  };
  const query = (page) => new URL(page.url()).searchParams;
  const settled = idle;
  const moment = (page) => page.locator('.curve-slider').getAttribute('aria-valuenow');

  test('a click on the curve sets the moment: URL, titles, strips, table; Back and reload', async () => {
    const page = await open(await daemon('--demo'));
    const before = await text(page, '.panel-strips h2');
    includes(before, 'Live at the peak');
    await page.mouse.click(...(await xOf(page, 100)));
    await page.waitForURL(/step=/);
    await settled(page);
    const step = Number(query(page).get('step'));
    truth(Math.abs(step - 100) <= 1, `the moment is ${step}`);
    includes(await text(page, '.panel-strips h2'), `Live at step ${step}`);
    includes(await text(page, '.panel-table h2'), `at step ${step}`);
    includes(await page.title(), `at step ${step} · jit_train_step · HBM – memviewd`);
    equal(await moment(page), String(step));
    includes(await text(page, 'h1'), 'Peak live 33.41 GiB at step 376');
    const title = await page.title();
    await page.reload();
    await idle(page);
    equal(await page.title(), title);
    await page.goBack();
    await idle(page);
    equal(query(page).get('step'), null);
    includes(await text(page, '.panel-strips h2'), 'Live at the peak');
    await page.finish();
  });

  test('arrows, Shift, Home, End, p and brackets move the moment; the view follows', async () => {
    const page = await open(`${await daemon('--demo')}?step=100&from=90&to=110`);
    await page.locator('.curve-slider').focus();
    await page.keyboard.press('ArrowRight');
    await settled(page);
    equal(query(page).get('step'), '101');
    await page.keyboard.press('Shift+ArrowRight');
    await settled(page);
    equal(query(page).get('step'), '111');
    truth(Number(query(page).get('to')) > 111, 'the view did not follow');
    await page.keyboard.press('Home');
    await settled(page);
    equal([query(page).get('step'), query(page).get('from')], ['0', null]);
    await page.keyboard.press('End');
    await settled(page);
    equal([query(page).get('step'), query(page).get('to')], ['1017', null]);
    await page.keyboard.press('p');
    await settled(page);
    equal([query(page).get('step'), await moment(page)], [null, '376']);
    await page.keyboard.press('[');
    await settled(page);
    const left = Number(await moment(page));
    truth(left < 376, 'no local peak before the peak');
    await page.keyboard.press(']');
    await settled(page);
    equal(await moment(page), '376');
    await page.finish();
  });

  test('a key that is held down asks strips and table once, where it comes to rest', async () => {
    const page = await open(`${await daemon('--demo')}?step=100`);
    const asked = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (/\/(strips|buffers)$/.test(pathname) && searchParams.has('step')) asked.push(searchParams.get('step'));
    });
    await page.locator('.curve-slider').focus();
    await page.evaluate(() => {
      for (let press = 0; press < 20; press++)
        document.activeElement.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }),
        );
    });
    equal(await moment(page), '120');
    await settled(page);
    equal([...new Set(asked)], ['120']);
    includes(await text(page, '.panel-table h2'), 'at step 120');
    await page.finish();
  });

  test('the handle of the moment is dragged', async () => {
    const page = await open(await daemon('--demo'));
    const [x] = await xOf(page, 376);
    const { y } = await overBox(page);
    await page.mouse.move(x, y + 6);
    await page.mouse.down();
    for (const step of [300, 250, 200]) await page.mouse.move((await xOf(page, step))[0], y + 30);
    await page.mouse.up();
    await settled(page);
    truth(Math.abs(Number(query(page).get('step')) - 200) <= 1, `the moment is ${query(page).get('step')}`);
    equal(query(page).get('sel'), null);
    await page.finish();
  });

  test('a drag selects a window: its peak, births and deaths; Enter zooms, Esc goes back', async () => {
    const page = await open(await daemon('--demo'));
    const [a, y] = await xOf(page, 300);
    const [b] = await xOf(page, 400);
    await drag(page, [a, y], [b, y]);
    await page.waitForURL(/sel=/);
    await settled(page);
    const [first, last] = query(page).get('sel').split('-').map(Number);
    truth(Math.abs(first - 300) <= 1 && Math.abs(last - 400) <= 1, `the window is ${first}-${last}`);
    equal(query(page).get('step'), null, 'a drag set the moment');
    const line = await text(page, '.window-line');
    includes(line, 'peak 33.41 GiB at step 376');
    includes(line, 'born');
    await page.mouse.move(700, 20);
    await settled(page);
    const pane = await text(page, '.details');
    includes(pane, 'Selected window');
    includes(pane, 'Born:');
    includes(pane, 'fusion.1485');
    await page.locator('.curve-slider').focus();
    await page.keyboard.press('Enter');
    await settled(page);
    equal([query(page).get('from'), query(page).get('to')], [String(first), String(last + 1)]);
    await page.locator('.curve-slider').blur();
    await page.keyboard.press('Escape');
    await settled(page);
    equal(query(page).get('sel'), null);
    equal(await page.locator('.window-line:not(.marks-line)').isVisible(), false);
    await page.finish();
  });

  test('m marks A, then B: flags, what lies between; x swaps, m clears; Back and reload', async () => {
    const page = await open(`${await daemon('--demo')}?step=100`);
    const flags = () => page.locator('.curve-mark:visible .curve-mark-word').allInnerTexts();
    await page.keyboard.press('m');
    await page.waitForURL(/[?&]a=100(&|$)/);
    await idle(page);
    equal(await flags(), ['A']);
    includes(await text(page, '.marks-line'), 'A step 100 · m marks the other moment');
    await page.keyboard.press('p');
    await page.keyboard.press('m');
    await page.waitForURL(/[?&]b=376/);
    await idle(page);
    equal(await flags(), ['A', 'B']);
    const line = await text(page, '.marks-line');
    includes(line, 'B step 376 33.41 GiB: +');
    const exact = await page
      .locator('.marks-line .figure')
      .evaluateAll((nodes) => nodes.map((node) => Number(node.title.replace(/\D/g, ''))));
    equal(exact[1], 35870178816);
    const words = await text(page, '.details');
    includes(words, 'Between the marks');
    includes(words, 'fusion.1485');
    await page.reload();
    await idle(page);
    equal(await text(page, '.marks-line'), line);
    await page.keyboard.press('x');
    await page.waitForURL(/a=376&b=100/);
    await idle(page);
    includes(await text(page, '.marks-line'), 'A step 376 33.41 GiB');
    includes(await text(page, '.marks-line'), ': \u2212');
    await page.goBack();
    await idle(page);
    equal(await text(page, '.marks-line'), line);
    await page.keyboard.press('m');
    await page.waitForFunction(() => !location.search.includes('a='));
    await idle(page);
    equal([await flags(), await page.locator('.marks-line').isVisible()], [[], false]);
    await page.goto(page.url().replace(/[?].*/, '?tool=memory_viewer&a=376&b=376'));
    includes(await text(page, '.marks-line'), 'B step 376 33.41 GiB: no change between them');
    await page.finish();
  });

  test('a double click on a bar pins the buffer and zooms to its life', async () => {
    const page = await open(`${await daemon('--demo')}?step=300`);
    await page.mouse.dblclick(...(await pointOn(page, 1, 0.02)));
    await page.waitForURL(/from=/);
    /* fusion.1485.remat{0}, the largest there, is born at step 300. */
    includes(await text(page, '.details'), 'fusion.1485.remat{0}');
    equal(query(page).get('pin'), 'b:14320');
    const [from, to] = [Number(query(page).get('from')), Number(query(page).get('to'))];
    truth(from > 250 && from <= 300 && to > 300 && to < 400, page.url());
    await page.finish();
  });

  test('1 to 4 go to the panels; on a phone to their tabs', async () => {
    const page = await open(await daemon('--demo'));
    for (const [key, selector] of [
      ['1', '.panel-curve .curve-slider'],
      ['2', '.panel-strips [role="listbox"]'],
      ['3', '.panel-map [role="listbox"]'],
      ['4', '.panel-table [tabindex="0"]'],
    ]) {
      await page.keyboard.press(key);
      truth(
        await page
          .locator(selector)
          .first()
          .evaluate((node) => node === document.activeElement),
        `${key} does not go to ${selector}`,
      );
    }
    await page.finish();
    const phone = await open(await daemon('--demo'), { width: 390, height: 844 });
    await phone.keyboard.press('4');
    await phone.waitForURL(/view=table/);
    truth(await phone.locator('.panel-table tbody tr').first().isVisible(), 'the table is not shown');
    await phone.finish();
  });

  test('wheel, keys and brush zoom; 0 and a double click show all', async () => {
    const page = await open(await daemon('--demo'));
    const width = () => Number(query(page).get('to') ?? 1018) - Number(query(page).get('from') ?? 0);
    await wheel(page, await xOf(page, 500), [0, -300]);
    await settled(page);
    equal(width(), 1018, 'the wheel zoomed a plot that is not active');
    await page.mouse.click(...(await xOf(page, 500)));
    await page.mouse.wheel(0, -300);
    await settled(page);
    truth(width() < 700, `the wheel left ${width()} steps`);
    const wheeled = width();
    await page.keyboard.press('w');
    await settled(page);
    truth(width() < wheeled, 'W did not zoom in');
    await page.keyboard.press('s');
    await settled(page);
    truth(Math.abs(width() - wheeled) <= 3, `S is not the way back: ${wheeled}, then ${width()}`);
    const from = Number(query(page).get('from'));
    await page.keyboard.press('d');
    await settled(page);
    truth(Number(query(page).get('from')) > from, 'D did not move');
    await page.keyboard.press('0');
    await settled(page);
    equal(width(), 1018);
    const brush = await page.locator('.brush').boundingBox();
    await drag(page, [brush.x + brush.width * 0.25, brush.y + 5], [brush.x + brush.width * 0.5, brush.y + 5]);
    await settled(page);
    truth(
      Math.abs(Number(query(page).get('from')) - 254) < 4 && Math.abs(Number(query(page).get('to')) - 509) < 4,
      page.url(),
    );
    await page.mouse.dblclick(...(await xOf(page, 300, 254, 509)));
    await settled(page);
    equal(width(), 1018);
    await page.finish();
  });

  test('u takes the unpadded curve away and brings it back; a colour that is none is named', async () => {
    const page = await open(`${await daemon('--demo')}?color=mood`);
    includes((await page.locator('.banner').allInnerTexts()).join(' '), 'There is no colour by mood here');
    const both = await pixels(page, '.curve-host canvas');
    await page.keyboard.press('u');
    await settled(page);
    truth((await pixels(page, '.curve-host canvas')) !== both, 'the unpadded curve is still there');
    await page.waitForURL(/unpadded=0/);
    await page.reload();
    await settled(page);
    truth((await pixels(page, '.curve-host canvas')) !== both, 'a reload brings it back');
    await page.keyboard.press('u');
    await settled(page);
    equal(await pixels(page, '.curve-host canvas'), both);
    await page.keyboard.press('c');
    await settled(page);
    equal(await page.locator('.banner').count(), 0);
    await page.finish();
  });

  test('places that do not exist are named, the rest applies', async () => {
    const base = await daemon('--demo');
    for (const [search, words] of [
      ['?step=5000', 'Step 5,000 is not in HBM, which has steps 0 to 1,017; showing the peak.'],
      ['?step=x', 'Step x is not in HBM'],
      ['?from=400&to=20', '400 to 20 is no range of HBM'],
      ['?sel=1000-2000', 'The window 1000-2000 is not in HBM'],
      ['?low=5&high=2', 'Offsets 5 to 2 are not a range; showing all.'],
      ['?bars=nothing', 'There is no bar nothing in the strips; showing all buffers.'],
      ['?bars=size:90000-99999', '379 buffers are in the strips, so there is no bar number 90,001; showing all.'],
      ['?group=plaid', 'Buffers are not grouped by plaid here; folding layers.'],
      ['?sort=-wat', 'There is no order -wat here; what saves most comes first.'],
      ['?a=5&b=1018', 'The mark B at 1018 is not in HBM, which has steps 0 to 1,017; it is left out.'],
    ]) {
      const page = await open(base + search, { allow: /400/ });
      includes((await page.locator('.banner').allInnerTexts()).join('\n'), words);
      includes(await text(page, '.panel-strips h2'), 'Live at the peak');
      equal(await moment(page), '376');
      await page.finish();
    }
  });
}
