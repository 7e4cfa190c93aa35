/* SPDX-License-Identifier: Apache-2.0
 * profile_keys.mjs: the Memory Profile by keys alone, its cards, and what the pointer does on its chart. */

import { readFileSync } from 'node:fs';
import { drag, inUrl, placeOn, wheel } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

export function run({ test, equal, includes, truth, daemon, open }) {
  /* The trace of the demo: 12 steps on two GPUs. */
  const show = async (query) => open(`${await daemon('--demo')}?tool=memory_profile${query}`);
  const press = async (page, ...keys) => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await idle(page);
    }
  };

  test('profile keys: . and , walk through the events in their order, and the moment follows', async () => {
    const page = await show('&view=events');
    const ids = [];
    for (const key of ['.', '.', '.', ',']) {
      await press(page, key);
      ids.push(await inUrl(page, 'pin'));
    }
    truth(new Set(ids.slice(0, 3)).size === 3, `three events: ${ids}`);
    equal(ids[3], ids[1]);
    equal(await page.locator('.panel-events tr.is-pinned').count(), 1);
    truth((await inUrl(page, 'time')) != null, 'the moment is that of the event');
    await page.finish();
  });

  test('profile keys: n walks through what the filter matches, and only with a filter', async () => {
    const page = await show('&view=events');
    await press(page, 'n');
    equal(await inUrl(page, 'pin'), null);
    await page.finish();
    const filtered = await show('&view=events&filter=%3E1MiB');
    await press(filtered, 'n');
    truth(/^e:\d+$/.test(await inUrl(filtered, 'pin')), 'an event is pinned');
    await filtered.finish();
  });

  test('profile keys: in what is live . goes from group to group, remainders too', async () => {
    const page = await show('');
    await press(page, '.');
    const first = await page.locator('.panel-live tr.is-pinned').innerText();
    await press(page, '.');
    truth((await page.locator('.panel-live tr.is-pinned').innerText()) !== first, 'another row');
    await press(page, ',');
    equal(await page.locator('.panel-live tr.is-pinned').innerText(), first);
    await page.finish();
  });

  test('profile keys: in the address map . goes from block to block', async () => {
    const page = await show('&view=addresses');
    await press(page, '.');
    const first = await inUrl(page, 'pin');
    truth(/^e:\d+$/.test(first), `a block is pinned: ${first}`);
    await press(page, '.');
    truth((await inUrl(page, 'pin')) !== first, 'the next one');
    await page.finish();
  });

  test('profile keys: arrows move the moment although nothing has the focus', async () => {
    const page = await show('');
    await page.evaluate(() => document.activeElement?.blur());
    await press(page, 'ArrowRight');
    truth(Number(await inUrl(page, 'time')) > 0, 'the moment is no longer the peak');
    await press(page, 'ArrowLeft');
    equal(await inUrl(page, 'time'), null);
    await page.finish();
  });

  test('profile keys: M begins a window at any moment, ends it at another, and lets it go', async () => {
    const page = await show('&time=20000000000');
    await press(page, 'M');
    includes(await text(page, '.toast'), 'A window begins at 20.000 ms; M again ends it');
    equal(await inUrl(page, 'sel'), null);
    await press(page, 'Shift+ArrowLeft', 'M');
    const [from, to] = (await inUrl(page, 'sel')).split('-').map(Number);
    equal([from, to], [Number(await inUrl(page, 'time')), 20000000000]);
    truth(from < to && to - from < 4e9, `ten events before, no whole step: ${from} to ${to}`);
    includes(await text(page, '.window-words'), 'born');
    await press(page, 'M');
    equal(await inUrl(page, 'sel'), null);
    await page.finish();
  });

  test('profile: the address map leaves the page as pictures and as a table', async () => {
    const page = await show('&view=addresses');
    for (const [word, ending] of [
      ['Picture (PNG)', 'png'],
      ['Picture (SVG)', 'svg'],
      ['Table (CSV)', 'csv'],
    ]) {
      await page.locator('.panel-addresses .menu-dots').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`.panel-addresses .menu-item:has-text("${word}")`),
      ]);
      await idle(page);
      truth(file.suggestedFilename().endsWith(`addresses.${ending}`), file.suggestedFilename());
      const body = readFileSync(await file.path());
      if (ending === 'png') {
        equal(body.subarray(1, 4).toString(), 'PNG');
        truth(body.readUInt32BE(16) >= 2 * 960, 'twice as fine as the screen');
      } else if (ending === 'svg') {
        const [low, high] = await page
          .locator('.panel-addresses .strip-axis span')
          .evaluateAll((all) => [all[0], all[2]].map((one) => one.innerText));
        for (const part of [low, high, 'inferred', 'gap: hole', 'at the peak']) includes(body.toString(), part);
        truth(!/>[\d.]+…/.test(body.toString()), 'no figure is cut');
      } else includes(body.toString(), 'address,size_bytes,kind');
    }
    await page.finish();
  });

  test('profile keys: the palette has every view, the groups and the fragmentation', async () => {
    const page = await show('');
    for (const [typed, row, name, value] of [
      ['>address map', 'address map', 'view', 'addresses'],
      ['>group what is live: op and shape', 'group what is live: op and shape', 'group', 'op,shape'],
      ['>fragmentation', 'fragmentation on or off', 'hide', 'fragmentation'],
    ]) {
      await page.keyboard.press('Control+k');
      await page.locator('dialog [role="combobox"]').waitFor();
      await page.locator('dialog [role="combobox"]').fill(typed);
      await page.locator('dialog [role="option"]', { hasText: row }).first().click();
      await idle(page);
      equal(await inUrl(page, name), value);
    }
    await page.finish();
  });

  test('profile cards: a size, a slope, a lifetime and the chart explain themselves', async () => {
    for (const [query, cell, words] of [
      ['', '.panel-live tbody td.c-size', 'add up to'],
      ['&view=growth', '.panel-growth tbody td.c-slope', 'least-squares'],
      ['&view=events', '.panel-events tbody td.c-lifetime', 'same address'],
    ]) {
      const page = await show(query);
      await page.locator(cell).first().hover();
      await idle(page);
      await page.keyboard.press('i');
      await page.locator('dialog[open]').waitFor();
      includes(await text(page, 'dialog[open]'), words);
      await page.finish();
    }
    const page = await show('');
    await page.click('.panel-time .panel-more [aria-haspopup]');
    await page.locator('[role="menuitem"]', { hasText: 'Explain' }).click();
    await page.locator('dialog[open]').waitFor();
    includes(await text(page, 'dialog[open]'), 'holds until the next event');
    await page.finish();
  });

  test('profile gestures: Ctrl wheel zooms, a double click shows all, a drag selects', async () => {
    const page = await show('');
    const at = (x) => placeOn(page, '.panel-time .u-over', x);
    await wheel(page, await at(0.5), [0, -400], 'Control');
    await page.waitForFunction(() => new URLSearchParams(location.search).has('from'));
    await idle(page);
    await page.mouse.dblclick(...(await at(0.33)));
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('from'));
    await idle(page);
    await drag(page, await at(0.25), await at(0.5));
    await page.waitForFunction(() => new URLSearchParams(location.search).has('sel'));
    await idle(page);
    includes(await text(page, '.window-words'), 'born');
    await page.finish();
  });
}
