/* SPDX-License-Identifier: Apache-2.0
 * device_gestures.mjs: what is done with frames on the Device Memory page: both flame graphs of a function, the menu of
 * a frame, the picture in small, and steps through what was found. */

import { copyFileSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { idle, pixels, text } from '../harness.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const ROW_PX = 20;

const place = (base, query = '') => `${base}?tool=device_memory&session=cccccccccccc${query}`;

/* Canned answers about one profile; see canned_device.mjs. */
function answers() {
  const device = makeDevice({});
  return answerer(makeWorld({ session: device.session, intercept: device.intercept }));
}

/* Centre of the frame that `share` of the width and this row name. */
async function frameAt(page, share, row) {
  const box = await page.locator('.icicle-picture').boundingBox();
  return [box.x + box.width * share, box.y + (row + 0.5) * ROW_PX];
}

export function run({ test, equal, includes, truth, daemon, open, shared, fixtures }) {
  test('callers and callees are two flame graphs below the lists; a click on a caller centres it', async () => {
    const page = await open(place(await daemon('--demo'), '&view=callers&pin=f:f00000000001'), { canned: answers() });
    equal(await page.locator('.callers-flames .flame-part h3').allInnerTexts(), [
      'Callers, the nearest below',
      'Callees',
    ]);
    const tree = page.locator('.callers-flames [role="tree"]').first();
    await tree.focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await idle(page);
    equal(new URL(page.url()).searchParams.get('pin'), 'f:f00000000000');
    const [above, below] = await page
      .locator('.callers-flames .flame-part')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect()));
    truth(above.bottom <= below.top + 1, 'the callees hang below the callers');
    await page.finish();
  });

  test(
    'a large flame graph is there in small, too: a drag over a part of it shows that part',
    async () => {
      const url = await daemon(join(shared, 'data/memprof/memory-large.prof'));
      const page = await open(`${url}?tool=device_memory`);
      const map = page.locator('.flame-minimap');
      equal(await map.getAttribute('class'), 'brush flame-minimap');
      const whole = await pixels(page, '.icicle-base');
      const box = await map.boundingBox();
      await page.mouse.move(box.x + 0.2 * box.width, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.4 * box.width, box.y + box.height / 2, { steps: 3 });
      await page.mouse.up();
      await idle(page);
      includes(await map.getAttribute('class'), 'is-part');
      truth((await pixels(page, '.icicle-base')) !== whole, 'another part is drawn');
      await page.keyboard.press('0');
      await idle(page);
      equal(
        [(await map.getAttribute('class')).includes('is-part'), await pixels(page, '.icicle-base')],
        [false, whole],
        '0 shows all again',
      );
      await page.finish();
    },
    { shared: true },
  );

  test(
    'the second button on a frame gives what can be done with it, by the keyboard too, and Escape gives the focus ' +
      'back',
    async () => {
      const page = await open(place(await daemon('--demo')), { canned: answers() });
      const menu = page.locator('.menu-floating [role="menu"]');
      await page.mouse.click(...(await frameAt(page, 0.2, 1)), { button: 'right' });
      await idle(page);
      const words = await menu.locator('[role="menuitem"] .menu-word').allInnerTexts();
      equal(words.length, 8);
      await page.evaluate(readFileSync(AXE, 'utf8'));
      equal(
        await page.evaluate(async () =>
          (await globalThis.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
        ),
        [],
      );
      await page.keyboard.press('Escape');
      equal(await menu.isVisible(), false);
      const tree = page.locator('[role="tree"]').first();
      await tree.focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Shift+F10');
      await idle(page);
      truth(await menu.isVisible(), 'the key for it opens it, too');
      await page.keyboard.press('Escape');
      equal(await tree.evaluate((node) => node === document.activeElement), true, 'the focus is where it was');
      await page.mouse.click(...(await frameAt(page, 0.2, 1)), { button: 'right' });
      await menu.locator('[role="menuitem"]', { hasText: 'Keep stacks through it' }).click();
      await idle(page);
      truth(new URL(page.url()).searchParams.get('focus')?.startsWith('^'), page.url());
      await page.finish();
    },
  );

  test('a box of the call graph has the same menu', async () => {
    const page = await open(place(await daemon('--demo'), '&view=graph'), { canned: answers() });
    await page.locator('.graph-box').first().click({ button: 'right' });
    await page.locator('.menu-floating [role="menuitem"]', { hasText: 'Leave out stacks through it' }).click();
    await idle(page);
    truth(new URL(page.url()).searchParams.has('ignore'), page.url());
    await page.finish();
  });

  test('what is found is stepped through, and which of how many it is is said', async () => {
    const page = await open(place(await daemon('--demo'), '&find=.'), { canned: answers() });
    await page.focus('.search-input');
    const said = () => text(page, '.search-said');
    truth(!/ of \d/.test(await said()), await said());
    for (const which of ['1 of ', '2 of ']) {
      await page.keyboard.press('Enter');
      await idle(page);
      includes(await said(), which);
    }
    await page.finish();
  });

  test('a picture goes to the clipboard', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.panel-flame .menu-dots').click();
    await page.locator('[role="menuitem"]', { hasText: 'Picture to the clipboard' }).click();
    await page.locator('.toast', { hasText: 'Picture copied' }).waitFor();
    equal(await page.evaluate(async () => (await navigator.clipboard.read())[0].types), ['image/png']);
    await page.finish();
  });

  test('a series in the order of time is drawn to its scale, where the times are apart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'series-'));
    try {
      for (const [at, seconds] of [0, 60, 600].entries()) {
        const file = join(folder, `memory${at + 1}.prof`);
        copyFileSync(join(fixtures, 'memprof', `memory${at + 1}.prof`), file);
        utimesSync(file, 1.7e9 + seconds, 1.7e9 + seconds);
      }
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=device_memory&view=series`);
      const even = await pixels(page, '.stacked canvas');
      truth(!(await text(page, '.panel-series h2')).includes('as wide as'), 'by name each is as wide as the others');
      await page.locator('[aria-label="Order of the profiles"]').selectOption('time');
      await idle(page);
      includes(await text(page, '.panel-series h2'), 'each is as wide as the time to the next');
      truth((await pixels(page, '.stacked canvas')) !== even, 'it is drawn so');
      const box = await page.locator('.stacked').boundingBox();
      await page.mouse.move(box.x + 64 + 0.5 * (box.width - 64), box.y + box.height / 2);
      await idle(page);
      includes(await text(page, '.tooltip'), 'memory2');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
