/* SPDX-License-Identifier: Apache-2.0
 * device_files.mjs: the Device Memory page on real profiles. Figures are pprof's own, recorded in
 * --shared, and those of JAX's guide to device memory profiles. */

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bytes } from '../../../web/lib/format.js';
import { fileOf, goTo, holdBack } from '../acts.mjs';
import { idle, pixels, startDaemon, text } from '../harness.mjs';

const SERIES = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `memory${at}.prof`);

/* "  40000000B 43.47%  91%  80000000B 86.93%  func1" → {name: {flat, cum}}; equal names are summed. */
function readTop(answer) {
  const rows = new Map();
  for (const line of answer.split('\n')) {
    const match = /^\s*(-?\d+)B?\s+\S+\s+\S+\s+(-?\d+)B?\s+\S+\s+(.+)$/.exec(line);
    if (match) rows.set(match[3].trim(), { flat: Number(match[1]), cum: Number(match[2]) });
  }
  return rows;
}

/* As pprof prints them about these files; held against its recorded answers below. */
const KNOWN = { total: 92026508, func2: 80000000, func1: 40000000, grown: 1760000, grownOnce: 80000, last: 9800000 };

export function run({ test, equal, includes, truth, daemon, open, shared, fixtures, binary }) {
  const needs = { shared: true };
  const golden = () => JSON.parse(gunzipSync(readFileSync(join(shared, 'golden/pprof.json.gz')))).answers;
  const top = (key) => readTop(golden()[key]);

  /* Serves copies of these profiles; body(url, folder); options(folder) of the daemon. */
  async function serve(names, body, options = () => []) {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-device-'));
    for (const name of names) copyFileSync(join(fixtures, 'memprof', name), join(folder, name));
    const daemon = await startDaemon(binary, [`--logdir=${folder}`, ...options(folder)]);
    try {
      await body(`${daemon.url}?tool=device_memory`, folder);
    } finally {
      await daemon.stop();
      rmSync(folder, { recursive: true });
    }
  }
  const rowOf = (page, words) => page.locator('.panel-table tbody tr', { hasText: words }).first();
  const cells = async (row) =>
    (await row.locator('td').allInnerTexts()).map((each) => each.replace(/\s+/g, ' ').trim());

  test('a late answer about one session does not come over another without profiles', async () => {
    const base = await daemon(join(fixtures, 'memprof/memory1.prof'), join(fixtures, 'dumps/seed-matmul-327680'));
    const page = await open(`${base}?tool=device_memory`);
    const { sessions } = await page.evaluate(async () => (await fetch('api/v1/sessions')).json());
    const other = sessions.find((session) => !session.profile_count).id;
    const { release, asked } = await holdBack(page, '**/device_memory/summary?**');
    await goTo(page, '?tool=device_memory&focus=nothing_of_this_name');
    await asked;
    await goTo(page, `?tool=device_memory&session=${other}`);
    await page.waitForSelector('.whole-page .message');
    release();
    await idle(page);
    includes(await text(page, '.whole-page'), 'No device profile here.');
    equal(await page.locator('.device-views').isVisible(), false);
    equal(await page.locator('.device-controls').isVisible(), false);
    await page.finish();
  });

  test('func2 and its callees hold 76.29 MiB, of which func1 38.15', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(base);
      equal(
        [KNOWN.func2, KNOWN.func1].map((each) => bytes(each)),
        ['76.29 MiB', '38.15 MiB'],
      );
      includes(await text(page, 'h1'), `${bytes(KNOWN.total)} live on cpu:0`);
      await page.keyboard.press('3');
      await idle(page);
      await page.selectOption('[aria-label="Grain"]', 'function');
      await idle(page);
      equal((await cells(rowOf(page, 'func2')))[2], '76.29');
      equal((await cells(rowOf(page, 'func1')))[2], '38.15');
      await rowOf(page, 'func2').click();
      await idle(page);
      await page.keyboard.press('4');
      await page.waitForSelector('.callers');
      includes(await text(page, '.callers-middle'), '76.29 MiB total');
      includes(await text(page, '.callers-side:last-child'), 'func1 38.15 MiB 50 %');
      await page.finish();
    }));

  test(
    'the figures of these tests are those that pprof printed',
    async () => {
      const functions = top('top functions memory.prof');
      const grown = (to) => top(`diff_base memory1.prof top functions ${to}`).get('anotherfunc').cum;
      equal(
        {
          total: functions.get('__call__').cum,
          func2: functions.get('func2').cum,
          func1: top('focus func1 top functions memory.prof').get('func1').cum,
          grown: grown('memory9.prof'),
          grownOnce: grown('memory2.prof'),
          last: top('top functions memory9.prof').get('<module>').cum,
        },
        KNOWN,
      );
    },
    needs,
  );

  test('every head that can be clicked sorts its table', () =>
    serve(SERIES, async (base) => {
      for (const view of ['top', 'buffers', 'series']) {
        const page = await open(`${base}&view=${view}`);
        const table = page.locator('.grid', { has: page.locator('th.is-sortable') }).first();
        const total = await table.locator('th.is-sortable').count();
        truth(total >= 5, `${view}: ${total} heads`);
        for (let at = 0; at < total; at++) {
          await table.locator('th.is-sortable').nth(at).click();
          await idle(page);
          equal(await page.locator('.message-error').allInnerTexts(), [], `${view}, head ${at}`);
        }
        await page.finish();
      }
    }));

  test(
    'with machinery on and functions merged by name, Top shows every figure of pprof',
    () =>
      serve(['memory.prof'], async (base) => {
        const page = await open(`${base}&view=top&by=function&machinery=1`);
        const known = top('top functions memory.prof');
        await page.evaluate(() => document.querySelector('.grid-scroll').scrollTo(0, 0));
        const found = new Map();
        for (const row of await page.locator('.panel-top tbody tr[data-id]').all()) {
          const titles = await row
            .locator('td')
            .evaluateAll((all) => all.map((cell) => cell.querySelector('[title]')?.title ?? cell.innerText));
          const exact = (title) => Number(title.replace(/[^\d]/g, ''));
          found.set((await cells(row))[6], { flat: exact(titles[0]), cum: exact(titles[2]) });
        }
        truth(found.size > 15, `${found.size} rows`);
        /* pprof leaves out what holds nothing. */
        for (const [name, figures] of found) equal(figures, known.get(name) ?? { flat: 0, cum: 0 }, name);
        await page.finish();
      }),
    needs,
  );

  test('the call graph is drawn for a real profile, and no violation of the policy is reported', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&view=graph&by=function`);
      await page.waitForSelector('.graph-box');
      const boxes = await page.locator('.graph-box').evaluateAll((all) => all.map((each) => each.textContent));
      truth(
        boxes.some((each) => each.includes('func2') && each.includes('76.29 MiB')),
        boxes.join(' | '),
      );
      truth((await page.locator('.graph-edge').count()) > 0, 'no arrow is drawn');
      equal(await page.evaluate(() => globalThis.violations), []);
      const worker = page.workers();
      equal(worker.length, 1);
      truth(fileOf('widgets/graph_worker.js').test(worker[0].url()), worker[0].url());
      await page.finish();
    }));

  test('the layout code is not asked for before the graph is opened', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(base);
      const asked = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
      equal(
        asked.filter((name) => /graph_worker|viz\.js/.test(name)),
        [],
      );
      await page.finish();
    }));

  test('machinery is folded at first: the lines of the reader are what one sees', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(base);
      const words = async () => (await page.locator('.panel-top tbody tr[data-id]').allInnerTexts()).join(' ');
      includes(await text(page, '.device-largest'), 'memprof.py:');
      truth(!(await words()).includes('pxla.py'), 'frames of JAX are shown');
      await page.keyboard.press('l');
      await idle(page);
      includes(await words(), 'pxla.py:395');
      includes(page.url(), 'machinery=1');
      /* Shown, they step back behind the lines of the reader, in every list of frames. */
      for (const [key, view, list] of [
        ['2', 'graph', '.graph-list'],
        ['4', 'callers', '.callers'],
        ['3', 'top', '.panel-top tbody'],
      ]) {
        await page.keyboard.press(key);
        await idle(page);
        const said = await page
          .locator(`${list} .name`)
          .evaluateAll((nodes) => nodes.map((node) => [node.textContent, node.classList.contains('is-library')]));
        for (const [words, isLibrary] of said)
          if (/(pxla|memprof)\.py/.test(words)) equal(isLibrary, words.includes('pxla.py'), `${view}: ${words}`);
      }
      truth((await page.locator('.panel-top tbody .is-library').count()) > 0, 'of Top');
      await page.finish();
    }));

  test('a filter holds in every view', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&focus=func1`);
      includes(await text(page, '.device-passed'), `${bytes(KNOWN.func1)} of`);
      for (const [key, where] of [
        ['1', '.panel-top'],
        ['2', '.graph-list'],
        ['3', '.panel-top'],
        ['6', '.panel-buffers'],
      ]) {
        await page.keyboard.press(key);
        await idle(page);
        const said = await text(page, where);
        includes(said, '38.15', `view ${key}`);
        truth(!said.includes('76.29'), `view ${key} shows what the filter leaves out: ${said}`);
      }
      await page.finish();
    }));

  test('an expression that matches nothing says so and names the nearest', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&focus=funk2`);
      includes(await text(page, '.condition-faults'), 'No frame matches "funk2". Nearest: func2.');
      includes(await text(page, '.panel-flame .message'), 'Nothing passes the filter.');
      await page.finish();
    }));

  test('the leak: the first row of the series is the normal of anotherfunc, afunction is steady', () =>
    serve(SERIES, async (base) => {
      const page = await open(`${base}&view=series`);
      const rows = page.locator('.panel-sites tbody tr[data-id]');
      const first = await cells(rows.first());
      equal(first[0], 'grows');
      includes(first[1], 'anotherfunc › normal');
      includes(first[5], `▲ +${bytes(KNOWN.grown).split(' ')[0]}`);
      const steady = rows.filter({ hasText: 'afunction' });
      for (const row of await steady.all()) equal((await cells(row))[0], 'steady');
      truth((await steady.count()) > 0, 'afunction is not listed');
      includes(
        await text(page, 'h1'),
        '1 call site grows over 9 profiles: anotherfunc memprof.py:19 › normal, faster each time: +78.1 KiB at first',
      );
      await page.finish();
    }));

  test('two points of the series are A and B: every view shows the difference, x swaps them', () =>
    serve(SERIES, async (base) => {
      const page = await open(`${base}&view=series`);
      const { grown } = KNOWN;
      const before = await pixels(page, '.stacked-over');
      const box = await page.locator('.stacked').boundingBox();
      const point = (at) => [box.x + 64 + ((box.width - 64) * (at + 0.5)) / 9, box.y + box.height / 2];
      await page.mouse.click(...point(0));
      await idle(page);
      await page.mouse.click(...point(8));
      await idle(page);
      truth((await pixels(page, '.stacked-over')) !== before, 'A and B are not drawn');
      includes(await text(page, '.series-marks'), `A memory1.prof, B memory9.prof: ▲ +${bytes(grown)}`);
      for (const [key, where] of [
        ['1', '.panel-top'],
        ['2', '.graph-list'],
        ['3', '.panel-top'],
      ]) {
        await page.keyboard.press(key);
        await idle(page);
        includes(await text(page, 'h1'), `+${bytes(grown)} from memory1.prof`);
        includes(await text(page, where), bytes(grown).split(' ')[0], `view ${key}`);
      }
      await page.keyboard.press('x');
      await idle(page);
      includes(await text(page, 'h1'), `−${bytes(grown)} from memory9.prof`);
      await page.goBack();
      await idle(page);
      includes(await text(page, 'h1'), `+${bytes(grown)} from memory1.prof`);
      await page.finish();
    }));

  test('a profile that is not there leaves the selectors, and the pane of a difference tells it as such', () =>
    serve(SERIES.slice(0, 2), async (base) => {
      const page = await open(`${base}&a=gone&b=gone`, { allow: /404/ });
      includes(await text(page, '.whole-page'), 'This profile cannot be shown.');
      truth(await page.locator('.device-profiles').isVisible(), 'the selectors are gone');
      await page.finish();
      const daemonUrl = base.split('?')[0];
      const { id } = (await (await fetch(`${daemonUrl}api/v1/sessions`)).json()).sessions[0];
      const { profiles } = await (await fetch(`${daemonUrl}api/v1/sessions/${id}/profiles`)).json();
      const diff = await open(`${base}&a=${profiles[0].id}&b=${profiles[1].id}`);
      const said = await text(diff, '.details');
      truth(
        said.indexOf('Change from A to B') >= 0 && said.indexOf('Change from A to B') < said.indexOf('memory2.prof'),
        said,
      );
      includes(said, `▲ +${bytes(KNOWN.grownOnce)}`);
      await diff.keyboard.press('6');
      await idle(diff);
      includes(await text(diff, '.panel-buffers [role=row][aria-rowindex="2"]'), 'anotherfunc');
      await diff.finish();
    }));

  test('one profile is no series, and two make no trend', async () => {
    await serve(SERIES.slice(0, 1), async (base) => {
      const page = await open(`${base}&view=series`);
      includes(await text(page, '.panel-series'), 'Only one profile here. A series needs two or more');
      await page.finish();
    });
    await serve(SERIES.slice(0, 2), async (base) => {
      const page = await open(`${base}&view=series`);
      includes(await text(page, 'h1'), `2 profiles: change +${bytes(KNOWN.grownOnce)}; a trend needs 3.`);
      await page.finish();
    });
  });

  test('the text of a file is beside its figures where --source-root allows, else a reason and lines', async () => {
    const program = Array.from({ length: 12 }, (_, at) => `line_${at + 1} = "<b>${at + 1}</b>"`).join('\n');
    await serve(
      ['memory.prof'],
      async (base) => {
        const page = await open(`${base}&view=source`);
        const row = page.locator('.source-table tr', { hasText: 'line_9 = ' });
        const found = (await row.locator('td').allInnerTexts()).map((each) => each.trim());
        equal([found[1], found[3], found[4]], ['76.29 MiB', '9', 'line_9 = "<b>9</b>"']);
        await page.finish();
      },
      (folder) => {
        mkdirSync(join(folder, 'code/training'), { recursive: true });
        writeFileSync(join(folder, 'code/training/memprof.py'), program);
        return [`--source-root=${join(folder, 'code')}`];
      },
    );
    await serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&view=source`);
      includes(await text(page, '.source-said'), 'start the daemon with --source-root=DIR');
      includes(await text(page, '.source-lines'), 'func2');
      await page.finish();
    });
  });

  test('of a source line longer than 2 MiB the beginning stands there, and is told', () =>
    serve(
      ['memory.prof'],
      async (base) => {
        const page = await open(`${base}&view=source`);
        includes(await text(page, '.source-said'), 'Line 10 is longer than that: only its beginning is here.');
        const shown = (await page.locator('.source-table tr.is-here td').last().innerText()).trim();
        truth(/^x{2000}… \([\d,]+ characters\)$/.test(shown), shown.slice(0, 80));
        await page.finish();
      },
      (folder) => {
        mkdirSync(join(folder, 'code/training'), { recursive: true });
        writeFileSync(join(folder, 'code/training/memprof.py'), `${'\n'.repeat(9)}${'x'.repeat(3 << 20)}\nafter\n`);
        return [`--source-root=${join(folder, 'code')}`];
      },
    ));

  test('rows are filtered by the daemon; a field that is not there is refused and the rows stay', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&view=top`, { allow: /400/ });
      const rows = () => page.locator('.panel-top tbody tr[data-id]').count();
      const before = await rows();
      await page.keyboard.press('/');
      await page.keyboard.type('fn:func1');
      await page.keyboard.press('Enter');
      await idle(page);
      equal(await rows(), 1);
      includes(await text(page, '.panel-top .grid-foot'), `1 of ${before} rows`);
      await page.keyboard.type('sze:1');
      await page.keyboard.press('Enter');
      await idle(page);
      includes(await text(page, '.panel-top .filter-said'), 'The last good result stays.');
      equal(await rows(), 1);
      await page.finish();
    }));

  test('buffers stand with their exact sizes, and by device and kind', () =>
    serve(['memory.prof'], async (base) => {
      const page = await open(`${base}&view=buffers`);
      const first = await cells(page.locator('.panel-buffers tbody tr[data-id]').first());
      equal(first.slice(0, 5), ['38.15 MiB', '1 ×', '38.15', 'cpu:0', 'buffer']);
      includes(await text(page, '.pivot'), 'cpu:0');
      await page.locator('.panel-buffers tbody tr[data-id]').first().click();
      await idle(page);
      const group = await text(page, '.group-part');
      includes(group, '1 × 38.15 MiB');
      includes(group, 'func');
      await page.keyboard.press('Escape');
      await idle(page);
      equal(await page.locator('.group-part').count(), 0);
      await page.locator('.pivot .site-button', { hasText: 'executable' }).click();
      await idle(page);
      includes(page.url(), 'tag=kind');
      includes(await text(page, '.panel-buffers'), 'executable');
      await page.finish();
    }));

  test('flame graph, call graph and series leave the page as pictures, tables and stacks', () =>
    serve(SERIES, async (base) => {
      const wanted = [
        ['', '.panel-flame', 'Picture (SVG)', 'anotherfunc'],
        ['', '.panel-flame', 'Stacks, one per line', 'memprof.py'],
        ['', '.panel-top', 'Table (CSV)', 'flat,flat_percent,cum,cum_percent,unit,name'],
        ['&view=graph', '.panel-graph', 'Picture (SVG)', 'afunction'],
        ['&view=buffers', '.panel-buffers', 'Table (CSV)', 'each_bytes,count,total_bytes'],
        ['&view=series', '.panel-series', 'Picture (SVG)', 'memory9'],
        ['&view=series', '.panel-series', 'Table (CSV)', 'anotherfunc'],
      ];
      for (const [query, panel, word, held] of wanted) {
        const page = await open(base + query);
        if (query === '&view=graph') await page.waitForSelector('.graph-box');
        await page.locator(`${panel} .menu-dots`).click();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.locator(`${panel} .menu-item`, { hasText: word }).click(),
        ]);
        includes(readFileSync(await download.path(), 'utf8'), held, `${panel} ${word}`);
        await page.finish();
      }
    }));

  test('every view gives what its filters leave to pprof, as a file and as a command', () =>
    serve(SERIES, async (base) => {
      for (const [view, panel] of [
        ['flame', '.panel-flame'],
        ['top', '.panel-top'],
        ['callers', '.panel-callers'],
        ['buffers', '.panel-buffers'],
      ]) {
        const page = await open(`${base}&view=${view}&by=function&focus=anotherfunc`);
        await page.evaluate(() => {
          navigator.clipboard.writeText = async (words) => {
            document.body.dataset.copied = words;
          };
        });
        await page.locator(`${panel} .menu-dots`).click();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.locator('.menu-item', { hasText: 'Download for pprof' }).click(),
        ]);
        includes(download.url(), 'focus=anotherfunc');
        const held = gunzipSync(readFileSync(await download.path())).toString('latin1');
        includes(held, 'memprof.py');
        await page.locator(`${panel} .menu-dots`).click();
        await page.locator('.menu-item', { hasText: 'Copy the pprof command' }).click();
        await idle(page);
        equal(await page.evaluate(() => document.body.dataset.copied), `pprof -symbolize=none '${download.url()}'`);
        await page.finish();
      }
    }));

  test('a dropped profile is shown without being stored, and asked for again by a daemon that does not know it', () =>
    serve(['memory.prof'], async (base, folder) => {
      const page = await open(base);
      const file = readFileSync(join(fixtures, 'memprof/memory9.prof')).toString('base64');
      await page.evaluate((data) => {
        const raw = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([raw], 'memory9.prof'));
        document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
      }, file);
      await page.locator('.banner .text-button', { hasText: 'Open profile' }).click();
      await page.waitForURL(/local=/);
      await idle(page);
      const total = bytes(KNOWN.last);
      includes(await text(page, 'h1'), `${total} live`);
      truth(!existsSync(join(folder, 'memory9.prof')), 'the file was stored');
      await page.reload();
      await idle(page);
      includes(await text(page, 'h1'), `${total} live`);
      await page.finish();
    }));
}
