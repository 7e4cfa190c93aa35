/* SPDX-License-Identifier: Apache-2.0
 * profile_stripes.mjs: allocations of a snapshot as stripes of the timeline: which there are at each event, together as
 * high as the curve, also where many events share a pixel; the one above and below; their words. */

import { apartWords } from '../../../web/tools/memory_profile/bands.js';
import { itemOf, lifeWords, stripeBeside, stripeLines } from '../../../web/tools/memory_profile/stripes.js';
import { timelineOf } from '../../../web/tools/memory_profile/load.js';
import { bandAt, edgesOf } from '../../../web/widgets/stripes.js';

/* Event 0: 8 bytes of workspace are allocated; 1: 4 more, of no known category; 2: the 8 are freed; 3: 2 are freed that
   were
 * there before. 10 bytes of parameters are kept all the time. */
const answer = (more = {}) => ({
  from_ps: 0,
  to_ps: 100,
  start_ps: 0,
  end_ps: 100,
  is_thinned: false,
  has_free: true,
  has_fragmentation: false,
  failures: [],
  local_peaks: [],
  peak: { time_ps: 20, in_use_bytes: 24 },
  before: { time_ps: 0, event: null, stack_bytes: 0, heap_bytes: 12, free_bytes: 20, fragmentation: 0, step: null },
  columns: {
    time_ps: [10, 20, 30, 40],
    event: [0, 1, 2, 3],
    stack_bytes: [0, 0, 0, 0],
    heap_bytes: [20, 24, 16, 14],
    free_bytes: [12, 8, 16, 18],
    fragmentation: [0, 0, 0, 0],
    step: [0, 0, 0, 0],
  },
  stacked: {
    by: 'category',
    bands: [
      { kind: 'before', label: 'before the trace, or reserved', before_bytes: 0, bytes: [0, 0, 0, 0] },
      { kind: 'group', label: 'parameter', before_bytes: 10, bytes: [10, 10, 10, 10] },
      { kind: 'group', label: 'workspace', before_bytes: 2, bytes: [10, 10, 2, 0] },
      { kind: 'unnamed', label: 'unknown', before_bytes: 0, bytes: [0, 4, 4, 4] },
    ],
  },
  blocks: [
    { block: 5, size_bytes: 10, op: 'net.py:3 __init__', line: 'net.py:3 __init__', category: 'parameter', band: 1 },
    {
      event: 0,
      from_event: 0,
      to_event: 2,
      born_ps: 10,
      freed_ps: 30,
      size_bytes: 8,
      line: 'net.py:9 forward',
      category: 'workspace',
      confidence: 'guess',
      band: 2,
    },
    { event: 1, from_event: 1, born_ps: 20, size_bytes: 4, band: 3 },
    { event: 3, to_event: 3, freed_ps: 40, size_bytes: 2, category: 'workspace', band: 2 },
  ],
  block_count: 4,
  ...more,
});
const drawn = (data, how = {}) => timelineOf(data, { range: [0, 100], isFree: true, isHeld: true, width: 100, ...how });
const viewOf = ({ striped }) => ({ ...striped, from: 0, to: 99, lastStep: 99 });
const idsAt = ({ striped }, at) =>
  striped.stripes
    .filter(({ item, first, low }) => item && at >= first && at < first + low.length)
    .map(({ item }) => item.id);
const topsOf = ({ striped }) =>
  striped.steps.map((_, at) =>
    Math.max(
      ...striped.stripes
        .filter(({ first, low }) => at >= first && at < first + low.length)
        .map(({ first, high }) => high[at - first]),
    ),
  );

export function run({ test, equal, truth }) {
  test('profile stripes: each allocation is there from its event to its free, and all are as high as the curve', () => {
    const one = drawn(answer());
    equal(one.striped.steps, [0, 10, 20, 30, 40]);
    equal(
      [0, 1, 2, 3, 4].map((at) => idsAt(one, at).toSorted()),
      [
        ['e:3', 'k:5'],
        ['e:0', 'e:3', 'k:5'],
        ['e:0', 'e:1', 'e:3', 'k:5'],
        ['e:1', 'e:3', 'k:5'],
        ['e:1', 'k:5'],
      ],
    );
    equal(topsOf(one), [12, 20, 24, 16, 14]);
    equal(one.layers.filter(({ isStripes }) => isStripes).length, 1, 'they stand in place of the bands');
    equal(bandAt(viewOf(one), 25, 1)?.item?.id, 'k:5');
  });

  test('profile stripes: what lies between allocated and reserved is known', () => {
    const { gap } = drawn(answer()).striped;
    equal(
      [[...gap.low], [...gap.high]],
      [
        [12, 20, 24, 16, 14],
        [32, 32, 32, 32, 32],
      ],
    );
    equal(drawn(answer(), { isFree: false }).striped.gap, null);
  });

  test('profile stripes: each has the colour of the band that counts it; without bands that of the heap', () => {
    const tonesOf = (data, how) =>
      Object.fromEntries(
        drawn(data, how)
          .striped.stripes.filter(({ item }) => item)
          .map(({ item, tone }) => [item.id, tone]),
      );
    equal(tonesOf(answer()), {
      'k:5': 'cat-parameter',
      'e:0': 'cat-temporary',
      'e:3': 'cat-temporary',
      'e:1': 'cat-unknown',
    });
    const byOp = { by: 'op', bands: answer().stacked.bands };
    equal(tonesOf(answer({ stacked: byOp })), { 'k:5': 'set-0', 'e:0': 'set-1', 'e:3': 'set-1', 'e:1': 'control' });
    const plain = answer({ stacked: undefined });
    equal(Object.values(tonesOf(plain)), ['alloc-heap', 'alloc-heap', 'alloc-heap', 'alloc-heap']);
    equal(topsOf(drawn(plain)), [12, 20, 24, 16, 14], 'as high as the curve, too');
    const stack = answer({
      stacked: undefined,
      columns: { ...answer().columns, stack_bytes: [5, 5, 5, 5], heap_bytes: [15, 19, 11, 9] },
    });
    equal(
      drawn(stack)
        .striped.stripes.filter(({ item }) => !item)
        .map(({ tone }) => tone)
        .includes('alloc-stack'),
      true,
    );
    equal(
      drawn(stack).layers.some(({ fill }) => fill === 'alloc-stack'),
      false,
      'the stack is not drawn over them',
    );
  });

  test('profile stripes: without allocations, or where the bands are not known, there are none', () => {
    equal(drawn(answer({ blocks: undefined })).striped, null);
    equal(drawn({ ...answer(), stacked: { by: 'category', bands: [] } }).striped, null);
  });

  test('profile stripes: what is pinned has the colour of its label where bands tell it, else no stripe', () => {
    const few = answer({
      blocks: [],
      stacked: {
        by: 'op',
        bands: [
          ...answer().stacked.bands.slice(0, 1),
          { kind: 'group', label: 'dot', before_bytes: 0, bytes: [8, 8, 0, 0] },
        ],
      },
    });
    const pinnedOf = (op) => itemOf({ event: 0, from_event: 0, to_event: 2, size_bytes: 8, op }, false);
    equal(idsAt(drawn(few, { pinned: pinnedOf('dot') }), 1), ['e:0']);
    equal(idsAt(drawn(few, { pinned: pinnedOf('sub') }), 1), []);
  });

  test('profile stripes: where events share a pixel, those at the lowest of them are drawn', () => {
    const one = drawn(answer({ is_thinned: true }), { width: 2 });
    equal(topsOf(one), [12, 14], 'of a part its lowest event, and over the empty one behind it what holds there');
    equal(idsAt(one, 0).toSorted(), ['e:3', 'k:5']);
    truth(
      one.layers.some(({ isPale }) => isPale),
      'what is reached above it is pale',
    );
  });

  test('profile stripes: what is pinned is drawn though the answer leaves it out', () => {
    const few = answer({ blocks: answer().blocks.slice(0, 1), block_count: 4 });
    equal(idsAt(drawn(few), 2), ['k:5']);
    const pinned = itemOf(answer().blocks[2]);
    equal(idsAt(drawn(few, { pinned }), 2).toSorted(), ['e:1', 'k:5']);
    equal(idsAt(drawn(answer(), { pinned }), 2).length, 4, 'once');
    equal([apartWords(few), apartWords(answer())], ['the 1 largest of 4 allocations are drawn apart', '']);
  });

  test(
    'profile stripes: above and below at a time; nothing yet: the largest; at the end none; small ones are passed ' +
      'over',
    () => {
      const view = viewOf(drawn(answer()));
      const beside = (id, ps, direction, leastBytes = 0) =>
        stripeBeside(view, { id, leastBytes }, ps, direction)?.id ?? null;
      equal(beside(null, 20, 1), 'k:5');
      const up = ['k:5'];
      while (beside(up.at(-1), 20, 1)) up.push(beside(up.at(-1), 20, 1));
      equal(up.toSorted(), ['e:0', 'e:1', 'e:3', 'k:5'], 'all that are there are met once');
      equal(beside(up[2], 20, -1), up[1]);
      equal(beside('k:5', 20, -1), null);
      equal(beside('k:5', 20, 1, 3) === 'e:3', false, '2 bytes are less than 3');
      truth(['e:1', 'k:5'].includes(beside('e:0', 90, 1) ?? 'e:1'), 'of one that is gone by then, where it lives');
    },
  );

  test('profile stripes: words tell how long it lives, and what is not known of it', () => {
    equal(lifeWords({ born_ps: 1e9, freed_ps: 3e9 }), '1.000 ms to 3.000 ms, 2 ms');
    equal(lifeWords({ born_ps: 1e9 }), 'from 1.000 ms, not freed in the recording');
    equal(lifeWords({ freed_ps: 3e9 }), 'from before the recording to 3.000 ms');
    equal(lifeWords({}), 'there all the time');
    const lines = (at) =>
      stripeLines(itemOf(answer().blocks[at]), { in_use_bytes: 24, time_ps: 20 })
        .slice(0, 2)
        .map((line) => line.join(''));
    equal(lines(1), ['8 B workspace (guess)', 'net.py:9 forward']);
    equal(lines(2), ['4 B unknown', 'no stack recorded']);
    equal(lines(3), ['2 B workspace', 'from before the recording']);
    const ofTrace = (row) =>
      stripeLines(itemOf({ event: 0, from_event: 0, size_bytes: 8, ...row }, false), { in_use_bytes: 24, time_ps: 20 })
        .slice(0, 2)
        .map((line) => line.join(''));
    equal(ofTrace({ op: 'dot', shape: 'f32[2]' }), ['8 B f32[2]', 'dot']);
    equal(ofTrace({}), ['8 B', 'no op recorded']);
    equal(ofTrace({ program: 'jit_f', role: 'output', confidence: 'guess' }), ['8 B', 'output of jit_f, a guess']);
  });

  test('profile stripes: edges stand where their time is, however far from zero and however narrow the view', () => {
    const far = 7e14; // ps: twelve minutes
    const data = {
      steps: [far, far + 500],
      stripes: [{ item: { id: 'a' }, category: 'workspace', first: 1, low: [0], high: [10] }],
      from: far,
      to: far + 999,
      lastStep: far + 999,
      lit: null,
      isPart: false,
    };
    /* As a plot of 1000 pixels for 1000 ps computes its places. */
    const u = { valToPos: (value, axis) => (axis === 'x' ? 1000 * ((value - far) / 1000) : 100 - value) };
    const places = edgesOf(u, data, data.stripes[0]).points.map(([x]) => x);
    equal([Math.min(...places), Math.max(...places)].map(Math.round), [500, 1000]);
  });
}
