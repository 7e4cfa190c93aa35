/* SPDX-License-Identifier: Apache-2.0
 * segment_picture.js: what the allocator held at this time as a picture: segments by pool, with their blocks and what
 * is free, and a request that failed beside the largest piece, all to one scale. Its own file: the table of segments is
 * below it. */

import { el, fill } from '../../lib/dom.js';
import { sentenceParts } from '../../lib/finding.js';
import { bytes, capital, count, counted, spokenBytes, visible } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { categoryFill, categoryOf, categoryWord, categoryWords, legend } from '../../widgets/categories.js';
import { explainEntry, nodesOf } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';
import { createSegmentMap } from '../../widgets/segment_map.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { groupsOf, groupTitle, pieceId, requestOf } from './segment_groups.js';
import * as say from './text.js';

const AT_ONCE = 1000; // segments of one answer
const MAX_SEGMENTS = 4000;
const ROWS = 10; // about as many rows are drawn: a pixel is the width's part of all of them
const MAX_PARTS = 8192;

const whatOf = (piece) => {
  if (piece.kind === 'mixed') return `${counted(piece.count, 'small block')} and what is free between them`;
  return piece.kind === 'hole' ? 'free' : categoryWord(categoryOf(piece));
};

const pieceLines = (piece, segment) => [
  [`${bytes(piece.size_bytes)} ${whatOf(piece)}`],
  [piece.op ? visible(piece.op) : piece.kind === 'pending_free' ? say.blockWord(piece.kind) : ''],
  [`${piece.address} · in a segment of ${bytes(segment.size_bytes)}, ${groupTitle(segment)}`],
];

const pieceSentence = ({ piece, segment }) =>
  `${spokenBytes(piece.size_bytes)} ${whatOf(piece)}${piece.op ? `, ${visible(piece.op)}` : ''}, at ` +
  `${piece.address}, in a segment of ${spokenBytes(segment.size_bytes)}, ${groupTitle(segment)}`;

/* The answer with the rows of all its pages. */
async function allSegments(ask, params) {
  const page = (offset) => ask('segments', { ...params, limit: AT_ONCE, ...(offset > 0 && { offset }) });
  const first = await page(0);
  const offsets = [];
  for (let at = AT_ONCE; at < Math.min(MAX_SEGMENTS, first.data.total_count); at += AT_ONCE) offsets.push(at);
  const others = await Promise.all(offsets.map(page));
  return { ...first, data: { ...first.data, rows: [first, ...others].flatMap(({ data }) => data.rows) } };
}

/* onPick(id): a block is pinned. createReader: of reader.js. Out: as the other panels of the address map. */
export function createSegmentPicture({ trace, url, onPick }, createReader) {
  const answer = el('p', { class: 'tab-answer' });
  let data = null;
  let categories = new Set();
  const map = createSegmentMap({
    onHover: (piece, segment, mark) =>
      showTooltip(
        `s:${piece.address}`,
        pieceLines(piece, segment)
          .filter(([words]) => words)
          .map((line) => nodesOf(line)),
        mark,
      ),
    onLeave: hideTooltip,
    onPick: (piece) => pieceId(piece) && onPick(pieceId(piece)),
    sentence: pieceSentence,
    idOf: pieceId,
  });
  const exports = exportEntries({
    name: 'memory-profile-allocator-state',
    title: () => panel.node.querySelector('h2').textContent,
    drawing() {
      const drawing = data && !panel.body.hidden && map.drawing();
      return drawing && { ...drawing, legend: pictureLegend(categories) };
    },
    table: () => tableOf(data),
  });
  const panel = createPanel('panel-inner panel-segment-picture', 'Allocator state', {
    menu: () => [exports(), explainEntry('hole')],
  });
  panel.body.append(answer, el('div', { class: 'segment-host' }, map.node));
  const params = () => ({ time: url.wanted.time ?? 'peak' });
  const draw = (found) => {
    data = found;
    panel.setTitle(
      'Allocator state ',
      el('span', { class: 'dim' }, say.timeWords({ ...found, step: null }, url.wanted)),
    );
    const left = found.total_count - found.rows.length;
    const drawn = found.rows.reduce((sum, { size_bytes: size }) => sum + size, 0);
    const request = requestOf(found);
    fill(
      answer,
      found.finding ? el('strong', {}, nodesOf(sentenceParts(found.finding)), ' ') : '',
      nodesOf(say.told(found.said)),
      left > 0
        ? ` ${counted(left, 'smaller one')}, ${bytes(found.reserved_bytes - drawn)} together, are in the table only.`
        : '',
    );
    categories = new Set(
      found.rows.flatMap(({ pieces }) => pieces.filter(({ kind }) => kind !== 'hole').map(categoryOf)),
    );
    panel.setAside(legend(categories), el('span', { class: 'key key-held-box' }, 'free'));
    const groups = groupsOf(found.rows);
    const label =
      `${count(found.segment_count)} segments to one scale, ` +
      `${groups.map(({ title, segments }) => `${segments.length} ${title}`).join(', ')}.${
        found.finding ? ` ` + `${capital(found.finding.sentence)}.` : ''
      }`;
    map.draw({ groups, request, hole: found.largest_hole, label });
  };
  const reader = createReader({
    panel,
    what: 'The allocator state',
    keyOf: () => JSON.stringify([trace.key, params()]),
    question: () =>
      allSegments(trace.ask, {
        ...params(),
        scale: 'all',
        width: Math.min(MAX_PARTS, Math.ceil((map.width * ROWS) / 64) * 64),
        sort: '-size,address',
      }),
    draw,
  });
  return {
    panel,
    ...reader,
    setPinned: map.setPinned,
    destroy() {
      reader.stop();
      map.destroy();
    },
  };
}

/* Colours and words, for pictures. */
const pictureLegend = (categories) => [
  ...[...categories].map((category) => ({
    word: categoryWords(category),
    colour: categoryFill(category),
    kind: 'fill',
  })),
  { word: 'free', colour: token('held'), kind: 'fill' },
];

/* What is drawn, piece by piece. */
function tableOf(data) {
  const names = [
    'segment',
    'pool',
    'stream',
    'for',
    'address',
    'size_bytes',
    'kind',
    'count',
    'used_bytes',
    'category',
    'op',
  ];
  return {
    columns: names.map((key) => ({ key, title: key })),
    rows: data.rows.flatMap((segment) =>
      segment.pieces.map((piece) => ({
        ...Object.fromEntries(names.map((key) => [key, piece[key] ?? segment[key]])),
        segment: segment.address,
        op: piece.op,
        category: piece.category && categoryWords(piece.category),
      })),
    ),
  };
}
