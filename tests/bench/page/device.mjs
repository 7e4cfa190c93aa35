/* SPDX-License-Identifier: Apache-2.0
 * device.mjs: the Device Memory page on a profile of 100,000 samples with 60 frames each.
 *   node tests/bench/page/device.mjs --binary PATH --shared DIR [--samples N] [--depth N]
 * Prints: the first flame graph after opening, bytes that came, time of a zoom frame, of a hover. */

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

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
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

/* Frames of the page while `act` goes on: [ms between two]. */
async function frames(page, act) {
  await page.evaluate(() => {
    globalThis.gaps = [];
    let last = 0;
    const tick = (now) => {
      if (last) globalThis.gaps.push(now - last);
      last = now;
      globalThis.ticking = requestAnimationFrame(tick);
    };
    globalThis.ticking = requestAnimationFrame(tick);
  });
  await act();
  return page.evaluate(() => {
    cancelAnimationFrame(globalThis.ticking);
    return globalThis.gaps;
  });
}

async function once(browser, url) {
  const page = await openPage(browser, url);
  const opened = await page.evaluate(() => ({
    idleMs: performance.now(),
    drawnMs: performance.getEntriesByName('flame drawn')[0]?.startTime ?? NaN,
    bytes: performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/device_memory/'))
      .map(({ name, encodedBodySize, responseEnd }) => ({ name, encodedBodySize, responseEnd })),
  }));
  const box = await page.locator('.icicle-picture').first().boundingBox();
  const zoom = await frames(page, async () => {
    for (let at = 0; at < 12; at++) await page.keyboard.press('w');
    for (let at = 0; at < 12; at++) await page.keyboard.press('s');
  });
  const work = await page.evaluate(async () => {
    const spent = [];
    const canvas = document.querySelector('.icicle-picture');
    const place = canvas.getBoundingClientRect();
    for (let at = 0; at < 60; at++) {
      const before = performance.now();
      canvas.dispatchEvent(
        new PointerEvent('pointermove', {
          bubbles: true,
          clientX: place.left + (place.width * at) / 60,
          clientY: place.top + 20 + ((at * 7) % 200),
        }),
      );
      await new Promise((done) => requestAnimationFrame(done));
      spent.push(performance.now() - before);
    }
    return spent;
  });
  await idle(page);
  await page.finish();
  return { ...opened, zoom, hover: work, box };
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
  const gaps = runs.flatMap(({ zoom }) => zoom);
  show('zoom: median time between frames', median(gaps), 'ms', '17 ms');
  show('zoom: frames later than 34 ms', (100 * gaps.filter((gap) => gap > 34).length) / gaps.length, '%', '0 %');
} finally {
  await browser.close();
  await daemon.stop();
  rmSync(folder, { recursive: true });
}
