/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_window.js: what the selected window says, and what lies between two marks: which buffers
 * are born and die there, the largest by name. */

import { el, fill, nameInline } from '../lib/dom.js';
import { bytes, count, counted, signedBytes } from '../lib/format.js';
import { fact, facts, folded } from '../widgets/details.js';
import { explained } from '../widgets/explain.js';
import { lineButton, selectedLine, windowLine } from '../widgets/window_line.js';
import { unitWord } from './memory_viewer_text.js';

/* Pure: "Steps 100 to 199", "Position 7". */
export function windowTitle({ from, to }, space) {
  const unit = unitWord(space);
  const word = unit[0].toUpperCase() + unit.slice(1);
  return to - from === 1 ? `${word} ${count(from)}` : `${word}s ${count(from)} to ${count(to - 1)}`;
}

/* " · born 12 buffers, 1.20 GiB · die …", each sum explained. */
const sumsOf = (key, born, died) => [
  ` · born ${counted(born.count, 'buffer')}, `,
  explained(key, born.bytes),
  ` · die ${counted(died.count, 'buffer')}, `,
  explained(key, died.bytes),
];

const change = (data) => data.bytes_after - data.bytes_before;

const changed = (key, by, className = '') => explained(key, Math.abs(by), by === 0 ? 'none' : signedBytes(by), className);

/* Where the pane is a drawer: opens it. */
const namesButton = (onNames) => lineButton('Names', 'q', onNames, 'to-pane');

/* A line under the title of the curve. actions: onZoom(), onNames(), onClear(), onMoment(step).
 * Out: {node, data, show(answer, space), say(text), clear()}. */
export function createWindowLine({ onZoom, onNames, onClear, onMoment }) {
  const { node, words } = selectedLine(onZoom, onClear, [namesButton(onNames)]);
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
        explained('window', peak.bytes, bytes(peak.bytes), 'strong'),
        ' ',
        el(
          'button',
          { type: 'button', class: 'link-button', on: { click: () => onMoment(peak.step) } },
          `at ${unitWord(space)} ${count(peak.step)}`,
        ),
        change(answer) === 0 ? '; as much after it as before' : ['; ', changed('window', change(answer)), ' over it'],
        sumsOf('window', born, died),
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

/* Pure: between the step behind the earlier mark and the later one; answer of "window". Out: {a, b} bytes live at each. */
export function liveAt({ a, b }, answer) {
  const [first, last] = [answer.bytes_before, answer.bytes_after];
  return a <= b ? { a: first, b: last } : { a: last, b: first };
}

/* Pure: the largest sum from mark to mark, both included; the answer begins behind the earlier one. */
export function peakOfMarks({ a, b }, answer) {
  const first = { step: Math.min(a, b), bytes: answer.bytes_before };
  return first.bytes >= answer.peak.bytes ? first : answer.peak;
}

/* A line under the title of the curve about the marks. actions: onSwap(), onNames(), onClear(), onMoment(step).
 * Out: {node, data, show(marks, answer | null, space), say(text), clear()}; answer: null while only A stands. */
export function createMarksLine({ onSwap, onNames, onClear, onMoment }) {
  const names = namesButton(onNames);
  const swap = lineButton('Swap', 'x', onSwap);
  const { node, words } = windowLine([swap, names], { label: 'Clear the marks', key: 'm', run: onClear }, 'marks-line');
  let data = null;
  const markOf = (name, step, live, space) => [
    el('strong', {}, name),
    ' ',
    el('button', { type: 'button', class: 'link-button', on: { click: () => onMoment(step) } }, `${unitWord(space)} ${count(step)}`),
    live === null ? '' : [' ', explained('marks', live)],
  ];
  return {
    node,
    get data() {
      return data;
    },
    show(marks, answer, space) {
      data = answer && { marks, answer };
      node.hidden = false;
      swap.hidden = !answer;
      names.hidden = !answer;
      if (!answer) {
        const [name, step] = marks.a === null ? ['B', marks.b] : ['A', marks.a];
        fill(words, markOf(name, step, null, space), ' · m marks the other moment');
        return;
      }
      const live = liveAt(marks, answer);
      const by = live.b - live.a;
      fill(
        words,
        markOf('A', marks.a, live.a, space),
        ' → ',
        markOf('B', marks.b, live.b, space),
        ': ',
        by === 0 ? el('strong', {}, 'no change') : changed('marks', by, 'strong'),
        ' between them',
        sumsOf('marks', answer.born, answer.died),
      );
    },
    say(text) {
      data = null;
      swap.hidden = true;
      names.hidden = true;
      fill(words, text);
      node.hidden = false;
    },
    clear() {
      data = null;
      node.hidden = true;
    },
  };
}

/* The pane while two moments are marked and nothing is selected, pinned or hovered. */
export function marksDetails({ marks, answer }, space, onPin) {
  const live = liveAt(marks, answer);
  const peak = peakOfMarks(marks, answer);
  const unit = unitWord(space);
  return {
    heading: 'Between the marks',
    parts: [
      facts(
        fact('A', el('strong', {}, explained('marks', live.a)), ` at ${unit} ${count(marks.a)}`),
        fact('B', el('strong', {}, explained('marks', live.b)), ` at ${unit} ${count(marks.b)}`),
        fact('A to B', changed('marks', live.b - live.a)),
        fact('peak, both included', explained('marks', peak.bytes), ` at ${unit} ${count(peak.step)}`),
      ),
      listOf('Born', answer.born, space, onPin, 'marks'),
      listOf('Die', answer.died, space, onPin, 'marks'),
      el('p', { class: 'dim' }, 'x swaps A and B, m clears them.'),
    ],
  };
}

function listOf(word, changes, space, onPin, key) {
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
      explained(`size:${item.id}`, item.bytes),
      el('span', { class: 'dim' }, ` ${unitWord(space)} ${count(item.step)}`),
      item.source ? [' ', nameInline(item.source.slice(item.source.lastIndexOf('/') + 1), 40)] : null,
    ),
  );
  if (more > 0) rows.push(el('li', { class: 'dim' }, `${count(more)} smaller, not named`));
  return folded([`${word}: ${counted(changes.count, 'buffer')}, `, explained(key, changes.bytes)], rows, true);
}

/* The pane while a window is selected and nothing is pinned or hovered. */
export function windowDetails(data, space, onPin) {
  return {
    heading: 'Selected window',
    parts: [
      facts(
        fact('window', windowTitle(data, space)),
        fact('its peak', el('strong', {}, explained('window', data.peak.bytes)), ` at ${unitWord(space)} ${count(data.peak.step)}`),
        fact('before', explained('window', data.bytes_before)),
        fact('after', explained('window', data.bytes_after)),
        fact('change', changed('window', change(data))),
      ),
      listOf('Born', data.born, space, onPin, 'window'),
      listOf('Die', data.died, space, onPin, 'window'),
      el('p', { class: 'dim' }, 'Enter zooms to it, Esc lets it go.'),
    ],
  };
}
