/* SPDX-License-Identifier: Apache-2.0
 * opening.mjs: how long a link takes to its picture, first and loaded again, over a line of 100 ms and on a processor
 * that is four times slower.
 *   node tests/bench/page/opening.mjs --binary PATH [--old PATH] [--runs N]
 * With --old, another build's pages in the same run, one after the other. Prints requests and milliseconds, the middle
 * of the runs, and the ratio to the old ones. */

import { parseArgs } from 'node:util';
import { launchBrowser, startDaemon } from '../../web/harness.mjs';

const { values: options } = parseArgs({
  options: {
    binary: { type: 'string' },
    old: { type: 'string' },
    runs: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary) {
  console.log('node tests/bench/page/opening.mjs --binary PATH [--old PATH] [--runs N]');
  process.exit(options.help ? 0 : 2);
}

const LATENCY_MS = 100;
const SLOWER = 4;
const FAR_MS = 60000;
/* Tool, kind of the session of the demo, and what is drawn last of its picture. */
const PAGES = [
  ['memory_viewer', 'dump', '.curve-host canvas'],
  ['memory_profile', 'trace', '.timeline canvas'],
  ['oom', 'dump', '.oom-bar, .oom-where'],
  ['device_memory', 'profiles', '.icicle canvas, canvas.icicle'],
];
const middle = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/* In the page, before its own scripts: notes when the first line holds a figure and the picture is there. */
function watch(selector) {
  const look = () => {
    const drawn = [...document.querySelectorAll(selector)].some((node) => node.getBoundingClientRect().width > 100);
    if (drawn && /\d/.test(document.querySelector('h1')?.textContent ?? '')) globalThis.pictureMs ??= performance.now();
    else setTimeout(look, 5);
  };
  document.addEventListener('DOMContentLoaded', look);
}

/* {first, again}: {ms, requests} of one opening in a fresh profile. */
async function openOnce(browser, url, selector) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await page.addInitScript(watch, selector);
  let requests = 0;
  session.on('Network.requestWillBeSent', () => requests++);
  session.on('Network.requestServedFromCache', () => requests--);
  const figures = async () => {
    await page.waitForFunction(() => globalThis.pictureMs, null, { timeout: FAR_MS });
    await page.waitForLoadState('networkidle');
    return { ms: await page.evaluate(() => globalThis.pictureMs), requests };
  };
  await page.goto(url);
  const first = await figures();
  requests = 0;
  await page.reload();
  const again = await figures();
  await context.close();
  return { first, again };
}

const builds = [['new', options.binary], ...(options.old ? [['old', options.old]] : [])];
const daemons = [];
for (const [name, binary] of builds) daemons.push([name, await startDaemon(binary, ['--demo'])]);
const browser = await launchBrowser();
const heads = builds.map(([name]) => `${name}: requests, ms`.padStart(20)).join(' ');
console.log(`${'page'.padEnd(28)} ${heads}${options.old ? '  ratio' : ''}`);
for (const [tool, kind, selector] of PAGES) {
  const found = new Map();
  for (let run = 0; run < Number(options.runs); run++)
    for (const [name, { url }] of daemons) {
      const { sessions } = await (await fetch(`${url}api/v1/sessions`)).json();
      const { first, again } = await openOnce(
        browser,
        `${url}?tool=${tool}&session=${sessions.find((each) => each.kind === kind).id}`,
        selector,
      );
      for (const [when, figure] of [
        ['first', first],
        ['again', again],
      ])
        found.set(`${when} ${name}`, [...(found.get(`${when} ${name}`) ?? []), figure]);
    }
  for (const when of ['first', 'again']) {
    const of = (name) => found.get(`${when} ${name}`);
    const ms = builds.map(([name]) => middle(of(name).map((each) => each.ms)));
    const cells = builds.map(([name], at) =>
      `${middle(of(name).map((each) => each.requests))}, ${ms[at].toFixed(0)}`.padStart(20),
    );
    console.log(
      `${`${tool}, ${when}`.padEnd(28)} ${cells.join(' ')}${options.old ? `  ${(ms[0] / ms[1]).toFixed(2)}` : ''}`,
    );
  }
}
await browser.close();
for (const [, daemon] of daemons) await daemon.stop();
process.exit(0);
