/* SPDX-License-Identifier: Apache-2.0
 * strips_picture.js: the three strips as a picture and as a table, for the menu of their panel. */

import { token } from '../../lib/theme.js';
import { categoryFill, categoryWord } from '../../widgets/categories.js';

const PICTURE = { width: 1000, height: 96, gap: 34 };

/* One strip below the other, each with its name and sum. */
export function stripsDrawing(orders, parts, bars) {
  const shown = orders.filter((order) => bars[order].length > 0);
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
      ...[...kinds].map((kind) => ({ word: categoryWord(kind), colour: categoryFill(kind) })),
      { word: 'hatched: padding', colour: token('text2'), kind: 'hatch' },
    ],
  };
}

/* Every bar; a merged one says how many buffers it holds. */
export function stripsTable(orders, bars) {
  const keys = ['order', 'id', 'name', 'buffers', 'bytes', 'unpadded_bytes', 'padding_bytes', 'category'];
  return {
    columns: keys.map((key) => ({ key })),
    rows: orders.flatMap((order) =>
      bars[order].map((bar) => ({ ...bar, order, buffers: bar.count, name: bar.id === null ? 'merged' : bar.name })),
    ),
  };
}
