/* SPDX-License-Identifier: Apache-2.0
 * stripes.mjs: each allocation of a snapshot is a stripe of the timeline: what a click on one tells, that it stays in
 * the URL, and how the keyboard goes from one to the next. The snapshot is made by tests/golden/made_program.py. */

import { execFileSync } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exactBytes } from '../../../web/lib/format.js';
import { idle, pixels, text, violations } from '../harness.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../../golden');
/* argv: where its modules are, the file to write, how many events are remembered or 0. */
const MAKE = `
import pickle, sys
sys.path[:0] = [sys.argv[1]]
import made_allocator, made_program
one = made_program.Program(capacity=300 << 20).one
open(sys.argv[2], "wb").write(pickle.dumps(made_allocator.snapshot(one, keeps=int(sys.argv[3]) or None), 4))
`;
const PLOT = '.panel-time .u-over';
const BASE = '.panel-time .uplot > .u-wrap > canvas';

export function run({ test, equal, includes, truth, daemon, open }) {
  /* act(page, row(id): a block of the timeline by the pin of its stripe). */
  const withSnapshot = async (keeps, act, query = '') => {
    const folder = mkdtempSync(join(tmpdir(), 'stripes-'));
    try {
      execFileSync('python3', ['-B', '-c', MAKE, GOLDEN, join(folder, 'rank0.pickle'), String(keeps)]);
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
      const place = `session=${sessions[0].id}`;
      const { data } = await (await fetch(new URL(`/api/v1/memory_profile/timeline?${place}&blocks=2048`, url))).json();
      const page = await open(`${url}?tool=memory_profile&${place}${query}`);
      await act(
        page,
        (id) => data.blocks.find(({ event, block }) => id === (event == null ? `k:${block}` : `e:${event}`)),
        data,
      );
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const pinOf = (page) => new URL(page.url()).searchParams.get('pin');
  /* Somewhere on a stripe, from the foot of the middle of the plot up. */
  const placeOnStripe = async (page, share = 0.5) => {
    const box = await page.locator(PLOT).boundingBox();
    for (let up = 6; up < box.height; up += 6) {
      const place = [box.x + share * box.width, box.y + box.height - up];
      await page.mouse.move(...place);
      if (await page.locator(`${PLOT}.is-on-mark`).count()) return place;
    }
    throw new Error('no stripe is there');
  };

  test('stripes: a click on one gives size, category, life, module and stack, pins it, fades the others', async () => {
    await withSnapshot(0, async (page, row) => {
      const before = await pixels(page, BASE);
      const place = await placeOnStripe(page);
      includes(await page.locator('.tooltip').innerText(), 'in use');
      await page.mouse.click(...place);
      await idle(page);
      const own = row(pinOf(page));
      truth(own, `${pinOf(page)} is one of the allocations`);
      const pane = await text(page, '#details');
      for (const words of ['Allocation', exactBytes(own.size_bytes), 'lives', own.line, 'stack frame', 'train.py'])
        includes(pane, words);
      includes(pane, own.category.replaceAll('_', ' '));
      await page.mouse.move(5, 5);
      const pinned = await pixels(page, BASE);
      truth(pinned !== before, 'the others fade');
      await page.reload();
      await idle(page);
      equal([row(pinOf(page)), await text(page, '#details')], [own, pane], 'the address gives the same');
      equal(await violations(page), []);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await idle(page);
      equal([pinOf(page), await pixels(page, BASE)], [null, before], 'Escape lets it go');
      await page.mouse.click(...place);
      await page.mouse.move(5, 5);
      await page.mouse.click(...place);
      await idle(page);
      equal(pinOf(page), null, 'a second click lets it go, too');
    });
  });

  test('stripes: a picture of the timeline has them, too', async () => {
    await withSnapshot(0, async (page) => {
      const svg = async () => {
        await page.locator('.panel-time .menu-dots').click();
        const [saved] = await Promise.all([
          page.waitForEvent('download'),
          page.locator('[role=menuitem]', { hasText: 'SVG' }).first().click(),
        ]);
        return readFileSync(await saved.path(), 'utf8');
      };
      const striped = await svg();
      includes(striped, 'free in segments');
      truth(striped.split('<path').length > 40, 'each has an edge');
    });
  });

  test('stripes: arrow keys go to the ones above and below; the first pins the largest that is there', async () => {
    await withSnapshot(0, async (page, row, data) => {
      const { peak } = data;
      const there = data.blocks.filter(
        ({ from_event: from = -1, to_event: to = Infinity }) => from <= peak.event && peak.event < to,
      );
      await page.focus('.panel-time [role=slider]');
      await page.keyboard.press('ArrowUp');
      await idle(page);
      const met = [pinOf(page)];
      equal(row(met[0]).size_bytes, Math.max(...there.map(({ size_bytes: bytes }) => bytes)));
      includes(await page.locator('.panel-time [role=slider]').getAttribute('aria-valuetext'), row(met[0]).line ?? '');
      await page.keyboard.press('ArrowUp');
      await idle(page);
      met.push(pinOf(page));
      truth(met[1] !== met[0] && there.includes(row(met[1])), 'the one above lives then');
      await page.keyboard.press('ArrowDown');
      await idle(page);
      equal(pinOf(page), met[0]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await idle(page);
      equal(pinOf(page), null);
    });
  });

  test('stripes: what was there all the time is pinned by its block, with the stack of who made it', async () => {
    await withSnapshot(150, async (page, row, data) => {
      const kept = data.blocks.find(({ block, line }) => block != null && line);
      const { origin, searchParams } = new URL(page.url());
      await page.goto(`${origin}/?tool=memory_profile&session=${searchParams.get('session')}&pin=k:${kept.block}`);
      await idle(page);
      const pane = await text(page, '#details');
      for (const words of [exactBytes(kept.size_bytes), 'there all the time', kept.line, 'stack frame'])
        includes(pane, words);
      await page.keyboard.press('Escape');
      await idle(page);
      equal(pinOf(page), null);
    });
  });

  test('stripes: a click tells what is live then, too; stacked by nothing there are stripes all the same', async () => {
    await withSnapshot(
      0,
      async (page, row) => {
        equal(new URL(page.url()).searchParams.has('time'), false);
        await page.mouse.click(...(await placeOnStripe(page)));
        await idle(page);
        truth(row(pinOf(page)), `${pinOf(page)} is one of the allocations`);
        const time = Number(new URL(page.url()).searchParams.get('time'));
        const { born_ps: born = 0, freed_ps: freed = Infinity } = row(pinOf(page));
        truth(born <= time && time < freed, `${born} <= ${time} < ${freed}`);
      },
      '&stack=none',
    );
  });

  test('stripes: a trace without stacks has them, with ops, shapes and the colours of its bands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stripes-'));
    try {
      execFileSync(join(GOLDEN, '../../scripts/make-trace'), [
        join(folder, 'host0.xplane.pb'),
        '--events',
        '400',
        '--steps',
        '2',
        '--before',
        '0',
      ]);
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
      const place = `session=${sessions[0].id}`;
      const { data } = await (await fetch(new URL(`/api/v1/memory_profile/timeline?${place}&blocks=2048`, url))).json();
      const page = await open(`${url}?tool=memory_profile&${place}`);
      const plain = await pixels(page, BASE);
      const before = await placeOnStripe(page);
      await page.mouse.click(...before);
      await idle(page);
      const own = data.blocks.find(({ event }) => `e:${event}` === pinOf(page));
      const pane = await text(page, '#details');
      for (const words of [exactBytes(own.size_bytes), own.op]) includes(pane, words);
      await page.keyboard.press('Escape');
      await page.locator('.stack-choice').selectOption('op');
      await idle(page);
      truth((await pixels(page, BASE)) !== plain, 'the stripes have the colours of ops');
      truth((await page.locator('.time-bands .swatch-set-0').count()) === 1, 'and the legend says which');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
