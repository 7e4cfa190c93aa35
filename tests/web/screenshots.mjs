/* SPDX-License-Identifier: Apache-2.0
 * screenshots.mjs: pictures of the pages, to look at and for the README.
 *   node tests/web/screenshots.mjs --binary PATH --out DIR [--states] [-- OPTION…]
 * Serves the demo, or what the daemon's OPTIONs name. Viewer at three sizes in light and
 * dark; --states adds home, hover, pin, keyboard, selector, notes, capacities and a space other than HBM. */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { idle, launchBrowser, openPage, pointOn, startDaemon } from './harness.mjs';

const SIZES = [
  [1440, 900],
  [1280, 720],
  [390, 844],
];
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: 'string' },
    out: { type: 'string' },
    states: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.binary || !options.out) {
  console.log('node tests/web/screenshots.mjs --binary PATH --out DIR [--states] [-- OPTION…]');
  process.exit(options.help ? 0 : 2);
}

const settle = async (page) => {
  await page.waitForTimeout(300);
  await idle(page);
};

/* name → [query, what to do before the picture] */
const STATES = {
  home: ['?tool=home', async () => {}],
  hover: ['', async (page) => page.mouse.move(...(await pointOn(page, 1, 0.02)))],
  curve: [
    '',
    async (page) => {
      const box = await page.locator('.curve .u-over').boundingBox();
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    },
  ],
  pin: [
    '',
    async (page) => {
      await page.mouse.click(...(await pointOn(page, 1, 0.1)));
      await settle(page);
      await page.mouse.move(2, 2);
    },
  ],
  keyboard: [
    '',
    async (page) => {
      await page.locator('.strip-plot [role="listbox"]').nth(1).focus();
      await page.keyboard.press('ArrowRight');
    },
  ],
  selector: [
    '',
    async (page) => {
      if (await page.locator('#menu').isVisible()) await page.click('#menu');
      await page.locator('.crumbs .selector-button').last().click();
    },
  ],
  capacity: ['?capacity=v5p', async () => {}],
  fits: ['?capacity=40GiB', async () => {}],
  device: ['', async (page) => page.locator('.capacity .selector-button').click()],
  notes: [
    '',
    async (page) => {
      if (await page.locator('.notes-button').count()) await page.locator('.notes-button').click();
    },
  ],
  space: ['?space=1', async () => {}],
};

/* Of the Device Memory page; taken when what is served holds device profiles. */
const frameAt = async (page, share, row) => {
  const box = await page.locator('.icicle-picture').first().boundingBox();
  return [box.x + box.width * share, box.y + row * 20 + 10];
};
const DEVICE_STATES = {
  device_flame: ['', async () => {}],
  device_hover: ['', async (page) => page.mouse.move(...(await frameAt(page, 0.1, 2)))],
  device_pin: [
    '&machinery=1',
    async (page) => {
      await page.mouse.click(...(await frameAt(page, 0.1, 3)));
      await settle(page);
      await page.mouse.move(2, 2);
    },
  ],
  device_find: ['&find=normal', async () => {}],
  device_filters: ['&focus=norm(al&ignore=ini_state', async () => {}],
  device_graph: ['&view=graph', async (page) => page.waitForSelector('.graph-box')],
  device_top: ['&view=top', async () => {}],
  device_callers: ['&view=callers', async () => {}],
  device_source: ['&view=source', async () => {}],
  device_buffers: ['&view=buffers', async () => {}],
  device_series: ['&view=series', async () => {}],
  device_change: [
    '&view=series',
    async (page) => {
      const list = page.locator('.stacked [role="listbox"]');
      await list.focus();
      for (const key of ['Home', 'Enter', 'End', 'Enter']) await page.keyboard.press(key);
      await idle(page);
      await page.keyboard.press('1');
    },
  ],
};

async function shoot(browser, url, name, width, height, scheme, act) {
  const page = await openPage(browser, url, { width, height, scheme });
  await act(page);
  await settle(page);
  const file = join(options.out, `${name}-${width}x${height}-${scheme}.png`);
  await page.screenshot({ path: file });
  console.log(file);
  await page.finish();
}

mkdirSync(options.out, { recursive: true });
const daemon = await startDaemon(resolve(options.binary), positionals.length ? positionals : ['--demo']);
const { sessions } = await (await fetch(`${daemon.url}api/v1/sessions`)).json();
const hasProfiles = sessions.some((session) => session.profile_count > 0);
const browser = await launchBrowser();
try {
  for (const [width, height] of SIZES) {
    for (const scheme of ['light', 'dark']) {
      await shoot(browser, daemon.url, 'viewer', width, height, scheme, async () => {});
      if (!options.states) continue;
      for (const [name, [query, act]] of Object.entries(STATES))
        await shoot(browser, daemon.url + query, name, width, height, scheme, act);
      if (!hasProfiles) continue;
      for (const [name, [query, act]] of Object.entries(DEVICE_STATES))
        await shoot(browser, `${daemon.url}?tool=device_memory${query}`, name, width, height, scheme, act);
    }
  }
} finally {
  await browser.close();
  await daemon.stop();
}
