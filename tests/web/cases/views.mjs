/* SPDX-License-Identifier: Apache-2.0
 * views.mjs: what readers write: the page as it is gets a name, by which it is opened again, and notes on the timeline.
 * */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle } from '../harness.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export function run({ test, equal, includes, truth, daemon, open, root }) {
  const openDialog = async (page) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('>save this view');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.views input');
  };
  const inUrl = (page) => new URL(page.url()).search;

  test('a view that is saved by name is opened from the palette and the dialog, and let go', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&filter=%3E64MiB`);
    const saved = inUrl(page);
    await openDialog(page);
    await page.locator('.views input').fill('the large ones');
    await page.keyboard.press('Enter');
    await idle(page);
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await idle(page);
    truth(inUrl(page) !== saved, 'somewhere else');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('>open view large');
    await page.keyboard.press('Enter');
    await idle(page);
    equal(inUrl(page), saved);
    await page.goBack();
    await idle(page);
    await openDialog(page);
    await page.evaluate(readFileSync(AXE, 'utf8'));
    equal(
      await page.evaluate(async () =>
        (await globalThis.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
      ),
      [],
    );
    await page.locator('.view-name', { hasText: 'the large ones' }).click();
    await idle(page);
    equal(inUrl(page), saved);
    await openDialog(page);
    await page.locator('.view-row .icon-button').click();
    includes(await page.locator('.views').innerText(), 'No view is saved yet.');
    await page.reload();
    await openDialog(page);
    equal(await page.locator('.view-row').count(), 0);
    await page.finish();
  });

  test('what is stored by others in the place of views is passed over', async () => {
    const init = () =>
      localStorage.setItem(
        'memviewd.views',
        '[{"name":1},{"name":"x","query":"javascript:alert(1)"},{"name":"<b>","query":"?tool=home"},7',
      );
    const page = await open(`${await daemon('--demo')}?tool=home`, { init });
    await openDialog(page);
    equal(await page.locator('.view-row').count(), 0, 'not even JSON');
    await page.finish();
    const whole = () =>
      localStorage.setItem(
        'memviewd.views',
        '[{"name":1},null,{"name":"x","query":"javascript:alert(1)"},{"name":"<b>","query":"?tool=home"}]',
      );
    const other = await open(`${await daemon('--demo')}?tool=home`, { init: whole });
    await openDialog(other);
    equal(await other.locator('.view-name').allInnerTexts(), ['<b>']);
    await other.finish();
  });

  test('a note stands at its time on the timeline and in the link; an empty one removes it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notes-'));
    execFileSync(join(root, 'scripts/make-trace'), [
      join(folder, 'host0.xplane.pb'),
      '--events',
      '400',
      '--steps',
      '2',
    ]);
    const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile`);
    const write = async (words) => {
      await page.keyboard.press('t');
      await page.waitForSelector('.views input');
      await page.locator('.views input').fill(words);
      await page.keyboard.press('Enter');
      await idle(page);
    };
    await write('here <b>it</b> grows');
    equal(await page.locator('.panel-time .curve-note-word').allInnerTexts(), ['here <b>it</b> grows']);
    await page.evaluate(readFileSync(AXE, 'utf8'));
    equal(
      await page.evaluate(async () =>
        (await globalThis.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
      ),
      [],
    );
    await page.keyboard.press('Home');
    await idle(page);
    await write('the begin');
    equal(new URL(page.url()).searchParams.getAll('note').length, 2);
    await page.reload();
    await idle(page);
    includes(await page.locator('.notes-line').innerText(), 'the begin');
    await page.locator('.notes-line .link-button').last().click();
    await idle(page);
    truth(!new URL(page.url()).searchParams.has('time'), 'the first note stands at the peak');
    await write('');
    equal(await page.locator('.panel-time .curve-note-word').allInnerTexts(), ['the begin']);
    await page.locator('.notes-line .icon-button').click();
    await idle(page);
    equal(
      [
        await page.locator('.curve-note').count(),
        await page.locator('.notes-line').isVisible(),
        new URL(page.url()).searchParams.has('note'),
      ],
      [0, false, false],
    );
    await page.finish();
    rmSync(folder, { recursive: true });
  });
}
