/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_window.js: what the selected window says, and what lies between two marks: which buffers
 * are born and die there, the largest by name. */

import { el, fill, nameInline } from '../lib/dom.js';
import { parseSize } from '../lib/capacity.js';
import { bytes, capital, count, counted, signedBytes } from '../lib/format.js';
import { fact, facts, folded, lifeBar } from '../widgets/details.js';
import { explained } from '../widgets/explain.js';
import { lineButton, selectedLine, windowLine } from '../widgets/window_line.js';
import { offsetWords, unitWord, windowWords } from './memory_viewer_text.js';

/* Pure: "Steps 100 to 199", "Position 7, offsets 0 B to 1.00 GiB". */
const windowTitle = ({ from, to, offsets }, space) => capital(windowWords(space, [from, to - 1], offsets));

/* Pure: "1GiB..1.5GiB", "0 to 65536" → [low, high), or null. */
export function readOffsets(text) {
  const parts = text.split(/\s*(?:\.\.|-|\bto\b)\s*/).map((part) => part.trim());
  const [low, high] = parts.map((part) => (/^\d{1,15}(\s?B)?$/i.test(part) ? parseInt(part, 10) : parseSize(part)));
  return parts.length === 2 && low !== null && high !== null && low < high ? [low, high] : null;
}

/* Pure: the same back, in the largest unit that says it exactly. */
export function typedOffsets(offsets) {
  const typed = (value) => {
    const power = [4, 3, 2, 1].find((each) => value > 0 && value % 1024 ** each === 0);
    return power ? `${value / 1024 ** power}${' KMGT'[power]}iB` : String(value);
  };
  return offsets?.map(typed).join('..') ?? '';
}

/* " · born 12 (1.20 GiB), die …", each sum explained. */
const sumsOf = (key, born, died) => [
  ` · born ${count(born.count)} (`,
  explained(key, born.bytes),
  `), die ${count(died.count)} (`,
  explained(key, died.bytes),
  ')',
];

const change = (data) => data.bytes_after - data.bytes_before;

const changed = (key, by, className = '') => explained(key, Math.abs(by), by === 0 ? 'none' : signedBytes(by), className);

/* Where the pane is a drawer: opens it. */
const namesButton = (onNames) => lineButton('Names', 'q', onNames, 'to-pane');

/* A button, and the field that it opens: the offsets of the window. onOffsets([low, high) | null). Out: {button, input,
 * open(offsets)}. */
function offsetsField(onOffsets) {
  let offsets = null;
  const input = el('input', {
    class: 'small-field',
    type: 'text',
    hidden: true,
    placeholder: '1GiB..2GiB',
    'aria-label': 'Offsets of the window, as 1GiB..2GiB; empty: all',
    on: {
      keydown: (event) => {
        if (event.key === 'Enter') take();
        else if (event.key === 'Escape') close();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
      blur: () => close(),
    },
  });
  const open = (now) => {
    offsets = now;
    input.value = typedOffsets(now);
    input.removeAttribute('aria-invalid');
    input.title = '';
    button.hidden = true;
    input.hidden = false;
    input.select();
    input.focus();
  };
  const button = lineButton('Offsets', 'o', () => open(offsets));
  const close = () => {
    if (input.hidden) return;
    const isFocused = document.activeElement === input;
    input.hidden = true;
    button.hidden = false;
    if (isFocused) button.focus();
  };
  const take = () => {
    const text = input.value.trim();
    const next = text ? readOffsets(text) : null;
    if (text && !next) {
      input.setAttribute('aria-invalid', 'true');
      input.title = 'Two offsets, the smaller first, as 1GiB..2GiB';
      return;
    }
    close();
    onOffsets(next);
  };
  return {
    button,
    input,
    open,
    set(now) {
      offsets = now;
    },
  };
}

/* A line under the title of the curve. actions: onZoom(), onNames(), onClear(), onMoment(step), onOffsets([low, high) |
 * null). Out: {node, data, spans, begin(step, space), show(answer, space, offsets), editOffsets(offsets), say(text), clear()};
 * spans: steps in which what a window with offsets holds lives. */
export function createWindowLine({ onZoom, onNames, onClear, onMoment, onOffsets }) {
  const field = offsetsField(onOffsets);
  const { node, words } = selectedLine(onZoom, onClear, [field.button, field.input, namesButton(onNames)]);
  let data = null;
  const say = (...said) => {
    data = null;
    field.set(null);
    fill(words, ...said);
    node.hidden = false;
  };
  const at = (step, space) =>
    el('button', { type: 'button', class: 'link-button', on: { click: () => onMoment(step) } }, `at ${unitWord(space)} ${count(step)}`);
  const allOf = ({ peak, born, died }, space) => [
    'peak ',
    explained('window', peak.bytes, bytes(peak.bytes), 'strong'),
    ' ',
    at(peak.step, space),
    change(data) === 0 ? '; as much after it as before' : ['; ', changed('window', change(data)), ' over it'],
    sumsOf('window', born, died),
  ];
  const partOf = ({ alive, peak, born, died }, space) => [
    `${counted(alive.count, 'buffer')}, `,
    explained('window', alive.bytes, bytes(alive.bytes), 'strong'),
    ' in all; peak ',
    explained('window', peak.bytes),
    ' ',
    at(peak.step, space),
    ` · born ${count(born.count)}, die ${count(died.count)}`,
  ];
  return {
    node,
    get data() {
      return data;
    },
    get spans() {
      return data?.offsets && data.alive.count ? [[data.alive.from, data.alive.to]] : null;
    },
    /* Its end is still to be chosen. */
    begin: (step, space) =>
      say(el('strong', {}, `A window begins at ${unitWord(space)} ${count(step)}`), ': M ends it at the moment, Esc gives it up.'),
    show(answer, space, offsets) {
      data = { ...answer, offsets };
      field.set(offsets);
      const isEmpty = offsets && answer.alive.count === 0;
      fill(
        words,
        el('strong', {}, windowTitle(data, space)),
        ': ',
        isEmpty ? 'no buffer lies there' : offsets ? partOf(answer, space) : allOf(answer, space),
      );
      node.hidden = false;
    },
    editOffsets(offsets) {
      node.hidden = false;
      field.open(offsets);
    },
    say,
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
        ...changedFacts('marks', answer),
      ),
      listOf('Born', answer.born, space, onPin),
      listOf('Die', answer.died, space, onPin),
      el('p', { class: 'dim' }, 'x swaps A and B, m clears them.'),
    ],
  };
}

const changedFacts = (key, { born, died }) =>
  [
    ['born', born],
    ['die', died],
  ].map(([word, changes]) => fact(word, changes.count === 0 ? 'none' : [`${counted(changes.count, 'buffer')}, `, explained(key, changes.bytes)]));

function listOf(word, changes, space, onPin) {
  if (changes.count === 0) return null;
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
  return folded(`${word}: ${counted(changes.count, 'buffer')}`, rows, true);
}

/* What lives for the whole program lies in allocations of its own. */
const notIn = (space) =>
  space.indefinite_bytes === 0
    ? null
    : el(
        'p',
        { class: 'dim' },
        `What lives for the whole program, ${bytes(space.indefinite_bytes)}, has no offset beside these and is not in it.`,
      );

/* The same where the window has offsets: a rectangle of the map. */
function rectangleDetails(data, space, onPin) {
  const { alive, peak, offsets } = data;
  const unit = unitWord(space);
  return {
    heading: 'Selected rectangle',
    parts: [
      facts(
        fact(`${unit}s`, windowTitle({ ...data, offsets: null }, space).replace(/^\S+ /, '')),
        fact('offsets', offsetWords(offsets)),
        fact('buffers in it', alive.count === 0 ? 'none' : [`${counted(alive.count, 'buffer')}, `, el('strong', {}, explained('window', alive.bytes))]),
        fact('at one time', ['at most ', explained('window', peak.bytes), ` at ${unit} ${count(peak.step)}`]),
        fact('one of them alive', alive.count ? [`${unit}s ${count(alive.from)} to ${count(alive.to)}`, lifeBar(alive.from, alive.to, space.step_count)] : null),
        fact('before', explained('window', data.bytes_before)),
        fact('after', explained('window', data.bytes_after)),
        ...changedFacts('window', data),
      ),
      listOf('In it', alive, space, onPin),
      listOf('Born', data.born, space, onPin),
      listOf('Die', data.died, space, onPin),
      notIn(space),
      el('p', { class: 'dim' }, 'The table lists them, a line below the strips marks them. Enter zooms to it, Esc lets it go.'),
    ],
  };
}

/* The pane while a window is selected and nothing is pinned or hovered. */
export function windowDetails(data, space, onPin) {
  if (data.offsets) return rectangleDetails(data, space, onPin);
  return {
    heading: 'Selected window',
    parts: [
      facts(
        fact('window', windowTitle(data, space)),
        fact('its peak', el('strong', {}, explained('window', data.peak.bytes)), ` at ${unitWord(space)} ${count(data.peak.step)}`),
        fact('before', explained('window', data.bytes_before)),
        fact('after', explained('window', data.bytes_after)),
        fact('change', changed('window', change(data))),
        ...changedFacts('window', data),
      ),
      listOf('Born', data.born, space, onPin),
      listOf('Die', data.died, space, onPin),
      el('p', { class: 'dim' }, 'Enter zooms to it, Esc lets it go.'),
    ],
  };
}
