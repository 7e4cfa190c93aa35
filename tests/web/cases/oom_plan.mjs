/* SPDX-License-Identifier: Apache-2.0
 * oom_plan.mjs: an error text beside the plan of its program. */

import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, startDaemon, text } from '../harness.mjs';

export function run({ test, includes, equal, daemon, open, fixtures, binary }) {
  test('the verdict of a dump leads to its program', async () => {
    const page = await open(await daemon('--demo'), { isBare: true });
    includes(
      await text(page, 'h1'),
      'jit_train_step needs 33.49 GiB; 15.75 GiB of HBM are available. Over by 17.74 GiB.',
    );
    await page.getByRole('link', { name: 'jit_train_step in the Memory Viewer' }).click();
    await idle(page);
    includes(page.url(), 'tool=memory_viewer');
    includes(await text(page, 'h1'), '33.49 GiB');
    await page.finish();
  });

  test('a text that gives a total alone is itemised from the plan of its dump', async () => {
    const page = await open(`${await daemon('--demo')}`, { isBare: true });
    equal(await text(page, '.answer-second'), 'Over by 17.74 GiB.');
    includes(
      await text(page, '.oom-whys'),
      '12 × 2.00 GiB bf16[16,16,2048,2048] and smaller ones, models.py:11 and elsewhere.',
    );
    const where = await text(page, '.panel-oom-where');
    for (const part of [
      'in all 33.49 GiB',
      'over by 17.74 GiB',
      'parameters 413.05 MiB',
      'saved activations 27.80 GiB',
      'workspace 4.39 GiB',
    ])
      includes(where, part);
    await page.locator('.panel-oom-made > summary').click();
    const made = await text(page, '.panel-oom-made');
    for (const part of [
      'arguments 1.21 GiB',
      'temporaries, without fragmentation 32.20 GiB',
      'fragmentation of the heap 88.42 MiB',
      'in all 33.49 GiB',
      'Text and plan agree: 33.49 GiB in the text, 33.49 GiB in the plan, the same but for rounding.',
    ])
      includes(made, part);
    const groups = page.locator('.oom-largest tbody tr');
    includes((await groups.first().innerText()).replace(/\s+/g, ' '), '24.00 GiB 72 % 12 × 2.00 GiB');
    includes(await groups.first().innerText(), 'saved activation');
    await page.locator('.oom-by-pattern summary').click();
    includes(await text(page, '.oom-largest'), 'Attention scores hold 26.00 GiB at the peak');
    const sum = await groups
      .locator('.number:first-child .figure')
      .evaluateAll((figures) => figures.reduce((all, node) => all + Number(node.title.replace(/ B.*|,/g, '')), 0));
    const rest = await page
      .locator('.oom-largest tfoot .figure')
      .evaluate((node) => Number(node.title.replace(/ B.*|,/g, '')));
    equal(sum + rest, 35870178816, 'the groups and the rest are not the peak');
    equal(await page.locator('.panel-oom-table').isVisible(), false, 'the plan stands twice');
    await page.finish();
  });

  test('groups of the plan of a text that lists none lead to the Memory Viewer', async () => {
    const dump = join(fixtures, 'dumps/seed-matmul-327680');
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-plan-'));
    for (const each of readdirSync(dump).filter((each) => each.endsWith('.hlo.pb')))
      copyFileSync(join(dump, each), join(folder, each));
    writeFileSync(join(folder, 'error.txt'), readFileSync(join(fixtures, 'oom/0.4.35-libtpu0.0.2-v5e-seed.txt')));
    const own = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      const page = await open(`${own.url}?tool=oom`);
      const links = page.locator('.oom-largest tbody .oom-label a');
      equal(await links.count(), 2);
      await links.first().click();
      await page.waitForURL(/pin=g:/);
      await idle(page);
      includes(await text(page, '#details'), '200.00 GiB');
      await page.finish();
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test('a text whose program planned otherwise says by how much they differ', async () => {
    const dump = join(fixtures, 'dumps/seed-matmul-327680');
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-differ-'));
    for (const each of readdirSync(dump).filter((each) => each.endsWith('.hlo.pb')))
      copyFileSync(join(dump, each), join(folder, each));
    writeFileSync(
      join(folder, 'error.txt'),
      'RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO ' +
        'temporaries (310.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n',
    );
    const own = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      const page = await open(`${own.url}?tool=oom`);
      await page.locator('.panel-oom-made > summary').click();
      includes(
        await text(page, '.oom-agreement'),
        'Text and plan disagree: 310.00 GiB in the text, 300.00 GiB in the plan, 10.00 GiB less.',
      );
      await page.finish();
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });
}
