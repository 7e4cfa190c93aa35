/* SPDX-License-Identifier: Apache-2.0
 * strips.js: the three strips of buffers live at the moment, side by side:
 * the same buffers in program order, by size and by padding. */

import { later } from '../../lib/activity.js';
import { button, el, fill } from '../../lib/dom.js';
import { bytes, count, counted, percent } from '../../lib/format.js';
import { onTheme, token } from '../../lib/theme.js';
import { explained, explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { categoryFill, categoryWords, legend } from '../../widgets/categories.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createStrip } from '../../widgets/strips.js';
import { askedWidth, joinMerged, weigh } from '../../widgets/strips_layout.js';
import { stripLabel, stripTitle, unitWord, whereWords } from './text.js';
import { noBuffers, noMatch, noPadding } from './empty.js';

const ORDERS = ['program', 'size', 'padding'];
const ASK_AFTER_MS = 120;
const LEAST_ASKED_PX = 448;
const LITTLE = 0.01; // of what is live
const HINT = ' · hover names a buffer, click keeps it';

/* actions: onHover(key, bar, mark), onLeave(), onPin(bar), onZoom(bar), sentence(bar), onWidth(width),
 * onOpen(text of a merged bar | ''), onOnly(category, isAdded), onRules().
 * Out: {panel, draw(answer, {space, isPeak, opened, chosen}), mark(marks), barOfKey(key), width, destroy}. */
export function createStrips(actions) {
  const panel = createPanel('panel-strips', 'Live at the peak');
  const parts = new Map();
  for (const order of ORDERS) {
    const onPin = (bar) =>
      bar.id == null
        ? actions.onOpen(`${order}:${bar.first_rank}-${bar.first_rank + bar.count - 1}`)
        : actions.onPin(bar);
    const strip = createStrip({ order, ...actions, onPin });
    const aside = el('span', { class: 'dim' });
    const axis = el('p', { class: 'strip-axis', 'aria-hidden': 'true' });
    const said = el('div', { class: 'strip-said', hidden: true });
    const node = el(
      'div',
      { class: 'strip' },
      el(
        'h3',
        {},
        order === 'padding' ? el('span', { class: 'key-hatch', 'aria-hidden': 'true' }) : null,
        stripTitle(order),
        ' ',
        aside,
      ),
      strip.node,
      said,
      axis,
    );
    parts.set(order, { strip, aside, axis, said, node });
  }
  panel.body.append(...ORDERS.map((order) => parts.get(order).node));
  let bars = { program: [], size: [], padding: [] };
  let seen = new Set();
  let seenIn = null;
  let takeBack = null;
  let asked = 0;
  /* A picture of them is wider than they are in their line. */
  const width = () => askedWidth(Math.max(LEAST_ASKED_PX, parts.get('program').strip.width));
  const watch = new ResizeObserver(() => {
    takeBack?.();
    takeBack = later(() => {
      if (asked && width() !== asked) actions.onWidth(width());
    }, ASK_AFTER_MS);
  });
  watch.observe(panel.body);
  const offTheme = onTheme(() => ORDERS.forEach((order) => parts.get(order).strip.repaint()));

  const exports = exportEntries({
    name: 'strips',
    title: () => panel.node.querySelector('h2').firstChild.textContent,
    drawing: () => bars.program.length > 0 && stripsDrawing(parts, bars),
    table: () => stripsTable(bars),
  });
  panel.setMenu(() => [exports(), { word: 'Category rules …', run: actions.onRules }, explainEntry('strips')]);

  return {
    panel,
    get width() {
      asked = width();
      return asked;
    },
    draw(answer, { space, isPeak, opened, chosen }) {
      bars = Object.fromEntries(ORDERS.map((order) => [order, joinMerged(answer.orders[order])]));
      const hasSteps = space.step_unit !== 'none';
      const where = isPeak ? 'at the peak' : whereWords(space, answer.step);
      if (space !== seenIn) seen = new Set();
      seenIn = space;
      for (const { category } of answer.categories) seen.add(category);
      for (const order of ORDERS) if (bars[order].some((bar) => !bar.category)) seen.add('mixed');
      panel.setTitle(
        `Live ${where}`,
        el('span', { class: 'dim' }, hasSteps && isPeak ? ` · ${unitWord(space)} ${count(answer.step)}` : ''),
        el('span', { class: 'hint' }, HINT),
      );
      panel.setAside(
        legend(seen, { onOnly: actions.onOnly, chosen }, answer.categories),
        isLittle(bars.padding, answer) ? null : el('span', { class: 'key-hatch' }, 'hatched: padding'),
      );
      if (answer.buffer_count === 0) {
        panel.say(message(noBuffers(where)));
        return;
      }
      panel.show();
      panel.body.classList.toggle('has-little-padding', isLittle(bars.padding, answer) && opened?.order !== 'padding');
      const how = { answer, space, where, onAll: () => actions.onOpen('') };
      for (const order of ORDERS)
        drawOne(parts.get(order), order, bars[order], { ...how, opened: opened?.order === order ? opened : null });
    },
    mark(marks) {
      for (const order of ORDERS) parts.get(order).strip.mark(marks);
    },
    barOfKey(key) {
      const [, order, at] = key.split(':');
      return bars[order]?.[Number(at)] ?? null;
    },
    destroy() {
      watch.disconnect();
      offTheme();
      ORDERS.forEach((order) => parts.get(order).strip.destroy());
    },
  };
}

/* Padding that is not worth the room of a strip. */
function isLittle(bars, answer) {
  const sum = bars.reduce((all, bar) => all + bar.padding_bytes, 0);
  return sum < answer.matched_bytes * LITTLE;
}

function drawOne({ strip, aside, axis, said, node }, order, bars, { answer, space, where, opened, onAll }) {
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  const sum = bars.reduce((all, bar) => all + weigh(bar, order), 0);
  const isEmpty = bars.length === 0;
  const isFiltered = answer.matched_count < answer.buffer_count;
  strip.node.hidden = isEmpty;
  axis.hidden = isEmpty;
  said.hidden = !isEmpty;
  node.classList.toggle('is-empty', isEmpty);
  node.classList.toggle('is-said-beside', order === 'program' && !opened && !isFiltered);
  if (isEmpty) {
    fill(said, message(isFiltered ? noMatch(order) : noPadding(answer.buffer_count, where)));
  }
  const of = order === 'padding' ? ' of padding' : '';
  const part = opened && bars.length ? `${count(opened.first + 1)} to ${count(opened.first + total)}, ` : '';
  const isSmall = order === 'padding' && !opened && isLittle(bars, answer);
  const share =
    isFiltered && order !== 'padding'
      ? `${count(total)} of ${counted(answer.buffer_count, 'buffer')}`
      : counted(total, 'buffer');
  fill(
    aside,
    isEmpty
      ? order === 'padding' && isLittle(bars, answer)
        ? 'none'
        : ''
      : isSmall
        ? explained('strips', sum)
        : [
            part || `${share}, `,
            explained('strips', sum),
            of,
            order === 'padding' ? ` (${percent(sum, answer.matched_bytes)} of all)` : '',
          ],
    part ? ' ' : '',
    part ? button('link-button', onAll, 'all', { title: 'Esc' }) : null,
  );
  /* As wide as its neighbours are for as many bytes. */
  const whole = order === 'padding' && !opened ? answer.matched_bytes : sum;
  fill(axis, el('span', {}, '0'), el('span', {}, bytes(whole)));
  strip.draw(bars, stripLabel(order, bars, space, where), whole);
}

/* ---- the three as a picture and as a table, for the menu of their panel ---- */

const PICTURE = { width: 1000, height: 96, gap: 34 };

/* One strip below the other, each with its name and sum. */
function stripsDrawing(parts, bars) {
  const shown = ORDERS.filter((order) => bars[order].length > 0);
  const { width, height, gap } = PICTURE;
  const kinds = new Set(Object.values(bars).flatMap((order) => order.map((bar) => bar.category || 'mixed')));
  return {
    width,
    height: shown.length * (height + gap) - 8,
    paint(context) {
      for (const order of shown) {
        const { strip, node } = parts.get(order);
        context.font = `600 13px ${token('sans')}`;
        context.fillStyle = token('text');
        context.fillText(node.querySelector('h3').textContent, 0, 14);
        context.save();
        context.translate(0, 22);
        strip.paintInto(context, width, height);
        context.restore();
        context.translate(0, height + gap);
      }
    },
    legend: [
      ...[...kinds].map((kind) => ({ word: categoryWords(kind), colour: categoryFill(kind) })),
      { word: 'hatched: padding', colour: token('text2'), kind: 'hatch' },
    ],
  };
}

/* Every bar; a merged one says how many buffers it holds. */
function stripsTable(bars) {
  const keys = ['order', 'id', 'name', 'buffers', 'bytes', 'unpadded_bytes', 'padding_bytes', 'category'];
  return {
    columns: keys.map((key) => ({ key })),
    rows: ORDERS.flatMap((order) =>
      bars[order].map((bar) => ({ ...bar, order, buffers: bar.count, name: bar.id == null ? 'merged' : bar.name })),
    ),
  };
}
