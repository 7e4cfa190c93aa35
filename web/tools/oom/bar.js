/* SPDX-License-Identifier: Apache-2.0
 * bar.js: where the memory went, as one bar held against what there was. `barOf` is pure; what the
 * text does not itemise has a named part, so that the parts are the whole. Red is only what lies above
 * the limit. */

import { el, figure } from '../../lib/dom.js';
import { bytes, percent, visible } from '../../lib/format.js';
import { overOf } from './text.js';

const NEAR = 0.01;
const isKnown = (value) => value !== null && value !== undefined;
const sum = (parts) => parts.reduce((all, part) => all + part.bytes, 0);

/* Parts with a figure: [[word, key, look]]. */
function partsOf(failure, rows) {
  return rows
    .filter(([, key]) => failure[key] > 0)
    .map(([word, key, look]) => ({ word, bytes: failure[key], key, look }));
}

/* Fragmentation is a part of the program's memory: shown as its own. */
function withoutFragmentation(parts, failure) {
  const lost = failure.fragmentation_bytes ?? 0;
  const program = parts.find((part) => part.key === 'program_bytes' || part.key === 'requirement_bytes');
  if (!program || lost <= 0 || lost >= program.bytes) return parts;
  const at = parts.indexOf(program);
  return [
    ...parts.slice(0, at),
    { ...program, bytes: program.bytes - lost, isDifference: true },
    { word: 'fragmentation', bytes: lost, key: 'fragmentation_bytes', look: 'lost' },
    ...parts.slice(at + 1),
  ];
}

/* The rows of a compiler's report that add up to what it asks for: newer releases leave the reserved part out. */
function planParts(failure) {
  const rows = [
    ['arguments', 'arguments_bytes', 'parameter'],
    ['temporaries and code', isKnown(failure.program_bytes) ? 'program_bytes' : 'requirement_bytes', 'temporary'],
  ];
  const some = partsOf(failure, rows);
  const all = [...some, ...partsOf(failure, [['reserved', 'reserved_bytes', 'unknown']])];
  const whole = failure.needed_bytes;
  const parts = Math.abs(sum(all) - whole) < Math.abs(sum(some) - whole) ? all : some;
  const rest = whole - sum(parts);
  if (parts.length && rest > whole * NEAR)
    parts.push({ word: 'outputs and what is not itemised', bytes: rest, key: null, look: 'output' });
  return withoutFragmentation(parts, failure);
}

function planBar(failure) {
  const isOneBuffer = failure.form === 'allocation_exceeds' || failure.form === 'scoped_vmem';
  const whole = failure.needed_bytes;
  const parts = isOneBuffer ? [{ word: failure.form === 'scoped_vmem' ? 'one kernel' : 'one buffer', bytes: whole, key: 'needed_bytes', look: 'temporary' }] : planParts(failure);
  if (!parts.length) parts.push({ word: 'not itemised in the text', bytes: whole, key: 'needed_bytes', look: 'unknown' });
  return { parts, limit: limitOf(failure, [['capacity', 'capacity_bytes']]) };
}

function coresBar(failure) {
  const looks = ['temporary', 'parameter'];
  const parts = failure.buffers.map((buffer, at) => ({
    word: visible(buffer.label ?? 'part'),
    bytes: buffer.size_bytes,
    key: `buffers.${at}.size_bytes`,
    look: looks[at % 2],
  }));
  return { parts, limit: limitOf(failure, [['capacity', 'capacity_bytes']]) };
}

function limitOf(failure, rows) {
  const found = rows.find(([, key]) => isKnown(failure[key]));
  return found ? { word: found[0], bytes: failure[found[1]], key: found[1] } : null;
}

/* A GPU's plan: what the program holds in all; the request is one piece of it. */
function assignmentBar(failure) {
  const parts = withoutFragmentation(
    partsOf(failure, [
      ['parameters', 'arguments_bytes', 'parameter'],
      ['outputs', 'output_bytes', 'output'],
      ['temporaries', 'program_bytes', 'temporary'],
    ]),
    failure,
  );
  const rest = failure.total_bytes - sum(parts);
  if (rest > failure.total_bytes * NEAR) parts.push({ word: 'constants and others', bytes: rest, key: null, look: 'constant' });
  return { parts, limit: null, of: 'the plan of the whole program' };
}

/* At run time: what is taken, and the request beside it. */
function requestBar(failure) {
  const request = { word: 'asked', bytes: failure.needed_bytes, key: 'needed_bytes', look: 'temporary' };
  const { capacity_bytes: capacity, total_bytes: used } = failure;
  if (isKnown(capacity) && isKnown(used) && ['gpu_bfc', 'tpu_buffer', 'gpu_xla'].includes(failure.family)) {
    const before = { word: 'in use', bytes: used, key: 'total_bytes', look: 'parameter' };
    return { parts: [before, request], limit: limitOf(failure, [['limit', 'capacity_bytes']]) };
  }
  const limit = limitOf(failure, [
    ['largest hole', 'largest_free_bytes'],
    ['reservable', 'available_bytes'],
    ['free', 'free_bytes'],
    ['capacity', 'capacity_bytes'],
  ]);
  return { parts: [request], limit };
}

/* {parts: [{word, bytes, key, look}], limit: {word, bytes, key} | null, whole, over, overWord, overText, of} or null. */
export function barOf(failure) {
  const isPlan = failure.phase === 'compile';
  let bar = null;
  if (failure.form === 'core_usage') bar = coresBar(failure);
  else if (isPlan && failure.needed_bytes > 0) bar = planBar(failure);
  else if (!isPlan && failure.total_bytes > 0 && isKnown(failure.arguments_bytes)) bar = assignmentBar(failure);
  else if (!isPlan && failure.needed_bytes > 0) bar = requestBar(failure);
  if (!bar || !bar.parts.length) return null;
  const whole = sum(bar.parts);
  const over = bar.limit ? Math.max(0, whole - bar.limit.bytes) : 0;
  const told = overOf(failure);
  const overText = told?.bytes === over ? told.text : bytes(over);
  return { of: '', overWord: isPlan ? 'over' : 'short', overText: overText ?? bytes(over), ...bar, whole, over };
}

/* Pure: the bar as a sentence. */
export function barText(bar) {
  const parts = bar.parts.map((part) => `${part.word} ${bytes(part.bytes)}`).join(', ');
  const limit = bar.limit ? ` Held against ${bar.limit.word} ${bytes(bar.limit.bytes)}${bar.over > 0 ? `, ${bar.overWord ?? 'over'} by ${bar.overText ?? bytes(bar.over)}` : ''}.` : '';
  return `${parts}: ${bytes(bar.whole)} in all.${limit}`;
}

const share = (part, whole) => `${(100 * part) / Math.max(1, whole)}%`;

function piece(className, size, scale, attributes = {}) {
  const node = el('span', { class: className, ...attributes });
  node.style.width = share(size, scale);
  return node;
}

/* figureOf(bytes, key, className) → the node of a figure that lights its range. */
export function drawBar(bar, figureOf) {
  const scale = Math.max(bar.whole, bar.limit?.bytes ?? 0);
  const track = el(
    'div',
    { class: 'oom-bar', role: 'img', 'aria-label': barText(bar) },
    bar.parts.map((part) =>
      piece(`oom-part look-${part.look}`, part.bytes, scale, { title: `${part.word} ${bytes(part.bytes)}`, 'data-key': part.key }),
    ),
  );
  const held = bar.limit
    ? el(
        'div',
        { class: 'oom-limit', 'aria-hidden': 'true' },
        piece('oom-within', Math.min(bar.limit.bytes, scale), scale, { 'data-key': bar.limit.key }),
        bar.over > 0 ? piece('oom-over', bar.over, scale) : null,
      )
    : null;
  return el('div', { class: 'oom-bars' }, track, held, drawLegend(bar, figureOf));
}

function drawLegend(bar, figureOf) {
  const of = (part) => el('span', { class: 'dim' }, ` ${percent(part, bar.whole)} of all`);
  return el(
    'ul',
    { class: 'oom-legend', 'aria-label': 'What the bar is made of' },
    bar.parts.map((part) =>
      el(
        'li',
        {},
        el('span', { class: `swatch look-${part.look}`, 'aria-hidden': 'true' }),
        `${part.word} `,
        part.key && !part.isDifference ? figureOf(part.bytes, part.key) : figure(part.bytes, bytes(part.bytes), 'strong'),
        bar.parts.length > 1 ? of(part.bytes) : null,
      ),
    ),
    bar.parts.length > 1 ? el('li', {}, 'in all ', figure(bar.whole, bytes(bar.whole), 'strong'), bar.of ? el('span', { class: 'dim' }, ` ${bar.of}`) : null) : null,
    bar.limit
      ? el('li', {}, el('span', { class: 'key-line', 'aria-hidden': 'true' }), `${bar.limit.word} `, figureOf(bar.limit.bytes, bar.limit.key))
      : null,
    bar.over > 0
      ? el('li', {}, el('span', { class: 'key-line key-over', 'aria-hidden': 'true' }), `${bar.overWord ?? 'over'} by `, figure(bar.over, bar.overText ?? bytes(bar.over), 'strong over'))
      : null,
  );
}
