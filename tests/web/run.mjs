/* SPDX-License-Identifier: Apache-2.0
 * run.mjs: tests of the pages.
 *   node tests/web/run.mjs --binary PATH [--shared DIR] [--only TEXT] [--walks | --rest] [--part K/N:SEED]
 *     [--slow N] [--jobs N] [--list]
 * Pure tests first, then the pages in headless Chromium against the real daemon; --part takes the K-th (from 0) of N
 * parts into which SEED divides these cases. Figures come from the fixtures and from recorded answers in --shared,
 * never from our own API.
 * Ends with "N passed, N failed, N skipped". */

import { deepStrictEqual } from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MAIN_WALKS } from './walks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    binary: { type: 'string' },
    shared: { type: 'string' },
    only: { type: 'string' },
    walks: { type: 'boolean' },
    rest: { type: 'boolean' },
    part: { type: 'string', default: '0/1:' },
    list: { type: 'boolean' },
    slow: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary) {
  console.log(
    'node tests/web/run.mjs --binary PATH [--shared DIR] [--only TEXT] [--walks | --rest] [--part K/N:SEED] [--slow ' +
      'N] [--jobs N] [--list]',
  );
  process.exit(options.help ? 0 : 2);
}

/* Pages in a browser get so many tries: each that needs a second is a race to mend. */
const MAX_TRIES = 3;

/* When all files of the fixtures are of. */
const FIXTURES_AT_S = 1700000000;

const counts = { passed: 0, failed: 0, skipped: 0, again: 0 };

function equal(found, wanted, what = '') {
  try {
    deepStrictEqual(found, wanted);
  } catch {
    throw new Error(`${what ? `${what}: ` : ''}found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
  }
}

function includes(found, wanted, what = '') {
  if (!String(found).includes(wanted)) throw new Error(`${what ? `${what}: ` : ''}"${wanted}" is not in "${found}"`);
}

function truth(value, what) {
  if (!value) throw new Error(what);
}

/* `renew` makes ready for another try; a case without it has one. What needed more is named and counted. */
async function runOne(name, body, renew = null) {
  for (let tries = 1; ; tries++) {
    const begin = Date.now();
    try {
      await body();
      counts.passed++;
      console.log(`ok      ${name} (${Date.now() - begin} ms)`);
      return;
    } catch (error) {
      const reason = error.stack.split('\n').slice(0, 6).join('\n        ');
      const isLast = !renew || tries === MAX_TRIES;
      console.log(`${isLast ? 'FAILED ' : 'again  '} ${name}\n        ${reason}`);
      if (tries === 1 && renew) counts.again++;
      if (isLast) {
        counts.failed++;
        return;
      }
      await renew();
    }
  }
}

/* Collects the tests of a module, in order. */
async function collect(folder, context) {
  const tests = [];
  for (const file of readdirSync(join(here, folder))
    .filter((each) => each.endsWith('.mjs'))
    .sort()) {
    const module = await import(join(here, folder, file));
    const label = file.replace('.mjs', '');
    const add = (name, body, needs = {}) => tests.push({ name: `${label}: ${name}`, body, needs });
    module.run({ ...context, test: add, equal, includes, truth });
  }
  return tests;
}

/* A copy of the fixtures with one time for all files: pages that no session was chosen for show the newest, of equal
 * ones the first by name, and which a checkout wrote last is chance. */
function datedFixtures() {
  const folder = join(mkdtempSync(join(tmpdir(), 'memviewd-web-')), 'fixtures');
  cpSync(resolve(here, '../fixtures'), folder, { recursive: true });
  for (const name of readdirSync(folder, { recursive: true }))
    utimesSync(join(folder, name), FIXTURES_AT_S, FIXTURES_AT_S);
  return folder;
}

const isNamed = ({ name }) => !options.only || name.includes(options.only);

/* The names of the cases that walks.mjs lists; one that was renamed there would not be run any more. */
function namesOfWalks(cases) {
  const begins = Object.entries(MAIN_WALKS).flatMap(([file, names]) => names.map((name) => `${file}: ${name}`));
  return new Set(
    begins.map((begin) => {
      const found = cases.filter(({ name }) => name.startsWith(begin));
      if (found.length !== 1) throw new Error(`walks.mjs: ${found.length} cases begin with "${begin}"`);
      return found[0].name;
    }),
  );
}

/* Is a case of that name in the part that was asked for? */
function isInPart({ name }) {
  const [, at, count, seed] = /^(\d+)\/(\d+):(.*)$/.exec(options.part);
  return createHash('md5').update(`${seed} ${name}`).digest().readUInt32BE() % Number(count) === Number(at);
}

/* Those cases that the options ask for. */
function chosen(cases) {
  const walks = namesOfWalks(cases);
  const isAsked = ({ name }) => (options.walks ? walks.has(name) : !(options.rest && walks.has(name)));
  return cases.filter(isNamed).filter(isAsked).filter(isInPart);
}

async function main() {
  /* Whoever asks for the rest has run these with the walks. */
  const pure = options.rest || options.list ? [] : await collect('unit', {});
  for (const { name, body } of pure.filter(isNamed)) await runOne(name, body);
  const { startDaemon, launchBrowser, openPage, slowDown } = await import('./harness.mjs');
  slowDown(Number(options.slow));
  const fixtures = datedFixtures();
  const daemons = new Map();
  const binary = resolve(options.binary);
  const shared = options.shared ? resolve(options.shared) : null;
  /* Who runs a case: {browser, pages}. Two at a time share daemons, not browsers. */
  const workers = [];
  const running = new AsyncLocalStorage();
  const live = {
    binary,
    shared,
    fixtures,
    root: resolve(here, '../..'),
    /* URL of a daemon with these options, started once. */
    async daemon(...args) {
      const key = args.join(' ');
      if (!daemons.has(key)) daemons.set(key, startDaemon(binary, args));
      try {
        return (await daemons.get(key)).url;
      } catch (error) {
        daemons.delete(key);
        throw error;
      }
    },
    /* A bare address is that of the Memory Viewer; with {isBare} it stays what a reader types. */
    async open(url, how = {}) {
      const address = new URL(url);
      if (!address.search && !how.isBare) address.search = '?tool=memory_viewer';
      const worker = running.getStore();
      const page = await openPage(worker.browser, address.href, how);
      worker.pages.push(page);
      return page;
    },
  };
  const stop = async () => {
    for (const { browser } of workers) await browser?.close();
    for (const daemon of await Promise.allSettled(daemons.values())) await daemon.value?.stop();
    rmSync(dirname(fixtures), { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop().then(() => process.exit(1)));

  const waiting = chosen(await collect('cases', live));
  if (options.list) {
    console.log(waiting.map(({ name }) => name).join('\n'));
    await stop();
    return;
  }
  const work = async (worker) => {
    const renew = async () => {
      await worker.browser?.close();
      worker.browser = await launchBrowser();
    };
    await renew();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { name, body, needs } = next;
      if (needs.shared && !(shared && existsSync(shared))) {
        counts.skipped++;
        console.log(`skipped: ${name} (needs --shared)`);
      } else await running.run(worker, () => runOne(name, body, renew));
      /* A case that failed leaves its pages open. */
      for (const page of worker.pages.splice(0)) await page.drop();
    }
  };
  try {
    for (let at = 0; at < Number(options.jobs); at++) workers.push({ browser: null, pages: [] });
    /* Where one has no browser any more, the others go on. */
    const broken = (await Promise.allSettled(workers.map(work))).find(({ reason }) => reason);
    if (broken) throw broken.reason;
  } finally {
    await stop();
  }
}

try {
  await main();
} catch (error) {
  counts.failed++;
  console.log(`FAILED  ${error.stack}`);
}
if (counts.again) console.log(`${counts.again} needed more than one try: see "again" above`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed ? 1 : 0;
