/* SPDX-License-Identifier: Apache-2.0
 * text.js: what the Device Memory page says. Pure: answers of the daemon in, parts of
 * sentences out ("text", {bytes, text, role} or {name}, as sentence.js makes nodes of them). */

import {
  bytes,
  count,
  counted,
  cutMiddle,
  percent,
  signedBytes,
  sourceLine,
  spokenBytes,
  visible,
} from '../../lib/format.js';

const MAX = 48;
const short = (text, max = MAX) => cutMiddle(visible(text), max);

export const isBytes = (metric) => metric.unit === 'bytes';

/* A value of the metric: "38.15 MiB", "12". */
export function amount(metric, value) {
  return isBytes(metric) ? bytes(value) : count(value);
}

export function signedAmount(metric, value) {
  if (isBytes(metric)) return signedBytes(value);
  return value > 0 ? `+${count(value)}` : count(value);
}

export function spokenAmount(metric, value) {
  return isBytes(metric) ? spokenBytes(value) : `${count(value)} ${metric.name}`;
}

/* A figure of an answer: with its sign and ▲ or ▼ in a difference. */
export function figureOf({ metric, is_diff: isDiff }, value) {
  return isDiff ? changeWords(metric, value) : amount(metric, value);
}

/* ▲ and ▼ go with the sign, so that colour is not alone. */
export function changeWords(metric, value) {
  if (value === 0) return 'no change';
  return `${value > 0 ? '▲' : '▼'} ${signedAmount(metric, value)}`;
}

/* What shares are of: all that was measured, of a difference what A held. */
export const wholeWords = ({ is_diff: isDiff }, all = 'the total') => (isDiff ? 'A' : all);

/* Change relative to what was there before; new and vanished have a word instead. */
export function relativeWords({ before, after }) {
  if (before === after) return 'same';
  if (!before) return 'new';
  if (!after) return 'vanished';
  const share = percent(Math.abs(after - before), Math.abs(before));
  return `${after > before ? '+' : '−'}${share}`;
}

/* "init_state train.py:88": a call site, with what it called there if that is known. */
export function siteName(frame, callee = null) {
  if (!frame.function && !frame.file) return visible(frame.name);
  const place = sourceLine(frame.file, frame.line);
  return [frame.function, place].filter(Boolean).map(visible).join(' ') + (callee ? ` › ${visible(callee)}` : '');
}

/* explain: key of its card. */
function part(metric, value, explain, role = '') {
  return isBytes(metric)
    ? { bytes: value, text: bytes(value), role, explain }
    : { count: value, text: count(value), role };
}

function kindTotal(summary, kind) {
  return summary.kinds.find(({ name }) => name === kind)?.total ?? 0;
}

/* "12.40 GiB live on 8 devices: 12.40 GiB in 325 buffers; 23 executables of unknown size." */
export function liveSentence(summary) {
  const { metric, total, devices, buffer_count: buffers, executable_count: programs } = summary;
  const where = devices.length
    ? ` on ${devices.length === 1 ? short(devices[0].name) : counted(devices.length, 'device')}`
    : '';
  if (momentsOf(summary).length > 0) return momentSentence(summary, where);
  const isJax = summary.kinds.some(({ name }) => ['buffer', 'executable'].includes(name));
  if (!isJax)
    return [
      part(metric, total, 'total', 'main'),
      ` of ${short(metric.name)} in ${counted(summary.sample_count, 'sample')}${where}.`,
    ];
  if (!isBytes(metric))
    return [
      part(metric, total, 'total', 'main'),
      ` live${where}: ${counted(buffers, 'buffer')} and ${counted(programs, 'executable')}.`,
    ];
  return [
    part(metric, total, 'total', 'main'),
    ` live${where}: `,
    part(metric, kindTotal(summary, 'buffer'), 'kind:buffer'),
    ` in ${counted(buffers, 'buffer')}`,
    ...programsWords(summary),
    '.',
  ];
}

/* "12.97 GiB in use on GPU 0 of rank0 at the peak, 138.07 ms: 504 blocks." */
function momentSentence(summary, where) {
  const { metric, total, allocation_count: many } = summary;
  const shown = summary.profiles.filter(({ role }) => role === 'profile');
  const [{ name, moment }] = shown;
  const snapshot = name.slice(0, -moment.words.length - 2);
  const isNamed = snapshot.endsWith(` ${moment.memory}`); // the device is part of it where there are several
  return [
    part(metric, total, 'total', 'main'),
    `${isBytes(metric) ? '' : ` ${short(metric.name)}`} in use${where}`,
    ...(shown.length === 1
      ? [' of ', { name: isNamed ? snapshot.slice(0, -moment.memory.length - 1) : snapshot }, ` at ${moment.words}`]
      : ''),
    isBytes(metric) && many != null ? `: ${counted(many, 'block')}.` : '.',
  ];
}

/* Of profiles that are moments of allocator snapshots: those that are shown. */
export const momentsOf = ({ profiles = [] }, role = 'profile') =>
  profiles.filter((profile) => profile.role === role && profile.moment).map(({ moment }) => moment);

/* Two moments of one snapshot have one name before their words. */
function isOfOneSnapshot({ profiles }) {
  const names = profiles.map(({ name, moment }) =>
    moment && name.endsWith(`, ${moment.words}`) ? name.slice(0, -moment.words.length) : null,
  );
  return names.every((name) => name != null && name === names[0]);
}

function programsWords(summary) {
  const { executable_count: all, executable_unknown_count: unknown, executable_total: known } = summary;
  if (!all) return [];
  const words = counted(all, 'executable');
  if (unknown === all) return [`; ${words} of unknown size`];
  const rest = unknown ? ` (${count(unknown)} more of unknown size)` : '';
  return [
    '; ',
    { bytes: known, text: bytes(known), role: '', explain: 'kind:executable' },
    ` in ${counted(all - unknown, 'executable')}${rest}`,
  ];
}

/* "+1.80 MiB from memory1.prof (3.89 MiB) to memory9.prof (5.68 MiB): 46 % more." */
export function changeSentence(summary) {
  const { metric, before_total: before, after_total: after } = summary;
  const isOne = isOfOneSnapshot(summary);
  const names = (role) =>
    summary.profiles
      .filter((profile) => profile.role === role)
      .map(({ name, moment }) => (isOne ? moment.words.split(',')[0] : short(name)))
      .join(' + ');
  const change = after - before;
  const share = before > 0 ? ` (${percent(Math.abs(change), before)} of ${names('base')})` : '';
  return [
    { bytes: change, text: signedAmount(metric, change), role: 'main', explain: 'change' },
    ` from ${names('base')}, `,
    part(metric, before, 'change'),
    `, to ${names('profile')}, `,
    part(metric, after, 'change'),
    `${share}.`,
  ];
}

export const filterWords = (total) => (total === 1 ? 'the filter' : `the ${count(total)} filters`);

/* Where the filters leave nothing. */
export function nothingSentence(summary, filterCount) {
  return [
    `Nothing passes ${filterWords(filterCount)}; `,
    part(summary.metric, summary.percent_base, 'total', 'main'),
    ` are live without ${filterCount === 1 ? 'it' : 'them'}.`,
  ];
}

/* "7.72 GiB of 12.40 GiB (62 %) pass the 2 filters." */
export function filteredSentence(summary, filterCount) {
  if (!filterCount || summary.is_diff || summary.sample_count === 0) return null;
  return (
    `${amount(summary.metric, summary.total)} of ${amount(summary.metric, summary.percent_base)} ` +
    `(${percent(summary.total, summary.percent_base)}) ${filterCount === 1 ? 'passes' : 'pass'} ` +
    `${filterWords(filterCount)}.`
  );
}

/* Items of the second line: [{frame, callee, text, value, share}]. */
export function largestItems(summary) {
  return summary.top
    .filter(({ self }) => self !== 0)
    .map(({ frame, callee, self }) => ({
      frame,
      text: siteName(frame, callee),
      bytes: isBytes(summary.metric) ? self : null,
      value: summary.is_diff ? signedAmount(summary.metric, self) : amount(summary.metric, self),
      share: `${percent(Math.abs(self), summary.percent_base)} of ${wholeWords(summary, 'all')}`,
    }));
}

export function titleOf(summary) {
  const shown = summary.profiles.filter(({ role }) => role === 'profile').map(({ name }) => visible(name));
  const what = shown.length === 1 ? shown[0] : counted(shown.length, 'profile');
  const figure = summary.is_diff ? signedAmount(summary.metric, summary.total) : amount(summary.metric, summary.total);
  return `${figure} · ${what} · Device Memory – memviewd`;
}

/* ---- flame graph -------------------------------------------------------------- */

/* node: {name, total, self, share, many, folded, before, after}. At most three lines. */
export function nodeLines(metric, node, isDiff) {
  if (node.many)
    return [
      counted(node.many, 'frame'),
      `${amount(metric, node.total)} together, largest ${short(node.name, 40)}`,
      'click to zoom in',
    ];
  const size = isDiff
    ? `${changeWords(metric, node.total)} (${relativeWords(node)})`
    : `${amount(metric, node.total)}, ${node.share} of the total; self ${amount(metric, node.self)}`;
  const folded = node.folded ? `${counted(node.folded, 'frame')} of libraries folded` : '';
  return [short(node.name, 80), size, [node.source, folded].filter(Boolean).join(' · ')];
}

export function nodeSentence(metric, node, isDiff) {
  const figures = isDiff
    ? `change ${spokenAmount(metric, node.total)}, ${relativeWords(node)}`
    : `${spokenAmount(metric, node.total)}, ${node.share} of the total, self ${spokenAmount(metric, node.self)}`;
  const folded = node.folded ? `, ${counted(node.folded, 'frame')} folded` : '';
  return `${visible(node.name)}, ${figures}${folded}.`;
}

export function flameLabel(summary, frames, isInverted) {
  const what = summary.is_diff ? 'Change of memory' : 'Memory';
  const how = isInverted ? 'by call stack, callers below' : 'by call stack';
  return `${what} ${how}: ${counted(frames, 'frame')}, ${spokenAmount(summary.metric, summary.total)} in all.`;
}

/* "3 frames hold 76.29 MiB, 95 % of the total." */
export function foundSentence(data, search, shownCount) {
  if (!search || search.matched_count === 0) return 'No frame matches.';
  const share = percent(search.matched_total, data.percent_base);
  return (
    `${counted(shownCount, 'frame')}: ${amount(data.metric, search.matched_total)}, ${share} of ` +
    `${wholeWords(data)}.`
  );
}

/* Name of a frame of an answer of columns. */
export function frameText({ files, frames }, at) {
  const source = frames.file[at] < 0 ? '' : sourceLine(files[frames.file[at]], frames.line[at]);
  return [frames.function[at], source].filter(Boolean).map(visible).join(' ') || specialName(frames.id[at]);
}

function specialName(id) {
  return id === 'none' ? '(no stack)' : id === 'machinery' ? '(no user frame)' : '(no name)';
}

/* ---- filters --------------------------------------------------------------------- */

/* Why a chip is marked, or "". */
export function chipFault({ expression, matched_count: found, fault, nearest, parameter }) {
  if (fault)
    return `"${short(expression)}" is not a valid regular expression (${fault}); it is searched as plain text.`;
  if (found > 0) return '';
  const what = parameter.startsWith('tag') ? 'sample' : 'frame';
  return `No ${what} matches "${short(expression)}".${nearest ? ` Nearest: ${short(nearest)}.` : ''}`;
}

/* What the filters say of themselves, for a view that is empty. */
export const faultsOf = (summary) => (summary?.filters ?? []).map(chipFault).filter(Boolean);

/* ---- series ---------------------------------------------------------------------- */

export const VERDICTS = {
  grows: 'grows',
  steps_once: 'steps once',
  steady: 'steady',
  shrinks: 'shrinks',
  irregular: 'irregular',
  too_few: 'too few',
};

/* "1 grows, 3 steady" */
export function verdictCounts(counts) {
  return Object.keys(VERDICTS)
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${count(counts[verdict])} ${VERDICTS[verdict]}`)
    .join(', ');
}

/* Are they moments of allocator snapshots? */
export const areMoments = ({ profiles }) => profiles.every(({ words }) => words);

/* "step 3" of "the begin of step 3, 12.5 ms". */
const momentName = (words) => words.replace(/^the (begin of )?/, '').split(',')[0];

/* Short names of the profiles of a series: without an ending; moments of one snapshot without its name. */
export function profileNames(data) {
  const names = data.profiles.map(({ name }) => visible(name));
  if (!areMoments(data)) return names.map((name) => name.replace(/\.(prof|pb\.gz|pb)$/, ''));
  const hosts = names.map((name, at) => name.slice(0, -data.profiles[at].words.length - 2));
  const isOne = hosts.every((host) => host === hosts[0]);
  return isOne ? data.profiles.map(({ words }) => momentName(words)) : hosts;
}

export function seriesLabel({ metric, profiles }) {
  const [first, last] = [profiles[0], profiles.at(-1)];
  return (
    `Live memory of ${counted(profiles.length, 'profile')} by call site, from ` +
    `${spokenAmount(metric, first.total)} to ${spokenAmount(metric, last.total)}.`
  );
}

export function profileLines({ metric, profiles }, at) {
  const { name, total, count: many } = profiles[at];
  const before = at > 0 ? `, ${signedAmount(metric, total - profiles[at - 1].total)} against the one before` : '';
  return [short(name, 60), `${amount(metric, total)}${before}`, counted(many, 'allocation')];
}

export function profileSentence(data, at) {
  const { name, total } = data.profiles[at];
  return `${visible(name)}, ${spokenAmount(data.metric, total)}, ${at + 1} of ${data.profiles.length}.`;
}

export function sparkLabel(metric, { values }) {
  return `from ${spokenAmount(metric, values[0])} to ${spokenAmount(metric, values.at(-1))}`;
}

/* ---- call graph -------------------------------------------------------------------- */

export function placeText({ file, line }) {
  return sourceLine(file, line);
}

/* "80 of 1,204 functions (those above 0.5 %)" */
export function trimSentence({ nodes, node_count: all, node_cutoff: cutoff, percent_base: base }) {
  const many = nodes.length;
  if (many === all) return counted(many, 'function');
  const share = cutoff > 0 && base > 0 ? ` (those above ${percent(cutoff, base)})` : '';
  return `${count(many)} of ${counted(all, 'function')}${share}`;
}
