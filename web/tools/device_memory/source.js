/* SPDX-License-Identifier: Apache-2.0
 * source.js: the text of a file with what each line holds beside it; without the text,
 * the lines that hold something. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el, fill, name } from '../../lib/dom.js';
import { count, visible } from '../../lib/format.js';
import { createPanel, message } from '../../widgets/panel.js';
import { copyButton } from '../../widgets/details.js';
import { shareBar } from './parts.js';
import { createLoader } from './load.js';
import * as empty from './empty.js';
import { amount } from './text.js';

const AROUND = 12;
const FAR = 400;
const MAX_SHOWN = 2000;

export function createSource({ subject, store }) {
  const panel = createPanel('panel-source', 'Source');
  const loader = createLoader(subject, panel, { what: 'The source', sentence: 'source lines' });
  const said = el('div', { class: 'source-said' });
  const lines = el('div', { class: 'source-lines', tabindex: '0', role: 'region', 'aria-label': 'Source lines' });
  panel.body.append(said, lines);

  const draw = async (data) => {
    panel.setTitle('Source', el('span', { class: 'dim' }, ' ', name(data.file)));
    panel.setAside(copyButton(data.file));
    const text = await readText(data.file, largestLine(data));
    fill(
      said,
      text.reason != null
        ? message(empty.noSource(data.file, text.reason))
        : text.isCut
          ? el('p', { class: 'dim' }, cutText(text, data))
          : null,
    );
    fill(lines, table(data, text));
    lines.querySelector('.is-here')?.scrollIntoView({ block: 'center' });
  };
  return {
    node: panel.node,
    async show() {
      if (!store.state.pin) await subject.summaryRead;
      const frame = store.state.pin ?? subject.summary?.top[0]?.frame.id ?? null;
      if (!frame || frame === 'none' || frame === 'machinery') {
        loader.forget();
        panel.say(message(empty.noFrameChosen('then the lines of its file are shown here.')));
        return;
      }
      const data = await loader.load('source', { frame }, () => {});
      if (data) await draw(data);
    },
    forget: loader.forget,
    light() {},
    destroy() {},
  };
}

/* The line that holds most. */
function largestLine({ lines }) {
  const totals = new Map();
  for (const { line, total } of lines) totals.set(line, (totals.get(line) ?? 0) + total);
  return [...totals].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))[0]?.[0] ?? 1;
}

/* {lines, first: line number of the first, isCut, cutLine: of which only the beginning is there, or null, reason}:
   reason is null when the text is there. Of a very long
 * file the lines around one. */
async function readText(file, line) {
  try {
    const answer = await get('source', { file, line: Math.max(1, line) });
    return {
      lines: answer.lines,
      first: answer.first_line,
      isCut: answer.is_cut,
      cutLine: answer.cut_line,
      reason: answer.is_available ? null : (answer.reason ?? ''),
    };
  } catch (error) {
    if (isAbort(error) || !(error instanceof Problem)) throw error;
    return { lines: [], first: 1, isCut: false, cutLine: null, reason: error.message };
  }
}

/* What of a long file stands here; lines with figures that lie beyond stay, without their text. */
function cutText({ lines, first, cutLine }, data) {
  const last = first + lines.length - 1;
  const beyond = new Set(data.lines.map(({ line }) => line).filter((line) => line < first || line > last)).size;
  const left = beyond
    ? ` ${count(beyond)} of the lines that hold memory are outside of these and are listed without their text.`
    : '';
  return `The file is longer than 2 MiB: the text of lines ${count(first)} to ${count(last)} is here.${
    cutLine ? ` ` + `Line ${count(cutLine)} is longer than that: only its beginning is here.` : ''
  }${left}`;
}

/* Lines around those that hold something; of a short file all. */
function wantedLines(figures, { lines, first, isCut }) {
  if (lines.length === 0) return [...figures.keys()].sort((a, b) => a - b);
  if (lines.length <= FAR && !isCut) return lines.map((_, at) => first + at);
  const wanted = new Set(figures.keys());
  for (const line of figures.keys())
    for (let at = Math.max(first, line - AROUND); at <= Math.min(first + lines.length - 1, line + AROUND); at++)
      wanted.add(at);
  return [...wanted].sort((a, b) => a - b);
}

function table(data, text) {
  const figures = new Map();
  for (const { line, self, total } of data.lines) {
    const known = figures.get(line) ?? { self: 0, total: 0 };
    figures.set(line, { self: known.self + self, total: known.total + total });
  }
  const functions = new Map(data.lines.map((each) => [each.line, each.function]));
  const max = Math.max(1, ...[...figures.values()].map(({ total }) => Math.abs(total)));
  const largest = largestLine(data);
  const hasText = text.lines.length > 0;
  const textOf = (line) => {
    const whole = (text.lines[line - text.first] ?? '').replaceAll('\t', '    ');
    return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}… (${count(whole.length)} characters)` : whole;
  };
  let before = 0;
  const rows = wantedLines(figures, text).flatMap((line) => {
    const found = figures.get(line);
    const gap = before && line > before + 1 ? el('tr', { class: 'source-gap' }, el('td', { colspan: 5 }, '⋯')) : null;
    before = line;
    return [
      gap,
      el(
        'tr',
        { class: `${found ? 'has-figures' : ''} ${line === largest ? 'is-here' : ''}`.trim() || null },
        el('td', { class: 'is-number' }, found ? amount(data.metric, found.self) : ''),
        el('td', { class: 'is-number' }, found ? amount(data.metric, found.total) : ''),
        el('td', { class: 'source-bar' }, found ? shareBar(Math.abs(found.total) / max) : null),
        el('td', { class: 'is-number dim source-number' }, count(line)),
        el(
          'td',
          { class: 'source-text' },
          el('code', {}, visible(hasText ? textOf(line) : (functions.get(line) ?? ''))),
        ),
      ),
    ];
  });
  return el(
    'table',
    { class: 'source-table' },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ['Self', 'Total', '', 'Line', hasText ? 'Text' : 'Function'].map((word, at) =>
          el(
            'th',
            { scope: 'col', class: at === 2 ? 'source-bar' : at < 4 ? 'is-number' : null },
            word || el('span', { class: 'hidden' }, 'Share'),
          ),
        ),
      ),
    ),
    el('tbody', {}, rows),
  );
}
