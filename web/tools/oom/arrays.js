/* SPDX-License-Identifier: Apache-2.0
 * arrays.js: of a program without a buffer assignment its largest arrays. Its own file: a block of the page. */

import { el, fill, name } from '../../lib/dom.js';
import { bytes, count, counted } from '../../lib/format.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';

const TITLE = 'Its largest arrays';
const HEADS = [
  ['Each', 'number'],
  ['Count', 'number'],
  ['What it is', ''],
  ['Operation', ''],
  ['Source', ''],
  ['Shape', 'oom-shape'],
];
const COLUMNS = ['bytes', 'count', 'role', 'name', 'source', 'shape'].map((key) => ({
  key,
  title: key,
  isSource: key === 'source',
}));

const nameOr = (text) => (text ? name(text) : el('span', { class: 'dim' }, '–'));

function arrayRow(array) {
  return el(
    'tr',
    {},
    el('td', { class: 'number' }, bytes(array.bytes)),
    el('td', { class: 'number' }, count(array.count)),
    el('td', {}, array.words),
    el('td', { class: 'oom-label' }, nameOr(array.name)),
    el('td', { class: 'oom-at' }, nameOr(array.source)),
    el('td', { class: 'oom-shape' }, name(array.shape)),
  );
}

/* Out: {panel, count(), show(verdict, links)}. */
export function createArrays() {
  let items = [];
  const menu = exportEntries({ name: 'arrays', title: TITLE, table: () => ({ columns: COLUMNS, rows: items }) });
  const panel = createPanel('panel-oom-arrays', TITLE, { menu: () => [menu()] });
  panel.node.hidden = true;
  return {
    panel,
    count: () => items.length,
    show({ arrays, arrays_sentence: sentence, arrays_figures: figures }, links) {
      items = arrays?.items ?? [];
      panel.node.hidden = items.length === 0;
      if (panel.node.hidden) return;
      const more = arrays.total_count - items.length;
      fill(
        panel.body,
        el(
          'div',
          { class: 'oom-groups' },
          el(
            'table',
            {},
            el('caption', { class: 'hidden' }, 'Arrays of the program, largest first'),
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                HEADS.map(([word, kind]) => el('th', { scope: 'col', class: kind }, word)),
              ),
            ),
            el('tbody', {}, items.map(arrayRow)),
            more > 0
              ? el('tfoot', {}, el('tr', {}, el('td', { colspan: '6' }, `and ${counted(more, 'smaller one')}`)))
              : null,
          ),
        ),
        el('p', { class: 'dim' }, links.sentence(sentence, figures)),
      );
    },
  };
}
