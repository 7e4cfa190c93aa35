/* SPDX-License-Identifier: Apache-2.0
 * addresses.js: where what is live lies, and what the free memory is worth: blocks and
 * holes to scale; free, its largest chunk, and the request that would have failed, over time. */

import { el, fill } from '../../lib/dom.js';
import { bytes, time } from '../../lib/format.js';
import { isAll } from '../../lib/range.js';
import { token } from '../../lib/theme.js';
import { createAddressStrip } from '../../widgets/address_strip.js';
import { explainEntry, nodesOf } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';
import { createTimeline } from '../../widgets/timeline.js';
import { timelineDrawing } from '../../widgets/timeline_picture.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { createHoles } from './holes.js';
import { fragmentationOf } from './load.js';
import { createReader } from './reader.js';
import * as say from './text.js';

/* The strip as a picture, and the line of addresses below it. */
const PICTURE = { width: 960, height: 56, axis: 24 };
const hex = (number) => `0x${Math.round(number).toString(16)}`;

/* Out: {panels, load(), hear(), setPinned, beside, reset(), destroy()}. */
export function createAddresses({ trace, url, onPickBlock }) {
  const map = createMap({ trace, url, onPickBlock });
  const all = [map, createWaste({ trace, url }), createHoles({ trace, url, onPickBlock }, createReader)];
  return {
    panels: all.map(({ panel }) => panel),
    load: () => Promise.all(all.map(({ load }) => load())),
    hear: () => all.forEach(({ hear }) => hear()),
    setPinned: map.setPinned,
    beside: map.beside,
    reset: () => all.forEach(({ reset }) => reset()),
    destroy: () => all.forEach(({ destroy }) => destroy()),
  };
}

const widthOf = ({ width }) => Math.min(4096, Math.max(64, Math.ceil(width / 64) * 64));

/* ---- blocks and holes ------------------------------------------------------------ */

/* [from, to) of the addresses, counted from the lowest in view. */
const allOf = ({ first, last, low }) => [Number(first) - Number(low), Number(last) - Number(low)];

function createMap({ trace, url, onPickBlock }) {
  const answer = el('p', { class: 'tab-answer' });
  const axis = el('p', { class: 'strip-axis', 'aria-hidden': 'true' });
  let data = null;
  const exports = exportEntries({
    name: 'memory-profile-addresses',
    title: () => panel.node.querySelector('h2').textContent,
    drawing: () => data && !panel.body.hidden && mapDrawing(strip, data),
    table: () => tableOf(data),
  });
  const panel = createPanel('panel-inner panel-addresses', 'Addresses', {
    menu: () => [exports(), explainEntry('hole')],
  });
  panel.node.dataset.explain = 'hole';
  const strip = createAddressStrip({
    onHover: (block, mark) =>
      showTooltip(
        `a:${block.address}`,
        say.blockLines(block).map((line) => nodesOf(line)),
        mark,
      ),
    onLeave: hideTooltip,
    onPick: onPickBlock,
    onRange: (range, isEnd) => {
      const [low, high] = range.map((offset) => Math.round(offset + Number(data.low)));
      url.move(isAll(range, allOf(data)) ? { low: null, high: null } : { low, high });
      strip.setRange(range);
      if (isEnd) url.choose({});
    },
    onHint: () => {},
    sentence: say.blockSentence,
  });
  panel.body.append(answer, strip.node, axis);
  panel.setAside(
    el('span', { class: 'key key-heap' }, 'allocation'),
    el('span', { class: 'key key-before' }, 'inferred'),
    el('span', { class: 'dim' }, 'gap: hole'),
  );
  const params = () => {
    const { low, high } = url.route;
    const isPart = Number.isInteger(low) && Number.isInteger(high) && high > low;
    return { time: url.wanted.time ?? 'peak', ...(isPart ? { low: hex(low), high: hex(high) } : {}) };
  };
  const draw = (found) => {
    data = found;
    const said = say.told(found.said);
    panel.setTitle('Addresses ', el('span', { class: 'dim' }, say.timeWords({ ...found, step: null }, url.wanted)));
    fill(answer, nodesOf(said));
    strip.draw(
      {
        blocks: found.blocks,
        all: allOf(found),
        range: [0, found.span_bytes],
        largest: found.largest_hole?.address ?? '',
      },
      `Addresses of what is live, ${said.map((part) => part.text ?? part).join('')}`,
    );
    fill(axis, el('span', {}, found.low), el('span', {}, bytes(found.span_bytes)), el('span', {}, found.high));
  };
  const reader = createReader({
    panel,
    what: 'The address map',
    keyOf: () => JSON.stringify([trace.key, params()]),
    question: () => trace.ask('addresses', { ...params(), width: widthOf(strip) }),
    draw,
  });
  return {
    panel,
    ...reader,
    setPinned: strip.setPinned,
    /* The block of one event beside that of `id`, by address; the first without one; null at the ends. */
    beside(id, direction) {
      const blocks = (data?.blocks ?? []).filter((block) => block.event != null);
      const at = blocks.findIndex((block) => `e:${block.event}` === id);
      return (at < 0 ? blocks[0] : blocks[at + direction]) ?? null;
    },
    destroy() {
      reader.stop();
      strip.destroy();
    },
  };
}

/* ---- what the free memory is worth ------------------------------------------------ */

function wasteLines({ columns }, at) {
  const failed = columns.failed_request_bytes[at];
  return [
    [time(columns.time_ps[at], 1e6)],
    [`${bytes(columns.free_bytes[at])} free, largest chunk ${bytes(columns.largest_free_bytes[at])}`],
    failed == null ? ['every request of the trace would fit'] : [`a request of ${bytes(failed)} would fail`],
  ];
}

function createWaste({ trace, url }) {
  const answer = el('p', { class: 'tab-answer' });
  let data = null;
  let drawn = null;
  const title = 'Free memory and its largest chunk';
  const exports = exportEntries({
    name: 'memory-profile-fragmentation',
    title,
    drawing: () => drawn && !panel.body.hidden && timelineDrawing(drawn, [], chart.width, pictureLegend(drawn)),
    table: () => ({
      columns: Object.keys(data.columns).map((key) => ({ key, title: key })),
      rows: data.columns.time_ps.map((ps, at) =>
        Object.fromEntries(Object.entries(data.columns).map(([key, list]) => [key, list[at]])),
      ),
    }),
  });
  const panel = createPanel('panel-inner panel-fragmentation', title, {
    menu: () => [exports(), explainEntry('chunk')],
  });
  panel.node.dataset.explain = 'chunk';
  const chart = createTimeline({
    className: 'timeline-small',
    onHover: (at, mark) => showTooltip(`f:${data.columns.time_ps[at]}`, wasteLines(data, at), mark),
    onLeave: hideTooltip,
    onMoment: url.setTime,
    onRange: url.setRange,
    onSelect: url.setWindow,
    onHint: () => {},
    sentence: (at) => wasteLines(data, at).flat().join(', '),
  });
  panel.body.append(answer, el('div', { class: 'time-chart' }, chart.node));
  const failing = el('span', { class: 'key-line key-failing', hidden: true }, 'request that would have failed');
  panel.setAside(
    el('span', { class: 'key key-free' }, 'free'),
    el('span', { class: 'key-line key-solid' }, 'largest free chunk that the figures imply'),
    failing,
  );
  const place = () => chart.set({ moment: url.wanted.time ?? trace.pool.peak.time_ps, window: url.wanted.window });
  const question = () => {
    const [from, to] = url.range();
    return trace.ask('fragmentation', { ...(url.isZoomed() ? { from, to } : {}), width: widthOf(chart) });
  };
  const draw = (found) => {
    data = found;
    fill(answer, nodesOf(say.told(found.said)));
    failing.hidden = found.columns.failed_request_bytes.every((size) => size == null);
    drawn = fragmentationOf(found, { all: trace.all, range: url.range() });
    chart.draw({ ...drawn, label: 'Free memory and the largest free chunk over time.' });
    place();
  };
  const reader = createReader({
    panel,
    what: 'The fragmentation',
    keyOf: () => JSON.stringify([trace.key, url.range()]),
    question,
    draw,
  });
  return {
    panel,
    ...reader,
    hear() {
      place();
      if (reader.hear()) chart.setRange(url.range());
    },
    destroy() {
      reader.stop();
      chart.destroy();
    },
  };
}

/* ---- pictures and tables ----------------------------------------------------------- */

function tableOf(data) {
  const names = ['address', 'size_bytes', 'kind', 'count', 'op', 'dtype', 'shape', 'step', 'used_bytes'];
  return {
    columns: names.map((key) => ({ key, title: key })),
    rows: data.blocks.map((block) => Object.fromEntries(names.map((key) => [key, block[key]]))),
  };
}

/* The strip with the addresses of its ends and how much lies between them. */
function mapDrawing(strip, { low, high, span_bytes: span, blocks }) {
  const { width, height, axis } = PICTURE;
  const legend = [
    { kind: 'allocation', word: 'allocation', colour: token('alloc-heap') },
    { kind: 'before_window', word: 'inferred', colour: token('text2'), drawn: 'dashed' },
    { kind: 'hole', word: 'gap: hole', colour: token('line'), drawn: 'line' },
  ];
  const has = (kind) =>
    blocks.some((block) => block.kind === kind || (kind === 'allocation' && block.kind === 'mixed'));
  return {
    width,
    height: height + axis,
    paint(context) {
      strip.paintInto(context, width, height);
      context.font = `12px ${token('mono')}`;
      context.fillStyle = token('text2');
      context.textBaseline = 'top';
      for (const [align, x, words] of [
        ['left', 0, low],
        ['center', width / 2, bytes(span)],
        ['right', width, high],
      ]) {
        context.textAlign = align;
        context.fillText(words, x, height + 6);
      }
    },
    legend: legend.filter(({ kind }) => has(kind)).map(({ word, colour, drawn }) => ({ word, colour, kind: drawn })),
  };
}

/* Words of the layers, for pictures. */
function pictureLegend({ layers }) {
  const words = { control: 'free', text: 'largest free chunk', caution: 'request that would have failed' };
  return layers.map(({ fill, stroke, dash }) => ({
    word: words[stroke],
    colour: token(fill === 'area' ? fill : stroke),
    kind: dash ? 'dashed' : fill === 'area' ? 'fill' : 'line',
  }));
}
