/* SPDX-License-Identifier: Apache-2.0
 * format.js: the only place that turns numbers, times and names of files into text.
 * Bytes are IEC (KiB one decimal, above it two; tests/fixtures/sizes.txt), signs are + and U+2212.
 * Everything here is pure: same input, same text. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const SPOKEN = ['bytes', 'kibibytes', 'mebibytes', 'gibibytes', 'tebibytes', 'pebibytes', 'exbibytes'];
const DECIMALS = [0, 1, 2, 2, 2, 2, 2];

export const MINUS = '\u2212';
export const TIMES = '\u00d7';
const NONE = '\u2013';

function group(digits) {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/* toFixed() takes a tie up; here it goes to the even digit, as in C. A half of the last digit is a binary fraction:
 * times a power of two, which is exact, a tie is an odd number. */
function toFixedEven(size, decimals) {
  const text = size.toFixed(decimals);
  const isTie = (size * 2 ** (decimals + 1)) % 2 === 1;
  return isTie && Number(text.at(-1)) % 2 ? text.slice(0, -1) + (Number(text.at(-1)) - 1) : text;
}

function fixed(value, decimals) {
  const [whole, part] = toFixedEven(Math.abs(value), decimals).split('.');
  const isZero = !/[1-9]/.test(whole + (part ?? ''));
  return (value < 0 && !isZero ? MINUS : '') + group(whole) + (part ? `.${part}` : '');
}

/* Index into the units: the largest in which the figure, as printed, is at least 1. */
export function unitOf(bytes) {
  let size = Math.abs(bytes);
  let unit = 0;
  while (unit < UNITS.length - 1 && Number(size.toFixed(DECIMALS[unit])) >= 1024) {
    size /= 1024;
    unit++;
  }
  return unit;
}

export function unitName(unit) {
  return UNITS[unit];
}

/* The figure alone, in a given unit: "33.49". */
export function bytesIn(bytes, unit, decimals = DECIMALS[unit]) {
  return fixed(bytes / 1024 ** unit, decimals);
}

/* "33.49 GiB"; an unknown figure is a dash, never a zero. */
export function bytes(value, unit = null, decimals = null) {
  if (value == null) return NONE;
  const at = unit ?? unitOf(value);
  return `${bytesIn(value, at, decimals ?? DECIMALS[at])} ${UNITS[at]}`;
}

/* A size that is known to `resolution` bytes only, such as the difference of two printed figures: in no unit whose last
 * digit would be finer. As size_text_coarse() of the core does it. */
export function bytesCoarse(value, resolution) {
  let unit = 0;
  while (unit < UNITS.length - 1 && Math.floor(1024 ** (unit + 1) / 100) <= resolution) unit++;
  return bytes(value, Math.max(unit, unitOf(value)));
}

/* Both figures with as many decimals as it takes for them to differ. */
export function bytesApart(a, b) {
  for (let more = 0; more <= 6; more++) {
    const texts = [a, b].map((value) => {
      const unit = unitOf(value);
      return bytes(value, unit, unit ? DECIMALS[unit] + more : 0);
    });
    if (a === b || texts[0] !== texts[1]) return texts;
  }
  return [bytes(a), bytes(b)];
}

/* How figures print beside each other that lie no more than `spread` apart: with decimals that show it. */
export function bytesWithin(spread, largest) {
  const unit = unitOf(largest);
  let decimals = DECIMALS[unit];
  while (unit && spread > 0 && (spread / 1024 ** unit) * 10 ** decimals < 10 && decimals < DECIMALS[unit] + 4)
    decimals++;
  return (value) => (unitOf(value) === unit ? bytes(value, unit, decimals) : bytes(value));
}

/* "35,963,086,336 B", for hover, focus and copies. */
export function exactBytes(value) {
  return value == null ? 'not known' : `${fixed(value, 0)} B`;
}

/* In a column of one unit; what would print 0.00 there is printed in its own unit (`isOwn`). */
export function bytesInColumn(value, unit) {
  const text = bytesIn(value, unit);
  if (value !== 0 && !/[1-9]/.test(text)) return { text: bytes(value), isOwn: true };
  return { text: value === 0 ? '0' : text, isOwn: false };
}

export function signedBytes(value) {
  if (value === 0) return '0 B';
  return value > 0 ? `+${bytes(value)}` : bytes(value);
}

export function spokenBytes(value) {
  if (value == null) return 'not known';
  const unit = unitOf(value);
  return `${bytesIn(value, unit)} ${SPOKEN[unit]}`;
}

export function count(value) {
  return value == null ? NONE : fixed(value, 0);
}

/* "1 buffer", "391 buffers". */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/* Whole from 10, one decimal below; only the whole itself prints 100. */
export function percent(part, whole) {
  if (!whole || part == null) return NONE;
  const share = (100 * part) / whole;
  if (share === 0) return '0 %';
  if (share < 0.1) return '< 0.1 %';
  if (share < 9.95) return `${fixed(share, 1)} %`;
  const isNear = share >= 99.5 && share < 100.5 && part !== whole;
  if (isNear && share >= 99.95 && share < 100.05) return part < whole ? '> 99.9 %' : '> 100 %';
  return `${fixed(share, isNear ? 1 : 0)} %`;
}

/* How many times larger: "42.7×". */
export function factor(value) {
  if (value == null) return NONE;
  return `${fixed(value, value < 10 ? 2 : 1)}${TIMES}`;
}

/* The same of what is stored larger than its data; "" where the figure would not show it. */
export const expansion = (value) => (value >= 1.005 ? factor(value) : '');

/* "model.py:41" of "src/model.py:41"; "" of nothing. */
export const baseName = (path) => String(path ?? '').slice(String(path ?? '').lastIndexOf('/') + 1);

/* "model.py:41"; "" when the file is not known. */
export function sourceLine(file, line) {
  if (!file) return '';
  const base = baseName(file) || file;
  return line ? `${base}:${line}` : base;
}

/* "bf16[16,2048]{1,0:T(8,128)}" → ["bf16[16,2048]", "{1,0:T(8,128)}"] */
export function splitShape(shape) {
  const at = shape.startsWith('(') ? -1 : shape.indexOf('{');
  return at < 0 ? [shape, ''] : [shape.slice(0, at), shape.slice(at)];
}

export function spokenShape(shape) {
  const match = /^([a-z0-9]+)\[([\d,]*)\]/i.exec(shape);
  if (!match) return shape;
  return match[2] ? `${match[1]} ${match[2].split(',').join(' by ')}` : `${match[1]} scalar`;
}

const PLAIN = /^[\u0020-\u007e]*$/;

/* Control, bidirectional and zero-width characters become visible marks, so that a
 * name shows what it is and cannot turn its surroundings around. */
export function visible(text) {
  if (PLAIN.test(text)) return String(text);
  return String(text)
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, '\u2421')
    .replace(
      /[\u0080-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
      (c) => `\u27e8${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`,
    )
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/* The same for a text that stands in a sentence of ours, where a backquote begins a command. */
export const literal = (text) => visible(text).replaceAll('`', '\u02cb');

/* What the daemon gives as a reason, as a sentence of its own. */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

const TAIL = 10;
const MIN_HEAD = 3;
const MAX_NUMBER = 24;
const LONGEST_SPAN = 24;
const LAYER = /(?<![a-z])(?:layers?|blocks?)[_.]?(?:\d+|\{i\})/i;
const SHAPE = /^[a-z]\w*\[[\d,<=]*\](?=\{)/;
const SHAPE_ALONE = /^[a-z]\w*\[[\d,<=]*\]$/;

/* Pure: what of a name gives way where there is no room, and what does not: [gives way, stays, gives way, stays]. A
 * layout gives way before its shape; the first layer_N and the end with the whole number of `fusion.123` stay. A
 * dimension is not cut in two: the rest of 1024 would read as 24. span: [from, to) of what tells it from others, which
 * stays instead of a layer. */
export function splitName(text, span = null) {
  const [shape] = SHAPE.exec(text) ?? [];
  if (shape) return ['', shape, text.slice(shape.length), ''];
  const [number] = /[._-]\d+$/.exec(text) ?? [''];
  const points = Array.from(text);
  const inDimension = SHAPE_ALONE.test(text) && /\d(\d+)(?=,.{0,9}$)/.exec(text.slice(-TAIL - 1));
  const tail =
    Math.max(TAIL, number.length <= MAX_NUMBER ? number.length : 0) -
    (inDimension?.index === 0 ? inDimension[1].length : 0);
  const before = points.length - tail < MIN_HEAD ? '' : points.slice(0, -tail).join('');
  const end = text.slice(before.length);
  if (span && span[0] < before.length && span[1] - span[0] <= LONGEST_SPAN) {
    const to = Math.min(span[1], before.length);
    return [before.slice(0, span[0]), before.slice(span[0], to), before.slice(to), end];
  }
  const layer = LAYER.exec(text);
  const after = layer ? layer.index + layer[0].length : 0;
  if (!layer || after > before.length) return [before, '', '', end];
  return [before.slice(0, layer.index), layer[0], before.slice(after), end];
}

/* Keeps both ends: "jit_train…_step". Counts code points, not halves of them. */
export function cutMiddle(text, max) {
  if (text.length <= max) return text;
  const points = Array.from(text.length > 4 * max ? text.slice(0, 2 * max) + text.slice(-2 * max) : text);
  if (points.length <= max) return text;
  const tail = Math.floor((max - 1) * 0.4);
  const head = max - 1 - tail;
  return `${points.slice(0, head).join('')}\u2026${points.slice(points.length - tail).join('')}`;
}

function two(value) {
  return String(value).padStart(2, '0');
}

/* "12:02 today", "yesterday 18:20", "2025-11-21 09:05", in the reader's own time. */
export function when(atMs, nowMs = Date.now()) {
  if (!atMs) return NONE;
  const at = new Date(atMs);
  const now = new Date(nowMs);
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((day(now) - day(at)) / 86400000);
  if (days === 0) return `${clock} today`;
  if (days === 1) return `yesterday ${clock}`;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

/* "3 s ago", "12 min ago", "2 h ago". */
export function ago(atMs, nowMs = Date.now()) {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

const TIGHT_PX = 16;

/* Smallest 2^k steps for a byte axis: at least `minPx` apart over `px` for `range` bytes; closer, down to the
 * height of a label, where fewer than three ticks would be left. */
export function byteStep(range, px, minPx = 40) {
  const pxOf = (step) => (step * Math.max(px, minPx)) / range;
  let step = 1;
  while (pxOf(step) < minPx && (step * 4 <= range || pxOf(step) < TIGHT_PX)) step *= 2;
  return step;
}

const TIME_UNITS = [
  { name: 'ns', ps: 1e3 },
  { name: '\u00b5s', ps: 1e6 },
  { name: 'ms', ps: 1e9 },
  { name: 's', ps: 1e12 },
];

/* Unit for picoseconds of this size: {name, ps}. */
export function timeUnit(ps) {
  return [...TIME_UNITS].reverse().find((unit) => Math.abs(ps) >= unit.ps) ?? TIME_UNITS[0];
}

/* The unit of points of time up to `endPs`, and such a time in it, as a column prints them. */
export const timesUnit = (endPs) => (Math.abs(endPs) >= 1e13 ? TIME_UNITS[3] : TIME_UNITS[2]);
export function timeIn(ps, { ps: unitPs }, stepPs) {
  return fixed(ps / unitPs, Math.max(0, Math.ceil(Math.log10(unitPs / stepPs))));
}

/* "812.4 ms" below 10 s, "12.34 s" above it; `stepPs` asks for as many decimals as tell such steps apart. */
export function time(ps, stepPs = null) {
  if (ps == null) return NONE;
  const unit = timesUnit(ps);
  const needed = stepPs ? Math.max(0, Math.ceil(Math.log10(unit.ps / stepPs))) : 0;
  return `${fixed(ps / unit.ps, Math.min(9, Math.max(unit.name === 's' ? 2 : 1, needed)))} ${unit.name}`;
}

/* A length of time in its own unit: "850 ns", "12.3 \u00b5s", "4.1 ms", "12.34 s". */
export function duration(ps) {
  if (ps == null) return NONE;
  if (ps === 0) return '0';
  const unit = timeUnit(ps);
  const value = ps / unit.ps;
  return `${fixed(value, value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2)} ${unit.name}`;
}
