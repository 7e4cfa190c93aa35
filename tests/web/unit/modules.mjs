/* SPDX-License-Identifier: Apache-2.0
 * modules.mjs: programs that are alike are one column of the chart. */

import { foldAlike, partsOf } from '../../../web/tools/modules/fold.js';

const row = (key, total, bytes, module = 'jit_step') => ({
  key,
  module,
  space: 0,
  total_bytes: total,
  peak_bytes: bytes,
  fragmentation_bytes: total - bytes,
  categories: [{ category: 'parameter', bytes }],
});

export function run({ test, equal }) {
  test('alike are those whose name and figures are equal; their order is that of the table', () => {
    const rows = [row('a', 10, 8), row('b', 10, 9), row('c', 10, 8), row('d', 10, 8, 'jit_eval')];
    equal(
      foldAlike(rows).map(({ rows: all }) => all.map(({ key }) => key)),
      [['a', 'c'], ['b'], ['d']],
    );
  });

  test('the parts of a column are as high as its total', () => {
    const parts = partsOf([{ row: row('a', 10, 8) }, { row: { total_bytes: 3 } }]);
    equal(
      parts.map(({ name, values }) => [name, values]),
      [
        ['parameter', [8, 0]],
        ['rest', [2, 0]],
        ['untold', [0, 3]],
      ],
    );
  });
}
