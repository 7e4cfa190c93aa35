/* SPDX-License-Identifier: Apache-2.0
 * walk.mjs: the walk of "Debug OOM errors with XProf" on the dump of its program: open it, the Memory
 * Viewer, HBM, three charts at the peak, and hover for the details of a buffer. Figures: 327,680 ×
 * 327,680 values of 2 bytes are 200 GiB, of 1 byte 100 GiB. */

import { join } from 'node:path';
import { idle, pixels, pointOn, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  test('the seed: from Home to the largest buffer, by mouse', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps/seed-matmul-327680'))}?tool=home`);
    await page.locator('.home-grid tbody a').first().click();
    await page.waitForSelector('.panel-strips');
    await idle(page);
    includes(await text(page, '#rail [aria-current="page"]'), 'Viewer');
    includes(await text(page, '.breadcrumb'), 'HBM');
    includes(await text(page, 'h1'), 'Needs 300.00 GiB of HBM');
    includes(await text(page, '.panel-strips h2'), 'Live at the peak');
    equal(
      (await page.locator('.strip h3').allInnerTexts()).map((title) => title.split(' ').slice(0, 2).join(' ')),
      ['by program', 'by size', 'by padding'],
    );
    await page.keyboard.press('q'); // the pane as a column
    const before = await pixels(page, '.strip-over', 1);
    for (const [share, name, size] of [
      [0.3, 'fusion.31', '200.00 GiB · 67 % of the peak'],
      [0.9, 'xor_convert_fusion', '100.00 GiB · 33 % of the peak'],
    ]) {
      await page.mouse.move(...(await pointOn(page, 1, share)));
      await idle(page);
      truth((await pixels(page, '.strip-over', 1)) !== before, 'no outline on the strip');
      const lines = await page.locator('.tooltip-line').allInnerTexts();
      equal(lines[0], name);
      includes(lines[1], size);
      equal(await text(page, '.details-name .name'), name);
      const pane = await text(page, '.details');
      includes(pane, `size ${size}`);
      includes(pane, 'shape');
    }
    await page.finish();
  });

  test('the seed: the same by keyboard', async () => {
    const page = await open(await daemon(join(fixtures, 'dumps/seed-matmul-327680')));
    await page.locator('.strip-plot [role="listbox"]').nth(1).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await text(page, '.details-name .name'), 'fusion.31');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await text(page, '.details-name .name'), 'xor_convert_fusion');
    await page.finish();
  });
}
