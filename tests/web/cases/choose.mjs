/* SPDX-License-Identifier: Apache-2.0
 * choose.mjs: session, host and module are chosen in the bar; Home leads into a session;
 * a daemon that asks for a token takes it from the link that it printed. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, sessionLink, startDaemon, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures, shared, binary }) {
  const selector = (page, title) => page.locator('.crumb', { hasText: `${title}: ` }).locator('.selector-button');

  test('modules are listed largest first, with their figures, and searched', async () => {
    const page = await open(await daemon(`--logdir=${join(fixtures, 'logdir')}`));
    await selector(page, 'module').click();
    await page.waitForSelector('.selector-option');
    const figures = await page.locator('.selector-option .selector-figure').allInnerTexts();
    truth(figures.length > 3, `${figures.length} modules`);
    const size = (figure) => {
      const [value, unit] = figure.replace(/,/g, '').split(' ');
      return Number(value) * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(unit);
    };
    const sizes = figures.map(size);
    equal(
      [...sizes].sort((a, b) => b - a),
      sizes,
      'not largest first',
    );
    const last = (await page.locator('.selector-option .name').allInnerTexts()).pop();
    await page.keyboard.type(last);
    await idle(page);
    await page.locator('.selector-option').first().click();
    await page.waitForURL(/module=/);
    await idle(page);
    includes(await page.title(), `· ${last} ·`);
    truth(page.url().includes('session='), 'the link does not name the session');
    await page.reload();
    await idle(page);
    includes(await page.title(), `· ${last} ·`);
    await page.goBack();
    await idle(page);
    truth(!page.url().includes('module='), 'Back did not undo the choice');
    await page.finish();
  });

  test('Enter takes what was typed, though its options are still on their way', async () => {
    const page = await open(await daemon(`--logdir=${join(fixtures, 'logdir')}`), { isMeasured: true });
    await selector(page, 'module').click();
    const last = page.locator('.selector-option .name').last();
    await last.waitFor();
    const wanted = await last.innerText();
    await page.keyboard.type(wanted);
    await page.keyboard.press('Enter');
    await page.waitForURL(/module=/);
    await page.waitForFunction((word) => document.title.includes(`· ${word} ·`), wanted);
    await page.finish();
  });

  test('Home lists what was found and leads into it', async () => {
    const base = await daemon(`--logdir=${join(fixtures, 'dumps')}`);
    const page = await open(`${base}?tool=home`);
    includes(await text(page, 'h1'), '4 of 4 sessions are over');
    equal(await page.locator('.home-grid tbody tr').count(), 4);
    await page.locator('.home-grid a', { hasText: 'seed-matmul-327680' }).click();
    await page.waitForURL(/session=/);
    await idle(page);
    includes(await text(page, 'h1'), '300.00 GiB');
    await page.locator('.crumb-home').click();
    await idle(page);
    includes(page.url(), 'tool=home');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), '300.00 GiB');
    await page.finish();
  });

  test('new files come to Home without a restart: an empty list takes them in, a full one announces them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-new-'));
    try {
      const page = await open(await daemon(`--logdir=${folder}`));
      includes(await text(page, 'h1'), 'No profiles under');
      writeFileSync(join(folder, 'x.hlo.pb'), 'this is no HLO proto');
      await page.waitForFunction(() => !document.querySelector('h1').textContent.includes('No profiles'));
      equal(await page.locator('.banner').count(), 0, 'an empty list has nothing to shift');
      const rows = () => page.locator('.home-grid tbody tr').count();
      const first = await rows();
      mkdirSync(join(folder, 'second'));
      writeFileSync(join(folder, 'second/y.hlo.pb'), 'nor is this');
      await page.waitForSelector('.banner');
      includes(await text(page, '.banner'), '1 new session');
      equal(await rows(), first, 'the list moved by itself');
      await page.locator('.banner button').click();
      await idle(page);
      equal(await rows(), first + 1);
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test(
    'hosts of a session are chosen by name',
    async () => {
      const base = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
      const page = await open(base);
      await page.goto(base + (await sessionLink(page, base, 'multihost')));
      await idle(page);
      await selector(page, 'host').click();
      await page.waitForSelector('.selector-option');
      equal(await page.locator('.selector-option').count(), 4);
      await page.locator('.selector-option').nth(2).click();
      await page.waitForURL(/host=/);
      await idle(page);
      includes(await text(page, 'h1'), 'Needs ');
      await page.finish();
    },
    { shared: true },
  );

  test('the token of a link lets in and leaves the address bar', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-token-'));
    const file = join(folder, 'token');
    writeFileSync(file, 'a-token-of-this-test-0123456789\n', { mode: 0o600 });
    const own = await startDaemon(binary, ['--demo', `--token-file=${file}`]);
    try {
      const bare = own.url; // a token of a file is not printed
      const denied = await open(bare, { allow: /401/ });
      includes(
        await text(denied, '.banner'),
        'This daemon requires a token. Open the link that it printed at start, or append #token= and the token from ' +
          'its file to the address.',
      );
      await denied.finish();
      const page = await open(`${bare}#token=a-token-of-this-test-0123456789`);
      includes(await text(page, 'h1'), '33.49 GiB');
      equal(await page.evaluate(() => location.hash), '');
      await page.reload();
      await idle(page);
      includes(await text(page, 'h1'), '33.49 GiB');
      await page.finish();
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });
}
