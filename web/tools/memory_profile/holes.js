/* SPDX-License-Identifier: Apache-2.0
 * holes.js: fragmentation in plain words: the request, the largest hole, and the allocations that stand between holes
 * which would hold it. Its own file: the one panel of the address map that is a table. */

import { button, el, figure, fill, name } from '../../lib/dom.js';
import { sentenceParts } from '../../lib/finding.js';
import { counted } from '../../lib/format.js';
import { explainEntry, nodesOf } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';
import * as say from './text.js';

const NAMES = [
  'op',
  'size_bytes',
  'step',
  'born_ps',
  'age_ps',
  'freed_ps',
  'hole_before_bytes',
  'hole_after_bytes',
  'address',
  'dtype',
  'shape',
];
const HEADS = [
  ['Op', false],
  ['Size', true],
  ['Age', false],
  ['Step', true],
  ['Hole before', true],
  ['Hole behind', true],
  ['Address', false],
];

const whatOf = (pin) =>
  pin.op ? name(pin.op) : el('span', { class: 'dim' }, say.guessWords(pin) || 'op not recorded');

/* onPickBlock(pin): it is pinned, as a block of the map is. createReader: of reader.js. Out: as the other panels there.
 */
export function createHoles({ trace, url, onPickBlock }, createReader) {
  const answer = el('p', { class: 'tab-answer' });
  const body = el('tbody');
  const table = el(
    'div',
    { class: 'grid-scroll', hidden: true },
    el(
      'table',
      { class: 'holes-grid' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          HEADS.map(([title, isNumber]) => el('th', { scope: 'col', class: isNumber ? 'is-number' : null }, title)),
        ),
      ),
      body,
    ),
  );
  let data = null;
  const exports = exportEntries({
    name: 'memory-profile-holes',
    title: () => panel.node.querySelector('h2').textContent,
    table: () => ({
      columns: NAMES.map((key) => ({ key, title: key })),
      rows: data.pins.map((pin) => Object.fromEntries(NAMES.map((key) => [key, pin[key]]))),
    }),
  });
  const panel = createPanel('panel-inner panel-holes', 'Who pins the holes', {
    menu: () => [exports(), explainEntry('hole')],
  });
  panel.body.append(answer, table);
  panel.node.hidden = true;
  const number = (className, ...content) => el('td', { class: `is-number ${className}` }, content);
  const rowOf = (pin) =>
    el(
      'tr',
      {},
      el(
        'td',
        { class: 'hole-op' },
        button('text-button', () => onPickBlock(pin), whatOf(pin)),
      ),
      number('hole-size', figure(pin.size_bytes)),
      el('td', { class: 'hole-age' }, say.pinAge(pin)),
      number('hole-step', pin.step == null ? '–' : String(pin.step)),
      number('hole-before', figure(pin.hole_before_bytes)),
      number('hole-behind', figure(pin.hole_after_bytes)),
      el('td', { class: 'mono hole-address' }, pin.address),
    );
  const draw = (found) => {
    data = found;
    const isPinned = found.finding?.kind === 'pinned';
    /* Where all fits, nothing is pinned: but of a request that failed it is said. */
    panel.node.hidden = !isPinned && found.finding?.kind !== 'short' && found.failure == null;
    panel.setTitle(
      'Who pins the holes ',
      el('span', { class: 'dim' }, say.timeWords({ ...found, step: null }, url.wanted)),
    );
    fill(
      answer,
      found.finding ? nodesOf(sentenceParts(found.finding)) : '',
      found.pin_count > found.pins.length && isPinned
        ? ` The first ${counted(found.pins.length, 'of them', 'of them')}:`
        : '',
    );
    table.hidden = !isPinned;
    fill(body, isPinned ? found.pins.map(rowOf) : []);
  };
  const params = () => ({ time: url.wanted.time ?? 'peak' });
  const reader = createReader({
    panel,
    what: 'Who pins the holes',
    keyOf: () => JSON.stringify([trace.key, params()]),
    question: () => trace.ask('holes', params()),
    draw,
  });
  return { panel, ...reader, destroy: reader.stop };
}
