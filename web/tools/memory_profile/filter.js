/* SPDX-License-Identifier: Apache-2.0
 * filter.js: what the filter of a table proposes, the ways of grouping, and what stands behind the ⋯ of a table. */

import { el } from '../../lib/dom.js';
import { bytes } from '../../lib/format.js';
import { typed } from '../../lib/filter_text.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';

const MAX_VALUES = 200;
const TEXTS = ['op', 'category', 'region', 'dtype', 'shape', 'program', 'role', 'thread'];

const SAID = {
  confidence: ['rule', 'guess', 'unknown'],
  freed: ['never', 'before', 'yes'],
  verdict: ['grows', 'shrinks', 'steps_once', 'steady', 'varies'],
};

/* What the field `name` proposes: of a text what is live at this time, with its bytes. */
export const valuesOf =
  ({ trace, url }) =>
  (name) => {
    if (SAID[name]) return async () => SAID[name].map((value) => ({ value, figure: '', typed: value }));
    if (name === 'cat') name = 'category';
    if (!TEXTS.includes(name)) return null;
    return async (signal) => {
      const params = { time: url.wanted.time ?? 'peak', group: name, limit: MAX_VALUES };
      const { data } = await trace.ask('live', params, signal);
      return data.rows
        .filter((row) => row[name])
        .map((row) => ({ value: row[name], figure: bytes(row.size_bytes), typed: typed(row[name]) }));
    };
  };

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
  ['category', 'category'],
  ['category,op', 'category and op'],
  ['program', 'program'],
  ['program,role', 'program and role'],
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
const EXPLAINED = { live: 'size', events: 'lasting', growth: 'slope', segments: 'hole' };

/* csv() links to all rows; the columns are switches. */
export function tableMenu({ name, title, table, csv }) {
  const exports = exportEntries({ name: `memory-profile-${name}`, title, csv });
  return () => [
    exports(),
    explainEntry(EXPLAINED[name]),
    { word: 'Copy chosen rows', key: 'Ctrl+c', run: () => table.copy('tabs') },
    { word: 'Copy chosen rows as Markdown', run: () => table.copy('markdown') },
    ...table
      .columns()
      .map(({ key, title: word, isShown }) => ({
        word: `Column ${word.replace(/, [KMGT]?i?B$/, '')}`,
        isOn: isShown,
        run: () => table.setColumnShown(key, !isShown),
      })),
  ];
}
