/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of the Memory Viewer are made of. Pure: what the page knows in,
 * cards of explain.js out. Loaded when the first card is opened. */

import { baseName, bytes, bytesApart, count, counted, exactBytes, percent, visible } from '../../lib/format.js';
import { differenceText, heldAgainst, whyPhysical } from '../../lib/capacity.js';
import { sourceOf } from './answer.js';
import { figuresOf } from './failure.js';
import { madeOf, offsetWords, unitWord } from './text.js';
import { peakOfMarks } from './window.js';
import { OF_BUFFER, savingCard } from './explain_buffer.js';
import { ALLOCATIONS, BUFFERS, FLAGS, sureOfTime, TRACES } from './explain_fields.js';

function total({ space }) {
  const parts = madeOf(space);
  return {
    title: `Needs ${bytes(space.total_bytes)}`,
    formula:
      `${parts.map((part) => `${part.word} ${bytes(part.bytes)}`).join(' + ')} = ${bytes(space.total_bytes)}: ` +
      `every allocation of ${visible(space.name)}, without thread-local ones. This figure is compared with the ` +
      `capacity.`,
    inputs: [
      ...parts.map((part) => ({ name: part.word, bytes: part.bytes, note: part.after })),
      { name: 'total', bytes: space.total_bytes },
    ],
    field: `${ALLOCATIONS} \`.size\` where \`.color\` is ${space.space}`,
    confidence: 'exact',
    caveat:
      'An allocation is as large as the compiler made it, including holes between buffers (fragmentation). What the ' +
      'runtime keeps for itself is not included.',
  };
}

function peak({ space }) {
  const moving = space.peak_bytes - space.indefinite_bytes;
  return {
    title: `Peak live ${bytes(space.peak_bytes)}`,
    formula:
      `for the whole program ${bytes(space.indefinite_bytes)} + live at ${unitWord(space)} ` +
      `${count(space.peak_step)} ${bytes(moving)} = ${bytes(space.peak_bytes)}: the largest sum of buffers that are ` +
      `live at the same time. It explains the total; the total decides whether it fits.`,
    inputs: [
      { name: 'arguments, outputs and constants, all the time', bytes: space.indefinite_bytes },
      {
        name: `temporaries at ${unitWord(space)} ${count(space.peak_step)} of ${count(space.step_count)}`,
        bytes: moving,
      },
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
    formula:
      `${text}. The URL (\`capacity=\`) comes first, then the figure in an error text, then the chip of the ` +
      `dump or the trace.`,
    inputs: [
      { name: there.isPhysical ? 'physical size' : 'available to one program', bytes: there.bytes },
      ...(there.half > 0 ? [{ name: 'printed to ±', bytes: there.half, note: 'as the text rounds it' }] : []),
      ...(space.fit.share_bytes == null
        ? []
        : [
            {
              name: 'that JAX takes by default',
              bytes: space.fit.share_bytes,
              note:
                `${percent(space.fit.share_bytes, space.fit.capacity_bytes)}; XLA_PYTHON_CLIENT_MEM_FRACTION ` +
                `sets another share`,
            },
          ]),
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
      {
        name: held.asked == null ? 'needed: the total, with fragmentation' : 'requested, according to the error text',
        bytes: held.needed,
      },
      {
        name: `available: ${held.share == null ? sourceOf(there).text : 'what JAX takes by default'}`,
        bytes: held.limit,
      },
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
    formula:
      `total ${bytes(space.total_bytes)} − what lives for the whole program ${bytes(space.indefinite_bytes)} ` +
      `= ${bytes(row.bytes)}`,
    inputs: [
      { name: 'total', bytes: space.total_bytes },
      { name: 'for the whole program', bytes: space.indefinite_bytes, sign: '−' },
    ],
  };
  const outputs = {
    formula:
      `outputs ${bytes(space.output_bytes)} − reused from arguments ${bytes(space.output_reused_bytes)} = ` +
      `${bytes(row.bytes)}`,
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
    caveat:
      word === 'temporaries' && space.untraced_bytes > 0
        ? `${bytes(space.untraced_bytes)} of it are not in the heap trace.`
        : '',
  };
}

const WASTE = {
  padding: ({ space }) => ({
    title: `Padding at the peak ${bytes(space.padding_bytes)}`,
    formula:
      `peak ${bytes(space.peak_bytes)} − the same without padding ${bytes(space.peak_unpadded_bytes)} = ` +
      `${bytes(space.padding_bytes)}`,
    inputs: [
      { name: 'peak live, as laid out in tiles', bytes: space.peak_bytes },
      { name: 'peak live, dimensions as written', bytes: space.peak_unpadded_bytes, sign: '−' },
    ],
    field: `${BUFFERS} \`.size\` against the product of the dimensions of its shape`,
    confidence: 'exact',
  }),
  fragmentation: ({ space }) => ({
    title: `Fragmentation ${bytes(space.fragmentation_bytes)}`,
    formula:
      `total ${bytes(space.total_bytes)} − peak live ${bytes(space.peak_bytes)} = ` +
      `${bytes(space.fragmentation_bytes)}`,
    inputs: [
      { name: 'total of the allocations', bytes: space.total_bytes },
      { name: 'peak live', bytes: space.peak_bytes, sign: '−' },
    ],
    ...sureOfTime(space),
    caveat: space.fragmentation_bytes < 0 ? 'Below zero: the heap trace counts buffers that share one place.' : '',
  }),
  scoped: ({ space }) => ({
    title: `Largest scoped VMEM ${bytes(space.scoped_vmem_bytes)}`,
    formula:
      `Requested by ${visible(space.scoped_vmem_instruction ?? 'one instruction')} while it runs; it is in no ` +
      `allocation.`,
    field: '`HloInstructionProto.backend_config`',
    confidence: 'exact',
  }),
};

function culprit({ space }) {
  const { count: number, each_bytes: each, bytes: sum, padding_bytes: padding } = space.culprit;
  return {
    title: `${count(number)} × ${bytes(each)}`,
    formula:
      `${count(number)} × ${exactBytes(each)} = ${bytes(sum)}, ${percent(sum, space.peak_bytes)} of the peak: ` +
      `these buffers have one size and shape, belong to one group of the table, and take more than any other such set.`,
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
    formula:
      `${before} ${bytes(data.bytes_before)} + born ${bytes(data.born.bytes)} − died ` +
      `${bytes(data.died.bytes)} = ${after} ${bytes(data.bytes_after)}`,
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
  return {
    ...card,
    caveat: `Only buffers that overlap offsets ${offsetWords(data.offsets)} are counted.${together} ${caveat}`,
  };
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
    formula:
      `at each ${unitWord(space)}: ${bytes(space.indefinite_bytes)} that live for the whole program + what ` +
      `was allocated − what was freed`,
    inputs: [
      { name: 'for the whole program', bytes: space.indefinite_bytes },
      { name: 'peak', bytes: space.peak_bytes, note: `at ${unitWord(space)} ${count(space.peak_step)}` },
    ],
    field: space.step_unit === 'schedule' ? '`HloProto.hlo_module.schedule`' : TRACES,
    ...sureOfTime(space),
    caveat:
      'Unpadded counts the dimensions as written. The space between the curve and the capacity line is not all free: ' +
      'holes are not drawn.',
  }),
  strips: (view) => ({
    title: 'Live buffers, in three orders',
    formula:
      'Each bar is one buffer, as wide as its bytes; the bars of a strip add up to what is live. Bars too narrow to ' +
      'see are drawn as one and counted.',
    inputs: [liveNow(view)],
    field: BUFFERS,
    ...sureOfTime(view.space),
  }),
  map: ({ space }) => ({
    title: 'Allocation map',
    formula:
      `One rectangle per buffer: across from the ${unitWord(space)} at which it is born to the one at which ` +
      `it dies, up from its offset to offset + size. What lives for the whole program has no offset in the heap; it ` +
      `is in the bands above. White space between rectangles is a hole.`,
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
          formula:
            `The rows and the rest add up to all buffers of ${visible(view.space.name)}, whether they are ` +
            `live at the same time or not. CSV has every listed row, in bytes.`,
        }
      : {
          title: 'Buffers, and what the filter leaves out',
          formula:
            'The rows and the rest add up to all that is live at this moment. CSV has every row that the filter ' +
            'keeps, in bytes.',
          inputs: [liveNow(view)],
        }),
    field: BUFFERS,
    ...sureOfTime(view.space),
    caveat: 'A layer is guessed from the op name.',
  }),
};

/* Of the best piece of advice, in the line of the answer. */
const advice = ({ advice: best, space }) =>
  best && {
    title: `${visible(best.title)}: ${bytes(best.lands_at_bytes)}`,
    formula:
      `${bytes(space.total_bytes)} as it is − ${bytes(best.saves_bytes)} = ${bytes(best.lands_at_bytes)}: the ` +
      `total of ${visible(space.name)} as it is predicted after \`${visible(best.change)}\`.`,
    inputs: [
      { name: 'total as it is', bytes: space.total_bytes },
      { name: 'saved', bytes: best.saves_bytes },
      { name: 'total after it', bytes: best.lands_at_bytes },
    ],
    confidence: best.confidence,
    why: visible(best.reason),
  };

const SIMPLE = {
  advice,
  pinned_group: pinnedGroup,
  pinned_saves: ({ group }) => group && savingCard(group.now.saving),
  merged,
  reading,
  total,
  peak,
  capacity,
  over: difference,
  free: difference,
  culprit,
  window,
  marks,
  ...WASTE,
  ...PANELS,
};

/* Several buffers that a strip or the map draws as one: the one that was hovered last. */
function merged(view) {
  const item = view.hoveredParts;
  if (!item) return null;
  return {
    title: `${counted(item.count, 'buffer')}, ${bytes(item.bytes)}`,
    formula:
      `${percent(item.bytes, view.space.peak_bytes)} of the peak: the sum of ` +
      `${counted(item.count, 'buffer')}, each too small for its own bar.`,
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
    formula:
      `for the whole program ${bytes(space.indefinite_bytes)} + live at this ${unitWord(space)} ` +
      `${bytes(at.bytes - space.indefinite_bytes)} = ${bytes(at.bytes)}`,
    inputs: [
      { name: 'arguments, outputs and constants, all the time', bytes: space.indefinite_bytes },
      { name: 'temporaries', bytes: at.bytes - space.indefinite_bytes },
      { name: 'live', bytes: at.bytes },
      { name: 'live without padding', bytes: at.unpadded },
      ...(at.change == null
        ? []
        : [
            {
              name: `change from ${unitWord(space)} ${count(at.step - 1)}`,
              bytes: Math.abs(at.change),
              sign: at.change < 0 ? '−' : '+',
            },
          ]),
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
  return (
    row &&
    savingCard((await view.ask('buffers', { space: view.space.space, by, filter, key: row.key, limit: 0 })).data.saving)
  );
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
  if (of === undefined)
    return [isKnown(view.records.get(id), word) ? view.records.get(id) : await view.records.read(id), view.space];
  const space = view.spaces.find((each) => String(each.space) === of);
  return [space ? (await view.ask('buffer', { space: of, id })).data : null, space];
}

/* The card of a figure: "total", "part:arguments", "size:1498", "size:1498:1"; null if it is not known here. */
export async function cardOf(view, word, rest) {
  if (word === 'failure') return failure(view, rest);
  if (!view.space) return null;
  const [record, space] = rest && word in OF_BUFFER ? await bufferOf(view, word, rest).catch(() => [null]) : [null];
  const card =
    word === 'group_saves'
      ? await groupSaves(view, rest)
      : word === 'part'
        ? part(view, rest)
        : word === 'group_row'
          ? groupRow(view, rest)
          : record
            ? OF_BUFFER[word](record, { ...view, space })
            : (SIMPLE[word]?.(view) ?? null);
  return card && { file: view.module?.file ? visible(baseName(view.module.file)) : null, ...dropEmpty(card) };
}

const dropEmpty = (card) =>
  Object.fromEntries(Object.entries(card).filter(([, value]) => value != null && value !== ''));
