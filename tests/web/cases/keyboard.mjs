/* SPDX-License-Identifier: Apache-2.0
 * keyboard.mjs: everything is reached without a mouse, and one sees where one is. */

import { join } from 'node:path';
import { idle, pixels, text } from '../harness.mjs';

/* Presses Tab until the focused element matches, at most `most` times. */
async function tabTo(page, selector, most = 40) {
  for (let at = 0; at < most; at++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return at + 1;
  }
  throw new Error(`${selector} is not reached by Tab`);
}

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  test('canvases have a label and a list with true numbers', async () => {
    const page = await open(await daemon('--demo'));
    const labels = await page
      .locator('canvas[role="img"]')
      .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')));
    equal(labels.length >= 3 && labels.every((label) => label.length > 20), true, labels.join(' | '));
    includes(
      labels[0],
      'Memory over program order. Peak 33.41 gibibytes at step 376 of 1,018, 17.66 gibibytes above capacity.',
    );
    const option = page.locator('[role="listbox"] [role="option"]').first();
    truth(Number(await option.getAttribute('aria-setsize')) > 100, 'aria-setsize counts only what is loaded');
    equal(await page.locator('h1').count(), 1);
    await page.finish();
  });

  for (const [where, search] of [
    ['the Memory Viewer', '?tool=memory_viewer&a=10&b=20&sel=5-9'],
    ['Home', '?tool=home'],
    ['an error text', '?tool=oom'],
  ])
    test(`no key does two things on ${where}`, async () => {
      const page = await open(`${await daemon('--demo')}${search}`);
      await page.keyboard.press('?');
      const groups = await page
        .locator('.help-groups section')
        .evaluateAll((nodes) => nodes.map((node) => [...node.querySelectorAll('kbd')].map((each) => each.textContent)));
      truth(groups.flat().length > 5, `keys are missing: ${groups}`);
      for (const keys of groups)
        equal(
          keys.filter((key, at) => keys.indexOf(key) !== at),
          [],
        );
      await page.finish();
    });

  test('focus goes skip link, bar, rail, answer, curve, strips, table; eight stops to the curve', async () => {
    const page = await open(await daemon('--demo'));
    await page.keyboard.press('Tab');
    equal(await page.evaluate(() => document.activeElement.className), 'skip');
    let stopCount = 1;
    for (const selector of ['.brand', '.rail a[aria-current]', '.head a, .head button', '.curve-slider'])
      stopCount += await tabTo(page, selector, 8);
    truth(stopCount <= 8, `${stopCount} stops to the curve`);
    for (const selector of ['.strip-plot [role="listbox"]', '.panel-table tbody tr']) await tabTo(page, selector);
    await page.finish();
  });

  for (const [what, where, hero] of [
    ['a trace', ['demo', 'memory_profile'], '.curve-slider'],
    ['device profiles', ['memprof', 'device_memory'], '.panel-flame [role="tree"]'],
  ])
    test(`eight stops of Tab to the picture of ${what}`, async () => {
      const [folder, tool] = where;
      const base = await daemon(...(folder === 'memprof' ? [`--logdir=${join(fixtures, folder)}`] : ['--demo']));
      const page = await open(`${base}?tool=${tool}`);
      const stopCount = await tabTo(page, hero, 30);
      truth(stopCount <= 8, `${stopCount} stops to the picture`);
      await page.finish();
    });

  test('choices above a flame graph are one stop; a field keeps arrows that move between its letters', async () => {
    const page = await open(`${await daemon(`--logdir=${join(fixtures, 'memprof')}`)}?tool=device_memory`);
    const input = page.locator('.device-controls .condition-input');
    await input.focus();
    await page.keyboard.type('ab');
    await page.keyboard.press('ArrowLeft');
    equal(await input.evaluate((node) => node === document.activeElement), true, 'between letters');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Figures');
    await page.keyboard.press('ArrowRight');
    equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Grain');
    const grain = page.locator('.device-controls [aria-label="Grain"]');
    const before = await grain.inputValue();
    await page.keyboard.press('ArrowLeft');
    equal(await grain.inputValue(), before, 'Left and right go on, and choose nothing');
    await page.finish();
  });

  test(
    'the bar, the rail and the answer are one stop each; arrow keys go on inside, and Tab comes back to where one ' +
      'was',
    async () => {
      const page = await open(await daemon('--demo'));
      const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
      for (const key of ['Tab', 'Tab']) await page.keyboard.press(key);
      equal(await focused(), 'memviewd');
      await page.keyboard.press('ArrowRight');
      equal(await focused(), 'Home');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Tab');
      const tool = await focused();
      await page.keyboard.press('ArrowDown');
      truth((await focused()) !== tool, 'the next tool');
      const next = await focused();
      await page.keyboard.press('Tab');
      equal(await page.evaluate(() => Boolean(document.activeElement.closest('.head'))), true);
      const figures = await page
        .locator('.head')
        .evaluate(
          (head) =>
            [...head.querySelectorAll('a[href], button, summary')].filter((item) => item.checkVisibility()).length,
        );
      for (let at = 1; at < figures; at++) await page.keyboard.press('ArrowRight');
      const last = await page
        .locator('.head')
        .evaluate(
          (head) =>
            [...head.querySelectorAll('a[href], button, summary')].filter((item) => item.checkVisibility()).at(-1) ===
            document.activeElement,
        );
      truth(last, 'every figure is reached');
      await page.keyboard.press('Shift+Tab');
      equal(await focused(), next);
      await page.finish();
    },
  );

  test('arrows move along a strip, Enter pins, Esc lets go', async () => {
    const page = await open(await daemon('--demo'));
    const before = await pixels(page, '.strip-over', 1);
    await page.locator('.strip-plot [role="listbox"]').nth(1).focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    truth((await pixels(page, '.strip-over', 1)) !== before, 'no outline on the strip');
    const outline = await page
      .locator('.strip-plot')
      .nth(1)
      .evaluate((node) => getComputedStyle(node).outlineStyle);
    equal(outline, 'solid', 'no focus ring');
    const active = await page.locator('.strip-plot [role="listbox"]').nth(1).getAttribute('aria-activedescendant');
    includes(await page.locator(`#${active}`).innerText(), 'gibibytes');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await idle(page);
    truth(!page.url().includes('pin='), 'Esc did not let go');
    await page.finish();
  });

  test('the curve is a slider: p goes to the peak, arrows to the next step', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('.curve-slider').focus();
    await page.keyboard.press('Home');
    equal(await page.locator('.curve-slider').getAttribute('aria-valuenow'), '0');
    await page.keyboard.press('p');
    equal(await page.locator('.curve-slider').getAttribute('aria-valuenow'), '376');
    includes(await page.locator('.curve-slider').getAttribute('aria-valuetext'), '33.41 gibibytes live');
    await page.keyboard.press('ArrowRight');
    truth(Number(await page.locator('.curve-slider').getAttribute('aria-valuenow')) > 376, 'did not move');
    await page.finish();
  });

  test('rows are walked by arrows and pinned by Enter', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`);
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('ArrowDown');
    equal(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '3');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await page.locator('.panel-table tr.is-pinned').getAttribute('aria-rowindex'), '3');
    await page.finish();
  });

  test('a selector is opened, searched and closed by keys', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('.breadcrumb .selector-button').last().focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.selector-option');
    await page.keyboard.type('vmem');
    await idle(page);
    equal(await page.locator('.selector-option').count(), 1);
    await page.keyboard.press('Escape');
    equal(await page.locator('.selector-popup').count(), 0);
    truth(
      await page.evaluate(() => document.activeElement.classList.contains('selector-button')),
      'focus did not return',
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector('.selector-option');
    await page.keyboard.type('VMEM');
    await page.keyboard.press('Enter');
    await page.waitForURL(/space=1/);
    await idle(page);
    includes(await text(page, 'h1'), 'VMEM');
    await page.finish();
  });
}
