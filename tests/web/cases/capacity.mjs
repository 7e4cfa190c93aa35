/* SPDX-License-Identifier: Apache-2.0
 * capacity.mjs: what is needed against what there is: sentence, title, curve, choice, Home.
 * 33.49 GiB is the demo's total, 15.75 what its error.txt prints, 31.25 what v6e's texts print. */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, pixels, text } from '../harness.mjs';
import { answerer, makeWorld } from '../canned.mjs';

const CURVE = '.curve-host canvas';

/* Pixels of a curve that is not stacked that are clearly red; some categories nearly are. */
function redPixels(page) {
  return page
    .locator(CURVE)
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] > 0 && data[at] > data[at + 1] + 60 && data[at] > data[at + 2] + 60) count++;
      return count;
    });
}

/* Boxes of what is written on a canvas, the latest of each. */
const WRITTEN = () => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  window.written = {};
  CanvasRenderingContext2D.prototype.fillText = function (...given) {
    const [text, x, y] = given;
    const {
      actualBoundingBoxLeft: left,
      actualBoundingBoxRight: right,
      actualBoundingBoxAscent: up,
      actualBoundingBoxDescent: down,
    } = this.measureText(text);
    window.written[text.split(' ')[0]] = { left: x - left, right: x + right, top: y - up, bottom: y + down };
    return write.apply(this, given);
  };
};

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const button = (page) => page.locator('.capacity .selector-button');

  test('a capacity far above stands clear of the peak, on a phone too', async () => {
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ]) {
      const page = await open(`${await daemon('--demo')}?tool=memory_viewer&capacity=v5p`, {
        width,
        height,
        init: WRITTEN,
      });
      const { capacity, peak } = await page.evaluate(() => window.written);
      const gap = Math.max(
        peak.left - capacity.right,
        capacity.left - peak.right,
        peak.top - capacity.bottom,
        capacity.top - peak.bottom,
      );
      truth(gap >= 4, `at ${width}: ${gap} px between the labels`);
      await page.finish();
    }
  });

  test('as recorded: over by 17.74 GiB, in words, title and red', async () => {
    const page = await open(await daemon('--demo'));
    includes(await text(page, '.over'), 'over by 17.74 GiB');
    equal(await page.title(), 'over · 33.49 GiB · jit_train_step · HBM – memviewd');
    includes(await text(page, '.capacity'), '15.75 GiB: error.txt, printed to ± 5 MiB.');
    includes(await text(page, '.panel-curve'), 'above capacity');
    truth((await redPixels(page)) > 50, 'nothing is red');
    await page.finish();
  });

  test('v6e is over by 2.24 GiB, 100GiB leaves 66.51 GiB and nothing red', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?capacity=v6e&stack=none`);
    includes(await text(page, 'h1'), '31.25 GiB are available: over by 2.24 GiB');
    includes(await text(page, '.capacity'), '31.25 GiB: as chosen.');
    includes(await page.locator('.capacity-source [title]').last().getAttribute('title'), 'Source: error text');
    const v6e = await pixels(page, CURVE);
    truth((await redPixels(page)) > 5, 'nothing is red');
    await page.goto(`${base}?capacity=100GiB&stack=none`);
    await idle(page);
    includes(await text(page, 'h1'), 'It fits: 33.49 GiB of 100.00 GiB of HBM, 66.51 GiB free.');
    equal(await page.title(), '33.49 GiB · jit_train_step · HBM – memviewd');
    equal(await redPixels(page), 0);
    const far = await pixels(page, CURVE);
    await page.goto(`${base}?capacity=40GiB&stack=none`);
    await idle(page);
    equal(await redPixels(page), 0);
    equal(new Set([v6e, far, await pixels(page, CURVE)]).size, 3, 'pictures of three capacities');
    await page.goto(`${base}?capacity=H100-80G`);
    await idle(page);
    includes(
      await text(page, 'h1'),
      'It fits: 33.49 GiB of the 59.74 GiB of HBM that JAX takes by default (75 % of 79.65 GiB)',
    );
    await page.finish();
  });

  test('a failure in VMEM is said before the plan of HBM, with cards and a way to its reason', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps/f5-vmem-matmul-blocks'))}?tool=memory_viewer`);
    const first = 'jit_f5 does not compile: 96.00 MiB of VMEM needed, 16.00 MiB are available: over by 80.00 MiB.';
    equal(await text(page, '.answer-failure'), first);
    includes(await text(page, 'h1'), 'The plan needs 384.00 MiB of HBM; capacity not known. Peak live 384.00 MiB.');
    equal(await page.title(), 'over by 80.00 MiB in VMEM · jit_f5 · HBM – memviewd');
    for (const figure of ['needed', 'limit', 'over']) {
      await page.locator(`[data-explain="failure:${figure}"]`).click();
      includes(await text(page, '.explain'), 'error.txt');
      await page.keyboard.press('Escape');
    }
    await page.locator('.head a', { hasText: 'See why' }).click();
    await page.waitForURL(/tool=oom/);
    includes(await text(page, 'h1'), '96.00 MiB');
    await page.goBack();
    await idle(page);
    await page.goto(`${page.url()}&space=1`);
    await idle(page);
    equal(await text(page, '.answer-failure'), first);
    includes(await text(page, 'h1'), 'The plan needs 0 B of VMEM: the failed request is not included.');
    await page.finish();
  });

  test('where the plan is not in the file, what failed is said all the same; its figures open cards', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-failed-'));
    try {
      const dump = join(fixtures, 'dumps/f5-vmem-matmul-blocks');
      const name = 'module_0003.jit_f5.cl_1014260217';
      copyFileSync(join(dump, 'error.txt'), join(folder, 'error.txt'));
      copyFileSync(
        join(dump, `${name}.before_optimizations.hlo.pb`),
        join(folder, `${name}.after_optimizations.hlo.pb`),
      );
      const page = await open(`${await daemon(folder)}?tool=memory_viewer`);
      includes(await text(page, 'h1'), 'over by 80.00 MiB. jit_f5: what it needs is not in this file.');
      await page.locator('[data-explain="failure:over"]').click();
      includes(await text(page, '.explain'), 'Over by 80.00 MiB');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a session without a program after one with: title and cards are not of the one before', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`);
    await page.locator('.breadcrumb .selector-button').first().click();
    await page.locator('.selector-option', { hasText: 'training' }).click();
    await page.waitForURL(/session=/);
    await idle(page);
    equal(await page.title(), 'nothing to show · training · Memory Viewer – memviewd');
    await page.finish();
  });

  test('a device is chosen by keys; URL and reload keep it, Back takes it away', async () => {
    const page = await open(await daemon('--demo'));
    const recorded = await pixels(page, CURVE);
    await button(page).focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.selector-option');
    await page.keyboard.type('v5p');
    await page.waitForFunction(() => document.querySelectorAll('.selector-option').length === 1);
    includes(await text(page, '.selector-option'), '95.74 GiB, fits');
    await page.keyboard.press('Enter');
    await page.waitForURL(/capacity=v5p/);
    await idle(page);
    includes(await text(page, 'h1'), 'It fits: 33.49 GiB of 95.74 GiB of HBM');
    includes(await button(page).innerText(), 'v5p');
    truth(
      await page.evaluate(() => document.activeElement.matches('.capacity .selector-button')),
      'the focus is not where it was',
    );
    truth((await pixels(page, CURVE)) !== recorded, 'the curve did not change');
    await page.reload();
    await idle(page);
    includes(await text(page, 'h1'), '95.74 GiB');
    await page.goBack();
    await page.waitForURL((url) => !url.search.includes('capacity'));
    await idle(page);
    includes(await text(page, 'h1'), 'over by 17.74 GiB');
    await page.goForward();
    await idle(page);
    await button(page).click();
    await page.locator('.selector-option', { hasText: 'as recorded' }).click();
    await page.waitForURL((url) => !url.search.includes('capacity'));
    await idle(page);
    includes(await text(page, 'h1'), 'over by 17.74 GiB');
    await page.finish();
  });

  test('a device that is not known is named in a banner, the rest works', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?capacity=v99%3Cb%3E`, { allow: /400/ });
    includes(await text(page, '.banner'), 'Capacity v99<b> is no device known here');
    includes(await text(page, 'h1'), 'over by 17.74 GiB');
    await page.goto(`${base}?capacity=v6e&space=1`);
    await idle(page);
    includes(await text(page, 'h1'), 'of VMEM; capacity not known.');
    equal(await button(page).isVisible(), false);
    await page.finish();
  });

  test('without any capacity the page offers the choice', async () => {
    const page = await open(await daemon('--demo'), { canned: answerer(makeWorld()) });
    includes(await text(page, 'h1'), 'of HBM; capacity not known.');
    includes(await button(page).innerText(), 'Choose a device');
    equal(await redPixels(page), 0);
    await page.finish();
  });

  test('Home tells the largest module and whether it fits', async () => {
    const page = await open(`${await daemon(`--logdir=${join(fixtures, 'dumps')}`)}?tool=home`);
    const row = page.locator('.home-grid tbody tr', { hasText: 'seed-matmul-327680' });
    equal(await row.locator('.h-largest').innerText(), '300.00');
    equal(await row.locator('.h-verdict').innerText(), 'over');
    await page.finish();
  });
}
