/* SPDX-License-Identifier: Apache-2.0
 * filter.js: the fields by which the tables are filtered, the ways of grouping, and what
 * stands behind the ⋯ of a table. */

import { el } from '../../lib/dom.js';
import { bytes } from '../../lib/format.js';
import { typed } from '../../lib/filter_text.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';

const MAX_VALUES = 200;
const TEXTS = ['op', 'region', 'dtype', 'shape', 'thread'];

const FIELDS = {
  live: [
    ['op', 'framework op that asked for it'],
    ['size', 'size:>64MiB \u00b7 1GiB..2GiB'],
    ['requested', 'bytes that were asked for'],
    ['count', 'number of allocations'],
    ['step', 'step:3 \u00b7 3..5'],
    ['region', 'output, temp, persist, dynamic'],
    ['dtype', 'element type'],
    ['shape', 'shape:[*,2048]'],
    ['thread', 'line of the trace'],
  ],
  events: [
    ['op', 'framework op that asked for it'],
    ['size', 'size:>64MiB \u00b7 1GiB..2GiB'],
    ['freed', 'never, before (the window), yes'],
    ['lifetime', 'ms between allocation and free: lifetime:>10'],
    ['time', 'ms from the start: time:800..812'],
    ['step', 'step:3 \u00b7 3..5'],
    ['address', 'address:0x7f\u2026'],
    ['dtype', 'element type'],
    ['shape', 'shape:[*,2048]'],
    ['region', 'output, temp, persist, dynamic'],
    ['thread', 'line of the trace'],
  ],
  growth: [
    ['verdict', 'grows, shrinks, steps_once, steady, varies'],
    ['slope', 'bytes a step: slope:>1MiB'],
    ['size', 'bytes at the last boundary'],
    ['op', 'framework op that asked for it'],
    ['dtype', 'element type'],
    ['shape', 'shape:[*,2048]'],
  ],
};
const SAID = { freed: ['never', 'before', 'yes'], verdict: ['grows', 'shrinks', 'steps_once', 'steady', 'varies'] };

/* Values of a text are those that are live at the moment, with their bytes. */
export function filterFields(view, name) {
  const valuesOf = (field) => {
    if (SAID[field]) return async () => SAID[field].map((value) => ({ value, figure: '', typed: value }));
    if (!TEXTS.includes(field)) return null;
    return async (signal) => {
      const params = { time: view.wanted.time ?? 'peak', group: field, limit: MAX_VALUES };
      const { data } = await view.ask('live', params, signal);
      return data.rows
        .filter((row) => row[field])
        .map((row) => ({ value: row[field], figure: bytes(row.size_bytes), typed: typed(row[field]) }));
    };
  };
  return FIELDS[name].map(([field, says]) => ({ name: field, says, values: valuesOf(field) }));
}

/* The daemon says where in the filter the fault is. */
export const isOfFilter = (error) => error.status === 400 && /^filter\b/.test(error.message);

/* Value of the URL, word. */
export const GROUPS = [
  ['', 'equal ones'],
  ['op', 'op'],
  ['op,shape', 'op and shape'],
  ['step', 'step'],
  ['dtype', 'dtype'],
  ['shape', 'shape'],
  ['region', 'region'],
  ['thread', 'thread'],
  ['none', 'none'],
];

export function createGroupChoice(onChoose) {
  const select = el(
    'select',
    { class: 'group-choice', 'aria-label': 'Group by', on: { change: () => onChoose(select.value) } },
    GROUPS.map(([value, word]) => el('option', { value }, word)),
  );
  return {
    node: el('label', { class: 'group-label' }, el('span', { class: 'dim' }, 'group'), select),
    set(value) {
      select.value = GROUPS.some(([known]) => known === value) ? value : '';
    },
  };
}

/* The card behind the ⋯ of each table. */
const EXPLAINED = { live: 'size', events: 'lasting', growth: 'slope' };

/* csv() links to all rows; the columns are switches. */
export function tableMenu({ name, title, table, csv }) {
  const exports = exportEntries({ name: `memory-profile-${name}`, title, csv });
  return () => [
    exports(),
    explainEntry(EXPLAINED[name]),
    { word: 'Copy chosen rows', key: 'Ctrl+c', run: () => table.copy('tabs') },
    { word: 'Copy chosen rows as Markdown', run: () => table.copy('markdown') },
    ...table.columns().map(({ key, title: word, isShown }) => ({
      word: `Column ${word.replace(/, [KMGT]?i?B$/, '')}`,
      isOn: isShown,
      run: () => table.setColumnShown(key, !isShown),
    })),
  ];
}
