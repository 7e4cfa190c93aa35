/* SPDX-License-Identifier: Apache-2.0
 * live.mjs: sentences of the page Live, and how high its charts are. */

import { answer, captureCommand, extentOf, keyOf, second, stateOf } from '../../../web/tools/live/text.js';

const line = (patch = {}) => ({
  process: 'rank0.1',
  device: 'cuda:0',
  sentence: 'cuda:0: 1 B in use, peak 2 B',
  at_ms: 1000,
  has_ended: false,
  ...patch,
});
const made = (lines, patch = {}) => ({ name: 'run-1', root: '/runs', is_running: true, lines, ...patch });

export function run({ test, equal }) {
  test('the fullest device leads, with its process where there are several', () => {
    equal(answer(made([line()])), 'cuda:0: 1 B in use, peak 2 B.');
    equal(answer(made([line(), line()])), 'rank0.1, cuda:0: 1 B in use, peak 2 B.');
    equal(answer(made([line()], { is_running: false })), 'Ended. cuda:0: 1 B in use, peak 2 B.');
    equal(answer(made([])), 'No process uses a device yet.');
    equal(answer(made([], { is_running: false })), 'No process used a device.');
    equal(answer(made([], { reason: 'no memory' })), 'It cannot be read: no memory.');
  });

  test('what grows is named, each line of it', () => {
    const growing = line({ growth_sentence: 'cuda:0 of rank0.1 grows 1 B a minute' });
    equal(
      second(made([growing, line(), { ...growing, growth_sentence: 'cuda:0 of rank1.1 grows 1 B a minute' }])),
      'cuda:0 of rank0.1 grows 1 B a minute. cuda:0 of rank1.1 grows 1 B a minute.',
    );
    equal(second(made([line(), line()])), 'The fullest of 2 devices; none of them grows.');
    equal(second(made([line()])), '');
  });

  test('a process that is not asked any more says why', () => {
    equal(stateOf(line({ reason: 'RuntimeError: gone' })), 'It is no longer sampled: RuntimeError: gone.');
    equal(stateOf(line({ has_ended: true, at_ms: 0 }), 5000), 'Its process ended 5 s ago.');
    equal(stateOf(line()), '');
  });

  test('the command for a snapshot can be pasted into a shell', () => {
    equal(captureCommand(made([])), 'memviewd capture /runs/run-1');
    equal(captureCommand(made([], { root: "/my runs/it's" })), String.raw`memviewd capture '/my runs/it'\''s/run-1'`);
  });

  test('lines of one name on two devices are two', () => {
    equal(new Set([line(), line({ device: 'cuda:1' }), line({ process: 'rank1.1' })].map(keyOf)).size, 3);
  });

  test('a capacity nearby is drawn, one far away is told alone', () => {
    const samples = { high_bytes: [5, 10], reserved_bytes: [null, 12] };
    equal(extentOf({ total_bytes: 18, samples }), { most: 18, capacity: 18 });
    equal(extentOf({ total_bytes: 19, samples }), { most: 12, capacity: null });
    equal(extentOf({ samples: { high_bytes: [], reserved_bytes: [] } }), { most: 1, capacity: null });
  });
}
