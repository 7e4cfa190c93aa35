/* SPDX-License-Identifier: Apache-2.0
 * curve_capacity.js: the capacity on the curve: a line with its label, and red for what
 * rises above it. Far above the data it is a label at the edge, so that the data stay legible. */

import { token } from '../lib/theme.js';
import { PEAK_ROOM_PX, topOf } from './curve_marks.js';
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

const meets = (a, b, room) =>
  b && a.x < b.x + b.wide + room && b.x < a.x + a.wide + room && a.y > b.y - b.high && b.y > a.y - a.high;

/* First place that meets no other label. */
function free(places, taken, ratio) {
  return places.find((place) => !taken.some((other) => meets(place, other, 8 * ratio))) ?? places[0];
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

/* Its label; taken: boxes of labels {x, y (bottom), wide, high} that stand already. */
export function paintCapacityLabel(u, data, ratio, taken) {
  const { capacity } = data;
  if (!capacity) return;
  const { ctx, bbox } = u;
  const isLine = isInRange(data);
  const text = isLine ? capacity.text : `${capacity.text} ↑`;
  const right = bbox.left + bbox.width;
  const high = LABEL_PX * ratio;
  ctx.save();
  ctx.setLineDash([]);
  ctx.font = `600 ${13 * ratio}px ${token('sans')}`;
  ctx.textBaseline = 'bottom';
  ctx.textAlign = 'left';
  const wide = ctx.measureText(text).width;
  const ends = [right - wide - 4 * ratio, bbox.left + 4 * ratio];
  let places = ends.map((x) => ({ x, y: bbox.top + high, wide, high }));
  if (isLine) {
    const y = Math.round(u.valToPos(capacity.bytes, 'y', true));
    const rows = [y - 3 * ratio, y + high + 2 * ratio].filter(
      (row) => row - high >= bbox.top && row <= bbox.top + bbox.height,
    );
    places = ends.flatMap((x) => rows.map((row) => ({ x, y: row, wide, high })));
  }
  const place = free(places, taken, ratio);
  if (place) {
    ctx.lineJoin = 'round';
    ctx.lineWidth = 3 * ratio;
    ctx.strokeStyle = token('panel');
    ctx.strokeText(text, place.x, place.y);
    ctx.fillStyle = token('text');
    ctx.fillText(text, place.x, place.y);
  }
  ctx.restore();
}
