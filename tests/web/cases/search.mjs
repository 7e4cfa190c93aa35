/* SPDX-License-Identifier: Apache-2.0
 * search.mjs: one field that searches all panels of a page: what each panel has, and steps from one to the next. */

import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { idle, pixels, text } from '../harness.mjs';

const query = (page, name) => new URL(page.url()).searchParams.get(name);
const counts = async (page) => {
  const words = await page.locator('.search-place').allInnerTexts();
  return Object.fromEntries(
    words.map((each) => [each.split(' ')[0], Number(/^\S+ (?:≥ )?([\d,]+)/.exec(each)[1].replaceAll(',', ''))]),
  );
};
const totalOf = (all) => Object.values(all).reduce((sum, each) => sum + each, 0);

export function run({ test, equal, includes, truth, daemon, open }) {
  test('a search of the Memory Viewer counts buffers, groups, code and patterns, and steps through them', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?tool=memory_viewer`);
    const before = await pixels(page, '.curve-host canvas');
    await page.keyboard.press('F');
    await page.keyboard.type('attention');
    await idle(page);
    equal(query(page, 'find'), 'attention');
    const all = await counts(page);
    equal(Object.keys(all), ['Buffers', 'Groups', 'Code', 'Patterns']);
    truth(all.Buffers > 0 && all.Groups > 0 && all.Code > 0, JSON.stringify(all));
    equal(await text(page, '.search-said'), `${totalOf(all).toLocaleString('en')} found`);
    truth((await pixels(page, '.curve-host canvas')) !== before, 'what was not found is as bright as what was');
    await page.keyboard.press('Enter');
    await idle(page);
    includes(query(page, 'pin'), 'b:');
    includes(await text(page, '.search-said'), '1 of ');
    await page.locator('button.search-place', { hasText: 'Groups' }).click();
    await idle(page);
    includes(query(page, 'pin'), 'g:');
    equal(await page.locator('.panel-table tbody tr.is-pinned').count(), 1);
    await page.locator('button.search-place', { hasText: 'Code' }).click();
    await idle(page);
    equal(query(page, 'view'), 'code');
    truth(/^[0-9a-f]{16}$/.test(query(page, 'node')), page.url());
    includes(await text(page, '.search-said'), `${(all.Buffers + all.Groups + 1).toLocaleString('en')} of `);
    await page.locator('.page-search input').focus();
    await page.keyboard.press('Shift+Enter');
    await idle(page);
    includes(query(page, 'pin'), 'g:');
    await page.keyboard.press('Escape');
    await idle(page);
    equal(query(page, 'find'), null);
    await page.finish();
  });

  test('a search that no panel can read says why, and one that finds nothing says so', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&find=wrongfield:1`);
    equal(await page.locator('.search-input').getAttribute('aria-invalid'), 'true');
    truth((await text(page, '.search-said')).length > 10);
    await page.fill('.search-input', 'nothing-is-called-this');
    await idle(page);
    equal(await text(page, '.search-said'), 'none found');
    equal(await page.locator('.search-input').getAttribute('aria-invalid'), null);
    await page.finish();
  });

  test('the palette searches the page for what was typed', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('attention');
    await page.locator('.palette-option', { hasText: 'search all panels of this page' }).click();
    await idle(page);
    equal(query(page, 'find'), 'attention');
    includes(await text(page, '.search-said'), ' found');
    await page.finish();
  });

  test('a search of the Memory Profile steps from what is live to events, and the time follows', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_profile`);
    await page.keyboard.press('F');
    await page.keyboard.type('>1MiB');
    await idle(page);
    const all = await counts(page);
    equal(Object.keys(all), ['Live', 'Events', 'Growth']);
    truth(all.Live > 0 && all.Events > 0, JSON.stringify(all));
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await page.locator('.panel-live tr.is-pinned').count(), 1);
    await page.locator('button.search-place', { hasText: 'Events' }).click();
    await idle(page);
    equal(query(page, 'view'), 'events');
    truth(/^e:\d+$/.test(query(page, 'pin')), page.url());
    const first = query(page, 'pin');
    await page.locator('.search-input').blur();
    await page.keyboard.press('n');
    await idle(page);
    truth(query(page, 'pin') !== first && query(page, 'time') != null, page.url());
    equal(query(page, 'view'), 'events');
    await page.keyboard.press('N');
    await idle(page);
    equal(query(page, 'pin'), first);
    await page.finish();
  });

  test('a search of Device Memory counts frames, rows and buffers, and pins each in its view', async () => {
    const device = makeDevice({});
    const canned = answerer(makeWorld({ session: device.session, intercept: device.intercept }));
    const page = await open(`${await daemon('--demo')}?tool=device_memory&session=cccccccccccc&find=load`, { canned });
    const all = await counts(page);
    equal(Object.keys(all), ['Flame', 'Top', 'Buffers']);
    truth(all.Flame > 0, JSON.stringify(all));
    await page.keyboard.press('n');
    await idle(page);
    includes(query(page, 'pin'), 'f:');
    includes(await text(page, '.search-said'), '1 of ');
    await page.locator('button.search-place', { hasText: 'Top' }).click();
    await idle(page);
    equal(query(page, 'view'), 'top');
    includes(query(page, 'pin'), 'f:');
    await page.finish();
  });
}
