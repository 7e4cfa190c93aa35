/* SPDX-License-Identifier: Apache-2.0
 * fleet.mjs: what many jobs took: the step, the host and the end that were planted, filters, permalinks, empty states.
 * */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inUrl } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

const HTTP = join(dirname(fileURLToPath(import.meta.url)), '../../http');
const MAKE = 'import sys; sys.path.insert(0, sys.argv[1]); import fleet_story; fleet_story.make(sys.argv[2])';

export function run({ test, equal, includes, truth, daemon, open, fixtures }) {
  let made = null;
  /* Three weeks of four jobs: tests/http/fleet_story.py. */
  function story() {
    if (!made) {
      made = mkdtempSync(join(tmpdir(), 'memviewd-fleet-'));
      execFileSync('python3', ['-B', '-c', MAKE, HTTP, made]);
    }
    return made;
  }
  const at = async (query = '') => `${await daemon(`--logdir=${story()}`)}?tool=fleet${query}`;
  const cells = (page, names) =>
    page
      .locator('.panel-fleet-table tbody[role=rowgroup] tr:not(.is-waiting)')
      .evaluateAll(
        (lines, classes) =>
          lines.map((line) => classes.map((name) => line.querySelector(`.c-${name}`)?.innerText.trim() ?? null)),
        names,
      );

  test('a line a job with its capacity, and the regression in the first line', async () => {
    const page = await open(await at(), { width: 1440, height: 900 });
    equal(
      await text(page, 'h1'),
      '1 job is over capacity: over (20.00 GiB of 15.75 GiB). 1 regression in 4 jobs: bert: jit_train_step needs ' +
        '3.00 GiB more since c12. 1 grows towards the capacity: grows (in about 10 days).',
    );
    equal(await page.locator('.panel-fleet .legend li').allInnerTexts(), ['over', 'grows', 'bert', 't5']);
    includes(
      await page.locator('.time-lines-base').getAttribute('aria-label'),
      '4 lines, 1 steps. Largest: over, 20.00 gibibytes.',
    );
    equal(await cells(page, ['job', 'share', 'fails']), [
      ['over', '127 %, over', 'over now'],
      ['grows', '84 %', '10 days'],
      ['bert', '76 %', '–'],
      ['t5', '32 %', '–'],
    ]);
    equal(await page.locator('.panel-fleet-table').getAttribute('role'), 'tabpanel');
    equal((await page.locator('[role=tab] .tab-count').allInnerTexts()).map(Number), [1, 1, 2], 'steps, hosts, ends');
    truth((await page.locator('.rail a[aria-current], #rail a[aria-current]').count()) > 0, 'the rail shows the page');
    await page.finish();
  });

  test('a regression has the sentence of diff, and leads to the comparison', async () => {
    const page = await open(await at('&view=regressions'));
    const [[change, job, commit, diff]] = await cells(page, ['change', 'job', 'commit', 'diff']);
    equal([change, job, commit], ['+3.00 GiB ▲', 'bert', 'c12']);
    includes(diff, 'B needs 3.00 GiB more, 12.00 GiB instead of 9.00 GiB');
    await page.locator('.c-diff a').click();
    await page.waitForURL(/tool=compare/);
    await idle(page);
    includes(await text(page, 'h1'), 'B needs 3.00 GiB more');
    await page.finish();
  });

  test('tabs by key: the host that differs, and what fails next', async () => {
    const page = await open(await at());
    await page.keyboard.press('4');
    await idle(page);
    equal(await cells(page, ['host', 'differs', 'commit']), [['host2', '+1.00 GiB ▲', 'c20']]);
    equal(await inUrl(page, 'view'), 'hosts');
    includes(await text(page, '.panel-fleet h2'), 'Jobs over time');
    await page.getByRole('button', { name: 't5', exact: true }).first().click();
    await idle(page);
    includes(await text(page, '.panel-fleet h2'), 'Hosts over time');
    equal(await page.locator('.panel-fleet .legend li').allInnerTexts(), ['host0', 'host1', 'host2', 'host3']);
    includes(
      await page.locator('.panel-fleet-categories .stacked-base').getAttribute('aria-label'),
      'by host: 4 columns',
    );
    await page.keyboard.press('1');
    await idle(page);
    includes(await text(page, '.panel-fleet h2'), 'Modules over time');
    await page.keyboard.press('0');
    await idle(page);
    await page.keyboard.press('5');
    await idle(page);
    const rows = await cells(page, ['job', 'fails', 'next']);
    equal(
      rows.map(([job, fails]) => [job, fails]),
      [
        ['over', 'over now'],
        ['grows', '10 days'],
      ],
    );
    includes(rows[1][2], 'Grows 256.00 MiB a day: reaches 15.75 GiB in about 10 days');
    await page.finish();
  });

  test('a click on a job shows it alone: its modules, whose memory it is; Back shows all', async () => {
    const page = await open(await at());
    includes(await text(page, '.panel-fleet-categories h2'), 'by job');
    await page.getByRole('button', { name: 'bert', exact: true }).first().click();
    await idle(page);
    equal(await inUrl(page, 'filter'), 'job:bert');
    includes(await text(page, '.panel-fleet h2'), 'Modules over time');
    truth(await page.locator('.panel-fleet-categories').isVisible(), 'whose memory');
    await page.goBack();
    await idle(page);
    equal((await cells(page, ['job'])).length, 4);
    await page.finish();
  });

  test('a link shows the same again: filter, tab, order, what is drawn', async () => {
    const page = await open(await at('&filter=user:bob&view=commits&sort=-needed&metric=share'));
    equal(await page.locator('.panel-fleet select').inputValue(), 'share');
    const rows = await cells(page, ['job', 'commit']);
    equal(new Set(rows.map(([job]) => job)), new Set(['over', 'grows']));
    equal(rows[0][0], 'over');
    await page.finish();
  });

  test('a filter that is none is explained, and the last good result stays', async () => {
    const page = await open(await at());
    await page.locator('.filter-input').fill('since:yesterday ');
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await text(page, '.fleet-filter'), 'is no day');
    equal((await cells(page, ['job'])).length, 4);
    await page.finish();
  });

  test('points are reached by keyboard, say what they are, and lead to their program', async () => {
    const page = await open(await at('&filter=job:grows'));
    await page.locator('.time-lines ul[role=listbox]').focus();
    await page.keyboard.press('End');
    await idle(page);
    includes(await text(page, '.tooltip'), 'grows: jit_train_step at c21');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tool=memory_viewer/);
    await idle(page);
    includes(await text(page, 'h1'), '13.25 GiB');
    await page.finish();
  });

  test('without labels, without anything and with a filter that leaves nothing it is said what to do', async () => {
    const unlabelled = await open(`${await daemon(`--logdir=${join(fixtures, 'dumps')}`)}?tool=fleet`);
    includes(await text(unlabelled, '.whole-page'), 'memviewd.json');
    await unlabelled.finish();
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-none-'));
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a/memviewd.json'), '{"job": "x"}');
    const none = await open(`${await daemon(`--logdir=${folder}`)}?tool=fleet`);
    includes(await text(none, '.whole-page'), '--catalog=postgresql://');
    await none.finish();
    const page = await open(await at('&filter=job:nobody'));
    includes(await text(page, '.whole-page'), 'Nothing matches.');
    await page.getByRole('button', { name: 'Show all' }).click();
    await idle(page);
    equal((await cells(page, ['job'])).length, 4);
    await page.finish();
  });

  test('nothing hangs over at 390 px, and tables are cards', async () => {
    for (const view of ['', '&view=regressions', '&view=hosts', '&view=next', '&view=commits']) {
      const page = await open(await at(view), { width: 390, height: 844 });
      const [whole, seen] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      truth(whole <= seen, `${view}: ${whole} px in ${seen}`);
      const lines = await page
        .locator('.panel-fleet-table tbody[role=rowgroup] tr:not(.is-waiting)')
        .first()
        .locator('td.card-line')
        .count();
      truth(lines <= 2, `${view}: ${lines} lines on a card`);
      await page.finish();
    }
  });
}
