/* SPDX-License-Identifier: Apache-2.0
 * text.js: what an out-of-memory failure means, in sentences. Pure. A sentence is a list of parts:
 * text, {name}, {bytes, key} where `key` names the range of the text that the figure stands in. */

import { bytes, count, counted, cutMiddle, TIMES, unitOf, visible } from '../../lib/format.js';

const FAMILIES = {
  tpu_compile: 'TPU compile-time OOM',
  tpu_program_load: 'TPU program-load OOM',
  tpu_buffer: 'TPU array OOM',
  gpu_xla: 'GPU OOM',
  gpu_bfc: 'GPU allocator OOM',
  cpu_alloc: 'Host memory OOM',
  other: 'Out of memory',
};
const PHASES = { compile: 'compile time', load: 'program load', run: 'run time' };
const WHO = {
  tpu_compile: 'the program',
  tpu_program_load: 'the program',
  tpu_buffer: 'an array',
  gpu_xla: 'a program',
  gpu_bfc: 'a request',
  cpu_alloc: 'a request',
  other: 'a request',
};

const fig = (failure, key) => ({ bytes: failure[key], key });
const isKnown = (value) => value !== null && value !== undefined;

export const spaceName = (space) => (space ? (/^(hbm|vmem|smem|cmem)$/.test(space) ? space.toUpperCase() : visible(space)) : '');
export const phaseName = (phase) => PHASES[phase] ?? '';

/* "TPU compile-time OOM (E1000)" */
export function title(failure) {
  const space = failure.memory_space && failure.memory_space !== 'hbm' ? ` in ${spaceName(failure.memory_space)}` : '';
  const code = failure.error_code ? ` (${visible(failure.error_code)})` : '';
  return `${FAMILIES[failure.family] ?? FAMILIES.other}${space}${code}`;
}

function who(failure) {
  if (failure.module) return { name: failure.module };
  return failure.family === 'gpu_xla' && failure.memory_space === 'host' ? 'a program' : (WHO[failure.family] ?? WHO.other);
}

/* What the request is held against: {key, word}, or null when the text gives nothing. At compile time the
 * capacity decides; at run time what is free, and of that the largest hole. */
export function limitOf(failure) {
  const isPlan = failure.phase === 'compile';
  const rows = isPlan
    ? [['capacity_bytes', 'available']]
    : [
        ['largest_free_bytes', 'in the largest hole'],
        ['available_bytes', 'reservable'],
        ['free_bytes', 'free'],
        ['capacity_bytes', 'in all'],
      ];
  const found = rows.find(([key]) => isKnown(failure[key]));
  return found ? { key: found[0], word: found[1] } : null;
}

/* {bytes, key}: by how much; key null: the difference of two figures. Null when that is not known. */
export function overOf(failure) {
  if (isKnown(failure.exceeded_bytes)) return fig(failure, 'exceeded_bytes');
  const limit = limitOf(failure);
  if (!limit || !isKnown(failure.needed_bytes)) return null;
  const over = failure.needed_bytes - failure[limit.key];
  /* Not finer than the figures that it was made of. */
  return over > 0 ? { bytes: over, key: null, text: bytes(over, Math.min(unitOf(failure.needed_bytes), unitOf(failure[limit.key]) + 1)) } : null;
}

/* The largest piece that was to be had: the largest hole, else what could be reserved at the bottom. */
const holeKey = (failure) => ['largest_free_bytes', 'available_bytes'].find((key) => isKnown(failure[key])) ?? 'largest_free_bytes';

/* "fragmentation", "shortage" or "": only where the text gives both. */
export function causeOf(failure) {
  const { needed_bytes: needed, free_bytes: free } = failure;
  const hole = failure[holeKey(failure)];
  if (failure.phase === 'compile' || !isKnown(needed) || !isKnown(free)) return '';
  if (free < needed) return 'shortage';
  return isKnown(hole) && hole < needed ? 'fragmentation' : isKnown(hole) ? '' : 'unplaced';
}

const sizeWord = (failure) => (failure.phase === 'compile' ? ' needs ' : ' asks for ');

function needSentence(failure) {
  if (!isKnown(failure.needed_bytes)) {
    const parts = failure.form === 'core_usage' ? failure.buffers : [];
    if (!parts.length) return [who(failure), ' does not fit; the text gives no size'];
    return parts.flatMap((part, at) => [
      at ? ', ' : '',
      { name: part.label ?? 'part' },
      ' uses ',
      { bytes: part.size_bytes, key: `buffers.${at}.size_bytes` },
    ]);
  }
  return [who(failure), sizeWord(failure), { ...fig(failure, 'needed_bytes'), role: 'main' }];
}

function availableSentence(failure) {
  const limit = limitOf(failure);
  if (!limit) return failure.family === 'tpu_compile' || !isKnown(failure.needed_bytes) ? ['.'] : ['; how much is free is not in the text.'];
  const space = failure.phase === 'compile' && spaceName(failure.memory_space);
  const tail = space ? ` of ${space}` : '';
  return ['; ', fig(failure, limit.key), limit.word === 'available' ? `${tail} are available.` : limit.word === 'free' ? ' are free.' : limit.word === 'reservable' ? ' can be reserved.' : ` ${limit.word}.`];
}

/* The first sentence of the page. */
export function answer(failure) {
  if (causeOf(failure) === 'fragmentation')
    return [
      `${title(failure)}: enough is free (`,
      fig(failure, 'free_bytes'),
      holeKey(failure) === 'available_bytes' ? '), but what can be reserved in one piece is ' : '), but the largest hole is ',
      fig(failure, holeKey(failure)),
      ' and ',
      who(failure),
      ' asks for ',
      { ...fig(failure, 'needed_bytes'), role: 'main' },
      ': fragmentation, not shortage.',
    ];
  return [`${title(failure)}: `, ...needSentence(failure), ...availableSentence(failure)];
}

/* "13 × 2.00 GiB bf16[16,16,2048,2048]": the group of equal buffers that takes most; null without a list. */
export function largestGroup(failure) {
  const groups = new Map();
  const both = ['buffers', 'io_buffers'].flatMap((list) => failure[list].map((buffer, at) => ({ buffer, place: `${list}.${at}` })));
  for (const { buffer, place } of both) {
    if (!isKnown(buffer.size_bytes)) continue;
    const key = JSON.stringify([buffer.size_bytes, buffer.shape, buffer.source_file, buffer.source_line]);
    const group = groups.get(key) ?? { buffer, place, count: 0 };
    group.count++;
    groups.set(key, group);
  }
  const list = [...groups.values()].sort((a, b) => b.count * b.buffer.size_bytes - a.count * a.buffer.size_bytes);
  return list[0] ?? null;
}

/* The second sentence: over by how much, what is largest. planned: of largestOf() of plan.js, for a text
 * that lists no buffer. */
export function more(failure, planned = null) {
  const over = overOf(failure);
  const group = failure.form === 'core_usage' ? null : largestGroup(failure);
  const parts = [];
  if (over && causeOf(failure) !== 'fragmentation')
    parts.push(failure.phase === 'compile' ? 'Over by ' : 'Short by ', { ...over, role: 'over' }, '. ');
  if (group && (group.count > 1 || failure.buffers.length + failure.io_buffers.length > 1 || group.buffer.shape)) {
    const many = group.count > 1 ? `${count(group.count)} ${TIMES} ` : '';
    parts.push(`Largest: ${many}`, { bytes: group.buffer.size_bytes, key: `${group.place}.size_bytes` });
    if (group.buffer.shape) parts.push(' ', { name: group.buffer.shape.replace(/\{.*$/, '') });
    parts.push('.');
  } else if (planned && failure.buffers.length + failure.io_buffers.length === 0) {
    parts.push(`Largest in the plan: ${planned.count > 1 ? `${count(planned.count)} ${TIMES} ` : ''}`, { bytes: planned.bytes, key: null }, ' ', { name: planned.shape }, '.');
  }
  return parts;
}

/* What the cause means; "" when the text does not tell shortage from fragmentation. */
export function causeText(failure) {
  const cause = causeOf(failure);
  const free = isKnown(failure.free_bytes) ? bytes(failure.free_bytes) : '';
  if (cause === 'shortage') return `Shortage: less is free in all (${free}) than was asked for, however it lies.`;
  if (cause === 'fragmentation')
    return 'Fragmentation: the free memory lies in pieces, and no piece is large enough. What was allocated early and is kept for long splits it.';
  if (cause === 'unplaced')
    return 'Enough is free in all, and yet there was no place: it lies in pieces. The text does not say how large the largest hole is.';
  return '';
}

/* Who yields to whom on a TPU. */
export function evictionText(failure) {
  if (failure.family === 'tpu_program_load')
    return (
      'Arrays go before programs: when an array finds no room, the runtime throws loaded programs out of memory to make some, ' +
      'never arrays for a program. So a program that ran before can fail to load later, once arrays have taken its place. ' +
      'What helps: drop references to arrays that are no longer used, donate inputs, smaller batches or more shards, fewer programs loaded at a time.'
    );
  if (failure.family === 'tpu_buffer')
    return (
      'Arrays go before programs: the runtime has thrown out the programs that it could before it gave up, so what is left is held by arrays. ' +
      'What helps: drop references to arrays that are no longer used, donate inputs, smaller batches or more shards.'
    );
  return '';
}

/* ---- block 1: rows of figures: {word, bytes, key, after} ---- */

export function fitRows(failure) {
  const over = overOf(failure);
  const row = (word, key, after = '') => (isKnown(failure[key]) ? { word, ...fig(failure, key), after } : null);
  const isPlan = failure.phase === 'compile';
  return [
    row('asked', 'needed_bytes'),
    row('capacity', 'capacity_bytes', isPlan ? spaceName(failure.memory_space) : ''),
    isPlan ? null : row('free', 'free_bytes'),
    isPlan ? null : row('reservable', 'available_bytes'),
    row('largest hole', 'largest_free_bytes'),
    over && { word: isPlan ? 'over by' : 'short by', ...over, isOver: true, after: over.key ? '' : 'the difference' },
  ].filter(Boolean);
}

/* What else the text states: figures [{word, bytes, key}] and words [{word, text, key}]. */
export function otherRows(failure, shown) {
  const sizes = [
    ['total', 'total_bytes'],
    ['program', 'program_bytes'],
    ['requirement of the program', 'requirement_bytes'],
    ['arguments', 'arguments_bytes'],
    ['output', 'output_bytes'],
    ['output shared with arguments', 'shared_bytes'],
    ['reserved', 'reserved_bytes'],
    ['fragmentation', 'fragmentation_bytes'],
    ['reservable', 'available_bytes'],
    ['free', 'free_bytes'],
  ];
  const words = [
    ['code', 'error_code'],
    ['program', 'module'],
    ['memory', 'memory_space'],
    ['device', 'device'],
  ];
  return {
    sizes: sizes.filter(([, key]) => isKnown(failure[key]) && !shown.has(key)).map(([word, key]) => ({ word, ...fig(failure, key) })),
    words: words.filter(([, key]) => failure[key] && failure.ranges[key]).map(([word, key]) => ({ word, text: failure[key], key })),
  };
}

/* "exact (error text)", with the reason behind it. */
export function confidence(failure) {
  const isRounded = ['tpu_compile', 'tpu_program_load', 'tpu_buffer'].includes(failure.family) && failure.form !== 'allocation_exceeds';
  return {
    word: 'exact',
    after: isRounded ? 'error text, figures as printed (rounded)' : 'error text',
    why: isRounded
      ? 'The compiler or runtime stated these figures itself and rounded each to two decimals.'
      : 'The text states these figures itself.',
  };
}

export const fitsWord = (failure) => (failure.phase === 'compile' ? 'No, it does not fit.' : 'No, there was no place.');

/* "4 reports, 3 equal": what a list of failures says of itself. */
export function reportsText(failures, leftOut) {
  const all = failures.reduce((sum, failure) => sum + failure.replicas, 0) + leftOut;
  const equal = failures.filter((failure) => failure.replicas > 1);
  const repeats = equal.map((failure) => `${count(failure.replicas)} equal`);
  return [counted(all, 'report'), ...repeats.slice(0, 3), leftOut > 0 ? `${count(leftOut)} not kept` : ''].filter(Boolean).join(', ');
}

/* One line of that list. */
export function reportLine(failure) {
  const size = isKnown(failure.needed_bytes) ? bytes(failure.needed_bytes) : 'no size';
  const times = failure.replicas > 1 ? ` ${TIMES}${count(failure.replicas)}` : '';
  return { title: title(failure), name: failure.module ?? '', size: `${size}${times}` };
}

/* Nothing failed, or nothing was recognised: {title, text}. */
export function nothing(found) {
  if (found.report_line_count > 0) {
    const { usage } = found;
    const held = usage ? ` (${bytes(usage.used_bytes)} of ${bytes(usage.capacity_bytes)}${usage.memory_space ? ` ${spaceName(usage.memory_space)}` : ''})` : '';
    return { isReport: true, title: 'No failure here.', text: `The text holds the memory report of a compiler or an allocator${held}, and no error.` };
  }
  return {
    isReport: false,
    title: `No out-of-memory report found in ${counted(found.lines?.line_count ?? 0, 'line')}.`,
    text: 'Looked for: TPU E1000, E1001, E0100, E0101, E3000 family; GPU allocator and BufferAssignment reports; TensorFlow and PyTorch/XLA wrappers.',
  };
}

export function documentTitle(failure, source) {
  const size = failure && isKnown(failure.needed_bytes) ? bytes(failure.needed_bytes) : '';
  const parts = [failure ? size : 'no failure', cutMiddle(visible(failure?.module || source), 60), 'OOM'];
  return `${parts.filter(Boolean).join(' · ')} – memviewd`;
}

/* The verdict for a bug report, in Markdown without a table. `nodesText` of answer and more. */
export function plain(parts) {
  return parts
    .map((part) => (typeof part === 'string' ? part : part.name !== undefined ? visible(part.name) : (part.text ?? bytes(part.bytes))))
    .join('');
}
