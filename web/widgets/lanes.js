/* SPDX-License-Identifier: Apache-2.0
 * lanes.js: what ran when, below a timeline and on its scale: one row a lane, one box a run. Boxes under
 * 1 px were joined by the daemon and say how many they are. */

import { el, fill, name } from '../lib/dom.js';
import { cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { bindMarks, createLayers, markIn } from './canvas.js';
import { createKeyboardList } from './keyboard_list.js';

const ROW_PX = 18;
/* Many lanes are lower, so that all are seen. */
const DENSE_FROM = 5;
const DENSE_PX = 13;
const TEXT_FROM_PX = 26;
const LETTER_PX = 7;
const NEAR_PX = 4;

/* actions: onHover(item, mark), onLeave(), onPick(item), onZoom(item), sentence(item).
 * lanes: [{title, isOwn, items: [{from, to, text, isJoined, isInferred}]}], items ascending. Out: {node, draw(lanes,
 * range), setRange, mark, destroy}. */
export function createLanes({ leftPx, ...actions }) {
  const titles = el('div', { class: 'lanes-titles' });
  const layers = createLayers({ name: 'lanes', paint });
  const plot = el('div', { class: 'lanes-plot' }, layers.nodes);
  const node = el('div', { class: 'lanes' }, titles, plot);
  let lanes = [];
  let flat = [];
  let range = [0, 1];
  let lit = null;
  let rowPx = ROW_PX;
  titles.style.width = `${leftPx}px`;

  const xOf = (ps) => ((ps - range[0]) / Math.max(1, range[1] - range[0])) * plot.clientWidth;
  const boxOf = (item) => {
    const left = Math.max(-2, xOf(item.from));
    const right = Math.min(plot.clientWidth + 2, xOf(item.to));
    return { left, width: Math.max(1, right - left) };
  };
  function paint(context, { width }) {
    context.font = `12px ${token('sans')}`;
    context.textBaseline = 'middle';
    lanes.forEach((lane, row) =>
      paintLane(context, lane.items, row * rowPx, { boxOf, boxPx: rowPx - (rowPx < ROW_PX ? 2 : 4), width, lit }),
    );
  }
  const light = (item) => {
    if (item === lit) return;
    lit = item;
    layers.repaint();
    if (!item) {
      actions.onLeave();
      return;
    }
    const { left, width } = boxOf(item);
    actions.onHover(item, markIn(plot.getBoundingClientRect(), { x: left, y: item.row * rowPx, width, height: rowPx }));
  };
  const keyboard = createKeyboardList({
    label: 'Steps and programs that ran',
    sentence: actions.sentence,
    onMove: (at) => light(flat[at]),
    onEnter: (at) => actions.onPick(flat[at]),
    onLeave: () => light(null),
  });
  plot.append(keyboard.node);
  layers.watch(plot);
  bindMarks(plot, {
    /* The box under the pointer, else the nearest within 4 px. */
    markAt({ x, y }) {
      const away = (item) => {
        const { left, width } = boxOf(item);
        return Math.max(left - x, x - left - width, 0);
      };
      const near = (lanes[Math.floor(y / rowPx)]?.items ?? []).filter((item) => away(item) <= NEAR_PX);
      return near.sort((a, b) => away(a) - away(b))[0] ?? null;
    },
    keyboard,
    onHover: light,
    onLeave: () => light(null),
    onClick: actions.onPick,
    onDouble: actions.onZoom,
  });

  return {
    node,
    get width() {
      return plot.clientWidth;
    },
    draw(next, nextRange, label) {
      lanes = next;
      range = nextRange;
      rowPx = lanes.length >= DENSE_FROM ? DENSE_PX : ROW_PX;
      node.classList.toggle('is-dense', rowPx < ROW_PX);
      flat = lanes.flatMap(({ items }, row) =>
        items.map((item) => {
          item.row = row;
          return item;
        }),
      );
      lit = null;
      fill(
        titles,
        lanes.map(({ title, isOwn }) => el('div', { class: isOwn ? 'lane-title is-own' : 'lane-title' }, name(title))),
      );
      plot.style.height = `${lanes.length * rowPx}px`;
      const own = lanes.findIndex(({ isOwn }) => isOwn);
      node.scrollTop = Math.max(0, (own + 1) * rowPx - node.clientHeight);
      layers.setLabel(label);
      keyboard.setItems(flat);
      layers.measure();
    },
    setRange(next) {
      range = next;
      layers.repaint();
    },
    setRight(px) {
      plot.style.marginRight = `${px}px`;
    },
    destroy: layers.destroy,
  };
}

function paintLane(context, items, top, { boxOf, boxPx, width, lit }) {
  const y = top + (boxPx < 14 ? 1 : 2);
  for (const item of items) {
    const box = boxOf(item);
    if (box.left > width || box.left + box.width < 0) continue;
    const gap = box.width >= 4 ? 1 : 0;
    context.fillStyle = token(item === lit ? 'accent' : 'lane');
    context.fillRect(box.left, y, box.width - gap, boxPx);
    if (item.isJoined && box.width >= 3) {
      context.fillStyle = token('panel');
      context.fillRect(Math.round(box.left + box.width / 2), y, 1, 4);
    }
    if (item.isInferred && box.width >= 6) {
      context.strokeStyle = token('text2');
      context.setLineDash([1, 2]);
      context.strokeRect(box.left + 0.5, y + 0.5, box.width - gap - 1, boxPx - 1);
      context.setLineDash([]);
    }
    if (box.width < TEXT_FROM_PX) continue;
    const left = Math.max(0, box.left) + 4;
    const room = Math.min(width, box.left + box.width) - left - 4;
    const max = Math.floor(room / LETTER_PX);
    if (max < 1) continue;
    context.fillStyle = token(item === lit ? 'panel' : 'text');
    const text = visible(item.text);
    if (text.length <= max || max >= 6) context.fillText(cutMiddle(text, max), left, y + boxPx / 2 + 0.5);
  }
}
