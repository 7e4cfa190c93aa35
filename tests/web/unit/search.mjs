/* SPDX-License-Identifier: Apache-2.0
 * search.mjs: which of what was found comes next, over all panels, and what is said of it. */

import { foundWords, stepOf } from '../../../web/widgets/search.js';
import { holdsWords } from '../../../web/tools/memory_viewer/search.js';

export function run({ test, equal, truth }) {
  test('search: steps go through all panels, over the empty ones, and round', () => {
    const sizes = [2, 0, 1];
    const seen = [];
    let at = null;
    for (let step = 0; step < 4; step++) {
      at = stepOf(sizes, at, 1);
      seen.push(`${at.place}.${at.item}`);
    }
    equal(seen, ['0.0', '0.1', '2.0', '0.0']);
    equal(stepOf(sizes, null, -1), { place: 2, item: 0 });
    equal(stepOf(sizes, { place: 0, item: 0 }, -1), { place: 2, item: 0 });
    equal(stepOf([0, 0], null, 1), null);
  });

  test('search: which of how many counts what is not listed, too', () => {
    const found = [{ count: 1200 }, null, { count: 3 }];
    equal(foundWords(found, null), '1,203 found');
    equal(foundWords(found, { place: 0, item: 1 }), '2 of 1,203');
    equal(foundWords(found, { place: 2, item: 0 }), '1,201 of 1,203');
    equal(foundWords([{ count: 5, isLeast: true }], { place: 0, item: 0 }), '1 of ≥ 5');
    equal(foundWords([null, { count: 0 }], null), 'none found');
  });

  test('search: code and patterns are searched for words; a field or a minus is of buffers alone', () => {
    truth(holdsWords('attention', ['layer_0/Attention']));
    truth(holdsWords('models.py "dot general"', ['models.py:11', 'a dot general b']));
    truth(!holdsWords('attention cat:gradient', ['attention']));
    truth(!holdsWords('-attention', ['mlp']));
    truth(!holdsWords('attention mlp', ['attention']));
  });
}
