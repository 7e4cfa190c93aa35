/* SPDX-License-Identifier: Apache-2.0
 * oom_screen.mjs: what of the page of out-of-memory texts is seen at once: the answer, one picture, what will make it
 * fit; each sentence once; the rest folded. */

import { join } from 'node:path';
import { text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
  ])
    test(`the answer, one bar and what makes it fit are on the first screen of ${width} × ${height}`, async () => {
      const page = await open(`${await daemon('--demo')}?tool=oom`, { width, height });
      for (const part of [
        'h1',
        '.oom-finding',
        '.panel-oom-where .oom-bar',
        '.oom-largest tbody tr >> nth=0',
        '.advice >> nth=0',
      ]) {
        const box = await page.locator(part).boundingBox();
        truth(box.y >= 0 && box.y + box.height <= height, `${part} ends at ${box.y + box.height} px`);
      }
      equal(await page.locator('.oom-bar').filter({ visible: true }).count(), 1, 'bars');
      equal(await page.evaluate(() => document.querySelector('.page-oom').scrollTop), 0);
      const columns = await page
        .locator('.oom-column')
        .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON()));
      equal(columns.length, 2);
      truth(columns[0].top === columns[1].top && columns[1].right > width - 48, 'a column stands empty');
      await page.finish();
    });

  test('the largest buffers are cells of the one bar: a cell lights its row and leads where that leads', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    const cells = page.locator('.oom-bar .swatch-activation .oom-cell');
    const widths = await cells.evaluateAll((nodes) =>
      nodes.map((node) => Math.round(node.getBoundingClientRect().width)),
    );
    truth(
      widths.length > 12 && Math.max(...widths.slice(0, 12)) - Math.min(...widths.slice(0, 12)) <= 1,
      `12 equal cells come first: ${widths}`,
    );
    const part = await page
      .locator('.oom-bar .swatch-activation')
      .evaluate((node) => node.getBoundingClientRect().width);
    truth(
      Math.abs(widths.slice(0, 12).reduce((sum, each) => sum + each, 0) / part - 24 / 27.8) < 0.02,
      `24 of 27.80 GiB: ${widths} of ${part}`,
    );
    await cells.nth(3).hover();
    equal(await page.locator('.oom-largest tbody tr.is-lit').count(), 1);
    includes(await text(page, '.oom-largest tbody tr.is-lit'), '24.00 GiB');
    const above = await page.locator('.panel-oom-where .oom-track').evaluate((track) => {
      const [over, tick, bar] = ['.oom-over', '.oom-tick', '.oom-bar'].map((name) =>
        track.querySelector(name).getBoundingClientRect(),
      );
      return [(tick.left - bar.left) / bar.width, over.width / bar.width];
    });
    truth(
      Math.abs(above[0] - 15.75 / 33.49) < 0.01 && Math.abs(above[1] - 17.74 / 33.49) < 0.01,
      `capacity and what is above it: ${above}`,
    );
    await cells.first().click();
    await page.waitForURL(/pin=g:/);
    await page.finish();
  });

  /* How often each sentence of the daemon stands on the page, what is folded as well. */
  const timesOf = (page, sentences) =>
    page.evaluate((all) => {
      const flat = (given) => given.replace(/\s+/g, ' ');
      const body = flat(document.querySelector('.oom').textContent);
      return all.map((sentence) => [sentence, body.split(flat(sentence)).length - 1]);
    }, sentences);
  const SESSIONS = {
    '--demo': ['b-activations-unrolled'],
    dumps: ['d-tile-padding', 'h-long-context', 'seed-matmul-327680'],
    oom: ['0.10.0-libtpu0.0.40-v5e-adamlin.txt', '0.10.0-libtpu0.0.40-v5e-scoped.txt'],
  };
  for (const [from, names] of Object.entries(SESSIONS))
    test(`no sentence of the verdict stands twice on the page: ${from}`, async () => {
      const base = await daemon(from === '--demo' ? from : `--logdir=${join(fixtures, from)}`);
      const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
      for (const { id, name } of sessions.filter((session) => names.some((each) => session.name.startsWith(each)))) {
        const core = await (await fetch(`${base}api/v1/verdict?session=${id}`)).json();
        const page = await open(`${base}?tool=oom&session=${id}`);
        const said = [
          core.cause.text,
          core.advice_sentence,
          core.ledger.sentence,
          ...core.peak.patterns.map(({ sentence }) => sentence),
          ...core.advice.map(({ evidence }) => evidence.sentence),
          ...core.notes.map((note) => note.text),
        ];
        const sentences = [...new Set(said.filter(Boolean))];
        truth(sentences.length > 1, `${name}: ${sentences.length} sentences`);
        const times = await timesOf(page, sentences);
        equal(
          times.filter(([, count]) => count > 1),
          [],
          name,
        );
        if (core.cause.kind !== 'unknown') equal((await timesOf(page, [core.cause.text]))[0][1], 1, name);
        await page.finish();
      }
    });

  test('on paper nothing is folded, and what is not there leaves no empty box', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    equal(await page.locator('.oom-facts').isVisible(), false);
    await page.emulateMedia({ media: 'print' });
    includes(await text(page, '.oom-facts'), '17.74 GiB');
    includes(await text(page, '.oom-patterns'), 'Attention scores hold');
    const heads = await page
      .locator('.oom h2')
      .filter({ visible: true })
      .evaluateAll((nodes) => nodes.map((node) => node.firstChild.textContent));
    equal(heads, ['Where did it all go?', 'What will make it fit?', 'Text as given', 'How these figures are computed']);
    const lines = await page.locator('.oom-text').evaluate((node) => [node.clientHeight, node.scrollHeight]);
    truth(lines[0] >= lines[1], `the text is cut: ${lines}`);
    await page.finish();
  });

  test('beside a plan the text is folded to two lines; a click, a key and a mark open it', async () => {
    for (const open_ of [
      (page) => page.getByRole('button', { name: 'Unfold the text' }).click(),
      (page) => page.locator('.oom-text').click({ position: { x: 4, y: 4 } }),
      async (page) => {
        await page.locator('.oom-text').focus();
        await page.keyboard.press('Enter');
      },
      (page) => page.locator('.answer .figure-link', { hasText: '33.49 GiB' }).click(),
    ]) {
      const page = await open(`${await daemon('--demo')}?tool=oom`);
      const height = () =>
        page.locator('.oom-text').evaluate((node) => node.clientHeight / parseFloat(getComputedStyle(node).lineHeight));
      truth((await height()) < 2.6, `folded: ${await height()} lines`);
      truth((await page.locator('.oom-text mark').allTextContents()).includes('33.49G'));
      equal(await page.getByRole('button', { name: 'Unfold the text' }).getAttribute('aria-expanded'), 'false');
      await open_(page);
      truth((await height()) > 2.9, `open: ${await height()} lines`);
      await page.getByRole('button', { name: 'Fold the text', exact: true }).click();
      truth((await height()) < 2.6);
      await page.finish();
    }
  });
}
