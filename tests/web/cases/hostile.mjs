/* SPDX-License-Identifier: Apache-2.0
 * hostile.mjs: what a URL or a file says wrongly. Names of markup, control characters, marks that turn the direction
 * and 10,000 characters, as tests/bench/make_module.py --hostile writes them, through the daemon and every view; and
 * every parameter of the URL with what does not exist. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { idle, text } from '../harness.mjs';

const LONGEST_SHOWN = 4200; // UTF-16 units of a text or title: 2,000 characters of two, and words around them

/* Parameter, and the banner that names what was not found. Steps of the demo: 0 to 1,017. */
const WRONG = [
  ['host=nope', 'Host nope is not in this session'],
  ['module=%3Cb%3Ex', 'Module <b>x is not in this session; showing the largest.'],
  ['space=77', 'Memory space 77 is not in this module; showing HBM.'],
  ['capacity=%E2%80%AEv6e', 'Capacity ⟨202E⟩v6e is no device known here'],
  ['step=1018', 'Step 1,018 is not in HBM, which has steps 0 to 1,017; showing the peak.'],
  ['step=%00', 'Step ␀ is not in HBM'],
  ['from=900000&to=5', '900000 to 5 is no range of HBM'],
  ['low=5&high=1', 'Offsets 5 to 1 are not a range; showing all.'],
  ['low=5&high=99999999999999', 'Offsets up to 90.95 TiB are not in HBM, which needs 33.49 GiB; showing all.'],
  ['sel=5000-9000', 'The window 5000-9000 is not in HBM'],
  ['sel=10-20&offsets=7', 'Offsets 7 are not in HBM, which needs 33.49 GiB; '],
  ['sel=10-20&offsets=9-5', 'the window takes all of them.'],
  [
    'offsets=99999999999999-999999999999999',
    'Offsets 90.95 to 909.49 TiB are not in HBM, which needs 33.49 GiB; nothing is selected.',
  ],
  ['offsets=%00', 'Offsets ␀ are not in HBM'],
  ['bars=program:900-1000', 'there is no bar number 901; showing all.'],
  ['a=99999', 'The mark A at 99999 is not in HBM'],
  ['pin=b:999999', 'Buffer 999999 is not in this module; showing the peak.'],
  ['pin=b:%00', 'Buffer ␀ is not in this module; showing the peak.'],
  ['pin=zz', 'zz is no buffer; nothing is pinned.'],
  ['group=none&pin=g:f32', 'g:f32 is no buffer; nothing is pinned.'],
  ['pin=g:f77', 'Group f77 is not in this module; nothing is pinned.'],
  ['group=dtype&pin=g:f77', 'Group f77 is not in this module; nothing is pinned.'],
  ['group=dtype&pin=g:%00', 'Group ␀ is not in this module; nothing is pinned.'],
  ['group=shape&filter=dtype:bf16&pin=g:f32', 'Group f32 has no buffer that passes the filter; nothing is pinned.'],
  ['view=nope', 'There is no view nope here'],
  ['sort=nope', 'There is no order nope here; what saves most comes first.'],
  ['group=nope', 'Buffers are not grouped by nope here; folding layers.'],
  ['color=nope', 'There is no colour by nope here; colouring by category.'],
  ['tool=nope', 'There is no page nope here; showing the usual one.'],
];
/* What is said where a filter is typed; the rest stands as without it. */
const BROKEN = [
  ['filter=sze:3', 'Unknown field "sze". Did you mean size?'],
  ['filter=a%00b', 'A text with a NUL in it matches nothing.'],
  ['filter=size:%2F(%2F', 'is not a number'],
];

export function run({ test, includes, equal, truth, daemon, open }) {
  const isHealthy = async (page, what) => {
    includes(await text(page, 'h1'), '33.49 GiB', what);
    truth((await page.locator('.panel-table tbody tr').count()) > 4, `${what}: no rows`);
    truth(
      await page.locator('.curve-host canvas:visible, .map-base:visible').first().isVisible(),
      `${what}: no picture`,
    );
    truth((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1440, `${what}: the page grew`);
  };

  test('whatever the URL names that is not there: a banner says so, and the rest works', async () => {
    const base = await daemon('--demo');
    const page = await open(`${base}?tool=memory_viewer`, { allow: /40[04]|Failed to load resource/ });
    for (const [query, said] of WRONG) {
      await page.goto(`${base}?${query.startsWith('tool') ? '' : 'tool=memory_viewer&'}${query}`);
      await idle(page);
      includes((await page.locator('.banner').allInnerTexts()).join(' '), said, query);
      await isHealthy(page, query);
    }
    for (const [query, said] of BROKEN) {
      await page.goto(`${base}?tool=memory_viewer&${query}`);
      await idle(page);
      includes(await text(page, '.filter-said'), said, query);
      await isHealthy(page, query);
    }
    await page.finish();
  });

  test('hostile names out of a file are text in every view, and no view grows by them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-'));
    const maker = resolve(import.meta.dirname, '../../bench/make_module.py');
    execFileSync('python3', [
      maker,
      join(folder, 'module_0001.jit_x.after_optimizations.hlo.pb'),
      '--buffers',
      '60',
      '--hostile',
    ]);
    const base = await daemon(folder);
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      const page = await open(`${base}?tool=memory_viewer&step=30`, size);
      for (const query of [
        '',
        '&filter=-cat:parameter',
        '&group=line',
        '&group=scope',
        '&view=strips',
        '&view=map',
        '&view=table',
        '&pin=b:1',
        '&pin=b:28',
        '&sel=10-60',
      ]) {
        await page.goto(`${base}?tool=memory_viewer&step=30${query}`);
        await idle(page);
        const found = await page.evaluate(() => {
          const texts = [document.title];
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
          for (let node = walk.nextNode(); node; node = walk.nextNode())
            texts.push(
              ...(node.nodeType === Node.TEXT_NODE
                ? [node.data]
                : [...node.attributes].filter(({ name }) => !name.startsWith('data-')).map(({ value }) => value)),
            );
          return {
            width: document.documentElement.scrollWidth,
            strange: document.querySelectorAll('main img, main script, .details img, .details script').length,
            longest: texts.reduce((most, each) => Math.max(most, each.length), 0),
            raw: texts
              .filter((each) => /[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u2066-\u2069]/.test(each))
              .map((each) => escape(each.slice(-80))),
          };
        });
        const where = `${size.width} ${query}`;
        equal([found.strange, found.raw], [0, []], where);
        truth(found.width <= size.width, `${where}: the page grew to ${found.width} px`);
        truth(found.longest <= LONGEST_SHOWN, `${where}: a text of ${found.longest} characters`);
      }
      await page.finish();
    }
    const page = await open(`${base}?tool=memory_viewer&step=30&pin=b:1`);
    /* Buffer 1 has the name of 10,000 x: cut in the strip, whole in the pane's copy. */
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (whole) => {
        window.copied = whole;
      };
    });
    await page.locator('.details-name .copy').click();
    equal(await page.evaluate(() => window.copied), 'x'.repeat(10000));
    await page.finish();
    rmSync(folder, { recursive: true });
  });
}
