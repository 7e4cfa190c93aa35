/* SPDX-License-Identifier: Apache-2.0
 * explain.mjs: figures open a card with formula, inputs, file, field and confidence. Figures: XProf's of the
 * seed (200 and 100 GiB) and of the demo (33.49 GiB needed, 15.75 GiB printed as available). */

import { join } from 'node:path';
import { explainIn, placeOn } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

const GIB = 1024 ** 3;

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const card = async (page) => {
    await page.waitForSelector('.dialog.explain[open]');
    await idle(page);
    return text(page, '.dialog.explain');
  };

  test('the needed figure opens by click: parts that add up, file and field; Esc gives the focus back', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('h1 .explained').first().click();
    const said = await card(page);
    includes(said, 'Needs 33.49 GiB');
    includes(said, 'buffer_allocations[]');
    includes(said, 'after_optimizations.hlo.pb');
    includes(said, 'exact');
    const exact = await page
      .locator('.explain-inputs td.dim')
      .evaluateAll((nodes) => nodes.map((node) => Number(node.textContent.replace(/[^0-9]/g, ''))));
    equal(
      exact.slice(0, -1).reduce((sum, each) => sum + each, 0),
      exact.at(-1),
    );
    await page.keyboard.press('Escape');
    equal(await page.locator('.dialog.explain').count(), 0);
    equal(await page.evaluate(() => document.activeElement.dataset.explain), 'total');
    await page.finish();
  });

  test('figures of the window and of the marks open a sum that balances; each panel explains itself', async () => {
    const page = await open(`${await daemon('--demo')}?sel=101-376&a=100&b=376`);
    for (const [selector, title] of [
      ['.window-line:not(.marks-line) .explained', 'The selected window'],
      ['.marks-line .explained', 'Between the marks'],
    ]) {
      await page.locator(selector).last().click();
      includes(await card(page), title);
      const exact = await page
        .locator('.explain-inputs td.dim')
        .evaluateAll((nodes) => nodes.map((node) => Number(node.textContent.replace(/[^0-9]/g, ''))));
      equal(exact[0] + exact[1] - exact[2], exact[3], title);
      equal(exact[3], 35870178816, 'what lives at the peak');
      await page.keyboard.press('m'); // what is behind the card hears nothing
      await page.keyboard.press('Escape');
      equal(await page.locator('.dialog').count(), 0);
      equal(new URL(page.url()).searchParams.get('sel'), '101-376', 'Escape let the window go as well');
      equal(new URL(page.url()).searchParams.get('b'), '376');
    }
    for (const [panel, title] of [
      ['curve', 'Memory over program order'],
      ['strips', 'Live buffers, in three orders'],
      ['map', 'Allocation map'],
      ['table', 'Buffers, and what the filter leaves out'],
    ]) {
      if (panel === 'map') await page.locator('.panel-curve .switch-button', { hasText: 'At its offset' }).click();
      await page.locator(`.panel-${panel} .menu-dots`).click();
      await page.locator(`.panel-${panel} .menu-item`, { hasText: 'Explain' }).click();
      includes(await card(page), title);
      await page.keyboard.press('Escape');
    }
    await page.finish();
  });

  test('i explains the row that has the focus, and the cell in it', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps/seed-matmul-327680'))}?group=none`);
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('i');
    const said = await card(page);
    includes(said, 'Saves 200.00 GiB');
    includes(said, `${(200 * GIB).toLocaleString('en-US')} B`);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement.localName === 'tr');
    for (let at = 0; at < 10; at++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('i');
    includes(await card(page), 'Lives for the whole program');
    await page.finish();
  });

  test('every figure of the answer, the parts, the pane and the panels has a card', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`);
    await page.locator('.panel-table tbody tr').first().click();
    await page.waitForURL(/pin=b:/);
    await idle(page);
    const keys = await page
      .locator('.head [data-explain], .details [data-explain], .panel[data-explain]')
      .evaluateAll((nodes) => nodes.map((node) => node.dataset.explain));
    for (const wanted of [
      'total',
      'capacity',
      'over',
      'peak',
      'culprit',
      'part:arguments',
      'padding',
      'curve',
      'strips',
      'table',
    ])
      truth(keys.includes(wanted), `${wanted} is not among ${keys}`);
    for (const key of new Set(keys)) {
      await explainIn(page, key);
      const said = await card(page);
      truth(/exact|rule|model|bound|guess/.test(said), `${key}: no confidence in ${said}`);
      truth(/undefined|NaN|null/.test(said) === false, `${key}: ${said}`);
      await page.keyboard.press('Escape');
    }
    await page.finish();
  });

  /* Every figure of bytes or percent in words, outside of pictures and their lists: what explains it, and whether that
   * is a button of its own. */
  const figuresOf = (page) =>
    page.evaluate(() => {
      const found = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const parent = node.parentElement;
        const isSaid =
          parent.closest('main, .details') &&
          !parent.closest('.tooltip, .error-text, .menu-popup, [role="listbox"], [aria-hidden="true"], pre');
        if (!isSaid || !/\d[\d,.]*\s(B|[KMGT]iB|%)/.test(node.data) || !parent.checkVisibility()) continue;
        const key = parent.closest('[data-explain]')?.dataset.explain ?? null;
        found.push({ text: node.data, key, isOwn: Boolean(parent.closest('button[data-explain], td[data-explain]')) });
      }
      return found;
    });

  test('every figure on the page has a card, whatever is pinned, selected, marked, filtered or grouped', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?group=none`);
    const first = await page.locator('.panel-table tbody tr').first().getAttribute('data-id');
    const opened = new Set();
    for (const [query, least] of [
      ['', 20],
      [`?pin=b:${first}`, 23],
      ['?sel=100-376', 50],
      ['?a=100&b=376', 50],
      ['?filter=>1MiB', 20],
      ['?group=shape', 20],
      ['?step=100', 15],
    ]) {
      await page.goto(`${base}?tool=memory_viewer${query.replace('?', '&')}`);
      await idle(page);
      const figures = await figuresOf(page);
      truth(figures.length >= least, `${query}: ${figures.length} figures`);
      equal(
        figures.filter(({ key }) => !key).map((each) => each.text),
        [],
        `${query}: no card`,
      );
      for (const { key, text: said } of figures) {
        const word = `${query.slice(0, 4)} ${key.split(':')[0]}`;
        if (opened.has(word)) continue;
        opened.add(word);
        await explainIn(page, key);
        const told = await card(page);
        truth(/exact|rule|model|bound|guess/.test(told), `${query} ${key} "${said}": no confidence in ${told}`);
        truth(!/undefined|NaN|null/.test(told), `${query} ${key}: ${told}`);
        await page.keyboard.press('Escape');
      }
    }
    truth(opened.size > 25, `${opened.size} kinds of figures`);
    await page.finish();
  });

  test('what the tooltip names is explained by i: a bar, bars drawn as one, a step, a place of the map', async () => {
    const page = await open(await daemon('--demo'));
    const over = async (selector, x, y) => {
      await page.mouse.move(...(await placeOn(page, selector, x, y)));
      await page.waitForSelector('.tooltip:not([hidden])');
      includes(await text(page, '.tooltip'), 'i explains');
      await page.keyboard.press('i');
      const said = await card(page);
      await page.keyboard.press('Escape');
      await page.mouse.move(5, 5);
      await page.waitForSelector('.tooltip', { state: 'hidden' });
      return said;
    };
    includes(await over('.strip canvas', 0.5, 0.5), 'Size 2.00 GiB');
    const step = await over('.curve-host canvas', 0.5, 0.6);
    includes(step, 'live at step ');
    const exact = [...step.matchAll(/([\d,]+) B\b/g)].map((each) => Number(each[1].replace(/,/g, '')));
    equal(exact[0] + exact[1], exact[2], step);
    await page.locator('.panel-curve .switch-button', { hasText: 'At its offset' }).click();
    await idle(page);
    includes(await over('.map-plot', 0.5, 0.06), 'of the peak');
    await page.finish();
  });

  test('a peak between marks is that of both and of all between', async () => {
    const page = await open(`${await daemon('--demo')}?a=376&b=500`);
    includes(await text(page, '.details'), 'peak, both included');
    await page.locator('.marks-line .explained').first().click();
    includes(await card(page), 'The largest sum there is 33.41 GiB, at step 376.');
    await page.finish();
  });

  test('the capacity says that the text is rounded, and the difference balances', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('.capacity .explained').focus();
    await page.keyboard.press('i');
    const said = await card(page);
    includes(said, 'error.txt');
    includes(said, '± 5 MiB');
    await page.keyboard.press('Escape');
    await page.locator('h1 .over').click();
    includes(await card(page), '33.49 GiB − 15.75 GiB = 17.74 GiB');
    await page.finish();
  });
}
