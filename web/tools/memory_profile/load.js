/* SPDX-License-Identifier: Apache-2.0
 * load.js: asks the daemon for what the Memory Profile shows, and turns answers into
 * what the widgets want. All but what asks is pure. */

import { apiUrl, get } from '../../lib/api.js';
import { listModules } from '../../lib/selection.js';
import { spread, taken } from '../../widgets/spread.js';
import { bandLayers } from './bands.js';
import { stripesOf } from './stripes.js';

export const PAGE_ROWS = 100;
const PARTS = 160;
const OVERVIEW_PARTS = 600;

/* place: {session, host, memory}. Out: ask(view, params, signal) → answer. */
export function asker(place, signal) {
  return (view, params = {}, own = null) =>
    get(`memory_profile/${view}`, { ...place, ...params }, { signal: own ? AbortSignal.any([signal, own]) : signal });
}

/* Programs of a session, largest first: {list: [{name, key, bytes, href}], count}. link: of the context, see app.js. */
export async function listPrograms(session, link, signal) {
  const { modules, total_count: count } = await listModules(session, '', '', signal);
  const list = modules.map((module) => ({
    name: module.name,
    key: module.key,
    bytes: module.largest_total_bytes,
    href: link(session, { tool: 'memory_viewer', module: module.id }),
  }));
  return { list, count };
}

/* Link to all rows as CSV. */
export function csvLink(place, view, params) {
  return apiUrl(`memory_profile/${view}`, { ...place, ...params, format: 'csv' }).href;
}

/* The pool that the URL names, else the worst. */
export function choosePool(pools, { host, memory }) {
  const here = pools.filter((pool) => !host || pool.host === host);
  if (memory == null || memory === '') return here[0] ?? pools[0] ?? null;
  return here.find((pool) => pool.memory === memory) ?? null;
}

/* Times of events made distinct, a picosecond at a time. */
export function distinct(times) {
  const x = new Array(times.length);
  let last = -Infinity;
  for (let at = 0; at < times.length; at++) {
    last = Math.max(times[at], last + 1);
    x[at] = last;
  }
  return x;
}

/* The state before the first event of a window is part of its picture. */
function withBefore(data) {
  const { columns, before, from_ps: from } = data;
  const isShown = before && (columns.time_ps.length === 0 || columns.time_ps[0] > from);
  if (!isShown) return { columns, shift: 0 };
  const names = {
    time_ps: from,
    event: before.event,
    stack_bytes: before.stack_bytes,
    heap_bytes: before.heap_bytes,
    free_bytes: before.free_bytes,
    fragmentation: before.fragmentation,
    largest_fragmentation: before.fragmentation,
    step: before.step,
  };
  return {
    columns: Object.fromEntries(
      Object.entries(names).map(([name, value]) => [name, columns[name] && [value, ...columns[name]]]),
    ),
    shift: 1,
  };
}

/* Of a share that goes up and down within a few pixels, the largest of each part, of all its events: a line, not a
   band. */
function largestIn({ time_ps: times, largest_fragmentation: fragmentation }, [from, to]) {
  const part = Math.max(1, (to - from) / PARTS);
  const largest = new Map();
  const partOf = (at) => Math.floor((times[at] - from) / part);
  for (let at = 0; at < times.length; at++)
    largest.set(partOf(at), Math.max(largest.get(partOf(at)) ?? 0, fragmentation[at] ?? 0));
  return times.map((_, at) => largest.get(partOf(at)));
}

/* Of events that share a pixel: solid to the lowest, pale to the highest. Bands are those at the lowest and at the
   highest. */
function usedLayers(data, used, hasBefore, ends, isStriped) {
  const layersAt = (of) => {
    const bands = bandLayers(data, hasBefore, of);
    if (bands.length > 0) return bands;
    /* Where many events share a pixel, an edge of its own colour would hide the fill. */
    const stroke = of ? 'alloc-heap' : 'alloc-edge';
    return [
      { values: of ? taken(used, of.at) : used, fill: 'alloc-heap', stroke, width: 1, isPale: Boolean(of?.isPale) },
    ];
  };
  const body = () =>
    isStriped
      ? [{ values: ends ? taken(used, ends.lowAt) : used, fill: '', stroke: 'alloc-heap', width: 0, isStripes: true }]
      : layersAt(ends && { at: ends.lowAt, isPale: false });
  return ends ? [...layersAt({ at: ends.highAt, isPale: true }), ...body()] : body();
}

/* The timeline as the widget wants it. pinned: an item of stripes.js that is drawn whatever its size; hasCategories: of
   the recording.
 * isFree: the free area is shown; isHeld: what the process reserved and allocated are lines of their own; width: of the
 * picture, as the daemon was asked for it. */
export function timelineOf(
  data,
  {
    range,
    isFree,
    hasFragmentation = data.has_fragmentation,
    isHeld = false,
    width = PARTS,
    pinned = null,
    hasCategories = true,
  },
) {
  const { columns, shift } = withBefore(data);
  const count = columns.time_ps.length;
  const used = new Array(count);
  const whole = new Array(count);
  let min = Infinity;
  let max = 0;
  for (let at = 0; at < count; at++) {
    used[at] = columns.stack_bytes[at] + columns.heap_bytes[at];
    whole[at] = columns.free_bytes[at] == null ? null : used[at] + columns.free_bytes[at];
    min = Math.min(min, used[at]);
    max = Math.max(max, used[at], isFree ? (whole[at] ?? 0) : 0);
  }
  const hasStack = columns.stack_bytes.some((value) => value > 0);
  const fragmentation = columns.largest_fragmentation ? largestIn(columns, range) : columns.fragmentation;
  const ends = data.is_thinned ? spread(columns.time_ps, used, [data.from_ps, data.to_ps], width) : null;
  const isBanded = Boolean(data.stacked?.bands.length);
  const x = distinct(columns.time_ps);
  const striped = stripesOf(
    data,
    { x, columns, ends, shift, used, held: isFree && isHeld ? whole : null },
    { extra: pinned, hasCategories },
  );
  const layers = [
    isFree && {
      values: whole,
      fill: isHeld ? 'held' : 'panel',
      stroke: isHeld ? 'text' : 'control',
      width: isHeld ? 1.5 : 1,
    },
    ...usedLayers(data, used, shift > 0, ends, striped != null),
    !isBanded &&
      !striped &&
      hasStack && {
        values: ends ? taken(columns.stack_bytes, ends.lowAt) : columns.stack_bytes,
        fill: 'alloc-stack',
        stroke: 'alloc-stack',
      },
    isHeld && { values: ends ? taken(used, ends.highAt) : used, fill: '', stroke: 'text', width: 1, word: 'allocated' },
    hasFragmentation && { values: fragmentation, fill: '', stroke: 'text', dash: [4, 3], isShare: true, width: 1.25 },
  ].filter(Boolean);
  const peakOf = (point) => point && { step: point.time_ps, bytes: point.in_use_bytes };
  return {
    all: [data.start_ps, Math.max(data.end_ps, data.start_ps + 1)],
    range,
    x,
    striped,
    times: columns.time_ps,
    events: columns.event,
    end: data.to_ps,
    used,
    held: isFree && isHeld ? whole : null,
    ends,
    columns,
    fragmentation,
    shift,
    layers,
    min: Number.isFinite(min) ? min : 0,
    max,
    isFitted: !isFree,
    isThinned: data.is_thinned,
    hasStack,
    peak: peakOf(data.peak),
    localPeaks: data.local_peaks.map(peakOf),
    failures: data.failures.map((failure) => ({
      time: failure.time_ps,
      bytes: failure.requested_bytes,
      deviceFree: failure.device_free_bytes,
      free: failure.free_bytes,
    })),
  };
}

/* The curve of changes over it: {from_ps, to_ps, width, reserved_bytes, allocated_bytes}, or null. Where the changed
   job ends
 * early the lines do. */
export function withPredicted(drawn, curve) {
  if (!curve) return { ...drawn, predicted: null };
  const { from_ps: from, to_ps: to, width, reserved_bytes: reserved, allocated_bytes: allocated } = curve;
  const at = (index) => from + ((to - from) * index) / width;
  const predicted = {
    x: reserved.map((_, index) => at(index)),
    end: at(reserved.length),
    lines: [reserved, allocated],
  };
  return { ...drawn, predicted, max: reserved.reduce((max, value) => Math.max(max, value), drawn.max) };
}

/* The whole run in small, for the brush: the lowest and the highest of each part of the time, from 0 on. */
export function overviewOf(data, all) {
  const { x, used, max } = timelineOf(data, { range: all, isFree: false });
  const part = Math.max(1, (all[1] - all[0]) / OVERVIEW_PARTS);
  const steps = [];
  const bytes = [];
  const lowest = [];
  x.forEach((ps, at) => {
    const from = Math.floor((ps - all[0]) / part) * part;
    const last = steps.length - 1;
    if (steps[last] === from) {
      bytes[last] = Math.max(bytes[last], used[at]);
      lowest[last] = Math.min(lowest[last], used[at]);
    } else {
      steps.push(from);
      bytes.push(used[at]);
      lowest.push(used[at]);
    }
  });
  return { steps, bytes, lowest, lastStep: all[1] - all[0] - 1, max: Math.max(1, max) };
}

/* What is known of the event that stands at index `at` of a drawn timeline. */
export function readAt(drawn, data, at) {
  const { columns, shift } = drawn;
  const reading = {
    time_ps: columns.time_ps[at],
    event: columns.event[at],
    step: columns.step[at],
    in_use_bytes: drawn.used[at],
    ...(drawn.ends && {
      lowest_bytes: drawn.used[drawn.ends.lowAt[at]],
      highest_bytes: drawn.used[drawn.ends.highAt[at]],
    }),
    stack_bytes: columns.stack_bytes[at],
    heap_bytes: columns.heap_bytes[at],
    free_bytes: columns.free_bytes[at],
    fragmentation: columns.fragmentation[at],
    drawn_fragmentation: drawn.fragmentation[at],
  };
  const { details } = data;
  const index = at - shift;
  if (!details || index < 0) return reading;
  const text = (name) => details.texts[details[name][index]] ?? null;
  return {
    ...reading,
    activity: details.activity[index],
    size_bytes: details.size_bytes[index],
    requested_bytes: details.requested_bytes[index],
    address: details.address[index],
    op: text('op'),
    region: text('region'),
    dtype: text('dtype'),
    shape: text('shape'),
    program: details.program ? text('program') : null,
    role: details.program ? text('role') : null,
    category: details.category ? text('category') : null,
    confidence: details.program ? text('confidence') : null,
  };
}

/* "GPU_1_bfc", "1", "GPU:1" → "1" */
const deviceOf = (text) => /\d+/.exec(text)?.[0] ?? '';

/* Lanes of the answer for the widget: steps first; of the launches, those of the device whose memory `pool` is are
   marked. */
export function lanesOf(data, pool = null) {
  const own = pool?.kind === 'device' ? deviceOf(pool.memory) : '';
  const isOwn = (lane) => own !== '' && deviceOf(lane.name) === own;
  const count = (item, text) => (item.merged_count > 1 ? `${text} +${item.merged_count - 1}` : text);
  const step = (item) => ({
    kind: 'step',
    from: item.start_ps,
    to: item.end_ps,
    text: count(item, String(item.step)),
    isJoined: item.merged_count > 1,
    item,
  });
  const launch = (isInferred, lane) => (item) => ({
    kind: 'launch',
    lane,
    isInferred,
    from: item.start_ps,
    to: item.end_ps,
    text: count(item, item.name),
    isJoined: item.merged_count > 1,
    item,
  });
  return [
    data.steps.length ? { title: 'steps', items: data.steps.map(step) } : null,
    ...data.lanes.map((lane, at) => ({
      title: lane.name,
      isOwn: isOwn(lane),
      items: lane.launches.map(launch(lane.is_inferred, at)),
    })),
  ].filter(Boolean);
}

/* The URL's name of a run that was picked: "s:FROM-TO" of a step, "l:FROM-TO:LANE" of a launch; it may be of several
 * that are too short to draw apart. */
export const runPin = ({ kind, from, to, lane }) =>
  kind === 'step' ? { kind: 's', id: `${from}-${to}` } : { kind: 'l', id: `${from}-${to}:${lane}` };

/* The question for the run of such a name: all that lies in it as one box. */
export function runQuestion(id) {
  const [from, to] = id.split(':')[0].split('-').map(Number);
  return { from, to, width: 1, memory: null };
}

/* That run in the answer; null if it is not in this trace. */
export function runIn(data, id) {
  const [span, lane] = id.split(':');
  const found = lanesOf(data).flatMap(({ items }) => items);
  const kind = lane === undefined ? 'step' : 'launch';
  return (
    found.find(
      (run) =>
        run.kind === kind && (lane === undefined || run.lane === Number(lane)) && `${run.from}-${run.to}` === span,
    ) ?? null
  );
}

/* What one chart of the fragmentation answer draws: what is free, the largest chunk of it, and the largest
 * request of the trace that would have failed. */
export function fragmentationOf(data, range) {
  const { columns } = data;
  const max = Math.max(1, ...columns.free_bytes);
  const failing = columns.failed_request_bytes.some((size) => size != null);
  return {
    all: range.all,
    range: range.range,
    x: distinct(columns.time_ps),
    times: columns.time_ps,
    end: data.to_ps,
    layers: [
      { values: columns.free_bytes, fill: 'panel', stroke: 'control', width: 1 },
      { values: columns.largest_free_bytes, fill: 'area', stroke: 'text', width: 1.25 },
      failing && { values: columns.failed_request_bytes, fill: '', stroke: 'caution', dash: [4, 3], width: 1.5 },
    ].filter(Boolean),
    min: Math.min(...columns.largest_free_bytes, max),
    max,
    isFitted: false,
    isThinned: true,
    peak: null,
    localPeaks: [],
  };
}

/* Marks of the URL: numbers or nothing. */
export const markOf = (text) => (/^\d{1,16}$/.test(text ?? '') ? Number(text) : null);

/* "a-b" of the URL → [a, b], or null. */
export function windowOf(sel) {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(sel ?? '');
  return match && Number(match[2]) > Number(match[1]) ? [Number(match[1]), Number(match[2])] : null;
}

/* Pure: how many of the daemon's rows go before each of `lead`, its own order kept: by size where the rows are sorted
   so,
 * as far as they came (behind all of them where none of these is smaller); else none. Out: [{before, row}]. */
export function placesOf(lead, first, count, sort) {
  const before = (row) => {
    const at = first.findIndex((other) => other.size_bytes < row.size_bytes);
    return at < 0 ? count : at;
  };
  return lead.map((row) => ({ before: sort === '-size' ? before(row) : 0, row }));
}
