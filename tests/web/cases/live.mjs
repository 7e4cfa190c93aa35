/* SPDX-License-Identifier: Apache-2.0
 * live.mjs: the page of a run that goes on: it follows what processes write, and says when the run has ended. */

import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, startDaemon, text, violations } from '../harness.mjs';

const GIB = 2 ** 30;
const SEEN_MS = 60000;
const BEGIN_MS = 1796000000000;
const HEAD = `device 0 allocator ${16 * GIB} cuda:0\n`;
const row = (at, low, high = low) => `at ${BEGIN_MS + 1000 * at} 0 ${low} ${high} ${12 * GIB} ${4 * GIB}\n`;
const steps = (count, grown) =>
  HEAD + Array.from({ length: count }, (_, at) => row(at, 8 * GIB + at * grown, 9 * GIB + at * grown)).join('');
/* As `memviewd watch` does: until its standard input ends. */
const HOLD =
  'import fcntl, sys\nlock = open(sys.argv[1], "ab")\nfcntl.flock(lock, ' +
  'fcntl.LOCK_EX)\nprint(flush=True)\nsys.stdin.read()';

export function run({ test, equal, includes, truth, open, binary, daemon }) {
  /* body({url, add(text), end()}) of a run whose process has written `first`. */
  async function watched(first, body, process = 'rank3.4711-1f2e3d4c') {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-live-'));
    const live = join(folder, 'run-2026-01-09-101500-1', '.live');
    mkdirSync(live, { recursive: true });
    const lock = join(live, '..', 'run.lock');
    writeFileSync(lock, '');
    writeFileSync(join(live, process), first);
    const holder = spawn('python3', ['-c', HOLD, lock], { stdio: ['pipe', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    const end = () => {
      holder.stdin.end();
      return ended;
    };
    const server = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      await body({
        url: `${server.url}?tool=live`,
        folder,
        live,
        add: (more) => appendFileSync(join(live, process), more),
        end,
      });
    } finally {
      await end();
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  }

  test('the page of a run follows what its process writes, and says that it has ended', () =>
    watched(steps(3, 0), async ({ url, folder, add, end }) => {
      const page = await open(url, { width: 1440, height: 900 });
      equal(
        await text(page, 'h1'),
        'cuda:0: 9.00 GiB in use, peak 9.00 GiB, 4.00 GiB of 16.00 GiB free, 12.00 GiB reserved.',
      );
      equal(await text(page, '.panel-live h2'), 'cuda:0 of rank3.4711');
      equal(await page.locator('.panel-live .legend li').allInnerTexts(), [
        'in use, the most',
        'the least',
        'reserved, dashed',
      ]);
      includes(
        await page.locator('.panel-live canvas').getAttribute('aria-label'),
        'cuda:0 of rank3.4711 over time. cuda:0: 9.00 GiB in use',
      );
      equal(await text(page, '.command code'), `memviewd capture ${folder}/run-2026-01-09-101500-1`);
      includes(await page.title(), 'run-2026-01-09-101500-1 · Live');
      add(row(3, 10 * GIB, 13 * GIB));
      await page.waitForSelector('h1:has-text("13.00 GiB in use, peak 13.00 GiB")', { timeout: SEEN_MS });
      await idle(page);
      includes(await page.locator('.panel-live canvas').getAttribute('aria-label'), 'peak 13.00 GiB');
      equal(await page.locator('.panel-live').count(), 1);
      await end();
      await page.waitForSelector('h1:has-text("Ended. ")', { timeout: SEEN_MS });
      await idle(page);
      equal(await page.locator('.command').count(), 0);
      equal(await page.locator('.live-which option').allInnerTexts(), ['run-2026-01-09-101500-1']);
      await page.finish();
    }));

  test('Home leads to a run that goes on', () =>
    watched(steps(3, 0), async ({ url }) => {
      const page = await open(url.replace('?tool=live', '?tool=home'));
      equal(await text(page, '.home-live'), '1 watched job runs now. What is in use');
      await page.click('.home-live a');
      await page.waitForSelector('.panel-live canvas');
      await idle(page);
      includes(await text(page, 'h1'), 'in use, peak 9.00 GiB');
      await page.finish();
    }));

  test('what grows is said while it grows', () =>
    watched(steps(63, 2 ** 25), async ({ url, add }) => {
      const page = await open(url);
      equal(await text(page, '.answer-more'), '');
      add(row(63, 10 * GIB) + row(64, 10 * GIB));
      await page.waitForSelector('.answer-more:has-text("cuda:0 of rank3.4711 grows ")', { timeout: SEEN_MS });
      await page.finish();
    }));

  test('nothing is found by axe-core on its charts, and none is wider than a phone', () =>
    watched(steps(70, 2 ** 25), async ({ url }) => {
      for (const [width, scheme] of [
        [1440, 'light'],
        [390, 'dark'],
      ]) {
        const page = await open(url, { width, height: 844, scheme });
        equal(await violations(page), []);
        truth((await page.locator('.panel-live').boundingBox()).width <= width, `${width} px`);
        truth(
          (await page.evaluate(() => document.scrollingElement.scrollWidth)) <= width,
          `the page is wider than ${width} px`,
        );
        await page.finish();
      }
    }));

  test('names that a process made up are drawn as text', () =>
    watched(
      `${HEAD.trim()}<b>\u202e\n${row(1, GIB)}`,
      async ({ url }) => {
        const page = await open(url);
        includes(await text(page, '.panel-live h2'), '<b>');
        equal(await page.locator('.panel-live b').count(), 0);
        await page.finish();
      },
      'rank0 <i>-0',
    ));

  test('without a run it says how to begin one, and a run that is gone is told', async () => {
    const page = await open(`${await daemon('--demo')}?tool=live`);
    equal(await text(page, 'h1'), 'No run is watched.');
    equal(await text(page, '.command code'), 'memviewd watch -- python train.py');
    truth((await page.locator('#rail a[data-tool=live][aria-current=page]').count()) === 1, 'the rail shows the page');
    await page.finish();
    const gone = await open(`${await daemon('--demo')}?tool=live&view=000000000000`, { allow: /404/ });
    includes(await text(gone, '.live'), 'there is no run of that id');
    await gone.finish();
  });
}
