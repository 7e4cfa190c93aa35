/* SPDX-License-Identifier: Apache-2.0
 * screenshots.mjs: pictures of the pages, to look at and for the README.
 *   node tests/web/screenshots.mjs --binary PATH --out DIR [--only TEXT] [--readme DIR] [-- OPTION…]
 * Every page and many of their states, at three sizes, in light and dark: gallery.mjs names them. Each is
 * served the demo, the fixtures or made traces, as its row says; or what the daemon's OPTIONs name. With --readme the
 * light pictures of README.md and docs go there and nothing else is made. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GALLERY, README } from './gallery.mjs';
import { idle, launchBrowser, openPage, startDaemon } from './harness.mjs';

const SIZES = [
  [1440, 900],
  [1280, 720],
  [390, 844],
];
/* A picture that fails says so in time; what is under way is seen to be. */
const MAX_MS = 20000;
const BUSY_MS = 1200;
const PHONE_PX = 600;
const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '../fixtures');
const made = mkdtempSync(join(tmpdir(), 'pictures-'));
const at = (...parts) => join(made, ...parts);
/* What a row is served: options of the daemon; make() fills what they name. */
const SERVED = {
  made: { options: [`--logdir=${at('loop')}`], make: makeTraces },
  demo: { options: ['--demo'] },
  fixtures: { options: ['dumps', 'logdir', 'memprof', 'oom'].map((folder) => `--logdir=${join(FIXTURES, folder)}`) },
  logdir: { options: [`--logdir=${join(FIXTURES, 'logdir')}`] },
  go: { options: [`--logdir=${at('go')}`], make: makeGo },
  jobs: { options: [`--logdir=${at('jobs')}`], make: makeJobs },
  empty: { options: [`--logdir=${at('empty')}`], make: () => mkdirSync(at('empty')) },
  bad: { options: [`--logdir=${at('bad')}`], make: makeBad },
  changing: { options: [`--logdir=${at('changing')}`], make: makeChanging },
  tight: { options: ['--demo', '--memory-limit=1'] },
};
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: 'string' },
    out: { type: 'string' },
    only: { type: 'string', default: '' },
    readme: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary || !(options.out || options.readme)) {
  console.log('node tests/web/screenshots.mjs --binary PATH --out DIR [--only TEXT] [--readme DIR] [-- OPTION…]');
  process.exit(options.help ? 0 : 2);
}

/* Three weeks of four jobs. */
function makeJobs() {
  const make = 'import sys; sys.path.insert(0, sys.argv[1]); import fleet_story; fleet_story.make(sys.argv[2])';
  execFileSync('python3', ['-B', '-c', make, join(FIXTURES, '../http'), at('jobs')]);
}

/* Two hosts of a training loop, each with four devices; nothing so large is kept. */
function makeTraces() {
  const folder = at('loop/train/plugins/profile/run');
  mkdirSync(folder, { recursive: true });
  for (const host of [0, 1])
    execFileSync(join(FIXTURES, '../../scripts/make-trace'), [
      join(folder, `host${host}.xplane.pb`),
      ...['--events', '28000', '--kind', 'tpu', '--allocators', '4', '--lines', '4', '--steps', '12'],
      ...['--leak', '1M', '--capacity', '16G', '--before', host ? '6G' : '5G', '--seed', String(host + 1)],
    ]);
}

/* A heap profile of a Go program, as `make fixtures` encodes it. */
function makeGo() {
  mkdirSync(at('go'));
  cpSync(join(dirname(resolve(options.binary)), '../fixtures/profile-go-heap.pb'), at('go/heap.prof'));
}

/* A trace and a module that end early, and a profile that is none. */
function makeBad() {
  const cut = (from, to, share) => {
    const whole = readFileSync(join(FIXTURES, from));
    mkdirSync(dirname(at(to)), { recursive: true });
    writeFileSync(at(to), whole.subarray(0, Math.floor(whole.length * share)));
  };
  const dump = 'dumps/d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb';
  cut(dump, 'bad/cut-dump/module_0179.jit_f.after_optimizations.hlo.pb', 0.6);
  cut('logdir/tpu/plugins/profile/small/host0.xplane.pb.gz', 'bad/cut/plugins/profile/run/host0.xplane.pb.gz', 0.5);
  writeFileSync(at('bad/notes.prof'), '# no profile\n');
}

function makeChanging() {
  cpSync(join(FIXTURES, 'dumps/d-tile-padding'), at('changing/d-tile-padding'), { recursive: true });
}

/* What the act of a row may ask for. */
const place = {
  fixture: (path) => join(FIXTURES, path),
  text: (name) => readFileSync(join(FIXTURES, 'text', name), 'utf8'),
  get file() {
    const folder = at('changing/d-tile-padding');
    return join(
      folder,
      readdirSync(folder).find((name) => name.endsWith('after_optimizations.hlo.pb')),
    );
  },
};

const daemons = new Map();
async function serving(what) {
  const { options: own, make } = SERVED[what];
  if (!daemons.has(what)) {
    if (!positionals.length) make?.();
    daemons.set(what, await startDaemon(resolve(options.binary), positionals.length ? positionals : own));
  }
  return daemons.get(what).url;
}

const stemOf = ({ name }, [width, height], scheme) => `${name}-${width}x${height}-${scheme}`;
const settle = async (page) => {
  await page.waitForTimeout(300);
  await idle(page);
};

async function shoot(browser, folder, { name, query, act, served, how }, [width, height], scheme) {
  const { canned = null, isBusy = false, isWhole = false } = how;
  const touch = width < PHONE_PX;
  const page = await openPage(browser, (await serving(served)) + query, {
    width,
    height,
    scheme,
    touch,
    canned,
    isMeasured: isBusy,
    isAlone: true,
    allow: /./,
  });
  page.setDefaultTimeout(MAX_MS);
  try {
    await act(page, place);
    if (isBusy) await page.waitForTimeout(BUSY_MS);
    else await settle(page);
    const file = join(folder, `${stemOf({ name }, [width, height], scheme)}.png`);
    await page.screenshot({ path: file, fullPage: isWhole });
    console.log(file);
  } catch (error) {
    console.log(`no picture of ${name} at ${width}: ${error.message.split('\n')[0]}`);
    process.exitCode = 1;
  } finally {
    await page.drop();
  }
}

const folder = options.readme ?? options.out;
const rows = options.readme ? README : GALLERY;
const sizes = options.readme ? SIZES.slice(0, 1) : SIZES;
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
try {
  for (const row of rows)
    for (const size of sizes)
      for (const scheme of options.readme ? ['light'] : ['light', 'dark'])
        if (stemOf(row, size, scheme).includes(options.only)) await shoot(browser, folder, row, size, scheme);
} finally {
  await browser.close();
  for (const daemon of daemons.values()) await daemon.stop();
  rmSync(made, { recursive: true });
}
