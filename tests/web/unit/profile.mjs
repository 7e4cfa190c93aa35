/* SPDX-License-Identifier: Apache-2.0
 * profile.mjs: sentences of the Memory Profile, its axes, and what the URL asks of it. */

import { duration, time } from '../../../web/lib/format.js';
import {
  axisWords,
  byteRange,
  byteTickLabels,
  byteTicks,
  columnsOf,
  timeLabels,
} from '../../../web/widgets/timeline_axis.js';
import {
  choosePool,
  distinct,
  markOf,
  placesOf,
  readAt,
  timelineOf,
  windowOf,
} from '../../../web/tools/memory_profile/load.js';
import { clearOfLine } from '../../../web/widgets/curve_marks.js';
import { nextMarks, swappedMarks } from '../../../web/lib/marks.js';
import { changed, rangeOf, rangePatch, wantedOf } from '../../../web/tools/memory_profile/state.js';
import { emptyRoute } from '../../../web/lib/route.js';
import * as say from '../../../web/tools/memory_profile/text.js';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const textOf = (parts) => parts.map((part) => (typeof part === 'string' ? part : (part.text ?? part.name))).join('');

const peak = {
  time_ps: 812.4e9,
  event: 3,
  in_use_bytes: 70.1 * GIB,
  stack_bytes: 0,
  heap_bytes: 70.1 * GIB,
  free_bytes: 9.9 * GIB,
  fragmentation: 0.41,
  step: 3,
};
const pool = {
  memory: 'GPU_0_bfc',
  host: 'h',
  peak,
  peak_largest_free_bytes: Math.floor(9.9 * GIB * 0.59),
  is_peak_free_in_pieces: true,
  is_fragmentation_shown: true,
  capacity_bytes: 80 * GIB,
  course: {
    sentence: '12 allocations and 1 free. The highest since the program began: 72.00 GiB.',
    parts: [
      '12 allocations and 1 free. The highest since the program began: ',
      { bytes: 72 * GIB, text: '72.00 GiB', figure: 'lifetime_peak' },
      '.',
    ],
  },
  min_bytes: GIB,
  has_free: true,
  finding: null,
};

/* Three events, two of one instant, after a start with 8 bytes in use. */
const answer = {
  from_ps: 0,
  to_ps: 100,
  start_ps: 0,
  end_ps: 100,
  is_thinned: false,
  has_free: true,
  has_fragmentation: true,
  before: { time_ps: 0, event: null, stack_bytes: 3, heap_bytes: 5, free_bytes: 92, fragmentation: 0, step: null },
  columns: {
    time_ps: [10, 10, 50],
    event: [0, 1, 2],
    stack_bytes: [3, 3, 3],
    heap_bytes: [15, 25, 5],
    free_bytes: [82, 72, 92],
    fragmentation: [0, 0.5, 0],
    step: [0, 0, 1],
  },
  details: {
    texts: ['mul', 'f32'],
    activity: ['allocation', 'allocation', 'deallocation'],
    size_bytes: [10, 10, 20],
    requested_bytes: [9, 10, null],
    address: ['0x1', '0x2', '0x1'],
    op: [0, -1, -1],
    region: [-1, -1, -1],
    dtype: [1, 1, 1],
    shape: [-1, -1, -1],
  },
  peak: { time_ps: 10, in_use_bytes: 28 },
  local_peaks: [],
  failures: [],
  failure_count: 0,
};

export function run({ test, equal, truth }) {
  test('what no event tells of is among the live rows where its size puts it', () => {
    const row = (size_bytes) => ({ size_bytes });
    const places = (lead, first, sort = '-size', count = first.length) =>
      placesOf(lead.map(row), first.map(row), count, sort).map(({ before }) => before);
    equal(places([545, 8], [552, 545]), [2, 2]);
    equal(places([600, 545, 8], [552, 545, 1]), [0, 2, 2]);
    equal(places([8], [552, 545], '-size', 900), [900], 'what did not come yet is not smaller than what came');
    equal(places([545, 8], [1, 552], 'op'), [0, 0], 'in another order they lead');
    equal(places([8], []), [0]);
  });

  test('the answer names what reached how much of what, and when', () => {
    equal(
      textOf(say.answer(pool)),
      'GPU_0_bfc reached 70.10 of 80.00 GiB at 812.4 ms (step 3); the largest free piece is 5.84 GiB of 9.90 GiB free.',
    );
    const noCapacity = { ...pool, capacity_bytes: null, capacity_sentence: 'Capacity not known.' };
    equal(say.second(noCapacity).map(textOf).at(-1), 'Capacity not known.', "the core's words");
    const [course, ...others] = say.second(pool);
    equal(textOf(course), pool.course.sentence, "the core's words");
    equal([course[1].explain, others.length], ['lifetime', 0]);
    equal(say.second({ ...pool, course: undefined }), [], 'nothing is said of no course');
    equal(
      textOf(
        say.answer({
          ...pool,
          memory: '2',
          capacity_bytes: null,
          is_peak_free_in_pieces: false,
          peak: { ...peak, fragmentation: 0, step: null },
        }),
      ),
      'TPU 2 reached 70.10 GiB at 812.4 ms.',
    );
  });

  test('the answer says what its category held when the request failed, if that is another figure', () => {
    const held = (bytes) => [{ category: 'saved_activation', size_bytes: bytes }];
    const said = (more) => textOf(say.answer({ memory: 'GPU 0', peak, categories: held(64 * GIB), ...more }));
    const most = '; 64.00 GiB of it are saved activations';
    truth(said({}).endsWith(`${most}.`), `${most}.`);
    truth(said({ failure_categories: held(64 * GIB) }).endsWith(`${most}.`), `${most}.`);
    truth(
      said({ failure_categories: held(65 * GIB) }).endsWith(`${most}, 65.00 GiB when the last request failed.`),
      `${most}, 65.00 GiB when the last request failed.`,
    );
    truth(
      said({ failure_categories: [] }).endsWith(`${most}, 0 B when the last request failed.`),
      `${most}, 0 B when the last request failed.`,
    );
  });

  test('the label of the peak stands above a line that would cross it, where there is room', () => {
    const label = { x: 10, y: 100, wide: 50 };
    equal(clearOfLine(label, [], 0, 1).y, 100);
    equal(clearOfLine(label, [60, 103, 130], 0, 1).y, 100, 'lines beside it');
    equal(clearOfLine(label, [95], 0, 1).y, 92);
    equal(clearOfLine(label, [95, 82, 95], 0, 1).y, 79, 'one after the other');
    equal(clearOfLine(label, [95, 82], 70, 1).y, 100, 'no room above');
  });

  test('hosts without an event say why, those that have some say nothing', () => {
    const cut = { code: 'cut', text: 'The trace was cut while it was written.' };
    const hosts = [
      { name: 'a', error: null, reason: null },
      { name: 'b', error: null, reason: cut },
      { name: 'c', error: { code: 'corrupt', reason: 'not a trace' }, reason: null },
    ];
    equal(
      say.silentHosts(hosts).map((note) => note.text),
      ['b: The trace was cut while it was written.', 'c: not a trace'],
    );
  });

  test('growth says of the whole, and of what grows most', () => {
    const row = {
      slope_bytes_per_step: MIB,
      grown_count: 20,
      shrunk_count: 0,
      step_count: 20,
      first_bytes: 0,
      last_bytes: 20 * MIB,
    };
    equal(
      textOf(
        say.growthAnswer({
          boundary: 'step',
          whole: { ...row, verdict: 'steady', sentence: 'steady over 20 steps' },
          rows: [{ ...row, op: 'append', verdict: 'grows', sentence: 'grows 1.00 MiB a step, 20 of 20 steps' }],
        }),
      ),
      'In use at step boundaries: steady over 20 steps. First: append grows 1.00 MiB a step, 20 of 20 steps.',
    );
  });

  test('the core says whether rows add up to the curve; a tick if they do', () => {
    equal(say.balance({ balance: '100 B = curve', matches_curve: true }), '100 B = curve ✓');
    equal(say.balance({ balance: '90 B, but …', matches_curve: false }), '90 B, but …');
  });

  test('the timeline begins with what was there before, and holds the last value', () => {
    const drawn = timelineOf(answer, { range: [0, 100], isFree: true });
    equal(drawn.x, [0, 10, 11, 50]);
    equal(drawn.times, [0, 10, 10, 50]);
    equal(drawn.used, [8, 18, 28, 8]);
    equal(drawn.layers[0].values, [100, 100, 100, 100], 'in use and free');
    equal([drawn.min, drawn.max], [8, 100]);
    const columns = columnsOf(drawn);
    equal(columns[0], [0, 10, 11, 50, 100]);
    equal(columns[2].at(-1), 8, 'the last value has a width');
    equal(timelineOf(answer, { range: [0, 100], isFree: false }).max, 28, 'free is out of the height');
  });

  test('a reading names the event that holds, and nothing that is not recorded', () => {
    const drawn = timelineOf(answer, { range: [0, 100], isFree: true });
    const first = readAt(drawn, answer, 1);
    equal([first.op, first.size_bytes, first.requested_bytes, first.shape], ['mul', 10, 9, null]);
    equal(readAt(drawn, answer, 0).activity, undefined, 'before the first event there is none');
    equal(textOf(say.readingLines(first)[0]), 'alloc 10 B mul');
    equal(textOf(say.eventTitle(readAt(drawn, answer, 3))), 'free 20 B');
  });

  test('times of one instant become distinct, in order', () => {
    equal(distinct([5, 5, 5, 6, 20]), [5, 6, 7, 8, 20]);
  });

  test('a fitted byte axis says that it does not begin at 0, any other begins there', () => {
    const flat = byteRange({ min: 40 * GIB, max: 40.5 * GIB, isFitted: true }, 200);
    truth(flat[0] > 39 * GIB && flat[0] < 40 * GIB, `starts at ${flat[0]}`);
    truth(axisWords(flat[0]).startsWith('axis starts at 39.9'), axisWords(flat[0]));
    equal(byteRange({ min: 40 * GIB, max: 40.5 * GIB, isFitted: false }, 200)[0], 0);
    equal(byteRange({ min: GIB, max: 40 * GIB, isFitted: true }, 200)[0], 0, 'nearly the whole height anyway');
    equal(axisWords(0), '');
    const ticks = byteTicks(...flat, 200);
    const labels = byteTickLabels(ticks);
    equal(new Set(labels).size, labels.length, 'no two labels alike');
    equal(byteTickLabels([0, 8 * GIB, 16 * GIB]), ['0', '8', '16 GiB']);
  });

  test('labels of time have one unit, and tell neighbours apart', () => {
    equal(timeLabels([0, 20e9, 40e9]), ['0', '20', '40 ms']);
    equal(timeLabels([1.5e12, 2e12]), ['1.5', '2.0 s']);
    equal(timeLabels([812.4e9, 812.6e9]), ['812.4', '812.6 ms']);
    equal(time(812.4e9), '812.4 ms');
    equal(time(12.345e12), '12.35 s');
    equal(time(812.412345e9, 1e6), '812.412 ms');
    equal(duration(4.1e9), '4.10 ms');
    equal(duration(850e3), '850 ns');
  });

  test('the URL names moment, range, window, marks, event and tab; what it leaves out is the peak and all', () => {
    const route = {
      ...emptyRoute(),
      time: 5,
      from: 1,
      to: 9,
      sel: '2-4',
      a: '3',
      b: 'x',
      note: ['7:here', 'x'],
      pin: { kind: 'e', id: '12' },
      view: 'growth',
    };
    const wanted = wantedOf(route, pool);
    equal(wanted, {
      time: 5,
      from: 1,
      to: 9,
      window: [2, 4],
      a: 3,
      b: null,
      notes: [{ at: 7, text: 'here' }],
      pin: 'e:12',
      beside: null,
      view: 'growth',
      isEnd: false,
      stack: '',
      isFree: true,
      isFragmentation: true,
    });
    equal(wantedOf(emptyRoute(), pool), {
      time: null,
      from: null,
      to: null,
      window: null,
      a: null,
      b: null,
      notes: [],
      pin: null,
      beside: null,
      view: 'live',
      isEnd: false,
      stack: '',
      isFree: true,
      isFragmentation: true,
    });
    equal(
      wantedOf({ ...emptyRoute(), view: 'growth' }, { ...pool, end: { block_count: 1 } }).view,
      'live',
      'without a history nothing grows',
    );
    equal(wantedOf({ ...emptyRoute(), hide: ['free'] }, pool).isFree, false);
    const calm = { ...pool, is_fragmentation_shown: false };
    equal(wantedOf(emptyRoute(), calm).isFragmentation, false, 'as the core says');
    equal(wantedOf({ ...emptyRoute(), show: ['fragmentation'] }, calm).isFragmentation, true, 'the URL goes before');
    equal(wantedOf({ ...emptyRoute(), hide: ['fragmentation'] }, pool).isFragmentation, false);
    equal(wantedOf(emptyRoute(), { ...pool, min_bytes: 70 * GIB }).isFree, false, 'a flat line fills the height');
    equal(rangeOf({ from: -5, to: 200 }, [0, 100]), [0, 100]);
    equal(rangePatch([1.4, 2.6], [0, 100]), { from: 1, to: 3 });
    equal(rangePatch([0, 100], [0, 100]), { from: null, to: null });
    equal(rangeOf({ from: 90, to: 10 }, [0, 100]), [0, 100], 'a range that is none');
    equal([...changed(wanted, { ...wanted, to: 8, window: [2, 5] })], ['range', 'window']);
    equal([windowOf('4-2'), windowOf('a'), markOf('-1')], [null, null, null]);
  });

  test('m marks A, then B, then nothing', () => {
    equal(nextMarks({ a: null, b: null }, 7), { a: '7', b: '' });
    equal(nextMarks({ a: 7, b: null }, 9), { a: '7', b: '9' });
    equal(nextMarks({ a: 7, b: 9 }, 11), { a: '', b: '' });
    equal(swappedMarks({ a: 7, b: 9 }), { a: '9', b: '7' });
    equal(swappedMarks({ a: 7, b: null }), null);
  });

  test('the memory id of the URL on the host of the URL, else the worst', () => {
    const pools = [
      { host: 'x', memory: '0' },
      { host: 'y', memory: '0' },
      { host: 'y', memory: '1' },
    ];
    equal(choosePool(pools, { host: '', memory: '' }), pools[0]);
    equal(choosePool(pools, { host: 'y', memory: '' }), pools[1]);
    equal(choosePool(pools, { host: 'y', memory: '1' }), pools[2]);
    equal(choosePool(pools, { host: '', memory: '7' }), null, 'a name that is not there');
  });
}
