/* SPDX-License-Identifier: Apache-2.0
 * empty.mjs: nothing is blank. What is missing, broken or hostile is said in words. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goTo, holdBack } from '../acts.mjs';
import { idle, startDaemon, text } from '../harness.mjs';
import { answerer, makeBuffer, makeWorld } from '../canned.mjs';

const MIB = 1024 ** 2;

export function run({ test, includes, equal, truth, daemon, open, fixtures, binary }) {
  const openWorld = async (change, how = {}) =>
    open(`${await daemon('--demo')}${how.query ?? '?group=none'}`, { canned: answerer(makeWorld(change)), ...how });

  test('an empty folder says where it looked and how to record', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-empty-'));
    try {
      const page = await open(await daemon(`--logdir=${folder}`));
      includes(await text(page, 'h1'), 'No profiles under');
      includes(
        await text(page, '.message'),
        'To record one (it appears here without a restart): with jax.profiler.trace(',
      );
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a folder that is not there yet is waited for, and listed when it appears', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-wait-'));
    try {
      const awaited = join(folder, 'runs');
      const page = await open(await daemon(`--logdir=${awaited}`, '--wait'));
      includes(await text(page, 'h1'), `Waiting for ${awaited}.`);
      includes(await text(page, '.message'), 'is not there. memviewd checks for it every second');
      cpSync(join(fixtures, 'dumps/seed-matmul-327680'), join(awaited, 'seed'), { recursive: true });
      await page.waitForSelector('h1:not(:has-text("Waiting for"))', { timeout: 30000 });
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a dump that is deleted under the page is said to be gone, and what is seen stays', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-gone-'));
    try {
      const dump = join(folder, 'seed');
      cpSync(join(fixtures, 'dumps/seed-matmul-327680'), dump, { recursive: true });
      const page = await open(await daemon(`--logdir=${folder}`), { allow: /404/ });
      const answer = await text(page, 'h1');
      const rows = await page.locator('.panel-table tbody').innerText();
      const file = 'module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb';
      rmSync(join(dump, file));
      await page.waitForSelector(`.banner:has-text("${file} is no longer on disk")`, { timeout: 30000 });
      rmSync(dump, { recursive: true });
      await page.waitForSelector('.banner:has-text("seed is no longer on disk. What you see stays.")', {
        timeout: 30000,
      });
      equal(await text(page, 'h1'), answer);
      equal(await page.locator('.panel-table tbody').innerText(), rows);
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a folder that cannot be read is named with its reason', async () => {
    const page = await openWorld({
      noSessions: true,
      roots: [
        {
          path: '/tmp/xprof',
          readable: false,
          missing: false,
          reason: 'permission denied',
          last_scan_ms: 0,
          file_count: 0,
          depth: 0,
        },
      ],
    });
    includes(
      await text(page, '.message'),
      'Cannot read /tmp/xprof: permission denied. Give the user of the daemon read access, or start it with another ' +
        '--logdir.',
    );
    await page.finish();
  });

  test('files that were not read are listed with reason and byte', async () => {
    const page = await openWorld(
      {
        notRead: [
          { file: 'run/host2.xplane.pb', code: 'truncated', reason: 'ends inside a plane', offset_bytes: 4194304 },
        ],
      },
      { query: '?tool=home' },
    );
    includes(await text(page, '.not-read'), 'run/host2.xplane.pb: ends inside a plane, at byte 4,194,304.');
    await page.finish();
  });

  test('a session without HLO says how to record it', async () => {
    const page = await openWorld({ modules: [] }, { query: '?tool=memory_viewer&session=cccccccccccc' });
    includes(
      await text(page, '.message'),
      'No HLO in this session. The trace was recorded without HLO protos. Record again with jax.profiler.trace ' +
        '(TensorFlow: tf.profiler.experimental.start), or add an XLA dump: XLA_FLAGS="--xla_dump_to=/tmp/dump ' +
        '--xla_dump_hlo_as_proto".',
    );
    includes(
      await page.locator('.message a', { hasText: 'Memory Profile' }).getAttribute('href'),
      'tool=memory_profile',
    );
    await page.finish();
  });

  test('a module without buffer assignment says what the file holds', async () => {
    const page = await open(
      await daemon(
        join(fixtures, 'dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb'),
      ),
    );
    includes(await text(page, '.whole-page'), 'No buffer assignment in this module.');
    includes(
      await text(page, '.whole-page'),
      'The largest arrays of the program are 256.00 MiB f32[8192,8192] (result, ',
    );
    await page.finish();
  });

  test('a trace that does not replay keeps totals and table', async () => {
    const page = await openWorld({
      space: {
        replay_error:
          'Buffer 17855 in event 20113 of heap trace 0: it is freed twice; the curve ends there, ' +
          'totals and sizes hold.',
      },
    });
    includes(
      await text(page, '.panel-curve'),
      'jit_train_step cannot be replayed. Buffer 17855 in event 20113 of heap trace 0: it is freed twice. Totals and ' +
        'the table are still right; curve and strips are left out.',
    );
    equal(await page.locator('.panel-strips').isVisible(), false);
    equal(await page.locator('.panel-table tbody tr').count(), 2);
    await page.finish();
  });

  test('without a heap trace the page says where positions come from', async () => {
    const page = await openWorld({ space: { step_unit: 'schedule' } });
    includes(
      await text(page, '.panel-curve'),
      'No heap trace: sizes are exact, positions over time come from the schedule.',
    );
    includes(await text(page, 'h1'), 'at position 1 of 4 in the schedule');
    await page.finish();
    const bare = await openWorld({ space: { step_unit: 'none', peak_step: null } });
    includes(await text(bare, '.panel-curve'), 'No heap trace and no schedule.');
    await bare.finish();
    const flat = await open(await daemon(join(fixtures, 'dumps/f5-vmem-matmul-blocks')));
    includes(
      await text(flat, '.panel-curve'),
      'Nothing is allocated or freed. Everything in HBM lives for the whole program: 384.00 MiB',
    );
    includes(await text(flat, '.error-text'), 'Ran out of memory in memory space vmem');
    await flat.finish();
  });

  test('a module that cannot be read names file, byte and reason', async () => {
    const page = await openWorld({
      module: { error: { code: 'truncated', reason: 'length runs past the end', offset_bytes: 1234 } },
    });
    includes(
      await text(page, '.whole-page'),
      'jit_train_step cannot be read. Length runs past the end (byte 1,234 of host0.xplane.pb)',
    );
    await page.finish();
  });

  test('one view that fails leaves the others alone', async () => {
    const problem = {
      type: 'about:blank',
      title: 'Unprocessable',
      status: 422,
      detail: 'length runs past the end',
      code: 'malformed',
      file: 'host0.xplane.pb',
      offset_bytes: 77,
    };
    const page = await openWorld(
      { intercept: (parts) => (parts[1] === 'strips' ? { status: 422, json: problem } : null) },
      { allow: /422/ },
    );
    includes(
      await text(page, '.panel-strips'),
      'The strips could not be read. Length runs past the end. File: host0.xplane.pb, at byte 77.',
    );
    equal(await page.locator('.panel-table tbody tr').count(), 2);
    truth(await page.locator('.curve-host canvas').first().isVisible(), 'the curve went away too');
    await page.finish();
  });

  test('hostile names stay text: markup, control and bidirectional marks, 10,000 characters', async () => {
    const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const buffers = [
      makeBuffer('1', `${markup}${'x'.repeat(10000)}_end`, 64 * MIB, {
        op_name: `a\u202Eb\u0000${'y'.repeat(10000)}`,
        shape: markup,
        source_file: `/tmp/${'z'.repeat(10000)}/"><b>.py`,
      }),
      makeBuffer('2', '\u202Egnp.exe\n\u0007', 32 * MIB),
      makeBuffer('<b>', 'שלום \u0627\u0644', 16 * MIB),
    ];
    const page = await openWorld(
      {
        name: markup,
        sessionName: `run/\u202E${markup}`,
        hostName: 'h'.repeat(10000),
        buffers,
        notes: [{ code: 'x', count: 1, text: `${markup} is left out.` }],
        errorTexts: [{ file: 'error.txt', text: `${markup}\nsecond line \u202E` }],
      },
      { width: 1280, height: 720 },
    );
    equal(await page.locator('main img, main script, main b, .bar img, .details img').count(), 0);
    truth((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280, 'the page grew');
    truth(
      !/[\u202e\u0000\u0007]/.test(await page.evaluate(() => document.body.textContent + document.title)),
      'a raw control character is on the page',
    );
    includes(
      (await page.locator('.panel-table .c-name').allInnerTexts()).join(' ').replace(/\s/g, ''),
      '⟨202E⟩gnp.exe␊␇',
    );
    equal(
      await page
        .locator('.name')
        .first()
        .evaluate((node) => getComputedStyle(node).unicodeBidi),
      'isolate',
    );
    await page.locator('.panel-table tbody tr').first().click();
    await page.waitForURL(/pin=b:1/);
    await idle(page);
    const box = await page.locator('.details').evaluate((node) => [node.scrollWidth, node.clientWidth]);
    truth(box[0] <= box[1], `the pane grew to ${box[0]} px`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.details.is-open', { state: 'hidden' });
    await page.locator('.notes-button').click();
    includes(await text(page, '.notes-list'), `${markup} is left out.`);
    await page.finish();
    const phone = await openWorld({ name: markup + 'x'.repeat(9000), buffers }, { width: 390, height: 844 });
    truth((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 390, 'the page grew on a phone');
    await phone.finish();
  });

  test('nothing live, nothing sized: panels say so', async () => {
    const page = await openWorld({
      buffers: [],
      space: {
        peak_bytes: 0,
        total_bytes: 0,
        temporary_bytes: 0,
        fragmentation_bytes: 0,
        padding_bytes: 0,
        peak_unpadded_bytes: 0,
      },
    });
    includes(await text(page, '.panel-strips'), 'Nothing is live at the peak.');
    includes(await text(page, '.panel-table'), 'Nothing is live at the peak.');
    await page.finish();
  });

  test('a daemon that goes away is named; what is seen stays; it goes on by itself', async () => {
    const options = [join(fixtures, 'dumps/seed-matmul-327680')];
    const daemonOne = await startDaemon(binary, options);
    const page = await open(`${daemonOne.url}?group=none`, {
      isPassingKept: false,
      allow: /ERR_CONNECTION_REFUSED|Failed to load resource/,
    });
    await daemonOne.stop();
    await page.waitForSelector('.banner');
    includes(await text(page, '.banner'), 'What you see stays; trying again every 5 s.');
    includes(await text(page, 'h1'), '300.00 GiB');
    await page.locator('.panel-table th.c-pad').click();
    await page.waitForTimeout(300);
    equal(await page.locator('.panel-table tbody tr[data-id]').count(), 2, 'rows of the table');
    const asked = page.waitForRequest('**/api/v1/about');
    await page.getByText('Try now').click();
    await asked;
    equal(await page.locator('.banner').count(), 1, 'it is still gone');
    const daemonTwo = await startDaemon(binary, options, new URL(daemonOne.url).port);
    await page.waitForSelector('.banner', { state: 'detached' });
    await idle(page);
    includes(await text(page, 'h1'), '300.00 GiB');
    await page.finish();
    await daemonTwo.stop();
  });

  test('a daemon that asks for a token says where to find it', async () => {
    const denied = {
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      detail: 'a token is needed',
      code: 'argument',
      file: null,
      offset_bytes: null,
    };
    const page = await openWorld({ intercept: () => ({ status: 401, json: denied }) }, { allow: /401/ });
    includes(
      await text(page, '.banner'),
      'This daemon requires a token. Open the link that it printed at start, or append #token= and the token from ' +
        'its file to the address.',
    );
    await page.finish();
  });

  test('what needs more memory than the daemon may take names the option, other limits do not', async () => {
    const small = await open(await daemon('--demo', '--memory-limit=1'), { allow: /413/ });
    includes(await text(small, '.whole-page .message'), 'Start the daemon with a larger --memory-limit=MIB.');
    await small.finish();
    const world = makeWorld({
      intercept: (parts) =>
        parts[0] === 'memory_viewer' && {
          status: 413,
          json: { code: 'limit', detail: 'needs more memory than allowed' },
        },
    });
    const other = await open(await daemon('--demo'), { canned: answerer(world), allow: /413/ });
    includes(await text(other, '.whole-page .message'), 'Needs more memory than allowed.');
    equal((await text(other, '.whole-page .message')).includes('--memory-limit'), false);
    await other.finish();
  });

  test('while files are read the page says how much of them, and of how long', async () => {
    const page = await openWorld({});
    const readings = [
      { file: 'host0.xplane.pb', size_bytes: 1024, read_bytes: 256, took_ms: 3000, left_ms: 9000, text: '256 B, 25 %' },
    ];
    const known = {
      failure: { count: 1, family: 'xla_compile', title: 'TPU compile-time OOM in HBM (E1000)' },
      error_texts: [{ file: 'error.txt', text: 'RESOURCE_EXHAUSTED: E1000: out of memory' }],
      hosts: [],
      files: [
        { name: 'error.txt', size_bytes: 2048, kind: 'error_text' },
        { name: 'big.hlo.pb', size_bytes: 1024 ** 3, kind: 'hlo' },
      ],
    };
    await page.route(/\/api\/v1\/sessions\/[^/?]+$/, (route) => route.fulfill({ json: known }));
    await page.route('**/api/v1/readings**', (route) => route.fulfill({ json: { session: 's', readings } }));
    const { release } = await holdBack(page, '**/memory_viewer/summary**');
    await goTo(page, '?space=0');
    await page.waitForSelector('.reading-bars progress');
    equal(await text(page, '.reading-bars li'), '256 B, 25 %. host0.xplane.pb');
    equal(await page.locator('.reading-bars progress').evaluate(({ value, max }) => value / max), 0.25);
    await page.waitForSelector('.known-files li');
    equal(await page.locator('.known-files code').allInnerTexts(), ['big.hlo.pb', 'error.txt']);
    equal(await page.locator('.known-files .figure').allInnerTexts(), ['1.00 GiB', '2.0 KiB']);
    includes(await text(page, '.known-failure'), 'TPU compile-time OOM in HBM (E1000).');
    includes(await text(page, '.known pre'), 'RESOURCE_EXHAUSTED');
    readings[0].read_bytes = 512;
    await page.waitForFunction(() => document.querySelector('.reading-bars progress').position === 0.5);
    release();
    await page.waitForSelector('.panel-table tbody tr');
    equal(await page.locator('.panel-wait:visible, .panel-follows').count(), 0);
    await page.drop();
  });

  test('a panel that has nothing yet says what it waits for', async () => {
    const page = await openWorld({});
    await page.evaluate(async () => {
      const { createPanel } = await globalThis.memviewd.use('widgets/panel.js');
      const panel = createPanel('panel-of-test', 'Title');
      document.body.append(panel.node);
      globalThis.endOfWait = panel.wait('', null);
    });
    await page.waitForSelector('.panel-of-test .panel-follows p');
    await page.evaluate(() => globalThis.endOfWait());
    equal(await page.locator('.panel-follows').count(), 0);
    await page.drop();
  });

  test('a slow answer is named after a second and can be cancelled', async () => {
    const page = await openWorld({});
    const heightPx = await page.locator('.curve').evaluate((node) => node.getBoundingClientRect().height);
    const { release } = await holdBack(page, '**/memory_viewer/summary**');
    await goTo(page, '?space=0');
    await page.waitForSelector('.panel-wait:not([hidden])');
    includes(await text(page, '.panel-wait'), 'Reading jit_train_step of run/one.');
    equal(
      await page.locator('.curve').evaluate((node) => node.getBoundingClientRect().height),
      heightPx,
      'the old picture became lower',
    );
    await page.locator('.panel-wait button').first().click();
    includes(await text(page, '.whole-page'), 'was stopped');
    await page.unroute('**/memory_viewer/summary**');
    await page.locator('.whole-page button', { hasText: 'Read it' }).click();
    await page.waitForSelector('.panel-table tbody tr');
    release();
    await page.drop();
  });
}
