/* SPDX-License-Identifier: Apache-2.0
 * modules.mjs: all modules of a session on one page: rows, hosts side by side, what is not read, what adding up means.
 * */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { holdBack, inUrl } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

/* ---- traces out of the programs of tests/fixtures: field numbers of proto/xplane.proto ---- */

function varint(value) {
  const bytes = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left % 128) | 128);
  }
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
function block(field, ...parts) {
  const data = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);
}

/* programs: [name, id, HloProto] …; runs: [name, from ps, to ps] … on one device. */
function trace(programs, runs = []) {
  const metadata = programs.map(([name, id, hlo]) =>
    block(4, number(1, id), block(2, number(1, id), block(2, `${name}(${id})`), block(5, number(1, 1), block(6, hlo)))),
  );
  const stat = block(5, number(1, 1), block(2, number(1, 1), block(2, 'Hlo Proto')));
  const events = runs.map(([name, from, to]) =>
    block(4, number(1, programs.findIndex(([each]) => each === name) + 1), number(2, from), number(3, to - from)),
  );
  const names = programs.map(([name, id], at) =>
    block(4, number(1, at + 1), block(2, number(1, at + 1), block(2, `${name}(${id})`))),
  );
  const device = runs.length
    ? block(1, block(2, '/device:TPU:0'), block(3, block(2, 'XLA Modules'), number(3, 5), ...events), ...names)
    : Buffer.alloc(0);
  return Buffer.concat([block(1, block(2, '/host:metadata'), ...metadata, stat), device]);
}

export function run({ test, equal, includes, truth, daemon, open, fixtures, shared }) {
  const hloOf = (folder) => {
    const name = readdirSync(join(fixtures, folder)).find((each) => /after_optimizations\.hlo\.pb/.test(each));
    const bytes = readFileSync(join(fixtures, folder, name));
    return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  };
  const adam = () => hloOf('modules/mlp-adam');
  const pallas = () => hloOf('modules/pallas-matmul');
  const small = () => readFileSync(join(fixtures, 'hlo', 'jit_step(22).hlo_proto.pb'));
  let made = null;

  /* Three hosts with jit_step and jit_f; on the third jit_step is another program. */
  async function job() {
    if (!made) {
      made = mkdtempSync(join(tmpdir(), 'memviewd-modules-'));
      const write = (session, host, bytes) => {
        const folder = join(made, session, 'plugins', 'profile', session);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `${host}.xplane.pb`), bytes);
      };
      const runs = [
        ['jit_step', 1000000000, 3000000000],
        ['jit_f', 3000000000, 4000000000],
        ['jit_step', 5000000000, 9000000000],
      ];
      for (const at of [0, 1, 2])
        write(
          'job',
          `host${at}`,
          trace(
            [
              ['jit_step', 5, at === 2 ? small() : adam()],
              ['jit_f', 6, pallas()],
            ],
            runs,
          ),
        );
      write(
        'broken',
        'host0',
        trace([
          ['jit_step', 5, adam()],
          ['jit_f', 6, pallas().subarray(0, 9000)],
        ]),
      );
      write('none', 'host0', trace([]));
    }
    return made;
  }
  const at = async (session, query = '') =>
    `${await daemon(`--logdir=${join(await job(), session)}`)}?tool=modules${query}`;
  const cells = (page, panel, names) =>
    page
      .locator(`.panel-modules-${panel} tbody[role=rowgroup] tr:not(.is-waiting)`)
      .evaluateAll(
        (lines, classes) =>
          lines.map((line) => classes.map((name) => line.querySelector(`.c-${name}`)?.innerText.trim() ?? null)),
        names,
      );

  test('programs of a dump that are alike are one column of the chart, and rows numbered by file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memviewd-alike-'));
    for (const number of ['0157', '0163', '0171'])
      writeFileSync(join(folder, `module_${number}.jit_step.after_optimizations.hlo.pb`), adam());
    writeFileSync(join(folder, 'module_0180.jit_f.after_optimizations.hlo.pb'), pallas());
    const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=modules`);
    includes(await text(page, '.panel-modules-chart h2'), '2 identical modules folded');
    includes(await text(page, '.panel-modules-all tbody'), 'jit_step #0163');
    await page.locator('.panel-modules-chart [role=listbox]').focus();
    const tips = [];
    for (const key of ['Home', 'ArrowRight']) {
      await page.keyboard.press(key);
      await idle(page);
      tips.push(await text(page, '.tooltip'));
    }
    truth(
      tips.some((words) => words.includes('jit_step × 3') && words.includes('3 identical')),
      tips.join(' | '),
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/tool=memory_viewer|module=/);
    await page.finish();
  });

  test('at 1440 px all columns are there without scrolling sideways, with a capacity and without', async () => {
    for (const capacity of ['', '&capacity=v5e']) {
      const page = await open(await at('job', capacity), { width: 1440, height: 900 });
      const [whole, seen] = await page
        .locator('.panel-modules-all .grid-scroll')
        .evaluate((node) => [node.scrollWidth, node.clientWidth]);
      truth(whole <= seen, `${whole} px in ${seen}`);
      await page.finish();
    }
  });

  test('a row a module, the largest first, and what adding up means', async () => {
    const page = await open(await at('job', '&capacity=128MiB'));
    includes(
      await text(page, 'h1'),
      '2 modules on 3 hosts; the largest is jit_f: 96.00 MiB of HBM, 75 % of 128.00 MiB.',
    );
    includes(await text(page, '.answer-more'), 'host2 differs: another plan, jit_step needs ');
    includes(
      await text(page, '.answer-more'),
      'Totals do not add up: the 9 runs in the trace, on 3 devices, came one after the other',
    );
    equal(await cells(page, 'all', ['module', 'hosts', 'runs']), [
      ['jit_f', '3', '1'],
      ['jit_step', '3 ≠', '2'],
    ]);
    const [[share, categories]] = await cells(page, 'all', ['capacity', 'cat']);
    equal(share, '75 %');
    truth(/\d %$/.test(categories), `categories: ${categories}`);
    equal(await text(page, '.panel-modules-all .grid-rest td'), 'no sum');
    truth((await page.locator('.rail a[aria-current], #rail a[aria-current]').count()) > 0, 'the rail shows the page');
    await page.finish();
  });

  test('the person\u2019s rules of the link are those of the table, and go along to the Memory Viewer', async () => {
    const page = await open(await at('job', `&rules=${encodeURIComponent('. rng')}`));
    for (const [words] of await cells(page, 'all', ['cat'])) equal(words, 'random state 100 %');
    includes(await page.locator('.panel-modules-all .module-link').first().getAttribute('href'), 'rules=');
    await page.finish();
    const wrong = await open(await at('job', '&rules=x%20cahce'), { allow: /400/ });
    includes(await text(wrong, '#banners'), 'The rules of this link cannot be used');
    equal((await cells(wrong, 'all', ['module'])).length, 2);
    await wrong.finish();
  });

  test(
    'plan and allocator stand in a ledger against the capacity, each leads to its page',
    async () => {
      const base = await daemon(`--logdir=${join(shared, 'data/logdir')}`);
      const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
      const page = await open(`${base}?tool=modules&session=${sessions.find(({ name }) => name === 'mi300/conv').id}`);
      const lines = (await page.locator('.ledger-bars li').allInnerTexts()).map((each) =>
        each.replace(/\s+/g, ' ').trim(),
      );
      equal(lines, ['plan of the program 1.08 GiB', "allocator's peak 1.61 GiB"]);
      includes(await text(page, '.ledger-says'), 'Capacity 143.99 GiB');
      await page.locator('.ledger-bars a').nth(1).click();
      await page.waitForURL(/tool=memory_profile/);
      await page.finish();
      const alone = await open(await at('job'));
      equal(await alone.locator('.panel-ledger').isVisible(), false);
      await alone.finish();
    },
    { shared: true },
  );

  test('≠ opens the hosts side by side, those that differ first; Esc closes them', async () => {
    const page = await open(await at('job'));
    await page.getByRole('button', { name: /Hosts of jit_step side by side: 1 of 3 differ/ }).click();
    await idle(page);
    const rows = await cells(page, 'hosts', ['host', 'differs']);
    equal(
      rows.map(([host]) => host),
      ['host2', 'host0', 'host1'],
    );
    includes(rows[0][1], '▼');
    equal(rows[1][1], 'as most');
    includes(await inUrl(page, 'pin'), 'g:');
    await page.keyboard.press('Escape');
    await idle(page);
    truth(await page.locator('.panel-modules-hosts').isHidden(), 'the hosts are closed');
    await page.finish();
  });

  test('Enter opens the module in the Memory Viewer, on the host that differs', async () => {
    const page = await open(await at('job', '&group=host'));
    const [[host, differs]] = await cells(page, 'all', ['host', 'differs']);
    equal([host, differs.slice(-1)], ['host2', '▼']);
    await page.locator('.panel-modules-all tbody[role=rowgroup] tr').first().focus();
    await page.keyboard.press('Enter');
    await idle(page);
    equal([await inUrl(page, 'tool'), (await inUrl(page, 'module')).length], ['memory_viewer', 12]);
    truth(Boolean(await inUrl(page, 'host')), 'the host is named');
    includes(await page.title(), 'jit_step');
    await page.goBack();
    await idle(page);
    includes(await text(page, 'h1'), '2 modules on 3 hosts');
    await page.finish();
  });

  test('a click opens it too, and keys change what is shown', async () => {
    const page = await open(await at('job'));
    await page.keyboard.press('3');
    await idle(page);
    equal(await cells(page, 'all', ['module']), [['jit_step']]);
    await page.keyboard.press('2');
    await idle(page);
    equal(await cells(page, 'all', ['host']), [['host2']]);
    await page.keyboard.press('3');
    await page.keyboard.press('1');
    await idle(page);
    equal((await cells(page, 'all', ['module'])).length, 2);
    await page.keyboard.press('/');
    await page.keyboard.type('name:jit_f');
    await page.keyboard.press('Enter');
    await idle(page);
    equal([await inUrl(page, 'filter'), await cells(page, 'all', ['module'])], ['name:jit_f', [['jit_f']]]);
    await page.locator('.panel-modules-all tbody[role=rowgroup] tr').first().click();
    await idle(page);
    equal(await inUrl(page, 'tool'), 'memory_viewer');
    await page.finish();
  });

  test('the page fills in while the session is read', async () => {
    const base = await daemon(`--logdir=${await job()}`);
    const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
    const page = await open(`${base}?tool=home`, { isMeasured: true, isAlone: true });
    await page.route('**/api/v1/modules/summary?*within_ms=250*', (route) =>
      route.continue({ url: route.request().url().replace('within_ms=250', 'within_ms=0') }),
    );
    const held = await holdBack(page, '**/api/v1/modules/summary?*within_ms=500*');
    await page.goto(`${base}?tool=modules&session=${sessions.find(({ name }) => name.endsWith('job')).id}`);
    await held.asked;
    await page.waitForFunction(
      () => document.querySelectorAll('.panel-modules-all tbody[role=rowgroup] tr').length === 2,
    );
    equal(await text(page, 'h1'), '2 modules on 3 hosts; none is read yet.');
    equal(await cells(page, 'all', ['total']), [['not read yet'], ['not read yet']]);
    equal(await text(page, '.modules-progress'), '0 of 6 modules are read; the others follow.');
    held.release();
    await page.waitForFunction(() => document.querySelector('.modules-progress').hidden);
    await idle(page);
    equal((await cells(page, 'all', ['total']))[0], ['96.00']);
    await page.finish();
  });

  test('a damaged module says why, and the others go on', async () => {
    const page = await open(await at('broken'));
    includes(await text(page, 'h1'), '1 cannot be read; its row says why.');
    const rows = await cells(page, 'all', ['total', 'remark']);
    truth(/^[\d.]+$/.test(rows[0][0]), `the whole one: ${rows[0]}`);
    equal(rows[1][0], 'cannot be read');
    truth(rows[1][1].length > 10, `why: ${rows[1][1]}`);
    await page.finish();
  });

  test('a session without modules leads to what it has', async () => {
    const page = await open(await at('none'));
    includes(await text(page, '.whole-page'), 'This session has no modules.');
    equal(await page.locator('.whole-page a').innerText(), 'Memory Profile');
    await page.finish();
  });

  test('a figure explains itself', async () => {
    const page = await open(await at('job'));
    await page.locator('.panel-modules-all td.c-peak').first().focus();
    await page.keyboard.press('i');
    await page.waitForSelector('dialog.explain[open]');
    includes(await text(page, 'dialog.explain'), 'live at the peak');
    await page.keyboard.press('Escape');
    await page.finish();
  });

  test('on a phone rows are cards, and nothing hangs over', async () => {
    for (const scheme of ['light', 'dark']) {
      const page = await open(await at('job', '&capacity=16MiB'), { width: 390, height: 844, scheme });
      const [[total, module]] = await cells(page, 'all', ['total', 'module']);
      equal([total.replace(/\s+/, ' '), module], ['96.00 MiB', 'jit_f']);
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      equal(over, 0);
      await page.finish();
    }
  });
}
