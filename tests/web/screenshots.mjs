/* SPDX-License-Identifier: Apache-2.0
 * screenshots.mjs: pictures of the pages, to look at and for the README.
 *   node tests/web/screenshots.mjs --binary PATH --out DIR [--only TEXT] [--readme DIR] [-- OPTION…]
 * Every page and many of their states, at three sizes, in light and dark: gallery.mjs names them. Each is
 * served the demo, the fixtures or made traces, as its row says; or what the daemon's OPTIONs name. With --readme the
 * pictures of README.md go there and nothing else is made. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '../fixtures');
const made = mkdtempSync(join(tmpdir(), 'pictures-'));
const SERVED = {
  made: [`--logdir=${made}`],
  demo: ['--demo'],
  fixtures: ['dumps', 'logdir', 'memprof', 'oom'].map((folder) => `--logdir=${join(FIXTURES, folder)}`),
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

/* Two hosts of a training loop, each with four devices; nothing so large is kept. */
function makeTraces() {
  const folder = join(made, 'train/plugins/profile/run');
  mkdirSync(folder, { recursive: true });
  for (const host of [0, 1])
    execFileSync(join(FIXTURES, '../../scripts/make-trace'), [
      join(folder, `host${host}.xplane.pb`),
      ...['--events', '28000', '--kind', 'tpu', '--allocators', '4', '--lines', '4', '--steps', '12'],
      ...['--leak', '1M', '--capacity', '16G', '--before', host ? '6G' : '5G', '--seed', String(host + 1)],
    ]);
}

const daemons = new Map();
async function serving(what) {
  if (what === 'made' && !daemons.has(what)) makeTraces();
  if (!daemons.has(what)) daemons.set(what, await startDaemon(resolve(options.binary), positionals.length ? positionals : SERVED[what]));
  return daemons.get(what).url;
}

const settle = async (page) => {
  await page.waitForTimeout(300);
  await idle(page);
};

async function shoot(browser, folder, { name, query, act, served }, [width, height], scheme) {
  const page = await openPage(browser, (await serving(served)) + query, { width, height, scheme, allow: /4\d\d/ });
  try {
    await act(page);
    await settle(page);
    const file = join(folder, `${name}-${width}x${height}-${scheme}.png`);
    await page.screenshot({ path: file });
    console.log(file);
  } catch (error) {
    console.log(`no picture of ${name} at ${width}: ${error.message.split('\n')[0]}`);
    process.exitCode = 1;
  } finally {
    await page.drop();
  }
}

const folder = options.readme ?? options.out;
const rows = options.readme ? README : GALLERY.filter(({ name }) => name.includes(options.only));
const sizes = options.readme ? SIZES.slice(0, 1) : SIZES;
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
try {
  for (const row of rows)
    for (const size of sizes)
      for (const scheme of ['light', 'dark']) if (row.isAt?.(size[0]) ?? true) await shoot(browser, folder, row, size, scheme);
} finally {
  await browser.close();
  for (const daemon of daemons.values()) await daemon.stop();
  rmSync(made, { recursive: true });
}
