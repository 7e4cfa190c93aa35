/* SPDX-License-Identifier: Apache-2.0
 * text.js: the words of the comparison. Sentences come from the daemon; here is what stands beside them. Pure. */

import { bytes, capital, count, counted, exactBytes, literal, percent, signedBytes } from '../../lib/format.js';
import { parseReference, referenceText } from '../../lib/reference.js';
import { facts, fact } from '../../widgets/details.js';

const GROUP = /(^|\s)group:(\d+)(?=\s|$)/;
const TERM = /(^|\s)cat:([a-z_,]+)(?=\s|$)/;

/* ▲ and ▼ beside the sign: nothing is told by colour alone. */
export const arrow = (delta) => (delta > 0 ? '▲' : delta < 0 ? '▼' : '');

/* The category that the filter shows alone, or "". */
export const categoryOf = (filter) => TERM.exec(filter)?.[2] ?? '';

/* The filter with only that category; without it where it was alone. */
export function toggledCategory(filter, category) {
  const rest = filter.replace(TERM, ' ').trim();
  return [categoryOf(filter) === category ? '' : `cat:${category}`, rest].filter(Boolean).join(' ');
}

/* Names of files in it are told as they are. */
export const literalSentence = ({ sentence }) => literal(sentence);

const changeOf = ({ total_before: before, total_after: after }) => after - before;

/* "+437.59 MiB" */
export const changeWords = (data) => (changeOf(data) === 0 ? 'the same' : signedBytes(changeOf(data)));

export function matchedSentence({ matched_bytes: matched, compared_bytes: all, is_of_steps: isOfSteps }) {
  const what = isOfSteps
    ? 'Compares what is live at the two steps'
    : 'Compares the compiler’s totals, including fragmentation';
  return `${what}; ${percent(matched, all)} of the live bytes have a partner on the other side.`;
}

/* Why the daemon refused, as a sentence. */
export const refusal = (error) =>
  capital(literal(error.message.replace(/^these two cannot be compared: /, ''))).replace(/\.?$/, '.');

/* The same two, at steps of a place that was clicked. */
export function sidesAt(sides, data, steps) {
  const at = (reference, step) => referenceText({ ...parseReference(reference), step: step ?? '' });
  return { a: at(sides.a, steps.a), b: at(sides.b, steps.b) };
}

/* ---- waterfall ---- */

/* A part that the table can show alone: a category, or a call site (whose `group` is its number). */
export const isPart = ({ category, group, isTotal }) =>
  !isTotal && (group != null || (category !== '' && category !== 'fragmentation'));

/* Bars from A to B: {label, category, group, delta, from, to, isTotal}; group: only of a call site. */
export function barsOf({ total_before: before, total_after: after, waterfall, is_of_steps: isOfSteps }) {
  const total = (word, value) => ({ label: word, category: '', delta: value, from: 0, to: value, isTotal: true });
  let at = before;
  const parts = waterfall
    .filter(({ bytes: delta, category }) => delta !== 0 || (category === 'fragmentation' && !isOfSteps))
    .map(({ label, category, bytes: delta, group }) => {
      const from = at;
      at += delta;
      return { label, category, group, delta, from, to: at, isTotal: false };
    });
  return [total('A', before), ...parts, total('B', after)];
}

export function barSentence({ label, delta, to, isTotal }) {
  return isTotal
    ? `${label}: ${bytes(delta)}.`
    : `${capital(label)}: ${delta === 0 ? 'no change' : signedBytes(delta)}, ${bytes(to)} so far.`;
}

export function barLines(bar) {
  if (bar.isTotal) return [[`${bar.label} ${bytes(bar.delta)}`], [exactBytes(bar.delta)]];
  const sign = bar.delta > 0 ? '+' : '';
  return [
    [`${arrow(bar.delta)} ${bar.label} ${signedBytes(bar.delta)}`],
    [`${sign}${exactBytes(bar.delta)}`],
    bar.category === 'fragmentation'
      ? ['Allocations minus what is live in them']
      : isPart(bar)
        ? ['Click: only these in the table']
        : ['All smaller changes'],
  ];
}

export const waterfallLabel = (data) =>
  `From A to B. A ${bytes(data.total_before)}, B ${bytes(data.total_after)}, ` +
  `${counted(data.waterfall.filter((part) => part.bytes !== 0).length, 'change')} in between.`;

/* ---- device profiles ---- */

/* The filter with that call site alone; without it where it was alone. */
export function toggledSite(filter, group) {
  const rest = filter.replace(GROUP, ' ').trim();
  return [siteOf(filter) === group ? '' : `group:${group}`, rest].filter(Boolean).join(' ');
}

/* The call site that the filter shows alone, or null. */
export function siteOf(filter) {
  const found = GROUP.exec(filter);
  return found ? Number(found[2]) : null;
}

/* What is counted, and how many differ. */
export function sitesSentence({ counts, site_count: sites }) {
  const changed = sites - counts.same;
  return (
    `Counts live arrays and code, as pprof -diff_base does; ${count(changed)} of ${counted(sites, 'call site')} ` +
    `${changed === 1 ? 'differs' : 'differ'}.`
  );
}

/* ---- curves ---- */

const scopeWords = (scope) => (scope ? literal(scope) : 'no scope recorded');
const between = ({ a, b }) => (a.bytes === b.bytes ? 'the same' : signedBytes(b.bytes - a.bytes));

export const placeLines = (reading) => [
  [scopeWords(reading.scope)],
  [`A ${bytes(reading.a.bytes)} · B ${bytes(reading.b.bytes)} · ${between(reading)}`],
  [`step ${count(reading.a.step)} of A, ${count(reading.b.step)} of B`],
];

/* "layer_3/mlp: A 3.20 GiB at step 40, B 4.10 GiB at step 52, +921.60 MiB." */
export const placeSentence = (reading) =>
  `${capital(scopeWords(reading.scope))}: A ${bytes(reading.a.bytes)} at step ${count(reading.a.step)}, B ` +
  `${bytes(reading.b.bytes)} at step ${count(reading.b.step)}, ${between(reading)}.`;

export function curvesLabel({ a, b }) {
  return (
    `Live bytes of A and B along one axis. A ${bytes(a.bytes)} at step ${count(a.step ?? 0)}, B ` +
    `${bytes(b.bytes)} at step ${count(b.step ?? 0)}.`
  );
}

/* ---- details ---- */

export function wholeParts(data) {
  const side = (
    name,
    { module, space_name: space, live_bytes: live, live_count: many, peak_scope: scope, total_bytes: total },
  ) => [
    fact(`${name}, module`, literal(module)),
    fact(`${name}, ${space}`, `${bytes(total)} allocated`),
    fact(`${name}, live`, `${bytes(live)} in ${counted(many, 'buffer')}`),
    fact(`${name}, peak at`, scope ? literal(scope) : ''),
  ];
  return [facts(...side('A', data.a), ...side('B', data.b))];
}
