/* SPDX-License-Identifier: Apache-2.0
 * profile_states.mjs: what no recorded trace shows together, on canned answers: launches, a leak, two
 * memory ids, marks, a flat line, nothing at all. */

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goTo, inUrl } from '../acts.mjs';
import { idle, text } from '../harness.mjs';
import { answerer, makeWorld } from '../canned.mjs';
import { profileAnswers } from '../canned_profile.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

export function run({ test, equal, includes, truth, daemon, open }) {
  const show = async (query, change = {}, how = {}) => {
    const world = makeWorld({ intercept: profileAnswers(change) });
    return open(`${await daemon('--demo')}?tool=memory_profile${query}`, { canned: answerer(world), ...how });
  };

  test('answer, memory ids with their spread, and rows that equal the curve', async () => {
    const page = await show('');
    includes(await text(page, 'h1'), 'GPU_0_bfc reached 490.00 MiB of 1.00 GiB at 24.0 ms (step 1)');
    equal(await page.locator('.pool').count(), 2);
    includes(await text(page, '.panel-pools'), 'spread 100.00 MiB');
    includes(await text(page, '.panel-live'), '490.00 MiB = curve at this time ✓');
    includes(await text(page, '.panel-live tbody'), 'before the trace (inferred)');
    includes(await page.title(), '490.00 MiB · GPU_0_bfc · run/one – memviewd');
    await page.finish();
  });

  test('what is being typed into the filter does not follow to another page', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_profile`);
    await page.locator('.filter-input').first().pressSequentially('op:mul');
    await goTo(page, '?tool=home');
    await page.waitForSelector('.home-grid');
    await idle(page);
    equal(await inUrl(page, 'filter'), null);
    await page.finish();
  });

  test('the address map stands in 1280 × 720 under two rows of memory ids, with a window too', async () => {
    for (const window of ['', '&sel=20000000000-60000000000']) {
      const page = await show(`&view=addresses${window}`, { more: 6 }, { width: 1280, height: 720 });
      const scrolls = await page.locator('main').evaluate((main) => main.scrollHeight - main.clientHeight);
      truth(scrolls <= 0, `the page scrolls by ${scrolls} px`);
      for (const panel of ['.address-plot', '.panel-fragmentation canvas']) {
        const box = await page.locator(panel).first().boundingBox();
        truth(box.height >= 56 && box.y + box.height <= 720, `${panel}: ${box.height} px high, from ${box.y}`);
      }
      await page.finish();
    }
  });

  test('the point behind a figure stays on its line at any width', async () => {
    const page = await show('&view=addresses', {}, { width: 1440, height: 900 });
    for (let width = 1440; width > 1000; width -= 20) {
      await page.setViewportSize({ width, height: 900 });
      const apart = await page.locator('.panel-addresses .explained').evaluateAll((figures) =>
        figures
          .filter((figure) => {
            const range = document.createRange();
            const behind = figure.nextSibling;
            if (!/^[.,;]/.test(behind?.textContent ?? '')) return false;
            range.setStart(behind, 0);
            range.setEnd(behind, 1);
            return range.getBoundingClientRect().top > figure.getBoundingClientRect().bottom;
          })
          .map((figure) => figure.textContent),
      );
      equal(apart, [], `${width} px`);
    }
    await page.finish();
  });

  test('on paper every memory id is there', async () => {
    const page = await show('', { more: 14 }, { width: 1000, height: 700 });
    await page.emulateMedia({ media: 'print' });
    await page.waitForFunction(() => {
      const list = document.querySelector('.pools');
      return list.scrollHeight <= list.clientHeight;
    });
    await page.finish();
  });

  test('arrows in the memory ids choose, and the URL follows', async () => {
    const page = await show('');
    await page.focus('.pool[aria-checked="true"]');
    await page.keyboard.press('ArrowRight');
    await idle(page);
    equal(await inUrl(page, 'memory'), 'GPU_1_bfc');
    includes(await text(page, 'h1'), '390.00 MiB');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), '490.00 MiB');
    await page.finish();
  });

  test('the keyboard moves the moment, marks A and B, and the table says what was born and died', async () => {
    const page = await show('');
    await page.focus('.curve-slider');
    await page.keyboard.press('ArrowRight');
    await idle(page);
    equal(await inUrl(page, 'time'), '24600000000');
    includes(await text(page, '.panel-live h2'), 'at 24.600 ms');
    await page.keyboard.press('m');
    await page.keyboard.press('End');
    await idle(page);
    await page.keyboard.press('m');
    await idle(page);
    equal([await inUrl(page, 'a'), await inUrl(page, 'b')], ['24600000000', '208000000000']);
    includes(await text(page, '.panel-live .tab-answer'), 'Between A (24.6 ms) and B (208.0 ms): born');
    equal(await page.locator('.time-flag:visible').count(), 2);
    includes(await text(page, '.panel-live thead'), 'Born');
    await page.keyboard.press('m');
    await idle(page);
    equal(await inUrl(page, 'a'), null);
    await page.finish();
  });

  test('growth: the leak of 1 MiB a step is the first row', async () => {
    const page = await show('');
    await page.click('role=tab[name="Growth"]');
    await idle(page);
    equal(await inUrl(page, 'view'), 'growth');
    const row = await text(page, '.panel-growth tbody tr');
    includes(row, '+1.00 MiB ▲');
    includes(row, 'metrics/append');
    includes(await text(page, '.panel-growth .tab-answer'), 'grows 1.00 MiB a step, 19 of 19 steps');
    await page.finish();
  });

  test('on a phone the figures of a card stand beside each other', async () => {
    const page = await show('&view=growth', {}, { width: 390, height: 844 });
    const lines = await page
      .locator('.panel-growth tbody tr')
      .first()
      .locator('td.card-line')
      .evaluateAll((cells) =>
        cells.map((cell) => cell.getBoundingClientRect()).map(({ left, right }) => [left, right]),
      );
    truth(lines.length === 2 && lines[0][1] <= lines[1][0], `${JSON.stringify(lines)} overlap`);
    await page.finish();
  });

  test('an event that is pinned names its partner and stands in the URL', async () => {
    const page = await show('&view=events');
    await page.click('.panel-events tbody tr:nth-child(2)');
    await idle(page);
    equal(await inUrl(page, 'pin'), 'e:1');
    includes(await text(page, '#details'), 'Freed');
    equal(await page.locator('.panel-events tr.is-pinned').count(), 1);
    await page.keyboard.press('Escape');
    await idle(page);
    equal(await inUrl(page, 'pin'), null);
    await page.finish();
  });

  test('free can be hidden: the axis then says where it starts, and the URL keeps it', async () => {
    const page = await show('');
    truth(await page.locator('.timeline .axis-words').first().isHidden(), 'the axis begins at 0');
    await page.click('button.key-free');
    await idle(page);
    equal(await inUrl(page, 'hide'), 'free');
    includes(await text(page, '.timeline .axis-words'), 'axis starts at');
    await page.finish();
  });

  test('the figures of the answer explain themselves, to the byte', async () => {
    const page = await show('');
    await page.click('h1 .answer-figure');
    await page.waitForSelector('dialog[open]');
    const card = await text(page, 'dialog[open]');
    includes(card, 'stack 0 B + heap 490.00 MiB = 490.00 MiB');
    includes(card, 'bytes_reserved');
    await page.finish();
  });

  test('the timeline leaves the page as a picture with its lanes, and as a table', async () => {
    const page = await show('');
    for (const [word, ending] of [
      ['Picture (SVG)', 'svg'],
      ['Table (CSV)', 'csv'],
    ]) {
      await page.locator('.panel-time .menu-dots').click();
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`.menu-item:has-text("${word}")`)]);
      truth(file.suggestedFilename().endsWith(`.${ending}`), file.suggestedFilename());
      const body = readFileSync(await file.path(), 'utf8');
      if (ending === 'svg') {
        includes(body, 'peak 490.00 MiB, 24.0 ms');
        includes(body, 'TPU:0');
      } else equal(body.trim().split('\r\n').length, 182, 'a line an event, and the header');
    }
    await page.finish();
  });

  test('a click on a step selects it, Enter zooms to it, 0 shows all', async () => {
    const page = await show('');
    const box = await page.locator('.lanes-plot').boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + 8);
    await idle(page);
    truth(/^\d+-\d+$/.test(await inUrl(page, 'sel')), 'a window is selected');
    includes(await text(page, '.window-words'), '100.0 ms to 109.0 ms, 9 ms: peak 398.00 MiB at 104.0 ms');
    includes(await text(page, '.window-words'), '+1.00 MiB from before to after');
    await page.focus('.curve-slider');
    await page.keyboard.press('Enter');
    await idle(page);
    const [from, to] = (await inUrl(page, 'sel')).split('-');
    equal([await inUrl(page, 'from'), await inUrl(page, 'to')], [from, to]);
    await page.keyboard.press('0');
    await idle(page);
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('from'));
    await page.finish();
  });

  test('a launch leads to its plan in the Memory Viewer', async () => {
    const page = await show('');
    const box = await page.locator('.lanes-plot').boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + 26);
    await idle(page);
    includes(await text(page, '#details'), 'jit_train_step');
    includes(await page.locator('#details a').first().getAttribute('href'), 'module=aaaaaaaaaaaa');
    await page.finish();
  });

  test('addresses: blocks and holes to scale, the list beside the canvas names them', async () => {
    const page = await show('&view=addresses');
    includes(await text(page, '.panel-addresses .tab-answer'), 'largest hole between them has 8.00 MiB');
    await page.focus('.panel-addresses [role="listbox"]');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.tooltip:visible');
    includes(await text(page, '.tooltip'), 'MiB');
    includes(await text(page, '.panel-fragmentation .tab-answer'), 'it would have fitted at any time');
    await page.finish();
  });

  test('no memory events: which option records them, and where the plan is', async () => {
    const page = await show('', { reason: { code: 'no_memory_events', text: 'none' } });
    includes(await text(page, 'h1'), 'no memory event was recorded');
    includes(await text(page, '.whole-page'), 'options.host_tracer_level = 2');
    includes(await text(page, '.whole-page'), 'Memory Viewer');
    equal((await page.locator('.command code').innerText()).split('\n').length, 3, 'lines of the command');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.command .copy').click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    equal(copied.split('\n')[1], 'options.host_tracer_level = 2', 'what was copied');
    equal(await page.title(), 'nothing to show · run/one · Memory Profile – memviewd');
    await page.keyboard.press('q');
    includes(await text(page, '.details'), 'This session run/one');
    includes(await text(page, '.details'), 'kind trace');
    await page.finish();
  });

  for (const [code, words] of [
    ['unparsed_events', 'of this trace are cut off'],
    ['no_host_plane', 'No host events in this session'],
    ['cut', 'The trace was cut short'],
    ['empty_file', 'The trace file is empty'],
    ['not_a_trace', 'holds no trace'],
  ])
    test(`nothing to draw, ${code}: the page says why`, async () => {
      const page = await show('', { reason: { code, text: 'As the daemon says it.' } });
      includes(await text(page, '.whole-page'), words);
      truth(!(await text(page, 'h1')).includes('recorded'), 'the answer is that of the reason');
      await page.finish();
    });

  test('a flat line of a TPU says why, with the plans of the same session', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'profile-'));
    try {
      const session = join(folder, 'plugins/profile/flat');
      mkdirSync(session, { recursive: true });
      copyFileSync(join(ROOT, 'build/fixtures/trace-flat-tpu.pb'), join(session, 'host0.xplane.pb'));
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile`);
      includes(await text(page, 'h1'), 'TPU 0 reached 30.00 of 31.25 GiB');
      includes(await text(page, '.panel-pools'), 'spread 1.00 GiB');
      const more = await text(page, '.answer-more');
      includes(
        more,
        "The line is flat: the TPU runtime reserves HBM at start. What fills it is in the compiler's plan.",
      );
      includes(more, 'The largest plan: jit_train_step (6.5 KiB); all 2 programs.');
      await page.click('.answer-more a >> nth=0');
      await idle(page);
      equal(await inUrl(page, 'tool'), 'memory_viewer');
      includes(await page.title(), 'jit_train_step');
      await page.goBack();
      await idle(page);
      await page.click('.answer-more a >> nth=1');
      await idle(page);
      equal(await inUrl(page, 'tool'), 'memory_viewer');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a trace that is cut before its programs says so, also where its plans would be', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'profile-'));
    try {
      const session = join(folder, 'plugins/profile/cut');
      mkdirSync(session, { recursive: true });
      writeFileSync(
        join(session, 'host0.xplane.pb'),
        readFileSync(join(ROOT, 'build/fixtures/trace-flat-tpu.pb')).subarray(0, 700),
      );
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('api/v1/sessions', url))).json();
      for (const tool of ['memory_profile', 'memory_viewer']) {
        const page = await open(`${url}?session=${sessions[0].id}&tool=${tool}`);
        equal(await text(page, 'h1'), 'Nothing to show: the trace was cut short.');
        includes(await text(page, '.whole-page'), 'The trace was cut short.');
        await page.finish();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a trace that ends at the limit of the recorder, and a GPU without launches, say so in the notes', async () => {
    const notes = [
      'The trace ends at 1,000,000 events, the limit of the recorder.',
      'No launches of modules below the curve.',
    ];
    const page = await show('', { notes: notes.map((text) => ({ code: 'x', count: 1, text })) });
    await page.locator('.notes-button').first().click();
    for (const note of notes) includes(await text(page, '.notes-list'), note);
    await page.finish();
  });

  test('the demo has memory over time, and its growth names the leak first', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_profile&view=growth`);
    includes(await text(page, 'h1'), 'GPU_0_bfc reached 10.78 of 16.00 GiB');
    includes(await text(page, '.panel-growth tbody tr'), 'metrics/append');
    includes(await text(page, '.panel-growth .tab-answer'), 'grows 1.00 MiB a step, 11 of 11 steps');
    await page.finish();
  });

  test('an event of the URL that is not there gives a banner, and the rest stands', async () => {
    const page = await show('&pin=e:99999', {}, { allow: /404/ });
    includes(await text(page, '#banners'), 'Event 99999 is not in this trace');
    includes(await text(page, '.panel-live'), 'curve at this time ✓');
    await page.finish();
  });

  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ])
    test(`nothing runs out of the page at ${width} px`, async () => {
      for (const view of ['live', 'events', 'growth', 'addresses']) {
        const page = await show(`&view=${view}`, {}, { width, height });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        truth(wide <= width, `${view}: ${wide} px wide`);
        await page.finish();
      }
    });
}
