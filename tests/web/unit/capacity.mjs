/* SPDX-License-Identifier: Apache-2.0
 * capacity.mjs: which capacity is used, whether a program fits, and how it is said. */

import { capacityIn, heldAgainst, parseSize } from '../../../web/lib/capacity.js';
import { cardOf } from '../../../web/tools/home/explain.js';
import { worstOf } from '../../../web/tools/home/found.js';
import { bytesApart, bytesCoarse } from '../../../web/lib/format.js';
import { answer, optionFigure, pageTitle, sourceOf } from '../../../web/tools/memory_viewer/answer.js';
import { failureParts, failureTitle } from '../../../web/tools/memory_viewer/failure.js';
import { isInRange } from '../../../web/widgets/curve_capacity.js';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const V5E = 15.75 * GIB;
const space = {
  space: 0,
  name: 'HBM',
  total_bytes: 35962892288,
  peak_bytes: 35869978624,
  peak_step: 376,
  step_count: 1018,
  step_unit: 'heap_trace',
  replay_error: null,
};
/* As the daemon says it: parts are [text, bytes, role] or words. */
const fitOf = (word, parts, change = {}) => ({
  word,
  needed_bytes: space.total_bytes,
  capacity_bytes: V5E,
  source: 'error.txt',
  device_source: null,
  half_unit_bytes: 5368709,
  is_physical: false,
  share_bytes: null,
  over_bytes: null,
  free_bytes: null,
  ...change,
  parts: parts.map((part) =>
    typeof part === 'string'
      ? { text: part, bytes: null, role: null }
      : { text: part[0], bytes: part[1], role: part[2] },
  ),
  sentence: parts.map((part) => (typeof part === 'string' ? part : part[0])).join(''),
});
const OVER = fitOf(
  'over',
  [
    'Needs ',
    ['33.49 GiB', 35962892288, 'needed'],
    ' of HBM; ',
    ['15.75 GiB', V5E, 'capacity'],
    ' are available: ',
    ['over by 17.74 GiB', 19051458560, 'over'],
    '.',
  ],
  { over_bytes: 19051458560 },
);
const FITS = fitOf(
  'fits',
  [
    'It fits: ',
    ['33.49 GiB', 35962892288, 'needed'],
    ' of ',
    ['90.00 GiB', 90 * GIB, 'capacity'],
    ' of HBM, ',
    ['56.51 GiB', 60675249152, 'free'],
    ' free.',
  ],
  { capacity_bytes: 90 * GIB, half_unit_bytes: 0, over_bytes: 0, free_bytes: 60675249152 },
);
const NOT_KNOWN = fitOf('capacity not known', ['Needs ', ['0 B', 0, 'needed'], ' of VMEM; capacity not known.'], {
  needed_bytes: 0,
  capacity_bytes: null,
  source: null,
  half_unit_bytes: 0,
});
const SCOPED = fitOf(
  'over',
  [
    'Needs ',
    ['0 B', 0, 'needed'],
    ' of VMEM in this plan, but the error text asks for ',
    ['96.00 MiB', 96 * MIB, 'asked'],
    ' and ',
    ['16.00 MiB', 16 * MIB, 'capacity'],
    ' are available: ',
    ['over by 80.00 MiB', 80 * MIB, 'over'],
    '.',
  ],
  { needed_bytes: 0, capacity_bytes: 16 * MIB, half_unit_bytes: 0, over_bytes: 80 * MIB },
);
const SHARE = 104.85 * GIB;
const TAKEN = fitOf(
  'over by default',
  [
    'Needs ',
    ['118.00 GiB', 118 * GIB, 'needed'],
    ' of Device memory; JAX takes ',
    ['104.85 GiB', SHARE, 'share'],
    ' by default (75 % of ',
    ['139.80 GiB', 139.8 * GIB, 'capacity'],
    '): ',
    ['over by 13.15 GiB', 13.15 * GIB, 'over'],
    '.',
  ],
  {
    needed_bytes: 118 * GIB,
    capacity_bytes: 139.8 * GIB,
    source: 'NVIDIA H200, from topology.pb',
    half_unit_bytes: 0,
    is_physical: true,
    share_bytes: SHARE,
    over_bytes: 13.15 * GIB,
  },
);
const textOf = (parts) => parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');

export function run({ test, equal }) {
  test('a size is a figure with a unit of powers of 1024', () => {
    equal(['15.75GiB', '15.75G', '512 MiB', '1t'].map(parseSize), [V5E, V5E, 512 * 1024 ** 2, 1024 * GIB]);
    equal(['', '15', '0GiB', '-1G', '1GB', 'v6e', '1e9G', '9999999T', '<b>'].map(parseSize), Array(9).fill(null));
  });
  test("the sentence is the daemon's, each figure with the card behind it", () => {
    const { needs } = answer({ ...space, fit: OVER });
    equal(textOf(needs), OVER.sentence);
    equal(
      needs.filter((part) => part.role !== undefined).map(({ role, explain }) => [role, explain]),
      [
        ['main', 'total'],
        ['', 'capacity'],
        ['over', 'over'],
      ],
    );
    equal(capacityIn(OVER), {
      bytes: V5E,
      half: 5368709,
      isPhysical: false,
      share: null,
      source: 'error.txt',
      deviceSource: null,
    });
    equal(capacityIn(NOT_KNOWN), null);
    equal(bytesApart(V5E, V5E + 1024 ** 2), ['15.750 GiB', '15.751 GiB']);
  });
  const worst = (fit) => worstOf({ module: 'm', name: 'f', file: 'f.pb', space: 0, space_name: 'HBM', fit });
  test("the worst of a session is the daemon's", () => {
    equal([worst(SCOPED).word, worst(SCOPED).bytes, worst(SCOPED).from.kind], ['over', 96 * MIB, 'text']);
    equal([worst(OVER).byText, worst(OVER).by], ['17.74 GiB', 19051458560]);
    equal([worst(FITS).word, worst(NOT_KNOWN).word, worstOf(undefined)], ['fits', 'capacity not known', null]);
  });
  test('a text that failed elsewhere than in the space shown speaks first, and the plan second', () => {
    const failure = {
      count: 1,
      family: 'tpu_compile',
      memory_class: 'vmem',
      phase: 'compile',
      memory_space: 'vmem',
      module: null,
      needed_bytes: 256 * MIB,
      capacity_bytes: 128 * MIB,
      exceeded_bytes: null,
      free_bytes: null,
      largest_free_bytes: null,
      limit_bytes: 128 * MIB,
      limit_phrase: 'are available',
      over_bytes: 128 * MIB,
      over_text: '128.00 MiB',
    };
    const says = (change = {}, at = {}, program = 'jit_f') => {
      const view = { module: { name: 'jit_f' }, space: { ...space, fit: OVER }, wanted: '', ...at };
      const parts = failureParts({ failure: { ...failure, ...change }, program }, view);
      return parts && textOf(parts.map((part) => part.name ?? part));
    };
    const VMEM = { space: { ...space, space: 1, name: 'VMEM', total_bytes: 0, fit: NOT_KNOWN } };
    const asked = 'does not compile: 256.00 MiB of VMEM needed, 128.00 MiB are available: over by 128.00 MiB.';
    equal(
      [says(), says({}, VMEM), says({}, {}, null)],
      [`jit_f ${asked}`, `jit_f ${asked}`, `A program of this session ${asked}`],
    );
    equal(
      says({ needed_bytes: null, capacity_bytes: null }),
      'jit_f does not compile in VMEM; the text gives no size.',
    );
    equal(says({ memory_class: 'hbm', memory_space: 'hbm' }), null, 'the plan says it: over');
    equal(says({ memory_class: 'hbm', memory_space: null }), null, 'device memory is meant');
    equal(says({ memory_space: null }), `jit_f ${asked}`, 'of a kernel, although the text names no space');
    equal(
      says({ memory_class: 'hbm', memory_space: 'hbm' }, { space: { ...space, fit: FITS }, wanted: '90G' }),
      null,
      'another capacity is asked about',
    );
    equal(says({ memory_class: 'hbm', memory_space: 'hbm', module: 'jit_g' }).slice(0, 22), 'jit_g does not compile');
    equal(
      says({
        phase: 'run',
        memory_class: 'hbm',
        memory_space: null,
        capacity_bytes: null,
        free_bytes: 64 * MIB,
        limit_bytes: 64 * MIB,
        limit_phrase: 'are free',
        over_bytes: 192 * MIB,
        over_text: '192.00 MiB',
      }),
      'jit_f ran out of memory: 256.00 MiB asked for, 64.00 MiB are free: over by 192.00 MiB.',
    );
    const plan = answer(VMEM.space, true).needs;
    equal([textOf(plan), plan[1].role], ['The plan needs 0 B of VMEM; capacity not known.', '']);
    equal(
      textOf(answer({ ...space, fit: FITS }, true).needs),
      'The plan fits: 33.49 GiB of 90.00 GiB of HBM, 56.51 GiB free.',
    );
    equal(
      pageTitle({ ...space, fit: OVER }, 'f', null, failureTitle(failure)),
      'over by 128.00 MiB in VMEM · f · HBM – memviewd',
    );
  });
  test('a difference is that of the two figures that the daemon holds against each other', () => {
    equal(
      [OVER, SCOPED, TAKEN].map(heldAgainst).map(({ needed, limit }) => [needed, limit]),
      [
        [35962892288, V5E],
        [96 * MIB, 16 * MIB],
        [118 * GIB, SHARE],
      ],
    );
    const cards = [SCOPED, TAKEN].map((fit) => cardOf('over', { worst: worst(fit) }));
    equal(
      cards.map(({ formula }) => formula),
      ['96.00 MiB − 16.00 MiB = 80.00 MiB', '118.00 GiB − 104.85 GiB = 13.15 GiB'],
    );
    equal(cards[1].inputs.map(({ name }) => name).at(-1), 'what JAX takes by default');
  });
  test('a difference is no finer than the capacity was printed', () => {
    equal(
      [
        [300, 1],
        [524288, 102],
        [1043613942, 10486],
        [1043613942, 10737418],
      ].map(([by, resolution]) => bytesCoarse(by, resolution)),
      ['300 B', '512.0 KiB', '995.27 MiB', '0.97 GiB'],
    );
  });
  test('it is said where the capacity comes from', () => {
    equal(sourceOf(capacityIn(OVER)), { text: 'error.txt, printed to ± 5 MiB', hint: 'error.txt' });
    equal(
      sourceOf({ ...capacityIn(FITS), isPhysical: true, source: 'NVIDIA H200, from topology.pb' }).text,
      'NVIDIA H200, from topology.pb, its physical size: a program gets less, how much is not known',
    );
    equal(
      sourceOf(capacityIn(TAKEN)).text,
      'NVIDIA H200, from topology.pb, its physical size',
      'the sentence beside it says what JAX takes',
    );
    equal(
      [optionFigure(OVER), optionFigure({ ...FITS, is_physical: true }), optionFigure(NOT_KNOWN)],
      ['15.75 GiB, over', '90.00 GiB physical, fits', 'not known'],
    );
    equal(pageTitle({ ...space, fit: OVER }, 'f'), 'over · 33.49 GiB · f · HBM – memviewd');
    equal(pageTitle({ ...space, fit: FITS }, 'f'), '33.49 GiB · f · HBM – memviewd');
  });
  test('a capacity is on the axis up to 1.5 times the data', () => {
    equal(
      [150, 151, 1].map((bytes) => isInRange({ max: 100, capacity: { bytes } })),
      [true, false, true],
    );
    equal(isInRange({ max: 100, capacity: null }), false);
  });
}
