/* SPDX-License-Identifier: Apache-2.0
 * reach.mjs: every state that a mouse reaches is reached by keys alone, and is the same. A row: what is reached;
 * by mouse; by keys; what tells the state; what leads back from it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as acts from '../acts.mjs';
import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { profileAnswers } from '../canned_profile.mjs';
import { idle, pointOn, text } from '../harness.mjs';

/* What tells a state. */
const inUrl = (name) => (page) => acts.inUrl(page, name);
const countOf = (selector) => (page) => page.locator(`${selector}:visible`).count();
const attribute = (selector, name) => (page) => page.locator(selector).first().getAttribute(name);

/* What leads there, and back. */
const click = (selector) => (page) => page.locator(selector).first().click();
const at =
  (selector, x, y = 0.5) =>
  async (page) => {
    await page.locator(selector).first().scrollIntoViewIfNeeded();
    const box = await page.locator(selector).first().boundingBox();
    await page.mouse.click(box.x + box.width * x, box.y + (y > 1 ? y : box.height * y));
  };
const press =
  (...keys) =>
  async (page) => {
    for (const key of keys) await page.keyboard.press(key);
  };
const from =
  (selector, ...keys) =>
  async (page) => {
    await page.locator(selector).first().focus();
    await press(...keys)(page);
  };
const back = (page) => page.goBack();
const escape = press('Escape');

const VIEWER = [
  ['a moment', at('.curve .u-over', 0.0005), from('.curve-slider', 'Home'), inUrl('step'), from('.curve-slider', 'p')],
  [
    'a window of steps',
    async (page) => {
      const box = await page.locator('.curve .u-over').boundingBox();
      await acts.drag(page, [box.x + 0.2, box.y + 20], [box.x + box.width - 0.2, box.y + 20]);
    },
    from('.curve-slider', 'Home', 'M', 'End', 'M'),
    inUrl('sel'),
    from('.curve-slider', 'p', 'M'),
  ],
  ['some of the steps', from('.curve-slider', '+'), press('0', 'w'), inUrl('from'), press('0')],
  [
    'a buffer of a strip',
    async (page) => page.mouse.click(...(await pointOn(page, 1, 0.02))),
    from('.strip-plot >> nth=1 >> [role="listbox"]', 'Home', 'Enter'),
    inUrl('pin'),
    back,
  ],
  ['a buffer of the table', click('.panel-table tbody tr'), from('.panel-table tbody tr', 'Enter'), inUrl('pin'), back],
  [
    'an order of the table',
    click('.panel-table th.c-name'),
    from('.panel-table th.c-name', 'Enter'),
    inUrl('sort'),
    back,
  ],
  [
    'one kind of buffers',
    click('.panel-strips .legend-word'),
    from('.panel-strips .legend-word', 'Enter'),
    inUrl('filter'),
    back,
  ],
  [
    'another memory space',
    async (page) => {
      await page.locator('.breadcrumb .selector-button').last().click();
      await page.locator('.selector-option', { hasText: 'VMEM' }).first().click();
    },
    async (page) => {
      await page.locator('.breadcrumb .selector-button').last().focus();
      await page.keyboard.press('Enter');
      await page.keyboard.type('vmem');
      await page.keyboard.press('Enter');
    },
    inUrl('space'),
    back,
  ],
  ['the card of a figure', click('h1 .explained'), from('h1 .explained', 'i'), countOf('.dialog.explain'), escape],
  ['a menu', click('.panel-curve .menu-dots'), from('.panel-curve .menu-dots', 'Enter'), countOf('.menu-item'), escape],
  [
    'the notes',
    click('.notes-button'),
    from('.notes-button', 'Enter'),
    countOf('.notes-list'),
    from('.notes-button', 'Escape'),
  ],
  ['the palette', click('#find'), press('Control+k'), countOf('.palette'), escape],
  ['the list of keys', click('#help'), press('?'), countOf('.help'), escape],
  [
    'another theme',
    click('#theme'),
    from('#theme', 'Enter'),
    attribute('#theme', 'title'),
    from('#theme', 'Enter', 'Enter'),
  ],
  [
    'another picture',
    click('.panel-curve [data-stack="offsets"]'),
    from('.panel-curve [data-stack="offsets"]', 'Enter'),
    inUrl('stack'),
    back,
  ],
  [
    'another tab of the lower panel',
    click('.panel-table [data-view="patterns"]'),
    from('.panel-table [data-view="patterns"]', 'Enter'),
    inUrl('view'),
    back,
  ],
  ['Home', click('.crumb-home'), async (page) => page.keyboard.type('gh'), inUrl('tool'), back],
];

const PROFILE = [
  [
    'another memory id',
    click('.pool[aria-checked="false"]'),
    from('.pool[aria-checked="true"]', 'ArrowRight'),
    inUrl('memory'),
    back,
  ],
  ['another tab', click('role=tab[name="Growth"]'), press('3'), inUrl('view'), back],
  [
    'a step as window',
    at('.lanes-plot', 0.5, 8),
    from('.lanes-plot [role="listbox"]', 'Home', 'Enter'),
    async (page) => /^\d+-\d+$/.test(await inUrl('sel')(page)),
    back,
  ],
  ['the axis from where it is used', click('button.key-free'), press('u'), inUrl('hide'), back],
  ['the card of a figure', click('h1 .answer-figure'), from('h1 .answer-figure', 'i'), countOf('dialog'), escape],
];

const DEVICE = [
  [
    'a frame',
    at('.icicle-picture', 0.2, 50),
    from('[role="tree"]', 'Home', 'ArrowRight', 'ArrowRight', 'Enter'),
    inUrl('pin'),
    back,
  ],
  ['the rows of a view', click('role=tab[name=/Top/]'), press('3'), inUrl('view'), back],
  [
    'A and B',
    async (page) => {
      await page.keyboard.press('7');
      await at('.stacked', 0.2)(page);
      await at('.stacked', 0.9)(page);
    },
    async (page) => {
      await page.keyboard.press('7');
      await from('.stacked [role="listbox"]', 'Home', 'Enter')(page);
      await from('.stacked [role="listbox"]', 'End', 'Enter')(page);
    },
    async (page) => (await Promise.all([inUrl('a')(page), inUrl('b')(page)])).join(),
    async (page) => {
      await page.getByRole('button', { name: 'clear' }).first().click();
      await page.keyboard.press('1');
    },
  ],
];

const HOME = [
  ['a session', click('.home-grid tbody a'), from('.home-grid tbody a', 'Enter'), inUrl('session'), back],
  [
    'the box for files and texts',
    click('.open-files button'),
    from('.open-files button', 'Enter'),
    countOf('dialog'),
    escape,
  ],
];

const OOM = [
  [
    'a figure in the text',
    click('.answer .figure-link'),
    from('.answer .figure-link', 'Enter'),
    (page) => page.evaluate(() => document.activeElement.closest('.oom-text')?.localName ?? ''),
    from('#theme'),
  ],
  ['another report', click('.oom-reports a >> nth=1'), press('n'), inUrl('report'), back],
];

export function run({ test, equal, truth, daemon, open, fixtures }) {
  const check = async (page, rows) => {
    for (const [what, byMouse, byKeys, stateOf, leadBack] of rows) {
      const before = await stateOf(page);
      let reached = null;
      for (const [how, act] of [
        ['by mouse', byMouse],
        ['by keys', byKeys],
      ]) {
        try {
          await act(page);
          const state = await stateOf(page);
          if (act === byMouse) reached = state;
          truth(String(state) !== String(before), 'nothing is reached');
          equal(state, reached);
          await leadBack(page);
          equal(await stateOf(page), before, 'the way back');
        } catch (error) {
          throw new Error(`${what}, ${how}: ${error.message}`, { cause: error });
        }
        await page.mouse.move(2, 2);
      }
    }
    await page.finish();
  };

  test('the Memory Viewer', async () => check(await open(`${await daemon('--demo')}?tool=memory_viewer`), VIEWER));

  test('the Memory Profile', async () => {
    const canned = answerer(makeWorld({ intercept: profileAnswers() }));
    await check(await open(`${await daemon('--demo')}?tool=memory_profile`, { canned }), PROFILE);
  });

  test('Device Memory', async () => {
    const device = makeDevice();
    const canned = answerer(makeWorld({ session: device.session, intercept: device.intercept }));
    await check(await open(`${await daemon('--demo')}?tool=device_memory&session=cccccccccccc`, { canned }), DEVICE);
  });

  test('Home', async () => check(await open(`${await daemon(`--logdir=${join(fixtures, 'dumps')}`)}?tool=home`), HOME));

  test('an error text', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, { allow: /404/ });
    const report = readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-adamlin.txt'), 'utf8');
    await page
      .locator('.oom-field')
      .fill(`${report}RESOURCE_EXHAUSTED: Out of memory while trying to allocate 300 bytes.\n`);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.waitForURL(/local=[1-9a-f]/);
    await idle(page);
    truth((await text(page, 'h1')).includes('17.75 GiB'), 'another report stands first');
    await check(page, OOM);
  });
}
