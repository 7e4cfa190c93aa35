/* SPDX-License-Identifier: Apache-2.0
 * device.mjs: the Device Memory page on a profile of 100,000 samples with 60 frames each.
 *   node tests/bench/page/device.mjs --binary PATH --shared DIR [--samples N] [--depth N]
 * Prints: the first flame graph after opening, bytes that came, what a frame of zooming and of hovering costs. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { idle, launchBrowser, openPage, startDaemon } from '../../web/harness.mjs';

const { values: options } = parseArgs({
  options: {
    binary: { type: 'string' },
    shared: { type: 'string' },
    samples: { type: 'string', default: '100000' },
    depth: { type: 'string', default: '60' },
    runs: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary || !options.shared) {
  console.log('node tests/bench/page/device.mjs --binary PATH --shared DIR [--samples N] [--depth N] [--runs N]');
  process.exit(options.help ? 0 : 2);
}

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? NaN;
const median = (values) => quantile(values, 0.5);
const show = (what, value, unit, limit) =>
  console.log(`${what.padEnd(44)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}   (at most ${limit})`);

/* Kept between runs, as writing it takes longer than all the rest. */
function profile() {
  const folder = join(resolve('build/bench'));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `device-${options.samples}x${options.depth}.prof`);
  if (!existsSync(file))
    execFileSync('python3', [
      join(resolve(options.shared), 'tools/make-pprof'),
      file,
      '--samples',
      options.samples,
      '--depth',
      options.depth,
    ]);
  return file;
}

/* Runs in the page before its own scripts: what each frame costs the main thread, and when it came. */
function meter() {
  const ask = window.requestAnimationFrame.bind(window);
  globalThis.meter = { work: [], gaps: [], last: 0 };
  window.requestAnimationFrame = (task) =>
    ask((now) => {
      const { meter } = globalThis;
      const begin = performance.now();
      task(now);
      meter.work.push(performance.now() - begin);
      if (meter.last && now > meter.last) meter.gaps.push(now - meter.last);
      meter.last = now;
    });
}

/* What frames cost while `act` goes on, and the time between two that were asked for. */
async function during(page, act) {
  await page.evaluate(() => Object.assign(globalThis.meter, { work: [], gaps: [], last: 0 }));
  await act();
  await idle(page);
  return page.evaluate(() => ({ work: globalThis.meter.work, gaps: globalThis.meter.gaps }));
}

async function once(browser, url) {
  const page = await openPage(browser, url, { init: meter, isMeasured: true });
  const opened = await page.evaluate(() => ({
    drawnMs: performance.getEntriesByName('flame drawn')[0]?.startTime ?? NaN,
    bytes: performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/device_memory/'))
      .map(({ name, encodedBodySize }) => ({ name, encodedBodySize })),
  }));
  const box = await page.locator('.icicle-picture').first().boundingBox();
  /* Motion is on, so that each key is several frames. */
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  const zoom = await during(page, async () => {
    for (let at = 0; at < 8; at++) {
      await page.mouse.click(box.x + box.width * (0.1 + at / 20), box.y + 30 + 20 * (at % 4));
      await page.waitForTimeout(200);
      await page.keyboard.press('0');
      await page.waitForTimeout(200);
    }
  });
  const hover = await during(page, async () => {
    for (let at = 0; at < 60; at++)
      await page.mouse.move(box.x + (box.width * at) / 60, box.y + 20 + ((at * 7) % Math.max(20, box.height - 30)));
  });
  await page.finish();
  return { ...opened, zoom, hover };
}

const folder = mkdtempSync(join(tmpdir(), 'memviewd-bench-'));
copyFileSync(profile(), join(folder, 'memory.prof'));
const daemon = await startDaemon(resolve(options.binary), [join(folder, 'memory.prof')]);
const browser = await launchBrowser();
try {
  const runs = [];
  for (let at = 0; at < Number(options.runs); at++) runs.push(await once(browser, `${daemon.url}?tool=device_memory`));
  const flame = runs.map(({ bytes }) => bytes.find(({ name }) => name.includes('/flame'))?.encodedBodySize ?? 0);
  const all = runs.map(({ bytes }) => bytes.reduce((sum, { encodedBodySize: size }) => sum + size, 0));
  show('first flame graph, the daemon cold', runs[0].drawnMs, 'ms', '1,000 ms');
  show('first flame graph, median', median(runs.map(({ drawnMs }) => drawnMs)), 'ms', '1,000 ms');
  show('flame graph as sent', median(flame) / 1024 ** 2, 'MiB', '2 MiB');
  show('all answers of the page as sent', median(all) / 1024 ** 2, 'MiB', '2 MiB');
  const all99 = (pick) => quantile(runs.flatMap(pick), 0.99);
  show(
    'zoom: work of a frame, 99 of 100 below',
    all99(({ zoom }) => zoom.work),
    'ms',
    '8 ms',
  );
  show(
    'zoom: median time between frames',
    median(runs.flatMap(({ zoom }) => zoom.gaps.filter((gap) => gap < 100))),
    'ms',
    '17 ms',
  );
  show(
    'hover: work of a frame, 99 of 100 below',
    all99(({ hover }) => hover.work),
    'ms',
    '4 ms',
  );
} finally {
  await browser.close();
  await daemon.stop();
  rmSync(folder, { recursive: true });
}
