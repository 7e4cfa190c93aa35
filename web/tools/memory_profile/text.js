/* SPDX-License-Identifier: Apache-2.0
 * text.js: what the Memory Profile says, in sentences. Pure: answers of the
 * daemon in, plain text and figures out. A part is a string, {bytes, text, role} or {name}; explain: the key of its
 * card. */

import {
  bytes,
  bytesApart,
  count,
  counted,
  cutMiddle,
  duration,
  percent,
  signedBytes,
  spokenBytes,
  time,
  visible,
} from '../../lib/format.js';
import { sentenceParts } from '../../lib/finding.js';
import { categoryWords } from '../../widgets/categories.js';

const part = (value, text = bytes(value), role = '', explain = '') => ({ bytes: value, text, role, explain });
const short = (text, max = 60) => cutMiddle(visible(text), max);

const CARDS = {
  largest_hole: 'hole',
  unknown: 'unknown',
  largest_chunk: 'chunk',
  largest_request: 'request',
  lifetime_peak: 'lifetime',
};

/* Sentences of the core (`said`, `course`); a figure that has a card opens it. None without them. */
export const told = (said) =>
  (said?.parts ?? []).map((one) => {
    if (one.name !== undefined) return { name: short(one.name) };
    return one.bytes === undefined ? visible(one) : part(one.bytes, one.text, '', CARDS[one.figure]);
  });

/* "GPU_0_bfc" as it stands; a bare number is a TPU core of the host. */
export function poolName(pool) {
  if (pool.memory === '(none)') return '(no memory id)';
  return /^\d+$/.test(pool.memory) ? `TPU ${pool.memory}` : visible(pool.memory);
}

const stepWords = (step) => (step == null ? '' : ` (step ${count(step)})`);

/* "GPU_0_bfc reached 70.10 of 80.00 GiB at 812.4 ms (step 3)." */
export function answer(pool, hostCount = 1) {
  const { peak, capacity_bytes: capacity } = pool;
  const [used, whole] = capacity ? bytesApart(peak.in_use_bytes, capacity) : [bytes(peak.in_use_bytes), ''];
  const isSameUnit = whole && used.split(' ')[1] === whole.split(' ')[1];
  const of = capacity ? [' of ', part(capacity, whole, '', 'capacity')] : [];
  return [
    { name: poolName(pool) },
    ...(hostCount > 1 ? [' of ', { name: pool.host_name }] : []),
    pool.end ? ' held ' : ' reached ',
    part(peak.in_use_bytes, isSameUnit ? used.split(' ')[0] : used, 'main', 'peak'),
    ...of,
    pool.end ? ' at the end of the snapshot' : ` at ${time(peak.time_ps)}${stepWords(peak.step)}`,
    ...piecesWords(pool),
    ...mostOf(pool),
    '.',
    pool.named?.sentence ? ` ${visible(pool.named.sentence)}.` : '',
  ];
}

/* "; 11.38 GiB of it are saved activations": of an allocator snapshot what holds most at the peak. */
function mostOf({ categories, failure_categories: atFailure }) {
  const known = (categories ?? []).filter(({ category }) => category !== 'unknown');
  const most = known.reduce((found, one) => (one.size_bytes > (found?.size_bytes ?? 0) ? one : found), null);
  if (!most) return [];
  const words = categoryWords(most.category);
  const then = atFailure && (atFailure.find(({ category }) => category === most.category)?.size_bytes ?? 0);
  const isOther = then != null && bytes(then) !== bytes(most.size_bytes);
  return [
    '; ',
    part(most.size_bytes),
    ` of it ${words.endsWith('s') ? 'are' : 'is'} ${words}`,
    ...(isOther ? [', ', part(then), ' when the last request failed'] : []),
  ];
}

/* "; the largest free piece is 5.84 GiB of 9.90 GiB free", where the core says that it matters. */
function piecesWords({ is_peak_free_in_pieces: isInPieces, peak_largest_free_bytes: largest, peak }) {
  return isInPieces
    ? ['; the largest free piece is ', part(largest, undefined, '', 'free'), ' of ', part(peak.free_bytes), ' free']
    : [];
}

/* Hosts that show nothing, and why: "host1: The trace was cut while it was written, …". */
export function silentHosts(hosts) {
  return hosts
    .filter((host) => host.error || host.reason)
    .map((host) => ({
      code: 'silent_host',
      count: 1,
      text: `${visible(host.name)}: ${visible(host.error?.reason ?? host.reason?.text ?? 'it cannot be read')}`,
    }));
}

const ENDS = ['cut', 'event_limit'];

/* A trace that ends early says so beside the answer, not in the notes alone. */
export const ends = (notes) => notes.filter(({ code }) => ENDS.includes(code)).map(({ text }) => [visible(text)]);

/* What explains or limits the answer: never freed, from before, lifetime peak, no capacity to hold it against. */
export function second(pool) {
  const unknown = pool.capacity_sentence ? [[visible(pool.capacity_sentence)]] : [];
  if (pool.end) return pool.finding.kind === 'no_history' ? [sentenceParts(pool.finding), ...unknown] : unknown;
  const sentences = [];
  if (pool.finding?.kind === 'flat_line') sentences.push([visible(pool.finding.sentence).replace(/[.]?$/, '.')]);
  if (pool.course) sentences.push(told(pool.course));
  return [...sentences, ...unknown];
}

export function pageTitle(pool, sessionName) {
  return `${bytes(pool.peak.in_use_bytes)} · ${short(poolName(pool), 40)} · ${short(sessionName)} – memviewd`;
}

/* "GPU_0_bfc, 70.10 gibibytes at the peak, of 80.00, 1 of 8, worst first." */
export function poolSentence(pool, hostCount) {
  const where = hostCount > 1 ? ` on ${visible(pool.host_name)}` : '';
  const of = pool.capacity_bytes ? ` of ${spokenBytes(pool.capacity_bytes)}` : '';
  return `${poolName(pool)}${where}, peak ${spokenBytes(pool.peak.in_use_bytes)}${of}`;
}

export function timelineLabel(pool, data) {
  const { peak } = data;
  const frees = data.has_free ? ` ${spokenBytes(peak.free_bytes)} free there.` : '';
  const peaks = data.local_peaks.length ? ` ${counted(data.local_peaks.length, 'local peak')}.` : '';
  const failures = data.failures.map(
    ({ requested_bytes: asked, time_ps: when }) => ` A request of ${spokenBytes(asked)} failed at ${time(when)}.`,
  );
  return (
    `Memory of ${poolName(pool)} over time, ${time(data.start_ps)} to ${time(data.end_ps)}. ` +
    `Peak ${spokenBytes(peak.in_use_bytes)} at ${time(peak.time_ps)}.${frees}${peaks}${failures.slice(-3).join('')}`
  );
}

/* ---- one event ------------------------------------------------------------------ */

const isKnown = (value) => value != null && value !== '';

/* "temporaries of jit_conv(15), a guess"; empty without one. */
export const guessWords = (row) =>
  row.confidence === 'guess' && isKnown(row.program) ? `${visible(row.role)} of ${visible(row.program)}, a guess` : '';

/* "alloc 512.00 MiB dot_general" */
export function eventTitle(reading) {
  const word = reading.activity === 'deallocation' ? 'free' : 'alloc';
  const what = isKnown(reading.op) ? reading.op : guessWords(reading);
  const op = what ? [' ', { name: short(what, 60) }] : [];
  return [`${word} `, isKnown(reading.size_bytes) ? part(reading.size_bytes) : 'of unknown size', ...op];
}

/* Three lines of a tooltip. */
export function readingLines(reading) {
  const free = isKnown(reading.free_bytes) ? [', ', part(reading.free_bytes), ' free'] : [];
  const second = [part(reading.in_use_bytes), ' in use after it', ...free];
  if (isKnown(reading.fragmentation) && reading.fragmentation > 0)
    second.push(`, fragmentation ${percent(reading.fragmentation, 1)}`);
  if (reading.drawn_fragmentation > (reading.fragmentation ?? 0))
    second.push(`, drawn ${percent(reading.drawn_fragmentation, 1)}: the largest near it`);
  if (reading.highest_bytes > reading.lowest_bytes)
    second.push(`; in this pixel ${bytes(reading.lowest_bytes)} to ${bytes(reading.highest_bytes)}`);
  const facts = [
    `${time(reading.time_ps, 1e6)}`,
    isKnown(reading.step) ? `step ${count(reading.step)}` : '',
    isKnown(reading.requested_bytes) && reading.requested_bytes !== reading.size_bytes
      ? `asked ${bytes(reading.requested_bytes)}`
      : '',
    reading.region ? visible(reading.region) : '',
    [reading.dtype, reading.shape]
      .filter(isKnown)
      .map((text) => short(text, 40))
      .join(' '),
    reading.address ?? '',
  ].filter(Boolean);
  if (!reading.activity) return [[`${time(reading.time_ps, 1e6)}`], second, [facts.slice(1).join(' · ')]];
  return [eventTitle(reading), second, [facts.join(' · ')]];
}

export function readingSentence(reading) {
  const what = reading.activity
    ? `${reading.activity === 'deallocation' ? 'free' : 'allocation'} of ${spokenBytes(reading.size_bytes)}${
        reading.op ? ` by ${visible(reading.op)}` : guessWords(reading) && `, ${guessWords(reading)},`
      }, `
    : '';
  const step = isKnown(reading.step) ? `, step ${count(reading.step)}` : '';
  return `${time(reading.time_ps, 1e6)}${step}: ${what}${spokenBytes(reading.in_use_bytes)} in use.`;
}

/* ---- the tables ----------------------------------------------------------------- */

/* "at 812.4 ms (step 3)", "at the peak, 812.4 ms (step 3)" */
export function timeWords(data, { time: chosen, isEnd }) {
  if (isEnd) return 'at the end of the snapshot';
  const isPeak = chosen == null;
  return `${isPeak ? 'at the peak, ' : 'at '}${time(data.time_ps, 1e6)}${stepWords(data.step)}`;
}

/* "70.10 GiB = curve at this time ✓": whether rows and remainders add up to the curve. */
export const balance = (data) => `${visible(data.balance)}${data.matches_curve ? ' ✓' : ''}`;

const COUNTS = {
  live: ['group', 'groups'],
  events: ['pair', 'pairs'],
  growth: ['row', 'rows'],
  segments: ['segment', 'segments'],
};

/* "37 of 391 groups, 30.10 of 33.41 GiB" */
export function matchedWords(view, data, wholeBytes) {
  const all = isKnown(wholeBytes) ? `, ${bytes(data.matched_bytes)} of ${bytes(wholeBytes)}` : '';
  if (data.matched_count === data.total_count) {
    const size = isKnown(data.matched_bytes) ? `, ${bytes(data.matched_bytes)}` : '';
    return `${counted(data.total_count, ...COUNTS[view])}${size}`;
  }
  return `${count(data.matched_count)} of ${counted(data.total_count, ...COUNTS[view])}${all}`;
}

const VERDICTS = {
  grows: 'grows',
  shrinks: 'shrinks',
  steps_once: 'steps once',
  steady: 'steady',
  varies: 'irregular',
};

export const verdictWord = (verdict) => VERDICTS[verdict] ?? visible(verdict);

/* The sentence above the growth table. */
export function growthAnswer(data) {
  const grows = data.rows.filter((row) => row.verdict === 'grows');
  const where = data.boundary === 'launch' ? 'launches' : 'step boundaries';
  const whole = `In use at ${where}: ${visible(data.whole.sentence)}.`;
  if (grows.length === 0) return [whole];
  const first = grows[0];
  return [
    `${whole} First: `,
    { name: short(first.op ?? (guessWords(first) || 'op not recorded'), 60) },
    ` ${visible(first.sentence)}.`,
  ];
}

/* "Between A and B: born 12.00 GiB in 24, died 3.00 GiB in 6" */
export function betweenWords(between) {
  return (
    `Between A (${time(between.a_ps)}) and B (${time(between.b_ps)}): ` +
    `born ${bytes(between.born_bytes)} in ${counted(between.born_count, 'allocation')}, ` +
    `died ${bytes(between.died_bytes)} in ${count(between.died_count)}, ` +
    `in use ${signedBytes(between.in_use_difference_bytes)}`
  );
}

/* ---- addresses and fragmentation ------------------------------------------------- */

const KINDS = {
  allocation: 'allocation',
  before_window: 'from before the window',
  hole: 'hole',
  mixed: 'small blocks',
  pending_free: 'freed, but a stream still uses it',
};

export const blockWord = (kind) => KINDS[kind] ?? visible(kind);

export function blockLines(block) {
  const first =
    block.kind === 'mixed'
      ? [`${counted(block.count, 'block')}, `, part(block.used_bytes), ' of ', part(block.size_bytes), ' used']
      : [block.kind === 'allocation' && block.op ? { name: short(block.op, 48) } : blockWord(block.kind)];
  const second =
    block.kind === 'mixed' ? [] : [part(block.size_bytes), block.kind === 'hole' ? ' free or not known' : ''];
  const third = [
    [block.dtype, block.shape]
      .filter(isKnown)
      .map((text) => short(text, 40))
      .join(' '),
    isKnown(block.step) ? `step ${count(block.step)}` : '',
    block.address,
  ].filter(Boolean);
  return [first, second, [third.join(' · ')]].filter((line) => line.length);
}

export function blockSentence(block) {
  const op = block.op ? ` of ${visible(block.op)}` : '';
  return `${blockWord(block.kind)}${op}, ${spokenBytes(block.size_bytes)} at ${block.address}`;
}

/* "allocated at 812.4 ms, 3.2 s before" of what stands between holes. */
export function pinAge(pin) {
  if (pin.born_ps == null) return 'before the trace';
  return `${duration(pin.age_ps)}, since ${time(pin.born_ps)}`;
}
