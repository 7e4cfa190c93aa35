/* SPDX-License-Identifier: Apache-2.0
 * window.js: what the selected window says, and what lies between two marks: which buffers
 * are born and die there, the largest by name. */

import { button, consume, el, fill, nameInline } from '../../lib/dom.js';
import { parseSize } from '../../lib/capacity.js';
import { baseName, bytes, capital, count, counted, signedBytes } from '../../lib/format.js';
import { fact, facts, folded, lifeBar } from '../../widgets/details.js';
import { explained } from '../../widgets/explain.js';
import { lineButton, selectedLine, windowLine } from '../../widgets/window_line.js';
import { offsetWords, unitWord, windowWords } from './text.js';

/* Pure: "Steps 100 to 199", "Position 7, offsets 0 B to 1.00 GiB". */
const windowTitle = ({ from, to, offsets }, space) => capital(windowWords(space, [from, to - 1], offsets));

const NO_RANGE = 'No range of offsets: it takes two, the smaller first, as 1GiB..2GiB';

function readOffset(text) {
  if (/^0+(\.0+)?\s?([KMGT]i?)?B?$/i.test(text)) return 0;
  return /^\d{1,15}(\s?B)?$/i.test(text) ? parseInt(text, 10) : parseSize(text);
}

/* Pure: "1GiB..1.5GiB", "1.00 to 2.00 GiB", "0 – 65,536" → [low, high), or null. A first one without a unit has the
 * second's. */
export function readOffsets(text) {
  const words = text.trim().replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const [, unit] = /([a-z]*)$/i.exec(words);
  const parts = words.split(/\s*(?:\.\.|[–-]|\bto\b)\s*/);
  const [low, high] = parts.map((part) => readOffset(/\d$/.test(part) ? part + unit : part));
  return parts.length === 2 && low != null && high != null && low < high ? [low, high] : null;
}

/* Pure: the same back, in the largest unit that says it exactly. */
export function typedOffsets(offsets) {
  const typed = (value) => {
    const power = [4, 3, 2, 1].find((each) => value > 0 && value % 1024 ** each === 0);
    return power ? `${value / 1024 ** power}${' KMGT'[power]}iB` : value ? `${value}B` : '0';
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

const changed = (key, by, className = '') =>
  explained(key, Math.abs(by), by === 0 ? 'none' : signedBytes(by), className);

/* Where the pane is a drawer: opens it. */
const namesButton = (onNames) => lineButton('Names', 'q', onNames, 'to-pane');

/* A button, and the field that it opens: the offsets of the window. onEdit() when it is pressed, onRefused(sentence),
 * onClosed(). Out: {opener, input, open(offsets, onOffsets([low, high) | null))}. */
function offsetsField({ onEdit, onRefused, onClosed }) {
  let onOffsets = null;
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
        consume(event);
      },
      input: () => input.removeAttribute('aria-invalid'),
      blur: () => close(),
    },
  });
  const open = (now, hear) => {
    onOffsets = hear;
    input.value = typedOffsets(now);
    input.removeAttribute('aria-invalid');
    opener.hidden = true;
    input.hidden = false;
    input.select();
    input.focus();
  };
  const opener = lineButton('Offsets', 'o', onEdit);
  const close = () => {
    if (input.hidden) return;
    const isFocused = document.activeElement === input;
    input.hidden = true;
    opener.hidden = false;
    if (isFocused) opener.focus();
    onClosed();
  };
  const take = () => {
    const text = input.value.trim();
    const next = text ? readOffsets(text) : null;
    if (text && !next) {
      input.setAttribute('aria-invalid', 'true');
      onRefused(NO_RANGE);
      return;
    }
    close();
    onOffsets(next);
  };
  return { opener, input, open };
}

/* Hidden; the focus that was in it goes to the picture. */
function putAway(node) {
  if (node.contains(document.activeElement))
    node.parentElement.querySelector('[role="slider"], [role="listbox"]')?.focus({ preventScroll: true });
  node.hidden = true;
}

/* A line under the title of the curve. actions: onZoom(), onNames(), onClear(), onMoment(step), onEdit(). Out: {node,
 * data, spans, begin(step, space), show(answer, space, offsets), editOffsets(offsets, words, onOffsets([low, high) |
 * null)), say(text), clear()}; spans: steps in which what a window with offsets holds lives. */
export function createWindowLine({ onZoom, onNames, onClear, onMoment, onEdit }) {
  let data = null;
  let begun = null; // what begin() said: {step, space}
  let kept = null; // what stands there again once the field closes; []: nothing
  const field = offsetsField({
    onEdit,
    onRefused(sentence) {
      kept ??= [...words.childNodes];
      fill(words, sentence);
    },
    onClosed() {
      if (kept?.length === 0) clear();
      else if (kept) fill(words, kept);
      kept = null;
    },
  });
  const { node, words, zoom } = selectedLine(onZoom, onClear, [field.opener, field.input, namesButton(onNames)]);
  const put = (...said) => {
    fill(words, ...said);
    begun = null;
    kept = null;
    zoom.hidden = false;
    node.hidden = false;
  };
  const clear = () => {
    data = null;
    begun = null;
    putAway(node);
  };
  const at = (step, space) => button('link-button', () => onMoment(step), `at ${unitWord(space)} ${count(step)}`);
  const allOf = ({ peak, born, died }, space) => [
    'peak ',
    explained('window', peak.bytes, bytes(peak.bytes), 'strong'),
    ' ',
    at(peak.step, space),
    change(data) === 0 ? '; as much after it as before' : ['; ', changed('window', change(data)), ' over it'],
    sumsOf('window', born, died),
  ];
  const partOf = ({ alive, peak, born, died }, space) => [
    'peak ',
    explained('window', peak.bytes, bytes(peak.bytes), 'strong'),
    ' ',
    at(peak.step, space),
    `; ${counted(alive.count, 'buffer')}, `,
    explained('window', alive.bytes),
    ` in all · born ${count(born.count)}, die ${count(died.count)}`,
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
    begin(step, space) {
      if (begun?.step === step && begun.space === space) return;
      data = null;
      put(
        el('strong', {}, `A window begins at ${unitWord(space)} ${count(step)}`),
        ': M ends it at the current moment, Esc cancels it.',
      );
      begun = { step, space };
      zoom.hidden = true;
    },
    show(answer, space, offsets) {
      data = { ...answer, offsets };
      const isEmpty = offsets && answer.alive.count === 0;
      put(
        el('strong', {}, windowTitle(data, space)),
        ': ',
        isEmpty ? 'no buffer lies there' : offsets ? partOf(answer, space) : allOf(answer, space),
      );
    },
    /* Where no window is said yet, the words stand there while the field is open. */
    editOffsets(offsets, said, onOffsets) {
      if (node.hidden) {
        put(said);
        kept = [];
        zoom.hidden = true;
      }
      field.open(offsets, onOffsets);
    },
    say(text) {
      data = null;
      put(text);
    },
    clear,
  };
}

/* Pure: between the step behind the earlier mark and the later one; answer of "window". Out: {a, b} bytes live at each.
 */
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
    button('link-button', () => onMoment(step), `${unitWord(space)} ${count(step)}`),
    live == null ? '' : [' ', explained('marks', live)],
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
        const [name, step] = marks.a == null ? ['B', marks.b] : ['A', marks.a];
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
      putAway(node);
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
  ].map(([word, changes]) =>
    fact(word, changes.count === 0 ? 'none' : [`${counted(changes.count, 'buffer')}, `, explained(key, changes.bytes)]),
  );

function listOf(word, changes, space, onPin) {
  if (changes.count === 0) return null;
  const more = changes.count - changes.largest.length;
  const rows = changes.largest.map((item) =>
    el(
      'li',
      {},
      button('link-button', () => onPin(item), nameInline(item.name, 40)),
      ' ',
      explained(`size:${item.id}`, item.bytes),
      el('span', { class: 'dim' }, ` ${unitWord(space)} ${count(item.step)}`),
      item.source ? [' ', nameInline(baseName(item.source), 40)] : null,
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
        `What lives for the whole program, ${bytes(space.indefinite_bytes)}, has no offset on this map and is not ` +
          `included.`,
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
        fact(
          'buffers in it',
          alive.count === 0
            ? 'none'
            : [`${counted(alive.count, 'buffer')}, `, el('strong', {}, explained('window', alive.bytes))],
        ),
        fact('at one time', ['at most ', explained('window', peak.bytes), ` at ${unit} ${count(peak.step)}`]),
        fact(
          'lives',
          alive.count
            ? [
                `first born ${count(alive.from)}, last dies ${count(alive.to)}`,
                lifeBar(alive.from, alive.to, space.step_count),
              ]
            : null,
        ),
        fact('before', explained('window', data.bytes_before)),
        fact('after', explained('window', data.bytes_after)),
        ...changedFacts('window', data),
      ),
      listOf('In it', alive, space, onPin),
      listOf('Born', data.born, space, onPin),
      listOf('Die', data.died, space, onPin),
      notIn(space),
      el(
        'p',
        { class: 'dim' },
        `${alive.count ? 'The table lists them; a line below the strips marks them. ' : ''}Enter zooms to it, Esc ` +
          `releases it.`,
      ),
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
        fact(
          'its peak',
          el('strong', {}, explained('window', data.peak.bytes)),
          ` at ${unitWord(space)} ${count(data.peak.step)}`,
        ),
        fact('before', explained('window', data.bytes_before)),
        fact('after', explained('window', data.bytes_after)),
        fact('change', changed('window', change(data))),
        ...changedFacts('window', data),
      ),
      listOf('Born', data.born, space, onPin),
      listOf('Die', data.died, space, onPin),
      el('p', { class: 'dim' }, 'Enter zooms to it, Esc releases it.'),
    ],
  };
}
