/* SPDX-License-Identifier: Apache-2.0
 * fleet.mjs: what the page Fleet asks for, and what it draws of an answer. */

import { noPoints, nothing } from '../../../web/tools/fleet/empty.js';
import { compareHref, hrefOf, paramsOf, stateOf, withField } from '../../../web/tools/fleet/state.js';
import { columnsOf, limitsOf, lineOf, named, stackOf } from '../../../web/tools/fleet/lines.js';
import { dayTicks, extentOf, pointsOf } from '../../../web/widgets/time_lines.js';

export function run({ test, equal }) {
  const link = (session, patch) =>
    `${session}?${Object.entries(patch)
      .map((pair) => pair.join('='))
      .join('&')}`;

  test('the filter is what the daemon is asked', () => {
    equal(paramsOf('').params, {});
    equal(paramsOf('job:bert user:ada since:2026-11-01 label:day=3').params, {
      job: 'bert',
      user: 'ada',
      since: String(Date.UTC(2026, 10, 1)),
      label: 'day=3',
    });
    equal(paramsOf('job:"a b" module:jit_step').params, { job: 'a b', module: 'jit_step' });
    for (const [text, place] of [
      ['bert', 0],
      ['job:a job:b', 6],
      ['-job:a', 0],
      ['nothing:1', 0],
      ['job:a since:yesterday', 6],
      ['label:day', 0],
      ['label:=3', 0],
    ]) {
      const { params, fault } = paramsOf(text);
      equal([params, fault?.place], [{}, place], text);
    }
  });

  test('a click on a job narrows the filter to it', () => {
    equal(withField('', 'job', 'bert'), 'job:bert');
    equal(withField('job:t5 user:ada', 'job', 'my job'), 'user:ada job:"my job"');
    equal(paramsOf(withField('', 'job', 'a"b:c')).params.job, 'ab:c');
  });

  test('where there is nothing it says why', () => {
    const titleOf = (isCatalog, unlabelled, unknown, isFiltered = false) =>
      nothing(
        {
          sentence: 'As the daemon says.',
          is_catalog: isCatalog,
          unlabelled_count: unlabelled,
          unknown_count: unknown,
        },
        isFiltered,
        null,
      ).title;
    equal(titleOf(false, 0, 0), 'No jobs yet.');
    equal(titleOf(false, 0, 2), 'As the daemon says.');
    equal(titleOf(true, 1, 2), 'As the daemon says.');
    equal(titleOf(true, 0, 0), 'The catalog has no figures.');
    equal(titleOf(true, 0, 2, true), 'Nothing matches.');
  });

  test('a chart without points says what is not known', () => {
    equal(
      noPoints([{ at_ms: [null, null] }, { at_ms: [] }], 'share').title,
      'It is not known when the files were written.',
    );
    equal(noPoints([{ at_ms: [null, 5] }], 'share').title, 'The capacity is not known.');
    equal(noPoints([{ at_ms: [5] }], 'peak').title, 'Their peaks are not known.');
  });

  test('what the URL names that is none is as if it were not there', () => {
    const state = stateOf({ view: 'none', metric: 'none', sort: '', filter: '' });
    equal([state.tab, state.metric], ['jobs', 'needed']);
  });

  test('a row leads to the page of its kind, and only where the daemon has it', () => {
    equal(hrefOf('s/h/m', 'module', { link }), 's?tool=memory_viewer&host=h&module=m');
    equal(hrefOf('s/h/', 'memory', { link }), 's?tool=memory_profile&host=h&module=');
    equal(hrefOf(null, 'module', { link }), null);
    equal(compareHref({ reference_before: 'a', reference: 'b', kind: 'module' }, { link }), '?tool=compare&a=a&b=b');
    equal(
      [
        compareHref({ reference_before: null, reference: 'b', kind: 'module' }, { link }),
        compareHref({ reference_before: 'a', reference: 'b', kind: 'memory' }, { link }),
      ],
      [null, null],
    );
  });

  const line = (patch) => ({
    job: 'j',
    name: 'j',
    module: 'm',
    kind: 'module',
    at_ms: [1, 2, 3],
    needed_bytes: [10, 20, 30],
    peak_bytes: [9, null, 29],
    capacity_bytes: [40, 40, null],
    over_bytes: [0, 0, null],
    steps: [],
    categories: [],
    ...patch,
  });

  test('a line is drawn by what is chosen', () => {
    equal(lineOf(line({}), 'needed').values, [10, 20, 30]);
    equal(lineOf(line({}), 'peak').values, [9, null, 29]);
    equal(lineOf(line({}), 'share').values, [25, 50, null]);
    equal(lineOf(line({ over_bytes: [0, 10, null] }), 'peak').isOver, [false, true, false]);
    equal(
      lineOf(
        line({
          steps: [
            { point: 1, change_bytes: 10 },
            { point: 2, change_bytes: -1 },
          ],
        }),
        'needed',
      ).marks,
      { 1: 'up', 2: 'down' },
    );
    const names = (lines, linesOf) => named(lines, linesOf).map(({ name }) => name);
    equal([names([line({})], 'job'), names([line({}), line({ module: null })], 'module')], [['j'], ['m', 'module']]);
    equal(
      [
        names([line({ host: 'h' }), line({ host: null })], 'host'),
        names([line({ host: 'h' }), line({ host: 'h', module: 'n' })], 'host'),
      ],
      [
        ['h', 'host not known'],
        ['h m', 'h n'],
      ],
    );
  });

  test('lines of one name are told apart by their configuration, and by their memory space', () => {
    const names = (lines) => named(lines.map(line), 'module').map(({ name }) => name);
    const small = { configuration: '8 devices, mesh data=8, batch 64x1024' };
    const large = { configuration: '8 devices, mesh data=8, batch 128x1024' };
    equal(names([small, large]), ['m (batch 64x1024)', 'm (batch 128x1024)']);
    equal(names([small, { ...small, module: 'n' }]), ['m', 'n'], 'other names tell enough');
    equal(names([small, { configuration: '8 devices' }, {}]), [
      'm (8 devices, mesh data=8, batch 64x1024)',
      'm (8 devices)',
      'm (configuration not known)',
    ]);
    equal(names([small, { configuration: '8 devices, mesh data=8' }]), [
      'm (batch 64x1024)',
      'm (8 devices, mesh data=8)',
    ]);
    equal(
      names([
        { ...small, memory_space: 'HBM' },
        { ...small, memory_space: 'VMEM' },
      ]),
      ['m (HBM)', 'm (VMEM)'],
    );
    equal(names([{ job: 'j' }, { job: 'j' }]), ['m', 'm'], 'what is alike in all is not said twice');
  });

  test('each capacity is drawn once', () => {
    const of = (name, ...all) => line({ name, capacity_bytes: all });
    equal(limitsOf([of('a', 1, 40), of('b', 40, 40)], 'needed'), [{ value: 40, of: '' }]);
    equal(limitsOf([of('a', 40), of('b', 80), of('c', 40), of('d', null), of('e', 40)], 'needed'), [
      { value: 40, of: 'a, c and 1 more' },
      { value: 80, of: 'b' },
    ]);
    equal(limitsOf([], 'share'), [{ value: 100, of: '' }]);
  });

  test('categories are stacked in their order, without those that no commit has', () => {
    const categories = ['rest', 'unknown', 'batch', 'parameter'].map((category, at) => ({
      category,
      bytes: [at === 2 ? 0 : 5, null],
    }));
    equal(
      stackOf({ categories }).map(({ category }) => category),
      ['parameter', 'unknown', 'rest'],
    );
  });

  test('columns are the commits of a module, or the last commit of each job', () => {
    const of = (job, bytes) =>
      line({
        job,
        name: job,
        commits: ['x', 'y', 'z'],
        references: [null, null, job],
        categories: [{ category: 'batch', bytes }],
      });
    const lines = [of('a', [1, 2, 3]), { ...of('b', []), categories: [{ category: 'rest', bytes: [4, 5, 6] }] }];
    equal(columnsOf(lines, 'module').names, ['x', 'y', 'z']);
    const { names, needed_bytes: needed, references, categories } = columnsOf(lines, 'job');
    equal(
      [names, needed, references],
      [
        ['a', 'b'],
        [30, 30],
        ['a', 'b'],
      ],
    );
    equal(categories, [
      { category: 'batch', bytes: [3, null] },
      { category: 'rest', bytes: [null, 6] },
    ]);
  });

  test('points go from left to right, and what is not known is none', () => {
    const points = pointsOf([
      { at: [3, null, 1], values: [7, 8, null] },
      { at: [2], values: [9] },
    ]);
    equal(
      points.map(({ line: at, point, value }) => [at, point, value]),
      [
        [1, 0, 9],
        [0, 0, 7],
      ],
    );
  });

  test('a capacity far above the data is not in the plot', () => {
    const points = [
      { at: 0, value: 10 },
      { at: 100, value: 20 },
    ];
    equal([extentOf(points, [{ value: 24 }]).most >= 24, extentOf(points, [{ value: 100 }]).most < 100], [true, true]);
    equal(extentOf([points[0]], []).to > extentOf([points[0]], []).from, true, 'one point has room, too');
  });

  test('ticks of days are at midnight UTC and no more than there is room for', () => {
    const day = 86400000;
    const from = Date.UTC(2026, 8, 21, 5);
    const ticks = dayTicks(from, from + 21 * day, 8);
    equal([ticks.every((at) => at % day === 0), ticks.length <= 9, ticks.length > 1], [true, true, true]);
    for (const days of [3000, 1e6, 1e8]) equal(dayTicks(from, from + days * day, 5).length <= 6, true, `${days} days`);
  });
}
