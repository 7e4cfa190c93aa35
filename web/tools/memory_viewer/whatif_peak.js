/* SPDX-License-Identifier: Apache-2.0
 * whatif_peak.js: what is live at the peak that is predicted: each buffer with its size before and after, and when it
 * is alive. Where in memory it lies is the compiler's to say, so there is no map of it. Its own file: one table of the
 * drawer. */

import { button, el, fill, name } from '../../lib/dom.js';
import { bytes, bytesIn, count, counted, unitName, unitOf } from '../../lib/format.js';
import { inUnit } from '../../widgets/table_columns.js';

/* Rows at first, and as many as the daemon lists. */
export const FEW_ROWS = 20;
export const ALL_ROWS = 1000;

const NO_MAP = 'There is no map of a prediction: sizes and times are predicted, but the compiler chooses the places.';

/* Pure: from birth to death as shares of the program's steps. */
export function lifeOf({ is_indefinite: isWhole, born_step: born, dies_step: dies }, stepCount) {
  const all = Math.max(1, stepCount);
  return isWhole ? [0, 1] : [Math.min(1, born / all), Math.min(1, Math.max(dies, born + 1) / all)];
}

const isChanged = (row) => row.bytes !== row.bytes_before;
const isWas = (row) => row.bytes_before != null && isChanged(row);

function lifeBar(row, { stepCount, peak, unit }) {
  const [from, to] = lifeOf(row, stepCount);
  const bar = el('span', { class: `whatif-life${isChanged(row) ? ' is-predicted' : ''}` });
  bar.style.left = `${100 * from}%`;
  bar.style.width = `${100 * (to - from)}%`;
  const mark = el('span', { class: 'whatif-at' });
  mark.style.left = `${(100 * (peak + 0.5)) / Math.max(1, stepCount)}%`;
  const words = row.is_indefinite
    ? 'alive from begin to end'
    : `alive from ${unit} ${count(row.born_step)} to ${count(row.dies_step)} of ${count(stepCount)}`;
  return el('span', { class: 'whatif-track', role: 'img', 'aria-label': words, title: words }, bar, mark);
}

/* What a change adds is nowhere in the plan: it has no buffer to pin. */
function nameCell(row, onPin) {
  const shown = name(row.op_name || row.name);
  return row.id == null
    ? shown
    : button('link-button', () => onPin(row.id), shown, {
        title: 'Pin it in the plan as it is',
        'data-key': `row ${row.id}`,
      });
}

const HEADS = [
  ['Size', 'number'],
  ['Now', 'number'],
  ['Alive', ''],
  ['What', ''],
];

/* onPin(id), onAll(). Out: {node, show(data: of the view whatif with rows, unit: "step" or "position")}. */
export function createPeak({ onPin, onAll }) {
  const node = el('section', { class: 'whatif-peak' });
  return {
    node,
    show(data, unit) {
      node.hidden = !data.curve || data.rows.length === 0;
      if (node.hidden) return;
      const { rows, row_count: all, peak_bytes_after: whole, peak_step_after: peak } = data;
      const about = { stepCount: data.curve.step_count, peak, unit };
      const in_ = unitOf(rows[0].bytes);
      const sum = rows.reduce((total, row) => total + row.bytes, 0);
      const line = (row) =>
        el(
          'tr',
          {},
          el('td', { class: 'number' }, inUnit(row.bytes, in_)),
          el(
            'td',
            { class: `number${isWas(row) ? '' : ' dim'}` },
            isWas(row) ? inUnit(row.bytes_before, in_) : row.bytes_before == null ? 'added' : 'same',
          ),
          el('td', { class: 'whatif-when' }, lifeBar(row, about)),
          el('td', {}, nameCell(row, onPin)),
        );
      const rest = all - rows.length;
      fill(
        node,
        el('h3', {}, `Live at the predicted peak, ${unit} ${count(peak)}`),
        el('p', { class: 'dim' }, NO_MAP),
        el(
          'table',
          { class: 'whatif-rows' },
          el('caption', { class: 'hidden' }, `What is live at the predicted peak of ${bytes(whole)}, largest first`),
          el(
            'thead',
            {},
            el(
              'tr',
              {},
              HEADS.map(([word, kind], at) =>
                el('th', { scope: 'col', class: kind }, at < 2 ? `${word}, ${unitName(in_)}` : word),
              ),
            ),
          ),
          el('tbody', {}, rows.map(line)),
          rest > 0
            ? el(
                'tfoot',
                {},
                el(
                  'tr',
                  {},
                  el('td', { class: 'number' }, inUnit(whole - sum, in_)),
                  el('td', { colspan: '3' }, `${counted(rest, 'smaller one')}`),
                ),
              )
            : null,
        ),
        el(
          'p',
          { class: 'whatif-acts' },
          el(
            'span',
            {},
            `${count(rows.length)} of ${counted(all, 'buffer')}, ${bytesIn(sum, unitOf(whole))} of ${bytes(whole)}`,
          ),
          el('span', { class: 'whatif-key is-predicted' }, 'changed by what is ticked'),
          rest > 0 && rows.length < ALL_ROWS
            ? button('text-button', onAll, `Show ${all > ALL_ROWS ? count(ALL_ROWS) : 'all'}`, {
                'data-key': 'all rows',
              })
            : null,
        ),
      );
    },
  };
}
