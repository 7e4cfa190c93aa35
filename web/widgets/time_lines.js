/* SPDX-License-Identifier: Apache-2.0
 * time_lines.js: lines of bytes, or of shares, over the calendar, on our own canvas: one point where something was
 * seen, the line stays at its height until the next. Points can be marked ▲ and ▼; a limit is drawn across, points
 * above it are red.
 *
 * Lines differ in colour and in dash, and end in their names, so that none is told by colour alone. */

import { byteStep, bytes, percent, unitOf } from '../lib/format.js';
import { el } from '../lib/dom.js';
import { token } from '../lib/theme.js';
import { bindMarks, createLayers, fitted, markIn } from './canvas.js';
import { createKeyboardList } from './keyboard_list.js';
import { placeLabels } from './labels.js';
import { SET_SIZE, setFill } from './sets.js';

const LEFT_PX = 64;
const RIGHT_PX = 12;
const TOP_PX = 20;
const AWAY_PX = 14; // a line of words about limits that are out of view
const BOTTOM_PX = 22;
const POINT_PX = 3;
const NEAR_PX = 24;
const MARK_PX = 6;
const LABEL_PX = 92; // of a date
const NAME_AWAY_PX = 8;
const NAME_SHARE = 0.3; // of the width, at most
const NAME_APART_PX = 14;
const NAME_FONT = () => `12px ${token('sans')}`;
const LIMIT_FONT = () => `600 12px ${token('sans')}`;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const HEADROOM = 1.06;
const LIMIT_WITHIN = 1.5; // times the data: a limit that is further away is named at the edge
const DAY_MS = 86400000;

/* Colour and dash of the line at that place. */
export const lineStyle = (at) => ({ fill: () => setFill(at), dash: DASHES[Math.floor(at / SET_SIZE) % DASHES.length] });

/* Pure: the points of all lines, left to right: [{line, point, at, value}]. */
export function pointsOf(lines) {
  return lines
    .flatMap(({ at, values }, line) => at.map((ms, point) => ({ line, point, at: ms, value: values[point] })))
    .filter(({ at, value }) => at != null && value != null)
    .sort((a, b) => a.at - b.at || a.line - b.line);
}

/* Pure: times and values that are drawn: [from, to, largest]; a limit nearby is within. */
export function extentOf(points, limits) {
  const times = points.map(({ at }) => at);
  const from = Math.min(...times);
  const to = Math.max(...times);
  const most = Math.max(1, ...points.map(({ value }) => value));
  const near = limits.map(({ value }) => value).filter((limit) => limit <= most * LIMIT_WITHIN);
  const margin = Math.max((to - from) * 0.02, DAY_MS / 24);
  return { from: from - margin, to: to + margin, most: Math.max(most, ...near) * HEADROOM };
}

/* Pure: days, weeks or months for labels that are `room` apart at least: [ms …], at midnight UTC. */
export function dayTicks(from, to, count) {
  const isRoomy = (step) => (to - from) / DAY_MS / step <= Math.max(1, count);
  let days = [1, 2, 7, 14, 28, 91, 182, 364].find(isRoomy) ?? 728;
  while (!isRoomy(days)) days *= 2;
  const ticks = [];
  for (let at = Math.ceil(from / (days * DAY_MS)) * days * DAY_MS; at <= to; at += days * DAY_MS) ticks.push(at);
  return ticks;
}

/* Years that a date cannot hold have no word. */
const dayText = (ms) => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : '');

/* In: sentence(point), onHover(point, mark), onLeave(), onPick(point). A point is one of pointsOf.
 * Out: {node, draw({lines: [{name, at, values, marks: {point: "up" | "down"}, }], limits: [{value, of}], isShare,
 * label}), drawing(), destroy()}. */
export function createTimeLines({ sentence, onHover, onLeave, onPick }) {
  let data = { lines: [], limits: [], isShare: false, label: '' };
  let points = [];
  let extent = { from: 0, to: 1, most: 1 };
  let hover = -1;
  let names = []; // of the lines, as they fit
  let rightPx = RIGHT_PX;
  const layers = createLayers({
    name: 'time-lines',
    isReady: () => points.length > 0 && size.width > LEFT_PX + LABEL_PX && size.height > TOP_PX + BOTTOM_PX,
    paint,
    paintOver,
  });
  const { size } = layers;
  const node = el('div', { class: 'time-lines' }, layers.nodes);
  const x = (at) => LEFT_PX + ((size.width - LEFT_PX - rightPx) * (at - extent.from)) / (extent.to - extent.from);
  const top = () => TOP_PX + (data.limits.some(({ value }) => value > extent.most) ? AWAY_PX : 0);
  const y = (value) => size.height - BOTTOM_PX - ((size.height - top() - BOTTOM_PX) * value) / extent.most;
  const boxOf = (at) => ({
    x: x(points[at].at) - POINT_PX,
    y: y(points[at].value) - POINT_PX,
    width: 2 * POINT_PX,
    height: 2 * POINT_PX,
  });

  function paint(context) {
    context.font = `12px ${token('sans')}`;
    names = data.lines.map(({ name }) => fitted(context, name, size.width * NAME_SHARE));
    rightPx = RIGHT_PX + NAME_AWAY_PX + Math.max(0, ...names.map((name) => context.measureText(name).width));
    const plot = { ...data, extent, size, x, y, right: size.width - rightPx };
    paintAxes(context, plot);
    const limits = paintLimits(context, plot);
    data.lines.forEach((line, at) => paintLine(context, line, lineStyle(at), plot));
    data.lines.forEach((line) => paintMarks(context, line, plot));
    paintLabels(context, [...limits.words, ...namesOf(context, data.lines, names, plot)], plot, limits.lines);
  }
  function paintOver(context) {
    if (hover < 0) return;
    const { x: left, y: top } = boxOf(hover);
    context.strokeStyle = token('text');
    context.lineWidth = 2;
    context.beginPath();
    context.arc(left + POINT_PX, top + POINT_PX, POINT_PX + 3, 0, 2 * Math.PI);
    context.stroke();
  }
  const setHover = (at) => {
    if (at === hover) return;
    hover = at;
    layers.repaintOver();
  };
  const show = (at) => {
    setHover(at);
    onHover(points[at], markIn(node.getBoundingClientRect(), boxOf(at)));
  };
  const leave = () => {
    setHover(-1);
    onLeave();
  };
  const keyboard = createKeyboardList({
    label: '',
    sentence: (item) => sentence(item),
    onMove: show,
    onEnter: (at) => onPick(points[at]),
    onLeave: leave,
  });
  node.append(keyboard.node);
  layers.watch(node);
  bindMarks(node, {
    markAt: (place) => nearest(points, place, x, y),
    keyboard,
    onHover: show,
    onLeave: leave,
    onClick: (at) => onPick(points[at]),
  });
  return {
    node,
    draw(next) {
      data = next;
      points = pointsOf(data.lines);
      hover = -1;
      if (points.length) extent = extentOf(points, data.limits);
      layers.setLabel(data.label);
      keyboard.setLabel(`${data.label} Arrow keys move, Enter opens.`);
      keyboard.setItems(points);
      layers.repaint();
    },
    drawing: () => layers.isReady() && { width: size.width, height: size.height, paint },
    destroy: layers.destroy,
  };
}

/* The place in `points` of the one that is nearest, or null. */
function nearest(points, place, x, y) {
  let found = null;
  let least = NEAR_PX ** 2;
  points.forEach((point, at) => {
    const away = (x(point.at) - place.x) ** 2 + (y(point.value) - place.y) ** 2;
    if (away > least) return;
    found = at;
    least = away;
  });
  return found;
}

function paintAxes(context, { extent, size, x, y, right, isShare }) {
  const room = size.height - TOP_PX - BOTTOM_PX;
  const step = isShare ? shareStep(extent.most, room) : byteStep(extent.most, room);
  const unit = unitOf(extent.most);
  context.font = `12px ${token('sans')}`;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.lineWidth = 1;
  for (let value = 0; value <= extent.most; value += step) {
    const at = Math.round(y(value)) + 0.5;
    context.strokeStyle = token('line');
    context.beginPath();
    context.moveTo(LEFT_PX, at);
    context.lineTo(right, at);
    context.stroke();
    context.fillStyle = token('text2');
    const isLast = value + step > extent.most;
    const words = isShare ? percent(value, 100) : bytes(value, unit, step >= 1024 ** unit ? 0 : 2);
    context.fillText(value === 0 ? '0' : isShare || isLast ? words : words.split(' ')[0], LEFT_PX - 8, at);
  }
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const at of dayTicks(extent.from, extent.to, Math.floor((right - LEFT_PX) / LABEL_PX))) {
    const words = dayText(at);
    const half = context.measureText(words).width / 2;
    context.fillText(
      words,
      Math.min(Math.max(x(at), LEFT_PX + half), size.width - half - 1),
      size.height - BOTTOM_PX + 6,
    );
  }
  context.textAlign = 'left';
}

function shareStep(most, room) {
  return [5, 10, 20, 25, 50, 100, 200, 500].find((step) => (most / step) * 32 <= room) ?? 1000;
}

/* A solid line each. Out: their words, on the left, for lines have their names on the right; what is out of view is
 * named at the top; and the boxes of the lines, which no words may cross. */
function paintLimits(context, { limits, extent, y, right, isShare }) {
  context.font = LIMIT_FONT();
  context.fillStyle = token('text');
  const lines = [];
  /* The higher first, so that what has to give way gives way upwards. */
  const words = [...limits]
    .sort((a, b) => b.value - a.value)
    .map(({ value, of }) => {
      const isIn = value <= extent.most;
      const at = isIn ? Math.round(y(value)) : TOP_PX + 2;
      const size = isShare ? percent(value, 100) : bytes(value);
      const said = `capacity ${of ? `of ${of} ` : ''}${size}${isIn ? '' : ' ↑'}`;
      if (isIn) {
        context.fillRect(LEFT_PX, at - 1, right - LEFT_PX, 2);
        lines.push({ x: LEFT_PX, y: at, width: right - LEFT_PX, height: 2 });
      }
      const width = context.measureText(isIn ? `${said} ↓` : said).width;
      return { words: said, font: LIMIT_FONT, isLimit: isIn, x: LEFT_PX + 4, y: at - 9, width };
    });
  return { words, lines };
}

function paintLine(context, { at, values, isOver }, { fill, dash }, { x, y }) {
  const drawn = at
    .map((ms, place) => [ms, values[place], isOver[place]])
    .filter(([ms, value]) => ms != null && value != null);
  if (drawn.length === 0) return;
  context.strokeStyle = fill();
  context.fillStyle = fill();
  context.lineWidth = 2;
  context.setLineDash(dash);
  context.beginPath();
  drawn.forEach(([ms, value], place) => {
    if (place > 0) context.lineTo(x(ms), y(drawn[place - 1][1]));
    context[place > 0 ? 'lineTo' : 'moveTo'](x(ms), y(value));
  });
  context.stroke();
  context.setLineDash([]);
  for (const [ms, value, isAbove] of drawn) {
    context.fillStyle = isAbove ? token('over') : fill();
    context.beginPath();
    context.arc(x(ms), y(value), isAbove ? POINT_PX + 1 : POINT_PX, 0, 2 * Math.PI);
    context.fill();
  }
}

/* The name of each line, behind its last point. */
function namesOf(context, lines, names, { x, y }) {
  context.font = NAME_FONT();
  return lines
    .map(({ at, values }, line) => {
      const last = values.findLastIndex((value, place) => value != null && at[place] != null);
      const width = context.measureText(names[line]).width;
      const place = last < 0 ? null : { x: x(at[last]) + NAME_AWAY_PX, y: y(values[last]) };
      return place && { words: names[line], font: NAME_FONT, width, ...place };
    })
    .filter(Boolean);
}

/* Beside no other, and across no line of a limit; what has no room is left out: the legend has the names, too. The
 * words of a limit that do not stand on its line say that it is below. */
function paintLabels(context, labels, { size }, lines) {
  const within = { left: LEFT_PX, right: size.width, top: 0, bottom: size.height - BOTTOM_PX };
  const places = placeLabels(
    labels.map((label) => ({ ...label, height: NAME_APART_PX })),
    within,
    lines,
  );
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.lineWidth = 4;
  context.strokeStyle = token('panel');
  context.fillStyle = token('text');
  labels.forEach(({ words, font, isLimit, y }, at) => {
    if (!places[at]) return;
    const said = isLimit && places[at].y < y - 1 ? `${words} ↓` : words;
    context.font = font();
    context.strokeText(said, places[at].x, places[at].y);
    context.fillText(said, places[at].x, places[at].y);
  });
}

/* ▲ above where it grew, ▼ below where it shrank. */
function paintMarks(context, { at, values, marks }, { x, y }) {
  for (const [point, direction] of Object.entries(marks)) {
    const sign = direction === 'up' ? -1 : 1;
    const left = x(at[point]);
    const top = y(values[point]) + sign * (POINT_PX + 3);
    context.fillStyle = token(direction === 'up' ? 'grown' : 'shrunk');
    context.beginPath();
    context.moveTo(left - MARK_PX, top);
    context.lineTo(left + MARK_PX, top);
    context.lineTo(left, top + sign * MARK_PX * 1.7);
    context.fill();
  }
}
