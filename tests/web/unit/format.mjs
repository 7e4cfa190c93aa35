/* SPDX-License-Identifier: Apache-2.0
 * format.mjs: figures, times and names as text, without a browser. */

import { readFileSync } from 'node:fs';
import * as format from '../../../web/lib/format.js';

export function run({ test, equal, truth }) {
  test('bytes are IEC: KiB one decimal, above it two', () => {
    equal(format.bytes(0), '0 B');
    equal(format.bytes(1023), '1,023 B');
    equal(format.bytes(1024), '1.0 KiB');
    equal(format.bytes(96 * 1024 ** 2), '96.00 MiB');
    equal(format.bytes(35963086336), '33.49 GiB');
    equal(format.bytes(300 * 1024 ** 3), '300.00 GiB');
    equal(format.bytes(5000 * 1024 ** 4), '4.88 PiB');
    equal(format.bytes(null), '–');
    equal(format.exactBytes(35963086336), '35,963,086,336 B');
  });
  test('sizes print as those of the core: the unit chosen after rounding, ties to the even digit, up to EiB', () => {
    const cases = readFileSync(new URL('../../fixtures/sizes.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => /^\d/.test(line));
    truth(cases.length > 40, 'cases');
    for (const line of cases) {
      const [, size, text] = /^(\d+) (.+)$/.exec(line);
      equal(format.bytes(Number(size)).replaceAll(',', ''), text, size);
    }
  });
  test('minus is U+2212 and a zero has no sign', () => {
    equal(format.bytes(-2048), '\u22122.0 KiB');
    equal(format.signedBytes(2 * 1024 ** 3), '+2.00 GiB');
    equal(format.signedBytes(-1), '\u22121 B');
    equal(format.signedBytes(0), '0 B');
    equal(format.bytesIn(-1, 3), '0.00');
  });
  test('in a column of one unit, what would print 0.00 keeps its own', () => {
    equal(format.bytesInColumn(2 * 1024 ** 3, 3), { text: '2.00', isOwn: false });
    equal(format.bytesInColumn(5120, 3), { text: '5.0 KiB', isOwn: true });
    equal(format.bytesInColumn(0, 3), { text: '0', isOwn: false });
  });
  test('percent is whole from 10 and only the whole is 100', () => {
    equal(format.percent(2, 33.41), '6.0 %');
    equal(format.percent(26, 33.41), '78 %');
    equal(format.percent(1, 1e6), '< 0.1 %');
    equal(format.percent(0, 5), '0 %');
    equal(format.percent(5, 5), '100 %');
    equal(format.percent(9999, 10000), '> 99.9 %');
    equal(format.percent(997, 1000), '99.7 %');
    equal(format.percent(10001, 10000), '> 100 %', 'over is over');
    equal(format.percent(1003, 1000), '100.3 %');
    equal(format.percent(1010, 1000), '101 %');
    equal(format.percent(1, 0), '–');
  });
  test('names show what they are and cannot turn their surroundings', () => {
    equal(format.visible('a\nb\u0000'), 'a␊b␀');
    equal(format.visible('x\u202Egnp.exe'), 'x⟨202E⟩gnp.exe');
    equal(format.visible('a\u200Bb\u007f\u0085'), 'a⟨200B⟩b␡⟨0085⟩');
    equal(format.visible('\ud800'), '\ufffd');
    equal(format.visible('😀 שלום <b>&'), '😀 שלום <b>&');
  });
  test('long names are cut in the middle, at whole characters', () => {
    equal(format.cutMiddle('jit_train_step', 14), 'jit_train_step');
    equal(format.cutMiddle('jit_train_very_long_step', 14), 'jit_trai…_step');
    equal(Array.from(format.cutMiddle('😀'.repeat(500), 11)).length, 11);
    equal(format.cutMiddle('x'.repeat(10000), 160).length, 160);
  });
  test('where a name is cut, its layer, its number and its shape stay', () => {
    equal(format.splitName('fusion.123'), ['', '', '', 'fusion.123']);
    equal(format.splitName('loop_convert_fusion.123'), ['loop_convert_', '', '', 'fusion.123']);
    equal(format.splitName('dynamic-update-slice.12345678901'), ['dynamic-update-slice', '', '', '.12345678901']);
    equal(format.splitName('jit(step)/model/layer_7/attention/dot_general'), [
      'jit(step)/model/',
      'layer_7',
      '/attention/d',
      'ot_general',
    ]);
    equal(format.splitName('model/layers_12/mlp'), ['model/lay', '', '', 'ers_12/mlp']);
    equal(format.splitName('bf16[16,2048]{1,0:T(8,128)}'), ['', 'bf16[16,2048]', '{1,0:T(8,128)}', '']);
    equal(format.splitName('f32[8,128]'), ['', '', '', 'f32[8,128]']);
    equal(format.splitName('bf16[8,1024,32000]'), ['bf16[8,1024', '', '', ',32000]'], 'no end of a dimension');
    equal(format.splitName('bf16[16,2048,2048]'), ['bf16[16,', '', '', '2048,2048]']);
    for (const text of ['a/layer_3/b/c/d/e/f/g.1', '\u{1f600}'.repeat(40), 'x', ''])
      equal(format.splitName(text).join(''), text);
  });
  test('shapes are split from layouts and spoken', () => {
    equal(format.splitShape('bf16[16,2048]{1,0:T(8,128)}'), ['bf16[16,2048]', '{1,0:T(8,128)}']);
    equal(format.splitShape('(f32[2]{0}, s32[])'), ['(f32[2]{0}, s32[])', '']);
    equal(format.spokenShape('bf16[16,16,2048]{2,1,0}'), 'bf16 16 by 16 by 2048');
    equal(format.spokenShape('s32[]'), 's32 scalar');
  });
  test('sources, factors, counts and times', () => {
    equal(format.sourceLine('/home/user/model.py', 41), 'model.py:41');
    equal(format.sourceLine('model.py', null), 'model.py');
    equal(format.sourceLine('', 3), '');
    equal(format.factor(42.666), '42.7×');
    equal(format.factor(1), '1.00×');
    equal([1.0002, 1.01, null].map(format.expansion), ['', '1.01×', '']);
    equal(format.counted(1, 'buffer'), '1 buffer');
    equal(format.counted(1018, 'buffer'), '1,018 buffers');
    const noon = new Date(2025, 10, 21, 12, 2).getTime();
    equal(format.when(noon, noon + 1000), '12:02 today');
    equal(format.when(noon, noon + 86400000), 'yesterday 12:02');
    equal(format.when(noon, noon + 10 * 86400000), '2025-11-21 12:02');
    equal(format.ago(noon, noon + 3000), '3 s ago');
  });
  test('byte axes step by powers of two, at least 40 px apart', () => {
    equal(format.byteStep(33.4 * 1024 ** 3, 200), 8 * 1024 ** 3);
    equal(format.byteStep(45 * 1024 ** 3, 60), 16 * 1024 ** 3, 'three ticks on a low axis');
    equal(format.byteStep(45 * 1024 ** 3, 30), 32 * 1024 ** 3, 'labels do not touch');
    equal(format.byteStep(1, 200), 1);
    equal(Math.log2(format.byteStep(12345678, 333)) % 1, 0);
  });
}
