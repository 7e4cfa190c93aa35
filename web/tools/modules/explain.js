/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of a row are made of. Pure: a row in, cards of explain.js out. */
// Its own file: loaded when the first card is opened.

import { bytes, percent, visible } from '../../lib/format.js';
import { categoryWords } from '../../widgets/categories.js';

const ASSIGNMENT = '`HloProto.buffer_assignment.buffer_allocations[]`';

const cards = {
  total: (row) => ({
    title: `${bytes(row.total_bytes)} in all`,
    formula:
      'the sum of its allocations in this memory space; thread-local ones are left out. It decides whether the ' +
      'program fits',
    inputs: [
      { name: 'live at the peak', bytes: row.peak_bytes },
      { name: 'fragmentation', bytes: row.fragmentation_bytes },
      { name: 'total', bytes: row.total_bytes },
    ],
    field: `${ASSIGNMENT}.size`,
    confidence: 'exact',
  }),
  peak: (row) => ({
    title: `${bytes(row.peak_bytes)} live at the peak`,
    formula: 'the most that is live at one step of the replay; it explains the total',
    inputs: row.categories.map((part) => ({
      name: categoryWords(part.category),
      bytes: part.bytes,
      note: percent(part.bytes, row.peak_bytes),
    })),
    field: '`HloProto.buffer_assignment.heap_simulator_traces[]`',
    confidence: 'exact',
    caveat: 'Rules decide the category of a value; the Memory Viewer shows the rule for each buffer.',
  }),
  capacity: (row) => ({
    title: `${percent(row.of_capacity_percent, 100)} of the capacity`,
    formula: 'total / capacity',
    inputs: [
      { name: 'total', bytes: row.total_bytes },
      {
        name: 'capacity',
        bytes: row.capacity_bytes,
        note: 'from the URL, else from an error text, else the chip of the dump or the smallest device of the trace',
      },
    ],
    confidence: 'exact',
  }),
  arguments: (row) => ({
    title: `${bytes(row.argument_bytes)} of arguments`,
    formula: 'the sum of the allocations that are parameters of the entry computation',
    inputs: [],
    field: `${ASSIGNMENT}.is_entry_computation_parameter`,
    confidence: 'exact',
    caveat: 'A value that several programs use is an argument of each: their arguments do not add up.',
  }),
  temporaries: (row) => ({
    title: `${bytes(row.temporary_bytes)} of temporaries`,
    formula: 'the sum of the allocations that live only while the program runs',
    inputs: [],
    field: ASSIGNMENT,
    confidence: 'exact',
  }),
  outputs: (row) => ({
    title: `${bytes(row.output_bytes)} of outputs`,
    formula: 'the sum of the allocations that may be live out',
    inputs: [
      { name: 'in place of donated arguments', bytes: row.output_reused_bytes },
      { name: 'of their own', bytes: row.output_bytes - (row.output_reused_bytes ?? 0) },
      { name: 'outputs', bytes: row.output_bytes },
    ],
    field: `${ASSIGNMENT}.maybe_live_out`,
    confidence: 'exact',
  }),
  code: (row) => ({
    title: `${bytes(row.code_bytes)} of code`,
    formula: 'the sum over the scheduled instructions of what the compiler wrote as the size of their machine code',
    inputs: [],
    field: '`OpMetadata.size_of_generated_code_in_bytes`',
    confidence: 'bound',
    why: 'Instructions that the compiler does not describe have code too.',
  }),
  padding: (row) => ({
    title: `${bytes(row.padding_bytes)} of padding`,
    formula: 'live at the peak − the same values without padding',
    inputs: [
      { name: 'live at the peak', bytes: row.peak_bytes },
      { name: 'padding', bytes: row.padding_bytes, note: percent(row.padding_bytes, row.peak_bytes) },
    ],
    confidence: 'exact',
  }),
  fragmentation: (row) => ({
    title: `${bytes(Math.abs(row.fragmentation_bytes))} between total and peak`,
    formula: 'total − live at the peak: holes between packed buffers, and allocations at fixed places',
    inputs: [
      { name: 'total', bytes: row.total_bytes },
      { name: 'live at the peak', bytes: row.peak_bytes },
    ],
    confidence: 'exact',
  }),
};

const FIELDS = {
  total: 'total_bytes',
  capacity: 'of_capacity_percent',
  arguments: 'argument_bytes',
  temporaries: 'temporary_bytes',
  outputs: 'output_bytes',
};

/* null: of what is not known there is nothing to explain. */
export function cardOf(word, row) {
  const value = row[FIELDS[word] ?? `${word}_bytes`];
  if (!cards[word] || value == null) return null;
  const card = cards[word](row);
  return { ...card, inputs: card.inputs.filter((input) => input.bytes != null), file: visible(row.file) };
}
