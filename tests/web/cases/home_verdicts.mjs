/* SPDX-License-Identifier: Apache-2.0
 * home_verdicts.mjs: Home narrowed to a verdict, and what a bare address opens where something failed. */

import { cpSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, text } from '../harness.mjs';

export function run({ test, includes, equal, daemon, open, fixtures }) {
  test('the list is narrowed to a verdict, and the URL says so', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`);
    await page.waitForFunction(() => !document.querySelector('.home-head').innerText.includes('not read yet'));
    await page.locator('.home-verdict').selectOption('over');
    await page.waitForURL(/verdict=over/);
    await idle(page);
    const names = () => page.locator('.home-grid tbody tr:visible .h-name a').allInnerTexts();
    equal(await names(), ['b-activations-unrolled']);
    includes(await text(page, 'h1'), '1 of 3 sessions: over.');
    await page.locator('.home-verdict').selectOption('grows');
    await page.waitForURL(/verdict=grows/);
    await idle(page);
    equal((await names()).sort(), ['leak', 'training']);
    await page.reload();
    await idle(page);
    equal(await page.locator('.home-verdict').inputValue(), 'grows');
    await page.locator('.home-verdict').selectOption('');
    await page.waitForFunction(() => document.querySelectorAll('.home-grid tbody tr:not([hidden])').length === 3);
    await page.finish();
  });

  test('a bare address opens what failed last, however much came after it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-failed-'));
    const add = (name, from, seconds) => {
      cpSync(join(fixtures, from), join(folder, name), { recursive: true });
      for (const file of readdirSync(join(folder, name))) utimesSync(join(folder, name, file), seconds, seconds);
    };
    add('long-ago', 'dumps/d-tile-padding', 1700000000);
    add('failed', 'dumps/seed-matmul-327680', 1700001000);
    for (let at = 0; at < 101; at++) add(`profiles${at}`, 'memprof', 1700002000 + at);
    const page = await open(await daemon(`--logdir=${folder}`), { isBare: true });
    equal(await page.locator('.rail a[aria-current]').getAttribute('data-tool'), 'oom');
    includes(await text(page, 'h1'), '300.00 GiB');
    const name = page.locator('.crumb .selector-button').first();
    includes(await name.innerText(), 'failed');
    await name.click();
    await page.waitForSelector('.selector-input');
    await page.keyboard.type('long');
    await page.waitForFunction(() => document.querySelector('.selector-list')?.innerText.includes('long-ago'));
    includes(await text(page, '.selector-list'), 'over by 504.50 GiB · ');
    await page.finish();
    rmSync(folder, { recursive: true });
  });
}
