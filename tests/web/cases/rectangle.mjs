/* SPDX-License-Identifier: Apache-2.0
 * rectangle.mjs: a window of steps with offsets, dragged on the map or chosen by keys. Figures: offsets and sizes of
 * the dump's own buffer-assignment.txt: from 256 to 512 GiB lie 6 GiB of copy.2.remat_compressed and, one after the
 * other, 256 GiB each of iota.remat_uncompressed and sort.6{1}. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainIn } from '../acts.mjs';
import { idle, pixels, text } from '../harness.mjs';

const GIB = 1024 ** 3;
const HELD = ['iota.remat_uncompressed', 'sort.6{1}', 'copy.2.remat_compressed'];
const WINDOW = `sel=16-21&offsets=${256 * GIB}-${512 * GIB}`;

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const openDump = async (query = '', how = {}) =>
    open(
      `${await daemon(join(fixtures, 'dumps/d-tile-padding'))}?tool=memory_viewer&group=none&stack=offsets${query}`,
      how,
    );
  const inUrl = (page, name) => new URL(page.url()).searchParams.get(name);
  const names = (page) => page.locator('.panel-table tbody .c-name').allInnerTexts();
  const foot = (page) => text(page, '.panel-table .c-foot');
  const title = (page) => text(page, '.panel-table h2');
  const card = async (page, key) => {
    await explainIn(page, key);
    await page.waitForSelector('.dialog.explain[open]');
    await idle(page);
    const said = (await text(page, '.dialog.explain')).replace(/\s+/g, ' ');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.dialog.explain', { state: 'detached' });
    return said;
  };
  const line = (page) => text(page, '.window-line:not(.marks-line)');
  /* A place of the map: a step and an offset. */
  const at = async (page, step, offset) => {
    await page.locator('.map-plot').scrollIntoViewIfNeeded();
    const box = await page.locator('.map-plot').boundingBox();
    const [left, right, top, bottom] = [64, 12, 34, 22];
    const high = 556198264832;
    return [
      box.x + left + ((box.width - left - right) * step) / 32,
      box.y + box.height - bottom - ((box.height - top - bottom) * offset) / high,
    ];
  };
  const drag = async (page, from, to) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
    await page.mouse.move(...to);
    await page.mouse.up();
    await page.mouse.move(2, 2);
  };

  test('a rectangle of the URL: table, CSV, line, pane and strips hold what overlaps it', async () => {
    const page = await openDump(`&${WINDOW}&filter=>1GiB`);
    equal(await names(page), HELD);
    includes(await foot(page), '3 of ');
    includes(await title(page), 'of steps 16 to 21, offsets 256.00 to 512.00 GiB');
    includes(await line(page), 'Steps 16 to 21, offsets 256.00 to 512.00 GiB: ');
    includes(await line(page), ': peak 256.00 GiB at step 18; ');
    const pane = (await text(page, '.details')).replace(/\s+/g, ' ');
    for (const each of [
      'Selected rectangle',
      'first born 11, last dies 24',
      'What lives for the whole program, ',
      ...HELD,
    ])
      includes(pane, each);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      (async () => {
        await page.locator('.panel-table .menu-dots').click();
        await page.locator('.menu-item', { hasText: 'Table (CSV)' }).click();
      })(),
    ]);
    const rows = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
      .slice(1);
    equal(
      rows.map((row) => row.split(',')[1]),
      HELD.map((name) => `"${name}"`),
    );
    equal(
      rows.reduce((sum, row) => sum + Number(/",(\d+),/.exec(row)[1]), 0),
      518 * GIB,
    );
    const marked = await pixels(page, '.strip-over', 0);
    await page.keyboard.press('Escape');
    truth((await pixels(page, '.strip-over', 0)) !== marked, 'the strips mark nothing');
    equal([inUrl(page, 'sel'), inUrl(page, 'offsets')], [null, null]);
    includes(await title(page), 'at the peak');
    await page.finish();
  });

  test('what stands beside a rectangle is of it: rest, cards, list of a strip, pane of a group', async () => {
    const page = await openDump(`&${WINDOW}`);
    includes(await text(page, '.panel-table .grid-rest'), ' outside of the rectangle');
    truth(!(await text(page, '.panel-table .grid-rest')).includes('filter'), 'a filter is named where none is set');
    const table = await card(page, 'table');
    includes(table, 'Buffers of the selected rectangle');
    truth(!table.includes('live at the peak'), table);
    includes(await card(page, 'window'), 'together hold 518.00 GiB, but not all at one time.');
    const bars = (await page.locator('.strip-plot').first().locator('[role=option]').allTextContents()).filter((each) =>
      each.startsWith('iota.remat_uncompressed,'),
    );
    equal(
      bars.map((each) => each.endsWith(', in the rectangle.')),
      [true],
    );
    await page.keyboard.press('/');
    await page.keyboard.type('>1GiB');
    await page.locator('.panel-table .grid-rest', { hasText: ' outside of the rectangle or the filter' }).waitFor();
    await page.finish();

    /* Seven of the group live at the peak; one is in the rectangle, copy.2.remat_compressed. */
    const grouped = await openDump(`&${WINDOW}&group=dtype&pin=g:f32`);
    const pane = (await text(grouped, '.details-body')).replace(/\s+/g, ' ');
    includes(pane, 'The table row counts only those in the rectangle.');
    const own = /(\d+ buffers?), (\S+ GiB)/.exec(pane);
    includes(await card(grouped, 'pinned_group'), `${own[1]}, ${own[2]}`);
    equal(await grouped.locator('.details-body [data-explain^="group_row"]').count(), 0);
    const row = await card(grouped, 'group_row:g:f32');
    includes(row, '1 buffer, 6.00 GiB');
    includes(row, 'in the selected rectangle');
    await grouped.finish();
  });

  test('an empty rectangle says that it is', async () => {
    const page = await openDump(`&sel=0-3&offsets=${256 * GIB}-${512 * GIB}`);
    includes(await text(page, '.panel-table .panel-said'), 'Nothing lies in the rectangle.');
    truth(
      !(await text(page, '.details')).includes('The table lists them'),
      'the pane speaks of rows that are not there',
    );
    await page.keyboard.press('Escape');
    await page.locator('.panel-table .panel-said').waitFor({ state: 'hidden' });
    await page.finish();
  });

  test('a drag over the map selects steps and offsets, keys do the same; Enter zooms to it, Esc lets go', async () => {
    const page = await openDump();
    const empty = await pixels(page, '.map-over');
    await drag(page, await at(page, 16.3, 260 * GIB), await at(page, 21.7, 500 * GIB));
    const [sel, offsets] = [inUrl(page, 'sel'), inUrl(page, 'offsets')];
    equal(sel, '16-21');
    const [low, high] = offsets.split('-').map((each) => Number(each) / GIB);
    truth(low > 250 && low < 270 && high > 490 && high < 510, offsets);
    equal((await names(page)).slice(0, 3), HELD);
    const picture = await pixels(page, '.map-over');
    truth(picture !== empty, 'no rectangle on the map');
    const said = [await line(page), await title(page), await foot(page)];

    const other = await openDump('&step=16');
    await other.locator('.curve-slider').focus();
    for (const key of ['M', ...Array(5).fill('ArrowRight'), 'M', 'p', 'o']) await other.keyboard.press(key);
    await other.keyboard.type(offsets.replace('-', '..'));
    await other.keyboard.press('Enter');
    equal([inUrl(other, 'sel'), inUrl(other, 'offsets')], [sel, offsets]);
    equal([await line(other), await title(other), await foot(other)], said);
    await other.mouse.move(2, 2);
    equal(await pixels(other, '.map-over'), picture, 'another picture by keys');
    await other.finish();

    await page.locator('.curve-slider').focus();
    await page.keyboard.press('Enter');
    truth(Number(inUrl(page, 'from')) >= 14 && Number(inUrl(page, 'to')) <= 24, page.url());
    equal([inUrl(page, 'low'), inUrl(page, 'high')].join('-'), offsets);
    await page.keyboard.press('0');
    await page.keyboard.press('Escape');
    equal(inUrl(page, 'offsets'), null);
    equal(await pixels(page, '.map-over'), empty, 'something stays on the map');
    await page.finish();
  });

  test('a flat drag, one over the full height and one along the bands select steps alone', async () => {
    const page = await openDump();
    const [x, y] = await at(page, 5.5, 100 * GIB);
    const [toX, low] = await at(page, 9.5, 0);
    const box = await page.locator('.map-plot').boundingBox();
    for (const [from, to] of [
      [y, y + 4],
      [low + 10, box.y + 34],
      [box.y + 8, box.y + 20],
    ]) {
      await drag(page, [x, from], [toX, to]);
      equal([inUrl(page, 'sel'), inUrl(page, 'offsets')], ['5-9', null]);
      includes(await title(page), 'at the peak');
      await page.keyboard.press('Escape');
    }
    await page.finish();
  });

  test('offsets are typed: in units, exactly, none for all; what is no range is refused in its place', async () => {
    const page = await openDump('&sel=16-21');
    const field = page.locator('.window-line .small-field');
    const type = async (words) => {
      await page.keyboard.press('o');
      await page.keyboard.type(words);
      await page.keyboard.press('Enter');
    };
    await type('256 GiB to 512g');
    equal(inUrl(page, 'offsets'), `${256 * GIB}-${512 * GIB}`);
    await page.keyboard.press('o');
    equal(await field.inputValue(), '256GiB..512GiB');
    await page.keyboard.type('2GiB..1GiB');
    await page.keyboard.press('Enter');
    equal(await field.getAttribute('aria-invalid'), 'true');
    includes(await line(page), 'it takes two, the smaller first, as 1GiB..2GiB');
    await page.keyboard.type('x');
    equal(await field.getAttribute('aria-invalid'), null);
    equal(inUrl(page, 'offsets'), `${256 * GIB}-${512 * GIB}`, 'a broken range was taken');
    await page.keyboard.press('Escape');
    equal(await field.isVisible(), false);
    includes(await line(page), 'Steps 16 to 21, offsets 256.00 to 512.00 GiB: ');
    for (const [words, read] of [
      ['0-65537', '0-65537'],
      ['1.00 to 2.00 GiB', `${GIB}-${2 * GIB}`],
      ['1.5..2 GiB', `${1.5 * GIB}-${2 * GIB}`],
      ['1,024..65,536', '1024-65536'],
      ['1 GiB – 3 GiB', `${GIB}-${3 * GIB}`],
      ['0 to 2 GiB', `0-${2 * GIB}`],
      ['1025 B..2 GiB', `1025-${2 * GIB}`],
    ]) {
      await type(words);
      equal(inUrl(page, 'offsets'), read, words);
    }
    /* What the field prints it reads. */
    await type('');
    equal(inUrl(page, 'offsets'), `1025-${2 * GIB}`);
    await page.keyboard.press('o');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Enter');
    equal([inUrl(page, 'sel'), inUrl(page, 'offsets')], ['16-21', null]);
    await page.finish();
  });

  test('a broken filter is marked where it is wrong, although the rectangle stands before it', async () => {
    const page = await openDump(`&${WINDOW}`, { allow: /400/ });
    await page.keyboard.press('/');
    await page.keyboard.type('sort sze:1');
    const said = await text(page, '.filter-said');
    includes(said, 'Did you mean size?');
    equal(await page.locator('.filter-wrong').innerText(), 'sze:1');
    await page.finish();
  });

  test('M shows where a window begins until it ends; Esc gives it up', async () => {
    const page = await openDump('&step=10&stack=category');
    await page.keyboard.press('M');
    includes(await line(page), 'A window begins at step 10');
    equal(await page.locator('.window-line button', { hasText: 'Zoom' }).first().isVisible(), false);
    await page.evaluate(() => {
      const words = document.querySelector('.window-line:not(.marks-line) .window-words');
      words.firstChild.isFirst = true;
    });
    const short = await page.locator('.curve-window').boundingBox();
    await page.keyboard.press('Shift+ArrowRight');
    truth((await page.locator('.curve-window').boundingBox()).width > 5 * short.width, 'it does not follow the moment');
    truth(await page.evaluate(() => document.querySelector('.window-words').firstChild.isFirst), 'it is said anew');
    equal(inUrl(page, 'sel'), null);
    await page.keyboard.press('Escape');
    equal(
      [await page.locator('.curve-window').isVisible(), await page.locator('.window-line').first().isVisible()],
      [false, false],
    );
    await page.finish();
  });

  test('o without a window takes the steps in view once offsets are typed, after M up to the moment', async () => {
    const page = await openDump('&step=10&stack=category');
    const slider = () => page.evaluate(() => document.activeElement.className);
    await page.keyboard.press('o');
    includes(await line(page), 'Offsets of steps 0 to 31');
    equal(inUrl(page, 'sel'), null);
    await page.keyboard.press('Escape');
    equal(
      [inUrl(page, 'sel'), await page.locator('.window-line').first().isVisible(), await slider()],
      [null, false, 'curve-slider'],
    );
    await page.keyboard.press('M');
    await page.keyboard.press('ArrowRight');
    await page.locator('.window-line button', { hasText: 'Offsets' }).click();
    await page.keyboard.type('0..1GiB');
    await page.keyboard.press('Enter');
    equal([inUrl(page, 'sel'), inUrl(page, 'offsets')], ['10-11', `0-${GIB}`]);
    await page.locator('.window-line button[aria-label="Let the window go"]').focus();
    await page.keyboard.press('Enter');
    equal([inUrl(page, 'sel'), await slider()], [null, 'curve-slider']);
    await page.finish();
  });
}
