/* SPDX-License-Identifier: Apache-2.0
 * text.js: what the Memory Viewer says, in sentences. Pure: answers of the
 * daemon in, plain text and figures out. A part is a string or {bytes, text}. */

import {
  bytes,
  bytesApart,
  count,
  counted,
  cutMiddle,
  expansion,
  percent,
  signedBytes,
  sourceLine,
  splitShape,
  spokenBytes,
  spokenShape,
  visible,
} from '../../lib/format.js';
import { categoryWord } from '../../widgets/categories.js';

/* What the total is made of. The rows add up to it; what has no name of its own is "other". */
export function madeOf(space) {
  const fresh = space.output_bytes - space.output_reused_bytes;
  const rows = [
    { word: 'arguments', bytes: space.parameter_bytes, hint: 'Entry computation parameters.' },
    {
      word: 'outputs',
      bytes: fresh,
      hint: 'Outputs that have their own memory.',
      after: space.output_reused_bytes > 0 ? `(${bytes(space.output_reused_bytes)} reuse arguments)` : '',
    },
    { word: 'temporaries', bytes: space.temporary_bytes, hint: 'Total minus what lives for the whole program.' },
  ];
  if (space.constant_bytes > 0)
    rows.splice(2, 0, { word: 'constants', bytes: space.constant_bytes, hint: 'Constants of the program.' });
  const rest = space.total_bytes - rows.reduce((sum, row) => sum + row.bytes, 0);
  if (rest !== 0) rows.push({ word: 'other', bytes: rest, hint: 'Total minus the parts above.' });
  return rows;
}

/* Padding and fragmentation: parts of the figures above, not additions to them. */
export function waste(space) {
  const rows = [
    {
      word: 'padding at the peak',
      explain: 'padding',
      bytes: space.padding_bytes,
      hint: 'Peak live with padding minus without.',
    },
  ];
  const over = space.peak_bytes - space.total_bytes;
  if (over > 0)
    rows.push({
      word: 'peak above the total',
      explain: 'fragmentation',
      bytes: over,
      hint: 'The heap trace counts buffers that share one place.',
    });
  else
    rows.push({
      word: 'fragmentation',
      explain: 'fragmentation',
      bytes: space.fragmentation_bytes,
      hint: 'Total less peak live.',
    });
  if (space.scoped_vmem_bytes > 0)
    rows.push({
      word: 'largest scoped VMEM',
      explain: 'scoped',
      bytes: space.scoped_vmem_bytes,
      hint: space.scoped_vmem_instruction ? `Asked by ${space.scoped_vmem_instruction}.` : 'Asked by one instruction.',
    });
  return rows;
}

/* What fills the space most, in the daemon's words, whose figures open the same card. */
export const culpritParts = ({ culprit }) =>
  culprit?.sentence.map((part) => (part.text ? { ...part, explain: 'culprit' } : part)) ?? [];

/* ", 17.66 gibibytes above capacity" */
function besideCapacity(peak, capacity) {
  if (!capacity || peak === capacity.bytes) return '';
  return `, ${spokenBytes(Math.abs(peak - capacity.bytes))} ${peak > capacity.bytes ? 'above' : 'below'} capacity`;
}

export function curveLabel(space, curve, capacity = null, predicted = null) {
  const peak = curve.peak
    ? ` Peak ${spokenBytes(curve.peak.bytes)} at ${unitWord(space)} ${count(curve.peak.step)} of ` +
      `${count(curve.stepCount)}${besideCapacity(curve.peak.bytes, capacity)}.`
    : '';
  const after = predicted ? ` Predicted after the ticked changes: at most ${spokenBytes(predicted.peak)}.` : '';
  return `Memory over program order.${peak}${after} ${counted(curve.localPeaks.length, 'local peak')}.`;
}

const KIND_WORDS = { parameter: 'argument', thread_local: 'thread-local' };

/* Of an allocation: "argument", "temporary". */
export const kindWord = (kind) => KIND_WORDS[kind] ?? kind;

export function unitWord(space) {
  return space.step_unit === 'schedule' ? 'position' : 'step';
}

/* Pure: "1.00 to 2.00 GiB"; close ones have the decimals that tell them apart. */
export function offsetWords([low, high]) {
  const [from, to] = bytesApart(low, high).map((text) => text.split(' '));
  return `${low === 0 || from[1] === to[1] ? from[0] : from.join(' ')} to ${to.join(' ')}`;
}

/* Pure: "steps 100 to 199", "position 7, offsets 1.00 to 2.00 GiB"; offsets: null where all are meant. */
export function windowWords(space, [first, last], offsets = null) {
  const unit = unitWord(space);
  const steps = first === last ? `${unit} ${count(first)}` : `${unit}s ${count(first)} to ${count(last)}`;
  return offsets ? `${steps}, offsets ${offsetWords(offsets)}` : steps;
}

/* "at step 1,536": a moment that is not the peak. */
export function whereWords(space, step) {
  return `at ${unitWord(space)} ${count(step)}`;
}

/* Said beside a curve that was drawn from the schedule. */
export const SCHEDULE_HINT = 'No heap trace: sizes are exact, positions over time come from the schedule.';

export function readingSentence(space, reading) {
  if (reading.bytes == null) return `${unitWord(space)} ${count(reading.step)}.`;
  const change =
    reading.change == null
      ? ''
      : `, ${reading.change === 0 ? 'no change' : `${signedBytes(reading.change)}`} from the one before`;
  return (
    `${unitWord(space)} ${count(reading.step)}: ${spokenBytes(reading.bytes)} live, ` +
    `${spokenBytes(reading.unpadded)} without padding${change}.`
  );
}

/* "33.41 GiB live · 18.25 GiB unpadded"; where both print alike, what the padding is. */
function liveText({ bytes: padded, unpadded }) {
  if (padded === unpadded) return `${bytes(padded)} live · none of it padding`;
  if (bytes(padded) === bytes(unpadded)) return `${bytes(padded)} live · ${bytes(padded - unpadded)} of it padding`;
  return `${bytes(padded)} live · ${bytes(unpadded)} unpadded`;
}

/* Tooltip of the curve: at most three lines. */
export function readingLines(space, reading) {
  const unit = unitWord(space);
  if (reading.bytes == null) return [[`${unit} ${count(reading.step)}`]];
  const change =
    reading.change == null
      ? ''
      : reading.change === 0
        ? `as at ${unit} ${count(reading.step - 1)}`
        : `${signedBytes(reading.change)} from ${unit} ${count(reading.step - 1)}`;
  const isPlaced = space.step_unit === 'heap_trace' && reading.schedulePosition != null;
  const third = [change, isPlaced ? `schedule position ${count(reading.schedulePosition)}` : '']
    .filter(Boolean)
    .join(' · ');
  return [
    [`${unit} ${count(reading.step)}`, ...(reading.instruction ? [' · ', { name: reading.instruction }] : [])],
    [liveText(reading)],
    ...(third ? [[third]] : []),
  ];
}

/* The name of a bar or a rectangle; said where the daemon left out its middle. */
export const nameOf = (item) =>
  [{ name: item.name }, item.is_cut ? ' · shortened; the details show all of it' : ''].filter(Boolean);

/* Tooltip of a bar: name; size and share; source. */
export function barLines(bar, record, peakBytes) {
  if (bar.id == null) return [[mergedText(bar)], [`together ${percent(bar.bytes, peakBytes)} of the peak`]];
  const padding = bar.padding_bytes > 0 ? ` · padding ${bytes(bar.padding_bytes)}` : '';
  const source = record ? sourceLine(record.source_file, record.source_line) : '';
  const shape = record?.shape ? splitShape(visible(record.shape))[0] : '';
  return [
    nameOf(bar),
    [`${bytes(bar.bytes)} · ${percent(bar.bytes, peakBytes)} of the peak${padding}`],
    ...(source || shape ? [[{ name: source || shape }]] : []),
  ];
}

/* "214 buffers, 96.0 MiB, largest 15.8 KiB" */
export function mergedText(bar) {
  return `${counted(bar.count, 'buffer')}, ${bytes(bar.bytes)}${
    bar.largest_bytes ? `, largest ` + `${bytes(bar.largest_bytes)}` : ''
  }`;
}

export function barSentence(bar, record, peakBytes) {
  const inRectangle = bar.marked_count > 0;
  if (bar.id == null)
    return `${counted(bar.count, 'small buffer')} drawn as one, ${spokenBytes(bar.bytes)}${
      inRectangle ? `, ` + `${count(bar.marked_count)} in the rectangle` : ''
    }.`;
  const share = percent(bar.bytes, peakBytes).replace(' %', ' percent').replace('<', 'under');
  const words = [visible(bar.name), spokenBytes(bar.bytes), `${share} of the peak`, categoryWord(bar.category)];
  if (record?.shape) words.push(spokenShape(record.shape));
  if (record?.source_file)
    words.push(visible(sourceLine(record.source_file, record.source_line)).replace(/:(\d+)$/, ' line $1'));
  if (bar.padding_bytes > 0) words.push(`${spokenBytes(bar.padding_bytes)} of it padding`);
  if (inRectangle) words.push('in the rectangle');
  return `${cutMiddle(words.join(', '), 400)}.`;
}

const ORDER_WORDS = { program: 'by program order', size: 'by size', padding: 'by padding' };

export function stripTitle(order) {
  return ORDER_WORDS[order];
}

export function stripLabel(order, bars, space, where = 'at the peak') {
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  const sum = bars.reduce((all, bar) => all + (order === 'padding' ? bar.padding_bytes : bar.bytes), 0);
  return (
    `Buffers live ${where} in ${visible(space.name)}, ${ORDER_WORDS[order]}: ${counted(total, 'buffer')}, ` +
    `${spokenBytes(sum)}${order === 'padding' ? ' of padding' : ''}.`
  );
}

export function paddingText(row) {
  if (row.unpadded_bytes == null) return 'not known';
  if (row.padding_bytes === 0) return 'none';
  return [bytes(row.padding_bytes), expansion(row.expansion)].filter(Boolean).join(', ');
}
