/* SPDX-License-Identifier: Apache-2.0
 * export.mjs: the page that memviewd export writes, opened as a file with the network off. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchBrowser, violations } from '../harness.mjs';

/* Opens the file as a reader does that is on no network; `body(page)`. A request for anything but the file, an error
 * and a violation of its policy fail the case. */
async function withPage(path, options, body) {
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, ...options });
    const faults = [];
    context.on(
      'request',
      (request) =>
        request.url() !== pathToFileURL(path).href &&
        !request.url().startsWith('data:') &&
        faults.push(`asks for ${request.url()}`),
    );
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(pathToFileURL(path).href);
    await page.waitForSelector('footer');
    await body(page);
    if (faults.length) throw new Error(faults.join('\n'));
  } finally {
    await browser.close();
  }
}

export function run({ test, equal, includes, truth, binary, fixtures }) {
  const withExport = async (words, body, options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-export-'));
    const path = join(folder, 'report.html');
    try {
      execFileSync(binary, ['export', ...words, '--out', path]);
      await withPage(path, options, (page) => body(page, path));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const demo = join(fixtures, 'demo/b-activations-unrolled');
  const cells = (page, label, at) =>
    page
      .locator(`[aria-label="${label}"] tbody tr`)
      .evaluateAll((rows, column) => rows.map((row) => row.cells[column].textContent), at);

  test('the file shows the module with the network off', () =>
    withExport([demo], async (page) => {
      const said = await page.locator('header').innerText();
      for (const words of [
        'Needs 33.49 GiB of HBM; 15.75 GiB are available: over by 17.74 GiB.',
        'Peak live 33.41 GiB at step 376 of 1,018.',
        'Saved activations: 27.80 GiB (83 % of the peak)',
        'jit_train_step',
      ])
        includes(said, words);
      equal(await page.title(), 'jit_train_step – memviewd');
      equal(await page.locator('.plot canvas').count(), 1);
      equal(await page.locator('.bars').count(), 2);
      const pixels = await page
        .locator('.plot canvas')
        .evaluate(
          (canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size,
        );
      truth(pixels > 20, 'the curve is empty');
      truth(
        (await page.locator('.plot canvas').boundingBox()).height >= 340,
        'the picture is as large as in the Memory Viewer',
      );
      includes(
        await page.locator('main').innerText(),
        'a stripe each buffer of the peak, dashed without padding, hatched above the capacity',
      );
      equal(await page.locator('[aria-label="Buffers at the peak"] tbody tr').count(), 379);
      includes(await page.locator('main').innerText(), 'Buffers at the peak: 379 of 379, 33.41 GiB of 33.41 GiB');
      includes(await page.locator('.patterns').innerText(), 'Attention scores hold 26.00 GiB at the peak');
    }));

  test('the first three pieces of advice stand in it with their figures', () =>
    withExport([demo], async (page) => {
      includes(await page.locator('main').innerText(), 'What will make it fit');
      const items = await page.locator('.advice li').allInnerTexts();
      equal(items.length, 3);
      includes(items[0], 'Checkpoint the 12 layers: saves 25.65 GiB, lands at 7.84 GiB and fits (model)');
      includes(items[0], 'layer = jax.checkpoint(layer)');
      includes(await page.locator('main').innerText(), 'more: memviewd explain PATH.');
    }));

  test('its tables are sorted and searched', () =>
    withExport([demo], async (page) => {
      const heads = page.locator('[aria-label="Buffers at the peak"] th');
      equal(await heads.nth(0).getAttribute('aria-sort'), 'descending');
      await heads.nth(1).getByRole('button').click();
      equal((await cells(page, 'Buffers at the peak', 1))[0], '2.00 GiB');
      await heads.nth(1).getByRole('button').click();
      truth(
        (await cells(page, 'Buffers at the peak', 1))[0] === '512 B',
        (await cells(page, 'Buffers at the peak', 1))[0],
      );
      await page.getByLabel('Find buffers').fill('layer_3 dot_general');
      const names = await cells(page, 'Buffers at the peak', 7);
      truth(
        names.length > 0 &&
          names.length < 379 &&
          names.every((name) => name.includes('layer_3') && name.includes('dot_general')),
        names.join('\n'),
      );
      includes(await page.locator('[role=status]').innerText(), `${names.length} buffer`);
    }));

  test('it can be read in the dark, on a phone and by a screen reader', () =>
    withExport(
      [demo],
      async (page) => {
        equal(await page.locator('html').getAttribute('data-theme'), 'dark');
        truth(
          await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
          'it is wider than the window',
        );
        equal(await violations(page), []);
      },
      { colorScheme: 'dark', viewport: { width: 390, height: 800 } },
    ));

  test('several modules are chosen from, and no name ends the page', () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-dumps-'));
    writeFileSync(
      join(folder, 'x<!--<script><b>.hlo.pb'),
      readFileSync(
        join(fixtures, 'dumps/seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb'),
      ),
    );
    writeFileSync(
      join(folder, 'y.hlo.pb'),
      readFileSync(join(fixtures, 'dumps/d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb')),
    );
    return withExport([folder], async (page) => {
      const chooser = page.getByLabel('Module', { exact: true });
      equal(await chooser.locator('option').count(), 2);
      const first = await page.locator('h1').innerText();
      await chooser.selectOption('1');
      const second = await page.locator('h1').innerText();
      equal(
        [first, second].sort(),
        ['Needs 300.00 GiB of HBM; capacity not known.', 'Needs 520.25 GiB of HBM; capacity not known.'].sort(),
      );
      equal(await page.locator('main b').count(), 0);
    }).finally(() => rmSync(folder, { recursive: true }));
  });
}
