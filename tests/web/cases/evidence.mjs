/* SPDX-License-Identifier: Apache-2.0
 * evidence.mjs: a figure of the verdict opens its evidence: rows whose sum is the figure, its place in the text, or a
 * card that says how it is worked out. */

import { join } from 'node:path';
import { idle, sessionLink, text } from '../harness.mjs';

const BLOCKS = '.oom-whys, .panel-oom-made, .panel-oom-where, .panel-oom-ledger, .panel-oom-advice';

export function run({ test, includes, equal, truth, daemon, open, shared, fixtures }) {
  const sessionOf = async (base, name) =>
    (await (await fetch(`${base}api/v1/sessions`)).json()).sessions.find((each) => each.name.includes(name)).id;

  test('no figure of the four blocks is plain text', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    const plain = await page
      .locator(BLOCKS)
      .evaluateAll((panels) =>
        panels.flatMap((panel) =>
          [...panel.querySelectorAll('.figure')]
            .filter((node) => !['A', 'BUTTON'].includes(node.tagName) && !node.closest('[aria-hidden], .oom-each'))
            .map((node) => node.textContent),
        ),
      );
    equal(plain, []);
    truth((await page.locator(BLOCKS).locator('a.figure').count()) > 40, 'few links');
    await page.finish();
  });

  test('what is worked out says how, on a card; keys reach it', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    await page.locator('.panel-oom-made > summary').click();
    const over = page.locator('.panel-oom-made button.over');
    equal(await over.innerText(), '17.74 GiB');
    await over.focus();
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await text(page, '.dialog.explain'), '33.49 GiB needed − 15.75 GiB of capacity = 17.74 GiB.');
    await page.keyboard.press('Escape');
    await idle(page);
    await page.locator('.panel-oom-made button.figure', { hasText: '15.75 GiB' }).click();
    equal(await page.locator('.oom-text mark.is-lit').allInnerTexts(), ['15.75G']);
    await page.finish();
  });

  test('a program that fits by far is told so in one line', async () => {
    const base = await daemon(join(fixtures, 'modules/mlp-adam'));
    const page = await open(`${base}?tool=oom&session=${await sessionOf(base, 'mlp')}&capacity=v5e`, { allow: /404/ });
    includes(await text(page, '.advice-says'), 'It fits with 15.74 GiB to spare; nothing is needed.');
    equal(await page.locator('.advice').filter({ visible: true }).count(), 0);
    await page.locator('.panel-oom-advice summary').click();
    truth((await page.locator('.advice').filter({ visible: true }).count()) > 0);
    await page.locator('.panel-oom-made > summary').click();
    await page.locator('.oom-facts button.figure', { hasText: '15.75 GiB' }).click();
    await idle(page);
    includes(await text(page, '.dialog.explain'), 'as chosen: TPU v5e has 16.00 GiB');
    await page.finish();
  });

  test('advice that rests on nothing but the first sentence does not say it again', async () => {
    const base = await daemon(`--logdir=${join(fixtures, 'oom')}`);
    const page = await open(`${base}?tool=oom&session=${await sessionOf(base, 'torch-2020')}`);
    truth((await page.locator('.advice').count()) > 2);
    equal(await page.locator('.advice-evidence').count(), 0);
    await page.finish();
  });

  test(
    'live arrays that filled a GPU: title, bar and first advice are of the line that keeps them, and lead to its ' +
      'rows',
    async () => {
      const base = await daemon(`--logdir=${join(fixtures, 'gpu/jax-runtime')}`);
      const page = await open(`${base}?tool=oom&session=${await sessionOf(base, 'output.log')}`);
      equal(
        await text(page, '.answer-first'),
        'GPU OOM: jit_train_step asks for 256.00 MiB while live arrays hold 63.13 GiB, 54.00 GiB of it from ' +
          'jax_oom.py:47.',
      );
      includes(
        await text(page, '.oom-finding'),
        'Free what jax_oom.py:47 makes and keeps: saves ≤ 54.00 GiB, may fit (bound).',
      );
      equal((await page.locator('.panel-oom-where .oom-legend').first().locator('li').allInnerTexts()).slice(0, 2), [
        'live arrays from jax_oom.py:47 54.00 GiB 85 % of all',
        'live arrays from <lambda> jax_oom.py:21 6.00 GiB 9.5 % of all',
      ]);
      await page.locator('.panel-oom-made > summary').click();
      includes(await text(page, '.panel-oom-made'), 'may be among the live arrays although they got no memory');
      const link = page.locator('.panel-oom-where a.figure', { hasText: '54.00 GiB' }).first();
      includes(await link.getAttribute('title'), '57,982,058');
      await page.goto(new URL(await link.getAttribute('href'), base).href);
      await idle(page);
      const rows = await page.locator('.panel-table tbody tr').allInnerTexts();
      truth(rows.length > 0 && rows.every((row) => row.includes('jax_oom.py:47')), rows.join('; '));
      await page.finish();
    },
  );

  /* What the foot of the table says, or of the rows that are left: "13 buffers, 26.00 GiB". */
  test(
    'from figure to rows on a real dump: the foot of the table has the same sum',
    async () => {
      const base = await daemon(`--logdir=${join(shared, 'data/dumps')}`);
      const page = await open(`${base}?tool=oom&session=${await sessionOf(base, 'e-no-donation')}`);
      const links = await page
        .locator(BLOCKS)
        .locator('a.figure[href*="filter="]')
        .evaluateAll((nodes) => nodes.map((node) => [node.href, node.title]));
      const once = [...new Map(links)];
      truth(once.length > 10, `${once.length} links`);
      for (const [href, title] of once.slice(0, 8)) {
        const [, number, sum] = /Shows ([\d,]+) buffers?, ([\d.]+ \w+)/.exec(title) ?? [];
        truth(number !== undefined, `${href} ${title}`);
        await page.goto(href);
        await idle(page);
        const foot = await text(page, '.panel-table tfoot');
        includes(foot, `${number} of `, href);
        const [, shown] = /buffers, ([\d.,]+ (?:of|\w+))/.exec(foot) ?? [];
        const [unit] = /[KMGT]?i?B$/.exec(foot) ?? [];
        const inBytes = (size, word) => Number(size) * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(word);
        const [value, own] = sum.split(' ');
        const wanted = inBytes(value, own);
        const found = inBytes(parseFloat(shown), /of/.test(shown) ? unit : shown.split(' ')[1]);
        truth(Math.abs(found - wanted) <= inBytes(0.006, unit), `${href}: ${foot} for ${sum}`);
      }
      await page.finish();
    },
    { shared: true },
  );

  test('a group that a link pins is called by its name', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    await page.locator('.oom-largest tbody a.figure').first().click();
    await page.waitForURL(/pin=g:/);
    await idle(page);
    includes(await text(page, '#details'), 'layer_{i}/attention');
    truth(!(await text(page, '#details')).includes('0e2829080a69536e'));
    await page.finish();
  });

  test('the modules have no sideways scroll at 1280 and 1024 px', async () => {
    const base = await daemon('--demo');
    for (const width of [1280, 1024]) {
      const page = await open(`${base}?tool=modules&capacity=v5e`, { width, height: 800 });
      equal(
        await page
          .locator('.panel-modules .grid-scroll')
          .first()
          .evaluate((node) => node.scrollWidth - node.clientWidth),
        0,
        `${width}`,
      );
      includes(await text(page, '.panel-modules'), '213 % over');
      await page.finish();
    }
  });

  test(
    'a predicted curve that is zoomed has the points of the window',
    async () => {
      const base = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
      const page = await open(base);
      await page.goto(`${base}${await sessionLink(page, base, 'large-transformer')}&whatif=batch=0.5&from=300&to=420`);
      await idle(page);
      const asked = await page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .map(({ name }) => name)
          .filter((name) => /memory_viewer\/whatif\?/.test(name) && /from=300&to=420/.test(name)),
      );
      truth(asked.length > 0, 'only the whole curve was asked for');
      await page.finish();
    },
    { shared: true },
  );
}
