/* SPDX-License-Identifier: Apache-2.0
 * graph_paint.js: the same boxes and arrows on a canvas, for a picture that leaves the page. */

import { cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { boxSize } from './graph.js';
import { edgeWidth } from './graph_layout.js';

const LINE_PX = 16;
const PAD_PX = 8;
const MOST_LETTERS = 34;
const SEGMENTS = 16;

/* A cubic curve as short lines; a picture of picture.js knows no curves. */
function curve(context, [a, b, c, d]) {
  for (let at = 1; at <= SEGMENTS; at++) {
    const t = at / SEGMENTS;
    const u = 1 - t;
    const mix = (name) => u ** 3 * a[name] + 3 * u * u * t * b[name] + 3 * u * t * t * c[name] + t ** 3 * d[name];
    context.lineTo(mix('x'), mix('y'));
  }
}

function edge(context, drawn, { share, text, isDashed }) {
  if (drawn.points.length === 0) return;
  context.strokeStyle = token('text2');
  context.lineWidth = edgeWidth(share);
  context.setLineDash(isDashed ? [4, 3] : []);
  context.beginPath();
  context.moveTo(drawn.points[0].x, drawn.points[0].y);
  for (let at = 0; at + 3 < drawn.points.length; at += 3) curve(context, drawn.points.slice(at, at + 4));
  if (drawn.tip) context.lineTo(drawn.tip.x, drawn.tip.y);
  context.stroke();
  context.setLineDash([]);
  if (!drawn.label) return;
  context.textAlign = 'center';
  context.fillStyle = token('text2');
  context.fillText(text, drawn.label.x, drawn.label.y + 4);
  context.textAlign = 'left';
}

export function paintGraph(context, nodes, edges, layout) {
  context.font = `12px ${token('sans')}`;
  edges.forEach((each, at) => layout.edges[at] && edge(context, layout.edges[at], each));
  nodes.forEach((each, at) => {
    const centre = layout.nodes[at];
    if (!centre) return;
    const { width, height } = boxSize(each.lines);
    const left = centre.x - width / 2;
    const top = centre.y - height / 2;
    context.fillStyle = token('panel');
    context.fillRect(left, top, width, height);
    context.strokeStyle = token('control');
    context.lineWidth = 1;
    context.strokeRect(left, top, width, height);
    context.fillStyle = token('accent');
    context.fillRect(left, top + height - 4, width * Math.min(1, each.share), 4);
    each.lines.forEach((line, i) => {
      context.fillStyle = token(i ? 'text2' : 'text');
      context.font = `${i ? '' : '600 '}12px ${token('mono')}`;
      context.fillText(cutMiddle(visible(line), MOST_LETTERS), left + PAD_PX, top + PAD_PX + LINE_PX * (i + 0.75));
    });
  });
}
