/* SPDX-License-Identifier: Apache-2.0
 * table.mjs: which rows stand in the document, orders as text, rows of pages and groups, copies. */

import { sortRows, nextSort, sortOf } from '../../../web/widgets/table_sort.js';
import { groupsOf, wayOf } from '../../../web/tools/oom/grouping.js';
import { tableOf, tabSeparated } from '../../../web/lib/export.js';
import {
  groupedRows,
  localRows,
  naturalOf,
  pagedRows,
  revealed,
  scrollOf,
  TALLEST_PX,
  windowOf,
} from '../../../web/widgets/table_rows.js';

const size = (count, rowPx = 28, viewPx = 280) => ({ count, rowPx, viewPx });
const heightOf = ({ from, to, beforePx, afterPx }, rowPx = 28) => beforePx + (to - from) * rowPx + afterPx;
const SIZE = { sortKey: 'size', isNumber: true, value: (row) => row.size };
const NAME = { sortKey: 'name', value: (row) => row.name };

export function run({ test, equal, truth }) {
  test('listed buffers are grouped by what they have in common; a single one stays itself', () => {
    const row = (id, size, shape, more = {}) => ({
      id,
      list: 'buffers',
      keys: [id],
      size_bytes: size,
      shape,
      source_file: null,
      source_line: null,
      name: id,
      ...more,
    });
    const rows = [
      row('a', 4, 'f32[1]'),
      row('b', 2, 'f32[2]'),
      row('c', 4, 'f32[1]', { category: 'output' }),
      row('d', null, 'f32[1]'),
    ];
    const output = row('e', 4, 'f32[1]', { label: 'Output 0' });
    const brief = (groups) =>
      groups.map(({ id, count, size_bytes: size, each_bytes: each, isSingle = false }) => [
        isSingle ? id : '',
        count,
        size,
        each,
      ]);
    equal(brief(groupsOf([...rows, row('f', 4, 'f32[1]')], '')), [
      ['', 2, 8, 4],
      ['b', 1, 2, 2],
      ['c', 1, 4, 4],
      ['d', 1, null, null],
    ]);
    equal(
      brief(groupsOf([...rows, output], 'shape')),
      [
        ['', 3, 8, null],
        ['b', 1, 2, 2],
        ['e', 1, 4, 4],
      ],
      'an output may lie in an argument',
    );
    equal(brief(groupsOf(rows, 'shape')), [
      ['', 3, 8, null],
      ['b', 1, 2, 2],
    ]);
    equal(groupsOf(rows, 'shape')[0].name, null, 'names that differ are no name');
    equal(groupsOf(rows, 'shape')[0].keys, ['a', 'c', 'd']);
    equal(brief(groupsOf(rows, 'category')), [
      ['', 3, 6, null],
      ['c', 1, 4, 4],
    ]);
    equal(groupsOf(rows, 'none'), null);
    equal(wayOf('layer'), '', 'what another table is grouped by is as nothing said');
    const source = groupedRows({
      groups: localRows(groupsOf(rows, 'shape')),
      membersOf: ({ rows: members }) => localRows(members),
    });
    source.toggle(1);
    equal([source.count, source.at(1).isGroup], [2, false], 'a single row does not open');
    source.toggle(0);
    equal([source.count, source.at(1).id, source.at(4).id], [5, 'a', 'b']);
  });

  test('the rows in view and 20 more on each side stand in the document', () => {
    equal(windowOf(size(1000), 0), { from: 0, to: 31, beforePx: 0, afterPx: (1000 - 31) * 28 });
    equal(windowOf(size(1000), 500 * 28), { from: 480, to: 531, beforePx: 480 * 28, afterPx: 469 * 28 });
    equal(windowOf(size(1000), 1e9).to, 1000);
    equal(windowOf(size(3), 0), { from: 0, to: 3, beforePx: 0, afterPx: 0 });
    equal(windowOf(size(0), 0), { from: 0, to: 0, beforePx: 0, afterPx: 0 });
  });
  test('beyond 8 million pixels the scroll bar is mapped to the row', () => {
    const many = size(3_000_000);
    const end = TALLEST_PX - many.viewPx;
    equal(windowOf(many, 0).from, 0);
    equal(windowOf(many, end).to, 3_000_000);
    for (const at of [0, 1, 333, 5000, end / 2, end - 100, end]) {
      const range = windowOf(many, at);
      const first = Math.floor(naturalOf(many, at) / many.rowPx);
      truth(range.from <= first && range.to >= Math.min(3_000_000, first + 10), `row ${first} at ${at}`);
      truth(range.to - range.from <= 60, `${range.to - range.from} rows at ${at}`);
      truth(Math.abs(heightOf(range) - TALLEST_PX) < 29, `height ${heightOf(range)} at ${at}`);
      truth(Math.abs(scrollOf(many, naturalOf(many, at)) - at) < 0.01, `there and back at ${at}`);
    }
  });
  test('a row is revealed with as little movement as possible', () => {
    equal(revealed(size(100), 280, 12), 280);
    equal(revealed(size(100), 280, 3), 84);
    equal(revealed(size(100), 280, 25), 448);
    equal(revealed(size(100), 0, 99), 100 * 28 - 280);
  });
  test('a click sorts the largest first, again the other way; Shift adds a second key', () => {
    equal(nextSort('', SIZE), '-size');
    equal(nextSort('-size', SIZE), 'size');
    equal(nextSort('size', SIZE), '-size');
    equal(nextSort('-size', NAME), 'name');
    equal(nextSort('-size', NAME, true), '-size,name');
    equal(nextSort('-size,name', NAME, true), '-size,-name');
    equal(nextSort('-size,name', NAME), 'name');
    equal(sortOf('-size,name', NAME), { direction: 'ascending', rank: 1 });
    equal(sortOf('-size', NAME), { direction: null, rank: -1 });
  });
  test('rows that are here are sorted by two keys, the unknown last', () => {
    const rows = [
      { size: 1, name: 'b' },
      { size: null, name: 'a' },
      { size: 2, name: 'c' },
      { size: 1, name: 'a' },
    ];
    equal(
      sortRows(rows, '-size,name', [SIZE, NAME]).map((row) => `${row.size}${row.name}`),
      ['2c', '1a', '1b', 'nulla'],
    );
    equal(sortRows(rows, 'other', [SIZE, NAME]), rows);
  });
  test('pages are asked for once, and a short page is asked for again', async () => {
    globalThis.document = { body: { setAttribute() {}, removeAttribute() {} } };
    const asked = [];
    const source = pagedRows({
      count: 250,
      first: [{ id: '0' }],
      ask: async (offset, limit) => {
        asked.push(offset);
        return Array.from({ length: Math.min(limit, 250 - offset) }, (_, at) => ({ id: String(offset + at) }));
      },
    });
    equal(source.at(0).id, '0');
    equal(source.at(120), null);
    await Promise.all([source.load(90, 130), source.load(95, 101)]);
    equal(asked, [0, 100]);
    equal(source.at(120).id, '120');
    await source.load(0, 250);
    equal(asked, [0, 100, 200]);
    equal(source.at(249).id, '249');
    equal(source.at(250), null);
    delete globalThis.document;
  });
  test('groups open to their members, and close again', () => {
    const source = groupedRows({
      groups: localRows([
        { id: 'g:a', n: 2 },
        { id: 'g:b', n: 3 },
        { id: 'g:c', n: 1 },
      ]),
      membersOf: (group) => localRows(Array.from({ length: group.n }, (_, at) => ({ id: `${group.id}${at}` }))),
    });
    const ids = () => Array.from({ length: source.count }, (_, at) => source.at(at).id);
    equal(ids(), ['g:a', 'g:b', 'g:c']);
    source.toggle(1);
    source.toggle(0);
    equal(ids(), ['g:a', 'g:a0', 'g:a1', 'g:b', 'g:b0', 'g:b1', 'g:b2', 'g:c']);
    equal([source.at(5).level, source.at(5).position, source.at(5).setSize], [2, 2, 3]);
    equal([source.parentOf(6), source.parentOf(3)], [3, 3]);
    source.toggle(0);
    equal(ids(), ['g:a', 'g:b', 'g:b0', 'g:b1', 'g:b2', 'g:c']);
  });
  test('copies carry exact figures, and no cell that a spreadsheet would run', () => {
    const columns = [
      { isNumber: true, copy: ['size_bytes', (row) => row.size] },
      { copy: ['name', (row) => row.name] },
      { title: 'not copied' },
    ];
    const rows = [
      { size: 35963086336, name: '=cmd|x' },
      { size: -1, name: 'a\tb' },
      { size: null, name: '-x' },
    ];
    equal(tabSeparated(columns, rows), "size_bytes\tname\n35963086336\t'=cmd|x\n-1\ta\u2409b\n\t'-x");
    equal(tableOf(columns, rows.slice(0, 1)), {
      columns: [
        { key: 'size_bytes', title: 'size_bytes', isSource: undefined },
        { key: 'name', title: 'name', isSource: undefined },
      ],
      rows: [{ size_bytes: 35963086336, name: '=cmd|x' }],
    });
  });
}
