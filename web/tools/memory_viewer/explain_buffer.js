/* SPDX-License-Identifier: Apache-2.0
 * explain_buffer.js: what the figures of one buffer are made of. Pure, as explain.js.
 * Its own file: explain.js with the figures of spaces is long enough. */

import { bytes, count, exactBytes, expansion, percent, visible } from '../../lib/format.js';
import { categoryWord } from '../../widgets/categories.js';
import { kindWord, unitWord } from './text.js';
import { ALLOCATIONS, BUFFERS, FLAGS, sureOfTime, TRACES } from './explain_fields.js';

const FLAG_OF_KIND = { parameter: 'arguments', output: 'outputs', constant: 'constants' };

/* A saving of a buffer or of a group: the words are the core's. */
export const savingCard = (saving) => ({
  title: `Saves ${bytes(saving.bytes)}`,
  formula: `${saving.sentence} ${saving.formula}.`,
  inputs: [
    { name: 'peak live', bytes: saving.next_peak_bytes + saving.bytes },
    {
      name: 'the most that is live without it',
      bytes: saving.next_peak_bytes,
      note: saving.next_peak_step == null ? '' : `at ${count(saving.next_peak_step)}`,
      sign: '−',
    },
    { name: 'live of it at the peak', bytes: saving.of_bytes },
  ],
  confidence: saving.confidence,
  why: saving.reason,
});

/* Figures of one buffer. */
export const OF_BUFFER = {
  share: (record, view) => OF_BUFFER.size(record, view),
  size: (record, { space }) => ({
    title: `Size ${bytes(record.bytes)}`,
    formula:
      `${percent(record.bytes, space.peak_bytes)} of the peak: ${exactBytes(record.bytes)} of ` +
      `${exactBytes(space.peak_bytes)}.`,
    inputs: [
      { name: 'without padding', bytes: record.unpadded_bytes },
      { name: 'padding', bytes: record.padding_bytes },
      { name: 'size', bytes: record.bytes },
    ],
    field: `${BUFFERS} \`.size\`, \`.id\` ${visible(record.id)}`,
    confidence: 'exact',
  }),
  saves: ({ saving }) => saving && savingCard(saving),
  unpadded: (record) => ({
    title: `Unpadded ${bytes(record.unpadded_bytes)}`,
    formula: `The product of the dimensions of ${visible(record.shape ?? 'its shape')} times the bytes of an element.`,
    inputs: [{ name: 'without padding', bytes: record.unpadded_bytes }],
    field: '`HloInstructionProto.shape`',
    confidence: 'exact',
  }),
  padding: (record) => ({
    title: `Padding ${bytes(record.padding_bytes)}`,
    formula:
      `size ${bytes(record.bytes)} − without padding ${bytes(record.unpadded_bytes)} = ` +
      `${bytes(record.padding_bytes)}${
        expansion(record.expansion) ? `; stored ${expansion(record.expansion)} as large ` + `as the data` : ''
      }`,
    inputs: [
      { name: 'size', bytes: record.bytes },
      { name: 'without padding', bytes: record.unpadded_bytes, sign: '−' },
    ],
    field: `${BUFFERS} \`.size\`; layout ${visible(record.layout ?? '') || 'of its shape'}`,
    confidence: 'exact',
    caveat: 'Tiles of the layout round dimensions up; a long last dimension wastes least.',
  }),
  alive: (record, { space }) => ({
    title: record.is_indefinite
      ? 'Lives for the whole program'
      : `Alive from ${count(record.born_step)} to ${count(record.dies_step ?? space.step_count)}`,
    formula: record.is_indefinite
      ? 'Parameters, outputs and constants keep their allocation from beginning to end.'
      : `born at ${unitWord(space)} ${count(record.born_step)}, freed before ` +
        `${count(record.dies_step ?? space.step_count)}`,
    ...(record.is_indefinite
      ? { field: ALLOCATIONS, confidence: 'exact' }
      : { field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES, ...sureOfTime(space) }),
  }),
  kind: (record) => ({
    title: `Kind: ${kindWord(record.kind)}`,
    formula: 'Recorded in the allocation itself, not guessed from names.',
    field: `${ALLOCATIONS}: ${FLAGS[FLAG_OF_KIND[record.kind]] ?? FLAGS.temporaries}`,
    confidence: 'exact',
  }),
  category: (record) => ({
    title: `Category: ${categoryWord(record.category)}`,
    formula: record.rule_text ?? 'Whose memory it is, by the rule below.',
    inputs: [{ name: 'rule', text: record.rule }],
    confidence: record.confidence,
  }),
  allocation: (record) => ({
    title: `Allocation ${visible(record.allocation?.index ?? '')}`,
    formula: 'Buffers whose lifetimes do not overlap may share an allocation, at the same offset.',
    inputs: [
      { name: 'size of the allocation', bytes: record.allocation?.size_bytes },
      { name: 'offset of this buffer in it', bytes: record.allocation?.offset_bytes },
    ],
    field: `${ALLOCATIONS} \`.assigned[].offset\``,
    confidence: 'exact',
  }),
};
OF_BUFFER.source = (record) => ({
  title: 'Source line',
  formula: 'The innermost frame of the program that made the instruction.',
  inputs: [
    {
      name: 'line',
      text: visible(record.source_file ? `${record.source_file}:${record.source_line ?? ''}` : 'not recorded'),
    },
  ],
  field: '`HloInstructionProto.metadata.source_file`, `.source_line`',
  confidence: 'exact',
  caveat: 'After fusion one instruction represents many lines; XLA keeps one of them.',
});
