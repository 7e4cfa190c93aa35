/* SPDX-License-Identifier: Apache-2.0
 * findings.mjs: the first sentence of Memory Profile and Device Memory is what is to be mended, linked to its evidence.
 * */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, text } from '../harness.mjs';

export function run({ test, equal, includes, truth, daemon, open, fixtures, root }) {
  const traces = join(root, 'build/fixtures');

  test('what grows from step to step is told first, and leads to the growth', async () => {
    const page = await open(`${await daemon(join(traces, 'trace-steps.pb'))}?tool=memory_profile`);
    const said = await text(page, 'h1');
    truth(/^Grows 256 B a step in 2 of 2 steps: .+\. See the growth GPU_0_bfc reached 5\.8 KiB/.test(said), said);
    await page.locator('h1 a').click();
    await page.waitForURL(/view=growth/);
    await idle(page);
    includes(await text(page, '.panel-growth'), 'grows 256 B a step, 2 of 2 steps');
    await page.finish();
  });

  test('fragmentation is told with request, hole and who pins it', async () => {
    const page = await open(`${await daemon(join(traces, 'trace-holes.pb'))}?tool=memory_profile`);
    includes(
      await text(page, 'h1'),
      'A request of 3.9 KiB, the largest, would have met a largest hole of 2.9 KiB at 0.0 ms with 5.3 KiB free: ' +
        'fragmentation, not shortage. See who pins the holes',
    );
    await page.locator('h1 a').click();
    await page.waitForURL(/time=9000&view=addresses/);
    await page.waitForSelector('.holes-grid tbody tr');
    includes(
      await text(page, '.panel-holes .tab-answer'),
      '2 allocations, 3.0 KiB together, lie between holes that would be one of 6.0 KiB without them.',
    );
    const rows = await page
      .locator('.holes-grid tbody tr')
      .evaluateAll((lines) => lines.map((line) => [...line.cells].map((cell) => cell.innerText.trim())));
    equal(
      rows.map(([op, size, , , before, behind]) => [op, size, before, behind]),
      [
        ['log', '100 B', '2.9 KiB', '0 B'],
        ['acts', '2.9 KiB', '0 B', '0 B'],
      ],
    );
    /* All of it is there without a scroll to the side, beside the picture, below it and on a phone. */
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await idle(page);
      const [inner, outer] = await page
        .locator('.panel-holes .grid-scroll')
        .evaluate((node) => [node.scrollWidth, node.clientWidth]);
      truth(inner <= outer, `${inner} px in ${outer} at ${width}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.holes-grid button').first().click();
    await page.waitForURL(/pin=e:4/);
    includes(await text(page, '#details'), 'log');
    await page.finish();
  });

  test('what grows over the profiles is told in every view of them', async () => {
    const page = await open(`${await daemon(`--logdir=${join(fixtures, 'memprof')}`)}?tool=device_memory`);
    await page.waitForSelector('h1 .see-why');
    includes(
      await text(page, 'h1'),
      '1 call site grows over 9 profiles: anotherfunc memprof.py:19 › normal, faster each time: +78.1 KiB at first, ' +
        '+351.6 KiB at last, 100 % of the growth. See the series 9.35 MiB live',
    );
    await page.locator('h1 a.see-why').click();
    await page.waitForURL(/view=series/);
    await idle(page);
    includes(await text(page, 'h1'), 'call site grows over');
    equal(await page.locator('h1 .see-why').count(), 0, 'a link to where one is');
    await page.finish();
  });

  test('what is dropped says its finding before it is opened', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`);
    await page.evaluate(
      (bytes) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(bytes)], 'host0.xplane.pb'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      },
      [...readFileSync(join(traces, 'trace-steps.pb'))],
    );
    await page.waitForFunction(() => document.querySelector('.banner-text')?.innerText.includes('grows'));
    includes(
      await text(page, '.banner-text'),
      'host0.xplane.pb is a profiler trace without programs: grows 256 B a step in 2 of 2 steps: ',
    );
    await page.finish();
  });

  test('a trace in which nothing is to be mended begins with what was reached', async () => {
    const page = await open(`${await daemon(join(traces, 'trace-gpu.pb'))}?tool=memory_profile`);
    includes(await text(page, 'h1'), 'GPU_0_bfc reached');
    equal(await page.locator('h1 .see-why').count(), 0);
    await page.finish();
  });
}
