/* SPDX-License-Identifier: Apache-2.0
 * dropped.mjs: traces, dumps and folders that are dropped or chosen: named, opened, never stored. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { idle, startDaemon, text } from '../harness.mjs';

export function run({ test, includes, equal, truth, open, fixtures, shared, binary }) {
  const dump = join(fixtures, 'dumps/seed-matmul-327680');
  const ofDump = () => readdirSync(dump).map((name) => join(dump, name));
  const banner = (page, word) =>
    page.waitForFunction((wanted) => document.querySelector('.banner-text')?.innerText.includes(wanted), word);

  /* body(page, daemon): Home of an empty folder; what is left in the folder is checked. */
  async function withHome(body, how = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-dropped-'));
    const daemon = await startDaemon(binary, [`--logdir=${folder}`]);
    try {
      const page = await open(`${daemon.url}?tool=home`, how);
      await body(page, daemon);
      await page.finish();
      equal(readdirSync(folder), [], 'something was stored');
    } finally {
      await daemon.stop();
      rmSync(folder, { recursive: true });
    }
  }
  async function choose(page, files) {
    await page.locator('.open-files button').click();
    await page.locator('.files-choose').setInputFiles(files);
  }
  async function openIt(page, label) {
    await page.locator('.banner button', { hasText: label }).click();
    await page.waitForURL(/local=[0-9a-f]{40}/);
    await idle(page);
    equal(await page.locator('.banner').count(), 0, 'the banner stays over what it opened');
    equal(await page.evaluate(() => document.activeElement.id), 'main', 'the focus');
  }

  test('the files of a dump open as its verdict, with its program beside it', () =>
    withHome(async (page) => {
      await choose(page, ofDump());
      await banner(page, 'a TPU compile-time OOM (E1000): jit_f needs 300.00 GiB');
      await openIt(page, 'Open verdict');
      includes(await text(page, 'h1'), 'jit_f needs 300.00 GiB');
      await page.getByRole('link', { name: 'jit_f in the Memory Viewer' }).click();
      await page.waitForURL(/tool=memory_viewer/);
      await idle(page);
      includes(await text(page, 'h1'), '300.00 GiB');
      truth(page.url().includes('local=') && !page.url().includes('session='), page.url());
    }));

  test('what failed elsewhere than in HBM is named so', () =>
    withHome(async (page) => {
      const failed = join(fixtures, 'dumps/f5-vmem-matmul-blocks');
      await choose(
        page,
        readdirSync(failed).map((name) => join(failed, name)),
      );
      await banner(
        page,
        'a TPU compile-time OOM in VMEM (E1001): the program needs 96.00 MiB, 16.00 MiB are available.',
      );
    }));

  test('one HLO file opens in the Memory Viewer; a reload and a pin keep it', () =>
    withHome(async (page) => {
      const [hlo] = ofDump().filter((name) => name.endsWith('after_optimizations.hlo.pb'));
      await choose(page, [hlo]);
      await banner(page, 'jit_f needs 300.00 GiB');
      await openIt(page, 'Open Memory Viewer');
      const said = await text(page, 'h1');
      includes(said, '300.00 GiB');
      await page.locator('.panel-table tbody tr').first().click();
      await page.waitForURL(/pin=/);
      await page.reload();
      await idle(page);
      equal(await text(page, 'h1'), said);
      await page.goto(page.url().replace('tool=memory_viewer', 'tool=home'));
      await idle(page);
      includes(await text(page, '.home-dropped'), '300.00');
      equal(await page.locator('.home-dropped tbody tr').count(), 1);
    }));

  test('a daemon that forgot asks for the file again, and shows the same view then', () =>
    withHome(
      async (page, daemon) => {
        const [hlo] = ofDump().filter((name) => name.endsWith('after_optimizations.hlo.pb'));
        const body = [...readFileSync(hlo)];
        await choose(page, [hlo]);
        await banner(page, 'needs 300.00 GiB');
        await openIt(page, 'Open Memory Viewer');
        const link = new URL(page.url());
        const second = await startDaemon(binary, ['--demo']);
        try {
          const other = await open(second.url + link.search, { allow: /404/ });
          includes(await text(other, 'main'), 'This link shows a file that was dropped, not stored');
          await other.evaluate(
            ([name, bytes]) => {
              const data = new DataTransfer();
              data.items.add(new File([Uint8Array.from(bytes)], name));
              document.body.dispatchEvent(
                new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
              );
            },
            [hlo.slice(hlo.lastIndexOf('/') + 1), body],
          );
          await banner(other, 'needs 300.00 GiB');
          await other.locator('.banner button', { hasText: 'Open Memory Viewer' }).click();
          await other.waitForFunction(() => document.querySelector('h1').innerText.includes('300.00 GiB'));
          await idle(other);
          equal(new URL(other.url()).search, link.search);
          await other.finish();
        } finally {
          await second.stop();
        }
        await daemon.stop();
      },
      { allow: /ERR_CONNECTION_REFUSED|Failed to load/ },
    ));

  test('several profiles are a series; what cannot be used is named', () =>
    withHome(
      async (page) => {
        const folder = mkdtempSync(join(tmpdir(), 'memviewd-noise-'));
        const noise = join(folder, 'noise.bin');
        mkdirSync(folder, { recursive: true });
        writeFileSync(noise, Buffer.from([0, 1, 2, 3, 255]));
        const profiles = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => join(fixtures, `memprof/memory${at}.prof`));
        await choose(page, [...profiles, noise]);
        await banner(page, '9 device profiles, a series');
        includes(await text(page, '.banner-text'), 'Not used: noise.bin.');
        await openIt(page, 'Open Device Memory');
        includes(await text(page, 'h1'), '9.35 MiB');
        await page.keyboard.press('7');
        await page.waitForFunction(() => document.querySelector('main').innerText.includes('anotherfunc'));
        await idle(page);
        rmSync(folder, { recursive: true });
      },
      { allow: /422/ },
    ));

  test('a daemon that is started anew in the middle of a drop gets all files again', () =>
    withHome(
      async (page) => {
        let posts = 0;
        await page.route(/api\/v1\/uploads\?/, (route) => {
          posts += 1;
          /* What another daemon says of the files that came before. */
          const body = JSON.stringify({
            type: 'about:blank',
            title: 'Not Found',
            status: 404,
            code: 'notfound',
            detail: 'these files are not kept here',
            file: null,
            offset_bytes: null,
          });
          return posts === 3
            ? route.fulfill({ status: 404, contentType: 'application/problem+json', body })
            : route.continue();
        });
        const profiles = [1, 2, 3, 4].map((at) => join(fixtures, `memprof/memory${at}.prof`));
        await choose(page, profiles);
        await banner(page, '4 device profiles, a series');
        equal((await text(page, '.banner-text')).includes('Not used'), false);
        equal(posts, 7, 'three, and then all four again');
      },
      { allow: /404/ },
    ));

  test('a log that cannot be read is named with the reason', () =>
    withHome(async (page) => {
      const folder = mkdtempSync(join(tmpdir(), 'memviewd-bomb-'));
      const log = join(folder, 'big.log.gz');
      const part = gzipSync(
        Buffer.concat([Buffer.from('RESOURCE_EXHAUSTED: Out of memory\n'), Buffer.alloc(10 << 20, '.')]),
      );
      writeFileSync(log, Buffer.concat(Array(12).fill(part)));
      await choose(page, [log, join(fixtures, 'memprof/memory1.prof')]);
      await banner(page, '1 device profile');
      includes(await text(page, '.banner-text'), 'Not read: big.log.gz: inflates to more than 256 times its size.');
      rmSync(folder, { recursive: true });
    }));

  test('a folder that is dropped is read, hidden files and reports left out', () =>
    withHome(async (page) => {
      const names = ofDump().filter((name) => /\.(txt|hlo\.pb)$/.test(name));
      await page.evaluate(
        (files) => {
          /* What a browser hands out for a folder. */
          const entry = ([name, bytes]) => ({
            name,
            isFile: true,
            isDirectory: false,
            fullPath: `/job/${name}`,
            file: (done) => done(new File([Uint8Array.from(bytes)], name)),
          });
          let pieces = [files.map(entry), []];
          const folder = {
            name: 'job',
            isFile: false,
            isDirectory: true,
            fullPath: '/job',
            createReader: () => ({ readEntries: (done) => done(pieces.shift() ?? []) }),
          };
          const sealed = new File(['secret'], 'sealed.log');
          sealed.slice = () => ({ arrayBuffer: () => Promise.reject(new DOMException('no', 'NotReadableError')) });
          const unreadable = { ...entry(['sealed.log', []]), file: (done) => done(sealed) };
          pieces = [[...pieces[0], entry(['.hidden', [0]]), unreadable], []];
          const event = new DragEvent('drop', { bubbles: true, cancelable: true });
          Object.defineProperty(event, 'dataTransfer', {
            value: { types: ['Files'], files: [], items: [{ webkitGetAsEntry: () => folder }] },
          });
          document.body.dispatchEvent(event);
        },
        names.map((name) => [name.slice(name.lastIndexOf('/') + 1), [...readFileSync(name)]]),
      );
      await banner(page, 'a TPU compile-time OOM (E1000): jit_f needs 300.00 GiB');
      includes(await text(page, '.banner-text'), 'Not used: job/sealed.log.');
      equal((await text(page, '.banner-text')).includes('hidden'), false);
    }));

  test('a report that stands beside a program says what to drop', () =>
    withHome(async (page) => {
      await choose(
        page,
        ofDump().filter((name) => name.endsWith('-buffer-assignment.txt')),
      );
      await banner(page, 'is a report that belongs to another file');
    }));

  test(
    'a trace opens with its modules; one with memory events alone in Memory Profile',
    () =>
      withHome(async (page) => {
        const logdir = join(shared, 'data/logdir');
        await choose(page, [join(logdir, 'tpu/plugins/profile/large-transformer-64l/host0.xplane.pb')]);
        await banner(page, 'a profiler trace with');
        await openIt(page, 'Open Memory Viewer');
        truth(/GiB|MiB/.test(await text(page, 'h1')), 'no figure');
        await page.goto(page.url().replace(/\?.*/, '?tool=home'));
        await idle(page);
        await choose(page, [join(logdir, 'tf/plugins/profile/small/vm.xplane.pb')]);
        await banner(page, 'a profiler trace without programs');
        await openIt(page, 'Open Memory Profile');
        truth(/reached/.test(await text(page, 'h1')), await text(page, 'h1'));
      }),
    { shared: true },
  );
}
