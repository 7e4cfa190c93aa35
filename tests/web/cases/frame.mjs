/* SPDX-License-Identifier: Apache-2.0
 * frame.mjs: what is there on every page: palette, keys, `?`, settings, menus, the details pane. */

import { drag, fileOf, holdBack } from '../acts.mjs';
import { idle, pointOn, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const theme = (page) => page.evaluate(() => document.documentElement.getAttribute('data-theme'));
  const press = async (page, ...keys) => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await idle(page);
    }
  };
  const words = (page) => page.locator('.palette-word').allInnerTexts();

  test('the palette opens by key and by click, finds, runs and gives focus back', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('#theme').focus();
    await press(page, 'Control+k');
    await page.waitForSelector('.palette-option');
    equal(await page.evaluate(() => document.activeElement.className), 'palette-input');
    await press(page, 'Escape');
    equal(await page.locator('.palette').count(), 0);
    equal(await page.evaluate(() => document.activeElement.id), 'theme', 'focus did not return');
    await page.click('#find');
    await page.waitForSelector('.palette-option');
    await page.keyboard.type('>thdark');
    await page.waitForFunction(() => document.querySelectorAll('.palette-option').length === 1);
    equal(await words(page), ['Theme: dark']);
    await press(page, 'Enter');
    equal(await theme(page), 'dark');
    equal(await page.locator('.palette').count(), 0);
    await page.finish();
  });

  test('what is typed before the palette stands there is in its field', async () => {
    const init = () => {
      globalThis.lifted = '';
      window.addEventListener('keyup', ({ key }) => (globalThis.lifted += `${key} `), true);
    };
    const page = await open(await daemon('--demo'), { init });
    const { release, asked } = await holdBack(page, fileOf('widgets/palette.js'));
    const acts = [page.keyboard.press('Control+k')];
    await asked;
    await page.waitForFunction(() => globalThis.lifted.endsWith('Control '));
    acts.push(page.keyboard.type('gh>q'));
    await page.waitForFunction(() => globalThis.lifted.endsWith('g h > q '));
    release();
    await Promise.all(acts);
    equal(await page.locator('.palette-input').inputValue(), 'gh>q');
    equal(await page.locator('.viewer').count(), 1, 'a letter did something else');
    await page.finish();
  });

  test('prefixes choose what is searched: modules, sessions, a step', async () => {
    const page = await open(await daemon('--demo'));
    await press(page, 'Control+k');
    await page.keyboard.type('@train');
    await page.waitForFunction(() => document.querySelector('.palette-word')?.innerText === 'jit_train_step');
    includes(await text(page, '.palette-after'), '33.49 GiB');
    await page.locator('.palette-input').fill('#activ');
    await page.waitForFunction(() => document.querySelector('.palette-word')?.innerText.startsWith('b-act'));
    equal(await words(page), ['b-activations-unrolled']);
    await page.locator('.palette-input').fill(':17');
    await page.waitForFunction(() => document.querySelector('.palette-word')?.innerText === 'Go to 17');
    await press(page, 'Enter');
    includes(page.url(), 'step=17');
    await page.finish();
  });

  test('? lists what is bound, and every letter in it is a command of the palette', async () => {
    const page = await open(await daemon('--demo'));
    await press(page, '?');
    await page.waitForSelector('.help-row');
    const lines = await page.locator('.help-row').allInnerTexts();
    truth(
      lines.some((line) => line.includes('copy link to this state')),
      lines.join(' | '),
    );
    includes(lines.join('|'), 'click a mark');
    const does = (await page.locator('.help-row:has(kbd) dd').allInnerTexts()).map((word) => word.toLowerCase());
    await press(page, 'Escape');
    await press(page, 'Control+k');
    await page.waitForSelector('.palette-option');
    const commands = (await words(page)).map((word) => word.toLowerCase());
    for (const word of does.filter((each) => each !== 'find or run'))
      truth(commands.includes(word), `${word} is not in the palette`);
    await page.finish();
  });

  test('letters can be switched off; what they do stays in the palette', async () => {
    const page = await open(await daemon('--demo'));
    await press(page, 'g', 'h');
    await page.waitForSelector('.home');
    await press(page, 'g', 'v');
    await page.waitForSelector('.viewer');
    await press(page, 'Control+k');
    await page.keyboard.type('>settings');
    await page.waitForFunction(() => document.querySelectorAll('.palette-option').length === 1);
    await press(page, 'Enter');
    await page.locator('.settings input[name="letters"][value="off"]').check();
    await press(page, 'Escape');
    await press(page, 'g', 'h');
    equal(await page.locator('.home').count(), 0, 'a letter still works');
    await page.reload();
    await idle(page);
    await press(page, '?');
    equal(await page.locator('.help').count(), 0, 'not kept after a reload');
    await press(page, 'Control+k');
    await page.keyboard.type('>home');
    await page.waitForSelector('.palette-option');
    await press(page, 'Enter');
    await page.waitForSelector('.home');
    await page.finish();
  });

  test('letters typed into a field do nothing else', async () => {
    const page = await open(await daemon('--demo'));
    await page.locator('.breadcrumb .selector-button').last().click();
    await page.waitForSelector('.selector-option');
    await page.keyboard.type('gh?q');
    await idle(page);
    equal(await page.locator('.selector-input').inputValue(), 'gh?q');
    equal(await page.locator('.home, .help').count(), 0);
    await page.finish();
  });

  test('y copies the link of this state', async () => {
    const page = await open(`${await daemon('--demo')}?capacity=v5p`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'y');
    await page.waitForFunction(() => document.querySelector('.toast')?.innerText === 'Copied');
    const link = await page.evaluate(() => navigator.clipboard.readText());
    truth(/[?&]session=[0-9a-f]{12}&.*capacity=v5p/.test(link), `the link ${link} does not name what is shown`);
    const title = await text(page, 'h1');
    await page.goto(link);
    await idle(page);
    equal(await text(page, 'h1'), title);
    await page.finish();
  });

  test('the details pane is widened by keys and by drag, shut by q, and stays so', async () => {
    const page = await open(await daemon('--demo'));
    const width = async () => Math.round((await page.locator('#details').boundingBox()).width);
    equal(await page.locator('#details').isVisible(), false);
    await press(page, 'q');
    equal(await width(), 320);
    await page.locator('.pane-handle').focus();
    await press(page, 'ArrowLeft', 'ArrowLeft');
    equal(await width(), 360);
    await press(page, 'End', 'ArrowLeft');
    equal(await width(), 560, 'wider than allowed');
    const box = await page.locator('.pane-handle').boundingBox();
    await drag(page, [box.x + 4, 300], [1440 - 200, 300]);
    equal(await width(), 240, 'narrower than allowed');
    await page.reload();
    await idle(page);
    equal(await width(), 240, 'the width was not kept');
    await press(page, 'q');
    equal(await page.locator('#details').isVisible(), false);
    await press(page, 'q');
    equal(await page.locator('#details').isVisible(), true);
    await page.finish();
  });

  test('at 1440 the picture has the width; the pane opens over it with a pin, as a column by its edge', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    const width = async () => Math.round((await page.locator('.panel-curve').boundingBox()).width);
    const whole = await width();
    equal(await page.locator('#details').isVisible(), false);
    await page.mouse.click(...(await pointOn(page, 1, 0.1)));
    await page.waitForURL(/pin=b:/);
    equal([await page.locator('#details').isVisible(), await width()], [true, whole]);
    await press(page, 'Escape', 'Escape');
    equal(await page.locator('#details').isVisible(), false);
    await page.locator('.pane-edge').click();
    equal([await page.locator('#details').isVisible(), await page.locator('.pane-edge').isVisible()], [true, false]);
    truth((await width()) < whole - 250, 'the column takes no width');
    await page.finish();
  });

  test('the pane is a drawer at 1280 and a sheet at 390: q opens, Esc closes', async () => {
    for (const [width, height] of [
      [1280, 720],
      [390, 844],
    ]) {
      const page = await open(await daemon('--demo'), { width, height });
      equal(await page.locator('#details').isVisible(), false);
      await press(page, 'q');
      equal(await page.locator('#details').isVisible(), true, `q opened nothing at ${width}`);
      includes(await text(page, '#details'), 'What this page shows');
      await press(page, 'Escape');
      equal(await page.locator('#details').isVisible(), false);
      await page.finish();
    }
  });

  test('on a phone one panel stands at a time, behind tabs that keys reach; Back undoes the choice', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { width: 390, height: 844 });
    const shown = () => page.locator('.tabbed:visible h2').allInnerTexts();
    includes((await shown()).join('|'), 'Memory over program order');
    equal((await shown()).length, 1);
    await page.locator('.phone-tab[aria-selected="true"]').focus();
    await press(page, 'ArrowRight');
    await page.waitForURL(/view=strips/);
    includes((await shown()).join('|'), 'Live at the peak');
    await page.locator('.phone-tab', { hasText: 'Table' }).click();
    await page.waitForURL(/view=table/);
    await idle(page);
    truth((await page.locator('.panel-table tbody tr').count()) > 5, 'no cards');
    const link = page.url();
    await page.reload();
    await idle(page);
    equal(page.url(), link);
    includes((await shown()).join('|'), 'uffers at the peak');
    await page.goBack();
    await idle(page);
    includes((await shown()).join('|'), 'Live at the peak');
    await page.setViewportSize({ width: 1440, height: 900 });
    await idle(page);
    equal((await shown()).length, 3, 'panels are missing where there is room');
    await page.finish();
  });

  test('printed: light, at full width, nothing to press, 50 rows and the rest in words', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { scheme: 'dark' });
    const screen = await page
      .locator('.curve canvas')
      .first()
      .evaluate((canvas) => canvas.toDataURL());
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 760, height: 1000 });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await idle(page);
    equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(245, 246, 248)');
    equal(
      await page
        .locator(
          '.bar:visible, .rail:visible, .details:visible, .menu-dots:visible, .see-why:visible, .capacity ' +
            'button:not(.explained):visible',
        )
        .count(),
      0,
    );
    const paper = await page
      .locator('.curve canvas')
      .first()
      .evaluate((canvas) => canvas.toDataURL());
    truth(paper !== screen, 'the curve is as dark as before');
    includes(await text(page, '.grid-more'), 'more buffers: use CSV');
    equal(
      await page
        .locator('.grid .grid-foot td')
        .first()
        .evaluate((node) => getComputedStyle(node).position),
      'static',
      'the foot stands among the rows',
    );
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    truth(wide <= 760, `${wide} px wide`);
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    equal(await theme(page), 'dark');
    await page.finish();
  });
}
