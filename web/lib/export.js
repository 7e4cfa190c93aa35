/* SPDX-License-Identifier: Apache-2.0
 * export.js: what leaves the page: tables as CSV and Markdown, pictures with their caption, files.
 * A table: {columns: [{key, title, isSource}], rows: [{[key]: number | text | null}]}; byte columns are
 * named with their unit (`size_bytes`) and hold exact numbers. Columns that hold source paths say
 * `isSource`; the reader can have them left out. */

import { cutMiddle, visible } from './format.js';
import { record, replay, textWidth, toSvg } from './picture.js';
import { factsLine, isWithoutPaths, linkHere } from './subject.js';
import { token } from './theme.js';

const MARGIN_PX = 16;
const LINE_PX = 20;
const MAX_PX = 8192;
const MAX_IN_MARKDOWN = 50;

/* ---- tables ------------------------------------------------------------------ */

/* The table without what the reader wants left out. */
export function shownTable({ columns, rows }, isWithout = isWithoutPaths()) {
  return { columns: columns.filter((column) => !(isWithout && column.isSource)), rows };
}

function csvCell(value) {
  if (value == null) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/* Pure: RFC 4180, with a quote before text that a spreadsheet would take for a formula. */
export function csvText({ columns, rows }) {
  const lines = [
    columns.map(({ key }) => csvCell(key)),
    ...rows.map((row) => columns.map(({ key }) => csvCell(row[key]))),
  ];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

/* What GitHub would take for a person, an issue or an address gets a space without width, as in
   analysis/base/markdown.h. */
const markdownCell = (value) =>
  value == null
    ? ''
    : visible(value)
        .replace(/([\\|`*_<>[\]])/g, '\\$1')
        .replace(/@|#(?=\d)|:(?=\/)|gh-(?=\d)|www(?=\.)/gi, '$&&#8203;');

/* Pure: for a bug report. */
export function markdownText({ columns, rows }, title, facts) {
  const shown = rows.slice(0, MAX_IN_MARKDOWN);
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  const isNumber = ({ key }) => shown.some((row) => typeof row[key] === 'number');
  const rest = rows.length - shown.length;
  return [
    `**${markdownCell(title)}**\n\n${markdownCell(facts)}\n\n`,
    line(columns.map((column) => markdownCell(column.title ?? column.key))),
    line(columns.map((column) => (isNumber(column) ? '---:' : '---'))),
    ...shown.map((row) => line(columns.map(({ key }) => markdownCell(row[key])))),
    rest > 0 ? `\n${rest} more rows: use CSV.\n` : '',
  ].join('');
}

/* Pure: rows of a table widget by columns {copy: [key, value(row)]}, tab-separated, with exact figures. A cell that a
   spreadsheet would take for a formula gets a quote before it; numbers do not. */
export function tabSeparated(columns, rows) {
  const cell = (value) => {
    const text = value == null ? '' : visible(String(value));
    return typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
  };
  const kept = columns.filter((column) => column.copy);
  return [
    kept.map((column) => column.copy[0]).join('\t'),
    ...rows.map((row) => kept.map((column) => cell(column.copy[1](row))).join('\t')),
  ].join('\n');
}

/* Pure: the same rows as a table of this file. */
export function tableOf(columns, rows) {
  const kept = columns.filter((column) => column.copy);
  return {
    columns: kept.map((column) => ({ key: column.copy[0], title: column.copy[0], isSource: column.isSource })),
    rows: rows.map((row) => Object.fromEntries(kept.map((column) => [column.copy[0], column.copy[1](row)]))),
  };
}

/* ---- pictures ---------------------------------------------------------------- */

function drawKey(context, { word, colour, kind = 'fill' }, x, y) {
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  if (kind === 'fill') context.fillRect(x, y - 11, 12, 12);
  else if (kind === 'hatch') {
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y - 10.5, 15, 11);
    context.beginPath();
    for (const at of [0, 5, 10]) {
      context.moveTo(x + at, y + 1);
      context.lineTo(x + at + 5, y - 11);
    }
    context.stroke();
  } else {
    context.setLineDash(kind === 'dashed' ? [4, 3] : []);
    context.beginPath();
    context.moveTo(x, y - 5);
    context.lineTo(x + 16, y - 5);
    context.stroke();
    context.setLineDash([]);
  }
  context.fillStyle = token('text');
  context.fillText(word, x + 22, y);
}

/* Rows of legend words that fit into `width`: [[entry, x], …][]. */
function legendRows(legend, width, font) {
  const rows = [];
  let x = Infinity;
  for (const entry of legend) {
    const wide = 22 + textWidth(font, entry.word) + 16;
    if (x + wide > width) {
      rows.push([]);
      x = 0;
    }
    rows[rows.length - 1].push([entry, x]);
    x += wide;
  }
  return rows;
}

function fitted(text, font, width) {
  const wide = textWidth(font, text);
  return wide <= width ? text : cutMiddle(text, Math.max(8, Math.floor((text.length * width) / wide) - 1));
}

/* The drawing with title, facts, legend and link. drawing: {width, height, paint(context), legend:
 * [{word, colour, kind: "fill" | "hatch" | "line" | "dashed"}]}. Out: a picture of picture.js. */
export function captioned(title, { width, height, paint, legend = [] }) {
  const bold = `600 15px ${token('sans')}`;
  const plain = `12px ${token('sans')}`;
  const wide = Math.max(320, width);
  const rows = legendRows(legend, wide, plain);
  const head = MARGIN_PX + 2 * LINE_PX;
  const tall = head + 8 + height + 8 + rows.length * LINE_PX + LINE_PX + MARGIN_PX;
  return record(wide + 2 * MARGIN_PX, tall, (context) => {
    context.fillStyle = token('panel');
    context.fillRect(0, 0, wide + 2 * MARGIN_PX, tall);
    context.translate(MARGIN_PX, MARGIN_PX);
    context.fillStyle = token('text');
    context.font = bold;
    context.fillText(fitted(visible(title), bold, wide), 0, 14);
    context.font = plain;
    context.fillStyle = token('text2');
    context.fillText(fitted(factsLine(), plain, wide), 0, 14 + LINE_PX);
    context.save();
    context.translate(0, head - MARGIN_PX + 8);
    paint(context);
    context.restore();
    let y = head - MARGIN_PX + 16 + height + 14;
    context.font = plain;
    for (const row of rows) {
      for (const [entry, x] of row) drawKey(context, entry, x, y);
      y += LINE_PX;
    }
    context.fillStyle = token('text2');
    context.fillText(fitted(linkHere(), plain, wide), 0, y);
  });
}

/* A PNG at `ratio` device pixels a CSS pixel; less where a side would be above 8,192 px. */
export function toPng(picture, ratio = 2) {
  const scale = Math.min(ratio, MAX_PX / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  replay(picture, context);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

export { toSvg };

/* ---- files ------------------------------------------------------------------- */

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const saveText = (text, name, type) => save(new Blob([text], { type: `${type};charset=utf-8` }), name);
