/* SPDX-License-Identifier: Apache-2.0
 * home.mjs: what was found, with its worst figure. */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdBack } from '../acts.mjs';
import { idle, startDaemon, text } from '../harness.mjs';

/* Drops or pastes as a browser would: the events carry the same data. */
function give(page, kind, name, content) {
  return page.evaluate(
    ([event, fileName, body]) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(body);
      if (event === 'paste') data.setData('text/plain', new TextDecoder().decode(bytes));
      else data.items.add(new File([bytes], fileName));
      const made =
        event === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true });
      document.body.dispatchEvent(made);
    },
    [kind, name, [...content]],
  );
}

export function run({ test, includes, equal, truth, daemon, open, fixtures, binary }) {
  const dumps = () => daemon(`--logdir=${join(fixtures, 'dumps')}`);
  const oomText = () => readFileSync(join(fixtures, 'oom', '0.4.35-libtpu0.0.2-v5e-seed.txt'));
  const banner = (page, word) =>
    page.waitForFunction((wanted) => document.querySelector('.banner-text')?.innerText.includes(wanted), word);

  test('each session has its worst figure, its share of the capacity and a word', async () => {
    const page = await open(`${await dumps()}?tool=home`);
    const rows = await page
      .locator('.home-grid tbody tr')
      .evaluateAll((lines) =>
        lines.map((line) =>
          ['h-name', 'h-largest', 'h-share', 'h-verdict'].map((name) =>
            line.querySelector(`.${name}`).innerText.trim(),
          ),
        ),
      );
    const row = (name) => rows.find(([each]) => each.startsWith(name));
    equal(row('d-tile'), ['d-tile-padding', '520.25', '3,303 %', 'over']);
    equal(row('seed'), ['seed-matmul-327680', '300.00', '1,905 %', 'over']);
    const tick = await page
      .locator('tr', { hasText: 'd-tile' })
      .locator('.share-tick')
      .evaluate((node) => parseFloat(node.style.left));
    truth(Math.abs(tick - 100 / 33.03) < 0.05, `the tick of the capacity stands at ${tick} %`);
    equal(await text(page, '.home-tally'), ''); // the first line says it
    includes(await text(page, 'h1'), '4 of 4 sessions are over; the latest: d-tile-padding by 504.50 GiB.');
    equal(await page.locator('h1').count(), 1);
    await page.finish();
  });

  /* As the README of the programs says: the largest part of either peak is what the backward pass waits for. */
  test('each session says whose memory most of its peak is, once somebody looks at it', async () => {
    const page = await open(
      `${await daemon(`--logdir=${join(fixtures, 'programs')}`, join(fixtures, 'memprof'))}?tool=home`,
    );
    const most = (name) => page.locator('tr', { hasText: name }).locator('.h-most');
    await page.waitForFunction(() => document.querySelectorAll('.h-most .swatch').length === 2);
    equal((await most('z-base').innerText()).trim(), 'saved activations 42 %');
    equal((await most('z-plus1').innerText()).trim(), 'saved activations 44 %');
    equal((await most('memprof').innerText()).trim(), '', 'live arrays have no category');
    await page.finish();
  });

  test('the demo fits no v5e: the headline says by how much, and leads to it', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`);
    await page.waitForFunction(() => document.querySelector('h1').innerText.includes('is over'));
    includes(await text(page, 'h1'), 'b-activations-unrolled by 17.74 GiB. Saved activations: 27.80 GiB');
    includes(await text(page, 'h1'), 'of 3 sessions is over');
    includes(await text(page, 'h1'), 'leak: 1 call site grows over 9 profiles: anotherfunc memprof.py:19');
    equal(await text(page, 'td.h-share'), '213 %');
    /* As high as its own style says, whatever else stands in the page. */
    truth((await page.locator('td.h-share .share-bar').first().boundingBox()).height >= 11, 'the bar is a line');
    await page.locator('h1 a').first().click();
    await page.waitForURL(/session=/);
    await idle(page);
    includes(await text(page, 'h1'), '33.49 GiB');
    await page.finish();
  });

  test('filter and order stand in the URL', async () => {
    const page = await open(`${await dumps()}?tool=home`);
    await page.keyboard.press('/');
    await page.keyboard.type('tile');
    await page.waitForURL(/filter=tile/);
    await idle(page);
    equal(await page.locator('.home-grid tbody tr').count(), 1);
    includes(await text(page, 'h1'), '1 of 4 sessions match.');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelectorAll('.home-grid tbody tr').length === 4);
    await page.locator('.home-sort').selectOption('name');
    await page.waitForURL(/sort=name/);
    await idle(page);
    const names = await page.locator('.home-grid .h-name a').allInnerTexts();
    equal(names, [...names].sort());
    await page.reload();
    await idle(page);
    equal(await page.locator('.home-sort').inputValue(), 'name');
    await page.finish();
  });

  test('a bare address opens the newest thing with an answer, Home without any', async () => {
    const bare = async (...options) => open(await daemon(...options), { isBare: true });
    const failed = await bare('--demo');
    includes(await text(failed, 'h1'), 'OOM');
    equal(await failed.locator('.rail a[aria-current]').getAttribute('data-tool'), 'oom');
    await failed.finish();
    const plain = await bare(`--logdir=${join(fixtures, 'logdir')}`);
    equal(await plain.locator('.rail a[aria-current]').getAttribute('data-tool'), 'memory_viewer');
    await plain.finish();
    const profiles = await bare(`--logdir=${join(fixtures, 'memprof')}`);
    equal(await profiles.locator('.rail a[aria-current]').getAttribute('data-tool'), 'device_memory');
    await profiles.finish();
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-none-'));
    const nothing = await bare(`--logdir=${folder}`);
    equal(await nothing.locator('.rail a[aria-current]').getAttribute('data-tool'), 'home');
    await nothing.finish();
    rmSync(folder, { recursive: true });
  });

  test('a bare address and Home mean the same newest session; a damaged one leads with no figure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-newest-'));
    const dump = 'seed-matmul-327680';
    const add = (name, from, seconds) => {
      cpSync(join(fixtures, from), join(folder, name), { recursive: true });
      for (const file of readdirSync(join(folder, name))) utimesSync(join(folder, name, file), seconds, seconds);
    };
    add('program', `dumps/${dump}`, 1700000000);
    rmSync(join(folder, 'program', 'error.txt'));
    add('profiles', 'memprof', 1700001000);
    const newest = await open(await daemon(`--logdir=${folder}`), { isBare: true });
    equal(await newest.locator('.rail a[aria-current]').getAttribute('data-tool'), 'device_memory');
    await newest.finish();
    add('damaged', `dumps/${dump}`, 1700002000);
    rmSync(join(folder, 'damaged', 'error.txt'));
    const file = readdirSync(join(folder, 'damaged')).find((name) => name.endsWith('.after_optimizations.hlo.pb'));
    const bytes = readFileSync(join(folder, 'damaged', file));
    bytes.fill(0xff, 40000, 40008);
    writeFileSync(join(folder, 'damaged', file), bytes);
    utimesSync(join(folder, 'damaged', file), 1700002000, 1700002000);
    const page = await open(`${await daemon(`--logdir=${folder}`, '--verbose')}?tool=home`, { allow: /422/ });
    await page.waitForFunction(() => document.querySelector('h1').innerText.includes('cannot be read'));
    includes(await text(page, 'h1'), 'Newest: damaged, which cannot be read');
    includes(await page.locator('tr', { hasText: 'damaged' }).innerText(), 'not readable');
    await page.finish();
    rmSync(folder, { recursive: true });
  });

  test('at every width each row names its session, and all of it is the link', async () => {
    const page = await open(`${await dumps()}?tool=home`);
    for (const width of [1440, 1000, 890, 800, 700, 640, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const cell = await page.locator('.home-grid tbody .h-name').first().boundingBox();
      truth(cell.width >= 100, `the name is ${cell.width} px wide in ${width}`);
      const row = await page.locator('.home-grid tbody tr').first().boundingBox();
      truth(width < 600 || row.height <= 72, `a row is ${row.height} px high in ${width}`);
      const isWhole = await page
        .locator('.home-grid tbody .h-found')
        .first()
        .evaluate((node) => {
          node.textContent = 'XLA dump, 1,000 modules, memory events, error text';
          return node.scrollWidth <= node.clientWidth;
        });
      truth(isWhole, `what was found is cut in ${width}`);
      truth(
        await page.locator('.home-grid tbody tr', { hasText: 'seed' }).locator('.h-most').isVisible(),
        `whose memory it is stands nowhere in ${width}`,
      );
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    truth(
      !(await page.locator('.home-grid .h-hosts').first().isVisible()),
      'a column stands where no session has a host',
    );
    const found = await page.locator('.home-grid tbody .h-found').first().boundingBox();
    const href = await page.evaluate(
      ([x, y]) => document.elementFromPoint(x, y).closest('a')?.href ?? '',
      [found.x + 8, found.y + 8],
    );
    includes(href, 'session=');
    const head = await page.locator('.home-grid th.h-share').boundingBox();
    await page.mouse.click(head.x + head.width - 6, head.y + head.height / 2);
    await page.waitForURL(/sort=share/);
    await page.finish();
  });

  test('a tool without data stays in the rail, dimmed, with its reason, and says how to record it', async () => {
    const page = await open(await daemon('--demo'));
    const link = page.locator('.rail a[data-tool="device_memory"]');
    includes(await link.getAttribute('title'), 'No device profile in this session');
    includes(await link.getAttribute('class'), 'is-dim');
    await link.click();
    await idle(page);
    includes(await text(page, 'main'), 'save_device_memory_profile');
    equal(await link.getAttribute('class'), null, 'the open tool is dimmed');
    await page.finish();
  });

  test('a session far down a long list has the same tools in the rail as the newest', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-many-'));
    const place = (from, to, atS) => {
      cpSync(join(fixtures, from), join(folder, to), { recursive: true });
      for (const file of readdirSync(join(folder, to))) utimesSync(join(folder, to, file), atS, atS);
    };
    place('memprof', 'profiles', 1000);
    place('dumps/d-tile-padding', 'failed', 1000);
    for (let at = 0; at < 110; at++) {
      mkdirSync(join(folder, `log${at}`));
      writeFileSync(join(folder, `log${at}`, 'error.txt'), oomText());
    }
    const base = await daemon(`--logdir=${folder}`);
    const list = await (await fetch(`${base}api/v1/sessions?sort=name&limit=500`)).json();
    const idOf = (name) => list.sessions.find((session) => session.name === name).id;
    const page = await open(`${base}?session=${idOf('profiles')}`);
    const dimmed = () => page.locator('.rail a.is-dim').evaluateAll((links) => links.map((link) => link.dataset.tool));
    equal(await page.locator('.rail a[aria-current]').getAttribute('data-tool'), 'device_memory');
    equal(await dimmed(), ['memory_viewer', 'memory_profile', 'modules']);
    await page.goto(`${base}?tool=memory_viewer&session=${idOf('failed')}`);
    await idle(page);
    equal(await dimmed(), ['memory_profile', 'device_memory']);
    await page.finish();
    rmSync(folder, { recursive: true });
  });

  test('what cannot be used says what it is and what to do', async () => {
    const page = await open(await daemon('--demo'), { allow: /4\d\d/ });
    await give(page, 'drop', 'host0.xplane.pb', Buffer.from([0x0a, 0x03, 1, 2, 3]));
    await banner(page, 'host0.xplane.pb cannot be used. It is no trace, no HLO file, no device profile and no text.');
    await give(page, 'drop', 'empty.log', Buffer.from([]));
    await banner(page, 'empty.log is empty.');
    await give(page, 'drop', 'notes.txt', Buffer.from('nothing about it\n'));
    await banner(page, 'No out-of-memory report found in');
    await page.finish();
  });

  test('every session of a long list gets its figures, and they can be sorted by them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-long-'));
    const hlo = (name) =>
      join(
        fixtures,
        'dumps',
        name,
        readdirSync(join(fixtures, 'dumps', name)).find((each) => each.endsWith('after_optimizations.hlo.pb')),
      );
    const add = (name, from, atMs) => {
      mkdirSync(join(folder, name));
      const to = join(folder, name, 'module_0001.jit_f.after_optimizations.hlo.pb');
      cpSync(from, to);
      utimesSync(to, atMs / 1000, atMs / 1000);
    };
    const startMs = Date.UTC(2025, 0, 1);
    for (let at = 0; at < 60; at++) add(`run${at}`, hlo('f5-vmem-matmul-blocks'), startMs + at * 1000);
    add('oldest', hlo('seed-matmul-327680'), startMs - 1000);
    const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=home`, { height: 400 });
    includes(await text(page, 'h1'), 'Newest: ');
    equal(await page.locator('.home-grid tbody tr').count(), 61);
    await page.waitForFunction(() => !document.querySelector('.home-head').innerText.includes('not read yet'));
    equal(await text(page, 'tr:has-text("oldest") .h-largest'), '300.00');
    await page.getByRole('button', { name: 'Largest, GiB' }).click();
    await page.waitForURL(/sort=peak/);
    await idle(page);
    includes(await text(page, 'h1'), '61 sessions, highest peak first.');
    equal(await page.evaluate(() => document.activeElement.textContent), 'Largest, GiB', 'the focus');
    includes(await text(page, '.home-grid tbody tr'), 'oldest');
    equal(await page.locator('th.h-largest').getAttribute('aria-sort'), 'descending');
    await page.finish();
    rmSync(folder, { recursive: true });
  });

  test('a list sorted before all is read says how many are not, and does not move by itself', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-unread-')); /* of a daemon that has read none of them */
    cpSync(join(fixtures, 'dumps'), folder, { recursive: true });
    const base = await daemon(`--logdir=${folder}`);
    const page = await open(`${base}?tool=oom`, { isMeasured: true, isAlone: true });
    const { release } = await holdBack(page, '**/modules?**');
    await page.goto(`${base}?tool=home&sort=share`);
    await page.waitForSelector('.home-grid tbody tr:nth-child(4)');
    const names = () => page.locator('.home-grid .h-name a').allInnerTexts();
    const before = await names();
    includes(await text(page, 'h1'), '4 sessions, fullest first; 4 not read yet, at the end.');
    equal(await text(page, '.home-tally'), '');
    release();
    await page.waitForFunction(() => document.querySelectorAll('.h-share .figure').length === 4);
    await page.waitForFunction(() => document.querySelector('.home-tally').innerText.includes('4 of them over'));
    equal(await names(), before, 'the list moved by itself');
    await page.getByRole('button', { name: 'Sort again' }).click();
    await page.waitForFunction(() => !document.querySelector('h1').innerText.includes('Sort again'));
    await idle(page);
    const after = await names();
    truth(before[0] !== after[0], 'the order as found is that of the shares: nothing was tried');
    equal(
      after.map((name) => name.split('-')[0]),
      ['d', 'seed', ...after.slice(2).map((name) => name.split('-')[0])],
    );
    const again = await open(`${base}?tool=home&sort=share`, { isMeasured: true });
    await again.waitForSelector('.home-grid tbody tr:nth-child(4)');
    equal(
      (await again.locator('.home-grid .h-name a').allInnerTexts())[0],
      after[0],
      'the list of sessions says what is known by now',
    );
    await again.finish();
    await page.finish();
    rmSync(folder, { recursive: true });
  });

  test('every figure opens a card: what it is made of, from which file and field', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`);
    await page.waitForFunction(() => document.querySelector('h1').innerText.includes('is over'));
    const card = async (act) => {
      await act();
      await page.waitForSelector('dialog.explain');
      const said = await text(page, 'dialog.explain');
      await page.keyboard.press('Escape');
      return said;
    };
    const headline = await card(() => page.locator('h1 button.over').click());
    includes(headline, '33.49 GiB − 15.75 GiB = 17.74 GiB');
    includes(headline, 'available: error.txt');
    includes(headline, 'printed to ±');
    const needs = await card(() => page.locator('td.h-largest button').first().click());
    includes(needs, '35,962,892,288 B');
    includes(needs, 'HloProto.buffer_assignment.buffer_allocations[].size where .color is 0');
    includes(needs, 'module_0282.jit_train_step');
    includes(await card(() => page.locator('td.h-share button').first().click()), '33.49 GiB ÷ 15.75 GiB = 213 %');
    const byKey = await card(async () => {
      await page.locator('.h-name a').first().focus();
      await page.keyboard.press('i');
    });
    equal(byKey, needs, 'the card by its key');
    await page.finish();
  });

  test('profiles and texts say what their figures are, too', async () => {
    const page = await open(
      `${await daemon(`--logdir=${join(fixtures, 'memprof')}`, `--logdir=${join(fixtures, 'oom')}`)}?tool=home`,
    );
    await page.waitForFunction(() => !document.querySelector('.home-head').innerText.includes('not read yet'));
    await page.locator('tr', { hasText: 'memprof' }).locator('.h-largest button').click();
    includes(await text(page, 'dialog.explain'), 'live arrays and code in memory9.prof');
    includes(await text(page, 'dialog.explain'), '9,800,000 B');
    await page.keyboard.press('Escape');
    await page.locator('tr', { hasText: '0.4.35-libtpu0.0.2-v5e-seed' }).locator('.h-largest button').click();
    includes(await text(page, 'dialog.explain'), 'as the text prints it');
    await page.finish();
  });

  test('a session that cannot be read says why in its row; of a filter only what matches is counted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-cut-'));
    mkdirSync(join(folder, 'cut'));
    const name = 'module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb';
    const whole = readFileSync(join(fixtures, 'dumps/d-tile-padding', name));
    writeFileSync(join(folder, 'cut', name), whole.subarray(0, Math.floor(whole.length * 0.6)));
    const page = await open(`${await daemon(`--logdir=${folder}`, `--logdir=${join(fixtures, 'dumps')}`)}?tool=home`);
    await page.waitForFunction(() => !document.querySelector('.home-head').innerText.includes('not read yet'));
    const row = page.locator('tr', { has: page.locator('a', { hasText: 'cut' }) });
    equal(await row.locator('.h-largest').innerText(), 'not readable');
    includes(await row.locator('.h-found').innerText(), 'the HLO proto ends early');
    includes(await text(page, 'h1'), '4 of 5 sessions are over');
    await page.goto(`${page.url()}&filter=tile`);
    equal(await text(page, '.home-tally'), '1 of 1 over');
    await page.finish();
    rmSync(folder, { recursive: true });
  });

  test('a page that no session has anything for says so above Home', async () => {
    const page = await open(`${await daemon(`--logdir=${join(fixtures, 'memprof')}`)}?tool=memory_viewer`);
    includes(
      await text(page, '.banner-text'),
      'No session here has anything for the Memory Viewer; showing what was ' + 'found.',
    );
    includes(await text(page, 'h1'), 'Newest: memprof');
    await page.finish();
  });

  test('Look again asks the daemon to look, and shows what it found', async () => {
    const page = await open(`${await dumps()}?tool=home`);
    const asked = [];
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.locator('.watched button', { hasText: 'Look again' }).click();
    await idle(page);
    equal(asked.slice(0, 1), ['POST /api/v1/rescan']);
    truth(asked.includes('GET /api/v1/sessions'), asked.join());
    await page.finish();
  });

  test('a new session is announced by a line, and shown when asked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-home-'));
    cpSync(join(fixtures, 'dumps/seed-matmul-327680'), join(folder, 'first'), { recursive: true });
    const own = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      const page = await open(`${own.url}?tool=home`);
      equal(await page.locator('.home-grid tbody tr').count(), 1);
      cpSync(join(fixtures, 'dumps/d-tile-padding'), join(folder, 'second'), { recursive: true });
      await page.waitForSelector('.home .banner');
      includes(await text(page, '.home .banner'), '1 new session · Show');
      equal(await page.locator('.home-grid tbody tr').count(), 1, 'the list moved by itself');
      await page.locator('.home .banner button').click();
      await page.waitForFunction(() => document.querySelectorAll('.home-grid tbody tr').length === 2);
      equal(await page.locator('.home .banner').count(), 0);
      await page.finish();
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });
}
