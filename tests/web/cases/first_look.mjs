/* SPDX-License-Identifier: Apache-2.0
 * first_look.mjs: what a reader sees first where there is little to see: no steps, one program, a traceback. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idle, text } from '../harness.mjs';

const KERNEL = 'dumps/f5-vmem-matmul-blocks';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  test('a program that failed in VMEM has no curve: why, and a way to the kernel', async () => {
    const page = await open(`${await daemon(join(fixtures, KERNEL))}?tool=memory_viewer`);
    const said = await text(page, '.panel-curve');
    includes(said, 'one kernel asks for 96.00 MiB of VMEM, more than the 16.00 MiB there are');
    includes(said, 'no curve of the memory inside a kernel');
    await page.locator('.panel-curve a', { hasText: 'See which kernel' }).click();
    await page.waitForURL(/tool=oom/);
    await idle(page);
    includes(await text(page, 'h1'), '96.00 MiB');
    await page.finish();
  });

  test('what the peak falls by has its unit in the head of its column', async () => {
    const page = await open(`${await daemon(join(fixtures, KERNEL))}?tool=memory_viewer`);
    const heads = await page
      .locator('.panel-table th')
      .evaluateAll((all) => all.map((head) => ({ words: head.innerText, isCut: head.scrollWidth > head.clientWidth })));
    includes(heads[0].words, 'Saves at peak, MiB');
    equal(
      heads.filter(({ isCut }) => isCut),
      [],
    );
    await page.finish();
  });

  test('where there are no steps, keys of the steps say so', async () => {
    const page = await open(`${await daemon(join(fixtures, KERNEL))}?tool=memory_viewer`);
    const before = page.url();
    for (const key of ['T', 'p', '[', 'm', 'w', 'ArrowRight', 'End', 'c', 't', 'u']) {
      await page.evaluate(() => document.querySelector('.toast')?.replaceChildren());
      await page.keyboard.press(key);
      equal(
        await text(page, '.toast'),
        'There are no steps here: everything in HBM lives for the whole program.',
        `after ${key}`,
      );
      equal(page.url(), before, `after ${key}`);
    }
    equal(await page.locator('dialog[open], [role="dialog"]').count(), 0);
    await page.finish();
  });

  test('one program alone is not compared with itself', async () => {
    const base = await daemon(join(fixtures, KERNEL));
    const page = await open(`${base}?tool=compare`);
    equal(await text(page, 'h1'), 'Only one program is here: nothing to compare it with yet.');
    includes(await text(page, '.compare-instead'), 'Choose another module, memory space or step for A or B above');
    truth(await page.locator('.compare-step').first().isVisible(), 'nothing to choose with');
    /* Who asks for it by name has it. */
    const { sessions } = await (await fetch(new URL('api/v1/sessions', base))).json();
    await page.goto(`${base}?tool=compare&a=${sessions[0].id}&b=${sessions[0].id}`);
    await idle(page);
    includes(await text(page, 'h1'), 'A and B need the same');
    await page.finish();
  });

  test('of a traceback the line that failed is quoted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-look-'));
    try {
      cpSync(join(fixtures, 'dumps/d-tile-padding'), folder, { recursive: true });
      writeFileSync(
        join(folder, 'error.txt'),
        'Traceback (most recent call last):\n  File "/train.py", line 95, in <module>\n    print(float(loss))\n' +
          'jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 97.92GiB.\n',
      );
      const page = await open(`${await daemon(folder)}?tool=memory_viewer`);
      includes(await text(page, '.error-text summary'), 'jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
