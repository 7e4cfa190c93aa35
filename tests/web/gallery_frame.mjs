/* SPDX-License-Identifier: Apache-2.0
 * gallery_frame.mjs: states of the frame for gallery.mjs: dialogs, what is under way, what fails, what is dropped,
 * hostile names, paper. */

import { readFileSync, utimesSync } from 'node:fs';
import { basename } from 'node:path';
import { goTo } from './acts.mjs';
import { answerer, makeBuffer, makeWorld } from './canned.mjs';
import { idle } from './harness.mjs';

const MIB = 1024 ** 2;
const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>';
const VIEWER = '?tool=memory_viewer';
/* A sheet of A4 between its margins. */
const PAPER_PX = 760;

const run = (page, command) => async () => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(`>${command}`);
  await page.keyboard.press('Enter');
};
const command = (words) => async (page) => run(page, words)();

/* An answer that does not come, and another place in the URL that asks for it. */
async function hold(page, path, query) {
  await page.route(path, () => {});
  await goTo(page, query);
}
async function holdViewer(page) {
  await hold(page, '**/memory_viewer/summary**', '?tool=memory_viewer&space=0');
  await page.waitForSelector('.panel-wait:not([hidden])');
}

const silence = (page) => page.route('**/api/**', (route) => route.abort());

function drop(page, name, content, kind = 'drop') {
  return page.evaluate(
    ([event, fileName, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], fileName));
      document.body.dispatchEvent(new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [kind, name, [...content]],
  );
}
async function dropFile(page, path) {
  await drop(page, basename(path), readFileSync(path));
  await page.waitForFunction(
    () =>
      document.querySelector('.banner-text') && !document.querySelector('.banner-text').innerText.startsWith('Looking'),
  );
}

const hostile = () =>
  answerer(
    makeWorld({
      name: MARKUP,
      sessionName: `run/\u202E${MARKUP}`,
      hostName: 'h'.repeat(10000),
      buffers: [
        makeBuffer('1', `${MARKUP}${'x'.repeat(10000)}_end`, 64 * MIB, {
          op_name: `a\u202Eb\u0000${'y'.repeat(10000)}`,
          shape: MARKUP,
          source_file: `/tmp/${'z'.repeat(10000)}/"><b>.py`,
        }),
        makeBuffer('2', '\u202Egnp.exe\n\u0007', 32 * MIB),
        makeBuffer('<b>', 'שלום \u0627\u0644', 16 * MIB),
      ],
      notes: [{ code: 'x', count: 1, text: `${MARKUP} is left out.` }],
      errorTexts: [{ file: 'error.txt', text: `${MARKUP}\nsecond line \u202E` }],
      notRead: [
        {
          file: `run/\u202E${MARKUP}.xplane.pb`,
          code: 'truncated',
          reason: 'ends inside a plane',
          offset_bytes: 4194304,
        },
      ],
    }),
  );

async function toPaper(page) {
  await page.setViewportSize({ width: PAPER_PX, height: 1000 });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await idle(page);
}
const paper = (query, served) => [query, toPaper, served, { isWhole: true }];

export const FRAME = {
  settings: [VIEWER, command('settings')],
  about: [VIEWER, command('about')],
  slow: [VIEWER, holdViewer, 'demo', { isBusy: true }],
  cancelled: [
    VIEWER,
    async (page) => {
      await holdViewer(page);
      await page.locator('.panel-wait button').first().click();
      await page.waitForSelector('.whole-page:not([hidden])');
    },
    'demo',
    { isBusy: true },
  ],
  slow_home: [VIEWER, async (page) => hold(page, '**/sessions/**', '?tool=home'), 'fixtures', { isBusy: true }],
  slow_device: [
    '?tool=device_memory',
    async (page) => {
      await hold(page, '**/device_memory/top**', '?tool=device_memory&view=top');
      await page.waitForSelector('.panel-wait:not([hidden])');
    },
    'fixtures',
    { isBusy: true },
  ],
  gone: [
    VIEWER,
    async (page) => {
      await silence(page);
      await page.waitForSelector('.banner');
    },
    'demo',
    { isBusy: true },
  ],
  back: [
    VIEWER,
    async (page) => {
      await silence(page);
      await page.waitForSelector('.banner');
      await page.unroute('**/api/**');
      await page.locator('.banner button').first().click();
      await page.waitForSelector('.banner', { state: 'detached' });
    },
    'demo',
    { isBusy: true },
  ],
  changed: [
    VIEWER,
    async (page, { file }) => {
      utimesSync(file, Date.now() / 1000, Date.now() / 1000);
      await page.waitForSelector('.banner');
    },
    'changing',
    { isBusy: true },
  ],
  part_fails: [
    VIEWER,
    async (page) => {
      await page.route('**/memory_viewer/strips**', (route) =>
        route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            title: 'malformed',
            status: 500,
            code: 'malformed',
            detail: 'length runs past the end',
            file: 'host0.xplane.pb',
            offset_bytes: 77,
          }),
        }),
      );
      await page.reload();
    },
  ],
  no_session: [`${VIEWER}&session=ffffffffffff`, async () => {}],
  no_module: [`${VIEWER}&module=ffffffffffff`, async () => {}],
  unreadable: [VIEWER, async () => {}, 'bad'],
  too_large: [VIEWER, async () => {}, 'tight'],
  lost: ['?tool=memory_viewer&local=0123456789abcdef0123456789abcdef01234567-0', async () => {}],
  lost_profile: [`?tool=device_memory&local=${'3f9c'.repeat(16)}`, async () => {}],
  dragging: ['?tool=home', async (page) => drop(page, 'x.prof', [1], 'dragenter'), 'fixtures'],
  drop_named: [VIEWER, async (page, { fixture }) => dropFile(page, fixture('memprof/memory9.prof'))],
  drop_refused: [
    VIEWER,
    async (page) => {
      await drop(page, 'host0.xplane.pb', [0x0a, 0x03, 1, 2, 3]);
      await page.waitForSelector('.banner-text:has-text("cannot be used")');
    },
  ],
  drop_large: [
    VIEWER,
    async (page, { fixture }) => {
      await page.route(/api\/v1\/(given|uploads)/, (route) =>
        route.fulfill({
          status: 413,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            title: 'limit',
            status: 413,
            code: 'limit',
            detail: 'the files would take 3.00 GiB together, more than the 2.00 GiB that are kept',
            file: null,
            offset_bytes: null,
          }),
        }),
      );
      await drop(page, 'host0.xplane.pb', readFileSync(fixture('memprof/memory9.prof')));
      await page.waitForSelector('.banner-text:has-text("cannot be used")');
    },
  ],
  dropped: [
    '?tool=home',
    async (page, { fixture }) => {
      await dropFile(page, fixture('logdir/tpu/plugins/profile/small/host0.xplane.pb.gz'));
      await page.locator('.banner .close, .banner [aria-label*="lose"]').first().click();
      await page.reload();
    },
    'fixtures',
  ],
  hostile: [VIEWER, async () => {}, 'demo', { canned: hostile() }],
  hostile_pin: [VIEWER, (page) => goTo(page, '?tool=memory_viewer&pin=b:1'), 'demo', { canned: hostile() }],
  hostile_home: ['?tool=home', async () => {}, 'demo', { canned: hostile() }],
  print: paper(VIEWER),
  print_profile: paper('?tool=memory_profile', 'made'),
  print_device: paper('?tool=device_memory', 'fixtures'),
  print_oom: paper('?tool=oom'),
  print_home: paper('?tool=home', 'fixtures'),
};
