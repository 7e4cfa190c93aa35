/* SPDX-License-Identifier: Apache-2.0
 * viewer.mjs: the Memory Viewer on a program of 100,000 buffers.
 *   node tests/bench/page/viewer.mjs --binary PATH [--buffers N] [--runs N]
 * The page measures itself: the first picture, work of a hover, frames of panning and zooming, and
 * how long the daemon takes for what lives at a step. Prints a table; the last column is the goal. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { idle, launchBrowser, openPage, startDaemon } from '../../web/harness.mjs';

const { values: options } = parseArgs({
  options: {
    binary: { type: 'string' },
    buffers: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary) {
  console.log('node tests/bench/page/viewer.mjs --binary PATH [--buffers N] [--runs N]');
  process.exit(options.help ? 0 : 2);
}

const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
};
const row = (what, values, goal) =>
  console.log(
    `${what.padEnd(50)} ${quantile(values, 0.5).toFixed(2).padStart(9)} ` +
      `${quantile(values, 0.99).toFixed(2).padStart(9)}   ${goal}`,
  );

/* Kept between runs, as writing it takes longer than all the rest. */
function moduleFile() {
  const folder = resolve(`build/bench/module-${options.buffers}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'jit_train_step(1).hlo_proto.pb');
  if (!existsSync(file)) execFileSync('python3', ['tests/bench/make_module.py', file, '--buffers', options.buffers]);
  return file;
}

/* Runs in the page before its own scripts: every frame is timed, with what it leaves to microtasks. */
function meter() {
  const ask = window.requestAnimationFrame.bind(window);
  globalThis.meter = { work: [], gaps: [], last: 0, drawnMs: 0 };
  window.requestAnimationFrame = (task) =>
    ask((now) => {
      const { meter } = globalThis;
      const begin = performance.now();
      task(now);
      Promise.resolve()
        .then(() => {})
        .then(() => {
          meter.work.push(performance.now() - begin);
          if (meter.last) meter.gaps.push(now - meter.last);
          meter.last = now;
        });
    });
  document.addEventListener('DOMContentLoaded', () => {
    const look = () => {
      const isDrawn = (selector) => {
        const canvas = document.querySelector(selector);
        return canvas && canvas.width > 300;
      };
      if (['.curve-host canvas', '.strip-base'].every(isDrawn)) globalThis.meter.drawnMs ||= performance.now();
      else setTimeout(look, 5);
    };
    look();
  });
}

/* In the page: moves over an element; [ms of main thread a move, its frame included]. */
async function hover(selector) {
  const node = document.querySelector(selector);
  const box = node.getBoundingClientRect();
  const spent = [];
  for (let at = 0; at < 120; at++) {
    globalThis.meter.work = [];
    const place = {
      bubbles: true,
      clientX: box.left + 80 + ((box.width - 100) * at) / 120,
      clientY: box.top + 10 + ((at * 37) % (box.height - 30)),
    };
    const begin = performance.now();
    node.dispatchEvent(new PointerEvent('pointermove', place));
    node.dispatchEvent(new MouseEvent('mousemove', place));
    const own = performance.now() - begin;
    await new Promise((done) => setTimeout(done, 40));
    spent.push(own + globalThis.meter.work.reduce((sum, each) => sum + each, 0));
  }
  return spent;
}

/* In the page: zooms in and out with the wheel and pans, one event a frame. */
async function travel(selector) {
  const node = document.querySelector(selector);
  const box = node.getBoundingClientRect();
  const { meter } = globalThis;
  meter.work = [];
  meter.gaps = [];
  meter.last = 0;
  for (let at = 0; at < 180; at++) {
    const wheel = {
      bubbles: true,
      cancelable: true,
      ctrlKey: true,
      clientX: box.left + box.width * 0.6,
      clientY: box.top + box.height * 0.5,
    };
    if (at % 60 < 25) node.dispatchEvent(new WheelEvent('wheel', { ...wheel, deltaY: -100 }));
    else if (at % 60 < 40) node.dispatchEvent(new WheelEvent('wheel', { ...wheel, ctrlKey: false, deltaX: 40 }));
    else node.dispatchEvent(new WheelEvent('wheel', { ...wheel, deltaY: 130 }));
    await new Promise((done) => requestAnimationFrame(done));
  }
  return { work: meter.work, gaps: meter.gaps };
}

/* In the page: what lives at a step, as strips and as the first rows of the table. */
async function steps({ view, extra, count }) {
  const asked = performance
    .getEntriesByType('resource')
    .flatMap(({ name }) => new URL(name).searchParams.getAll('ask')) // what a page asks while it opens goes together
    .find((path) => path.startsWith('memory_viewer/strips'));
  const url = new URL(`api/v1/${asked.replace('/strips', `/${view}`)}`, document.baseURI);
  const spent = [];
  for (let at = 0; at < 100; at++) {
    url.searchParams.set('step', String(Math.floor((count * (at + 0.5)) / 100)));
    for (const [name, value] of Object.entries(extra)) url.searchParams.set(name, value);
    if (view === 'buffers') url.searchParams.delete('width');
    const begin = performance.now();
    const answer = await fetch(url);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${url} ${answer.status}`);
    spent.push(performance.now() - begin);
  }
  return spent;
}

const daemon = await startDaemon(resolve(options.binary), [moduleFile()]);
const browser = await launchBrowser();
const MEASURED = ['opened', 'idle', 'map', 'strips', 'curve', 'curveWork', 'curveGaps', 'work', 'gaps', 'live', 'rows'];
const all = Object.fromEntries(MEASURED.map((name) => [name, []]));
try {
  for (let at = 0; at < Number(options.runs); at++) {
    const page = await openPage(browser, daemon.url, { init: meter, isMeasured: true });
    const meant = await page.evaluate(() => [globalThis.meter.drawnMs, performance.now()]);
    all.opened.push(meant[0]);
    all.idle.push(meant[1]);
    all.strips.push(...(await page.evaluate(hover, '.strip-plot')));
    all.curve.push(...(await page.evaluate(hover, '.curve .u-over')));
    await idle(page);
    const curve = await page.evaluate(travel, '.curve .u-over');
    all.curveWork.push(...curve.work);
    all.curveGaps.push(...curve.gaps);
    await idle(page);
    await page.locator('.panel-curve [data-stack=offsets]').click();
    await page.waitForSelector('.map-base');
    await idle(page);
    all.map.push(...(await page.evaluate(hover, '.map-plot')));
    const { work, gaps } = await page.evaluate(travel, '.map-plot');
    all.work.push(...work);
    all.gaps.push(...gaps);
    await idle(page);
    const count = Number(await page.locator('.curve-slider').getAttribute('aria-valuemax'));
    all.live.push(...(await page.evaluate(steps, { view: 'strips', extra: {}, count })));
    all.rows.push(...(await page.evaluate(steps, { view: 'buffers', extra: { limit: '100', sort: '-size' }, count })));
    await page.finish();
  }
  console.log(`${Number(options.buffers).toLocaleString('en')} buffers, ${options.runs} runs; in milliseconds`);
  console.log(`${''.padEnd(50)} ${'median'.padStart(9)} ${'99th'.padStart(9)}   goal`);
  row('first picture after opening', all.opened, '1,000');
  row('everything there, nothing pending', all.idle, '');
  row('hover over the map, frame included', all.map, '4');
  row('hover over a strip, frame included', all.strips, '4');
  row('hover over the curve, frame included', all.curve, '4');
  row('pan and zoom of the curve: work of a frame', all.curveWork, '16, 33');
  row('pan and zoom of the curve: from frame to frame', all.curveGaps, '16.7, 33');
  row('pan and zoom of the map: work of a frame', all.work, '16, 33');
  row('pan and zoom of the map: from frame to frame', all.gaps, '16.7, 33');
  row('live at a step from the daemon: strips', all.live, '10');
  row('live at a step from the daemon: rows', all.rows, '10');
} finally {
  await browser.close();
  await daemon.stop();
}
