/* SPDX-License-Identifier: Apache-2.0
 * text.js: what stands around the verdict of a failure: titles of the document, the list of reports, what is said where
 * nothing failed. Pure. The verdict itself comes from the daemon, as sentences whose parts are words, {name} and
 * {bytes, key, text, role}. */

import { markdownText, shownTable } from '../../lib/export.js';
import { bytes, count, counted, cutMiddle, TIMES, visible } from '../../lib/format.js';

const PHASES = { compile: 'compile time', load: 'program load', run: 'run time' };
const WORDS = [
  ['code', 'error_code'],
  ['program', 'module'],
  ['memory', 'memory_space'],
  ['device', 'device'],
];
const isKnown = (value) => value != null;

const spaceName = (space) =>
  space ? (/^(hbm|vmem|smem|cmem)$/.test(space) ? space.toUpperCase() : visible(space)) : '';
export const phaseName = (phase) => PHASES[phase] ?? '';

/* A sentence without its links. */
export const plain = (parts) =>
  parts
    .map((part) =>
      typeof part === 'string'
        ? visible(part)
        : part.name !== undefined
          ? visible(part.name)
          : (part.text ?? bytes(part.bytes)),
    )
    .join('');

/* Words that the text states: [{word, text, key}]. */
export const wordRows = (failure) =>
  WORDS.filter(([, key]) => failure[key] && failure.ranges[key]).map(([word, key]) => ({
    word,
    text: failure[key],
    key,
  }));

/* "4 reports, 3 equal": what a list of failures says of itself. */
export function reportsText(failures, leftOut) {
  const all = failures.reduce((sum, failure) => sum + failure.replicas, 0) + leftOut;
  const equal = failures.filter((failure) => failure.replicas > 1);
  const repeats = equal.map((failure) => `${count(failure.replicas)} equal`);
  return [counted(all, 'report'), ...repeats.slice(0, 3), leftOut > 0 ? `${count(leftOut)} not kept` : '']
    .filter(Boolean)
    .join(', ');
}

/* One line of that list. */
export function reportLine(failure) {
  const size = isKnown(failure.needed_bytes) ? bytes(failure.needed_bytes) : 'no size';
  const times = failure.replicas > 1 ? ` ${TIMES}${count(failure.replicas)}` : '';
  return { title: visible(failure.verdict.title), name: failure.module ?? '', size: `${size}${times}` };
}

/* Nothing failed, or nothing was recognised: {title, text}. */
export function nothing(found) {
  if (found.report_line_count > 0) {
    const { usage } = found;
    const held = usage
      ? ` (${bytes(usage.used_bytes)} of ${bytes(usage.capacity_bytes)}${
          usage.memory_space ? ` ` + `${spaceName(usage.memory_space)}` : ''
        })`
      : '';
    return {
      isReport: true,
      title: 'No failure here.',
      text: `The text has the memory report of a compiler or an allocator${held}, but no error.`,
    };
  }
  return {
    isReport: false,
    title: `No out-of-memory report found in ${counted(found.lines?.line_count ?? 0, 'line')}.`,
    text:
      'Looked for: TPU E1000, E1001, E0100, E0101, E3000 family; reports of GPU allocators; PyTorch, TensorFlow, ' +
      'drivers and kernels of GPUs, language-model servers; host memory, and processes killed because of it.',
  };
}

/* core: the verdict where there is no text, or null. */
export function documentTitle(failure, source, core = null) {
  const needed = (failure ?? core?.fit)?.needed_bytes ?? null;
  const size = isKnown(needed) ? bytes(needed) : '';
  const parts = [
    failure || core ? size : 'no failure',
    cutMiddle(visible(failure?.module || core?.program || source), 60),
    'OOM',
  ];
  return `${parts.filter(Boolean).join(' · ')} – memviewd`;
}

/* Pure: the bar as a sentence. */
export function barText(bar) {
  const parts = bar.parts.map((part) => `${visible(part.word)} ${bytes(part.bytes)}`).join(', ');
  const over = bar.over_bytes > 0 ? `, ${bar.over_word} ${bar.over_text}` : '';
  const limit = bar.limit ? ` Held against ${bar.limit.word} ${bytes(bar.limit.bytes)}${over}.` : '';
  return `${parts}: ${bytes(bar.whole_bytes)} in all.${limit}`;
}

/* Of the verdict of all that is here: whose memory, and what will make it fit. */
function coreLines({ cause, categories, advice, advice_sentence: sentence }) {
  const shares = categories.map(({ label, bytes: own }) => `${visible(label)} ${bytes(own)}`).join(', ');
  const piece = ({ title, saves_bytes: saves, lands_at_bytes: lands, fits, confidence, do: line }) => {
    const said = [
      saves > 0 ? `saves ${bytes(saves)}` : '',
      lands == null ? '' : `becomes ${bytes(lands)}`,
      fits === 'yes' ? 'fits' : '',
    ].filter(Boolean);
    const figures = said.length ? `: ${said.join(', ')}` : '';
    return `- ${visible(title)}${figures} (${confidence})${line ? ` \`${visible(line)}\`` : ''}`;
  };
  return [
    cause.kind === 'unknown' ? '' : visible(cause.text),
    shares ? `- at the peak: ${shares}` : '',
    sentence ? visible(sentence) : '',
    ...advice.map(piece),
  ];
}

/* Pure: the whole verdict for a bug report; failure, core: either may be null. */
export function verdictText(failure, core, table, facts) {
  const { verdict } = failure ?? {};
  const lines = [
    `**${verdict ? plain([...verdict.answer, ' ', ...verdict.more]).trim() : visible(core.verdict)}**`,
    facts,
    ...(verdict?.figures ?? []).map(
      (row) => `- ${row.word}: ${row.text ?? bytes(row.bytes)}${row.after ? ` (${visible(row.after)})` : ''}`,
    ),
    verdict?.bar ? `- where: ${barText(verdict.bar)}` : '',
    verdict ? plain(verdict.cause_text) : '',
    ...(core ? coreLines(core) : []),
  ].filter(Boolean);
  const rows = table.rows.length ? markdownText(shownTable(table), 'Largest buffers', '') : '';
  return `${lines.join('\n')}\n${rows ? `\n${rows}` : ''}`;
}
