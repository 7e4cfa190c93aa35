/* SPDX-License-Identifier: Apache-2.0
 * map.mjs: the allocation map, merged bars that open, and legend words. Figures of the demo:
 * its module has 509 temporaries in HBM, the largest of 4,000 MiB (16 × 16 × 2048 × 4000 values). */

import { drag } from '../acts.mjs';
import { idle, pixels, pointOn, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const openMap = async () => open(`${await daemon('--demo')}?tool=memory_viewer&stack=offsets`);
  const query = (page) => new URL(page.url()).searchParams;
  const settled = idle;
  const base = (page) => pixels(page, '.map-base');
  const over = (page) => pixels(page, '.map-over');
  /* A place of the plot: shares of its width and height, axes and bands left out. */
  const at = async (page, x, y) => {
    await page.locator('.map-plot').scrollIntoViewIfNeeded();
    const box = await page.locator('.map-plot').boundingBox();
    return [box.x + 72 + (box.width - 84) * x, box.y + 34 + (box.height - 56) * y];
  };
  /* Moves over the plot until something is named. */
  const findMark = async (page) => {
    for (let y = 0.55; y < 0.98; y += 0.02) {
      const place = await at(page, 0.4, y);
      await page.mouse.move(...place);
      if (await page.locator('.map-plot.is-on-mark').count()) return place;
    }
    throw new Error('nothing is drawn in the middle of the map');
  };

  test('every temporary has a rectangle, the rest are bands; label and list say so', async () => {
    const page = await openMap();
    includes(await text(page, '.panel-map h2'), '509 buffers');
    includes(await page.locator('.map-base').getAttribute('aria-label'), '509 buffers in 32.');
    const option = page.locator('.map-plot [role="option"]').first();
    equal(await option.getAttribute('aria-setsize'), String(509 + 29));
    await page.finish();
  });

  test('hover names a buffer and lights it in the other views; the base is not drawn again', async () => {
    const page = await openMap();
    const drawn = await base(page);
    const before = await over(page);
    const strip = await pixels(page, '.strip-over');
    await findMark(page);
    await settled(page);
    truth((await over(page)) !== before, 'no outline on the map');
    equal(await base(page), drawn, 'the base was drawn again for a hover');
    truth((await pixels(page, '.strip-over')) !== strip, 'no outline on the strips');
    equal((await page.locator('.tooltip-line').allInnerTexts())[0], await text(page, '.details-name .name'));
    await page.finish();
  });

  test('a click pins, on empty plot it sets the moment, a drag selects a window', async () => {
    const page = await openMap();
    await page.mouse.click(...(await findMark(page)));
    await page.waitForURL(/pin=b:/);
    await settled(page);
    includes(await text(page, '.details-title'), 'Pinned buffer');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await settled(page);
    equal(query(page).get('pin'), null);
    await page.mouse.click(...(await at(page, 0.02, 0.2)));
    await page.waitForURL(/step=/);
    truth(Number(query(page).get('step')) < 40, page.url());
    await drag(page, await at(page, 0.1, 0.1), await at(page, 0.2, 0.12));
    await page.waitForURL(/sel=/);
    await settled(page);
    const [first, last] = query(page).get('sel').split('-').map(Number);
    truth(first > 80 && first < 120 && last > 180 && last < 225, query(page).get('sel'));
    await page.finish();
  });

  test('wheel, keys and double click zoom down to single buffers and back', async () => {
    const page = await openMap();
    const place = await findMark(page);
    const whole = await base(page);
    await page.mouse.dblclick(...place);
    await settled(page);
    truth(query(page).get('from') != null && query(page).get('low') != null, page.url());
    truth((await base(page)) !== whole, 'the picture is the same');
    const link = page.url();
    const near = await base(page);
    await page.mouse.move(2, 2);
    await page.reload();
    await idle(page);
    equal(page.url(), link);
    equal(await base(page), near, 'the picture is another after a reload');
    await page.mouse.move(...(await at(page, 0.5, 0.5)));
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await settled(page);
    truth((await base(page)) !== near, 'the wheel did not zoom');
    await page.keyboard.press('0');
    await settled(page);
    equal([query(page).get('from'), query(page).get('low')], [null, null]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await settled(page);
    equal(query(page).get('pin'), null);
    equal(await base(page), whole, '0 does not show all again');
    await page.finish();
  });

  test('c goes round the colours; the choice stands in the URL', async () => {
    const page = await openMap();
    const seen = new Set([await base(page)]);
    for (const color of ['size', 'padding', 'age', 'source', null]) {
      await page.keyboard.press('c');
      await settled(page);
      equal(query(page).get('color'), color);
      seen.add(await base(page));
      if (color === 'source') includes(await text(page, '.panel-map .legend'), 'models.py:11');
      if (color === 'size') includes(await text(page, '.panel-map .legend'), '≥ 256.00 MiB');
    }
    equal(seen.size, 5, 'two colours give the same picture');
    await page.finish();
  });

  test('find marks buffers; n and N go from one to the next', async () => {
    const page = await openMap();
    const before = await base(page);
    await page.keyboard.press('F');
    await page.keyboard.type('fusion.1485');
    await settled(page);
    await settled(page);
    equal(query(page).get('find'), 'fusion.1485');
    truth((await base(page)) !== before, 'nothing is marked');
    includes(await text(page, '.search-said'), 'found');
    await page.locator('.search-input').blur();
    await page.keyboard.press('n');
    await page.waitForURL(/pin=b:/);
    const first = query(page).get('pin');
    await settled(page);
    includes(await text(page, '.details-name'), 'fusion.1485');
    await page.keyboard.press('n');
    await settled(page);
    truth(query(page).get('pin') !== first, 'n stayed');
    await page.keyboard.press('N');
    await settled(page);
    equal(query(page).get('pin'), first);
    await page.finish();
  });

  test('legend words show one category, Ctrl adds another, again shows all', async () => {
    const page = await openMap();
    const word = (name) => page.locator('.panel-strips .legend-word', { hasText: name });
    await word('optimizer state').click();
    await page.waitForURL(/filter=cat:optimizer_state/);
    await settled(page);
    includes(await text(page, '.panel-strips .strip h3'), 'of 379 buffers, 826.10 MiB');
    includes(await text(page, '.panel-map h2'), '0 buffers');
    equal(await word('workspace').getAttribute('aria-pressed'), 'false');
    await word('workspace').click({ modifiers: ['Control'] });
    await page.waitForURL(/filter=cat:optimizer_state,workspace/);
    await settled(page);
    truth(!(await text(page, '.panel-map h2')).includes(' 0 buffers'), 'the map stays empty');
    await word('workspace').click({ modifiers: ['Control'] });
    await word('optimizer state').click();
    await settled(page);
    equal(query(page).get('filter'), null);
    await page.finish();
  });

  test('a merged bar opens into its buffers, by click and by Enter; Esc closes it', async () => {
    const page = await openMap();
    const before = await pixels(page, '.strip-base', 1);
    const [, y] = await pointOn(page, 1, 0.5);
    const box = await page.locator('.strip-plot').nth(1).boundingBox();
    await page.mouse.click(box.x + box.width - 1.5, y);
    await page.waitForURL(/bars=size:/);
    await settled(page);
    truth((await pixels(page, '.strip-base', 1)) !== before, 'the strip is the same');
    includes(await text(page, '.strip:nth-child(2) h3'), ' all');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await settled(page);
    equal(query(page).get('bars'), null);
    await page.locator('.strip-plot [role="listbox"]').nth(1).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/bars=size:/);
    await page.finish();
  });

  test('the list of the map is walked by arrows, Enter pins', async () => {
    const page = await openMap();
    const before = await over(page);
    await page.locator('.map-plot [role="listbox"]').focus();
    for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowRight');
    await settled(page);
    truth((await over(page)) !== before, 'no outline on the map');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=b:/);
    const row = page.locator('.panel-table tr.is-pinned');
    await row.waitFor();
    truth(
      await row.evaluate((node) => {
        const scroll = node.closest('.grid-scroll').getBoundingClientRect();
        const { top, bottom } = node.getBoundingClientRect();
        return top >= scroll.top && bottom <= scroll.bottom;
      }),
      'the row of the pinned buffer is out of view',
    );
    await page.finish();
  });
}
