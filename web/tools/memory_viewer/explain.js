/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of the Memory Viewer are made of. Pure: what the page knows in,
 * cards of explain.js out. Loaded when the first card is opened. */

import { baseName, bytes, bytesApart, count, counted, exactBytes, expansion, percent, visible } from '../../lib/format.js';
import { differenceText, heldAgainst, whyPhysical } from '../../lib/capacity.js';
import { categoryWord } from '../../widgets/categories.js';
import { sourceOf } from './answer.js';
import { figuresOf } from './failure.js';
import { kindWord, madeOf, offsetWords, unitWord } from './text.js';
import { peakOfMarks } from './window.js';

const ALLOCATIONS = '`HloProto.buffer_assignment.buffer_allocations[]`';
const TRACES = '`HloProto.buffer_assignment.heap_simulator_traces[].events[]`';
const BUFFERS = '`HloProto.buffer_assignment.logical_buffers[]`';

/* Fields of an allocation that make it one of these. */
const FLAGS = {
  arguments: '`is_entry_computation_parameter`',
  outputs: '`maybe_live_out`, not a parameter',
  constants: '`is_constant`',
  temporaries: 'none of the flags',
  other: 'allocations with several flags or none',
};

/* From the schedule, sizes are exact and times are ours. */
const sureOfTime = (space) =>
  space.step_unit === 'schedule'
    ? { confidence: 'bound', why: 'No heap trace: lifetimes come from the schedule; XLA may pack more tightly.' }
    : { confidence: 'exact', why: 'Replayed event by event from the heap trace.' };

function total({ space }) {
  const parts = madeOf(space);
  return {
    title: `Needs ${bytes(space.total_bytes)}`,
    formula: `${parts.map((part) => `${part.word} ${bytes(part.bytes)}`).join(' + ')} = ${bytes(space.total_bytes)}: every allocation of ${visible(space.name)}, without thread-local ones. This figure is compared with the capacity.`,
    inputs: [
      ...parts.map((part) => ({ name: part.word, bytes: part.bytes, note: part.after })),
      { name: 'total', bytes: space.total_bytes },
    ],
    field: `${ALLOCATIONS} \`.size\` where \`.color\` is ${space.space}`,
    confidence: 'exact',
    caveat:
      'An allocation is as large as the compiler made it, including holes between buffers (fragmentation). What the runtime keeps for itself is not included.',
  };
}

function peak({ space }) {
  const moving = space.peak_bytes - space.indefinite_bytes;
  return {
    title: `Peak live ${bytes(space.peak_bytes)}`,
    formula: `for the whole program ${bytes(space.indefinite_bytes)} + live at ${unitWord(space)} ${count(space.peak_step)} ${bytes(moving)} = ${bytes(space.peak_bytes)}: the largest sum of buffers that are live at the same time. It explains the total; the total decides whether it fits.`,
    inputs: [
      { name: 'arguments, outputs and constants, all the time', bytes: space.indefinite_bytes },
      { name: `temporaries at ${unitWord(space)} ${count(space.peak_step)} of ${count(space.step_count)}`, bytes: moving },
      { name: 'peak', bytes: space.peak_bytes },
    ],
    field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`, sizes from the buffer assignment' : TRACES,
    ...sureOfTime(space),
    caveat: "XLA's live-range report counts a third thing: logical sizes without padding.",
  };
}

function capacity(view) {
  const { capacity: there, space } = view;
  if (!there) return null;
  const { text, hint } = sourceOf(there);
  return {
    title: `Capacity ${bytes(there.bytes)}`,
    formula: `${text}. The URL (\`capacity=\`) comes first, then the figure in an error text, then the chip of the dump or the trace.`,
    inputs: [
      { name: there.isPhysical ? 'physical size' : 'available to one program', bytes: there.bytes },
      ...(there.half > 0 ? [{ name: 'printed to ±', bytes: there.half, note: 'as the text rounds it' }] : []),
      ...(space.fit.share_bytes == null ? [] : [{ name: 'that JAX takes by default', bytes: space.fit.share_bytes, note: `${percent(space.fit.share_bytes, space.fit.capacity_bytes)}; XLA_PYTHON_CLIENT_MEM_FRACTION sets another share` }]),
      { name: 'compared with it: the total', bytes: space.total_bytes },
    ],
    field: visible(hint),
    confidence: there.isPhysical ? 'bound' : 'exact',
    why: whyPhysical(there),
  };
}

function difference(view) {
  const { capacity: there, space } = view;
  if (!there || (space.fit.over_bytes == null && space.fit.free_bytes == null)) return null;
  const { over_bytes: over, free_bytes: free } = space.fit;
  const held = heldAgainst(space.fit);
  const apart = differenceText(over || free, there);
  const [needed, available] = bytesApart(held.needed, held.limit);
  return {
    title: over ? `Over by ${apart}` : `${apart} free`,
    formula: over ? `${needed} − ${available} = ${apart}` : `${available} − ${needed} = ${apart}`,
    inputs: [
      { name: held.asked == null ? 'needed: the total, with fragmentation' : 'requested, according to the error text', bytes: held.needed },
      { name: `available: ${held.share == null ? sourceOf(there).text : 'what JAX takes by default'}`, bytes: held.limit },
    ],
    confidence: there.isPhysical ? 'bound' : 'exact',
    why: there.half > 0 ? `The capacity is printed to ± ${bytes(there.half)}.` : '',
  };
}

/* A figure of an error text, and what it is held against. */
function failure(view, word) {
  const { failure: said, errorTexts } = view.said ?? {};
  if (!said) return null;
  const { needed, limit, over, overText } = figuresOf(said);
  const value = { needed, limit: limit?.bytes ?? null, over }[word] ?? null;
  if (value == null) return null;
  const isRead = word !== 'over' || said.exceeded_bytes != null;
  const titles = { needed: 'Asked for', limit: 'Available', over: 'Over by' };
  return {
    title: `${titles[word]} ${word === 'over' ? overText : bytes(value)}`,
    formula: isRead
      ? 'As the error text prints it.'
      : `asked for ${bytes(needed)} − available ${bytes(limit.bytes)} = ${overText}`,
    inputs: [
      { name: 'asked for', bytes: needed },
      ...(limit ? [{ name: 'available', bytes: limit.bytes }] : []),
      ...(over == null ? [] : [{ name: 'over by', bytes: over }]),
    ],
    file: errorTexts.length ? visible(baseName(errorTexts[0].file)) : null,
    field: 'a figure in the text; the OOM page marks its place',
    confidence: 'exact',
    why: 'Read from the text; a printed figure like 15.75G is rounded.',
    caveat: 'Memory that a kernel requests while it runs is in no allocation of the plan.',
  };
}

/* One part of the total. */
function part(view, word) {
  const { space } = view;
  const row = madeOf(space).find((each) => each.word === word);
  if (!row) return null;
  const temporaries = {
    formula: `total ${bytes(space.total_bytes)} − what lives for the whole program ${bytes(space.indefinite_bytes)} = ${bytes(row.bytes)}`,
    inputs: [
      { name: 'total', bytes: space.total_bytes },
      { name: 'for the whole program', bytes: space.indefinite_bytes, sign: '−' },
    ],
  };
  const outputs = {
    formula: `outputs ${bytes(space.output_bytes)} − reused from arguments ${bytes(space.output_reused_bytes)} = ${bytes(row.bytes)}`,
    inputs: [
      { name: 'outputs', bytes: space.output_bytes },
      { name: 'that reuse the memory of arguments', bytes: space.output_reused_bytes, sign: '−' },
    ],
  };
  return {
    title: `${word} ${bytes(row.bytes)}`,
    formula: `${row.hint} ${percent(row.bytes, space.total_bytes)} of the total.`,
    ...(word === 'temporaries' ? temporaries : word === 'outputs' ? outputs : {}),
    field: `${ALLOCATIONS}: ${FLAGS[word] ?? ''}`,
    confidence: 'exact',
    caveat: word === 'temporaries' && space.untraced_bytes > 0 ? `${bytes(space.untraced_bytes)} of it are not in the heap trace.` : '',
  };
}

const WASTE = {
  padding: ({ space }) => ({
    title: `Padding at the peak ${bytes(space.padding_bytes)}`,
    formula: `peak ${bytes(space.peak_bytes)} − the same without padding ${bytes(space.peak_unpadded_bytes)} = ${bytes(space.padding_bytes)}`,
    inputs: [
      { name: 'peak live, as laid out in tiles', bytes: space.peak_bytes },
      { name: 'peak live, dimensions as written', bytes: space.peak_unpadded_bytes, sign: '−' },
    ],
    field: `${BUFFERS} \`.size\` against the product of the dimensions of its shape`,
    confidence: 'exact',
  }),
  fragmentation: ({ space }) => ({
    title: `Fragmentation ${bytes(space.fragmentation_bytes)}`,
    formula: `total ${bytes(space.total_bytes)} − peak live ${bytes(space.peak_bytes)} = ${bytes(space.fragmentation_bytes)}`,
    inputs: [
      { name: 'total of the allocations', bytes: space.total_bytes },
      { name: 'peak live', bytes: space.peak_bytes, sign: '−' },
    ],
    ...sureOfTime(space),
    caveat: space.fragmentation_bytes < 0 ? 'Below zero: the heap trace counts buffers that share one place.' : '',
  }),
  scoped: ({ space }) => ({
    title: `Largest scoped VMEM ${bytes(space.scoped_vmem_bytes)}`,
    formula: `Requested by ${visible(space.scoped_vmem_instruction ?? 'one instruction')} while it runs; it is in no allocation.`,
    field: '`HloInstructionProto.backend_config`',
    confidence: 'exact',
  }),
};

function culprit({ space }) {
  const { count: number, each_bytes: each, bytes: sum, padding_bytes: padding } = space.culprit;
  return {
    title: `${count(number)} × ${bytes(each)}`,
    formula: `${count(number)} × ${exactBytes(each)} = ${bytes(sum)}, ${percent(sum, space.peak_bytes)} of the peak: these buffers have one size and shape, belong to one group of the table, and take more than any other such set.`,
    inputs: [
      { name: visible(space.culprit.shape).slice(0, 80), bytes: each },
      { name: 'together', bytes: sum },
      { name: 'padding of them all', bytes: padding },
      { name: 'peak', bytes: space.peak_bytes },
    ],
    field: BUFFERS,
    ...sureOfTime(space),
    caveat: space.culprit.layer_count ? 'Layers are guessed from the op name.' : '',
  };
}

/* What lives at the moment that strips and table show. */
function liveNow({ space, place, live }) {
  if (place.isPeak || live === undefined)
    return { name: 'live at the peak', bytes: space.peak_bytes, note: counted(space.live_at_peak_count, 'buffer') };
  return { name: `live at ${unitWord(space)} ${count(place.moment)}`, bytes: live };
}

/* Before + born − died = after; of a window, or from one mark to the other. */
function changes(view, data, [before, after], title) {
  const { space } = view;
  return {
    title,
    formula: `${before} ${bytes(data.bytes_before)} + born ${bytes(data.born.bytes)} − died ${bytes(data.died.bytes)} = ${after} ${bytes(data.bytes_after)}`,
    inputs: [
      { name: `live ${before}`, bytes: data.bytes_before },
      { name: 'born', bytes: data.born.bytes, note: counted(data.born.count, 'buffer') },
      { name: 'died', bytes: data.died.bytes, note: counted(data.died.count, 'buffer'), sign: '−' },
      { name: `live ${after}`, bytes: data.bytes_after },
    ],
    field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES,
    ...sureOfTime(space),
    caveat: `The largest sum there is ${bytes(data.peak.bytes)}, at ${unitWord(space)} ${count(data.peak.step)}.`,
  };
}

function window(view) {
  const data = view.window.now?.line.data;
  if (!data) return null;
  if (!data.offsets) return changes(view, data, ['before it', 'after it'], 'The selected window');
  const { caveat, ...card } = changes(view, data, ['before it', 'after it'], 'The selected rectangle');
  const { alive, peak } = data;
  const apart = alive.bytes > peak.bytes ? ', but not all at one time' : '';
  const together = alive.count > 1 ? ` All ${count(alive.count)} together hold ${bytes(alive.bytes)}${apart}.` : '';
  return { ...card, caveat: `Only buffers that overlap offsets ${offsetWords(data.offsets)} are counted.${together} ${caveat}` };
}

function marks(view) {
  const both = view.window.now?.marks.data;
  if (!both) return null;
  const peak = peakOfMarks(both.marks, both.answer);
  const [first, second] = both.marks.a <= both.marks.b ? ['A', 'B'] : ['B', 'A'];
  return changes(view, { ...both.answer, peak }, [`at ${first}`, `at ${second}`], 'Between the marks');
}

const PANELS = {
  curve: ({ space }) => ({
    title: 'Memory over program order',
    formula: `at each ${unitWord(space)}: ${bytes(space.indefinite_bytes)} that live for the whole program + what was allocated − what was freed`,
    inputs: [
      { name: 'for the whole program', bytes: space.indefinite_bytes },
      { name: 'peak', bytes: space.peak_bytes, note: `at ${unitWord(space)} ${count(space.peak_step)}` },
    ],
    field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES,
    ...sureOfTime(space),
    caveat: 'Unpadded counts the dimensions as written. The space between the curve and the capacity line is not all free: holes are not drawn.',
  }),
  strips: (view) => ({
    title: 'Live buffers, in three orders',
    formula: 'Each bar is one buffer, as wide as its bytes; the bars of a strip add up to what is live. Bars too narrow to see are drawn as one and counted.',
    inputs: [liveNow(view)],
    field: BUFFERS,
    ...sureOfTime(view.space),
  }),
  map: ({ space }) => ({
    title: 'Allocation map',
    formula: `One rectangle per buffer: across from the ${unitWord(space)} at which it is born to the one at which it dies, up from its offset to offset + size. What lives for the whole program has no offset in the heap; it is in the bands above. White space between rectangles is a hole.`,
    inputs: [
      { name: 'for the whole program', bytes: space.indefinite_bytes },
      { name: 'peak', bytes: space.peak_bytes, note: `at ${unitWord(space)} ${count(space.peak_step)}` },
    ],
    field: `${ALLOCATIONS} \`.assigned[].offset\`, \`.size\`; ${TRACES}`,
    ...sureOfTime(space),
    caveat: 'Buffers too small to see are drawn as one and counted; zoom in to separate them.',
  }),
  table: (view) => ({
    ...(view.place.within
      ? {
          title: 'Buffers of the selected rectangle',
          formula: `The rows and the rest add up to all buffers of ${visible(view.space.name)}, whether they are live at the same time or not. CSV has every listed row, in bytes.`,
        }
      : {
          title: 'Buffers, and what the filter leaves out',
          formula: 'The rows and the rest add up to all that is live at this moment. CSV has every row that the filter keeps, in bytes.',
          inputs: [liveNow(view)],
        }),
    field: BUFFERS,
    ...sureOfTime(view.space),
    caveat: 'A layer is guessed from the op name.',
  }),
};

/* A saving of a buffer or of a group: the words are the core's. */
const savingCard = (saving) => ({
  title: `Saves ${bytes(saving.bytes)}`,
  formula: `${saving.sentence} ${saving.formula}.`,
  inputs: [
    { name: 'peak live', bytes: saving.next_peak_bytes + saving.bytes },
    { name: 'the most that is live without it', bytes: saving.next_peak_bytes, note: saving.next_peak_step == null ? '' : `at ${count(saving.next_peak_step)}`, sign: '−' },
    { name: 'live of it at the peak', bytes: saving.of_bytes },
  ],
  confidence: saving.confidence,
  why: saving.reason,
});

/* Figures of one buffer. */
const OF_BUFFER = {
  share: (record, view) => OF_BUFFER.size(record, view),
  size: (record, { space }) => ({
    title: `Size ${bytes(record.bytes)}`,
    formula: `${percent(record.bytes, space.peak_bytes)} of the peak: ${exactBytes(record.bytes)} of ${exactBytes(space.peak_bytes)}.`,
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
    formula: `size ${bytes(record.bytes)} − without padding ${bytes(record.unpadded_bytes)} = ${bytes(record.padding_bytes)}${expansion(record.expansion) ? `; stored ${expansion(record.expansion)} as large as the data` : ''}`,
    inputs: [
      { name: 'size', bytes: record.bytes },
      { name: 'without padding', bytes: record.unpadded_bytes, sign: '−' },
    ],
    field: `${BUFFERS} \`.size\`; layout ${visible(record.layout ?? '') || 'of its shape'}`,
    confidence: 'exact',
    caveat: 'Tiles of the layout round dimensions up; a long last dimension wastes least.',
  }),
  alive: (record, { space }) => ({
    title: record.is_indefinite ? 'Lives for the whole program' : `Alive from ${count(record.born_step)} to ${count(record.dies_step ?? space.step_count)}`,
    formula: record.is_indefinite
      ? 'Parameters, outputs and constants keep their allocation from beginning to end.'
      : `born at ${unitWord(space)} ${count(record.born_step)}, freed before ${count(record.dies_step ?? space.step_count)}`,
    ...(record.is_indefinite
      ? { field: ALLOCATIONS, confidence: 'exact' }
      : { field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES, ...sureOfTime(space) }),
  }),
  kind: (record) => ({
    title: `Kind: ${kindWord(record.kind)}`,
    formula: 'Recorded in the allocation itself, not guessed from names.',
    field: `${ALLOCATIONS}: ${FLAGS[{ parameter: 'arguments', output: 'outputs', constant: 'constants' }[record.kind]] ?? FLAGS.temporaries}`,
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
  inputs: [{ name: 'line', text: visible(record.source_file ? `${record.source_file}:${record.source_line ?? ''}` : 'not recorded') }],
  field: '`HloInstructionProto.metadata.source_file`, `.source_line`',
  confidence: 'exact',
  caveat: 'After fusion one instruction stands for many lines; XLA keeps one of them.',
});

/* Of the best piece of advice, in the line of the answer. */
const advice = ({ advice: best, space }) =>
  best && {
    title: `${visible(best.title)}: ${bytes(best.lands_at_bytes)}`,
    formula: `${bytes(space.total_bytes)} as it is − ${bytes(best.saves_bytes)} = ${bytes(best.lands_at_bytes)}: the total of ${visible(space.name)} as it is predicted after \`${visible(best.change)}\`.`,
    inputs: [{ name: 'total as it is', bytes: space.total_bytes }, { name: 'saved', bytes: best.saves_bytes }, { name: 'total after it', bytes: best.lands_at_bytes }],
    confidence: best.confidence,
    why: visible(best.reason),
  };

const SIMPLE = {
  advice, pinned_group: pinnedGroup, pinned_saves: ({ group }) => group && savingCard(group.now.saving), merged, reading, total, peak, capacity, over: difference, free: difference, culprit, window, marks, ...WASTE, ...PANELS };

/* Several buffers that a strip or the map draws as one: the one that was hovered last. */
function merged(view) {
  const item = view.hoveredParts;
  if (!item) return null;
  return {
    title: `${counted(item.count, 'buffer')}, ${bytes(item.bytes)}`,
    formula: `${percent(item.bytes, view.space.peak_bytes)} of the peak: the sum of ${counted(item.count, 'buffer')}, each too small for its own bar.`,
    inputs: [
      { name: 'together', bytes: item.bytes },
      { name: 'largest of them', bytes: item.largest_bytes },
      ...(item.padding_bytes == null ? [] : [{ name: 'padding of them all', bytes: item.padding_bytes }]),
    ],
    field: `${BUFFERS} \`.size\``,
    confidence: 'exact',
    caveat: 'Only the drawing merges them; sums, table and CSV have each one.',
  };
}

/* The step of the curve that was hovered last. */
function reading(view) {
  const { space, reading: at } = view;
  if (!at || at.bytes == null) return null;
  return {
    title: `${bytes(at.bytes)} live at ${unitWord(space)} ${count(at.step)}`,
    formula: `for the whole program ${bytes(space.indefinite_bytes)} + live at this ${unitWord(space)} ${bytes(at.bytes - space.indefinite_bytes)} = ${bytes(at.bytes)}`,
    inputs: [
      { name: 'arguments, outputs and constants, all the time', bytes: space.indefinite_bytes },
      { name: 'temporaries', bytes: at.bytes - space.indefinite_bytes },
      { name: 'live', bytes: at.bytes },
      { name: 'live without padding', bytes: at.unpadded },
      ...(at.change == null ? [] : [{ name: `change from ${unitWord(space)} ${count(at.step - 1)}`, bytes: Math.abs(at.change), sign: at.change < 0 ? '−' : '+' }]),
    ],
    field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES,
    ...sureOfTime(space),
  };
}

/* A row of the table that stands for many buffers. */
function groupRow(view, id) {
  const row = view.table.groupOf(id);
  return row && { ...sumOfGroup(view, row, view.place.within), caveat: 'Open the row for the buffers one by one.' };
}

/* What it saves is asked for by itself: a table of groups has the figure alone. */
async function groupSaves(view, id) {
  const row = view.table.groupOf(id);
  const { by, filter } = view.table.wanted();
  return row && savingCard((await view.ask('buffers', { space: view.space.space, by, filter, key: row.key, limit: 0 })).data.saving);
}

/* The group of the pane is that of the moment, whatever the table lists. */
function pinnedGroup(view) {
  return view.group && sumOfGroup(view, view.group.sums, '');
}

function sumOfGroup(view, row, within) {
  const which = within
    ? 'in the selected rectangle, whether they are live at the same time or not.'
    : `that live at this moment; ${percent(row.bytes, view.space.peak_bytes)} of the peak.`;
  return {
    title: `${counted(row.count, 'buffer')}, ${bytes(row.bytes)}`,
    formula: `The sum of ${counted(row.count, 'buffer')} of one group ${which}`,
    inputs: [
      { name: 'together', bytes: row.bytes },
      { name: 'largest of them', bytes: row.largest_bytes },
      ...(row.padding_bytes == null ? [] : [{ name: 'padding of them all', bytes: row.padding_bytes }]),
    ],
    field: BUFFERS,
    ...sureOfTime(view.space),
  };
}

const isKnown = (record, word) => record != null && (word !== 'saves' || record.saving !== undefined);

/* A buffer and the space it is in: "1498" of the one that is shown, "1498:1" of another. */
async function bufferOf(view, word, rest) {
  const [id, of] = rest.split(':');
  if (of === undefined) return [isKnown(view.records.get(id), word) ? view.records.get(id) : await view.records.read(id), view.space];
  const space = view.spaces.find((each) => String(each.space) === of);
  return [space ? (await view.ask('buffer', { space: of, id })).data : null, space];
}

/* The card of a figure: "total", "part:arguments", "size:1498", "size:1498:1"; null if it is not known here. */
export async function cardOf(view, word, rest) {
  if (word === 'failure') return failure(view, rest);
  if (!view.space) return null;
  const [record, space] = rest && word in OF_BUFFER ? await bufferOf(view, word, rest).catch(() => [null]) : [null];
  const card =
    word === 'group_saves' ? await groupSaves(view, rest) : word === 'part' ? part(view, rest) : word === 'group_row' ? groupRow(view, rest) : record ? OF_BUFFER[word](record, { ...view, space }) : (SIMPLE[word]?.(view) ?? null);
  return card && { file: view.module?.file ? visible(baseName(view.module.file)) : null, ...dropEmpty(card) };
}

const dropEmpty = (card) => Object.fromEntries(Object.entries(card).filter(([, value]) => value != null && value !== ''));
