/* SPDX-License-Identifier: Apache-2.0
 * home.mjs: what Home says first, and what its list can be narrowed to. */

import {
  pairsOf,
  sameCount,
  shareOf,
  VERDICT_NAMES,
  verdictName,
  worstOfFailure,
} from '../../../web/tools/home/found.js';
import { findingParts, newestParts, overParts, tally } from '../../../web/tools/home/text.js';

const words = (parts) => parts.map((part) => (typeof part === 'string' ? part : (part.name ?? part.text))).join('');

export function run({ test, equal }) {
  const over = (id, by) => ({ session: { id, name: id }, worst: { by, byText: `${by} B`, word: 'over' } });

  test('how much is over is said, and of which the latest is', () => {
    equal(words(overParts(over('a', 1), 3)), '1 of 3 sessions is over: a by 1 B.');
    equal(
      words(overParts(over('b', 9), 39, { unknown: 7, over: 4 })),
      '4 of 39 sessions are over so far, 7 not read yet; the latest: b by 9 B.',
    );
    equal(words(overParts(over('c', 0), 1)), '1 of 1 session is over: c.');
    const asks = { ...over('d', 0), worst: { bytes: 2 ** 30, by: 0, word: 'over' } };
    equal(words(overParts(asks, 1)), '1 of 1 session is over: d asks for 1.00 GiB.', 'how much was free is not known');
  });

  test('a request that failed is held against what was free, not against the capacity', () => {
    const GIB = 2 ** 30;
    const share = (failure) => {
      const of = shareOf(worstOfFailure(failure));
      return of && [of.limit, of.words];
    };
    equal(
      share({ needed_bytes: 16 * GIB, capacity_bytes: 140 * GIB, limit_bytes: 4 * GIB, limit_phrase: 'are free' }),
      [4 * GIB, 'free'],
    );
    equal(
      share({
        needed_bytes: 5 * GIB,
        capacity_bytes: 15 * GIB,
        limit_bytes: 15 * GIB,
        limit_phrase: 'are there in all',
      }),
      [null, 'free not known'],
    );
    equal(
      share({ needed_bytes: 33 * GIB, capacity_bytes: 15 * GIB, limit_bytes: 15 * GIB, limit_phrase: 'are available' }),
      [15 * GIB, ''],
    );
    equal(share({ needed_bytes: GIB }), null);
    equal(share({ capacity_bytes: GIB }), null);
  });

  test('a recording reached its peak, under the name of its session; a program needs', () => {
    const session = { id: 'x', name: 'ranks.zip', modified_at_ms: 0 };
    const words = (from, name) => newestParts(session, '3 snapshots', { bytes: 9, name, word: 'request failed', from });
    equal(words({ kind: 'snapshot' }, 'GPU 0').slice(0, 3), ['Newest: ', { name: 'ranks.zip' }, ', reached ']);
    equal(words({ kind: 'module' }, 'jit_f').slice(0, 3), ['Newest: ', { name: 'jit_f' }, ', needs ']);
  });

  test('a log and the snapshot of its failure are one failure', () => {
    const GIB = 2 ** 30;
    const log = (name, needed) => ({ id: name, name, snapshot_count: 0, failure: { needed_bytes: needed } });
    const snapshot = (name) => ({ id: name, name, snapshot_count: 1 });
    const sessions = [
      snapshot('job'),
      log('job/output.log', 16 * GIB),
      log('other/output.log', 16 * GIB),
      snapshot('calm'),
      log('calm/output.log', GIB),
      { id: 'x', name: 'x', snapshot_count: 0 },
    ];
    const pairs = pairsOf(sessions);
    equal(
      pairs.map((pair) => pair.map(({ id }) => id)),
      [
        ['job/output.log', 'job'],
        ['calm/output.log', 'calm'],
      ],
    );
    const worst = { word: 'request failed' };
    const found = { job: { worst, failed: [2 * GIB, 16 * GIB + 512] }, calm: { failed: [] } };
    equal(
      sameCount(pairs, ({ id }) => found[id] ?? null),
      1,
      'as they are printed',
    );
    equal(
      sameCount(pairs, () => null),
      0,
      'not read yet',
    );
    equal(
      sameCount([[log('a/b', null), snapshot('a')]], () => ({ worst, failed: [GIB] })),
      0,
      'the log does not say how much',
    );
    equal(
      sameCount([[log('a/b', GIB), snapshot('a')]], () => ({ worst: { word: 'grows' }, failed: [GIB] })),
      0,
      'the snapshot is not over',
    );
    const job = snapshot('a');
    equal(
      sameCount(
        [
          [log('a/1', GIB), job],
          [log('a/2', GIB), job],
        ],
        () => ({ worst, failed: [GIB] }),
      ),
      1,
      'one snapshot, two tries',
    );
    equal(
      words(overParts(over('a', 1), 6, { over: 4, same: 1 })),
      '3 failures in 4 of 6 sessions; the latest: a by 1 B.',
    );
    equal(
      words(overParts(over('a', 1), 6, { over: 2, same: 1, unknown: 3 })),
      '1 failure in 2 of 6 sessions so far, 3 not read yet; the latest: a by 1 B.',
    );
    equal(tally({ total_count: 6, matched_count: 6 }, { over: 2, same: 1 }), '6 sessions, 2 of them over, 1 failure');
  });

  test('a finding stands behind the name of its session', () => {
    equal(
      words(
        findingParts(
          { name: 'run' },
          { kind: 'grows', sentence: '', parts: ['grows ', { bytes: 1, text: '1 B' }, ' a step'] },
        ),
      ),
      'run: grows 1 B a step.',
    );
  });

  test('every word of a verdict belongs to one name', () => {
    const names = [
      'over',
      'fits',
      'grows',
      '2 grow',
      '1 grows',
      'fragmented',
      'steady',
      'too close',
      'capacity not known',
    ].map((word) => verdictName({ worst: { word } }));
    equal(names, ['over', 'fits', 'grows', 'grows', 'grows', 'grows', 'other', 'other', 'other']);
    equal(verdictName({ worst: { word: 'request failed' } }), 'over', 'a request that found no room');
    equal([verdictName(null), verdictName({ worst: null }), verdictName({ error: {} })], ['', 'other', 'other']);
    equal(VERDICT_NAMES, ['over', 'grows', 'fits', 'other']);
  });
}
