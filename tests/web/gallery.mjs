/* SPDX-License-Identifier: Apache-2.0
 * gallery.mjs: the states of the pages that pictures are made of. One more: a row. */

import { idle, pointOn } from './harness.mjs';

const settle = async (page) => {
  await page.waitForTimeout(300);
  await idle(page);
};
const press = (...keys) => async (page) => {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settle(page);
  }
};
const tab = async (page, word) => {
  const node = page.locator('.phone-tab', { hasText: word });
  if (await node.isVisible().catch(() => false)) await node.click();
  await settle(page);
};

const VIEWER = {
  viewer: ['', async () => {}],
  hover: ['', async (page) => {
      await tab(page, 'Strips');
      await page.mouse.move(...(await pointOn(page, 1, 0.02)));
    }],
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
      await tab(page, 'Strips');
      await page.mouse.click(...(await pointOn(page, 1, 0.1)));
      await settle(page);
      await page.mouse.move(2, 2);
    },
  ],
  keyboard: [
    '',
    async (page) => {
      await tab(page, 'Strips');
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
  capacity: ['&capacity=v5p', async () => {}],
  fits: ['&capacity=40GiB', async () => {}],
  device: ['', async (page) => page.locator('.capacity .selector-button').click()],
  notes: [
    '',
    async (page) => {
      if (await page.locator('.notes-button').count()) await page.locator('.notes-button').click();
    },
  ],
  table: [
    '',
    async (page) => {
      await tab(page, 'Table');
      await page.locator('.filter-input').fill('>1GiB');
      await page.keyboard.press('Enter');
    },
  ],
  map: ['', async (page) => tab(page, 'Map')],
  moment: ['&step=150&sel=120-400', async () => {}],
  menu: ['', async (page) => page.locator('.menu-dots:visible').first().click()],
  palette: ['', press('Control+k', 't', 'h')],
  keys: ['', press('?')],
  drawer: ['', press('q')],
  space: ['&space=1', async () => {}],
};

/* Of the Device Memory page. */
const frameAt = async (page, share, row) => {
  const box = await page.locator('.icicle-picture').first().boundingBox();
  return [box.x + box.width * share, box.y + row * 20 + 10];
};
const DEVICE = {
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

/* Of the Memory Profile, on a made trace: 12 steps of about 48 ms on four devices of two hosts. */
const onChart = async (page, share) => {
  const box = await page.locator('.panel-time .u-over').boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
};
const PROFILE = {
  profile: ['', async () => {}],
  profile_hover: ['&from=90000000000&to=140000000000', async (page) => page.mouse.move(...(await onChart(page, 0.4)))],
  profile_free: ['&show=free', async () => {}],
  profile_window: ['&sel=96000000000-144000000000', async () => {}],
  profile_marks: ['&a=60000000000&b=250000000000&time=250000000000', async () => {}],
  profile_events: ['&view=events', async (page) => page.locator('.panel-events tbody tr').nth(2).click()],
  profile_filter: ['&filter=op:layer_0/* >64MiB&group=op', async () => {}],
  profile_growth: ['&view=growth', async () => {}],
  profile_addresses: ['&view=addresses', async () => {}],
  profile_card: ['', async (page) => page.click('h1 .answer-figure')],
  profile_keyboard: [
    '',
    async (page) => {
      await page.focus('.panel-time .curve-slider');
      await page.keyboard.press('ArrowRight');
    },
  ],
};

/* Of the other pages: name → [query, act, served]. */
const PAGES = {
  home: ['?tool=home', async () => {}, 'fixtures'],
  home_filter: ['?tool=home&filter=tile&sort=name', async () => {}, 'fixtures'],
  home_nothing: ['?tool=home&filter=nothing', async () => {}, 'fixtures'],
  home_paste: [
    '?tool=home',
    async (page) => {
      await page.locator('.intake button').click();
      await page.waitForSelector('.intake-text');
      await page.keyboard.insertText('RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.');
    },
    'fixtures',
  ],
  first: ['', async () => {}, 'demo'],
  profile_empty: ['?tool=memory_profile', async () => {}, 'fixtures'],
  oom: ['?tool=oom', async () => {}, 'demo'],
  oom_lists: ['?tool=oom', async () => {}, 'fixtures'],
  unknown: ['?tool=memory_viewer&session=ffffffffffff&space=77&pin=b:99999999&tool=nothing', async () => {}, 'demo'],
};

const rowsOf = (states, prefix, served) =>
  Object.entries(states).map(([name, [query, act, own]]) => ({ name, query: prefix + query, act, served: own ?? served }));

export const GALLERY = [
  ...rowsOf(VIEWER, '?tool=memory_viewer', 'demo'),
  ...rowsOf(PAGES, '', 'demo'),
  ...rowsOf(DEVICE, '?tool=device_memory', 'fixtures'),
  ...rowsOf(PROFILE, '?tool=memory_profile', 'made'),
];
export const README = GALLERY.filter(({ name }) => name === 'viewer' || name === 'profile');
