/* SPDX-License-Identifier: Apache-2.0
 * home.mjs: what Home says first, and what its list can be narrowed to. */

import { VERDICT_NAMES, verdictName } from '../../../web/tools/home/found.js';
import { findingParts, overParts } from '../../../web/tools/home/text.js';

const words = (parts) => parts.map((part) => (typeof part === 'string' ? part : (part.name ?? part.text))).join('');

export function run({ test, equal }) {
  const over = (id, by) => ({ session: { id, name: id }, worst: { by, byText: `${by} B`, word: 'over' } });

  test('what is over is named by most first, three of them', () => {
    equal(words(overParts([over('a', 1)], 3)), '1 of 3 sessions is over: a by 1 B.');
    equal(words(overParts([over('a', 1), over('b', 9), over('c', 0), over('d', 4)], 39, 7)), '4 of 39 sessions are over so far, 7 not read yet: b by 9 B, d by 4 B, a by 1 B, …');
    equal(words(overParts([over('c', 0)], 1)), '1 of 1 session is over: c.');
    equal(words(overParts([over('a', 1)], 3, 0, 2)), '2 of 3 sessions are over: a by 1 B, …');
  });

  test('a finding stands behind the name of its session', () => {
    equal(words(findingParts({ name: 'run' }, { kind: 'grows', sentence: '', parts: ['grows ', { bytes: 1, text: '1 B' }, ' a step'] })), 'run: grows 1 B a step.');
  });

  test('every word of a verdict belongs to one name', () => {
    const names = ['over', 'fits', 'grows', '2 grow', '1 grows', 'fragmented', 'live', 'too close', 'capacity not known'].map((word) => verdictName({ worst: { word } }));
    equal(names, ['over', 'fits', 'grows', 'grows', 'grows', 'grows', 'other', 'other', 'other']);
    equal(verdictName({ worst: { word: 'request failed' } }), 'over', 'a request that found no room');
    equal([verdictName(null), verdictName({ worst: null }), verdictName({ error: {} })], ['', 'other', 'other']);
    equal(VERDICT_NAMES, ['over', 'grows', 'fits', 'other']);
  });
}
