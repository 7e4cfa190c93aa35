/* SPDX-License-Identifier: Apache-2.0
 * pairs.mjs: two pins compared, menus of stripes and rows, notes at a step, a picture kept in view: by pointer and by
 * keys, and in the URL. */

import { inUrl } from '../acts.mjs';
import { idle, text, violations } from '../harness.mjs';

const PLOT = '.panel-curve .u-over';
const TIME_PLOT = '.panel-time .u-over';
const MENU = '.menu-floating [role="menu"]';

export function run({ test, equal, includes, truth, daemon, open, fixtures }) {
  const viewer = async (query = '', how = {}) =>
    open(`${await daemon(`--logdir=${fixtures}/dumps`)}?tool=memory_viewer${query}`, how);
  const profile = async (query = '', how = {}) => open(`${await daemon('--demo')}?tool=memory_profile${query}`, how);
  const reload = async (page) => {
    await page.reload();
    await idle(page);
  };
  /* A place on a stripe: the first one from the foot of the plot up. */
  const stripe = async (page, plot) => {
    const box = await page.locator(plot).boundingBox();
    for (const share of [0.5, 0.6, 0.7])
      for (let up = 6; up < box.height; up += 6) {
        const place = [box.x + share * box.width, box.y + box.height - up];
        await page.mouse.move(...place);
        if (await page.locator(`${plot}.is-on-mark`).count()) return place;
      }
    throw new Error('no stripe is there');
  };
  /* The second buffer of the Viewer's table is pinned, whose first has the lowest stripe; an event of the Profile. */
  const pinFirst = async (page, plot) => {
    if (plot === TIME_PLOT) return 'e:3';
    await page.keyboard.press('b');
    await idle(page);
    await page.locator('.panel-table tbody tr').nth(1).click();
    await idle(page);
    return inUrl(page, 'pin');
  };

  for (const [name, show, plot, times] of [
    ['the Memory Viewer', viewer, PLOT, 'steps'],
    ['the Memory Profile', profile, TIME_PLOT, 'lives'],
  ])
    test(`pairs: in ${name} a Ctrl click compares bytes, time, category of two pins; the URL has both`, async () => {
      const page = await show(plot === TIME_PLOT ? '&pin=e:3' : '');
      const a = await pinFirst(page, plot);
      const place = await stripe(page, plot);
      await page.keyboard.down('Control');
      await page.mouse.click(...place);
      await page.keyboard.up('Control');
      await idle(page);
      const b = await inUrl(page, 'pin');
      truth(a && b && a !== b, `two pins: ${a}, ${b}`);
      equal(await inUrl(page, 'beside'), a);
      const said = await text(page, '.pair');
      for (const words of ['size', times, 'B − A']) includes(said, words);
      await reload(page);
      equal(await text(page, '.pair'), said, 'the address gives the same');
      equal(await violations(page), []);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await idle(page);
      equal([await inUrl(page, 'beside'), await page.locator('.pair').count()], [null, 0], 'the comparison ends');
      await page.finish();
    });

  test('pairs: B keeps the pinned buffer, the next pin is compared with it, and B ends that', async () => {
    const page = await viewer();
    await page.keyboard.press('.');
    await page.keyboard.press('b');
    await idle(page);
    await page.locator('.panel-table tbody tr').nth(0).click();
    await idle(page);
    const a = await inUrl(page, 'pin');
    await page.keyboard.press('B');
    await idle(page);
    equal(await inUrl(page, 'beside'), a);
    await page.locator('.panel-table tbody tr').nth(1).click();
    await idle(page);
    includes(await text(page, '.pair'), 'category');
    await page.keyboard.press('B');
    await idle(page);
    equal(await page.locator('.pair').count(), 0);
    await page.finish();
  });

  test('pairs: an A that is not here is named, and nothing is compared', async () => {
    const page = await viewer('&beside=b:999999', { allow: /404/ });
    includes(await text(page, '.banners'), 'b:999999 is not in this module; nothing is compared.');
    equal(await page.locator('.pair').count(), 0);
    await page.finish();
  });

  test('menus: a stripe, a step and a row of the Memory Viewer say what can be done with them', async () => {
    const page = await viewer();
    const place = await stripe(page, PLOT);
    await page.mouse.click(...place, { button: 'right' });
    await idle(page);
    for (const words of ['Pin it', 'Zoom to its life', 'Show only', 'Write a note at'])
      includes(await text(page, MENU), words);
    equal(await violations(page), []);
    await page.locator(`${MENU} >> text=Show only`).click();
    await idle(page);
    includes(await inUrl(page, 'filter'), 'cat:');
    await page.locator('.panel-table tbody td').first().click({ button: 'right' });
    await idle(page);
    await page.locator(`${MENU} >> text=Pin it`).click();
    await idle(page);
    truth(await inUrl(page, 'pin'), 'the row is pinned');
    await page.finish();
  });

  test('menus: by keys, of the moment and of a row of the Memory Profile, and the focus goes back', async () => {
    const page = await profile();
    await page.locator('.panel-time [role="slider"]').focus();
    await page.locator('.panel-time [role="slider"]').dispatchEvent('contextmenu');
    await idle(page);
    includes(await text(page, MENU), 'Set the time to');
    await page.keyboard.press('Escape');
    equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'slider');
    await page.locator('.panel-live tbody td').first().click({ button: 'right' });
    await idle(page);
    await page.keyboard.press('Enter');
    await idle(page);
    truth(await inUrl(page, 'pin'), 'the row is pinned');
    await page.finish();
  });

  for (const [name, show, panel] of [
    ['the Memory Viewer', viewer, '.panel-curve'],
    ['the Memory Profile', profile, '.panel-time'],
  ])
    test(`keep: in ${name} the picture stays in view while the page scrolls, and the URL says so`, async () => {
      const page = await show('', { width: 1280, height: 500 });
      const inView = () =>
        page.evaluate((selector) => {
          const main = document.querySelector('main');
          for (const each of [main, document.scrollingElement]) each.scrollTo(0, each.scrollHeight);
          return (
            document.querySelector(selector).getBoundingClientRect().top >=
            Math.max(0, main.getBoundingClientRect().top) - 1
          );
        }, panel);
      equal(await inView(), false, 'it scrolls away');
      await page.keyboard.press('K');
      await idle(page);
      equal([await inUrl(page, 'keep'), await inView()], ['1', true]);
      await reload(page);
      equal(await inView(), true, 'the address gives the same');
      equal(await violations(page), []);
      await page.locator(`${panel} [aria-label$="keep in view"]`).click();
      await idle(page);
      equal([await inUrl(page, 'keep'), await inView()], [null, false]);
      await page.finish();
    });

  test('notes: T writes one at the step, the link has it, and × removes it', async () => {
    const page = await viewer();
    await page.keyboard.press('T');
    await page.keyboard.type('here <b>it</b> grows');
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await inUrl(page, 'note'), ':here <b>it</b> grows');
    await reload(page);
    includes(await text(page, '.panel-curve .notes-line'), 'here <b>it</b> grows');
    equal(await page.locator('.panel-curve .curve-note-word').textContent(), 'here <b>it</b> grows');
    equal(await violations(page), []);
    await page.locator('.panel-curve .notes-line .icon-button').click();
    await idle(page);
    equal([await inUrl(page, 'note'), await page.locator('.panel-curve .notes-line').isVisible()], [null, false]);
    await page.finish();
  });
}
