/* SPDX-License-Identifier: Apache-2.0
 * segments.mjs: what the allocator held as a picture: the request that failed beside the largest piece, a click on a
 * block pins it in the timeline too, and the keyboard meets each block. The snapshot is made by
 * tests/golden/made_allocator.py. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exactBytes } from '../../../web/lib/format.js';
import { idle, pixels, text, violations } from '../harness.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../../golden');
const MAKE = `
import pickle, sys
sys.path[:0] = [sys.argv[1]]
import made_allocator
open(sys.argv[2], "wb").write(pickle.dumps(made_allocator.snapshot(made_allocator.fragmented()), 4))
`;
const BASE = '.segment-map-base';

export function run({ test, equal, includes, truth, daemon, open }) {
  test('segments: a request that failed is drawn beside what is free; a block is pinned by click and key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'segments-'));
    try {
      execFileSync('python3', ['-B', '-c', MAKE, GOLDEN, join(folder, 'rank0.pickle')]);
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
      const ask = async (query) =>
        (await (await fetch(new URL(`/api/v1/memory_profile/${query}&session=${sessions[0].id}`, url))).json()).data;
      const [failure] = (await ask('timeline?width=64')).failures;
      const { rows } = await ask(`segments?scale=all&width=8192&time=${failure.time_ps}`);
      const page = await open(`${url}?tool=memory_profile&session=${sessions[0].id}&view=addresses`);
      equal(
        (await text(page, '.panel-segment-picture')).includes('A request failed'),
        false,
        'no request failed at the peak',
      );
      const atPeak = await pixels(page, BASE);
      await page.locator('h1 .see-why').click();
      await idle(page);
      includes(
        await text(page, '.panel-segment-picture'),
        'A request failed: it asked for 24.00 MiB, and the largest free piece that it could take is',
      );
      const before = await pixels(page, BASE);
      truth(before !== atPeak, 'it is drawn, too');
      includes(await page.locator(BASE).getAttribute('aria-label'), 'A request failed');

      /* The keyboard: each block and each free piece once, a block is pinned by Enter. */
      const list = page.locator('.segment-plot [role=listbox]');
      await list.focus();
      const pieces = rows.flatMap((row) => row.pieces);
      equal(await page.locator('.segment-plot [role=option]').count(), pieces.length);
      const at = pieces.findIndex(({ kind }) => kind === 'allocation');
      for (let step = 0; step < at; step++) await page.keyboard.press('ArrowRight');
      includes(await page.locator('.tooltip').innerText(), pieces[at].address);
      await page.keyboard.press('Enter');
      await idle(page);
      equal(new URL(page.url()).searchParams.get('pin'), `e:${pieces[at].event}`);
      const pane = await text(page, '#details');
      for (const words of ['Allocation', pieces[at].address, 'lives']) includes(pane, words);
      truth(
        await page.locator('.segment-map-over').evaluate((canvas) =>
          canvas
            .getContext('2d')
            .getImageData(0, 0, canvas.width, canvas.height)
            .data.some((value) => value > 0),
        ),
        'it has an edge in the picture',
      );
      equal(await violations(page), []);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await idle(page);
      equal(new URL(page.url()).searchParams.get('pin'), null);

      /* A click somewhere on a block: it pins what its tooltip told. */
      await page.locator('.segment-plot').scrollIntoViewIfNeeded();
      const box = await page.locator('.segment-plot').boundingBox();
      let found = null;
      for (let x = 100; !found && x < box.width; x += 3) {
        await page.mouse.move(box.x + x, box.y + 40);
        const words = (await page.locator('.segment-plot.is-on-mark').count()) ? await text(page, '.tooltip') : '';
        found = pieces.find(({ kind, address }) => kind === 'allocation' && words.includes(address));
        if (found) await page.mouse.click(box.x + x, box.y + 40);
      }
      await idle(page);
      equal(new URL(page.url()).searchParams.get('pin'), `e:${found.event}`);
      includes(await text(page, '#details'), exactBytes((await ask(`event?id=${found.event}`)).event.size_bytes));
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
