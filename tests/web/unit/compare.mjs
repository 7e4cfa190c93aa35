/* SPDX-License-Identifier: Apache-2.0
 * compare.mjs: references, bars that lead from A to B, curves on one axis, shapes that changed. */

import { parseReference, referenceOf, referenceOfProfile, referenceText } from '../../../web/lib/reference.js';
import { shapeChange } from '../../../web/tools/compare/columns.js';
import { mergedCurves, readPlace } from '../../../web/tools/compare/places.js';
import { momentsOf } from '../../../web/tools/compare/sides.js';
import {
  barsOf,
  isPart,
  siteOf,
  sitesSentence,
  toggledCategory,
  toggledSite,
} from '../../../web/tools/compare/text.js';

const side = (place, bytes, indefinite = 10) => ({
  place: place.at(-1),
  bytes: bytes.at(-1),
  indefinite_bytes: indefinite,
  columns: { place, step: place.map((_, at) => at), bytes, scope: place.map((at) => `scope_${at}`) },
});

export function run({ test, equal }) {
  test('one snapshot: its end and its peak; the first step where it ends at its peak', () => {
    const at = (moment, bytes) => ({ moment, in_use_bytes: bytes });
    const names = (...profiles) => momentsOf(profiles, profiles[0]).map(({ moment }) => moment);
    equal(names(at('peak', 9), at('end', 4), at('start', 1)), ['end', 'peak']);
    equal(names(at('peak', 9), at('end', 9), at('start', 1), at('step0', 2)), ['step0', 'peak']);
    equal(names(at('peak', 9), at('end', 9), at('start', 1)), ['start', 'peak']);
    equal(names(at('peak', 9)), ['peak']);
  });

  test('a reference says what it has to, and is read back', () => {
    equal(referenceText({ session: 'aa', module: 'cc', space: 0 }), 'aa//cc/0');
    equal(referenceText({ session: 'aa' }), 'aa');
    equal(parseReference('aa//cc/0/12'), { session: 'aa', host: '', module: 'cc', space: '0', step: '12' });
    const shown = {
      session: { id: 'aa', hosts: [{ id: 'h0' }, { id: 'h1' }] },
      host: { id: 'h1' },
      module: { id: 'cc' },
      space: { space: 5 },
    };
    equal(referenceOf(shown, 7), 'aa/h1/cc/5/7');
    equal(referenceOf({ ...shown, host: { id: 'h0' } }), 'aa//cc/5');
    equal(referenceOf({ session: null }), '');
    equal(referenceOfProfile({ session: { id: 'aa' } }, { a: 'p1', b: 'p2', local: '' }), 'aa//p2');
    equal(referenceOfProfile({ session: { id: 'aa' } }, { a: '', b: '', local: '' }), 'aa');
    equal(referenceOfProfile({}, { a: '', b: '', local: 'ff' }), '//ff');
  });

  test('a call site is shown alone by its number, and all again', () => {
    equal(toggledSite('kind:buffer', 7), 'group:7 kind:buffer');
    equal(toggledSite('group:7 kind:buffer', 7), 'kind:buffer');
    equal(toggledSite('group:7', 8), 'group:8');
    equal(siteOf('group:12 >1MiB'), 12);
    equal(siteOf('subgroup:12'), null);
    equal(
      sitesSentence({ counts: { same: 4 }, site_count: 5 }),
      'Counts live arrays and code, as pprof -diff_base does; 1 of 5 call sites differs.',
    );
    const parts = [
      { category: 'buffer', group: 0 },
      { category: '', group: null },
      { category: 'output' },
      { category: 'fragmentation' },
      { category: '', isTotal: true },
    ];
    equal(parts.map(isPart), [true, false, true, false, false]);
  });

  test('bars lead from A to B without a gap', () => {
    const bars = barsOf({
      total_before: 100,
      total_after: 130,
      is_of_steps: false,
      waterfall: [
        { label: 'saved activations', category: 'saved_activation', bytes: 50 },
        { label: 'outputs', category: 'output', bytes: -25 },
        { label: 'fragmentation', category: 'fragmentation', bytes: 5 },
      ],
    });
    equal(
      bars.map(({ from, to }) => [from, to]),
      [
        [0, 100],
        [100, 150],
        [150, 125],
        [125, 130],
        [0, 130],
      ],
    );
  });

  test('a category is shown alone, and all again', () => {
    equal(toggledCategory('>1MiB', 'output'), 'cat:output >1MiB');
    equal(toggledCategory('cat:output >1MiB', 'output'), '>1MiB');
    equal(toggledCategory('cat:output', 'gradient'), 'cat:gradient');
  });

  test('a shape that changed says where', () => {
    equal(shapeChange('bf16[8,1024]', 'bf16[4,1024]'), 'bf16[8→4,1024]');
    equal(shapeChange('f32[8]', 'bf16[8]'), 'f32→bf16[8]');
    equal(shapeChange('f32[8]', 'f32[2,4]'), 'f32[8] → f32[2,4]');
    equal(shapeChange('f32[8]', 'f32[8]'), 'f32[8]');
    equal(shapeChange(null, 'f32[8]'), 'f32[8]');
  });

  test('both curves stand over one list of places, and hold between them', () => {
    const data = { axis_length: 9, a: side([1, 4], [20, 50]), b: side([4, 6], [30, 70], 15) };
    equal(mergedCurves(data), [
      [0, 1, 4, 6, 9],
      [10, 20, 50, 50, 50],
      [15, 15, 30, 70, 70],
    ]);
    const { a, b, scope } = readPlace(data, 5);
    equal([a.step, a.bytes, b.step, b.bytes, scope], [1, 50, 0, 30, 'scope_4']);
    equal(readPlace(data, 0).a.bytes, 10);
  });
}
