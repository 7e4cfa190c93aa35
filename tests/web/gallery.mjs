/* SPDX-License-Identifier: Apache-2.0
 * gallery.mjs: the states of the pages that pictures are made of. One more: a row.
 * name → [query, act(page, place), served, how]; served: a row of SERVED in screenshots.mjs, place: what it serves;
 * how:
 * {canned: of openPage, isBusy: something is under way in the picture, media: "print"}. */

import { FRAME } from './gallery_frame.mjs';
import { idle, pointOn } from './harness.mjs';

const settle = async (page) => {
  await page.waitForTimeout(300);
  await idle(page);
};
const press =
  (...keys) =>
  async (page) => {
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

/* Opens the ⋯ of a panel; on a phone it stands behind a tab. */
const menuIn = (panel, word) => async (page) => {
  await tab(page, word);
  await page.locator(`${panel} .menu-dots`).first().click();
};

const VIEWER = {
  viewer: ['', async () => {}],
  whatif: ['&whatif=checkpoint=*&whatif=batch=0.5', async () => {}],
  whatif_fit: ['&drawer=fit', async () => {}],
  whatif_error: [
    '&drawer=whatif&glob=layer_*/attention',
    async (page) => {
      await page.locator('#whatif-more').fill('batches=2');
      await page.keyboard.press('Enter');
      await settle(page);
      await page.locator('#whatif-more').scrollIntoViewIfNeeded();
    },
  ],
  whatif_keys: ['', press('v', 'Tab', 'Tab', 'Tab')],
  hover: [
    '',
    async (page) => {
      await tab(page, 'Strips');
      await page.mouse.move(...(await pointOn(page, 1, 0.02)));
    },
  ],
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
      await page.locator('.breadcrumb .selector-button').last().click();
    },
  ],
  capacity: ['&capacity=v5p', async () => {}],
  fits: ['&capacity=40GiB', async () => {}],
  device: [
    '',
    async (page) => {
      const figures = page.locator('.head .unfold');
      if (await figures.isVisible()) await figures.click();
      await page.locator('.capacity .selector-button').click();
    },
  ],
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
  code: ['&view=code', async () => {}],
  code_stack: ['&view=code&by=stack', async () => {}],
  code_treemap: ['&view=code&picture=treemap', async () => {}],
  code_layers: ['&view=code&open=all', async () => {}],
  links: [
    '',
    async (page) => {
      await tab(page, 'Table');
      await page.locator('.panel-table tbody tr').first().click();
    },
  ],
  moment: ['&step=150&sel=120-400', async () => {}],
  marks: ['&step=300&a=100&b=300', async () => {}],
  grouped: ['&group=shape', async (page) => tab(page, 'Table')],
  names: [
    '&sel=120-400',
    async (page) => {
      const names = page.locator('.window-line:visible button:visible', { hasText: 'Names' });
      if (await names.count()) await names.first().click();
    },
  ],
  nothing_matches: ['&filter=op:nothing', async (page) => tab(page, 'Table')],
  wrong_filter: ['&filter=sze:5 >1GiB', async (page) => tab(page, 'Table')],
  card: ['', async (page) => page.click('h1 .explained')],
  menu_curve: ['', menuIn('.panel-curve', 'Curve')],
  menu_strips: ['', menuIn('.panel-strips', 'Strips')],
  offsets: ['&stack=offsets', async () => {}],
  menu_map: ['&stack=offsets', menuIn('.panel-map', 'Map')],
  menu_table: ['', menuIn('.panel-table', 'Table')],
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
  device_change: ['&view=series', async (page) => compare(page, '1')],
  device_change_graph: ['&view=series', async (page) => compare(page, '2')],
  device_change_top: ['&view=series', async (page) => compare(page, '3')],
  device_change_callers: ['&view=series', async (page) => compare(page, '4')],
  device_change_buffers: ['&view=series', async (page) => compare(page, '6')],
  device_no_match: ['&focus=ini_state', async () => {}],
  device_card: ['', async (page) => page.locator('h1 .explained').first().click()],
  device_menu_flame: ['', menuIn('.panel-flame', 'none')],
  device_menu_top: ['&view=top', menuIn('.panel-top', 'none')],
  device_menu_graph: ['&view=graph', menuIn('.panel-graph', 'none')],
  device_menu_series: ['&view=series', menuIn('.panel-series', 'none')],
  device_keys: ['', press('?')],
  device_unfolded: [
    '',
    async (page) => (await page.locator('.device-unfold').isVisible()) && page.locator('.device-unfold').click(),
  ],
  go_flame: ['', async () => {}, 'go'],
  go_graph: ['&view=graph', async (page) => page.waitForSelector('.graph-box'), 'go'],
  go_top: ['&view=top', async () => {}, 'go'],
  go_callers: [
    '&view=top',
    async (page) => {
      await page.locator('.panel-top tbody tr').nth(1).click();
      await idle(page);
      await page.keyboard.press('4');
    },
    'go',
  ],
  go_buffers: ['&view=buffers', async () => {}, 'go'],
  go_source: ['&view=source', async () => {}, 'go'],
};

/* The first and the last profile of the series as A and B, in a view. */
async function compare(page, key) {
  await page.locator('.stacked [role="listbox"]').focus();
  for (const each of ['Home', 'Enter', 'End', 'Enter']) await page.keyboard.press(each);
  await idle(page);
  await page.keyboard.press(key);
}

/* Of the Memory Profile, on a made trace: 12 steps of about 48 ms on four devices of two hosts. */
const onChart = async (page, share) => {
  const box = await page.locator('.panel-time .u-over').boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
};
/* On a phone the table stands below what is seen first. */
const toTable = (page) => page.locator('.panel-tabs').evaluate((node) => innerWidth < 600 && node.scrollIntoView());
const PROFILE = {
  profile: ['', async () => {}],
  profile_hover: ['&from=90000000000&to=140000000000', async (page) => page.mouse.move(...(await onChart(page, 0.4)))],
  profile_no_free: ['&hide=free', async () => {}],
  profile_window: ['&sel=96000000000-144000000000', async () => {}],
  profile_marks: ['&a=60000000000&b=250000000000&time=250000000000', async () => {}],
  profile_events: ['&view=events', async (page) => page.locator('.panel-events tbody tr').nth(2).click()],
  profile_filter: ['&filter=op:layer_0/* >64MiB&group=op', toTable],
  profile_growth: ['&view=growth', toTable],
  profile_addresses: ['&view=addresses', toTable],
  profile_card: ['', async (page) => page.click('h1 .answer-figure')],
  profile_no_match: ['&filter=op:nothing', toTable],
  profile_menu_time: ['', menuIn('.panel-time', 'none')],
  profile_menu_table: ['&view=events', menuIn('.panel-events', 'none')],
  profile_keys: ['', press('?')],
  profile_keyboard: [
    '',
    async (page) => {
      await page.focus('.panel-time .curve-slider');
      await page.keyboard.press('ArrowRight');
    },
  ],
};

async function explain(page, text) {
  await page.locator('textarea').first().fill(text);
  await page.locator('button', { hasText: 'Explain' }).first().click();
}

/* Of the other pages: name → [query, act, served]. */
const PAGES = {
  home: ['?tool=home', async () => {}, 'fixtures'],
  home_filter: ['?tool=home&filter=tile&sort=name', async () => {}, 'fixtures'],
  home_nothing: ['?tool=home&filter=nothing', async () => {}, 'fixtures'],
  home_paste: [
    '?tool=home',
    async (page) => {
      await page.locator('.open-files button').click();
      await page.waitForSelector('.files-text');
      await page.keyboard.insertText('RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.');
    },
    'fixtures',
  ],
  first: ['', async () => {}, 'demo'],
  home_card: ['?tool=home', async (page) => page.locator('h1 .explained').first().click(), 'demo'],
  home_keys: ['?tool=home', press('?'), 'demo'],
  home_palette: ['?tool=home', press('Control+k'), 'fixtures'],
  home_none: ['', async () => {}, 'empty'],
  home_bad: ['?tool=home', async () => {}, 'bad'],
  profile_empty: ['?tool=memory_profile', async () => {}, 'fixtures'],
  device_none: ['?tool=device_memory', async () => {}, 'logdir'],
  viewer_none: ['?tool=memory_viewer', async () => {}, 'go'],
  oom: ['?tool=oom', async () => {}, 'demo'],
  whatif_oom: [
    '?tool=oom',
    async (page) => page.locator('.panel-oom-advice .advice').first().scrollIntoViewIfNeeded(),
    'demo',
  ],
  oom_lists: ['?tool=oom', async () => {}, 'fixtures'],
  oom_menu: ['?tool=oom', async (page) => page.locator('.answer-aside .menu-dots').click(), 'demo'],
  oom_paste: ['?tool=oom', async () => {}, 'go'],
  oom_keys: ['?tool=oom', press('?'), 'demo'],
  oom_gpu: ['?tool=oom', async (page, place) => explain(page, place.text('oom-bfc.txt')), 'go'],
  oom_usage: ['?tool=oom', async (page, place) => explain(page, place.text('oom-usage.txt')), 'go'],
  oom_run: ['?tool=oom', async (page, place) => explain(page, place.text('oom-tpu-run.txt')), 'go'],
  oom_total: [
    '?tool=oom',
    async (page) => explain(page, 'RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.'),
    'go',
  ],
  oom_unknown: [
    '?tool=oom',
    async (page) => explain(page, 'hello world\nusing a lot of memory here\nnothing else\n'),
    'go',
  ],
  modules: ['?tool=modules', async () => {}, 'logdir'],
  modules_demo: ['?tool=modules', async () => {}, 'demo'],
  fleet: ['?tool=fleet', async () => {}, 'jobs'],
  fleet_regressions: ['?tool=fleet&view=regressions', async () => {}, 'jobs'],
  fleet_job: ['?tool=fleet&filter=job:bert&view=commits', async () => {}, 'jobs'],
  fleet_none: ['?tool=fleet', async () => {}, 'demo'],
  unknown: ['?tool=memory_viewer&session=ffffffffffff&space=77&pin=b:99999999&tool=nothing', async () => {}, 'demo'],
};

const rowsOf = (states, prefix, served) =>
  Object.entries(states).map(([name, [query, act, own, how = {}]]) => ({
    name,
    query: prefix + query,
    act,
    served: own ?? served,
    how,
  }));

export const GALLERY = [
  ...rowsOf(VIEWER, '?tool=memory_viewer', 'demo'),
  ...rowsOf(PAGES, '', 'demo'),
  ...rowsOf(DEVICE, '?tool=device_memory', 'fixtures'),
  ...rowsOf(PROFILE, '?tool=memory_profile', 'made'),
  ...rowsOf(FRAME, '', 'demo'),
];
export const README = GALLERY.filter(({ name }) => ['oom', 'viewer', 'profile'].includes(name));
