/* SPDX-License-Identifier: Apache-2.0
 * table.mjs: the table of buffers: any number of rows, order, filter, groups, copies; each by keys too.
 * Figures: the seed's two buffers of 200 and 100 GiB as XProf shows them, and rows made here. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drag } from '../acts.mjs';
import { idle, pixels, text } from '../harness.mjs';
import { answerer, BUFFER_COLUMNS, makeBuffer, makeWorld } from '../canned.mjs';

const MIB = 1024 ** 2;
const SEED = 'dumps/seed-matmul-327680';

export function run({ test, includes, equal, truth, daemon, open, fixtures }) {
  /* Buffers one by one, unless the query says how they are grouped. */
  const oneByOne = (query) => (query.includes('group=') ? query : `?group=none${query.replace('?', '&')}`);
  const openSeed = async (query = '', how = {}) => open(`${await daemon(join(fixtures, SEED))}${oneByOne(query)}`, how);
  const names = (page) => page.locator('.panel-table tbody .c-name').allInnerTexts();
  const foot = (page) => text(page, '.panel-table .c-foot');
  const settle = idle;

  /* `rowCount` rows of which the daemon would page: row-0 is the largest. */
  const openMany = async (rowCount, how = {}) => {
    const asked = [];
    const row = (at) => ({ ...makeBuffer(String(at), `row-${at}`, (rowCount - at) * 1024), ranks: null });
    const intercept = (parts, query) => {
      if (parts[0] !== 'memory_viewer' || parts[1] !== 'buffers') return null;
      const offset = Number(query.get('offset') ?? 0);
      const limit = Number(query.get('limit') ?? 100);
      asked.push(offset);
      const bytes = (1024 * rowCount * (rowCount + 1)) / 2;
      const data = {
        space: 0,
        step: 1,
        total_count: rowCount,
        total_bytes: bytes,
        matched_count: rowCount,
        matched_bytes: bytes,
        largest_bytes: rowCount * 1024,
        offset,
        columns: BUFFER_COLUMNS,
        rows: Array.from({ length: Math.min(limit, rowCount - offset) }, (_, index) => row(offset + index)),
      };
      return { json: { tool: 'memory_viewer', view: 'buffers', params: {}, notes: [], data } };
    };
    const page = await open(`${await daemon('--demo')}?group=none`, {
      canned: answerer(makeWorld({ intercept })),
      allow: /404/,
      ...how,
    });
    return { page, asked };
  };

  test('names that are alike are cut where they are equal: of mu and nu these words stay', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer&large=table&filter=cat:optimizer_state`, {
      width: 1000,
      height: 700,
    });
    const kept = await page.locator('.panel-table tbody .name').evaluateAll((nodes) =>
      nodes
        .filter(
          (node) =>
            /\.mu\[/.test(node.title) && nodes.some((other) => other.title === node.title.replace('.mu[', '.nu[')),
        )
        /* The end of a short name begins before the word. */
        .map((node) => [node.querySelector('.name-kept'), node.querySelector('.name-tail')].filter(Boolean))
        .map((parts) => [
          parts.map((part) => part.textContent).join(''),
          parts.every((part) => part.scrollWidth <= part.clientWidth + 1),
        ]),
    );
    truth(kept.length > 2, `${kept.length} moments`);
    truth(
      kept.some(([word]) => word.startsWith('mu')),
      'one is cut before the word',
    );
    for (const [word, isWhole] of kept) truth(/m/.test(word) && isWhole, `"${word}" stays`);
    await page.finish();
  });

  test('of 100,000 rows those in view stand in the document; the last is reached by End', async () => {
    const { page, asked } = await openMany(100000);
    const lines = () => page.locator('.panel-table tbody tr[role="row"]').count();
    truth((await lines()) < 80, `${await lines()} rows in the document`);
    equal(await page.locator('.panel-table table').getAttribute('aria-rowcount'), '100003');
    await page.locator('.panel-table tbody tr[role="row"]').first().focus();
    await page.keyboard.press('End');
    await settle(page);
    equal(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '100001');
    includes(await page.evaluate(() => document.activeElement.innerText), 'row-99999');
    truth((await lines()) < 80, `${await lines()} rows in the document`);
    truth(asked.includes(99900) && asked.length < 6, `pages asked: ${asked}`);
    await page.keyboard.press('Home');
    await settle(page);
    includes(await page.evaluate(() => document.activeElement.innerText), 'row-0');
    await page.finish();
  });

  test('400,000 rows are higher than 8 million pixels: the scroll bar still reaches the last', async () => {
    const { page } = await openMany(400000);
    const height = await page.locator('.panel-table .grid-scroll').evaluate((node) => node.scrollHeight);
    truth(height < 8.1e6, `${height} px`);
    for (const [share, wanted] of [
      [0.5, 200000],
      [1, 399999],
    ]) {
      await page
        .locator('.panel-table .grid-scroll')
        .evaluate((node, at) => node.scrollTo(0, at * node.scrollHeight), share);
      await settle(page);
      const seen = (await names(page)).map((each) => Number(each.replace('row-', '')));
      truth(Math.min(...seen) <= wanted && Math.max(...seen) >= wanted, `${wanted} is not among ${seen[0]} …`);
      const box = await page.locator('.panel-table .grid-scroll').boundingBox();
      const last = await page.locator(`.panel-table tr[data-id="${wanted}"]`).boundingBox();
      if (share === 1) truth(last.y + last.height <= box.y + box.height, 'the last row is under the edge');
    }
    await page.finish();
  });

  test('a header sorts by click and by Enter, and the URL says so', async () => {
    const page = await openSeed();
    equal(await page.locator('.panel-table th.c-saves').getAttribute('aria-sort'), 'descending');
    equal(await page.locator('.panel-table th.c-size').getAttribute('aria-sort'), null);
    await page.locator('.panel-table th.c-size').click();
    await page.waitForURL(/sort=-size/);
    await idle(page);
    await page.locator('.panel-table th.c-size').click();
    await page.waitForURL(/sort=size/);
    await idle(page);
    equal(await names(page), ['xor_convert_fusion', 'fusion.31']);
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    for (let at = 0; at < 4; at++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    await idle(page);
    equal(await names(page), ['fusion.31', 'xor_convert_fusion']);
    await page.locator('.panel-table th.c-op').focus();
    await page.keyboard.press('Shift+Enter');
    await page.waitForURL(/sort=name,op/);
    await idle(page);
    equal(await page.locator('.panel-table th.c-op').getAttribute('data-rank'), '2');
    truth(await page.evaluate(() => document.activeElement.matches('th.c-op')), 'the order took the focus away');
    await page.goBack();
    await idle(page);
    equal(await page.locator('.panel-table th.c-op').getAttribute('data-rank'), null);
    await page.finish();
  });

  test('a filter typed after / keeps rows; rest and footer make the sum whole', async () => {
    const page = await openSeed();
    await page.keyboard.press('/');
    await page.keyboard.type('>100GiB');
    await settle(page);
    equal(await names(page), ['fusion.31']);
    equal(await foot(page), '1 of 2 buffers, 200.00 of 300.00 GiB');
    includes(await text(page, '.panel-table .grid-rest'), '1 buffer that the filter leaves out');
    includes(await text(page, '.panel-table .grid-rest .c-size'), '100.00');
    equal(await page.locator('.chip').count(), 0);
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await page.locator('.chip').allInnerTexts(), ['>100GiB\n×']);
    includes(page.url(), 'filter=%3E100GiB');
    await page.waitForFunction(() => document.getElementById('live').textContent !== '');
    equal(await page.locator('#live').textContent(), 'Filter: 1 of 2 buffers, 200.00 gibibytes.');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Delete');
    await idle(page);
    equal(await foot(page), '2 buffers, 300.00 GiB');
    await page.finish();
  });

  test('a wrong term is underlined and explained, the last good result stays', async () => {
    const page = await openSeed('?filter=name:fusion*', { allow: /400/ });
    equal(await names(page), ['fusion.31']);
    await page.locator('.filter-input').focus();
    await page.keyboard.type('sze:>1');
    await settle(page);
    includes(await text(page, '.filter-said'), 'Unknown field "sze". Did you mean size?');
    equal(await page.locator('.filter-wrong').innerText(), 'sze:>1');
    equal(await names(page), ['fusion.31']);
    await page.locator('.filter-said button').click();
    await settle(page);
    equal(await page.locator('.filter-said').isVisible(), false);
    equal(await page.locator('.chip').allInnerTexts(), ['name:fusion*\n×', 'size:>1\n×']);
    await page.finish();
  });

  test('a broken filter in the URL leaves the table whole, and is said', async () => {
    const page = await openSeed('?filter=name:%2F(%2F', { allow: /400/ });
    equal(await foot(page), '2 buffers, 300.00 GiB');
    includes(await text(page, '.filter-said'), 'is broken');
    equal(await page.locator('.chip.is-wrong').count(), 1);
    await page.finish();
  });

  test('fields are proposed, then values with their bytes', async () => {
    const page = await openSeed();
    await page.locator('.filter-input').focus();
    await page.keyboard.type('dt');
    equal(await page.locator('.filter-list [role="option"] .name').allInnerTexts(), ['dtype:']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.filter-list [role="option"] >> text=GiB');
    const row = page.locator('.filter-list [role="option"]').first();
    includes(await row.innerText(), '200.00 GiB');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await settle(page);
    equal(await names(page), ['fusion.31']);
    await page.finish();
  });

  test('groups open to their buffers by click and by keys', async () => {
    const page = await openSeed();
    await page.locator('.group-choice').selectOption('op');
    await page.waitForURL(/group=op/);
    await idle(page);
    equal(await page.locator('.panel-table table').getAttribute('role'), 'treegrid');
    const rows = page.locator('.panel-table tbody tr');
    equal(await rows.count(), 1);
    includes(await rows.first().innerText(), 'fusion');
    includes(
      (await text(page, '.panel-table .c-count')).concat(await text(page, '.panel-table tbody .c-count')),
      '2 × ≤ 200.00 GiB',
    );
    includes(await text(page, '.panel-table tbody .c-size'), '300.00');
    await rows.first().focus();
    await page.keyboard.press('ArrowRight');
    await settle(page);
    equal(await rows.count(), 3);
    equal((await names(page)).slice(1), ['fusion.31', 'xor_convert_fusion']);
    equal(await rows.nth(2).getAttribute('aria-posinset'), '2');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await page.locator('.panel-table tr.is-pinned').count(), 1);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await idle(page);
    equal(await rows.count(), 1);
    await rows.first().click();
    await settle(page);
    equal(await rows.count(), 3);
    await page.finish();
  });

  /* The seed's one opcode holds both of its buffers; the demo's largest shape is that of its 2 GiB buffers. */
  test('a group is pinned by click and by Enter: sums, outlines, lives, URL, reload and Esc', async () => {
    const page = await openSeed('?group=op');
    const row = page.locator('.panel-table tbody tr').first();
    const overlays = () => Promise.all(['.strip-over', '.curve-host canvas'].map((each) => pixels(page, each)));
    await page.mouse.move(700, 20);
    await idle(page);
    const [strips] = await overlays();
    await row.click();
    await page.waitForURL(/pin=g:fusion/);
    await page.mouse.move(700, 20);
    await idle(page);
    equal(await text(page, '.details-title'), 'Pinned group');
    equal(await text(page, '.details-name .name'), 'fusion');
    for (const said of [
      '2 buffers, 300.00 GiB · 100',
      'largest 200.00 GiB',
      'whole program 2 buffers',
      'fusion.31 200.00 GiB',
      'xor_convert_fusion 100.00 GiB',
    ])
      includes((await text(page, '.details-body')).replace(/\s+/g, ' '), said);
    truth((await overlays())[0] !== strips, 'no outline in the strips');
    truth(await page.locator('.curve-span').first().isVisible(), 'no lives on the curve');
    equal(await page.locator('.panel-table tr.is-pinned.is-group').count(), 1);
    equal(await row.getAttribute('aria-expanded'), 'true');
    const pinned = await overlays();
    await page.reload();
    await idle(page);
    await page.mouse.move(701, 21);
    await idle(page);
    equal(await text(page, '.details-title'), 'Pinned group');
    equal(await overlays(), pinned, 'the picture is another after a reload');
    await page.keyboard.press('Escape');
    await idle(page);
    truth(!page.url().includes('pin='), 'Esc did not let go');
    truth((await overlays())[0] === strips, 'the outline stays');
    await row.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/pin=g:fusion/);
    await page.locator('.details-body .link-button').first().click();
    await page.waitForURL(/pin=b:/);
    await idle(page);
    equal(await text(page, '.details-name .name'), 'fusion.31');
    await page.finish();
  });

  test('the arrow of a group opens it and pins nothing; another grouping lets the group go', async () => {
    const page = await openSeed('?group=op');
    const row = page.locator('.panel-table tbody tr').first();
    await row.locator('.twist').click();
    await settle(page);
    equal(await row.getAttribute('aria-expanded'), 'true');
    truth(!page.url().includes('pin='), 'the arrow pins');
    await row.locator('.c-name .name').click();
    await page.waitForURL(/pin=g:fusion/);
    await settle(page);
    equal(await row.getAttribute('aria-expanded'), 'true', 'pinning closed it');
    await page.locator('.group-choice').selectOption('dtype');
    await page.waitForURL(/group=dtype/);
    await settle(page);
    truth(!page.url().includes('pin='), 'a group of another grouping stays pinned');
    await page.finish();
  });

  test('a command of the palette groups, and lets a group of another grouping go', async () => {
    const page = await openSeed('?group=op&pin=g:fusion');
    await page.waitForSelector('.details-title:has-text("Pinned group")');
    await page.keyboard.press('Control+k');
    await page.locator('.palette-input').fill('>group buffers by shape');
    await page.waitForFunction(() => document.querySelectorAll('.palette-option').length === 1);
    await page.keyboard.press('Enter');
    includes(page.url(), 'group=shape');
    equal(await page.locator('.group-choice').inputValue(), 'shape');
    truth(!page.url().includes('pin='), 'a group of another grouping stays pinned');
    await page.finish();
  });

  test('a group of what has no key opens to its own buffers and is pinned', async () => {
    const page = await open(`${await daemon('--demo')}?group=layer&pin=g:`);
    includes(await text(page, '.details-name'), 'no layer in the op name');
    const said = (await text(page, '.details-body')).replace(/\s+/g, ' ');
    const own = Number(/at the peak ([\d,]+) buffer/.exec(said)[1].replace(',', ''));
    const row = page.locator('.panel-table tr[data-id="g:"]');
    truth((await row.locator('.c-count').innerText()).startsWith(`${own} ×`), said);
    await row.locator('.twist').click();
    await settle(page);
    await row.focus();
    await page.keyboard.press('ArrowDown');
    equal(await page.evaluate(() => document.activeElement.getAttribute('aria-setsize')), String(own));
    const lit = await pixels(page, '.curve-host canvas');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !location.search.includes('pin='));
    await settle(page);
    truth((await pixels(page, '.curve-host canvas')) !== lit, 'the others do not fade beside a group');
    await page.finish();
  });

  test('chosen rows are copied with exact bytes; CSV holds every row', async () => {
    const page = await openSeed();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('Shift+ArrowDown');
    equal(await page.locator('.panel-table tr.is-chosen').count(), 2);
    await page.keyboard.press('Control+c');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const cells = copied.split('\n').map((line) => line.split('\t'));
    equal(cells[0].slice(0, 5), ['saves_bytes', 'size_bytes', 'share_percent', 'padding_bytes', 'name']);
    equal(
      cells.slice(1).map((line) => [line[1], line[4]]),
      [
        [String(200 * 1024 ** 3), 'fusion.31'],
        [String(100 * 1024 ** 3), 'xor_convert_fusion'],
      ],
    );
    await page.locator('.panel-table .menu-dots').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.panel-table .menu-item', { hasText: 'CSV' }).click(),
    ]);
    const table = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    equal(table.length, 3);
    includes(table[0], 'size_bytes');
    includes(table[1], '"fusion.31"');
    await page.finish();
  });

  test('columns are turned on behind ⋯, and widened by drag and by keys', async () => {
    const page = await openSeed();
    equal(await page.locator('.panel-table th.c-dtype').count(), 0);
    await page.locator('.panel-table .menu-dots').focus();
    await page.keyboard.press('Enter');
    await page.locator('.panel-table .menu-item', { hasText: 'Column Dtype' }).focus();
    await page.keyboard.press('Enter');
    await idle(page);
    equal(await page.locator('.panel-table td.c-dtype').first().innerText(), 'bf16');
    const header = page.locator('.panel-table th.c-name');
    const width = async () => (await header.boundingBox()).width;
    const before = await width();
    await header.focus();
    await page.keyboard.press('Shift+ArrowRight');
    truth((await width()) > before, 'keys do not widen');
    const box = await header.boundingBox();
    await drag(page, [box.x + box.width - 3, box.y + 8], [box.x + box.width + 77, box.y + 8]);
    truth(Math.abs((await width()) - box.width - 80) < 3, `drag made it ${await width()} from ${box.width}`);
    equal(await page.locator('.panel-table th.c-name').getAttribute('aria-sort'), null, 'the drag sorted');
    await page.finish();
  });

  test('no head of a column is cut at 1280 px, also where savings are not the order', async () => {
    const base = await daemon(join(fixtures, SEED));
    for (const query of ['', '?sort=-size', '?group=none']) {
      const page = await open(`${base}${query}`, { width: 1280, height: 720 });
      const cut = await page
        .locator('.panel-table th')
        .evaluateAll((cells) =>
          cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
        );
      equal(cut, []);
      await page.finish();
    }
  });

  test('arrows walk into the cells of a row and back; Escape of the filter leaves it', async () => {
    const page = await openSeed();
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('ArrowRight');
    equal(await page.evaluate(() => document.activeElement.className.includes('c-saves')), true);
    await page.keyboard.press('End');
    equal(await page.evaluate(() => document.activeElement.className.includes('c-dies')), true);
    await page.keyboard.press('ArrowDown');
    equal(await page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex')), '3');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    equal(await page.evaluate(() => document.activeElement.tagName), 'TR');
    equal(await page.locator('.panel-table [tabindex="0"]:not(input)').count(), 1, 'more than one stop');
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    for (let at = 0; at < 3; at++) await page.keyboard.press('Escape');
    truth(await page.evaluate(() => document.activeElement.tagName !== 'INPUT'), 'still in the filter');
    await page.finish();
  });

  test('printed are the first 50 rows and how many more there are', async () => {
    const { page } = await openMany(391);
    await page.emulateMedia({ media: 'print' });
    await settle(page);
    equal(await page.locator('.panel-table tbody tr[role="row"]').count(), 50);
    includes(await text(page, '.panel-table .grid-more'), '341 more buffers: use CSV');
    await page.finish();
  });

  test('on a phone rows are cards, and as many', async () => {
    const { page } = await openMany(5000, { width: 390, height: 844 });
    await page.locator('.phone-tab', { hasText: 'Table' }).click();
    await idle(page);
    const first = page.locator('.panel-table tbody tr[role="row"]').first();
    await first.scrollIntoViewIfNeeded();
    const box = await first.boundingBox();
    truth(box.height >= 44, `${box.height} px`);
    includes((await first.innerText()).replace(/\s+/g, ' '), 'MiB');
    truth((await page.locator('.panel-table tbody tr[role="row"]').count()) < 100, 'all rows stand in the document');
    await page.finish();
  });

  test('hostile names stay text in rows, chips and copies', async () => {
    const hostile = `=<b>\u202e\u0007${'x'.repeat(10000)}`;
    const buffers = [makeBuffer('1', hostile, 64 * MIB)];
    const page = await open(`${await daemon('--demo')}?group=none&filter=${encodeURIComponent('<img/src=x>')}`, {
      canned: answerer(makeWorld({ buffers })),
      allow: /404/,
    });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    equal(await page.locator('.panel-table b, .panel-table img').count(), 0);
    equal(await page.locator('.chip-text').innerText(), '<img/src=x>');
    const cell = (await names(page))[0].replace(/\s/g, '');
    truth(cell.length < 200 && cell.startsWith('=<b>') && cell.includes('⟨202E⟩'), cell.slice(0, 60));
    await page.locator('.panel-table tbody tr').first().focus();
    await page.keyboard.press('Control+c');
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')[1];
    includes(copied, "'=<b>");
    truth(!/[\u202e\u0007]/.test(copied), 'control characters are copied');
    await page.finish();
  });
}
