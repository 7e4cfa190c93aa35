/* SPDX-License-Identifier: Apache-2.0
 * blocks.mjs: did it fit, where did it go, what made the peak, what will make it fit: of a plan, a trace, a text with
 * its program; advice that is ticked, explained, copied. The demo needs 33.49 GiB of 15.75. */

import { join } from 'node:path';
import { idle, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  test('a session without an error text has the four blocks of its plan', async () => {
    const base = await daemon(join(fixtures, 'modules/mlp-adam'));
    const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
    const page = await open(`${base}?tool=oom&session=${sessions[0].id}&capacity=6MiB`, { allow: /404/ });
    includes(await text(page, 'h1'), 'jit_step needs 8.00 MiB');
    await page.locator('.panel-oom-made > summary').click();
    includes(await text(page, '.panel-oom-made'), 'No.');
    includes(await text(page, '.panel-oom-made'), 'over by 2.00 MiB');
    includes(await text(page, '.panel-oom-where'), 'optimizer state 4.10 MiB');
    truth((await page.locator('.oom-largest tbody tr').count()) > 0);
    truth((await page.locator('.panel-oom-advice input').count()) > 0);
    truth(!(await page.locator('.panel-oom-text').isVisible()), 'a text where there is none');
    equal(await page.title(), '8.00 MiB · jit_step · OOM – memviewd');
    await page.locator('.oom-legend a', { hasText: '4.10 MiB' }).first().click();
    await page.waitForURL(/filter=cat:optimizer_state/);
    await idle(page);
    await page.goBack();
    await idle(page);
    await page.locator('.oom-largest tbody a').first().click();
    await page.waitForURL(/tool=memory_viewer.*pin=g:/);
    await idle(page);
    includes(await text(page, '#details'), 'Pinned group');
    await page.finish();
  });

  test('two pieces of advice are ticked: the URL has them, they are predicted together, as in the drawer', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    const piece = (word) => page.locator('.advice', { hasText: word });
    const ticked = () => new URL(page.url()).searchParams.getAll('whatif');
    includes(await text(page, '.oom-finding'), 'Checkpoint the 12 layers: ');
    equal(await page.locator('.oom-together').isVisible(), false);
    includes(await piece('Checkpoint the 12 layers').innerText(), 'fits');
    await piece('Checkpoint the 12 layers').locator('input').check();
    await idle(page);
    const alone = await text(page, '.oom-sum');
    const [, lands] = /33\.49 GiB becomes ([\d.]+ GiB), which fits 15\.75 GiB/.exec(alone) ?? [];
    includes(await text(page, '.oom-finding'), lands);
    await piece('of the batch').locator('input').check();
    await idle(page);
    equal(ticked().length, 2);
    const both = await text(page, '.oom-sum');
    includes(both, 'These changes together save ');
    const [, less] = /becomes ([\d.]+) GiB, which fits/.exec(both) ?? [];
    truth(Number(less) < parseFloat(lands), `${both} after ${alone}`);
    equal(await page.locator('#live').count(), 1);
    await page.reload();
    await idle(page);
    equal(await text(page, '.oom-sum'), both);
    truth(await piece('of the batch').locator('input').isChecked());
    await page.locator('.oom-together a').click();
    await page.waitForURL(/tool=memory_viewer/);
    await idle(page);
    equal(await text(page, '.whatif-answer'), both);
    await page.goBack();
    await idle(page);
    await page.getByRole('button', { name: 'Untick all' }).click();
    await idle(page);
    equal(ticked(), []);
    await page.finish();
  });

  test('advice says why it is no surer, where it is seen, and has its line to copy; keys alone reach it', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom`);
    const first = page.locator('.advice').first();
    const sure = first.locator('.confidence');
    const why = page.locator(`#${await sure.getAttribute('aria-controls')}`);
    equal(await why.isVisible(), false);
    await page.getByRole('button', { name: 'How' }).focus();
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await page.evaluate(() => document.activeElement.type), 'checkbox');
    for (const figure of ['saves', 'lands']) {
      await page.keyboard.press('Tab');
      includes(await page.evaluate(() => document.activeElement.href), 'whatif=checkpoint', figure);
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    truth(await why.isVisible());
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await first.locator('.copy').click();
    includes(await page.evaluate(() => navigator.clipboard.readText()), 'jax.checkpoint(');
    await first.getByRole('link', { name: 'See it' }).click();
    await page.waitForURL(/tool=memory_viewer.*filter=pattern/);
    await page.finish();
  });

  test('a trace alone: what the allocator took; 320 px are enough', async () => {
    const base = await daemon('--demo');
    const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
    const page = await open(`${base}?tool=oom&session=${sessions.find(({ name }) => name === 'training').id}`, {
      allow: /404/,
      width: 320,
      height: 800,
      touch: true,
    });
    includes(await text(page, 'h1'), '10.78 GiB');
    await page.locator('.panel-oom-made > summary').click();
    includes(await text(page, '.panel-oom-made'), 'Yes. It fits: 10.78 GiB of 16.00 GiB of GPU_0_bfc, 5.22 GiB free.');
    equal(await page.locator('.oom-largest, .panel-oom-advice, .panel-oom-text').filter({ visible: true }).count(), 0);
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    await page.locator('.oom-legend a').first().click();
    await page.waitForURL(/tool=memory_profile/);
    await page.finish();
    const narrow = await open(`${base}?tool=oom&whatif=batch=0.25`, { width: 320, height: 800, touch: true });
    equal(await narrow.evaluate(() => document.documentElement.scrollWidth), 320);
    await narrow.finish();
  });
}
