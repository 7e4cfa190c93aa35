/* SPDX-License-Identifier: Apache-2.0
 * pictures.mjs: what leaves the page: pictures and tables of the panels, with their caption. */

import { readFileSync } from 'node:fs';
import { idle } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open }) {
  const menu = (page, panel) => page.locator(`${panel} .menu-dots`);
  /* Opens ⋯ of a panel by keys and runs the entry that begins so; what it saves. */
  async function saved(page, panel, word) {
    await menu(page, panel).focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${panel} .menu-item`);
    const waits = page.waitForEvent('download');
    await page.locator(`${panel} .menu-item`, { hasText: word }).click();
    const file = await waits;
    await idle(page);
    return { name: file.suggestedFilename(), data: readFileSync(await file.path()) };
  }

  test('⋯ is a menu: arrows, letters, Esc back to the button', async () => {
    const page = await open(await daemon('--demo'));
    await menu(page, '.panel-curve').focus();
    await page.keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement.innerText);
    includes(await focused(), 'Picture (PNG)');
    await page.keyboard.press('ArrowDown');
    includes(await focused(), 'Picture (SVG)');
    await page.keyboard.press('t');
    includes(await focused(), 'Table (CSV)');
    await page.keyboard.press('End');
    includes(await focused(), 'Explain');
    await page.keyboard.press('Escape');
    equal(await page.evaluate(() => document.activeElement.className), 'icon-button menu-dots');
    equal(await page.locator('.menu-popup:visible').count(), 0);
    await page.finish();
  });

  test('the curve as SVG: axes, peak, capacity and the caption', async () => {
    const page = await open(`${await daemon('--demo')}?capacity=15.75GiB`);
    const { name, data } = await saved(page, '.panel-curve', 'SVG');
    const svg = data.toString();
    equal(name, 'memviewd-jit_train_step-curve.svg');
    for (const word of [
      'Memory over program order',
      'b-activations-unrolled · jit_train_step · HBM · module_0282',
      'peak 33.41 GiB, step 376',
      'capacity 15.75 GiB',
      'unpadded',
      'above capacity',
      'capacity=15.75GiB',
    ])
      includes(svg, word);
    const isWell = await page.evaluate(
      (text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') == null,
      svg,
    );
    truth(isWell, 'not well-formed');
    truth(!/\b(?:href|src)=/.test(svg) && !svg.includes('<script'), 'the picture points elsewhere');
    await page.finish();
  });

  test('the map as SVG and CSV: the bands, the peak and every rectangle', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&stack=offsets`);
    const { name, data } = await saved(page, '.panel-map', 'SVG');
    truth(/map.*\.svg$/.test(name), name);
    includes(data, 'Allocation map');
    includes(data, '>peak<');
    includes(data, 'saved activations');
    const lines = (await saved(page, '.panel-map', 'CSV')).data.toString().trim().split('\r\n');
    equal(lines[0], 'id,name,buffers,bytes,padding_bytes,category,from_step,to_step,low_bytes,high_bytes,source');
    const counted = lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[2]), 0);
    truth(counted >= 509, `${counted} buffers in the table`);
    await page.finish();
  });

  test('the strips as PNG, twice as fine as the screen, and not blank', async () => {
    const page = await open(await daemon('--demo'));
    const { name, data } = await saved(page, '.panel-strips', 'PNG');
    equal(name, 'memviewd-jit_train_step-strips.png');
    equal(data.subarray(1, 4).toString(), 'PNG');
    equal(data.readUInt32BE(16), 2 * (1000 + 32));
    const colours = await page.evaluate(
      async (bytes) => {
        const bitmap = await createImageBitmap(new Blob([Uint8Array.from(bytes)], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext('2d');
        context.drawImage(bitmap, 0, 0);
        const pixels = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
        const seen = new Map();
        for (let at = 0; at < pixels.length; at += 4) {
          const key = `${pixels[at]},${pixels[at + 1]},${pixels[at + 2]}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
        return Object.fromEntries(seen);
      },
      [...data],
    );
    /* #C0731A saved activations, #435405 workspace, #0B55B1 parameters */
    truth(colours['192,115,26'] > 50000, 'no saved activations');
    truth(colours['67,84,5'] > 5000, 'no workspace');
    truth(colours['11,85,177'] > 1000, 'no parameters');
    await page.finish();
  });

  test('the curve as CSV holds the peak in exact bytes', async () => {
    const page = await open(await daemon('--demo'));
    const { name, data } = await saved(page, '.panel-curve', 'CSV');
    equal(name, 'memviewd-jit_train_step-curve.csv');
    const [head, ...lines] = data.toString().trim().split('\r\n');
    equal(
      head,
      'step,live_bytes,live_unpadded_bytes,parameter_bytes,optimizer_state_bytes,batch_bytes,constant_bytes,' +
        'saved_activation_bytes,gradient_bytes,output_bytes,workspace_bytes',
    );
    for (const line of lines) {
      const [, live, , ...parts] = line.split(',').map(Number);
      equal(
        parts.reduce((sum, part) => sum + part, 0),
        live,
        line,
      );
    }
    const peak = lines.map((line) => line.split(',').map(Number)).reduce((a, b) => (b[1] > a[1] ? b : a));
    equal(peak[0], 376);
    equal((peak[1] / 1024 ** 3).toFixed(2), '33.41');
    await page.finish();
  });

  test('Markdown goes to the clipboard, with title and facts', async () => {
    const page = await open(await daemon('--demo'));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await menu(page, '.panel-strips').click();
    await page.locator('.panel-strips .menu-item', { hasText: 'Markdown' }).click();
    await page.waitForFunction(() => document.querySelector('.toast')?.innerText === 'Copied');
    const text = await page.evaluate(() => navigator.clipboard.readText());
    includes(text, '**Live at the peak**');
    includes(text, 'jit\\_train\\_step · HBM');
    includes(text, '| 2147483648 |');
    await page.finish();
  });

  test('the switch leaves file and filter out of captions and links', async () => {
    const page = await open(`${await daemon('--demo')}?filter=line:models.py:11`);
    await menu(page, '.panel-curve').click();
    await page.locator('.panel-curve .menu-item', { hasText: 'Leave out source paths' }).click();
    const svg = (await saved(page, '.panel-curve', 'SVG')).data.toString();
    truth(!svg.includes('models.py') && !svg.includes('module_0282'), 'a path is still there');
    includes(svg, 'b-activations-unrolled · jit_train_step');
    await menu(page, '.panel-curve').click();
    equal(await page.locator('.panel-curve .menu-item', { hasText: 'Leave out' }).getAttribute('aria-checked'), 'true');
    await page.finish();
  });
}
