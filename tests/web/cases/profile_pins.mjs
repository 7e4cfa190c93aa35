/* SPDX-License-Identifier: Apache-2.0
 * profile_pins.mjs: what is pinned in the Memory Profile and how the URL names it, what the pane says while keys
 * and drags go on, what a drag asks of the daemon, and traces with many devices or long ones. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { drag, inUrl, placeOn } from '../acts.mjs';
import { answerer, makeWorld } from '../canned.mjs';
import { profileAnswers } from '../canned_profile.mjs';
import { idle, sessionLink, text } from '../harness.mjs';

export function run({ test, equal, includes, truth, daemon, open, shared }) {
  /* The trace of the demo: 12 steps on two GPUs. */
  const show = async (query, how) => open(`${await daemon('--demo')}?tool=memory_profile${query}`, how);
  const conv = async (query = '', how = {}) => {
    const url = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
    const page = await open(url, how);
    const href = await sessionLink(page, url, 'mi300/conv');
    const session = new URLSearchParams(href.slice(href.indexOf('?'))).get('session');
    await page.goto(`${url}?tool=memory_profile&session=${session}${query}`);
    await idle(page);
    return page;
  };
  const reload = async (page) => {
    await page.reload();
    await idle(page);
  };

  test('profile pins: a group and a remainder of what is live stand in the URL, also after a reload', async () => {
    const page = await show('&group=op');
    for (const [row, kind, heading] of [
      ['tr:not(:has(.inferred))', 'g', 'Group'],
      ['tr:has(.inferred)', 'r', 'Remainder'],
    ]) {
      await page.locator(`.panel-live tbody ${row}`).first().click();
      await idle(page);
      truth((await inUrl(page, 'pin'))?.startsWith(`${kind}:`), `pin of a ${heading}: ${await inUrl(page, 'pin')}`);
      const said = await text(page, '#details');
      includes(said, heading);
      await reload(page);
      equal(await text(page, '#details'), said);
      equal(await page.locator('.panel-live tr.is-pinned').count(), 1);
    }
    await page.keyboard.press('Escape');
    await idle(page);
    equal(await inUrl(page, 'pin'), null);
    includes(await text(page, '#details'), 'This page');
    await page.finish();
  });

  test('profile pins: a row of growth is shown also while an event is pinned, and stands in the URL', async () => {
    const page = await show('&view=growth&pin=e:3');
    includes(await text(page, '#details'), 'Event');
    truth(await page.locator('.panel-time .curve-span').first().isVisible(), 'the life of the event on the timeline');
    await page.locator('.panel-growth tbody tr').first().click();
    await idle(page);
    includes(await text(page, '#details'), 'Growth');
    includes(await text(page, '#details'), 'a step');
    truth((await inUrl(page, 'pin'))?.startsWith('w:'), `the pin: ${await inUrl(page, 'pin')}`);
    const said = await text(page, '#details');
    await reload(page);
    equal(await text(page, '#details'), said);
    equal(await page.locator('.panel-growth tr.is-pinned').count(), 1);
    await page.finish();
  });

  test('profile pins: a step and a launch that were picked stand in the URL, also after a reload', async () => {
    const world = () => makeWorld({ intercept: profileAnswers({ steps: 20 }) });
    for (const [lane, kind, heading] of [
      [0, 's', 'Step'],
      [1, 'l', 'Program launch'],
    ]) {
      const page = await show('', { canned: answerer(world()) });
      const box = await page.locator('.lanes-plot').boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + 18 * lane + 9);
      await idle(page);
      const pin = await inUrl(page, 'pin');
      truth(pin?.startsWith(`${kind}:`), `pin of a ${heading}: ${pin}`);
      truth(pin.includes(await inUrl(page, 'sel')), 'it is the window too');
      const said = await text(page, '#details');
      includes(said, heading);
      await reload(page);
      equal(await text(page, '#details'), said);
      await page.keyboard.press('Escape');
      await idle(page);
      equal([await inUrl(page, 'pin'), (await inUrl(page, 'sel')) != null], [null, true], 'the window stays');
      await page.goto(`${page.url()}&pin=${kind}:1-2${kind === 'l' ? ':0' : ''}`);
      await idle(page);
      includes(await text(page, '#details'), 'of this trace begins and ends there');
      await page.finish();
    }
  });

  test('profile pins: a group far down a long list is asked for by its name', async () => {
    const url = await daemon('--demo');
    const page = await open(`${url}?tool=memory_profile&group=op`);
    const asked = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/live')) asked.push([searchParams.get('filter'), searchParams.get('limit')]);
    });
    await page.locator('.panel-live tbody tr:not(:has(.inferred))').first().click();
    await idle(page);
    const pin = await inUrl(page, 'pin');
    const said = await text(page, '#details');
    await page.goto(`${url}?tool=memory_profile&group=op&filter=op:nothing&pin=${pin}`);
    await idle(page);
    equal(asked.at(-1), [`key:${pin}`, '1']);
    equal(await text(page, '#details'), said);
    await page.finish();
  });

  test('profile pins: a key or a drag takes back what the pane said of the event under the pointer', async () => {
    const page = await show('');
    const hover = async () => {
      await page.mouse.move(...(await placeOn(page, '.panel-time .u-over', 0.3)));
      await page.mouse.move(...(await placeOn(page, '.panel-time .u-over', 0.4)));
      await idle(page);
      includes(await text(page, '#details'), 'Event under the pointer');
    };
    for (const key of ['ArrowRight', 'p', 'd', '+']) {
      await hover();
      await page.keyboard.press(key);
      await idle(page);
      truth(!(await text(page, '#details')).includes('under the pointer'), `after ${key}`);
    }
    await hover();
    await drag(page, await placeOn(page, '.panel-time .u-over', 0.4), await placeOn(page, '.panel-time .u-over', 0.6));
    await idle(page);
    truth(!(await text(page, '#details')).includes('under the pointer'), 'after a drag');
    await page.finish();
  });

  test('profile gestures: a drag asks the daemon when it ends, not at each move', async () => {
    const page = await show('');
    const asked = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.includes('/memory_profile/')) asked.push(pathname.slice(pathname.lastIndexOf('/') + 1));
    });
    const over = (x) => placeOn(page, '.panel-time .u-over', x);
    const dragged = async (from, to) => {
      asked.length = 0;
      await page.mouse.move(...from);
      await page.mouse.down();
      for (let at = 1; at <= 10; at++) await page.mouse.move(from[0] + ((to[0] - from[0]) * at) / 10, from[1]);
      const moving = [...asked];
      await page.mouse.up();
      await idle(page);
      return [moving, [...asked]];
    };
    const [moving, selected] = await dragged(await over(0.3), await over(0.6));
    equal(moving, [], 'while a window is drawn');
    equal(selected.toSorted(), ['live', 'timeline'], 'what the window holds, once');
    includes(await text(page, '.window-words'), 'peak');
    await page.locator('.window-line .icon-button').click();
    await idle(page);
    const grip = await page.locator('.panel-time .curve-grip').boundingBox();
    const [gripping, gripped] = await dragged([grip.x + grip.width / 2, grip.y + grip.height / 2], await over(0.7));
    equal(gripping, [], 'while the moment is drawn');
    equal(gripped, ['live'], 'what is live at the moment, once');
    truth((await inUrl(page, 'time')) != null, 'the moment is where it was let go');
    await page.goBack();
    await idle(page);
    equal(await inUrl(page, 'time'), null, 'one step back');
    await page.finish();
  });

  test(
    'profile: the peak of a window counts what is in use at its start',
    async () => {
      const golden = JSON.parse(gunzipSync(readFileSync(join(shared, 'golden/logdir.json.gz'))));
      const { body } = golden.answers['/data/plugin/profile/data?run=mi300%2Fconv&tag=memory_profile&host=host0'];
      const pool = body.memoryProfilePerAllocator.GPU_1_bfc;
      const peak = Number(pool.profileSummary.peakStats.heapAllocatedBytes);
      /* The launch at 62.4 ms begins after three allocations that leave the peak in use, and frees end in it. */
      const page = await conv('&memory=GPU_1_bfc&sel=62351060000-63597062000');
      equal(await page.locator('.window-words .figure').getAttribute('title'), `${peak.toLocaleString('en')} B`);
      await page.finish();
    },
    { shared: true },
  );

  test(
    'profile: eight devices: their peaks differ as their spread does, their lanes are all there and in order',
    async () => {
      const page = await conv('', { width: 1440, height: 900 });
      const figures = await page.locator('.pool .figure').allInnerTexts();
      const exact = await page.locator('.pool .figure').evaluateAll((nodes) => nodes.map((node) => node.title));
      equal(figures[0] === figures.at(-1), exact[0] === exact.at(-1), `${figures[0]} and ${figures.at(-1)}`);
      truth(new Set(figures).size > 1, 'not all are alike');
      equal(
        await page.locator('.lane-title').allInnerTexts(),
        [0, 1, 2, 3, 4, 5, 6, 7].map((at) => `GPU:${at}`),
      );
      equal(await page.locator('.lane-title.is-own').innerText(), 'GPU:1');
      const cut = await page.locator('.lanes').evaluate((node) => node.scrollHeight - node.clientHeight);
      truth(cut <= 0, `${cut} px of the lanes are cut`);
      await page.finish();
      for (const query of ['', '&view=addresses', '&sel=62351060000-63597062000']) {
        const small = await conv(query, { width: 1280, height: 720 });
        const over = await small.evaluate(() =>
          ['.lanes', 'html'].map((selector) => {
            const node = document.querySelector(selector);
            return node.scrollHeight - node.clientHeight;
          }),
        );
        equal(over, [0, 0], `px of the lanes and the document that are cut${query}`);
        /* The page scrolls rather than to draw in a slit. */
        const high = await small.locator('.panel-time .time-chart').evaluate((node) => node.clientHeight);
        truth(high >= (query ? 80 : 190), `the picture is ${high} px high${query}`);
        await small.finish();
      }
    },
    { shared: true },
  );

  test(
    'profile: the page stands at its top when it opens',
    async () => {
      const page = await conv('', { width: 960, height: 600 });
      const scrolled = await page.evaluate(() =>
        [...document.querySelectorAll('html, body, main')].map((node) => node.scrollTop),
      );
      equal(scrolled, [0, 0, 0]);
      const last = await conv('&memory=GPU_0_bfc', { width: 960, height: 600 });
      const [list, chosen] = [
        await last.locator('.pools').boundingBox(),
        await last.locator('.pool[aria-checked="true"]').boundingBox(),
      ];
      truth(chosen.y + chosen.height <= list.y + list.height + 1, 'the chosen one is in sight');
      await page.finish();
      await last.finish();
    },
    { shared: true },
  );

  test('profile: times of a column share one unit, also where a trace ends after 10 s', async () => {
    const world = makeWorld({ intercept: profileAnswers({ steps: 1000 }) });
    const page = await show('&view=events', { canned: answerer(world) });
    includes(await text(page, '.panel-events thead'), 'Time, s');
    const times = await page.locator('.panel-events tbody .c-time .figure').allInnerTexts();
    equal(times.slice(0, 2), ['0.010500', '0.011000'], 'of 10.5 and 11 ms');
    await page.finish();
  });
}
