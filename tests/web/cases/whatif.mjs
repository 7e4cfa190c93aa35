/* SPDX-License-Identifier: Apache-2.0
 * whatif.mjs: the drawer of changes: what each saves alone, ticked ones together, the sets that fit, what is refused,
 * the link that shows it again, keys; and what would make a failed program fit. The demo needs 33.49 GiB of 15.75: what
 * a change comes to is held against the other places that print it, as predictions are judged elsewhere
 * (tests/golden/whatif.py). */

import { goTo } from '../acts.mjs';
import { idle, pixels, sessionLink, text } from '../harness.mjs';

const DRAWER = '.panel-whatif';
const FIELD = '#whatif-more';

export function run({ test, includes, equal, truth, daemon, open }) {
  const openDemo = async (query = '', how = {}) => open(`${await daemon('--demo')}?tool=memory_viewer${query}`, how);
  const changes = (page) => new URL(page.url()).searchParams.getAll('whatif');
  const param = (page, name) => new URL(page.url()).searchParams.get(name);
  const said = async (page, node) => (await text(page, node)).replace(/\s+/g, ' ').trim();
  const answer = (page) => said(page, `${DRAWER} .whatif-answer`);
  const row = (page, change) =>
    page.locator(`${DRAWER} tbody tr`, { has: page.locator(`[data-key="tick ${change}"]`) });
  const box = (page, change) => page.locator(`[data-key="tick ${change}"]`);
  const sets = (page) => page.locator(`${DRAWER} .fit-set`);

  test('v opens the changes, each with what it saves alone, and a ticked one is the answer', async () => {
    const page = await openDemo();
    await page.keyboard.press('v');
    await idle(page);
    equal(await answer(page), 'Needs 33.49 GiB as it is, 17.74 GiB over 15.75 GiB.');
    includes(await said(page, `${DRAWER} h2`), 'What if · HBM');
    truth((await page.locator(`${DRAWER} tbody input`).count()) > 4);
    includes(await said(page, `${DRAWER} .whatif-legend`), 'live as it is');
    truth(!(await page.locator(`${DRAWER} .key-after`).isVisible()), 'a second curve before a change');
    const alone = (await row(page, 'batch=0.5').innerText()).replace(/\s+/g, ' ');
    const [, saves, lands] = /another batch size ([\d.]+ GiB) ([\d.]+ GiB) (?:fits|over)/.exec(alone) ?? [];
    truth(saves && lands, alone);
    await box(page, 'batch=0.5').check();
    await idle(page);
    equal(changes(page), ['batch=0.5']);
    includes(await answer(page), `batch=0.5 saves ${saves}: 33.49 GiB becomes ${lands}, `);
    truth(await page.locator(`${DRAWER} .key-after`).isVisible());
    includes(
      await page.locator(`${DRAWER} .whatif-plot canvas`).getAttribute('aria-label'),
      'after the ticked changes',
    );
    equal(await page.locator('#live').innerText(), await answer(page));
    await page.finish();
  });

  test('the page\u2019s own curve has the predicted one as a dashed line, also with the drawer folded', async () => {
    const page = await openDemo('&drawer=whatif');
    const key = page.locator('.panel-curve .key-after');
    const canvas = '.panel-curve .u-wrap canvas';
    equal(await key.count(), 0);
    const before = await pixels(page, canvas);
    await box(page, 'checkpoint=*').check();
    await idle(page);
    truth(await key.isVisible());
    truth((await pixels(page, canvas)) !== before, 'the curve has no other line');
    includes(
      await page.locator('.panel-curve [role="slider"]').getAttribute('aria-label'),
      'Predicted after the ticked changes: at most ',
    );
    await page.getByRole('button', { name: 'See the page' }).click();
    await idle(page);
    equal([param(page, 'drawer'), changes(page)], ['folded', ['checkpoint=*']]);
    truth(!(await page.locator(DRAWER).isVisible()));
    await page.reload();
    await idle(page);
    truth(await key.isVisible());
    await key.click();
    await idle(page);
    truth(await page.locator(DRAWER).isVisible());
    truth(await box(page, 'checkpoint=*').isChecked());
    await page.keyboard.press('Escape');
    await idle(page);
    equal([await key.count(), changes(page)], [0, []]);
    await page.finish();
  });

  test('what is live at the predicted peak: sizes before and after, lives, and a sum that is whole', async () => {
    const page = await openDemo('&whatif=checkpoint=*&whatif=batch=0.5');
    const part = page.locator(`${DRAWER} .whatif-peak`);
    truth(/^Live at the predicted peak, step [\d,]+$/.test(await part.locator('h3').innerText()));
    includes(await part.innerText(), 'There is no map of a prediction');
    const few = await part.locator('tbody tr').count();
    const sums = () => part.locator('.whatif-acts span').first().innerText();
    const [, shown, all, sum, whole] =
      /^([\d,]+) of ([\d,]+) buffers, ([\d.]+) of ([\d.]+) GiB$/.exec(await sums()) ?? [];
    equal(String(few), shown);
    const rest = Number((await part.locator('tfoot td').first().innerText()).replace(/[^\d.]/g, ''));
    truth(Math.abs(Number(sum) + rest - Number(whole)) < 0.011, `${sum} + ${rest} = ${whole}`);
    truth((await part.locator('.whatif-life.is-predicted').count()) > 0, 'nothing is told as changed');
    truth((await part.locator('[role=img]').first().getAttribute('aria-label')).startsWith('alive from '));
    await part.getByRole('button', { name: 'Show all' }).click();
    await idle(page);
    equal(String(await part.locator('tbody tr').count()), all);
    equal(await part.locator('tfoot').count(), 0);
    await part.locator('tbody .link-button').first().click();
    await page.waitForURL(/pin=b:/);
    await page.finish();
  });

  test('the answer has the best advice, which leads to the drawer and to all advice; a fit has none', async () => {
    const page = await openDemo();
    const line = page.locator('.advice-line');
    truth(
      /^▶ Checkpoint the 12 layers: [\d.]+ GiB, fits \(model\)\. All advice$/.test(
        (await line.innerText()).replace(/\s+/g, ' ').trim(),
      ),
      await line.innerText(),
    );
    const all = await line.locator('a').last().getAttribute('href');
    await line.locator('a').first().click();
    await idle(page);
    equal([changes(page), param(page, 'drawer')], [['checkpoint=*'], 'whatif']);
    includes(await answer(page), 'which fits 15.75 GiB');
    await goTo(page, all);
    await idle(page);
    includes(await text(page, 'h1'), 'jit_train_step needs 33.49 GiB');
    truth((await page.locator('.panel-oom-advice .advice').count()) > 3);
    await page.finish();
    const fits = await openDemo('&capacity=v5p');
    truth(!(await said(fits, '.advice-line')).includes('▶'), 'advice where it fits');
    await fits.finish();
  });

  test('what is ticked stands in the link, in its order, and a load shows it again', async () => {
    const page = await openDemo('&whatif=checkpoint=*&whatif=batch=0.5');
    const first = await answer(page);
    truth(/^These changes together save [\d.]+ GiB: 33\.49 GiB becomes [\d.]+ GiB, /.test(first), first);
    truth(/, which fits 15\.75 GiB \(\w+, \+[\d.]+ % compute\)\.$/.test(first), first);
    equal(await page.locator(`${DRAWER} .whatif-together li code`).allInnerTexts(), ['checkpoint=*', 'batch=0.5']);
    truth(await box(page, 'checkpoint=*').isChecked());
    await page.reload();
    await idle(page);
    equal(await answer(page), first);
    await page.locator('[data-key="away checkpoint=*"]').click();
    await idle(page);
    equal(changes(page), ['batch=0.5']);
    await page.goBack();
    await idle(page);
    equal(await answer(page), first);
    await page.finish();
  });

  test('a change of one\u2019s own is added; what is refused is said under the field and the link stays', async () => {
    const page = await openDemo('&drawer=whatif');
    for (const [typed, why] of [
      ['batches=0.5', 'no change "batches"; did you mean "batch"?'],
      ['batch=x', 'it is written batch=0.5 or batch=0.5@ARGUMENT:DIMENSION'],
      ['offload=nothing_of_this', 'nothing has this name'],
    ]) {
      await page.fill(FIELD, typed);
      await page.locator(FIELD).press('Enter');
      await idle(page);
      includes(await said(page, `${FIELD}-said`), why);
      equal(await page.locator(FIELD).getAttribute('aria-invalid'), 'true');
      equal(changes(page), []);
    }
    await page.fill(FIELD, 'batch=0.75');
    await page.locator(FIELD).press('Enter');
    await idle(page);
    equal(changes(page), ['batch=0.75']);
    truth(await box(page, 'batch=0.75').isChecked());
    truth(!(await page.locator(`${FIELD}-said`).isVisible()));
    includes(await answer(page), 'batch=0.75 saves');
    await page.finish();
  });

  test('a link with a change that does not apply says why, and the others stay', async () => {
    const page = await openDemo('&whatif=donate=99&whatif=batch=0.5');
    includes(await answer(page), 'batch=0.5 saves');
    includes(await said(page, `${DRAWER} .whatif-together li:first-child`), 'donate=99');
    truth(await page.locator(`${DRAWER} .whatif-together li:first-child .caution`).isVisible());
    await page.locator('[data-key="refused"]').click();
    includes(await said(page, `${DRAWER} .folded`), 'donate=all: it is donated already');
    await page.finish();
  });

  test('a change without a figure saves and becomes what is not known, and neither fits nor is over', async () => {
    const base = await daemon('--logdir=tests/fixtures/gpu-pairs');
    const page = await open(base);
    const link = (await sessionLink(page, base, 'optimizer-kept')).split('&')[0];
    await goTo(page, `${link}&tool=memory_viewer&drawer=whatif&capacity=v5e&whatif=checkpoint=*&whatif=batch=0.5`);
    await idle(page);
    const alone = (await row(page, 'checkpoint=*').locator('td.number').allInnerTexts()).map((cell) => cell.trim());
    equal(alone.slice(0, 2), ['not known', 'not known']);
    includes(await said(page, `${DRAWER} .whatif-together li:first-child`), 'saves not knownbecomes not knownguess');
    includes(await answer(page), 'Without checkpoint=*, whose saving is not known, batch=0.5 saves ');
    await page.finish();
  });

  test('Fit lists at most five sets; each is applied by a click and does fit', async () => {
    const page = await openDemo('&drawer=whatif');
    await page.locator(`${DRAWER} .whatif-acts button`, { hasText: 'Fit' }).click();
    await idle(page);
    equal(param(page, 'drawer'), 'fit');
    const many = await sets(page).count();
    truth(many > 0 && many <= 5, `${many} sets`);
    includes(
      await said(page, `${DRAWER} .fit-says`),
      `${many} sets of changes would make it fit 15.75 GiB, by prediction.`,
    );
    for (let at = 0; at < many; at++) {
      await sets(page).nth(at).locator('.fit-head button').click();
      await idle(page);
      equal(changes(page).join(' + '), (await sets(page).nth(at).locator('.fit-changes').innerText()).trim());
      truth(/which (fits|may fit) 15\.75 GiB/.test(await answer(page)), await answer(page));
      equal(await page.locator(`${DRAWER} .fit-set [aria-pressed="true"]`).count(), 1);
    }
    await page.reload();
    await idle(page);
    equal(await sets(page).count(), many);
    await page.finish();
  });

  test('the capacity is the page\u2019s: with room nothing is to be changed, without one it says so', async () => {
    const page = await openDemo('&drawer=fit&capacity=48GiB');
    includes(await said(page, `${DRAWER} .fit-says`), 'It fits as it is: 33.49 GiB of 48.00 GiB.');
    equal(await sets(page).count(), 0);
    await page.finish();
    const unknown = await open(`${await daemon('--logdir=tests/fixtures/modules')}?tool=memory_viewer&drawer=fit`);
    includes(await said(unknown, `${DRAWER} .whatif-fit`), 'The capacity of the device is not known');
    await unknown.finish();
  });

  test('the reason of a confidence opens on a click, the line of code is copied', async () => {
    const page = await openDemo('&drawer=whatif');
    const sure = page.locator('[data-key="sure batch=0.5"]');
    const why = page.locator(`#${await sure.getAttribute('aria-controls')}`);
    truth(!(await why.isVisible()));
    await sure.click();
    truth((await why.innerText()).endsWith('.'));
    equal(await sure.getAttribute('aria-expanded'), 'true');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const line = page.locator(`${DRAWER} tbody tr.whatif-more`).first();
    await line.locator('.copy').click();
    equal(await page.evaluate(() => navigator.clipboard.readText()), await line.locator('code').innerText());
    await page.finish();
  });

  test('keys alone: it takes the focus, Space ticks, focus stays on the box, Esc gives it back', async () => {
    const page = await openDemo();
    const opener = page.locator('button.see-why');
    await opener.focus();
    await page.keyboard.press('Enter');
    await idle(page);
    truth(await page.locator(DRAWER).evaluate((node) => node === document.activeElement));
    for (let at = 0; at < 12; at++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement.type === 'checkbox')) break;
    }
    const key = () => page.evaluate(() => document.activeElement.dataset.key);
    const ticked = await key();
    await page.keyboard.press('Space');
    await idle(page);
    equal(`tick ${changes(page)[0]}`, ticked);
    equal(await key(), ticked);
    await page.keyboard.press('Escape');
    await idle(page);
    equal([changes(page), param(page, 'drawer')], [[], null]);
    truth(!(await page.locator(DRAWER).isVisible()));
    truth(await opener.evaluate((node) => node === document.activeElement));
    await page.finish();
  });

  test('a pattern, a group and a buffer are what its changes are made to', async () => {
    const page = await openDemo('&view=patterns');
    await page.locator('.pattern', { hasText: 'Attention scores' }).locator('button', { hasText: 'What if' }).click();
    await idle(page);
    equal([param(page, 'glob'), await page.inputValue('#whatif-glob')], ['attention_scores', 'attention_scores']);
    truth((await page.locator(`${DRAWER} tbody input`).count()) > 0);
    includes(await said(page, `${DRAWER} .whatif-list`), '=attention_scores');
    await page.finish();
    for (const query of ['', '&group=none']) {
      const pinned = await openDemo(query);
      await pinned.locator('.panel-table tbody tr .c-saves').first().click();
      await pinned.waitForURL(/pin=/);
      await idle(pinned);
      await pinned.locator('.details-body button', { hasText: 'What if' }).click();
      await idle(pinned);
      includes(param(pinned, 'glob'), '/attention/');
      includes(await said(pinned, `${DRAWER} .panel-body`), param(pinned, 'glob'));
      await pinned.finish();
    }
  });

  test('what the daemon cannot answer is said in the drawer, and the page stays', async () => {
    for (const [status, code, detail, expected] of [
      [
        503,
        'memory',
        'more memory than this daemon may take',
        'The prediction could not be read. More memory than this daemon may take.',
      ],
      [
        404,
        'notfound',
        'there is no program with its own memory to change',
        'Nothing is predicted here. There is no program with its own memory to change.',
      ],
    ]) {
      const page = await openDemo('', { allow: /50|404/ });
      await page.route(/api\/v1\/memory_viewer\/whatif/, (route) =>
        route.fulfill({
          status,
          contentType: 'application/problem+json',
          body: JSON.stringify({ status, code, title: 'No', detail }),
        }),
      );
      await page.keyboard.press('v');
      await idle(page);
      includes(await said(page, `${DRAWER} .panel-said`), expected);
      truth(await page.locator('.panel-curve canvas').first().isVisible());
      await page.keyboard.press('Escape');
      await idle(page);
      truth(!(await page.locator(DRAWER).isVisible()));
      await page.finish();
    }
  });

  test('another program has its own figures, and Back those of the first', async () => {
    const base = await daemon('--logdir=tests/fixtures/dumps');
    const page = await open(base);
    const links = [];
    for (const name of ['h-long-context', 'd-tile-padding'])
      links.push(`${(await sessionLink(page, base, name)).split('&')[0]}&tool=memory_viewer&drawer=whatif`);
    const seen = [];
    for (const link of links) {
      await goTo(page, link);
      await idle(page);
      seen.push(await answer(page));
    }
    truth(/^Needs [\d.]+ \w+ as it is/.test(seen[0]) && seen[0] !== seen[1], seen.join(' / '));
    includes(seen[1], 'Needs 520.25 GiB as it is');
    await page.goBack();
    await idle(page);
    equal(await answer(page), seen[0]);
    await page.finish();
  });

  test('beside another memory space the changes are still those of the device\u2019s memory', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&drawer=whatif&space=2`);
    /* predictions are of the device's memory, whichever space is shown */
    includes(await answer(page), 'Needs 33.49 GiB as it is, 17.74 GiB over 15.75 GiB.');
    await page.finish();
  });
}
