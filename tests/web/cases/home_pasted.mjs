/* SPDX-License-Identifier: Apache-2.0
 * home_pasted.mjs: texts and files that are dropped, pasted or typed on Home. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

export function run({ test, includes, equal, daemon, open, fixtures, binary }) {
  const dumps = () => daemon(`--logdir=${join(fixtures, 'dumps')}`);
  const oomText = () => readFileSync(join(fixtures, 'oom', '0.4.35-libtpu0.0.2-v5e-seed.txt'));
  const banner = (page, word) =>
    page.waitForFunction((wanted) => document.querySelector('.banner-text')?.innerText.includes(wanted), word);

  test('a text dropped or pasted is named before the view is left', async () => {
    for (const kind of ['drop', 'paste']) {
      const page = await open(await daemon('--demo'));
      const url = page.url();
      const title = await text(page, 'h1');
      await give(page, kind, 'job.log', oomText());
      await banner(page, 'This looks like a TPU compile-time OOM');
      equal(page.url(), url, 'the view was left');
      equal(await text(page, 'h1'), title);
      await page.finish();
    }
  });

  test('the verdict of a pasted text and a dropped profile are opened only when asked', async () => {
    const page = await open(await daemon('--demo'));
    await give(page, 'paste', '', oomText());
    await banner(page, 'TPU compile-time OOM');
    await page.locator('.banner button', { hasText: 'Open verdict' }).click();
    await page.waitForURL(/tool=oom&local=/);
    await idle(page);
    includes(await text(page, 'h1'), 'TPU compile-time OOM');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), '33.49 GiB');
    await give(page, 'drop', 'memory9.prof', readFileSync(join(fixtures, 'memprof/memory9.prof')));
    await banner(page, 'memory9.prof is a device profile');
    await page.locator('.banner button', { hasText: 'Open profile' }).click();
    await page.waitForURL(/tool=device_memory&local=/);
    await idle(page);
    includes(await text(page, 'h1'), '9.35 MiB');
    await page.finish();
  });

  test('what the daemon forgot of what was dropped is asked for once', async () => {
    const own = await startDaemon(binary, ['--demo']);
    let again = null;
    try {
      const page = await open(`${own.url}?tool=home`, { allow: /404|Failed to load/ });
      await give(
        page,
        'drop',
        'host0.xplane.pb.gz',
        readFileSync(join(fixtures, 'logdir/tpu/plugins/profile/small/host0.xplane.pb.gz')),
      );
      await banner(page, 'is a profiler trace');
      await page.reload();
      await page.waitForSelector('.home-dropped tbody tr');
      await own.stop();
      again = await startDaemon(binary, ['--demo'], Number(new URL(own.url).port));
      const asked = [];
      page.on(
        'request',
        (request) => /\buploads\//.test(decodeURIComponent(request.url())) && asked.push(request.url()),
      );
      for (const wanted of [1, 1]) {
        await page.reload();
        await page.waitForSelector('.home-grid tbody tr');
        equal(asked.length, wanted);
      }
      equal(await page.locator('.home-dropped').count(), 0);
      await page.finish();
    } finally {
      await own.stop();
      await again?.stop();
    }
  });

  test('what the browser may not read of a dropped folder is named, the rest is taken', async () => {
    const page = await open(await daemon('--demo'));
    await page.evaluate(
      (bytes) => {
        const entry = (name, more) => ({ name, fullPath: `/run/${name}`, isFile: true, isDirectory: false, ...more });
        const folder = (name, inside) => {
          const pieces = [inside, []];
          const readEntries = (done, failed) =>
            inside ? done(pieces.shift()) : failed(new DOMException('no', 'NotReadableError'));
          return entry(name, { isFile: false, isDirectory: true, createReader: () => ({ readEntries }) });
        };
        const good = entry('memory9.prof', {
          file: (done) => done(new File([Uint8Array.from(bytes)], 'memory9.prof')),
        });
        const refused = entry('memory1.prof', {
          file: (_, failed) => failed(new DOMException('no', 'NotReadableError')),
        });
        const top = folder('run', [refused, folder('locked', null), good]);
        const drop = new Event('drop', { bubbles: true, cancelable: true });
        drop.dataTransfer = { types: ['Files'], items: [{ webkitGetAsEntry: () => top }], files: [] };
        document.body.dispatchEvent(drop);
      },
      [...readFileSync(join(fixtures, 'memprof/memory9.prof'))],
    );
    await banner(page, 'memory9.prof is a device profile');
    includes(await text(page, '.banner-text'), 'The browser may not read run/memory1.prof, run/locked.');
    await page.finish();
  });

  test('a text typed into the box does the same by keys alone', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`);
    await page.locator('.open-files button').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.files-text');
    await page.keyboard.insertText(oomText().toString());
    await page.keyboard.press('Control+Enter');
    await banner(page, 'This looks like a TPU compile-time OOM');
    equal(await page.locator('dialog').count(), 0);
    await page.finish();
  });

  test('what was pasted into a field is not taken', async () => {
    const page = await open(`${await dumps()}?tool=home`);
    await page.locator('.home-filter').focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'RESOURCE_EXHAUSTED: Out of memory');
      document.activeElement.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await idle(page);
    equal(await page.locator('.banner').count(), 0);
    await page.finish();
  });
}
