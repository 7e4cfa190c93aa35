/* SPDX-License-Identifier: Apache-2.0
 * harness.mjs: the real daemon on a free port and headless Chromium with a fresh profile.
 * A page fails its test on: a request that leaves the origin, a console error, an
 * uncaught error, a violation of the content security policy. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { actsEndAtRest, rest, stir, watchRest } from './rest.mjs';
import { refuseSlips } from './slips.mjs';

/* The shell has no windows of its own to draw: a third less time than the whole browser. */
const CHROMIUM =
  process.env.CHROMIUM || ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];
/* Far above what the slowest machine needs: they end a case that hangs, they measure nothing. */
const START_MS = 120000;
const STOP_MS = 30000;
const WAIT_MS = 90000;

/* Daemons that run; none outlives the tests, whatever fails. */
const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill()));

/* Starts `binary ...options --port=0`; resolves with {url, stop} once it printed its URL. */
export async function startDaemon(binary, options, port = 0) {
  const variables = options.filter((word) => /^[A-Z_]+=/.test(word)); // NAME=VALUE goes into its environment
  const words = options.filter((word) => !variables.includes(word));
  const env = {
    ...process.env,
    ...Object.fromEntries(
      variables.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    ),
  };
  const child = spawn(binary, [`--port=${port}`, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let text = '';
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no URL after ${START_MS} ms; it said: ${text}${errors}`)),
      START_MS,
    );
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = /http:\/\/[^\s]+/.exec(text);
      if (match && text.includes('\n')) {
        clearTimeout(timer);
        resolve(match[0]);
      }
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}: ${errors}`));
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
  return {
    url,
    async stop() {
      if (child.exitCode != null || child.signalCode != null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

export function launchBrowser() {
  const handles = { handleSIGINT: false, handleSIGTERM: false }; // whoever launched it ends it
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: CHROMIUM_FLAGS, ...handles });
}

/* Waits until nothing is pending on the page; every act waits for that itself. */
export async function idle(page) {
  if (page.isMeasured) await page.waitForSelector('body[data-idle]', { state: 'attached' });
  else await rest(page);
}

/* How slow a page is made: its processor by this factor, each answer by up to 20 ms times that. */
let slowness = 1;
const DELAY_MS = 20;

export function slowDown(factor) {
  slowness = factor;
}

/* The same delays in every run. */
function createDelays() {
  let state = 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state / 2147483647) * DELAY_MS * slowness;
  };
}

async function slow(context, page) {
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowness });
}

/* Answers in place of the daemon, and late ones. */
async function answerFor(context, canned) {
  const delay = createDelays();
  await context.route('**/*', async (route) => {
    if (slowness > 1) await new Promise((done) => setTimeout(done, delay()));
    const body = canned?.(new URL(route.request().url()));
    if (body === 'abort') return route.abort();
    if (body)
      return route.fulfill({
        status: body.status ?? 200,
        contentType: body.status >= 400 ? 'application/problem+json' : 'application/json',
        body: JSON.stringify(body.json, (_, value) => value ?? undefined), // as the daemon: null in arrays alone
      });
    return route.continue();
  });
}

/* In the page: web/lib/settings.js. */
function askAlone() {
  try {
    localStorage.setItem('memviewd.ask', 'alone');
  } catch {
    /* about:blank has no store */
  }
}

/* Opens `url` in a fresh profile. options: {width, height, scheme, allow, canned, scale, touch, init,
 * isPassingKept, isMeasured}; `allow` is a pattern of console errors that the test expects; `canned` answers API
 * paths instead of the daemon; without `isPassingKept` what is shown for a moment goes as soon as for a reader;
 * `isMeasured`: the page runs as it is, and acts wait for nothing; `isAlone`: each question goes in a request of its
 * own, so that one can be answered or held back (always with `canned`); `framed`: the address of what it shows in a
 * frame. */
export async function openPage(browser, url, options = {}) {
  const { width = 1440, height = 900, scheme = 'light', allow = null, canned = null } = options;
  const {
    scale = 1,
    touch = false,
    init = null,
    isPassingKept = true,
    isMeasured = false,
    framed = null,
    isAlone = Boolean(canned),
  } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    deviceScaleFactor: scale,
    hasTouch: touch,
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(WAIT_MS);
  const faults = [];
  const origins = [url, framed].filter(Boolean).map((address) => new URL(address).origin);
  context.on('request', (request) => {
    const asked = new URL(request.url());
    if (!origins.includes(asked.origin) && !['data:', 'blob:'].includes(asked.protocol))
      faults.push(`request leaves the origin: ${asked.href}`);
  });
  if (canned || slowness > 1) await answerFor(context, canned);
  if (!isMeasured) await watchRest(context, { isPassingKept });
  if (!isMeasured) await refuseSlips(context);
  const page = await context.newPage();
  if (slowness > 1) await slow(context, page);
  page.on('console', (message) => {
    if (message.type() !== 'error' && !/Content Security Policy/i.test(message.text())) return;
    if (!allow?.test(message.text())) faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  if (isAlone) await page.addInitScript(askAlone);
  if (init) await page.addInitScript(init);
  page.isMeasured = isMeasured;
  if (!isMeasured) actsEndAtRest(page);
  await page.goto(url);
  await idle(page);
  page.finish = async () => {
    const violations = await page.evaluate(() => globalThis.violations).catch(() => []);
    await context.close();
    const all = [...faults, ...violations.map((text) => `content security policy: ${text}`)];
    if (all.length) throw new Error(all.join('\n'));
  };
  page.drop = () => context.close().catch(() => {});
  return page;
}

/* Hash of a canvas, to tell whether its pixels changed. */
export async function pixels(page, selector, at = 0) {
  const data = await page
    .locator(selector)
    .nth(at)
    .evaluate((canvas) => canvas.toDataURL());
  return createHash('sha256').update(data).digest('hex');
}

export async function text(page, selector) {
  return (await page.locator(selector).first().innerText()).replace(/\s+/g, ' ').trim();
}

/* Centre of the bar `share` (0..1) along strip `at`. */
export async function pointOn(page, at, share) {
  const tab = page.locator('.phone-tab', { hasText: 'Strips' });
  if (await tab.isVisible()) await tab.click();
  await idle(page);
  await page.locator('.strip-plot').nth(at).scrollIntoViewIfNeeded();
  const box = await page.locator('.strip-plot').nth(at).boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
}

/* Fingers on a page that was opened with {touch}. Places are [x, y] in pixels of the window. */
export async function fingers(page) {
  const session = await page.context().newCDPSession(page);
  const send = (type, places) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
  const settle = async () => {
    stir(page);
    await idle(page);
  };
  return {
    /* One path a finger, all of one length: put down at the first place, lifted at the last, without a stop. */
    async along(...paths) {
      const placesAt = (at) => paths.map((path) => path[at]);
      const steps = paths[0].map((_, at) => send(at ? 'touchMove' : 'touchStart', placesAt(at)));
      await Promise.all([...steps, send('touchEnd', [])]);
      await settle();
    },
    async hold(place) {
      await send('touchStart', [place]);
      await settle();
    },
    async lift() {
      await send('touchEnd', []);
      await settle();
    },
  };
}

/* Session id whose name contains `part`, as the list of the page shows it. */
export async function sessionLink(page, base, part) {
  await page.goto(`${base}?tool=home&filter=${encodeURIComponent(part)}`);
  await idle(page);
  return page.locator('.home-grid tbody a').first().getAttribute('href');
}

/* What axe-core finds on the page as it is: "rule: element (what is wrong)", at most three a rule. */
export async function violations(page) {
  await page.evaluate(AXE);
  return page.evaluate(async (tags) => {
    /* What an open list covers in part is no target before the list is closed, which a press anywhere does. */
    const popup = document.querySelector('.selector-popup')?.getBoundingClientRect();
    const isCovered = ({ left, right, top, bottom }) =>
      popup && left < popup.right && right > popup.left && top < popup.bottom && bottom > popup.top;
    const exclude = [...document.querySelectorAll('main a, main button')].filter((each) =>
      isCovered(each.getBoundingClientRect()),
    );
    const { violations: found } = await globalThis.axe.run(
      { include: [document], exclude },
      { runOnly: { type: 'tag', values: tags } },
    );
    return found.flatMap(({ id, nodes }) =>
      nodes
        .slice(0, 3)
        .map(
          (node) => `${id}: ${node.target.join(' ')} (${node.failureSummary.split('\n').slice(1, 2).join('').trim()})`,
        ),
    );
  }, AXE_RULES);
}
