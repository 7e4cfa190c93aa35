/* SPDX-License-Identifier: Apache-2.0
 * details.js: the pane at the right: an event and its partner, a group of rows, a run, or
 * what the page shows, with the programs of the same session. */

import { button, el, figure, name } from '../../lib/dom.js';
import { bytes, count, duration, exactBytes, percent, signedBytes, time, visible } from '../../lib/format.js';
import { categoryWord, categoryWords, swatch } from '../../widgets/categories.js';
import { fact, facts, stackList } from '../../widgets/details.js';
import { pairTable, sizeChange, wordChange } from '../../widgets/pair.js';
import { guessTag } from './bands.js';
import { lifeWords } from './stripes.js';
import { blockWord, guessWords, poolName, verdictWord } from './text.js';

const MAX_PROGRAMS = 5;

const isKnown = (value) => value != null && value !== '';
const sizeFact = (word, value) =>
  isKnown(value)
    ? fact(word, figure(value), ' ', value < 1024 ? null : el('span', { class: 'dim unbroken' }, exactBytes(value)))
    : null;
const text = (word, value) => (isKnown(value) ? fact(word, name(String(value))) : null);

/* What it may be that no op names, and what that rests on. */
function guessed(row) {
  if (isKnown(row.category))
    return [
      fact(
        'category',
        swatch(row.category),
        categoryWord(row.category),
        ' ',
        row.confidence === 'guess' ? guessTag() : '',
      ),
      isKnown(row.rule_text) ? fact('because', visible(row.rule_text)) : null,
    ];
  if (!isKnown(row.role)) return [];
  return [
    text('program', row.program),
    fact('role', name(row.role), ' ', row.confidence === 'guess' ? guessTag() : ''),
    isKnown(row.rule_text) ? fact('because', visible(row.rule_text)) : null,
  ];
}

/* Of what is there with others; words alone: not one by one. */
const categoryFact = (sum) =>
  fact(
    categoryWords(sum.category),
    swatch(sum.category),
    figure(sum.size_bytes),
    ' ',
    sum.category === 'unknown' || sum.guessed_bytes === 0
      ? ''
      : guessTag(sum.guessed_bytes < sum.size_bytes ? 'part guess' : 'guess'),
  );

function eventFacts(event) {
  return facts(
    fact('what', event.activity === 'deallocation' ? 'free' : 'allocation'),
    fact('time', time(event.time_ps, 1e6)),
    sizeFact('size', event.size_bytes),
    event.requested_bytes !== event.size_bytes ? sizeFact('requested', event.requested_bytes) : null,
    text('op', event.op),
    ...guessed(event),
    isKnown(event.step)
      ? fact('step', count(event.step), isKnown(event.step_num) ? ` (step_num ${count(event.step_num)})` : '')
      : null,
    text('step name', event.step_name),
    text('region', event.region),
    text('dtype', event.dtype),
    text('shape', event.shape),
    text('address', event.address),
    text('thread', event.thread),
    sizeFact('in use after', event.in_use_bytes),
    isKnown(event.change_bytes) ? fact('change', signedBytes(event.change_bytes)) : null,
    event.stack_bytes ? sizeFact('stack', event.stack_bytes) : null,
    sizeFact('free', event.free_bytes),
    event.fragmentation ? fact('fragmentation', percent(event.fragmentation, 1)) : null,
    event.follows_chain === false
      ? fact('chain', el('span', { class: 'caution' }, 'the figure does not follow from the event before'))
      : null,
  );
}

const RELATIONS = {
  never_freed: 'It is not freed in the trace.',
  before_window: 'Its allocation is not in the trace: it was allocated before the window.',
};

const actsOf = ({ time_ps: time }, goTo, stacksHref) =>
  el(
    'p',
    {},
    button('text-button', () => goTo(time), 'go to it'),
    stacksHref(time) ? [' ', el('a', { href: stacksHref(time) }, 'what is live then, by line of code')] : '',
  );

/* data: {event, partner, relation}; goTo(ps) sets the time; stacksHref(ps): what is live then by line of code, or "".
 */
export function eventDetails(data, goTo, stacksHref) {
  if (data.event.stack ?? data.partner?.stack) return allocationDetails(data, goTo, stacksHref);
  const { event, partner, relation } = data;
  const parts = [eventFacts(event), stackList(event.stack), actsOf(event, goTo, stacksHref)];
  if (partner) {
    const away = duration(Math.abs(partner.time_ps - event.time_ps));
    const word = partner.activity === 'deallocation' ? `Freed ${away} later` : `Allocated ${away} before`;
    parts.push(
      el('h3', { class: 'details-sub' }, word),
      eventFacts(partner),
      stackList(partner.stack),
      actsOf(partner, goTo, stacksHref),
    );
  } else parts.push(el('p', {}, RELATIONS[relation] ?? visible(relation)));
  return { heading: 'Event', subject: event.op ?? (guessWords(event) || (event.address ?? '')), parts, isPinned: true };
}

/* The module: the innermost line that is neither PyTorch's nor Python's. */
const lineFact = ({ line }, word = 'made in') =>
  isKnown(line) ? fact(word, el('span', { class: 'mono wrapped' }, visible(line))) : null;

/* A stripe under the pointer: what the timeline tells of it; a click tells the rest. */
export function stripeDetails({ block, made }) {
  return {
    heading: 'Allocation under the pointer',
    subject: made,
    parts: [
      facts(
        sizeFact('size', block.size_bytes),
        fact('lives', lifeWords(block)),
        ...guessed(block),
        lineFact(block),
        block.op === made ? null : text('op', block.op),
        text('shape', block.shape),
      ),
      el('p', { class: 'dim' }, 'Click it for all that is known of it.'),
    ],
  };
}

/* An allocation of a snapshot: how long it lives, then what else is known of it, and who asked for it. */
function allocationDetails({ event, partner, relation }, goTo, stacksHref) {
  const isBefore = relation === 'before_window';
  const [born, freed] = isBefore
    ? [null, event]
    : event.activity === 'allocation'
      ? [event, partner]
      : [partner, event];
  const own = born ?? freed;
  return {
    heading: 'Allocation',
    subject: born?.line ?? born?.op ?? own.address ?? '',
    isPinned: true,
    parts: [
      facts(
        sizeFact('size', own.size_bytes),
        fact('lives', lifeWords({ born_ps: born?.time_ps, freed_ps: freed?.time_ps })),
        ...guessed(own),
        born
          ? [
              lineFact(born),
              born.op === born.line ? null : text('op', born.op),
              isKnown(born.step) ? fact('step', count(born.step)) : null,
              text('region', born.region),
            ]
          : null,
        text('address', own.address),
        born ? sizeFact('in use after', born.in_use_bytes) : null,
      ),
      born
        ? [
            stackList(born.stack, true) ?? el('p', { class: 'dim' }, 'No stack was recorded.'),
            actsOf(born, goTo, stacksHref),
          ]
        : el('p', {}, RELATIONS.before_window),
      freed
        ? [
            el('h3', { class: 'details-sub' }, 'Where it is freed'),
            facts(fact('at', time(freed.time_ps, 1e6)), lineFact(freed, 'freed in'), text('op', freed.op)),
            stackList(freed.stack, !born),
            actsOf(freed, goTo, stacksHref),
          ]
        : null,
    ],
  };
}

/* A block that no event speaks of: the view "block". */
export function blockDetails(block) {
  return {
    heading: 'Allocation',
    subject: block.line ?? block.op ?? block.address,
    isPinned: true,
    parts: [
      facts(
        sizeFact('size', block.size_bytes),
        block.rounded_bytes !== block.size_bytes ? sizeFact('its block', block.rounded_bytes) : null,
        fact('lives', lifeWords({})),
        ...guessed(block),
        lineFact(block),
        text('op', block.op),
        text('region', block.region),
        text('address', block.address),
        block.state === 'pending_free' ? fact('state', blockWord(block.state)) : null,
      ),
      stackList(block.stack, true) ??
        el('p', { class: 'dim' }, 'No stack was recorded: it was allocated before the recording began.'),
    ],
  };
}

/* What the pane says of B, with A beside it; a, b: items of stripes.js, or null; all: of the recording. */
export function withPair(shown, a, b, all, onEnd) {
  if (!a || !b || a.id === b.id) return shown;
  const ends = ({ block: { born_ps: born, freed_ps: freed } }) => [born ?? all[0], freed ?? all[1]];
  const [[bornA, freedA], [bornB, freedB]] = [ends(a), ends(b)];
  const signed = (ps) => (ps === 0 ? 'the same' : `${ps < 0 ? '−' : '+'}${duration(Math.abs(ps))}`);
  const end = (ps, own) => (own == null ? 'not recorded' : time(ps, 1e6));
  const rows = [
    ['size', bytes(a.bytes), bytes(b.bytes), sizeChange(a.bytes, b.bytes)],
    ['born', end(bornA, a.block.born_ps), end(bornB, b.block.born_ps), signed(bornB - bornA)],
    ['freed', end(freedA, a.block.freed_ps), end(freedB, b.block.freed_ps), signed(freedB - freedA)],
    ['lives', duration(freedA - bornA), duration(freedB - bornB), signed(freedB - bornB - freedA + bornA)],
    a.kind || b.kind
      ? [
          a.block.category === undefined ? 'shape' : 'category',
          a.kind || '–',
          b.kind || '–',
          wordChange(a.kind, b.kind),
        ]
      : null,
    ['made by', visible(a.made), visible(b.made), wordChange(a.made, b.made)],
  ];
  return {
    ...shown,
    parts: [pairTable(a.name || a.made, b.name || b.made, rows.filter(Boolean), onEnd), ...shown.parts],
  };
}

/* A row of what is live that stands for several events. list() shows them one by one; stack: of one of them, or null.
 */
export function groupDetails(row, list, stack) {
  return {
    heading: row.isRemainder ? 'Remainder' : 'Group',
    subject: row.isRemainder ? '' : (row.op ?? guessWords(row)),
    isPinned: true,
    parts: [
      row.isRemainder ? el('p', {}, visible(row.text)) : null,
      facts(
        sizeFact('size', row.size_bytes),
        row.isRemainder ? null : sizeFact('requested', row.requested_bytes),
        isKnown(row.count) ? fact('count', count(row.count)) : null,
        row.count > 1 && row.size_bytes ? fact('each', bytes(row.size_bytes / row.count)) : null,
        isKnown(row.step) ? fact('step', count(row.step)) : null,
        ...(row.isRemainder ? (row.categories ?? []).map(categoryFact) : guessed(row)),
        text('region', row.region),
        text('dtype', row.dtype),
        text('shape', row.shape),
        isKnown(row.born_bytes) ? fact('born A–B', bytes(row.born_bytes), ` in ${count(row.born_count)}`) : null,
        isKnown(row.died_bytes) ? fact('died A–B', bytes(row.died_bytes), ` in ${count(row.died_count)}`) : null,
      ),
      stack && row.count > 1 ? el('h3', { class: 'details-sub' }, 'Stack of one of them') : null,
      stackList(stack),
      row.isRemainder ? null : el('p', {}, button('text-button', list, 'one by one')),
    ],
  };
}

const ABSENT = {
  w: ['Growth', 'No row of growth has this op, data type and shape.'],
  s: ['Step', 'No step of this trace begins and ends there.'],
  l: ['Program launch', 'No launch of this trace begins and ends there.'],
};

/* kind: of a pin that names nothing that is there now. */
export function absentDetails(kind) {
  const [heading, words] = ABSENT[kind] ?? ['Group', 'Nothing that is pinned is live at this time.'];
  return { heading, subject: '', isPinned: true, parts: [el('p', {}, words)] };
}

export function growthDetails(row, list) {
  return {
    heading: 'Growth',
    subject: row.op ?? guessWords(row),
    isPinned: true,
    parts: [
      el('p', {}, `${visible(row.sentence)}.`),
      facts(
        fact('verdict', verdictWord(row.verdict)),
        sizeFact('first', row.first_bytes),
        sizeFact('last', row.last_bytes),
        sizeFact('largest', row.largest_bytes),
        fact('allocations', `${count(row.first_count)} → ${count(row.last_count)}`),
        ...guessed(row),
        text('dtype', row.dtype),
        text('shape', row.shape),
      ),
      el('p', {}, button('text-button', list, 'show its allocations')),
    ],
  };
}

/* A launch of a program; href: its plan in the Memory Viewer. */
export function runDetails({ kind, item, isInferred }, href) {
  const isLaunch = kind === 'launch';
  return {
    heading: isLaunch ? 'Program launch' : 'Step',
    subject: isLaunch ? item.name : '',
    isPinned: true,
    parts: [
      facts(
        isLaunch ? null : fact('step', count(item.step)),
        isKnown(item.step_num) ? fact('step_num', count(item.step_num)) : null,
        fact('from', time(item.start_ps, 1e6)),
        fact('to', time(item.end_ps, 1e6)),
        fact('length', duration(item.end_ps - item.start_ps)),
        isLaunch && item.program_id ? text('program id', item.program_id) : null,
        isInferred ? fact('source', el('span', { class: 'inferred' }, 'inferred from its kernels')) : null,
      ),
      href ? el('p', {}, el('a', { href }, 'Its plan in the Memory Viewer')) : null,
    ],
  };
}

export function readingDetails(reading) {
  return {
    heading: reading.activity ? 'Event under the pointer' : 'Under the pointer',
    subject: reading.op ?? guessWords(reading),
    parts: [eventFacts({ ...reading, change_bytes: null })],
  };
}

/* What the page shows. programs: [{name, href, bytes}] of the same session. */
export function pageDetails(pool, programs) {
  const { chain } = pool;
  return {
    heading: 'This page',
    subject: poolName(pool),
    parts: [
      facts(
        sizeFact('peak', pool.peak.in_use_bytes),
        fact('at', time(pool.peak.time_ps, 1e6)),
        sizeFact('capacity', pool.capacity_bytes),
        pool.capacity_source ? fact('its source', visible(pool.capacity_source)) : null,
        ...(pool.categories ?? []).map(categoryFact),
        sizeFact('min', pool.min_bytes),
        sizeFact('first', pool.first_bytes),
        sizeFact('last', pool.last_bytes),
        sizeFact(`${pool.free_word} at peak`, pool.peak.free_bytes),
        sizeFact('reserved at peak', pool.reserved_bytes),
        fact('events', count(pool.event_count)),
        fact('never freed', count(pool.never_freed_count)),
        fact('freed, from before the trace', count(pool.before_window_count)),
        fact(
          'total after each event',
          chain.break_count
            ? el(
                'span',
                { class: 'caution' },
                `${count(chain.break_count)} of ${count(chain.link_count)} do not follow from the one before`,
              )
            : `follows from the one before, ${count(chain.link_count)} times`,
        ),
      ),
      programs.length
        ? [
            el('h3', { class: 'details-sub' }, 'Plans of the same session'),
            el(
              'ul',
              { class: 'programs' },
              programs
                .slice(0, MAX_PROGRAMS)
                .map((program) =>
                  el(
                    'li',
                    {},
                    el('a', { href: program.href }, name(program.name)),
                    ' ',
                    program.bytes ? figure(program.bytes) : '',
                  ),
                ),
            ),
          ]
        : null,
    ],
  };
}
