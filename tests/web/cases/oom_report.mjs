/* SPDX-License-Identifier: Apache-2.0
 * oom_report.mjs: the parts of a report, its buffers, and the text that they come from. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, text } from '../harness.mjs';
import { GPU, LOAD, USED, pasteInto } from '../oom_texts.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const report = readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-adamlin.txt'), 'utf8');
  const paste = pasteInto({ daemon, open });
  const lit = (page, selector) => page.locator(`${selector}.is-lit`).allTextContents();

  test('the parts of a report add up to what was asked', async () => {
    const page = await paste(report);
    includes(await text(page, 'h1'), 'the program needs 17.75 GiB; 15.75 GiB of HBM are available. Over by 2.00 GiB.');
    const where = await text(page, '.panel-oom-where');
    for (const part of [
      'arguments 15.75 GiB',
      'temporaries and code 2.00 GiB',
      'fragmentation 31.0 KiB',
      'in all 17.75 GiB',
      'over by 2.00 GiB',
    ])
      includes(where, part);
    includes(await text(page, '.panel-oom-table'), '11 buffers listed in the text');
    await page.finish();
  });

  test('figures and text light each other, and a click goes both ways', async () => {
    const page = await paste(report);
    await page.locator('.panel-oom-made > summary').click();
    const figure = page.locator('.oom-facts .figure-link', { hasText: '15.75 GiB' });
    await figure.hover();
    equal(await lit(page, '.oom-text mark'), ['15.75G']);
    await page.locator('.oom-text mark', { hasText: '258.00M' }).hover();
    equal(await lit(page, '.figure-link'), ['258.00 MiB']);
    await page.mouse.move(0, 0);
    equal((await lit(page, '.figure-link')).length, 0);
    await figure.click();
    equal(await page.evaluate(() => document.activeElement.textContent), '15.75G');
    await page.keyboard.press('Enter');
    equal(await page.evaluate(() => document.activeElement.textContent), '15.75 GiB');
    await page.finish();
  });

  test('a row of the table lights and finds its buffer in the text', async () => {
    const page = await paste(report);
    const row = page.locator('.panel-oom-table tbody tr', { hasText: '2.00' }).first();
    await row.hover();
    truth((await lit(page, '.oom-text mark')).includes('jit(f)/loss/jvp()/dot_general'), 'the op name is not lit');
    await row.click();
    includes(
      await page.evaluate(() => document.activeElement.closest('.oom-text') && document.activeElement.textContent),
      '2.00G',
    );
    await page.finish();
  });

  test('equal buffers are one row that opens; they are grouped as the reader wants', async () => {
    const page = await paste(report);
    const groups = page.locator('.panel-oom-table tbody tr.is-group');
    equal(
      await groups.locator('.figure:has-text("×")').allInnerTexts(),
      ['3 × 4.50 GiB', '3 × 4.50 GiB'],
      'arguments, and the outputs that lie in them',
    );
    await groups.first().focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    equal(await page.locator('.panel-oom-table tbody tr[aria-level="2"]').count(), 3);
    await page.locator('.panel-oom-table .group-choice').selectOption('none');
    await idle(page);
    includes(page.url(), 'group=none');
    equal(await page.locator('.panel-oom-table tbody tr[aria-rowindex]').count(), 11);
    await page.locator('.panel-oom-table .group-choice').selectOption('shape');
    await idle(page);
    equal((await groups.locator('.figure:has-text("×")').allInnerTexts()).slice(0, 2), [
      '3 × 4.50 GiB',
      '3 × 4.50 GiB',
    ]);
    await page.finish();
  });

  test('a mark of the text opens the group of its buffer', async () => {
    const page = await paste(report);
    const mark = page.locator('.oom-text mark', { hasText: '4.50G' }).last();
    await mark.click();
    await idle(page);
    truth((await page.locator('.panel-oom-table tbody tr[aria-level="2"]').count()) > 0, 'its group is closed');
    await page.finish();
  });

  test('several reports: equal ones are counted, each has a link', async () => {
    const page = await paste(USED + LOAD + LOAD + LOAD + GPU);
    includes(await text(page, '.oom-reports-title'), '5 reports, 3 equal');
    equal(await page.locator('.oom-reports li').count(), 3);
    includes(await text(page, 'h1'), '49.34 GiB; 32.00 GiB of HBM');
    await page.locator('.oom-reports a').nth(1).click();
    await idle(page);
    includes(page.url(), 'report=2');
    includes(await text(page, 'h1'), 'jit_embedding_pipeline_step_fn');
    await page.keyboard.press('n');
    await idle(page);
    includes(page.url(), 'report=3');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), 'jit_embedding_pipeline_step_fn');
    await page.finish();
  });

  test('a report that is not there gives a banner and the first', async () => {
    const page = await paste(USED);
    await page.goto(`${page.url()}&report=9`);
    await idle(page);
    includes(await text(page, '#banners'), 'Report 9 is not in this text; showing the first.');
    includes(await text(page, 'h1'), '49.34 GiB');
    await page.finish();
  });
}
