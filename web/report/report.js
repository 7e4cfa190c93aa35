/* SPDX-License-Identifier: Apache-2.0
 * report.js: the page that `memviewd export --format html` writes: one file with its answers inside, that asks for
 * nothing. Its own file: scripts/embed-pages puts it and what it imports into one script. */

import { el, figure, fill, nameInline } from '../lib/dom.js';
import { bytes, count, counted, percent, sourceLine, visible } from '../lib/format.js';
import { predictedFit, predictedSigns } from '../lib/predicted.js';
import { onTheme, startTheme } from '../lib/theme.js';
import { categoryFill, categoryWord, legend, swatch, swatchStyle } from '../widgets/categories.js';
import { createPlot } from '../widgets/curve_plot.js';
import { layStripes } from '../widgets/stripes.js';

const whole = (answer) => answer?.data ?? null;

/* ---- the answer ---- */

/* The daemon's sentence: does it fit? */
const STRONG = { needed: '', over: 'over' };
const needsWords = ({ fit }) =>
  fit.parts.map(({ text, bytes: value, role }) =>
    role == null
      ? visible(text)
      : role in STRONG
        ? el('strong', { class: STRONG[role] }, figure(value, text))
        : figure(value, text),
  );

const culpritWords = ({ culprit }) =>
  (culprit?.sentence ?? []).map((part) =>
    typeof part === 'string' ? part : part.name ? nameInline(part.name, 80) : figure(part.bytes, part.text),
  );

function head(module, space, chooser) {
  const { session, file, modified_at: at } = module;
  const steps =
    space.step_unit === 'none' || space.peak_step == null
      ? ''
      : ` at step ${count(space.peak_step)} of ${count(space.step_count)}`;
  return el(
    'header',
    {},
    el(
      'div',
      { class: 'tools' },
      el(
        'span',
        { class: 'where' },
        nameInline(whole(module.summary).module.name, 120),
        ' · ',
        visible(session),
        ' · ',
        visible(file),
        at ? ` · ${at}` : '',
      ),
      chooser,
    ),
    el('h1', {}, needsWords(space)),
    el('p', {}, 'Peak live ', figure(space.peak_bytes), `${steps}. `, culpritWords(space)),
    el(
      'p',
      { class: 'dim' },
      `arguments ${bytes(space.parameter_bytes)} · outputs ${bytes(space.output_bytes)}, ` +
        `${bytes(space.output_reused_bytes)} of them in arguments · temporaries ${bytes(space.temporary_bytes)} · ` +
        `fragmentation ${bytes(space.fragmentation_bytes)}`,
    ),
  );
}

const ADVICE_SHOWN = 3;

/* What will make it fit: the first of the daemon's advice, each with its figures and its line of code. */
function adviceOf(verdict) {
  const { advice = [], advice_sentence: sentence = null, fits } = verdict ?? {};
  if (!advice.length && !sentence) return [];
  const shown = advice.slice(0, ADVICE_SHOWN);
  const item = (each) => {
    const { saves_bytes: saves, lands_at_bytes: lands, confidence, do: line } = each;
    const [most, least] = predictedSigns(each);
    const words = predictedFit(each);
    return el(
      'li',
      {},
      el('strong', {}, visible(each.title)),
      saves > 0 ? [`: saves ${most}`, figure(saves)] : '',
      lands == null
        ? ''
        : [`, lands at ${least}`, figure(lands), words && ` and ${each.fits === 'no' ? 'is ' : ''}${words}`],
      saves == null && lands == null ? ': how much it saves is not known' : '',
      el('span', { class: 'dim' }, ` (${visible(confidence)})`),
      line ? el('code', {}, visible(line)) : null,
    );
  };
  return [
    el('h2', {}, fits === 'yes' ? 'What would save more' : 'What will make it fit'),
    sentence ? el('p', {}, visible(sentence)) : null,
    shown.length ? el('ol', { class: 'advice' }, shown.map(item)) : null,
    advice.length > shown.length
      ? el('p', { class: 'dim' }, `${count(advice.length - shown.length)} more: memviewd explain PATH.`)
      : null,
  ];
}

/* ---- charts ---- */

/* Buffers of the peak, which have a stripe each. */
const itemsOf = ({ rows }, steps) =>
  rows.map((row) => ({
    id: row.id,
    name: row.name,
    bytes: row.bytes,
    category: row.category,
    source: sourceLine(row.source_file, row.source_line),
    from: row.is_indefinite ? 0 : row.born_step,
    to: row.is_indefinite ? steps : (row.dies_step ?? steps),
  }));

/* What the curve of the Memory Viewer draws, of all steps: stripes, peak, capacity and what is above it. */
function curveOf({ curve, buffers: live, space }) {
  const { columns, step_count: steps } = curve;
  const limit = space.fit.capacity_bytes;
  const base = {
    steps: columns.step,
    stack: (curve.stack ?? []).map(({ category, bytes: values }) => ({
      name: category,
      values,
      fill: () => categoryFill(category),
    })),
  };
  const last = Math.max(0, steps - 1);
  return {
    ...base,
    stripes: base.stack.length > 0 ? layStripes(base, itemsOf(live, steps)) : null,
    bytes: columns.bytes,
    unpadded: columns.unpadded_bytes ?? columns.bytes,
    hasUnpadded: columns.unpadded_bytes != null,
    from: 0,
    to: last,
    lastStep: last,
    stepCount: steps,
    max: columns.bytes.reduce((max, value) => Math.max(max, value), 0),
    peak: curve.peak ?? null,
    localPeaks: curve.local_peaks ?? [],
    capacity:
      limit == null ? null : { bytes: limit, text: `capacity ${bytes(limit)}`, isOver: space.fit.word === 'over' },
    predicted: null,
    ends: null,
    lit: null,
    isPart: false,
  };
}

function drawCurve(host, curve) {
  const plot = createPlot(host, () => curve, {});
  plot.root.querySelector('canvas').setAttribute('role', 'img');
  plot.root
    .querySelector('canvas')
    .setAttribute('aria-label', `Memory over program order; the peak is ${bytes(curve.max)}`);
}

const share = (part, all) => `flex-basis: ${(100 * part) / Math.max(1, all)}%`;

/* The buffers of the peak in one order; widths by bytes. */
function strip(label, bars, all) {
  const spans = bars.map((bar) => {
    const words = bar.name ? visible(bar.name) : `${counted(bar.count, 'buffer')} of ${categoryWord(bar.category)}`;
    const span = el('span', { class: swatchStyle(bar.category ?? 'unknown'), title: `${words}: ${bytes(bar.bytes)}` });
    span.style.cssText = share(bar.bytes, all);
    return span;
  });
  return el(
    'div',
    { class: 'bars', role: 'img', 'aria-label': `${label}: ${counted(bars.length, 'bar')}, ${bytes(all)}` },
    spans,
  );
}

function strips(answer) {
  const { orders, bytes: all, categories } = answer;
  return [
    el(
      'h2',
      {},
      `Live at the peak: by program order, by size. ${counted(answer.buffer_count, 'buffer')}, ${bytes(all)}`,
    ),
    strip('By program order', orders.program ?? [], all),
    strip('By size', orders.size ?? [], all),
    legend(new Set(categories.map(({ category }) => category)), null, categories),
  ];
}

/* ---- tables ---- */

const cellText = (value) => (value == null ? '–' : typeof value === 'number' ? count(value) : visible(String(value)));

/* columns: [{title, of(row) → value it is sorted by, show(row) → what stands there, isNumber}]. */
function table(label, columns, rows, sortedBy) {
  let [by, isAscending] = [sortedBy, false];
  const body = el('tbody');
  const heads = columns.map((column, at) =>
    el(
      'th',
      { scope: 'col', class: column.isNumber ? 'is-number' : null },
      el('button', { type: 'button', on: { click: () => sort(at) } }, column.title),
    ),
  );
  const compare = (a, b) => {
    const [x, y] = [a, b].map(columns[by].of);
    if (x === y) return 0;
    if (x == null) return 1;
    if (y == null) return -1;
    return (x < y ? -1 : 1) * (isAscending ? 1 : -1);
  };
  const cell = (column, row) =>
    el(
      'td',
      { class: column.isNumber ? 'is-number' : 'is-text', title: column.isNumber ? null : cellText(column.of(row)) },
      (column.show ?? ((each) => cellText(column.of(each))))(row),
    );
  let shown = rows;
  const paint = () => {
    for (const [at, node] of heads.entries())
      if (at === by) node.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
      else node.removeAttribute('aria-sort');
    fill(
      body,
      [...shown].sort(compare).map((row) =>
        el(
          'tr',
          {},
          columns.map((column) => cell(column, row)),
        ),
      ),
    );
  };
  const sort = (at) => {
    isAscending = at === by ? !isAscending : !columns[at].isNumber;
    by = at;
    paint();
  };
  paint();
  return {
    node: el(
      'div',
      { class: 'sheet', tabindex: '0', role: 'region', 'aria-label': label },
      el('table', {}, el('thead', {}, el('tr', {}, heads)), body),
    ),
    show(next) {
      shown = next;
      paint();
    },
  };
}

const size = (title, of) => ({ title, of, show: (row) => (of(row) == null ? '–' : figure(of(row))), isNumber: true });
const number = (title, of) => ({ title, of, isNumber: true });
const textColumn = (title, of) => ({ title, of });
const category = (of) => ({
  title: 'Category',
  of,
  show: (row) => (of(row) ? [swatch(of(row)), categoryWord(of(row))] : 'several'),
});

function spaces(rows) {
  return table(
    'Memory spaces',
    [
      textColumn('Memory space', (row) => row.name),
      size('Total', (row) => row.total_bytes),
      size('Peak live', (row) => row.peak_bytes),
      size('Padding', (row) => row.padding_bytes),
      size('Fragmentation', (row) => row.fragmentation_bytes),
    ],
    rows,
    1,
  ).node;
}

function groups(answer) {
  return table(
    'Groups at the peak',
    [
      size('Saves', (row) => row.saves_bytes),
      size('Size', (row) => row.bytes),
      { title: 'Share', of: (row) => row.bytes, show: (row) => percent(row.bytes, answer.total_bytes), isNumber: true },
      number('Count', (row) => row.count),
      category((row) => row.category),
      textColumn('Group', (row) => row.label ?? row.scope ?? ''),
      textColumn('Source', (row) => sourceLine(row.source ?? '', null)),
      textColumn('Shape', (row) => row.shape ?? ''),
      textColumn('Pattern', (row) => row.patterns ?? ''),
    ],
    answer.groups,
    1,
  ).node;
}

const BUFFER_COLUMNS = [
  size('Saves', (row) => row.saves_bytes),
  size('Size', (row) => row.bytes),
  size('Padding', (row) => row.padding_bytes),
  textColumn('Name', (row) => row.name),
  category((row) => row.category),
  textColumn('Source', (row) => sourceLine(row.source_file, row.source_line)),
  textColumn('Shape', (row) => row.shape),
  textColumn('Op scope', (row) => row.op_name),
  number('Born', (row) => row.born_step),
  number('Dies', (row) => row.dies_step),
];

function buffers(answer) {
  const { rows, total_count: allCount, total_bytes: all } = answer;
  const own = rows.reduce((sum, row) => sum + row.bytes, 0);
  const sheet = table('Buffers at the peak', BUFFER_COLUMNS, rows, 0);
  const found = el('span', { class: 'dim', role: 'status' });
  const input = el('input', {
    type: 'search',
    placeholder: 'find in name, scope, shape, source',
    'aria-label': 'Find buffers',
  });
  const find = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) =>
      words.every((word) =>
        [row.name, row.op_name, row.shape, row.category, row.source_file].join('\n').toLowerCase().includes(word),
      ),
    );
    found.textContent = words.length
      ? `${counted(shown.length, 'buffer')}, ${bytes(shown.reduce((sum, row) => sum + row.bytes, 0))}`
      : '';
    sheet.show(shown);
  };
  input.addEventListener('input', find);
  const rest =
    allCount > rows.length ? `; the other ${count(allCount - rows.length)} have ${bytes(all - own)} together` : '';
  return [
    el(
      'h2',
      {},
      `Buffers at the peak: ${count(rows.length)} of ${count(allCount)}, ${bytes(own)} of ${bytes(all)}${rest}`,
    ),
    el('div', { class: 'tools' }, input, found),
    sheet.node,
  ];
}

function patterns(answer) {
  if (!answer?.patterns.length) return [];
  return [
    el('h2', {}, 'Patterns'),
    el(
      'ul',
      { class: 'patterns' },
      answer.patterns.map((row) =>
        el(
          'li',
          {},
          visible(row.sentence),
          el(
            'span',
            { class: 'dim' },
            ` ${visible(row.saving_sentence ?? '')} ${visible(row.when_gone ?? '')} (${visible(row.confidence)})`,
          ),
        ),
      ),
    ),
  ];
}

/* Files below the path that could not be read, or not to their end. */
function notRead(files) {
  return files.map(({ file, reason, offset_bytes: at }) =>
    el(
      'p',
      { class: 'over' },
      `Could not be read: ${visible(file)}: ${visible(reason)}${
        at == null || /byte \d/.test(reason) ? '' : `, at ` + `byte ${at}`
      }`,
    ),
  );
}

/* ---- the page ---- */

/* onModule(at): another is chosen. */
function show(main, answers, at, onModule) {
  const module = answers.modules[at];
  const summary = whole(module.summary);
  const curve = whole(module.curve);
  const space = summary.spaces.find((each) => each.space === curve?.space) ?? summary.spaces[0];
  const choices = answers.modules.map((each, i) =>
    el(
      'option',
      { value: String(i), selected: i === at },
      `${whole(each.summary).module.name} · ${each.session} · ` +
        `${bytes(whole(each.summary).spaces[0]?.total_bytes ?? 0)}`,
    ),
  );
  const chooser =
    answers.modules.length > 1
      ? el(
          'select',
          { 'aria-label': 'Module', on: { change: (event) => onModule(Number(event.target.value)) } },
          choices,
        )
      : null;
  document.title = `${summary.module.name} – memviewd`;
  if (!space) {
    fill(main, el('header', {}, chooser, el('h1', {}, `${visible(summary.module.name)} has no buffer assignment.`)));
    return;
  }
  const host = el('div', { class: 'plot' });
  const isOver = space.fit.word === 'over';
  fill(
    main,
    head(module, space, chooser),
    notRead(answers.not_read),
    adviceOf(module.verdict),
    el(
      'h2',
      {},
      `Memory over program order, ${visible(space.name)}: live at each step, a stripe each buffer of the peak, ` +
        `dashed without padding${isOver ? ', hatched above the capacity' : ''}`,
    ),
    host,
    strips(whole(module.strips)),
    patterns(whole(module.whose)),
    el('h2', {}, `Groups at the peak: ${count(whole(module.groups).group_count)}`),
    groups(whole(module.groups)),
    buffers(whole(module.buffers)),
    el('h2', {}, 'Memory spaces'),
    spaces(summary.spaces),
    el(
      'footer',
      {},
      `Written by memviewd ${answers.version}. This file loads nothing from the network: all figures are in it.`,
    ),
  );
  if (curve) drawCurve(host, curveOf({ curve, buffers: whole(module.buffers), space }));
}

function start() {
  const answers = JSON.parse(document.getElementById('answers').textContent);
  let at = 0;
  const choose = (next) => {
    at = next;
    paint();
  };
  const paint = () => show(document.getElementById('main'), answers, at, choose);
  onTheme(paint);
  startTheme();
}

start();
