/* SPDX-License-Identifier: Apache-2.0
 * device.mjs: what the Device Memory page makes of its URL and says of its answers. */

import {
  addFilter,
  chipWords,
  commonParams,
  compared,
  moved,
  pickProfile,
  quoted,
  readChip,
  seriesParams,
  stateOf,
  swapped,
} from '../../../web/tools/device_memory/state.js';
import { clauseParts, isGrave, sentenceParts } from '../../../web/lib/finding.js';
import { chipFault, liveSentence, relativeWords, trimSentence } from '../../../web/tools/device_memory/text.js';
import { parse } from '../../../web/lib/route.js';
import { sparkPath } from '../../../web/widgets/sparkline.js';
import { areApart, columnAt, edgesOf, stackUp } from '../../../web/widgets/stacked.js';

const BYTES = { name: 'space', unit: 'bytes' };
const GIB = 1024 ** 3;
const words = (parts) => parts.map((part) => (typeof part === 'string' ? part : (part.text ?? part.name))).join('');

export function run({ test, equal }) {
  test('a link of the page is read whole, and asks the daemon for just that', () => {
    const state = stateOf(
      parse(
        '?tool=device_memory&view=top&metric=count&by=file&machinery=1&focus=a&focus=b' +
          '&tag=device%3DTPU_0(process%3D0,(0,0,0,0))&a=one&b=two',
      ),
    );
    equal([state.view, state.isMachinery, state.filters.focus], ['top', true, ['a', 'b']]);
    const asked = commonParams(state, 'session');
    equal(
      [asked.profile, asked.base, asked.metric, asked.by, asked.machinery],
      [['two'], ['one'], 'count', 'file', '1'],
    );
    equal(asked.tag, ['device=TPU_0(process=0,(0,0,0,0))']);
  });

  test('defaults ask for nothing, words that are none of ours are the default', () => {
    const state = stateOf(parse('?view=nowhere&by=colour'));
    equal([state.view, state.by], ['flame', 'line']);
    const asked = commonParams(state, 's');
    equal(
      Object.entries(asked).filter(([, value]) => value !== '' && value.length !== 0),
      [['session', 's']],
    );
  });

  test('one click shows a profile, the second compares, the third begins anew', () => {
    equal(pickProfile({ a: '', b: '' }, 'x'), { a: 'x', b: '' });
    equal(pickProfile({ a: 'x', b: '' }, 'y'), { b: 'y' });
    equal(pickProfile({ a: 'x', b: 'y' }, 'z'), { a: 'z', b: '' });
    equal(pickProfile({ a: 'x', b: '' }, 'x'), { a: '', b: '' });
    equal(swapped({ a: 'x', b: 'y' }), { a: 'y', b: 'x' });
    equal(swapped({ a: 'x', b: '' }), null);
    equal(compared({ a: 'x', b: '', local: 'l' }), { shown: 'x', base: '' });
  });

  test('a series is never a difference, and has the order of the link', () => {
    const state = stateOf(parse('?order=hand&files=c&files=a&a=x&b=y'));
    const asked = seriesParams(state, 's');
    equal([asked.profile, asked.order, asked.base], [['c', 'a'], 'given', undefined]);
    equal(moved(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b']);
  });

  test('a filter is typed with or without its kind', () => {
    equal(readChip('init', []), { name: 'focus', expression: 'init' });
    equal(readChip('show_from: main', []), { name: 'show_from', expression: 'main' });
    equal(readChip('device=TPU_0(process=0)', ['device']), { name: 'tag', expression: 'device=TPU_0(process=0)' });
    equal(readChip('-kind:executable', ['kind']), { name: 'tag', expression: '-kind=executable' });
    equal(readChip('a=b', ['kind']), { name: 'focus', expression: 'a=b' });
    equal(chipWords('tag', '-kind=executable'), { key: 'not kind', value: 'executable' });
    equal(addFilter({ filters: { focus: ['a'] } }, 'focus', ' a '), null);
    equal(quoted('<lambda>(x)'), '^<lambda>\\(x\\)$');
  });

  test('the sentence counts what has no size, and never takes it away', () => {
    const summary = {
      metric: BYTES,
      total: 12.4 * GIB,
      devices: Array(8).fill({ name: 'TPU' }),
      kinds: [
        { name: 'buffer', total: 12.4 * GIB },
        { name: 'executable', total: 0 },
      ],
      buffer_count: 325,
      executable_count: 23,
      executable_unknown_count: 23,
      executable_total: 0,
    };
    equal(
      words(liveSentence(summary)),
      '12.40 GiB live on 8 devices: 12.40 GiB in 325 buffers; 23 executables of unknown size.',
    );
    equal(
      words(liveSentence({ ...summary, executable_unknown_count: 3, executable_total: 2048 })),
      '12.40 GiB live on 8 devices: 12.40 GiB in 325 buffers; 2.0 KiB in 20 executables (3 more of unknown size).',
    );
  });

  test('new and vanished are words, the rest is relative to what was there', () => {
    equal(
      [
        [0, 5],
        [5, 0],
        [4, 6],
        [4, 3],
        [4, 4],
      ].map(([before, after]) => relativeWords({ before, after })),
      ['new', 'vanished', '+50 %', '\u221225 %', 'same'],
    );
  });

  test('what is told first is a sentence of its own, or a clause behind a name', () => {
    const finding = {
      kind: 'grows',
      sentence: 'grows 4.0 KiB a step: a_b',
      parts: ['grows ', { bytes: 4096, text: '4.0 KiB' }, ' a step: ', { name: 'a\u202eb' }],
      evidence: null,
    };
    equal(words(sentenceParts(finding)), 'Grows 4.0 KiB a step: a\u27e8202E\u27e9b.');
    equal(words(clauseParts(finding)), 'grows 4.0 KiB a step: a\u27e8202E\u27e9b');
    equal(
      [finding, { kind: 'level' }, null].map((each) => Boolean(isGrave(each))),
      [true, false, false],
    );
  });

  test('the graph says how many of its functions it shows, and which', () => {
    equal(
      trimSentence({ nodes: Array(80), node_count: 1204, node_cutoff: 5, percent_base: 1000 }),
      '80 of 1,204 functions (those above 0.5 %)',
    );
    equal(trimSentence({ nodes: Array(3), node_count: 3, node_cutoff: 0, percent_base: 10 }), '3 functions');
  });

  test('a filter without a match names the nearest', () => {
    const chip = { parameter: 'focus', expression: 'ini_state', matched_count: 0, fault: null, nearest: 'init_state' };
    equal(chipFault(chip), 'No frame matches "ini_state". Nearest: init_state.');
    equal(chipFault({ ...chip, matched_count: 2 }), '');
  });

  test('stacked parts add up, and a spark line stands on zero', () => {
    equal(
      stackUp([{ values: [1, 2] }, { values: [3, -4] }], 2).map((top) => [...top]),
      [
        [1, 2],
        [4, 2],
      ],
    );
    equal(sparkPath([0, 2], 10, 12), 'M0 11.0L0.0 11.0L5.0 11.0L5.0 1.0L10.0 1.0L10 11.0Z');
  });

  test('columns are as wide as the time to the next, where that can be seen', () => {
    equal(
      edgesOf(3, [100, 150, 300]).map((edge) => Number(edge.toFixed(4))),
      [0, 0.1667, 0.6667, 1],
      'the last one as the average',
    );
    equal(edgesOf(4, null), [0, 0.25, 0.5, 0.75, 1]);
    equal(edgesOf(2, [5, 5]), [0, 0.5, 1], 'two at one time');
    equal(
      [areApart([1, 2, 4]), areApart([1, 1, 4]), areApart([4, 2]), areApart([0, 1, 1000]), areApart([7])],
      [true, false, false, false, false],
    );
    const width = 64 + 300;
    equal(
      [63, 64, 64 + 49, 64 + 51, 64 + 299, 64 + 300].map((x) => columnAt(x, width, edgesOf(3, [100, 150, 300]))),
      [-1, 0, 0, 1, 2, -1],
    );
  });
}
