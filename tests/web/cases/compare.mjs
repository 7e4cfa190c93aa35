/* SPDX-License-Identifier: Apache-2.0
 * compare.mjs: two programs side by side. Figures: the totals of two commits of one model, the second with one more
 * layer, as their truth.json says: 4,210,185,728 and 4,669,027,840 bytes. */

import { join } from 'node:path';
import { inUrl, placeOn } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

const BEFORE = 4210185728;
const AFTER = 4669027840;
const LINES = /^[+−]?([\d,]+) B$/;

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  const served = () => daemon(join(fixtures, 'programs'), join(fixtures, 'memprof'));
  async function ids(base) {
    const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
    return Object.fromEntries(sessions.map(({ id, name }) => [name.split('/').pop(), id]));
  }
  async function openTwo(query = '', how = {}) {
    const base = await served();
    const { 'z-base': a, 'z-plus1': b } = await ids(base);
    return open(`${base}?tool=compare&a=${a}&b=${b}${query}`, how);
  }
  const tab = (page, word) => page.getByRole('tab', { name: word });
  const rows = (page) => page.locator('.panel-table tbody tr.is-group');
  const options = (page) => page.locator('.waterfall [role=option]').allTextContents();

  test('two commits: the sentence says what B needs more, and both totals', async () => {
    const page = await openTwo();
    const said = await text(page, 'h1');
    includes(said, 'B needs 437.59 MiB more, 4.35 GiB instead of 3.92 GiB: ');
    includes(await page.title(), '+437.59 MiB · Compare');
    includes(await text(page, '.compare-share'), '% of the live bytes have a partner');
  });

  test('the waterfall leads from A to B, fragmentation included', async () => {
    const page = await openTwo();
    const parts = await options(page);
    includes(parts[0], 'A: 3.92 GiB');
    includes(parts.at(-1), 'B: 4.35 GiB');
    includes(parts.at(-2), 'Fragmentation: +4.93 MiB, 4.35 GiB so far');
    let sum = BEFORE;
    for (let at = 1; at < parts.length - 1; at++) {
      await page.locator('.waterfall [role=listbox]').focus();
      await page.keyboard.press(at === 1 ? 'Home' : 'ArrowRight');
      if (at === 1) await page.keyboard.press('ArrowRight');
      await page.locator('.tooltip:not([hidden])').waitFor();
      const line = (await page.locator('.tooltip-line').nth(1).textContent()).trim();
      const [, digits] = LINES.exec(line) ?? [];
      truth(digits, `no bytes in "${line}"`);
      sum += Number(digits.replaceAll(',', '')) * (line.startsWith('−') ? -1 : 1);
    }
    equal(sum, AFTER);
  });

  test('scopes are cut last: rows are told apart at 1440 and at 1280 px', async () => {
    for (const [width, height] of [
      [1440, 900],
      [1280, 720],
    ]) {
      const page = await openTwo('', { width, height });
      const cut = await page
        .locator('.panel-table tbody .c-scope .name')
        .evaluateAll((names) =>
          names
            .filter(
              (node) =>
                node.textContent.length <= 26 &&
                [...node.children].some((part) => part.scrollWidth > part.clientWidth + 1),
            )
            .map((node) => node.textContent),
        );
      equal(cut, [], `cut in ${width}`);
      const heads = await page
        .locator('.panel-table th')
        .evaluateAll((cells) =>
          cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
        );
      equal(heads, [], `cut in ${width}`);
      await page.finish();
    }
  });

  test('a part of the waterfall shows itself alone in the table; again: all', async () => {
    const page = await openTwo('', { width: 1920, height: 1000 }); // wide enough for all columns
    await page.locator('.waterfall [role=listbox]').focus();
    const at = (await options(page)).findIndex((each) => each.startsWith('Parameters'));
    await page.keyboard.press('Home');
    for (let step = 0; step < at; step++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await inUrl(page, 'filter'), 'cat:parameter');
    const categories = await page.locator('.panel-table tbody .c-cat').allInnerTexts();
    truth(categories.length > 0 && categories.every((each) => each.trim() === 'parameter'), categories.join(' | '));
    await page.locator('.waterfall [role=listbox]').focus();
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await inUrl(page, 'filter'), null);
  });

  test('tabs say how many are new, and show them; a group opens to its buffers', async () => {
    const page = await openTwo();
    equal(await tab(page, 'Only B').getAttribute('data-count'), '40');
    await page.keyboard.press('2');
    await idle(page);
    equal(await inUrl(page, 'view'), 'only_b');
    const keys = await page.locator('.panel-table tbody .c-match').allInnerTexts();
    truth(
      keys.every((each) => each.trim() === 'new'),
      keys.join(' | '),
    );
    const several = rows(page)
      .filter({ hasText: /\d+ ×\s/ })
      .first();
    await several.focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    truth((await page.locator('.panel-table tbody tr[aria-level="2"]').count()) > 1, 'its buffers are listed');
  });

  test('x swaps A and B, and Back takes it back', async () => {
    const page = await openTwo();
    const [a, b] = [await inUrl(page, 'a'), await inUrl(page, 'b')];
    await page.keyboard.press('x');
    await idle(page);
    equal([await inUrl(page, 'a'), await inUrl(page, 'b')], [b, a]);
    includes(await text(page, 'h1'), 'B needs 437.59 MiB less');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), 'B needs 437.59 MiB more');
  });

  test('a click on the curves reads both sides at one place, and compares those steps', async () => {
    const page = await openTwo();
    await page.mouse.click(...(await placeOn(page, '.curves .u-over', 0.6)));
    await idle(page);
    truth(Number(await inUrl(page, 'step')) > 0, 'the place stands in the URL');
    includes(await text(page, '.curves-place'), ' at step ');
    await page.getByRole('button', { name: 'Compare these steps' }).click();
    await idle(page);
    truth(/^[0-9a-f]+(\/[^/]*){3}\/\d+$/.test(await inUrl(page, 'a')), await inUrl(page, 'a'));
    includes(await text(page, '.compare-share'), 'what is live at the two steps');
    includes(await text(page, 'h1'), ' live');
  });

  test('what two buffers match by is read to its end where the table has room', async () => {
    const page = await openTwo();
    const at = await page
      .locator('.compare th')
      .evaluateAll((heads) => heads.findIndex((head) => head.innerText.startsWith('Match by')));
    const cut = await page.locator('.compare tbody tr').evaluateAll(
      (rows, column) =>
        rows
          .map((row) => row.cells[column])
          .filter((cell) => cell && cell.scrollWidth > cell.clientWidth)
          .map((cell) => cell.innerText),
      at,
    );
    truth(at >= 0, 'no such column');
    equal(cut, []);
  });

  test('curves can be laid on each other by schedule position', async () => {
    const page = await openTwo();
    const before = await page.locator('.curves canvas').getAttribute('aria-label');
    await page.locator('.compare-align').selectOption('position');
    await idle(page);
    equal(await inUrl(page, 'align'), 'position');
    equal(await page.locator('.curves canvas').getAttribute('aria-label'), before);
  });

  test('what is shown becomes A by ⋯, and another program is compared with it', async () => {
    const base = await served();
    const { 'z-base': a, 'z-plus1': b } = await ids(base);
    const page = await open(`${base}?tool=memory_viewer&session=${a}`);
    await page.locator('.panel-curve .menu-dots').click();
    await page.getByRole('menuitem', { name: 'Set as A', exact: true }).click();
    await idle(page);
    await page.goto(`${base}?tool=memory_viewer&session=${b}`);
    await idle(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('compare with A');
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await inUrl(page, 'tool'), 'compare');
    truth((await inUrl(page, 'a')).startsWith(`${a}//`) && (await inUrl(page, 'b')).startsWith(`${b}//`), page.url());
    includes(await text(page, 'h1'), 'B needs 437.59 MiB more');
  });

  test('another session, another memory space: each side is chosen by itself', async () => {
    const page = await openTwo();
    await page
      .locator('.compare-side')
      .nth(1)
      .getByRole('button', { name: /session of B/ })
      .click();
    await page.keyboard.type('z-base');
    await idle(page);
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await text(page, 'h1'), 'A and B need the same: 3.92 GiB; 0 of 182 buffers at the peak differ.');
    await page.locator('.compare-step').first().fill('3');
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await inUrl(page, 'a'), '///3');
  });

  test('two that do not go together are refused with why', async () => {
    const base = await served();
    const { 'z-base': a, memprof: b } = await ids(base);
    const page = await open(`${base}?tool=compare&a=${a}&b=${b}`, { allow: /409/ });
    equal(await text(page, 'h1'), 'These two cannot be compared.');
    includes(
      await text(page, '.compare-instead'),
      'B is a device profile, in bytes by call stack, A a compiler\u2019s plan'.replace('\u2019', "'"),
    );
  });

  /* Two profiles of one session: memory1.prof and memory9.prof, 8,040,000 and 9,800,000 bytes. */
  async function openProfiles(query = '', how = {}) {
    const base = await served();
    const { memprof: session } = await ids(base);
    const { profiles } = await (await fetch(`${base}api/v1/sessions/${session}/profiles`)).json();
    const of = (name) => `${session}//${profiles.find((profile) => profile.name === name).id}`;
    return open(`${base}?tool=compare&a=${of('memory1.prof')}&b=${of('memory9.prof')}${query}`, how);
  }

  test('two device profiles: the sentence, the way from A to B, kinds, call sites that open to stacks', async () => {
    const page = await openProfiles();
    includes(
      await text(page, 'h1'),
      'B holds 1.68 MiB more, 9.35 MiB instead of 7.67 MiB: anotherfunc memprof.py:19 › normal has grown (+1.68 MiB).',
    );
    includes(await text(page, '.compare-share'), '2 of 5 call sites differ');
    const parts = await options(page);
    equal(parts.length, 3);
    includes(parts[1], 'Anotherfunc memprof.py:19 › normal: +1.68 MiB, 9.35 MiB so far');
    includes(await text(page, '.kinds'), 'executable');
    equal(await tab(page, 'Grown').getAttribute('data-count'), '2');
    await page.keyboard.press('4');
    await idle(page);
    equal(await rows(page).count(), 2);
    await rows(page).first().focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    includes(
      await text(page, '.panel-table tbody tr[aria-level="2"] .c-fn'),
      '<module> memprof.py:22 › anotherfunc memprof.py:19',
    );
  });

  test('a call site of the way from A to B shows itself alone, and leads to Device Memory', async () => {
    const page = await openProfiles();
    await page.locator('.waterfall [role=listbox]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await idle(page);
    truth(/^group:\d+$/.test(await inUrl(page, 'filter')), await inUrl(page, 'filter'));
    equal(await rows(page).count(), 1);
    await rows(page).first().locator('.c-fn .name').click(); // not the arrow, which opens the row alone
    await idle(page);
    await page.locator('.details-body a', { hasText: 'Device Memory' }).click();
    await idle(page);
    equal(await inUrl(page, 'tool'), 'device_memory');
    includes(await text(page, 'h1'), '+1.68 MiB from memory1.prof');
  });

  test('of a session of device profiles the first and last are compared, another is chosen by name', async () => {
    const base = await served();
    const { memprof: session } = await ids(base);
    const page = await open(`${base}?tool=compare&session=${session}`);
    includes(await text(page, '.compare-side >> nth=0'), 'memory1.prof');
    includes(await text(page, '.compare-side >> nth=1'), 'memory9.prof');
    await page
      .locator('.compare-side')
      .nth(1)
      .getByRole('button', { name: /profile of B/ })
      .click();
    await page.keyboard.type('memory2');
    await idle(page);
    await page.keyboard.press('Enter');
    await idle(page);
    includes(await text(page, '.compare-side >> nth=1'), 'memory2.prof');
    await page.keyboard.press('x');
    await idle(page);
    includes(await text(page, '.compare-side >> nth=0'), 'memory2.prof');
  });

  test('the session that is open is B, and A is another of its folder', async () => {
    const base = await daemon(`--logdir=${fixtures}`);
    const list = await ids(base);
    const page = await open(`${base}?tool=compare&session=${list['z-base']}`);
    const [a, b] = await page.locator('.compare-side').allInnerTexts();
    includes(b, 'z-base');
    truth(/z-|programs/.test(a) && !a.includes('z-base'), `A is of its folder: ${a}`);
    await page.finish();
  });

  test('without a choice the newest two are compared', async () => {
    const page = await open(`${await served()}?tool=compare`);
    includes(await text(page, 'h1'), '437.59 MiB');
  });

  test('a pinned row says both sides, and leads to each in the Memory Viewer', async () => {
    const page = await openTwo('&view=same');
    await rows(page).first().click();
    await idle(page);
    includes(await text(page, '.details-body'), 'Match by');
    const link = page.locator('.details-body a', { hasText: 'B in the Memory Viewer' });
    await link.click();
    await idle(page);
    equal(await inUrl(page, 'tool'), 'memory_viewer');
    truth((await inUrl(page, 'pin')).startsWith('b:'), page.url());
  });
}
