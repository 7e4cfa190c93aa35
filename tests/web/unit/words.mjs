/* SPDX-License-Identifier: Apache-2.0
 * words.mjs: sentences, rows that add up, and bars that stand where they should. */

import { byteLabels } from '../../../web/widgets/curve_marks.js';
import { readAt } from '../../../web/widgets/readings.js';
import { askedWidth, barAt, barOf, dataShare, joinMerged, layOut, runsOf } from '../../../web/widgets/strips_layout.js';
import { answer } from '../../../web/tools/memory_viewer/answer.js';
import { culpritParts, madeOf, waste } from '../../../web/tools/memory_viewer/text.js';
import { createRecords } from '../../../web/tools/memory_viewer/load.js';
import { footText } from '../../../web/tools/memory_viewer/columns.js';

const GIB = 1024 ** 3;
const space = {
  name: 'HBM',
  total_bytes: 35963086336,
  fit: {
    word: 'capacity not known',
    parts: [
      ['Needs ', null, null],
      ['33.49 GiB', 35963086336, 'needed'],
      [' of HBM; capacity not known.', null, null],
    ].map(([text, bytes, role]) => ({ text, bytes, role })),
  },
  peak_bytes: 35869978624,
  peak_step: 376,
  step_count: 1018,
  step_unit: 'heap_trace',
  parameter_bytes: 1299468288,
  output_bytes: 1299338000,
  output_reused_bytes: 1299337000,
  constant_bytes: 0,
  temporary_bytes: 34663612928,
  padding_bytes: 1024000,
  fragmentation_bytes: 93107712,
  replay_error: null,
  scoped_vmem_bytes: null,
};
const textOf = (parts) => parts.map((part) => (typeof part === 'string' ? part : (part.text ?? part.name))).join('');
const bar = (id, bytes, padding = 0, extra = {}) => ({
  id,
  count: 1,
  bytes,
  padding_bytes: padding,
  unpadded_bytes: bytes - padding,
  category: 'temporary',
  name: String(id),
  first_rank: 0,
  ...extra,
});

export function run({ test, equal }) {
  test('the answer is a sentence with its figures', () => {
    const { needs, peak } = answer(space);
    equal(
      `${textOf(needs)} ${textOf(peak)}`,
      'Needs 33.49 GiB of HBM; capacity not known. Peak live 33.41 GiB at step 376 of 1,018.',
    );
    const near = { ...space, peak_bytes: space.total_bytes - 32768 };
    equal(textOf(answer(near).peak), 'Peak live 33.49 GiB, 32.0 KiB less than the total, at step 376 of 1,018.');
    equal(
      textOf(answer({ ...space, peak_bytes: space.total_bytes }).peak),
      'Peak live 33.49 GiB at step 376 of 1,018.',
    );
    equal(
      textOf(answer({ ...space, step_unit: 'schedule' }).peak),
      'Peak live 33.41 GiB at position 376 of 1,018 in the schedule.',
    );
    equal(textOf(answer({ ...space, step_unit: 'none' }).peak), 'Peak live 33.41 GiB.');
  });
  test('the parts of the total add up to it, the rest has a name', () => {
    const rows = madeOf(space);
    equal(
      rows.reduce((sum, each) => sum + each.bytes, 0),
      space.total_bytes,
    );
    equal(
      rows.map((each) => each.word),
      ['arguments', 'outputs', 'temporaries', 'other'],
    );
    equal(waste({ ...space, total_bytes: 10, peak_bytes: 12 })[1].word, 'peak above the total');
  });
  test("the sentence on what fills the memory is the daemon's", () => {
    const sentence = [
      '144 \u00d7 ',
      { bytes: 36 * 1024 ** 2, text: '36.00 MiB' },
      ' ',
      { name: 'f32[1536,6144]' },
      ' are 29 % of the peak.',
    ];
    equal(textOf(culpritParts({ culprit: { sentence } })), '144 \u00d7 36.00 MiB f32[1536,6144] are 29 % of the peak.');
    equal(culpritParts({ culprit: null }), []);
  });
  test('the footer makes the sum whole', () => {
    const foot = (matched, bytes, all, whole) =>
      footText({ matched_count: matched, matched_bytes: bytes, total_count: all, total_bytes: whole });
    equal(foot(2, 3 * GIB, 5, 4 * GIB), '2 of 5 buffers, 3.00 of 4.00 GiB');
    equal(foot(1, GIB, 1, GIB), '1 buffer, 1.00 GiB');
    equal(foot(0, 0, 5, 4 * GIB), '0 of 5 buffers, 0 of 4.00 GiB');
    equal(foot(1, 5, 5, 4 * GIB), '1 of 5 buffers, 5 B of 4.00 GiB');
  });
  test('bars fill the width, each at least one device pixel', () => {
    const rects = layOut([bar(1, 600), bar(2, 300), bar(3, 100)], 'program', 100, 1);
    equal(
      rects.map((rect) => [rect.x, rect.width]),
      [
        [0, 59],
        [60, 29],
        [90, 9],
      ],
    );
    equal(
      layOut([bar(1, 1e9), bar(2, 1)], 'program', 100, 2).every((rect) => rect.width >= 0.5),
      true,
    );
    equal(
      layOut([bar(1, 10, 4), bar(2, 90, 4)], 'padding', 100, 1).map((rect) => rect.x),
      [0, 50],
    );
    equal(layOut([], 'program', 100, 1), []);
  });
  test('the pointer snaps to the nearest bar within 4 px', () => {
    const rects = layOut([bar(1, 500), bar(2, 500)], 'program', 100, 1);
    equal(
      [barAt(rects, 0), barAt(rects, 48), barAt(rects, 51), barAt(rects, 103), barAt(rects, 105), barAt([], 3)],
      [0, 0, 1, 1, -1, -1],
    );
  });
  test('merged neighbours of one kind are one bar and keep count and sum', () => {
    const merged = (rank, count, category) =>
      bar(null, count * 10, 0, { count, first_rank: rank, category, largest_bytes: 10 });
    const joined = joinMerged([
      bar(1, 100),
      merged(1, 5, 'temporary'),
      merged(6, 7, 'temporary'),
      merged(13, 2, 'parameter'),
    ]);
    equal(
      joined.map((each) => [each.count, each.bytes, each.first_rank]),
      [
        [1, 100, 0],
        [12, 120, 1],
        [2, 20, 13],
      ],
    );
    const rects = layOut(joined, 'size', 100, 1);
    equal(barOf(rects, 'x', 9), 1);
    const rows = [
      { id: 1, ranks: { size: 0 } },
      { id: 'x', ranks: { size: 14 } },
    ];
    equal(runsOf(rects, 'size', rows).length, 2);
    equal(runsOf(rects, 'size', rows, true), [{ x: rects[0].x, width: rects[0].width }]); /* a rank among others */
    equal(dataShare(bar(1, 100, 25)), 0.75);
    equal([askedWidth(1), askedWidth(64), askedWidth(65)], [64, 64, 128]);
  });
  test('a curve is read where it is constant, and only where it is known', () => {
    const data = { from: 0, to: 9, steps: [0, 3, 6], bytes: [1, 5, 2], unpadded: [1, 4, 2], isThinned: false };
    equal(
      [readAt(data, 4).bytes, readAt(data, 4).change, readAt(data, 3).change, readAt(data, 0).change],
      [5, 0, 4, null],
    );
    equal([readAt({ ...data, isThinned: true }, 4).step, readAt({ ...data, isThinned: true }, 4).change], [3, null]);
  });
  test('a name that is known whole stays whole when a bar has it cut, and gives way to the whole of it', () => {
    const records = createRecords(() => {});
    const known = (row) => {
      records.add([{ id: '1', ...row }]);
      const { name, is_cut: isCut } = records.get('1');
      return [name, Boolean(isCut)];
    };
    equal(known({ name: 'xxxxxx' }), ['xxxxxx', false]);
    equal(known({ name: 'x…x', is_cut: true }), ['xxxxxx', false]);
    records.reset(null);
    equal(known({ name: 'x…x', is_cut: true }), ['x…x', true]);
    equal(known({ name: 'xxxxxx' }), ['xxxxxx', false]);
  });
  test('a byte axis has one unit, said once', () => {
    equal(byteLabels([0, 8 * GIB, 16 * GIB, 24 * GIB, 32 * GIB]), ['0', '8', '16', '24', '32 GiB']);
    equal(byteLabels([0, 0.5 * GIB, GIB]), ['0', '0.5', '1.0 GiB']);
    equal(byteLabels([0, 1024, 2048]), ['0', '1', '2 KiB']);
  });
}
