/* SPDX-License-Identifier: Apache-2.0
 * segment_map.js: segments of an allocator in rows, all to one scale: the blocks in each in the colour of their
 * category, what is free left empty, and a request as a bar of the same scale above them. */

import { el } from '../lib/dom.js';
import { bytes } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { bindMarks, createLayers, markIn, paintOutlines } from './canvas.js';
import { categoryFill, categoryInk, categoryOf } from './categories.js';
import { createKeyboardList } from './keyboard_list.js';
import { secondTone } from './tones.js';

const LEFT_PX = 92; // names of the groups; more for long ones
const LEFT_MAX_PX = 176;
const LETTER_PX = 6.8;
const ROW_PX = 16;
const ROW_MAX_PX = 34;
const REQUEST_PX = 20;
const GAP_PX = 5;
const APART_PX = 2; // between two segments of a row
const LABEL_FROM_PX = 60;
const TRIES = 40;

/* Pure: in which row each segment of the groups begins, and where, at a scale of bytes a pixel; a group begins a row.
 */
function rowsAt(groups, scale, width) {
  const places = [];
  let row = -1;
  for (const [group, { segments }] of groups.entries()) {
    let x = Infinity;
    for (const segment of segments) {
      const wide = Math.max(1, segment.size_bytes / scale);
      if (x + wide > width) {
        row++;
        x = 0;
      }
      places.push({ segment, group, row, x, width: wide });
      x += wide + APART_PX;
    }
  }
  return { places, rowCount: row + 1 };
}

/* Pure. groups: [{title, segments: [{size_bytes, …}]}]; width × height: pixels there are; leastBytes: of a bar that has
   to fit in
 * a row too. The scale is the largest picture that fits; where there are more groups than rows it is higher than asked
 * for. Out:
 * {scale: bytes a pixel, places: [{segment, group, row, x, width}], rowCount, rowPx}. */
export function laySegments(groups, { width, height, leastBytes = 0 }) {
  const most = groups
    .flatMap(({ segments }) => segments)
    .reduce((max, { size_bytes: size }) => Math.max(max, size), Math.max(1, leastBytes));
  const rows = Math.max(groups.length, Math.floor(height / (ROW_PX + GAP_PX)));
  const isTooMuch = (scale) => rowsAt(groups, scale, width).rowCount > rows;
  let low = most / width;
  let scale = low;
  for (let tries = 0; tries < TRIES && isTooMuch(scale); tries++) {
    low = scale;
    scale *= 2;
  }
  while (scale - low > low / 64) {
    const middle = (low + scale) / 2;
    if (isTooMuch(middle)) low = middle;
    else scale = middle;
  }
  const laid = rowsAt(groups, scale, width);
  const rowPx = Math.max(ROW_PX, Math.min(ROW_MAX_PX, Math.floor(height / Math.max(1, laid.rowCount)) - GAP_PX));
  return { scale, ...laid, rowPx };
}

/* Pure: pixels that the names of the groups take. */
const leftOf = (groups) =>
  Math.min(
    LEFT_MAX_PX,
    groups.reduce((most, { title }) => Math.max(most, title.length * LETTER_PX + 10), LEFT_PX),
  );

/* Pure: a box of each piece, {piece, segment, x, y, width, height, isSecond}, and of each segment. */
function boxesOf({ places, scale, rowPx }, left, top) {
  const segments = [];
  const pieces = [];
  for (const { segment, row, x, width } of places) {
    const y = top + row * (rowPx + GAP_PX);
    segments.push({ segment, x: left + x, y, width, height: rowPx });
    let last = '';
    let isSecond = true;
    for (const piece of segment.pieces) {
      isSecond = piece.kind !== 'hole' && piece.category === last ? !isSecond : false;
      last = piece.category;
      pieces.push({
        piece,
        segment,
        isSecond,
        x: left + x + piece.offset_bytes / scale,
        y,
        width: Math.max(0.5, piece.size_bytes / scale),
        height: rowPx,
      });
    }
  }
  return { segments, pieces };
}

/* The last one that is there: what is drawn last lies on top. */
const pieceAt = (pieces, { x, y }) =>
  pieces.findLastIndex(
    (box) => x >= box.x - 0.5 && x < box.x + box.width + 0.5 && y >= box.y && y < box.y + box.height,
  );

/* actions: onHover(piece, segment, mark), onLeave(), onPick(piece), sentence({piece, segment}), idOf(piece) → of what
   can be pinned,
 * or null. Data: {groups, request: {bytes, fits_bytes} or null, hole: {address, is_usable} of the piece that is named,
 * or null, label}.
 * Out: {node, width, draw(data), setPinned(id), drawing(), destroy()}. */
export function createSegmentMap(actions) {
  let data = null;
  let laid = null;
  let boxes = { segments: [], pieces: [] };
  let [hover, pinned] = [-1, null];
  const layers = createLayers({
    name: 'segment-map',
    isReady: () => data != null,
    paint,
    paintOver,
    onSize: () => data && lay(),
  });
  const plot = el('div', { class: 'segment-plot' }, layers.nodes);
  const top = () => (data.request ? REQUEST_PX + 2 * GAP_PX : 0);
  const left = () => leftOf(data?.groups ?? []);
  function lay() {
    const { width, height } = layers.size;
    if (width <= left() || height <= 0) return;
    laid = laySegments(data.groups, {
      width: width - left() - 2,
      height: height - top() - 2,
      leastBytes: data.request?.bytes,
    });
    boxes = boxesOf(laid, left(), top());
    /* More groups than there is room for: the picture is higher, and is scrolled. */
    const needed = top() + laid.rowCount * (laid.rowPx + GAP_PX);
    plot.style.minHeight = needed > height + GAP_PX ? `${needed}px` : '';
    keyboard.setItems(boxes.pieces);
  }
  const light = (at) => {
    if (at === hover) return;
    hover = at;
    layers.repaintOver();
    if (at < 0) return actions.onLeave();
    const box = boxes.pieces[at];
    return actions.onHover(box.piece, box.segment, markIn(plot.getBoundingClientRect(), box));
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: actions.sentence,
    onMove: light,
    onEnter: (at) => actions.onPick(boxes.pieces[at].piece),
    onLeave: () => light(-1),
  });
  plot.append(keyboard.node);
  layers.watch(plot);
  bindMarks(plot, {
    markAt(place) {
      const at = pieceAt(boxes.pieces, place);
      return at < 0 ? null : at;
    },
    keyboard,
    onHover: light,
    onLeave: () => light(-1),
    onClick: (at) => actions.onPick(boxes.pieces[at].piece),
  });
  function paint(context) {
    if (!laid) return;
    if (data.request) paintRequest(context, data.request, laid.scale, left(), layers.size.width);
    paintTitles(context, laid, data.groups, left(), top());
    for (const { x, y, width, height } of boxes.segments) {
      context.fillStyle = token('held');
      context.fillRect(x, y, width, height);
    }
    for (const box of boxes.pieces) paintPiece(context, box);
    context.strokeStyle = token('control');
    context.lineWidth = 1;
    for (const { x, y, width, height } of boxes.segments)
      if (width > 3) context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    /* In the colour of a request that failed only if that could have been put there. */
    paintHole(
      context,
      boxes.pieces.find(({ piece }) => piece.kind === 'hole' && piece.address === data.hole?.address),
      data.hole?.is_usable,
    );
  }
  function paintOver(context) {
    const own = pinned == null ? [] : boxes.pieces.filter(({ piece }) => actions.idOf(piece) === pinned);
    paintOutlines(context, own, true);
    if (hover >= 0 && boxes.pieces[hover]) paintOutlines(context, [boxes.pieces[hover]], false);
  }
  return {
    node: plot,
    get width() {
      return Math.max(64, (plot.clientWidth || 1024) - left());
    },
    draw(next) {
      data = next;
      hover = -1;
      layers.setLabel(data.label);
      keyboard.setLabel(`${data.label} Arrow keys move, Enter pins.`);
      lay();
      layers.repaint();
    },
    setPinned(id) {
      pinned = id;
      layers.repaintOver();
    },
    drawing: () => layers.isReady() && laid && { width: layers.size.width, height: layers.size.height, paint },
    destroy: layers.destroy,
  };
}

function paintPiece(context, { piece, isSecond, x, y, width, height }) {
  if (piece.kind === 'hole') return;
  const category = categoryOf(piece);
  const ink = categoryInk(category);
  context.fillStyle = isSecond ? secondTone(categoryFill(category), ink) : categoryFill(category);
  context.fillRect(x, y, width, height);
  if (piece.kind === 'pending_free') {
    context.fillStyle = token('caution');
    context.fillRect(x, y, width, 3);
  }
  if (width < LABEL_FROM_PX) return;
  context.fillStyle = ink;
  paintWords(context, bytes(piece.size_bytes), { x: x + 5, y: y + height / 2, width: width - 8 }, 600);
}

function paintWords(context, words, { x, y, width }, weight = 400) {
  context.font = `${weight} 12px ${token('sans')}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  if (context.measureText(words).width <= width) context.fillText(words, x, y);
}

/* The largest piece that is free: in the colour of the request that it is too small for, if there is one. */
function paintHole(context, box, isFailed) {
  if (!box) return;
  context.strokeStyle = context.fillStyle = token(isFailed ? 'over' : 'text');
  context.lineWidth = 2;
  context.strokeRect(box.x + 1, box.y + 1, Math.max(1, box.width - 2), box.height - 2);
  const size = bytes(box.piece.size_bytes);
  context.font = `600 12px ${token('sans')}`;
  const isRoomy = context.measureText(`largest free piece ${size}`).width < box.width - 12;
  paintWords(
    context,
    isRoomy ? `largest free piece ${size}` : size,
    { x: box.x + 6, y: box.y + box.height / 2, width: box.width - 10 },
    600,
  );
}

/* What was asked for, and of it what the largest piece has. */
function paintRequest(context, { bytes: asked, fits_bytes: fits }, scale, x, all) {
  const width = asked / scale;
  const middle = 1 + REQUEST_PX / 2;
  context.fillStyle = token('held');
  context.fillRect(x, 1, Math.min(width, fits / scale), REQUEST_PX);
  context.strokeStyle = token('over');
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.strokeRect(x + 1, 2, Math.max(2, width - 2), REQUEST_PX - 2);
  context.setLineDash([]);
  context.fillStyle = token('over');
  context.font = `600 12px ${token('sans')}`;
  const words = bytes(asked);
  const wide = context.measureText(words).width;
  const isBeside = x + width + 8 + wide < all;
  paintWords(
    context,
    words,
    { x: isBeside ? x + width + 8 : x + 8, y: middle, width: isBeside ? wide : width - 12 },
    600,
  );
  context.fillStyle = token('text2');
  paintWords(context, 'failed request', { x: 0, y: middle, width: x - 4 });
}

/* Each group's name beside its first row. */
function paintTitles(context, { places, rowPx }, groups, left, top) {
  for (const [at, { title }] of groups.entries()) {
    const first = places.find(({ group }) => group === at);
    if (!first) continue;
    context.fillStyle = token('text2');
    context.font = `12px ${token('sans')}`;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.fillText(title, 0, top + first.row * (rowPx + GAP_PX) + rowPx / 2, left - 6);
  }
}
