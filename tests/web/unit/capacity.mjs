/* SPDX-License-Identifier: Apache-2.0
 * capacity.mjs: which capacity is used, whether a program fits, and how it is said. */

import {
  capacityOf,
  deviceCapacity,
  parseSize,
  recordedCapacity,
  sizeCapacity,
  verdictOf,
} from '../../../web/lib/capacity.js';
import { worstOf } from '../../../web/tools/home/found.js';
import { bytesApart, bytesCoarse } from '../../../web/lib/format.js';
import { answer, optionFigure, pageTitle, sourceOf } from '../../../web/tools/memory_viewer/answer.js';
import { failureParts, failureTitle } from '../../../web/tools/memory_viewer/failure.js';
import { isInRange } from '../../../web/widgets/curve_capacity.js';

const GIB = 1024 ** 3;
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
const devices = [
  { name: 'v6e', title: 'TPU v6e', physical_bytes: 32 * GIB, available_bytes: 31.25 * GIB, source: 'a text' },
  { name: 'H100-80G', title: 'H100', physical_bytes: 80 * GIB, available_bytes: null, source: 'nominal' },
];
const said = (change = {}) => ({
  file: 'dump/error.txt',
  text: '',
  capacity: { space: 0, available_bytes: V5E, half_unit_bytes: 5368709, needed_bytes: null, ...change },
});
const textOf = (parts) => parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
const needs = (of, capacity) => textOf(answer({ ...space, ...of }, capacity).needs);

export function run({ test, equal, includes }) {
  test('a size is a figure with a unit of powers of 1024', () => {
    equal(
      ['15.75GiB', '15.75G', '512 MiB', '1t'].map(parseSize),
      [V5E, V5E, 512 * 1024 ** 2, 1024 * GIB],
    );
    equal(
      ['', '15', '0GiB', '-1G', '1GB', 'v6e', '1e9G', '9999999T', '<b>'].map(parseSize),
      Array(9).fill(null),
    );
  });
  test('the URL comes first, then the error text of the same space, then none', () => {
    const kind = (wanted, texts, at = 0) => capacityOf(wanted, devices, texts, at)?.kind ?? null;
    equal(kind('V6E', [said()]), 'device');
    equal(kind('20GiB', [said()]), 'size');
    equal(kind('', [said()]), 'recorded');
    equal(kind('nothing', [said()]), 'recorded');
    equal(kind('nothing', []), null);
    equal(kind('v6e', [], 1), null, 'a device says nothing of VMEM');
    equal(kind('', [said()], 1), null, 'an error text of another space');
    const traced = [
      { kind: '', plane: '/device:GPU:0', file: 'a.pb', count: 8, memory_bytes: 80 * GIB, device: null, available_bytes: null },
      { kind: 'TPU v6 Lite', plane: '/device:TPU:0', file: 'b.pb', count: 4, memory_bytes: null, device: 'v6e', available_bytes: 31.25 * GIB },
    ];
    const of = (texts, list, at = 0) => capacityOf('', [], texts, at, list);
    equal(of([said()], traced).kind, 'recorded', 'a text beats the trace');
    equal([of([], traced).kind, of([], traced).bytes, of([], traced).isPhysical], ['trace', 31.25 * GIB, false]);
    equal([of([], traced.slice(0, 1)).bytes, of([], traced.slice(0, 1)).isPhysical], [80 * GIB, true]);
    equal(of([], traced, 1), null, 'a trace says nothing of VMEM');
    equal(sourceOf(of([], traced)).text, 'TPU v6 Lite, recorded in the trace');
    includes(sourceOf(of([], traced.slice(0, 1))).text, '8 × GPU, recorded in the trace, its physical size');
    equal(recordedCapacity([{ file: 'x', text: 'y', capacity: null }], 0), null);
  });
  test('over, fits, and what is free are said with their figures', () => {
    equal(
      needs({}, recordedCapacity([said()], 0)),
      'Needs 33.49 GiB of HBM; 15.75 GiB are available: over by 17.74 GiB (total, with fragmentation).',
    );
    equal(needs({}, sizeCapacity(100 * GIB)), 'It fits: 33.49 of 100.00 GiB of HBM, 66.51 GiB free.');
    equal(
      needs({ total_bytes: 3 * 1024 ** 2 }, sizeCapacity(GIB)),
      'It fits: 3.00 MiB of 1.00 GiB of HBM, 1,021.00 MiB free.',
    );
    equal(needs({}, null), 'Needs 33.49 GiB of HBM; capacity not known.');
    const physical = deviceCapacity(devices[1]);
    equal(
      needs({}, physical),
      'It fits in the physical size: 33.49 of 80.00 GiB of HBM, at most 46.51 GiB free.',
    );
    equal(
      needs({ total_bytes: 90 * GIB }, physical),
      'Needs 90.00 GiB of HBM; the device has 80.00 GiB: over by at least 10.00 GiB (total, with fragmentation).',
    );
  });
  test('within the rounding of a printed figure it is not known whether it fits', () => {
    const recorded = recordedCapacity([said()], 0);
    equal(
      [V5E, V5E + 5368709, V5E + 5368710, V5E - 5368709].map((total) => verdictOf(total, recorded).word),
      ['unsure', 'unsure', 'over', 'fits'],
    );
    equal(verdictOf(V5E, sizeCapacity(V5E)), { word: 'fits', by: 0, isOfText: false });
    equal(bytesApart(V5E, V5E + 1024 ** 2), ['15.750 GiB', '15.751 GiB']);
  });
  test('a text that asked for scoped memory is believed against the plan', () => {
    const text = said({ space: 1, available_bytes: 16 * 1024 ** 2, half_unit_bytes: 0, needed_bytes: 96 * 1024 ** 2 });
    equal(
      needs({ space: 1, name: 'VMEM', total_bytes: 0 }, recordedCapacity([text], 1)),
      'Needs 0 B of VMEM in this plan, but the error text asks for 96.00 MiB and 16.00 MiB are available: over by 80.00 MiB.',
    );
    equal(worstOf([{ spaces: [{ space: 0, total_bytes: GIB }, { space: 1, total_bytes: 0 }] }], [text]).word, 'over');
    equal(worstOf([{ spaces: [{ space: 0, total_bytes: GIB }] }], [said()]).word, 'fits');
    equal(worstOf([{ spaces: [{ space: 0, total_bytes: GIB }] }], []).word, 'capacity not known');
  });
  test('a text that failed elsewhere than in the space shown speaks first, and the plan second', () => {
    const MIB = 1024 ** 2;
    const failure = {
      count: 1, family: 'tpu_compile', memory_class: 'vmem', phase: 'compile', memory_space: 'vmem', module: null, needed_bytes: 256 * MIB,
      capacity_bytes: 128 * MIB, exceeded_bytes: null, free_bytes: null, largest_free_bytes: null,
      limit_bytes: 128 * MIB, limit_phrase: 'are available', over_bytes: 128 * MIB, over_text: '128.00 MiB',
    };
    const says = (change = {}, at = {}, program = 'jit_f') => {
      const view = { module: { name: 'jit_f' }, space, capacity: recordedCapacity([said()], 0), ...at };
      const parts = failureParts({ failure: { ...failure, ...change }, program }, view);
      return parts && textOf(parts.map((part) => part.name ?? part));
    };
    const VMEM = { space: { ...space, space: 1, name: 'VMEM', total_bytes: 0 }, capacity: null };
    const asked = 'does not compile: 256.00 MiB of VMEM needed, 128.00 MiB are available: over by 128.00 MiB.';
    equal([says(), says({}, VMEM), says({}, {}, null)], [`jit_f ${asked}`, `jit_f ${asked}`, `A program of this session ${asked}`]);
    equal(says({ needed_bytes: null, capacity_bytes: null }), 'jit_f does not compile in VMEM; the text gives no size.');
    equal(says({ memory_class: 'hbm', memory_space: 'hbm' }), null, 'the plan says it: over');
    equal(says({ memory_class: 'hbm', memory_space: null }), null, 'device memory is meant');
    equal(says({ memory_space: null }), `jit_f ${asked}`, 'of a kernel, although the text names no space');
    equal(says({ memory_class: 'hbm', memory_space: 'hbm' }, { capacity: sizeCapacity(90 * GIB) }), null, 'another capacity is asked about');
    equal(says({ memory_class: 'hbm', memory_space: 'hbm', module: 'jit_g' }).slice(0, 22), 'jit_g does not compile');
    equal(
      says({ phase: 'run', memory_class: 'hbm', memory_space: null, capacity_bytes: null, free_bytes: 64 * MIB, limit_bytes: 64 * MIB, limit_phrase: 'are free', over_bytes: 192 * MIB, over_text: '192.00 MiB' }),
      'jit_f ran out of memory: 256.00 MiB asked for, 64.00 MiB are free: over by 192.00 MiB.',
    );
    const plan = answer(VMEM.space, null, true).needs;
    equal([textOf(plan), plan[1].role], ['The plan needs 0 B of VMEM; capacity not known.', '']);
    equal(textOf(answer(space, sizeCapacity(90 * GIB), true).needs), 'The plan fits: 33.49 of 90.00 GiB of HBM, 56.51 GiB free.');
    equal(pageTitle(space, 'f', null, null, failureTitle(failure)), 'over by 128.00 MiB in VMEM · f · HBM – memviewd');
  });
  test('a difference is no finer than the capacity was printed', () => {
    /* 995.27 MiB above 15.75 GiB, which is known to 5 MiB: as the error text of the same program says it */
    const total = V5E + 1043613942;
    equal(
      needs({ total_bytes: total }, recordedCapacity([said()], 0)),
      'Needs 16.72 GiB of HBM; 15.75 GiB are available: over by 0.97 GiB (total, with fragmentation).',
    );
    equal(needs({ total_bytes: total }, sizeCapacity(V5E)), 'Needs 16.72 GiB of HBM; 15.75 GiB are available: over by 995.27 MiB (total, with fragmentation).');
    equal([[300, 1], [524288, 102], [1043613942, 10486], [1043613942, 10737418]].map(([by, resolution]) => bytesCoarse(by, resolution)), ['300 B', '512.0 KiB', '995.27 MiB', '0.97 GiB']);
  });
  test('it is said where the capacity comes from', () => {
    equal(sourceOf(recordedCapacity([said()], 0)).text, 'capacity as error.txt prints it, ± 5 MiB');
    equal(sourceOf(deviceCapacity(devices[0])), { text: 'TPU v6e, chosen', hint: 'Source: a text' });
    equal(optionFigure(space, deviceCapacity(devices[0])), '31.25 GiB, over');
    equal(optionFigure(space, deviceCapacity(devices[1])), '80.00 GiB physical, fits');
    equal(pageTitle(space, 'f', recordedCapacity([said()], 0)), 'over · 33.49 GiB · f · HBM – memviewd');
    equal(pageTitle(space, 'f', null), '33.49 GiB · f · HBM – memviewd');
  });
  test('a capacity is on the axis up to 1.5 times the data', () => {
    equal(
      [150, 151, 1].map((bytes) => isInRange({ max: 100, capacity: { bytes } })),
      [true, false, true],
    );
    equal(isInRange({ max: 100, capacity: null }), false);
  });
}
