/* SPDX-License-Identifier: Apache-2.0
 * curve_capacity.js: the capacity on the curve: a line with its label, and red for what
 * rises above it. Far above the data it is a label at the edge, so that the data stay legible. */

import { token } from '../lib/theme.js';
import { paintMarks, PEAK_ROOM_PX, topOf } from './curve_marks.js';
import { placeLabels } from './labels.js';
import { fillBelow, stepped } from './picture_lines.js';

const FAR = 1.5;
const LINE_PX = 2;
const HATCH_PX = 8;
const HATCH_ALPHA = 0.7;
const LABEL_PX = 16;
const FAR_ROOM_PX = 8;

/* Pure: inside the range up to 1.5 times the data. */
export function isInRange({ capacity, max }) {
  return Boolean(capacity) && capacity.bytes <= FAR * max;
}

/* Pure: largest byte on the axis. A capacity far above is a label over that of the peak. */
export function topWith(data, heightPx) {
  const { max, capacity } = data;
  if (isInRange(data)) return topOf(Math.max(max, capacity.bytes), heightPx, PEAK_ROOM_PX);
  return topOf(max, heightPx, capacity ? PEAK_ROOM_PX + FAR_ROOM_PX : PEAK_ROOM_PX);
}

/* A colour that changes at the capacity: `below` up to it, `above` over it. */
export function splitAt(u, capacity, below, above) {
  if (!capacity?.isOver) return token(below);
  const { top, height } = u.bbox;
  const at = (u.valToPos(capacity.bytes, 'y', true) - top) / height;
  if (!Number.isFinite(at) || at <= 0) return token(below);
  const share = Math.min(1, at);
  const gradient = u.ctx.createLinearGradient(0, top, 0, top + height);
  gradient.addColorStop(0, token(above));
  gradient.addColorStop(share, token(above));
  gradient.addColorStop(share, token(below));
  gradient.addColorStop(1, token(below));
  return gradient;
}

/* Pure: where the words of a limit stand, {x, y: their middle}, or null: at an end of its line, above it or below it.
 * y: of the line, null: it is far above; firm: boxes that they may not lie on; soft: marks that they keep off where
 * there is room. */
export function placeLimit({ left, top, width, height }, y, wide, ratio, firm = [], soft = []) {
  const high = LABEL_PX * ratio;
  const within = { left, right: left + width, top, bottom: top + height };
  const rows = y == null ? [top + high / 2] : [y - 3 * ratio - high / 2, y + 2 * ratio + high / 2];
  const isIn = (row) => row - high / 2 >= top && row + high / 2 <= within.bottom;
  const places = [within.right - wide - 4 * ratio, left + 4 * ratio].flatMap((x) =>
    rows.filter(isIn).map((row) => ({ x, y: row })),
  );
  const label = { places, width: wide, height: high };
  const [beside] = placeLabels([{ ...label, isStill: true }], within, [...firm, ...soft]);
  return beside ?? placeLabels([label], within, firm)[0];
}

/* What rises above the capacity, as a hatched area; the hatch shows on every colour. u: in the pixels of its canvas. */
export function paintOver(u, data, ratio) {
  const { capacity, steps, bytes, from, to, lastStep } = data;
  if (!capacity?.isOver || !isInRange(data)) return;
  const { ctx, bbox } = u;
  const floor = u.valToPos(capacity.bytes, 'y');
  const points = stepped(u, { x: steps, end: (lastStep ?? to) + 1, from, to: to + 1, last: to }, bytes);
  if (points.length === 0 || floor <= bbox.top) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, floor - bbox.top);
  ctx.clip();
  fillBelow(ctx, points, bbox.top + bbox.height, token('over-area'));
  ctx.clip();
  ctx.strokeStyle = token('over');
  ctx.lineWidth = ratio;
  ctx.globalAlpha = HATCH_ALPHA;
  ctx.setLineDash([]);
  ctx.beginPath();
  const high = floor - bbox.top;
  for (let x = bbox.left - high; x < bbox.left + bbox.width; x += HATCH_PX * ratio) {
    ctx.moveTo(x, floor);
    ctx.lineTo(x + high, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

/* The line alone: other labels stand on it. */
export function paintCapacityLine(u, data, ratio) {
  if (!isInRange(data)) return;
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(data.capacity.bytes, 'y', true));
  ctx.fillStyle = token('text');
  ctx.fillRect(bbox.left, y - (LINE_PX * ratio) / 2, bbox.width, LINE_PX * ratio);
}

/* Words at {x, y: their middle} that other lines may pass behind. */
function paintWords(ctx, text, { x, y }, ratio) {
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3 * ratio;
  ctx.strokeStyle = token('panel');
  ctx.strokeText(text, x, y);
  ctx.fillStyle = token('text');
  ctx.fillText(text, x, y);
}

/* Words of a limit {bytes, text}; isLine: its line is in view, else it is above. Out: their box, if there is room. */
export function paintLimitWords(u, { bytes, text }, isLine, ratio, firm = [], soft = []) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.setLineDash([]);
  ctx.font = `600 ${13 * ratio}px ${token('sans')}`;
  const words = isLine ? text : `${text} ↑`;
  const wide = ctx.measureText(words).width;
  const y = isLine ? Math.round(u.valToPos(bytes, 'y', true)) : null;
  const place = placeLimit(bbox, y, wide, ratio, firm, soft);
  if (place) paintWords(ctx, words, place, ratio);
  ctx.restore();
  return place ? [{ ...place, width: wide, height: LABEL_PX * ratio }] : [];
}

/* Its label; firm, soft: as of placeLimit(). */
export const paintCapacityLabel = (u, data, ratio, firm, soft) =>
  data.capacity ? paintLimitWords(u, data.capacity, isInRange(data), ratio, firm, soft) : [];

/* The marks and the capacity's label, none on another; names: boxes of words that stand already. */
export function paintMarksAndCapacity(u, data, ratio, names = []) {
  paintMarks(u, data, ratio, (firm, soft) => paintCapacityLabel(u, data, ratio, [...names, ...firm], soft));
}
