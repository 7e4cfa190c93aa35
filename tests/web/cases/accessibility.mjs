/* SPDX-License-Identifier: Apache-2.0
 * accessibility.mjs: axe-core finds nothing on any page and in any state. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES } from '../../../web/pages.js';
import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { profileAnswers } from '../canned_profile.mjs';
import { idle, pointOn, violations } from '../harness.mjs';

/* State of a page: name → what brings it about. */
const press = (key, selector) => async (page) => {
  await page.keyboard.press(key);
  if (selector) await page.waitForSelector(selector);
};
const STATES = {
  'as it opens': async () => {},
  'with a pin': async (page) => page.mouse.click(...(await pointOn(page, 1, 0.05))),
  'with the changes and what fits': async (page) => {
    await page.keyboard.press('v');
    await page.locator('.panel-whatif .whatif-acts button', { hasText: 'Fit' }).click();
    await page.waitForSelector('.fit-set');
  },
  'with a menu open': async (page) => page.locator('.menu-dots').first().click(),
  'with a selector open': async (page) => {
    if (await page.locator('#menu').isVisible()) await page.click('#menu');
    await page.locator('.breadcrumb .selector-button').last().click();
    await page.waitForSelector('.selector-option');
  },
  'with its notes open': async (page) => page.locator('.notes-button').first().click(),
  'with the code open': press('5', '.code-host canvas'),
  'with the code as a treemap': async (page) => {
    await page.keyboard.press('k');
    await page.waitForSelector('.treemap-base');
  },
  'with the palette open': press('Control+k', '.palette-option'),
  'with the keys open': press('?', '.help-row'),
};

export function run({ test, truth, daemon, open, fixtures }) {
  async function check(page, what) {
    await idle(page);
    const faults = await violations(page);
    truth(faults.length === 0, `${what}: ${faults.join('\n        ')}`);
  }

  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
    [390, 844],
  ])
    for (const scheme of ['light', 'dark'])
      test(`nothing is found on the Memory Viewer at ${width} × ${height}, ${scheme}`, async () => {
        /* Dark differs in its colours alone. */
        for (const [name, act] of Object.entries(STATES).slice(0, scheme === 'dark' ? 3 : undefined)) {
          const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { width, height, scheme });
          await act(page);
          await check(page, name);
          await page.finish();
        }
      });

  for (const scheme of ['light', 'dark'])
    test(`nothing is found on Home, with sessions, empty and with its dialogs, ${scheme}`, async () => {
      const base = await daemon(`--logdir=${join(fixtures, 'dumps')}`);
      for (const width of [1440, 390]) {
        const page = await open(`${base}?tool=home`, { width, height: 844, scheme });
        await check(page, `Home at ${width}`);
        await page.locator('.open-files button').click();
        await page.waitForSelector('.files-text');
        await check(page, 'the box for texts');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+k');
        await page.waitForSelector('.palette-option');
        await page.keyboard.type('>settings');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.settings');
        await check(page, 'settings');
        await page.goto(`${base}?tool=home&filter=nothing`);
        await check(page, 'no session matches');
        await page.finish();
      }
    });

  test('nothing is found on the views of Device Memory', async () => {
    const filters = [
      {
        parameter: 'focus',
        expression: 'a(',
        matched_count: 0,
        is_literal: true,
        fault_at: 1,
        fault: 'missing )',
        nearest: null,
      },
    ];
    const device = makeDevice({ filters });
    const canned = answerer(makeWorld({ session: device.session, intercept: device.intercept }));
    for (const [view, width, scheme] of [
      ['flame', 1440, 'light'],
      ['flame&pin=f:f00000000000.f00000000001&find=fit&focus=a(', 1440, 'dark'],
      ['graph', 1440, 'light'],
      ['top', 390, 'dark'],
      ['callers', 1280, 'light'],
      ['buffers', 390, 'light'],
      ['series', 1440, 'light'],
    ]) {
      const url = `${await daemon('--demo')}?tool=device_memory&session=cccccccccccc&view=${view}`;
      const page = await open(url, { width, height: 844, scheme, canned });
      if (view === 'graph') await page.waitForSelector('.graph-box');
      await check(page, `${view} at ${width}, ${scheme}`);
      await page.finish();
    }
  });

  for (const [width, scheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
  ])
    test(`nothing is found on the Memory Profile at ${width}, ${scheme}`, async () => {
      const canned = answerer(makeWorld({ intercept: profileAnswers() }));
      for (const query of ['', '&view=events&pin=e:3', '&view=growth', '&view=addresses&sel=30000000000-60000000000']) {
        const url = `${await daemon('--demo')}?tool=memory_profile${query}`;
        const page = await open(url, { width, height: 900, scheme, canned });
        await check(page, query || 'as it opens');
        await page.finish();
      }
    });

  for (const [width, scheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
  ])
    test(`nothing is found on two programs side by side at ${width}, ${scheme}`, async () => {
      const page = await open(`${await daemon(join(fixtures, 'programs'))}?tool=compare`, {
        width,
        height: 900,
        scheme,
      });
      await check(page, 'as it opens');
      if (width < 600) return; /* the sheet of a pin lies over what stands below it */
      await page.locator('.panel-table tbody tr.is-group').first().click();
      await check(page, 'with a pin');
    });

  for (const [width, scheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
  ])
    test(`nothing is found on an error text at ${width}, ${scheme}`, async () => {
      const report = readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-adamlin.txt'), 'utf8');
      for (const [what, given] of [
        ['a report and a second', `${report}RESOURCE_EXHAUSTED: Out of memory while trying to allocate 300 bytes.\n`],
        ['nothing known', 'memory is mentioned\n'],
      ]) {
        const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, {
          width,
          height: 900,
          scheme,
          allow: /404/,
        });
        await page.locator('.oom-field').fill(given);
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.waitForURL(/local=[1-9a-f]/);
        await check(page, what);
        await page.finish();
      }
    });

  for (const row of PAGES.filter(({ tool }) => tool !== 'memory_viewer'))
    test(`nothing is found on the page ${row.tool} without data`, async () => {
      for (const [width, scheme] of [
        [1440, 'light'],
        [390, 'dark'],
      ]) {
        const page = await open(`${await daemon(`--logdir=${join(fixtures, 'dumps')}`)}?tool=${row.tool}`, {
          width,
          height: 844,
          scheme,
          allow: /4\d\d/,
        });
        await check(page, `${row.tool} at ${width}`);
        await page.finish();
      }
    });
}
