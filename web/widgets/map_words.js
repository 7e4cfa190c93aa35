/* SPDX-License-Identifier: Apache-2.0
 * map_words.js: words on an allocation map: of the capacity, of the lowest offset in view and of the peak. */

import { bytes } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { placeLimit } from './curve_capacity.js';
import { placeLabels } from './labels.js';
import { cutOf } from './map_layout.js';

const HIGH_PX = 16;
const PEAK_WIDE_PX = 10;
const PEAK_HIGH_PX = 9;
const FONT = () => `600 13px ${token('sans')}`;
const SMALL_FONT = () => `600 12px ${token('sans')}`;
const AXIS_FONT = () => `13px ${token('sans')}`;

/* Pure. limit: {width, y: of its line}, from: {width}, peak: {width, x: of its step}, or null each; names: boxes of
 * words on the rectangles, which the capacity's keep off where there is room. Out: {limit, from, peak}: {x, y: their
 * middle} each, or null. */
export function placeMapWords(plot, { limit, from, peak }, names = []) {
  const { left, right, top, bottom, width, height } = plot;
  const triangle = peak && {
    x: peak.x - PEAK_WIDE_PX / 2,
    y: top + PEAK_HIGH_PX / 2,
    width: PEAK_WIDE_PX,
    height: PEAK_HIGH_PX,
  };
  const there = triangle ? [triangle] : [];
  const placed = { limit: null, from: null, peak: null };
  const take = (word, place, size) => {
    placed[word] = place ?? null;
    if (place) there.push({ ...place, ...size });
  };
  if (limit) {
    const place = placeLimit({ left, top, width, height }, limit.y, limit.width, 1, there, names);
    take('limit', place, { width: limit.width, height: HIGH_PX });
  }
  const beside = (word, places, wide) => {
    const size = { width: wide, height: HIGH_PX };
    take(word, placeLabels([{ places, ...size }], { left, right, top, bottom }, there)[0], size);
  };
  if (from) beside('from', [{ x: left + 4, y: top + HIGH_PX / 2 }], from.width);
  if (peak) {
    const sides = [peak.x + 8, peak.x - 8 - peak.width].filter((x) => x >= left && x + peak.width <= right);
    beside(
      'peak',
      sides.map((x) => ({ x, y: top + HIGH_PX / 2 })),
      peak.width,
    );
  }
  return placed;
}

/* Words with an edge of panel around them, on whatever lies below. */
export function paintWords(context, text, x, y) {
  context.lineWidth = 3;
  context.strokeStyle = token('panel');
  context.strokeText(text, x, y);
  context.fillStyle = token('text');
  context.fillText(text, x, y);
}

const widthOf = (context, font, text) => {
  context.font = font;
  return context.measureText(text).width;
};

/* What has a place on the map that is shown: {limit: {text, width, y}, from, peak} or null each. */
function wordsOf(context, plot, limit, peakStep) {
  const cut = limit && cutOf(plot, limit.bytes);
  const text =
    cut?.hasLine && [limit.text, limit.short].find((each) => widthOf(context, FONT(), each) <= plot.width - 8);
  const from = plot.view.low > 0 ? `offsets from ${bytes(plot.view.low)}` : null;
  const x = peakStep == null ? -1 : plot.x(peakStep + 0.5);
  return {
    limit: text ? { text, width: widthOf(context, FONT(), text), y: plot.top + cut.height } : null,
    from: from && { text: from, width: widthOf(context, AXIS_FONT(), from) },
    peak: x < plot.left || x > plot.right ? null : { text: 'peak', width: widthOf(context, SMALL_FONT(), 'peak'), x },
  };
}

function paintPlaced(context, font, word, place) {
  if (!word || !place) return;
  context.save();
  context.font = font;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  paintWords(context, word.text, place.x, place.y);
  context.restore();
}

/* of: {limit: {bytes, text, short: where that is too long} or null, peak: a step or null, names}. */
export function paintStillWords(context, plot, { limit, peak, names }) {
  const words = wordsOf(context, plot, limit, peak);
  const placed = placeMapWords(plot, words, names);
  paintPlaced(context, FONT(), words.limit, placed.limit);
  paintPlaced(context, AXIS_FONT(), words.from, placed.from);
}

/* The triangle at the peak and its word. */
export function paintPeak(context, plot, { limit, peak, names }) {
  const words = wordsOf(context, plot, limit, peak);
  if (!words.peak) return;
  const { x } = words.peak;
  const half = PEAK_WIDE_PX / 2;
  context.fillStyle = token('text');
  context.beginPath();
  context.moveTo(x - half, plot.top);
  context.lineTo(x + half, plot.top);
  context.lineTo(x, plot.top + PEAK_HIGH_PX);
  context.closePath();
  context.fill();
  paintPlaced(context, SMALL_FONT(), words.peak, placeMapWords(plot, words, names).peak);
}
