/* SPDX-License-Identifier: Apache-2.0
 * oom.mjs: the page of out-of-memory texts. Figures are read off the texts themselves. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytes } from '../../../web/lib/format.js';
import { idle, startDaemon, text } from '../harness.mjs';
import { EARLY, EXCEEDS, GPU, HOLES, LOAD, USED, pasteInto } from '../oom_texts.mjs';

export function run({ test, includes, equal, truth, daemon, open, fixtures, binary }) {
  const report = readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-adamlin.txt'), 'utf8');

  const paste = pasteInto({ daemon, open });
  const marks = (page) => page.locator('.oom-text mark').allTextContents();

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
    const url = await daemon(
      join(fixtures, 'dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb'),
    );
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
    const heads = (column) =>
      page
        .locator(`${column} > .panel:visible h2`)
        .evaluateAll((found) => found.map((head) => head.firstChild.textContent));
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
    includes(
      await text(page, 'h1'),
      'TPU compile-time OOM: the program needs 100.00 GiB; 16.00 GiB of HBM are available. Over by 84.00 GiB.',
    );
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
    includes(
      await text(page, 'h1'),
      'TPU program-load OOM: jit_embedding_pipeline_step_fn asks for 29.49 GiB; 147.64 MiB can be reserved. Short by ' +
        '29.35 GiB.',
    );
    const why = await text(page, '.oom-whys');
    includes(why, 'Shortage: less is free in all (147.64 MiB) than was requested');
    includes(why, 'Arrays have priority over programs');
    includes(await text(page, '.panel-oom-next'), '--tpu_log_allocations_on_oom');
    await page.finish();
  });

  test('enough is free, but in pieces: fragmentation, not shortage', async () => {
    const page = await paste(HOLES);
    includes(
      await text(page, 'h1'),
      'enough is free (14.10 GiB), but the largest hole is 9.20 GiB and an array asks for 9.60 GiB: fragmentation, ' +
        'not shortage.',
    );
    includes(await text(page, '.panel-oom-where'), 'largest hole 9.20 GiB');
    equal(await page.locator('.oom-over').count(), 1);
    await page.finish();
  });

  test('enough is free, but less can be reserved: fragmentation as well', async () => {
    const page = await paste(
      'RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are ' +
        '6.78G free, 0B reserved, and 3.33G reservable.\n',
    );
    includes(
      await text(page, 'h1'),
      'enough is free (6.78 GiB), but what can be reserved in one piece is 3.33 GiB and the program asks for 6.48 ' +
        'GiB: fragmentation, not shortage.',
    );
    await page.finish();
  });

  test('an early end names the flag of its release', async () => {
    const page = await paste(EARLY);
    includes(await text(page, 'h1'), 'the program needs 3.84 TiB');
    includes(await text(page, '.panel-oom-next'), '--xla_tpu_impure_oom_fast_exit_threshold=-1');
    await page.finish();
  });

  test('a total alone says so and gives the command to copy', async () => {
    const page = await paste(
      'RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO ' +
        'temporaries (300.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n',
    );
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
      const inline = (await next.locator('p').allTextContents()).filter((said) =>
        /jax\.|[A-Z]_[A-Z]+=|--\w/.test(said),
      );
      equal(inline, []);
      await page.finish();
    }
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

  test('a pasted text of 6 MiB is answered at once: the field is not made to lay it out', async () => {
    const page = await open(`${await daemon('--demo')}?tool=oom&local=${'0'.repeat(32)}`, { allow: /404/ });
    await page.evaluate((line) => {
      const data = new DataTransfer();
      data.setData(
        'text/plain',
        line.repeat(70000) + 'RESOURCE_EXHAUSTED: Out of memory while trying to allocate 214748364800 bytes.\n',
      );
      document
        .querySelector('.oom-field')
        .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, 'I0528 07:00:00.000000 27487 train.py:3] step 12 loss=0.5 device memory in use: 3.5 GiB\n');
    await page.waitForURL(/local=[1-9a-f]/);
    await idle(page);
    includes(await text(page, 'h1'), '200.00 GiB');
    equal(await page.locator('.oom-field').inputValue(), '');
    await page.finish();
  });

  test('the stack of a kernel is not given the size of what the kernel returns', async () => {
    const page = await paste(readFileSync(join(fixtures, 'oom', '0.10.0-libtpu0.0.40-v5e-scoped.txt'), 'utf8'));
    includes(
      await text(page, '.answer-second'),
      'Largest: 40.00 MiB, the stack of one kernel, whose result is f32[4096,4096].',
    );
    includes(await text(page, '.panel-oom-table tbody'), 'stack of the kernel for f32[4096,4096]');
    await page.finish();
  });

  test('outputs that share arguments are counted once', async () => {
    const page = await paste(report);
    includes(await text(page, '.answer-second'), 'Largest: 3 × 4.50 GiB f32[36864,32768].');
    includes(
      await text(page, '.panel-oom-table'),
      '11 buffers listed in the text, 17.75 GiB. Outputs of 13.50 GiB lie in the memory of arguments and are not ' +
        'counted again.',
    );
    await page.finish();
  });

  test('a GPU program has the temporaries that its report states', async () => {
    const page = await paste(readFileSync(join(fixtures, 'text/oom-gpu-assignment.txt'), 'utf8'));
    const stated = /preallocated temp allocation:\s+([\d.]+)GiB/.exec(
      readFileSync(join(fixtures, 'text/oom-gpu-assignment.txt'), 'utf8'),
    )[1];
    includes(await text(page, '.panel-oom-where'), `temporaries ${stated} GiB`);
    await page.finish();
  });

  test('enough is free, too little of it in one piece: the page says what the command line says', async () => {
    const page = await paste(
      'RESOURCE_EXHAUSTED: Attempting to reserve 1.50G at the bottom of memory. That was not possible. There are ' +
        '2.00G free, 0B reserved, and 1.00G reservable.\n',
    );
    includes(await text(page, '.panel-oom-where'), 'short by 0.50 GiB');
    includes(await text(page, 'h1'), 'fragmentation, not shortage.');
    await page.finish();
  });

  test('command line, JSON and page show the same figures of every recorded text', async () => {
    const base = await daemon('--demo');
    const folder = join(fixtures, 'oom');
    for (const file of readdirSync(folder).filter((each) => each.endsWith('.txt'))) {
      const lines = execFileSync(binary, ['explain', join(folder, file)], { encoding: 'utf8' });
      const [{ verdict }] = JSON.parse(
        execFileSync(binary, ['explain', '--json', join(folder, file)], { encoding: 'utf8' }),
      );
      const given = await fetch(`${base}api/v1/oom`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain' },
        body: readFileSync(join(folder, file)),
      });
      const { local, failures } = await given.json();
      const { next_steps: steps, ...told } = failures[0].verdict; // on the command line they are the answer's
      equal(told, verdict, file);
      const page = await open(`${base}?tool=oom&local=${local}`);
      const facts = await page
        .locator('.oom-facts div')
        .evaluateAll((nodes) =>
          nodes.map((node) => [node.querySelector('dt').textContent, node.querySelector('dd .figure')?.textContent]),
        );
      const shown = new Map(facts);
      for (const { word, bytes: size, text: said } of verdict.figures) {
        equal(shown.get(word), said ?? bytes(size), `${file}: ${word} on the page`);
        const printed = said ?? (size < 1024 ** 2 && size >= 1024 ? `${(size / 1024).toFixed(2)} KiB` : bytes(size));
        truth(
          lines.split('\n').some((line) => line.endsWith(` ${printed.replaceAll(',', '')}`)),
          `${file}: no line with ${printed}`,
        );
      }
      await page.locator('.panel-oom-made > summary').click();
      equal(await text(page, '.oom-fits'), verdict.fits);
      const commands = (await page.locator('.panel-oom-next .command code').allTextContents()).map((each) =>
        each.trim(),
      );
      equal(
        commands,
        steps.filter((step) => step.kind === 'command').map((step) => step.text.trim()),
        file,
      );
      for (const command of commands) includes(lines, command);
      await page.finish();
    }
  });

  test('a text alone is open, in the place of the list that it does not have', async () => {
    const page = await paste('x\n'.repeat(20) + USED);
    equal(await page.locator('.oom-left .oom-text').count(), 1);
    equal(
      await page
        .getByRole('button', { name: /^(Unf|F)old the text/ })
        .filter({ visible: true })
        .count(),
      0,
    );
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
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('.oom *')]
          .filter(
            (node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest('.grid-scroll, .hidden'),
          )
          .map((node) => node.className),
      );
      equal(wide, []);
      await page.finish();
    });
}
