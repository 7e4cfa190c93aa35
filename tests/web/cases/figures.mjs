/* SPDX-License-Identifier: Apache-2.0
 * figures.mjs: the figures on the page are XProf's recorded ones, or those of the fixture. */

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { idle, pointOn, sessionLink, text } from '../harness.mjs';
import { bytes, count } from '../../../web/lib/format.js';

const MIB = 1024 ** 2;

/* How the page says a recorded peak: with its difference where it would print like the total. */
function peakText({ totalBufferAllocationMib: total, peakHeapMib: peak, peakHeapSizePosition: step }) {
  const isAlike = total !== peak && bytes(total * MIB) === bytes(peak * MIB);
  const apart = `, ${bytes(Math.abs(total - peak) * MIB)} ${total > peak ? 'less' : 'more'} than the total,`;
  return `Peak live ${bytes(peak * MIB)}${isAlike ? apart : ''} at step ${count(step)} of`;
}

export function run({ test, includes, equal, truth, daemon, open, fixtures, shared }) {
  const cells = (page, column) => page.locator(`.panel-table tbody .${column}`).allInnerTexts();

  test('the seed dump opens by itself: 300.00 GiB, fusion.31 200, xor_convert_fusion 100', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps/seed-matmul-327680'))}?group=none`);
    includes(await text(page, 'h1'), 'Needs 300.00 GiB of HBM');
    includes(await text(page, 'h1'), 'Peak live 300.00 GiB at step 0');
    equal((await cells(page, 'c-name')).slice(0, 2), ['fusion.31', 'xor_convert_fusion']);
    equal((await cells(page, 'c-size')).slice(0, 2), ['200.00', '100.00']);
    equal(await page.locator('.panel-table th.c-size').innerText(), 'Size, GiB');
    includes(await text(page, '.error-text summary'), 'exceeds available HBM (15.75G)');
    includes(await text(page, '.panel-strips'), 'by padding none');
    includes(await page.title(), '300.00 GiB · jit_f · HBM – memviewd');
    await page.finish();
  });

  test('the demo shows 33.49 GiB needed and 33.41 GiB at step 376', async () => {
    const page = await open(`${await daemon('--demo')}?group=none`);
    includes(
      await text(page, 'h1'),
      'Needs 33.49 GiB of HBM; 15.75 GiB are available: over by 17.74 GiB. Peak live 33.41 GiB at step 376 of 1,018.',
    );
    equal((await cells(page, 'c-size'))[0], '2.00');
    includes((await cells(page, 'c-line'))[0], '.py:');
    includes(await text(page, '.group'), '2.00 GiB bf16[16,16,2048,2048] are');
    await page.finish();
  });

  test('padding of d-tile-padding is what the compiler reported', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps/d-tile-padding'))}?group=none`);
    includes(await text(page, 'h1'), 'Needs 520.25 GiB of HBM');
    includes(await text(page, '.error-text summary'), '520.25G');
    equal((await cells(page, 'c-pad'))[0].includes('×'), true);
    await page.finish();
  });

  test('parts of the total add up on the page, to the byte', async () => {
    const page = await open(await daemon('--demo'));
    const exact = (selector) =>
      page.locator(selector).evaluateAll((nodes) => nodes.map((node) => Number(node.title.replace(/[^0-9-]/g, ''))));
    const parts = await exact('.made-of.sum .figure');
    const [total] = await exact('h1 .answer-figure');
    equal(
      parts.reduce((sum, part) => sum + part, 0),
      total,
    );
    await page.finish();
  });

  test('kept rows and the rest make the sum of the footer', async () => {
    const page = await open(`${await daemon('--demo')}?filter=%3E%3D1GiB`);
    const read = (selector) =>
      page.locator(selector).evaluateAll((nodes) => nodes.map((node) => Number(node.title.replace(/[^0-9]/g, ''))));
    const listed = (await read('.panel-table tbody .c-size .figure')).reduce((sum, each) => sum + each, 0);
    const [rest] = await read('.panel-table tfoot .c-size .figure');
    const foot = await text(page, '.panel-table .c-foot');
    truth(/^\d+ of 379 buffers, /.test(foot), `footer is "${foot}"`);
    equal(bytes(listed + rest), '33.41 GiB');
    includes(foot, 'of 33.41 GiB');
    await page.finish();
  });

  test(
    'every recorded dump: total, peak, step and largest buffers',
    async () => {
      const golden = JSON.parse(readFileSync(join(shared, 'golden/dumps.json'), 'utf8'));
      const entries = Object.entries(golden.answers ?? golden).filter(
        ([file, answer]) => answer?.spaces && existsSync(join(shared, 'data', file)),
      );
      const base = await daemon(`--logdir=${join(shared, 'data/dumps')}`);
      const page = await open(base);
      for (const [file, { spaces }] of entries.filter(([each]) => each.startsWith('dumps/'))) {
        const name = dirname(file).slice('dumps/'.length);
        const link = await sessionLink(page, base, name);
        for (const [space, wanted] of Object.entries(spaces)) {
          await page.goto(`${base}${link}&space=${space}&group=none`);
          await idle(page);
          const title = await text(page, 'h1');
          includes(
            title.replace('The plan needs', 'Needs'), // behind what failed in another space
            `Needs ${bytes(wanted.totalBufferAllocationMib * MIB)} of`,
            `${name} space ${space}`,
          );
          /* Without a heap trace XProf says step 0, the page nothing. */
          if (wanted.peakHeapSizePosition > 0 || title.includes(' at step '))
            includes(title, peakText(wanted), `${name} space ${space}`);
          else includes(title, `Peak live ${bytes(wanted.peakHeapMib * MIB)}.`, `${name} space ${space}`);
          const names = (await cells(page, 'c-name')).slice(0, wanted.largest.length);
          const known = wanted.largest.map(([each]) => each).filter(Boolean);
          truth(
            known.every((each) => names.includes(each) || wanted.largest.length >= 5),
            `${name} space ${space}: ${names} instead of ${known}`,
          );
        }
      }
      await page.finish();
    },
    { shared: true },
  );

  test(
    'large trace: peak and largest buffer as recorded',
    async () => {
      const { answers } = JSON.parse(gunzipSync(readFileSync(join(shared, 'golden/logdir.json.gz'))));
      const [, wanted] = Object.entries(answers).find(
        ([url]) => url.includes('large-transformer-64l&tag=memory_viewer') && url.endsWith('memory_space=0'),
      );
      const base = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
      const page = await open(base);
      await page.goto(`${base}${await sessionLink(page, base, 'large-transformer')}&group=none&sort=-size,name`);
      await idle(page);
      const { body } = wanted;
      includes(await text(page, 'h1'), `Needs ${bytes(body.totalBufferAllocationMib * MIB)} of HBM`);
      includes(await text(page, 'h1'), peakText(body));
      equal((await cells(page, 'c-name'))[0], body.maxHeapBySize[0].instructionName);
      includes(
        await page.locator('.curve-host canvas').first().getAttribute('aria-label'),
        `at step ${count(body.peakHeapSizePosition)}`,
      );
      await page.finish();
    },
    { shared: true },
  );
  test(
    'the pane says all of a bar that stands for thousands of small buffers',
    async () => {
      const base = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
      const page = await open(base, { width: 1440, height: 900 });
      await page.goto(`${base}${await sessionLink(page, base, 'large-transformer')}`);
      await idle(page);
      await page.keyboard.press('q'); // the pane as a column
      await page.mouse.move(...(await pointOn(page, 1, 0.998)));
      await page.waitForFunction(() => document.querySelector('.details').innerText.includes('Small buffers'));
      const words = page.locator('.details .explained').first();
      includes(await words.innerText(), 'largest');
      const [word, pane] = [await words.boundingBox(), await page.locator('.details-scroll').boundingBox()];
      truth(word.x + word.width <= pane.x + pane.width, 'it runs out of the pane');
      await page.finish();
    },
    { shared: true },
  );
}
