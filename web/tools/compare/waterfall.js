/* SPDX-License-Identifier: Apache-2.0
 * waterfall.js: the way from A to B by category, drawn on our own canvas: A, each change, B. */

import { el } from '../../lib/dom.js';
import { bytes, cutMiddle, signedBytes } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { bindMarks, createLayers, markIn, paintOutlines } from '../../widgets/canvas.js';
import { categoryFill } from '../../widgets/categories.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createKeyboardList } from '../../widgets/keyboard_list.js';
import { createPanel } from '../../widgets/panel.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { arrow, barLines, barSentence, barsOf, isPart, waterfallLabel } from './text.js';

const ROW_PX = 26;
const BAR_PX = 16;
/* Room for labels, and letters in them: categories, or call sites. */
const CATEGORY_LABEL = { px: 172, letters: 24 };
const SITE_LABEL = { px: 264, letters: 38 };
const VALUE_PX = 116;
const FOOT_PX = 20;
const PICTURE_PX = 640;
/* Below this share of the largest total the axis begins at 0; else it begins where something happens, and says so. */
const FITTED_FROM = 0.5;

const isOfSites = (bars) => bars.some(({ group }) => group != null);
const labelOf = (bars) => (isOfSites(bars) ? SITE_LABEL : CATEGORY_LABEL);

/* Pure: {low, high} of the axis. */
export function axisOf(bars) {
  const ends = bars.flatMap(({ from, to, isTotal }) => (isTotal ? [to] : [from, to]));
  const high = Math.max(1, ...ends);
  const least = Math.min(...ends);
  if (least < high * FITTED_FROM) return { low: 0, high };
  const room = Math.max((high - least) * 0.25, high * 1e-3);
  return { low: Math.max(0, least - room), high };
}

function layout(bars, width) {
  const { low, high } = axisOf(bars);
  const { px: label } = labelOf(bars);
  const room = Math.max(1, width - label - VALUE_PX);
  const x = (value) => label + (room * (Math.max(low, value) - low)) / Math.max(1, high - low);
  return {
    low,
    boxOf(at) {
      const { from, to } = bars[at];
      const [left, right] = [x(Math.min(from, to)), x(Math.max(from, to))];
      return { x: left, y: at * ROW_PX + (ROW_PX - BAR_PX) / 2, width: Math.max(1, right - left), height: BAR_PX };
    },
  };
}

function paintBar(context, bar, box, next) {
  context.fillStyle = bar.isTotal ? token('text2') : token(bar.delta > 0 ? 'grown' : 'shrunk');
  context.fillRect(box.x, box.y, box.width, box.height);
  if (!next) return;
  /* Where the next one begins. */
  const x = Math.round(bar.isTotal || bar.delta > 0 ? box.x + box.width : box.x) + 0.5;
  context.strokeStyle = token('line');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, box.y + box.height);
  context.lineTo(x, next.y);
  context.stroke();
}

function paintBars(context, bars, width, height) {
  const { low, boxOf } = layout(bars, width);
  const { px: labelPx, letters } = labelOf(bars);
  const hasSwatches = !isOfSites(bars);
  context.textBaseline = 'middle';
  for (const [at, bar] of bars.entries()) {
    const box = boxOf(at);
    const middle = box.y + box.height / 2;
    paintBar(context, bar, box, at + 1 < bars.length ? boxOf(at + 1) : null);
    context.textAlign = 'left';
    context.font = `${bar.isTotal ? '600 ' : ''}13px ${token('sans')}`;
    if (!bar.isTotal && hasSwatches && bar.category !== 'fragmentation') {
      context.fillStyle = categoryFill(bar.category);
      context.fillRect(8, middle - 5, 10, 10);
    }
    context.fillStyle = token('text');
    context.fillText(cutMiddle(bar.label, letters), bar.isTotal || !hasSwatches ? 8 : 24, middle);
    context.textAlign = 'right';
    context.fillStyle = bar.isTotal
      ? token('text')
      : token(bar.delta > 0 ? 'grown' : bar.delta < 0 ? 'shrunk' : 'text2');
    context.fillText(
      bar.isTotal ? bytes(bar.delta) : `${arrow(bar.delta)} ${signedBytes(bar.delta)}`.trim(),
      width - 8,
      middle,
    );
  }
  context.textAlign = 'left';
  context.font = `12px ${token('sans')}`;
  context.fillStyle = token('text2');
  context.fillText(low > 0 ? `axis starts at ${bytes(low)}` : 'axis starts at 0', labelPx, height - FOOT_PX / 2);
}

/* onPart(bar) hears a part that was chosen; isLit(bar, filter): is it alone in the table? Out: {node, show(data,
   filter), light(filter), destroy()}. */
export function createWaterfall({ onPart, isLit }) {
  let bars = [];
  let hover = -1;
  let data = null;
  const layers = createLayers({
    name: 'waterfall',
    isReady: () => bars.length > 0 && layers.size.width > labelOf(bars).px + VALUE_PX,
    paint: (context, { width, height }) => paintBars(context, bars, width, height),
    paintOver: (context, { width }) => {
      if (hover >= 0) paintOutlines(context, [layout(bars, width).boxOf(hover)], false);
      if (keyboard.pinned >= 0) paintOutlines(context, [layout(bars, width).boxOf(keyboard.pinned)], true);
    },
  });
  const { size } = layers;
  const plot = el('div', { class: 'waterfall' }, layers.nodes);
  const rowBox = (at) => ({ x: 0, y: at * ROW_PX, width: size.width, height: ROW_PX });
  const setHover = (at) => {
    hover = at;
    layers.repaintOver();
  };
  const show = (at) => {
    setHover(at);
    const { px: x } = labelOf(bars);
    showTooltip(
      `w:${at}`,
      barLines(bars[at]),
      markIn(plot.getBoundingClientRect(), { ...rowBox(at), x, width: size.width - x - VALUE_PX }),
    );
  };
  const leave = () => {
    setHover(-1);
    hideTooltip();
  };
  const choose = (at) => {
    if (isPart(bars[at])) onPart(bars[at]);
  };
  const keyboard = createKeyboardList({
    label: 'From A to B',
    sentence: barSentence,
    onMove: show,
    onEnter: choose,
    onLeave: leave,
  });
  plot.append(keyboard.node);
  layers.watch(plot);
  bindMarks(plot, {
    markAt: ({ y }) => {
      const at = Math.floor(y / ROW_PX);
      return at >= 0 && at < bars.length ? at : null;
    },
    keyboard,
    onHover: show,
    onLeave: leave,
    onClick: choose,
  });
  const heightOf = () => bars.length * ROW_PX + FOOT_PX;
  const panel = createPanel('panel-waterfall', 'From A to B', {
    menu: exportEntries({
      name: 'waterfall',
      title: 'From A to B',
      drawing: () =>
        data && {
          width: Math.max(PICTURE_PX, size.width),
          height: heightOf(),
          paint: (context) => paintBars(context, bars, Math.max(PICTURE_PX, size.width), heightOf()),
        },
      table: () => ({ columns: [{ key: 'label' }, { key: 'category' }, { key: 'bytes' }], rows: data.waterfall }),
    }),
  });
  panel.body.append(plot);
  const light = (filter) => keyboard.setPinned(bars.findIndex((bar) => isPart(bar) && isLit(bar, filter)));
  return {
    node: panel.node,
    show(next, filter) {
      data = next;
      bars = barsOf(next);
      hover = -1;
      plot.style.height = `${heightOf()}px`;
      layers.setLabel(waterfallLabel(next));
      keyboard.setItems(bars);
      keyboard.setLabel(`${waterfallLabel(next)} Arrow keys move, Enter shows a part alone in the table.`);
      light(filter);
      layers.repaint();
    },
    light(filter) {
      light(filter);
      layers.repaintOver();
    },
    destroy: layers.destroy,
  };
}
