/* SPDX-License-Identifier: Apache-2.0
 * oom.mjs: the page of out-of-memory texts. Figures are read off the texts themselves. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytes } from '../../../web/lib/format.js';
import { idle, startDaemon, text } from '../harness.mjs';

/* The forms of the public documents: one buffer too large, the one-sentence total, a program that finds no place. */
const EXCEEDS =
  "XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory (size=17179869184) :: #allocation7 [shape = 'u8[327680,327680]{1,0:T(8,128)(4,1)}', space=hbm, size = 0xffffffffffffffff, tag = 'output of xor_convert_fusion@{}'] :: <no-hlo-instruction>\n";
const GPU = 'XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 214748364800 bytes.\n';
const LOAD =
  "XlaRuntimeError: RESOURCE_EXHAUSTED: Error loading program 'jit_embedding_pipeline_step_fn': Attempting to reserve 29.49G at the bottom of memory. That was not possible. There are 147.64M free, 0B reserved, and 147.64M reservable. Scope: unknown..: while running replica 0 and partition 34 of a replicated computation (other replicas may have failed as well).\n";
const USED = 'RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. Exceeded hbm capacity by 17.34G.\n';
const EARLY =
  "RESOURCE_EXHAUSTED: Compilation failure: Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G available. If more detailed logging is desired, set --xla_tpu_impure_oom_fast_exit_threshold=-1\n";
const HOLES =
  'RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 9.60G. That was not possible. There are 14.10G free. The largest contiguous region of free memory is 9.20G due to fragmentation.; (0x1x0_HBM0)\n';

export function run({ test, includes, equal, truth, daemon, open, fixtures, binary }) {
  const report = readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-adamlin.txt'), 'utf8');

  /* The page of a text that is pasted into the field, as a reader does it. */
  async function paste(given, how = {}) {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, { allow: /404/, ...how });
    await page.locator('.oom-field').fill(given);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.waitForURL(/local=[1-9a-f]/);
    await idle(page);
    return page;
  }
  const marks = (page) => page.locator('.oom-text mark').allTextContents();
  const lit = (page, selector) => page.locator(`${selector}.is-lit`).allTextContents();

  /* A folder of logs, served for the time of `body`. */
  async function withLogs(files, body) {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-oom-'));
    let server = null;
    try {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(join(folder, path, '..'), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      server = await startDaemon(binary, [`--logdir=${folder}`]);
      await body(server.url);
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true });
    }
  }

  test('a program without a plan is explained by its arrays', async () => {
    const url = await daemon(join(fixtures, 'dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb'));
    const page = await open(`${url}?tool=oom&capacity=200MiB`, { allow: /404/ });
    includes(await text(page, 'h1'), 'cannot fit: its arguments and results alone take at least 384.00 MiB');
    const rows = await page.locator('.panel-oom-arrays tbody tr').allTextContents();
    equal(rows.length, 3);
    includes(rows[0], 'f32[8192,8192]');
    includes(rows[0], 'oom.py:58');
    includes(await text(page, '.panel-oom-arrays'), 'Which of them live at one time is not known');
    includes(await text(page, '.panel-oom-advice'), 'no setting makes room for 256.00 MiB');
    await page.finish();
  });

  test('the example of the guide is pasted: from its text to advice', async () => {
    const page = await paste(USED);
    includes(await text(page, 'h1'), '49.34 GiB; 32.00 GiB of HBM');
    const heads = (column) => page.locator(`${column} > .panel:visible h2`).evaluateAll((found) => found.map((head) => head.firstChild.textContent));
    equal(await heads('.oom-left'), ['Where did it all go?', 'Text as given']);
    equal(await heads('.oom-right'), ['What will make it fit?', 'The error gives a total only']);
    equal(await heads('.oom-body'), ['How these figures are computed']);
    includes(await text(page, '.panel-oom-where'), '49.34 GiB');
    const said = await text(page, '.panel-oom-advice');
    includes(said, 'Run it on a larger chip');
    truth(!said.includes('--xla_dump_to='), 'what only shows more is no advice');
    includes(await text(page, '.panel-oom-next'), '--xla_dump_to=');
    equal(await page.locator('.panel-oom-advice input').count(), 0, 'what nothing predicts cannot be ticked');
    await page.finish();
  });

  test('one buffer larger than the memory: 100.00 of 16.00 GiB', async () => {
    const page = await paste(EXCEEDS);
    includes(await text(page, 'h1'), 'TPU compile-time OOM: the program needs 100.00 GiB; 16.00 GiB of HBM are available. Over by 84.00 GiB.');
    equal(await page.title(), '100.00 GiB · pasted text · OOM – memviewd');
    includes(await text(page, '.panel-oom-where'), 'one buffer 100.00 GiB');
    includes(await text(page, '.panel-oom-table'), 'output of xor_convert_fusion@{}');
    truth((await marks(page)).includes('107374182400'), 'the size is not marked');
    await page.finish();
  });

  test('the same program on a GPU: 200.00 GiB, nothing said of what is free', async () => {
    const page = await paste(GPU);
    includes(await text(page, 'h1'), 'GPU OOM: a program asks for 200.00 GiB; how much is free is not in the text.');
    equal(await marks(page), ['214748364800 bytes']);
    await page.finish();
  });

  test('a program that finds no place: shortage, and that arrays go before programs', async () => {
    const page = await paste(LOAD);
    includes(await text(page, 'h1'), 'TPU program-load OOM: jit_embedding_pipeline_step_fn asks for 29.49 GiB; 147.64 MiB can be reserved. Short by 29.35 GiB.');
    const why = await text(page, '.oom-whys');
    includes(why, 'Shortage: less is free in all (147.64 MiB) than was requested');
    includes(why, 'Arrays have priority over programs');
    includes(await text(page, '.panel-oom-next'), '--tpu_log_allocations_on_oom');
    await page.finish();
  });

  test('enough is free, but in pieces: fragmentation, not shortage', async () => {
    const page = await paste(HOLES);
    includes(await text(page, 'h1'), 'enough is free (14.10 GiB), but the largest hole is 9.20 GiB and an array asks for 9.60 GiB: fragmentation, not shortage.');
    includes(await text(page, '.panel-oom-where'), 'largest hole 9.20 GiB');
    equal(await page.locator('.oom-over').count(), 1);
    await page.finish();
  });

  test('enough is free, but less can be reserved: fragmentation as well', async () => {
    const page = await paste('RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are 6.78G free, 0B reserved, and 3.33G reservable.\n');
    includes(await text(page, 'h1'), 'enough is free (6.78 GiB), but what can be reserved in one piece is 3.33 GiB and the program asks for 6.48 GiB: fragmentation, not shortage.');
    await page.finish();
  });

  test('an early end names the flag of its release', async () => {
    const page = await paste(EARLY);
    includes(await text(page, 'h1'), 'the program needs 3.84 TiB');
    includes(await text(page, '.panel-oom-next'), '--xla_tpu_impure_oom_fast_exit_threshold=-1');
    await page.finish();
  });

  test('a total alone says so and gives the command to copy', async () => {
    const page = await paste('RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (300.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n');
    includes(await text(page, '.panel-oom-next h2'), 'The error gives a total only');
    includes(await text(page, '.command'), '--xla_dump_to=');
    equal(await page.locator('.command').first().getByRole('button', { name: 'copy' }).count(), 1);
    includes(await text(page, '.panel-oom-where'), 'not itemised in the text 300.00 GiB');
    await page.finish();
  });

  test('what to run after a failure of a GPU stands in blocks with a copy each, never within a sentence', async () => {
    for (const given of [readFileSync(join(fixtures, 'text/oom-bfc.txt'), 'utf8'), GPU]) {
      const page = await paste(given);
      const next = page.locator('.panel-oom-next');
      const runs = await next.locator('.command code').allTextContents();
      truth(runs.length >= 2 && runs.some((run) => run.startsWith('with jax.profiler.trace(')), `commands: ${runs}`);
      equal(await next.locator('.command').getByRole('button', { name: 'copy' }).count(), runs.length);
      const inline = (await next.locator('p').allTextContents()).filter((said) => /jax\.|[A-Z]_[A-Z]+=|--\w/.test(said));
      equal(inline, []);
      await page.finish();
    }
  });

  test('the parts of a report add up to what was asked', async () => {
    const page = await paste(report);
    includes(await text(page, 'h1'), 'the program needs 17.75 GiB; 15.75 GiB of HBM are available. Over by 2.00 GiB.');
    const where = await text(page, '.panel-oom-where');
    for (const part of ['arguments 15.75 GiB', 'temporaries and code 2.00 GiB', 'fragmentation 31.0 KiB', 'in all 17.75 GiB', 'over by 2.00 GiB']) includes(where, part);
    includes(await text(page, '.panel-oom-table'), '11 buffers listed in the text');
    await page.finish();
  });

  test('figures and text light each other, and a click goes both ways', async () => {
    const page = await paste(report);
    await page.locator('.panel-oom-made > summary').click();
    const figure = page.locator('.oom-facts .figure-link', { hasText: '15.75 GiB' });
    await figure.hover();
    equal(await lit(page, '.oom-text mark'), ['15.75G']);
    await page.locator('.oom-text mark', { hasText: '258.00M' }).hover();
    equal(await lit(page, '.figure-link'), ['258.00 MiB']);
    await page.mouse.move(0, 0);
    equal((await lit(page, '.figure-link')).length, 0);
    await figure.click();
    equal(await page.evaluate(() => document.activeElement.textContent), '15.75G');
    await page.keyboard.press('Enter');
    equal(await page.evaluate(() => document.activeElement.textContent), '15.75 GiB');
    await page.finish();
  });

  test('a row of the table lights and finds its buffer in the text', async () => {
    const page = await paste(report);
    const row = page.locator('.panel-oom-table tbody tr', { hasText: '2.00' }).first();
    await row.hover();
    truth((await lit(page, '.oom-text mark')).includes('jit(f)/loss/jvp()/dot_general'), 'the op name is not lit');
    await row.click();
    includes(await page.evaluate(() => document.activeElement.closest('.oom-text') && document.activeElement.textContent), '2.00G');
    await page.finish();
  });

  test('equal buffers are one row that opens; they are grouped as the reader wants', async () => {
    const page = await paste(report);
    const groups = page.locator('.panel-oom-table tbody tr.is-group');
    equal((await groups.locator('.figure:has-text("×")').allInnerTexts()), ['3 × 4.50 GiB', '3 × 4.50 GiB'], 'arguments, and the outputs that lie in them');
    await groups.first().focus();
    await page.keyboard.press('ArrowRight');
    await idle(page);
    equal(await page.locator('.panel-oom-table tbody tr[aria-level="2"]').count(), 3);
    await page.locator('.panel-oom-table .group-choice').selectOption('none');
    await idle(page);
    includes(page.url(), 'group=none');
    equal(await page.locator('.panel-oom-table tbody tr[aria-rowindex]').count(), 11);
    await page.locator('.panel-oom-table .group-choice').selectOption('shape');
    await idle(page);
    equal((await groups.locator('.figure:has-text("×")').allInnerTexts()).slice(0, 2), ['3 × 4.50 GiB', '3 × 4.50 GiB']);
    await page.finish();
  });

  test('a mark of the text opens the group of its buffer', async () => {
    const page = await paste(report);
    const mark = page.locator('.oom-text mark', { hasText: '4.50G' }).last();
    await mark.click();
    await idle(page);
    truth((await page.locator('.panel-oom-table tbody tr[aria-level="2"]').count()) > 0, 'its group is closed');
    await page.finish();
  });

  test('several reports: equal ones are counted, each has a link', async () => {
    const page = await paste(USED + LOAD + LOAD + LOAD + GPU);
    includes(await text(page, '.oom-reports-title'), '5 reports, 3 equal');
    equal(await page.locator('.oom-reports li').count(), 3);
    includes(await text(page, 'h1'), '49.34 GiB; 32.00 GiB of HBM');
    await page.locator('.oom-reports a').nth(1).click();
    await idle(page);
    includes(page.url(), 'report=2');
    includes(await text(page, 'h1'), 'jit_embedding_pipeline_step_fn');
    await page.keyboard.press('n');
    await idle(page);
    includes(page.url(), 'report=3');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), 'jit_embedding_pipeline_step_fn');
    await page.finish();
  });

  test('a report that is not there gives a banner and the first', async () => {
    const page = await paste(USED);
    await page.goto(`${page.url()}&report=9`);
    await idle(page);
    includes(await text(page, '#banners'), 'Report 9 is not in this text; showing the first.');
    includes(await text(page, 'h1'), '49.34 GiB');
    await page.finish();
  });

  test('a text without a failure says so and names the use', async () => {
    const page = await paste('I0101 x.cc:1] XLA::TPU program HBM usage: 9.10G / 15.75G\n');
    equal(await text(page, 'h1'), 'No failure here.');
    includes(await text(page, '.oom-nothing'), '(9.10 GiB of 15.75 GiB HBM), but no error');
    await page.finish();
  });

  test('what is not recognised shows the lines that mention memory', async () => {
    const page = await paste('step 1\nsomething about memory\nstep 2\n');
    equal(await text(page, 'h1'), 'No out-of-memory report found in 3 lines.');
    includes(await text(page, '.oom-nothing'), 'Looked for: TPU E1000');
    equal(await page.locator('.oom-line').first().isVisible(), false);
    await page.getByRole('button', { name: 'Show the lines that mention memory: 1' }).click();
    includes(await text(page, '.oom-line'), 'something about memory');
    await page.finish();
  });

  test('names with markup and terminal escapes stay text', async () => {
    const name = '<img src=x onerror=alert(1)>\u001b[31m';
    const page = await paste(LOAD.replace('jit_embedding_pipeline_step_fn', name));
    includes(await text(page, 'h1'), '<img src=x onerror=alert(1)>');
    equal(await page.locator('main img').count(), 0);
    await page.finish();
  });

  test('without any text the field comes first; an empty one is not sent', async () => {
    await withLogs({ 'notes.bin': 'x' }, async (url) => {
      const page = await open(`${url}?tool=oom`);
      equal(await text(page, 'h1'), 'Out of memory? Paste the error text.');
      await page.getByRole('button', { name: 'Explain' }).click();
      includes(await text(page, '.oom-said'), 'The field is empty');
      await page.finish();
    });
  });

  test('a reload, and a daemon that forgot, find the text of this tab again', async () => {
    await withLogs({}, async (url) => {
      const page = await open(`${url}?tool=oom`, { allow: /404/ });
      await page.locator('.oom-field').fill(USED);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.waitForURL(/local=/);
      await idle(page);
      await page.reload();
      await idle(page);
      includes(await text(page, 'h1'), '49.34 GiB');
      equal((await page.evaluate(() => location.href)).includes('Ran'), false);
      await page.finish();
    });
  });

  test('a link to a text of another tab asks for it', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'ab'.repeat(16)}`, { allow: /404/ });
    equal(await text(page, 'h1'), 'This link shows a text that was given, not stored.');
    equal(await page.locator('.oom-field').isVisible(), true);
    await page.finish();
  });

  test('a log in the folder is a session; as the newest it opens at once', async () => {
    await withLogs({ 'job/train.log': `step 1\n${LOAD}` }, async (url) => {
      const page = await open(url, { isBare: true });
      includes(await text(page, 'h1'), 'jit_embedding_pipeline_step_fn asks for 29.49 GiB');
      includes(await text(page, '.oom-source'), 'train.log');
      await page.goto(`${url}?tool=home`);
      await idle(page);
      includes(await text(page, '.home-grid'), 'job/train.log');
      await page.finish();
    });
  });

  test('the verdict of a dump leads to its program', async () => {
    const page = await open(await daemon('--demo'), { isBare: true });
    includes(await text(page, 'h1'), 'jit_train_step needs 33.49 GiB; 15.75 GiB of HBM are available. Over by 17.74 GiB.');
    await page.getByRole('link', { name: 'jit_train_step in the Memory Viewer' }).click();
    await idle(page);
    includes(page.url(), 'tool=memory_viewer');
    includes(await text(page, 'h1'), '33.49 GiB');
    await page.finish();
  });

  test('a text that gives a total alone is itemised from the plan of its dump', async () => {
    const page = await open(`${await daemon('--demo')}`, { isBare: true });
    equal(await text(page, '.answer-second'), 'Over by 17.74 GiB.');
    includes(await text(page, '.oom-whys'), '12 × 2.00 GiB bf16[16,16,2048,2048] and smaller ones, models.py:11 and elsewhere.');
    const where = await text(page, '.panel-oom-where');
    for (const part of ['in all 33.49 GiB', 'over by 17.74 GiB', 'parameters 413.05 MiB', 'saved activations 27.80 GiB', 'workspace 4.39 GiB']) includes(where, part);
    await page.locator('.panel-oom-made > summary').click();
    const made = await text(page, '.panel-oom-made');
    for (const part of ['arguments 1.21 GiB', 'temporaries, without fragmentation 32.20 GiB', 'fragmentation of the heap 88.42 MiB', 'in all 33.49 GiB', 'Text and plan agree: 33.49 GiB in the text, 33.49 GiB in the plan, the same but for rounding.'])
      includes(made, part);
    const groups = page.locator('.oom-largest tbody tr');
    includes((await groups.first().innerText()).replace(/\s+/g, ' '), '24.00 GiB 72 % 12 × 2.00 GiB');
    includes(await groups.first().innerText(), 'saved activation');
    await page.locator('.oom-by-pattern summary').click();
    includes(await text(page, '.oom-largest'), 'Attention scores hold 26.00 GiB at the peak');
    const sum = await groups.locator('.number:first-child .figure').evaluateAll((figures) => figures.reduce((all, node) => all + Number(node.title.replace(/ B.*|,/g, '')), 0));
    const rest = await page.locator('.oom-largest tfoot .figure').evaluate((node) => Number(node.title.replace(/ B.*|,/g, '')));
    equal(sum + rest, 35870178816, 'the groups and the rest are not the peak');
    equal(await page.locator('.panel-oom-table').isVisible(), false, 'the plan stands twice');
    await page.finish();
  });

  test('groups of the plan of a text that lists none lead to the Memory Viewer', async () => {
    const dump = join(fixtures, 'dumps/seed-matmul-327680');
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-plan-'));
    for (const each of readdirSync(dump).filter((each) => each.endsWith('.hlo.pb'))) copyFileSync(join(dump, each), join(folder, each));
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
    for (const each of readdirSync(dump).filter((each) => each.endsWith('.hlo.pb'))) copyFileSync(join(dump, each), join(folder, each));
    writeFileSync(join(folder, 'error.txt'), 'RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (310.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n');
    const own = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      const page = await open(`${own.url}?tool=oom`);
      await page.locator('.panel-oom-made > summary').click();
      includes(await text(page, '.oom-agreement'), 'Text and plan disagree: 310.00 GiB in the text, 300.00 GiB in the plan, 10.00 GiB less.');
      await page.finish();
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test('a pasted text of 6 MiB is answered at once: the field is not made to lay it out', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, { allow: /404/ });
    await page.evaluate((line) => {
      const data = new DataTransfer();
      data.setData('text/plain', line.repeat(70000) + 'RESOURCE_EXHAUSTED: Out of memory while trying to allocate 214748364800 bytes.\n');
      document.querySelector('.oom-field').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, 'I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n');
    await page.waitForURL(/local=[1-9a-f]/);
    await idle(page);
    includes(await text(page, 'h1'), '200.00 GiB');
    equal(await page.locator('.oom-field').inputValue(), '');
    await page.finish();
  });

  test('the stack of a kernel is not given the size of what the kernel returns', async () => {
    const page = await paste(readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-scoped.txt'), 'utf8'));
    includes(await text(page, '.answer-second'), 'Largest: 40.00 MiB, the stack of one kernel, whose result is f32[4096,4096].');
    includes(await text(page, '.panel-oom-table tbody'), 'stack of the kernel for f32[4096,4096]');
    await page.finish();
  });

  test('outputs that share arguments are counted once', async () => {
    const page = await paste(report);
    includes(await text(page, '.answer-second'), 'Largest: 3 × 4.50 GiB f32[36864,32768].');
    includes(await text(page, '.panel-oom-table'), '11 buffers listed in the text, 17.75 GiB. Outputs of 13.50 GiB lie in the memory of arguments and are not counted again.');
    await page.finish();
  });

  test('a GPU program has the temporaries that its report states', async () => {
    const page = await paste(readFileSync(join(fixtures, 'text/oom-gpu-assignment.txt'), 'utf8'));
    const stated = /preallocated temp allocation:\s+([\d.]+)GiB/.exec(readFileSync(join(fixtures, 'text/oom-gpu-assignment.txt'), 'utf8'))[1];
    includes(await text(page, '.panel-oom-where'), `temporaries ${stated} GiB`);
    await page.finish();
  });

  test('enough is free, too little of it in one piece: the page says what the command line says', async () => {
    const page = await paste('RESOURCE_EXHAUSTED: Attempting to reserve 1.50G at the bottom of memory. That was not possible. There are 2.00G free, 0B reserved, and 1.00G reservable.\n');
    includes(await text(page, '.panel-oom-where'), 'short by 0.50 GiB');
    includes(await text(page, 'h1'), 'fragmentation, not shortage.');
    await page.finish();
  });

  test('command line, JSON and page show the same figures of every recorded text', async () => {
    const base = await daemon('--demo');
    const folder = join(fixtures, 'oom');
    for (const file of readdirSync(folder).filter((each) => each.endsWith('.txt'))) {
      const lines = execFileSync(binary, ['explain', join(folder, file)], { encoding: 'utf8' });
      const [{ verdict }] = JSON.parse(execFileSync(binary, ['explain', '--json', join(folder, file)], { encoding: 'utf8' }));
      const given = await fetch(`${base}api/v1/oom`, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: readFileSync(join(folder, file)) });
      const { local, failures } = await given.json();
      equal(failures[0].verdict, verdict, file);
      const page = await open(`${base}?tool=oom&local=${local}`);
      const facts = await page.locator('.oom-facts div').evaluateAll((nodes) => nodes.map((node) => [node.querySelector('dt').textContent, node.querySelector('dd .figure')?.textContent]));
      const shown = new Map(facts);
      for (const { word, bytes: size, text: said } of verdict.figures) {
        equal(shown.get(word), said ?? bytes(size), `${file}: ${word} on the page`);
        const printed = said ?? (size < 1024 ** 2 && size >= 1024 ? `${(size / 1024).toFixed(2)} KiB` : bytes(size));
        truth(lines.split('\n').some((line) => line.endsWith(` ${printed.replaceAll(',', '')}`)), `${file}: no line with ${printed}`);
      }
      await page.locator('.panel-oom-made > summary').click();
      equal(await text(page, '.oom-fits'), verdict.fits);
      const commands = (await page.locator('.panel-oom-next .command code').allTextContents()).map((each) => each.trim());
      equal(commands, verdict.next_steps.filter((step) => step.kind === 'command').map((step) => step.text.trim()), file);
      for (const command of commands) includes(lines, command);
      await page.finish();
    }
  });

  test('a text alone is open, in the place of the list that it does not have', async () => {
    const page = await paste('x\n'.repeat(20) + USED);
    equal(await page.locator('.oom-left .oom-text').count(), 1);
    equal(await page.getByRole('button', { name: /^(Unf|F)old the text/ }).filter({ visible: true }).count(), 0);
    truth((await page.locator('.oom-text').evaluate((node) => node.clientHeight)) > 300);
    await page.finish();
  });

  for (const [width, height] of [
    [1440, 900],
    [1000, 640],
    [390, 844],
  ])
    test(`nothing hangs over at ${width} × ${height}`, async () => {
      const page = await paste(report + LOAD, { width, height });
      equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth <= 0), true, 'the page');
      const wide = await page.evaluate(() => [...document.querySelectorAll('.oom *')].filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest('.grid-scroll, .hidden')).map((node) => node.className));
      equal(wide, []);
      await page.finish();
    });
}
