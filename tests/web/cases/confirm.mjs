/* SPDX-License-Identifier: Apache-2.0
 * confirm.mjs: the drawer's button that asks the compiler, which is a stand-in here (tests/confirm/standin.c):
 * progress, what it says, the new plan and Compare, cancelling, and a daemon without a compiler. */

import { dirname, join } from 'node:path';
import { idle, text } from '../harness.mjs';

const DRAWER = '.panel-whatif';
const FOLDER = 'modules/mlp-adam';
const PROGRAM = 'module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz';

export function run({ test, includes, equal, truth, daemon, open, binary, fixtures }) {
  const folder = join(fixtures, FOLDER);
  const library = join(dirname(binary), 'confirm', 'standin.so');
  const openWith = async (word, query, topology = '--topology=v5e:2x2') => {
    const url = await daemon(
      `MEMVIEWD_STANDIN=${word}`,
      `MEMVIEWD_STANDIN_DUMP=${join(folder, PROGRAM)}`,
      `LD_LIBRARY_PATH=${folder}`,
      `--libtpu=${library}`,
      ...[topology].filter(Boolean),
      folder,
    );
    return open(`${url}?tool=memory_viewer&drawer=whatif${query}`);
  };
  const act = (page) => page.locator(`${DRAWER} button`, { hasText: 'Confirm with the compiler' });
  const said = (page) => page.locator(`${DRAWER} .whatif-confirm`);

  test('the compiler confirms what is ticked, and its plan opens and is compared', async () => {
    const page = await openWith('stops', '&whatif=batch=0.5');
    truth(await act(page).isEnabled());
    await act(page).click();
    await said(page).locator('.caution').waitFor();
    includes(await said(page).innerText(), 'Refuted by the compiler: 8.0');
    await page.locator('#live', { hasText: 'Refuted by the compiler: 8.0' }).waitFor({ state: 'attached' });
    const compare = await said(page).locator('a', { hasText: 'Compare' }).getAttribute('href');
    await said(page).locator('a', { hasText: 'Open the new plan' }).click();
    await idle(page);
    includes(await text(page, 'header'), 'jit_step with batch=0.5');
    truth(/[?&]local=[0-9a-f]{40}/.test(page.url()), page.url());
    truth((await text(page, 'main')).startsWith('Needs 8.00 MiB of HBM'), 'the new plan is not shown');
    await page.goto(new URL(compare, page.url()).href);
    await idle(page);
    includes((await text(page, 'main')).slice(0, 400), 'A and B need the same: 8.00 MiB');
    await page.finish();
  });

  test('of a dump that does not say its chip the chosen device is compiled for', async () => {
    const asked = async (query) => {
      const page = await openWith('stops', query, null);
      await act(page).click();
      await said(page).locator('.caution').waitFor();
      const words = await said(page).innerText();
      await page.finish();
      return words;
    };
    includes(await asked('&whatif=batch=0.5&capacity=v5e'), 'Refuted by the compiler: 8.0');
    includes(await asked('&whatif=batch=0.5&capacity=16GiB'), 'does not say for which chip');
  });

  test('other ticks are not confirmed, and without any there is nothing to ask', async () => {
    const page = await openWith('stops', '&whatif=batch=0.5');
    await act(page).click();
    await said(page).locator('.caution').waitFor();
    await page.locator('[data-key="tick batch=0.5"]').uncheck();
    await idle(page);
    equal((await said(page).innerText()).trim(), '');
    truth(await act(page).isDisabled());
    await page.finish();
  });

  test('a compile that hangs is watched and cancelled', async () => {
    const page = await openWith('hangs', '&whatif=batch=0.5');
    await act(page).click();
    await said(page).getByText('Unchanged program (1 of 2): compiling').waitFor();
    truth(await act(page).isDisabled());
    await said(page).locator('button', { hasText: 'Cancel' }).click();
    await said(page).locator('.caution').waitFor();
    includes(
      await said(page).innerText(),
      'Not confirmed; the prediction remains. The unchanged program: libtpu cl/4242 was ended while it compiled: ' +
        'cancelled.',
    );
    truth(await act(page).isEnabled());
    await page.finish();
  });

  test('a crash is a sentence, and without a compiler that is said instead of the button', async () => {
    const page = await openWith('segfaults', '&whatif=batch=0.5');
    await act(page).click();
    await said(page).locator('.caution').waitFor();
    includes(await said(page).innerText(), 'Segmentation fault');
    await page.finish();
    const none = await open(`${await daemon('--libtpu=/nowhere', folder)}?tool=memory_viewer&drawer=whatif`);
    includes(await said(none).innerText(), 'The compiler cannot be used: /nowhere (--libtpu) is no libtpu.so');
    truth(!(await act(none).isVisible()));
    await none.finish();
  });
}
