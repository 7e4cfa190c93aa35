/* SPDX-License-Identifier: Apache-2.0
 * growing.mjs: profiles that a job writes while the page is open. */

import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, startDaemon, text } from '../harness.mjs';

const SEEN_MS = 60000;

export function run({ test, equal, includes, open, fixtures, binary }) {
  /* body(url, add); add(number) writes the profile as a job does: under another name first. */
  async function serve(count, body) {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-growing-'));
    const add = (at) => {
      copyFileSync(join(fixtures, `memprof/memory${at}.prof`), join(folder, '.part'));
      renameSync(join(folder, '.part'), join(folder, `memory-00000${at}.prof`));
    };
    for (let at = 1; at <= count; at++) add(at);
    const daemon = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      await body(`${daemon.url}?tool=device_memory`, add);
    } finally {
      await daemon.stop();
      rmSync(folder, { recursive: true });
    }
  }
  const banners = (page) => page.locator('#banners .banner').allInnerTexts();

  test('a series grows while it is looked at, from its first profile on', () =>
    serve(1, async (base, add) => {
      const page = await open(`${base}&view=series&sort=name`);
      includes(await text(page, '.panel-series'), 'Only one profile here');
      add(2);
      await page.waitForSelector('.panel-series :text("1 … 2")', { timeout: SEEN_MS });
      add(3);
      add(4);
      await page.waitForSelector('.panel-series :text("1 … 4")', { timeout: SEEN_MS });
      await page.waitForSelector('.head:has-text("memory-000004.prof"), h1:has-text("over 4 profiles")', {
        timeout: SEEN_MS,
      });
      await idle(page);
      equal(await banners(page), []);
      includes(page.url(), 'sort=name');
      /* The other views show what is there now, too. */
      await page.keyboard.press('3');
      await idle(page);
      includes(await text(page, 'h1'), 'over 4 profiles');
      await page.finish();
    }));

  test('a view of one profile stays as it is until the reader asks', () =>
    serve(2, async (base, add) => {
      const page = await open(`${base}&view=top`);
      const before = await text(page, '.panel-top');
      add(3);
      await page.waitForSelector('.banner:has-text("changed on disk")', { timeout: SEEN_MS });
      await idle(page);
      equal(await text(page, '.panel-top'), before);
      await page.click('.banner button:has-text("Reload")');
      await page.waitForSelector('h1:has-text("over 3 profiles")', { timeout: SEEN_MS });
      await page.finish();
    }));
}
