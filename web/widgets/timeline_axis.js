/* SPDX-License-Identifier: Apache-2.0
 * timeline_axis.js: columns of a timeline, ticks and labels over picoseconds, and over bytes that need not
 * begin at 0. Pure. */

import { byteStep, bytes, bytesIn, timeUnit, unitName, unitOf } from '../lib/format.js';
import { multiples, oneTwoFive } from './curve_marks.js';

const ROOM = 0.08;
const NEAR_ZERO = 0.3;

/* From a nanosecond on. */
export const TIME_INCREMENTS = oneTwoFive(1e3, 1e17);

/* One unit an axis, the last label carries it: "20", "40", "60 ms". */
export function timeLabels(splits) {
  const known = splits.filter((value) => value != null);
  if (known.length === 0) return splits.map(() => '');
  const step = known.length > 1 ? known[1] - known[0] : known[0] || 1e9;
  const last = known[known.length - 1];
  const unit = timeUnit(last && step / last < 1e-6 ? step : Math.max(step, last));
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit.ps) - 1e-9)));
  return splits.map((value) => {
    if (value == null) return '';
    const text = (value / unit.ps).toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, ',');
    return value === last ? `${text} ${unit.name}` : text;
  });
}

/* [low, high] of the byte axis for values between `min` and `max`, with room for marks above. Fitted: as
 * close as the values allow, unless that is nearly the whole height anyway. */
export function byteRange({ min, max, isFitted }, heightPx, roomPx = 30) {
  const share = Math.max(1, heightPx) / Math.max(1, heightPx - roomPx);
  const spread = max - min;
  const low = min - Math.max(spread * ROOM, max * 0.0005, 1);
  if (!isFitted || low <= NEAR_ZERO * max) return [0, max * share || 1];
  return [low, low + Math.max(max - low, max * 0.002) * share];
}

/* Multiples of a power of two in [low, high], at least 40 px apart. */
export const byteTicks = (low, high, heightPx) => multiples(byteStep(high - low, heightPx), low, high);

/* One unit an axis: "0", "8", "16 GiB"; as many decimals as tell the ticks apart. */
export function byteTickLabels(ticks) {
  const last = ticks[ticks.length - 1] ?? 0;
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : last || 1;
  let unit = unitOf(last);
  while (unit > 0 && step < 1024 ** unit / 8 && last / 1024 ** (unit - 1) < 100000) unit--;
  const share = step / 1024 ** unit;
  const decimals = share >= 1 ? 0 : Math.min(4, Math.ceil(Math.log2(1 / share)));
  return ticks.map((value, at) => {
    if (value === 0) return '0';
    const text = bytesIn(value, unit, decimals);
    return at === ticks.length - 1 ? `${text} ${unitName(unit)}` : text;
  });
}

/* "axis starts at 12.00 GiB", or nothing. */
export function axisWords(low) {
  return low > 0 ? `axis starts at ${bytes(low)}` : '';
}

/* One value more at the end, so that the last event has a width as well. */
export function columnsOf({ x, end, layers }) {
  const last = x.length - 1;
  const far = Math.max(end, (x[last] ?? 0) + 1);
  return [[...x, far], ...layers.map(({ values }) => [...values, values[last] ?? null])];
}
