/* SPDX-License-Identifier: Apache-2.0
 * look.mjs: themes, window sizes, zoom and weight. */

import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { idle, pixels, pointOn, text } from '../harness.mjs';

const MAX_KB = 200;

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
  ])
    test(`the picture of the Memory Viewer has its height in ${width} × ${height}`, async () => {
      const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { width, height });
      const found = await page.evaluate(() => {
        const main = document.querySelector('main');
        const { top, bottom } = document.querySelector('.panel-table').getBoundingClientRect();
        return { scrolls: main.scrollHeight - main.clientHeight, bottom, high: bottom - top };
      });
      /* A low window scrolls as a whole: nothing is squeezed into it. */
      if (height === 900) {
        truth(found.scrolls <= 0, `the page scrolls by ${found.scrolls} px`);
        truth(found.bottom <= height, `the table ends at ${found.bottom} px`);
      } else
        truth(
          found.scrolls > 0 && found.high > 300,
          `it scrolls by ${found.scrolls} px, the table is ${found.high} px high`,
        );
      const curve = await page.locator('.curve .u-over').boundingBox();
      truth(curve.height >= 340, `the curve is ${curve.height} px high`);
      equal(await page.locator('.map-plot').isVisible(), false);
      await page.locator('.panel-curve .switch-button', { hasText: 'At its offset' }).click();
      await idle(page);
      const map = await page.locator('.map-plot').boundingBox();
      truth(map.height >= 340, `the map is ${map.height} px high`);
      equal(await page.locator('.curve').isVisible(), false);
      await page.reload();
      await idle(page);
      truth(await page.locator('.map-plot').isVisible(), 'the link does not show the map again');
      await page.finish();
    });

  test('light and dark follow the system, the switch goes round and is kept', async () => {
    const base = await daemon('--demo');
    const dark = await open(base, { scheme: 'dark' });
    equal(await background(dark), 'rgb(20, 23, 28)');
    await dark.finish();
    const page = await open(base, { scheme: 'light' });
    equal(await background(page), 'rgb(245, 246, 248)');
    const strip = await pixels(page, '.strip-base');
    const curve = await pixels(page, '.curve-host canvas');
    await page.click('#theme');
    equal(await background(page), 'rgb(245, 246, 248)');
    await page.click('#theme');
    await idle(page);
    equal(await background(page), 'rgb(20, 23, 28)');
    truth((await pixels(page, '.strip-base')) !== strip, 'the strip kept its light colours');
    truth((await pixels(page, '.curve-host canvas')) !== curve, 'the curve kept its light colours');
    await page.reload();
    await idle(page);
    equal(await background(page), 'rgb(20, 23, 28)');
    await page.click('#theme');
    equal(await background(page), 'rgb(245, 246, 248)');
    await page.finish();
  });

  for (const [width, height, scale] of [
    [1440, 900, 1],
    [1280, 720, 1],
    [1000, 640, 1],
    [720, 450, 2],
    [640, 360, 2],
    [390, 844, 2],
    [320, 640, 1],
  ]) {
    test(`nothing hangs over at ${width} × ${height}${scale > 1 ? ` (×${scale})` : ''}`, async () => {
      const page = await open(await daemon('--demo'), { width, height, scale });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      truth(wide <= width, `the page is ${wide} px wide`);
      for (const [tab, selector] of [
        ['Curve', 'h1'],
        ['Curve', '.curve-host canvas'],
        ['Strips', '.strip-base'],
        ['Table', '.panel-table tbody tr'],
      ]) {
        if (width < 600) await page.locator('.phone-tab', { hasText: tab }).click();
        await idle(page);
        truth(await page.locator(selector).first().isVisible(), `${selector} is not visible`);
        const behind = await page.evaluate(() => document.documentElement.scrollWidth);
        truth(behind <= width, `with ${tab} the page is ${behind} px wide`);
      }
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter(
            (node) =>
              node.childNodes.length &&
              [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()) &&
              node.getClientRects().length &&
              parseFloat(getComputedStyle(node).fontSize) < 12,
          )
          .map((node) => node.textContent.slice(0, 30)),
      );
      equal(small, [], 'text under 12 px');
      const sizes = await page
        .locator('.curve-host canvas, .strip-base')
        .evaluateAll((nodes) =>
          nodes.filter((node) => node.offsetParent).map((node) => [node.clientWidth, node.clientHeight]),
        );
      truth(
        sizes.every(([w, h]) => w > 60 && h >= 24),
        `a canvas is too small: ${JSON.stringify(sizes)}`,
      );
      await page.finish();
    });
  }

  test('below 1400 px a pin opens the drawer, Esc closes it', async () => {
    const page = await open(await daemon('--demo'), { width: 1280, height: 720 });
    equal(await page.locator('.details').isVisible(), false);
    await page.mouse.click(...(await pointOn(page, 0, 0.5)));
    await page.waitForURL(/pin=b:/);
    await page.waitForSelector('.details.is-open');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await idle(page);
    equal(await page.locator('.details').isVisible(), false);
    await page.finish();
  });

  test('on a phone the selectors are a sheet and a tap opens the details', async () => {
    const page = await open(`${await daemon('--demo')}?view=table&group=none`, {
      width: 390,
      height: 844,
      touch: true,
    });
    equal(await page.locator('.selector').first().isVisible(), false);
    await page.tap('#menu');
    truth(await page.locator('.selector').first().isVisible(), 'no sheet');
    await page.tap('#menu');
    equal((await page.locator('.panel-table tbody .c-size').first().innerText()).replace(/\s+/g, ' '), '2.00 GiB');
    await page.locator('.panel-table tbody tr').first().tap();
    await page.waitForSelector('.details.is-open');
    includes(await text(page, '.details'), '2.00 GiB');
    await page.tap('.details .close');
    await page.waitForFunction(() => !location.search.includes('pin='));
    await page.finish();
  });

  test('sizes of the window change the picture, not the figures', async () => {
    const page = await open(await daemon('--demo'));
    const title = await text(page, 'h1');
    await page.setViewportSize({ width: 1000, height: 700 });
    await idle(page);
    equal(await text(page, 'h1'), title);
    const [css, backing] = await page
      .locator('.strip-base')
      .first()
      .evaluate((node) => [node.clientWidth, node.width]);
    equal(css, backing);
    await page.finish();
  });

  test('on wide paper curve and map have their height, and forced colours keep the squares of the legend', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    await page.emulateMedia({ media: 'print' });
    const isHigh = (each) =>
      page.waitForFunction((selector) => document.querySelector(selector).getBoundingClientRect().height > 150, each);
    await isHigh('.curve-host');
    await page.emulateMedia({ media: 'screen' });
    await page.locator('.panel-curve .switch-button', { hasText: 'At its offset' }).click();
    await page.emulateMedia({ media: 'print' });
    await isHigh('.map-plot');
    await page.emulateMedia({ media: 'screen', forcedColors: 'active' });
    await page.waitForFunction(
      () => getComputedStyle(document.querySelector('.swatch-temporary')).backgroundColor === 'rgb(67, 84, 5)',
    );
    await page.finish();
  });

  test('what opens stays in the window, and nothing scrolls for it', async () => {
    const isInside = (page, selector) =>
      page
        .locator(selector)
        .first()
        .evaluate((node) => {
          const { left, right, top, bottom } = node.getBoundingClientRect();
          return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        });
    const wide = await open(await daemon('--demo'));
    await wide.locator('.capacity .selector-button').click();
    await wide.waitForSelector('.capacity .selector-option');
    equal(await wide.evaluate(() => document.querySelector('main').scrollLeft), 0, 'scrolled sideways');
    truth(await isInside(wide, '.capacity .selector-popup'), 'the devices stand outside');
    await wide.finish();
    const low = await open(await daemon('--demo'), { width: 1280, height: 720 });
    await low.locator('.panel-table .menu-dots').click();
    const first = await low.locator('.panel-table .menu-item').first().boundingBox();
    equal(
      await low.evaluate(
        ([x, y]) => document.elementFromPoint(x, y)?.closest('.menu-item')?.innerText.split('\n')[0],
        [first.x + 20, first.y + first.height / 2],
      ),
      (await low.locator('.panel-table .menu-item').first().innerText()).split('\n')[0],
      'the first entry is covered',
    );
    await low.finish();
    const phone = { width: 390, height: 844 };
    const viewer = await open(`${await daemon('--demo')}?tool=memory_viewer`, phone);
    await viewer.locator('.notes-button').click();
    truth(await isInside(viewer, '.notes-list'), 'the notes stand outside');
    await viewer.keyboard.press('Escape');
    await viewer.locator('.phone-tab', { hasText: 'Table' }).click();
    await viewer.locator('.panel-table .menu-dots').click();
    truth(await isInside(viewer, '.panel-table .menu-popup'), 'the columns stand outside');
    await viewer.finish();
    const verdict = await open(`${await daemon('--demo')}?tool=oom`, phone);
    await verdict.locator('.answer-aside .menu-dots').click();
    truth(await isInside(verdict, '.answer-aside .menu-popup'), 'the entries stand outside');
    await verdict.finish();
  });

  test('on a phone the first chart is in view; the figures behind the answer open by hand', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { width: 390, height: 844 });
    const box = await page.locator('.curve-host').boundingBox();
    truth(box.y + box.height * 0.75 <= 844, `the curve ends at ${box.y + box.height} px`);
    equal(await page.locator('.made-of.sum').isVisible(), false);
    await page.locator('.unfold').click();
    truth((await text(page, '.made-of.sum')).includes('temporaries 32.28 GiB'), 'no figures');
    equal(await page.locator('.unfold').getAttribute('aria-expanded'), 'true');
    await page.finish();
  });

  for (const width of [1440, 1024])
    test(`at ${width} pixels what the total is made of opens by hand, too`, async () => {
      const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { width, height: 900 });
      const high = () => page.locator('.facts-line').evaluate((node) => node.getBoundingClientRect().height);
      const folded = await high();
      equal(await page.locator('.made-of:visible').count(), 0);
      await page.locator('.unfold').click();
      equal(await page.locator('.made-of:visible').count(), 2);
      truth((await high()) > folded, 'the figures have no line of their own');
      await page.locator('.unfold').click();
      equal(await page.locator('.made-of:visible').count(), 0);
      await page.finish();
    });

  for (const size of [
    { width: 1440, height: 900 },
    { width: 1280, height: 720 },
  ])
    test(`what the first page needs is under ${MAX_KB} kB compressed at ${size.width} × ${size.height}`, async () => {
      const page = await open(await daemon(join(fixtures, 'dumps/seed-matmul-327680')), size);
      const urls = await page.evaluate(() => [
        location.href,
        ...new Set(performance.getEntriesByType('resource').map((entry) => entry.name)),
      ]);
      let bytes = 0;
      for (const url of urls.filter((each) => !each.includes('/api/')))
        bytes += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer()), { level: 6 }).length;
      truth(bytes <= MAX_KB * 1000, `${bytes} bytes`);
      console.log(`        ${urls.length} requests, ${(bytes / 1000).toFixed(1)} kB compressed`);
      await page.finish();
    });
}
