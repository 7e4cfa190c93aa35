/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_window.js: what the selected window says: its own peak, and which buffers
 * are born and die in it, the largest by name. */

import { el, figure, fill, nameInline } from '../lib/dom.js';
import { bytes, count, counted, signedBytes } from '../lib/format.js';
import { fact, facts, folded } from '../widgets/details.js';
import { unitWord } from './memory_viewer_text.js';

/* Pure: "Steps 100 to 199", "Position 7". */
export function windowTitle({ from, to }, space) {
  const unit = unitWord(space);
  const word = unit[0].toUpperCase() + unit.slice(1);
  return to - from === 1 ? `${word} ${count(from)}` : `${word}s ${count(from)} to ${count(to - 1)}`;
}

/* Pure: "12 buffers, 1.20 GiB" */
const sumText = (changes) => `${counted(changes.count, 'buffer')}, ${bytes(changes.bytes)}`;

const change = (data) => data.bytes_after - data.bytes_before;

/* A line under the title of the curve. actions: onZoom(), onClear(), onMoment(step).
 * Out: {node, data, show(answer, space), say(text), clear()}. */
export function createWindowLine({ onZoom, onClear, onMoment }) {
  const words = el('div', { class: 'window-words', role: 'status' });
  const node = el(
    'div',
    { class: 'window-line', hidden: true },
    words,
    el('button', { type: 'button', class: 'text-button', title: 'Enter', on: { click: onZoom } }, 'Zoom'),
    el(
      'button',
      { type: 'button', class: 'icon-button', 'aria-label': 'Let the window go', title: 'Esc', on: { click: onClear } },
      '×',
    ),
  );
  let data = null;
  return {
    node,
    get data() {
      return data;
    },
    show(answer, space) {
      data = answer;
      const { peak, born, died } = answer;
      fill(
        words,
        el('strong', {}, windowTitle(answer, space)),
        ': peak ',
        figure(peak.bytes, bytes(peak.bytes), 'strong'),
        ' ',
        el(
          'button',
          { type: 'button', class: 'link-button', on: { click: () => onMoment(peak.step) } },
          `at ${unitWord(space)} ${count(peak.step)}`,
        ),
        `; ${change(answer) === 0 ? 'as much after it as before' : `${signedBytes(change(answer))} from before to after`}`,
        ` · born ${sumText(born)} · die ${sumText(died)}`,
      );
      node.hidden = false;
    },
    say(text) {
      data = null;
      fill(words, text);
      node.hidden = false;
    },
    clear() {
      data = null;
      node.hidden = true;
    },
  };
}

function listOf(word, changes, space, onPin) {
  if (changes.count === 0) return el('p', { class: 'dim' }, `None ${word === 'Born' ? 'is born' : 'dies'} here.`);
  const more = changes.count - changes.largest.length;
  const rows = changes.largest.map((item) =>
    el(
      'li',
      {},
      el(
        'button',
        { type: 'button', class: 'link-button', on: { click: () => onPin(item) } },
        nameInline(item.name, 40),
      ),
      ' ',
      figure(item.bytes),
      el('span', { class: 'dim' }, ` ${unitWord(space)} ${count(item.step)}`),
      item.source ? [' ', nameInline(item.source.slice(item.source.lastIndexOf('/') + 1), 40)] : null,
    ),
  );
  if (more > 0) rows.push(el('li', { class: 'dim' }, `${count(more)} smaller, not named`));
  return folded(`${word}: ${sumText(changes)}`, rows, true);
}

/* The pane while a window is selected and nothing is pinned or hovered. */
export function windowDetails(data, space, onPin) {
  return {
    heading: 'Selected window',
    parts: [
      facts(
        fact('window', windowTitle(data, space)),
        fact('its peak', el('strong', {}, figure(data.peak.bytes)), ` at ${unitWord(space)} ${count(data.peak.step)}`),
        fact('before', figure(data.bytes_before)),
        fact('after', figure(data.bytes_after)),
        fact('change', signedBytes(change(data))),
      ),
      listOf('Born', data.born, space, onPin),
      listOf('Die', data.died, space, onPin),
      el('p', { class: 'dim' }, 'Enter zooms to it, Esc lets it go.'),
    ],
  };
}
