/* SPDX-License-Identifier: Apache-2.0
 * graph.js: boxes and arrows where graph_layout.js put them, as SVG; a drag moves them, the wheel zooms
 * as on every plot. The same on a canvas, for a picture that leaves the page. */

import { consume, el, fill, svg } from '../lib/dom.js';
import { cutMiddle, visible } from '../lib/format.js';
import { token } from '../lib/theme.js';
import { bindGestures } from './gestures.js';
import { boxHeat, boxScale, edgeWidth } from './graph_layout.js';

const LETTER_PX = 7.25;
const LINE_PX = 16;
const PAD_PX = 8;
const BAR_PX = 4;
const MAX_LETTERS = 34;
const LETTERS_PX = 12; // of a box of scale 1
const HOT = 0.15; // from here on all words have the colour of text
const PAN = 0.15;
const MIN_SCALE = 0.05;
const MAX_SCALE = 4;
const MIN_CENTRE_SCALE = 0.8;
const MARGIN_PX = 12;
const READABLE = 0.9;
const SEGMENTS = 16;

/* Size of a box with these lines, in px. */
export function boxSize({ lines, own = 0 }) {
  const letters = Math.min(MAX_LETTERS, Math.max(...lines.map((line) => Array.from(line).length), 6));
  const scale = boxScale(own);
  return {
    width: (letters * LETTER_PX + 2 * PAD_PX) * scale,
    height: (lines.length * LINE_PX + 2 * PAD_PX + BAR_PX) * scale,
  };
}

function pathOf({ points, tip }) {
  if (points.length === 0) return '';
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  let path = `M${at(points[0])}`;
  for (let i = 1; i + 2 < points.length; i += 3) path += `C${at(points[i])} ${at(points[i + 1])} ${at(points[i + 2])}`;
  return tip ? `${path}L${at(tip)}` : path;
}

function arrowOf({ points, tip }) {
  const from = points.at(-1);
  if (!tip || !from) return '';
  const angle = Math.atan2(tip.y - from.y, tip.x - from.x);
  const corner = (turn) =>
    `${(tip.x - 9 * Math.cos(angle + turn)).toFixed(1)} ${(tip.y - 9 * Math.sin(angle + turn)).toFixed(1)}`;
  return `M${tip.x.toFixed(1)} ${tip.y.toFixed(1)}L${corner(0.4)}L${corner(-0.4)}Z`;
}

/* The policy of the page allows no attribute for it. */
function styled(node, property, value) {
  node.style.setProperty(property, value);
  return node;
}

function boxNode({ id, lines, share, own = 0, className = '', title, at }) {
  const { width, height } = boxSize({ lines, own });
  const scale = boxScale(own);
  const heat = boxHeat(own);
  const left = at.x - width / 2;
  const top = at.y - height / 2;
  return svg(
    'g',
    { class: `graph-box ${heat > HOT ? 'is-hot' : ''} ${className}`.trim().replace(/\s+/g, ' '), 'data-id': id },
    svg('title', {}, title),
    styled(
      svg('rect', { class: 'graph-frame', x: left, y: top, width, height, rx: 4 }),
      '--heat',
      `${(100 * heat).toFixed(1)}%`,
    ),
    svg('rect', {
      class: 'graph-bar',
      x: left,
      y: top + height - BAR_PX,
      width: width * Math.min(1, share),
      height: BAR_PX,
    }),
    lines.map((line, i) =>
      styled(
        svg(
          'text',
          {
            class: i === 0 ? 'graph-name' : 'graph-line',
            x: left + PAD_PX * scale,
            y: top + (PAD_PX + LINE_PX * (i + 0.75)) * scale,
          },
          cutMiddle(visible(line), MAX_LETTERS),
        ),
        'font-size',
        `${(LETTERS_PX * scale).toFixed(1)}px`,
      ),
    ),
  );
}

const edgeNode = ({ share, text, className = '', isDashed }, drawn) => [
  svg('path', {
    class: `graph-edge ${className} ${isDashed ? 'is-dashed' : ''}`.trim(),
    d: pathOf(drawn),
    'stroke-width': edgeWidth(share).toFixed(2),
  }),
  svg('path', { class: `graph-arrow ${className}`.trim(), d: arrowOf(drawn) }),
  drawn.label
    ? svg('text', { class: 'graph-weight', x: drawn.label.x, y: drawn.label.y + 4, 'text-anchor': 'middle' }, text)
    : null,
];

/* Where the drawing lies in its box, and how large: {x, y, scale}. */
function createScene(moving, box) {
  const room = () => ({ width: Math.max(1, box.clientWidth), height: Math.max(1, box.clientHeight) });
  const scene = { x: 0, y: 0, scale: 1, room, put, fit, zoomAt, panBy, centre };
  function put(place) {
    Object.assign(scene, place);
    moving.setAttribute(
      'transform',
      `translate(${scene.x.toFixed(2)} ${scene.y.toFixed(2)}) scale(${scene.scale.toFixed(4)})`,
    );
  }
  function fit(layout) {
    if (!layout) return;
    const { width, height } = room();
    const scale = Math.min(1, (width - 2 * MARGIN_PX) / layout.width, (height - 2 * MARGIN_PX) / layout.height);
    put({
      scale: Math.max(MIN_SCALE, scale),
      x: (width - layout.width * scale) / 2,
      y: Math.max(MARGIN_PX, (height - layout.height * scale) / 2),
    });
  }
  function zoomAt(px, py, factor) {
    const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scene.scale * factor));
    const by = scale / scene.scale;
    put({ scale, x: px - (px - scene.x) * by, y: py - (py - scene.y) * by });
  }
  function panBy(x, y) {
    put({ x: scene.x + x, y: scene.y + y });
  }
  function centre(at) {
    const { width, height } = room();
    const scale = Math.max(scene.scale, MIN_CENTRE_SCALE);
    put({ scale, x: width / 2 - at.x * scale, y: height / 2 - at.y * scale });
  }
  return scene;
}

/* nodes: [{id, lines, share: of all, own: of all that is its own, className, title}]; edges: [{share, text, className,
   isDashed}].
 * onPick(id), onHover(id, mark), onLeave(), onMenu(id, {x, y} of the window): what can be done with a box. Out: see the
 * end. */
export function createGraph({ onPick, onHover, onLeave, onMenu = null, onHint = () => {} }) {
  const moving = svg('g', {});
  const picture = svg('svg', { class: 'graph-picture', role: 'img' }, moving);
  const node = el('div', { class: 'graph' }, picture);
  let layout = null;
  let boxes = new Map(); // {id: {group, at}}
  const scene = createScene(moving, node);
  /* Large enough to be read; the first box, which is the heaviest, in the middle. */
  const begin = () => {
    scene.fit(layout);
    if (!layout || scene.scale >= READABLE) return;
    const { width, height } = scene.room();
    const [first] = boxes.values();
    scene.put({ scale: 1, x: width / 2 - first.at.x, y: Math.min(MARGIN_PX, height / 2 - first.at.y) });
  };

  /* ---- pointer ---- */
  const idAt = (event) => event.target.closest?.('[data-id]')?.dataset.id ?? null;
  let grabbed = null;
  bindGestures(
    picture,
    {
      hover(_, event) {
        const id = idAt(event);
        if (id) onHover(id, boxes.get(id).group.getBoundingClientRect());
        else onLeave();
      },
      leave: onLeave,
      click: (_, event) => onPick(idAt(event)),
      double: (_, event) => idAt(event) == null && scene.fit(layout),
      select(from, to, isEnd) {
        grabbed ??= { x: scene.x, y: scene.y };
        scene.put({ x: grabbed.x + (to ? to.x - from.x : 0), y: grabbed.y + (to ? to.y - from.y : 0) });
        if (isEnd) grabbed = null;
      },
      pan: scene.panBy,
      zoom: (at, factor) => scene.zoomAt(at.x, at.y, factor),
      hint: onHint,
    },
    { owner: node },
  );

  picture.addEventListener('contextmenu', (event) => {
    const id = idAt(event);
    if (!id || !onMenu) return;
    consume(event);
    onMenu(id, { x: event.clientX, y: event.clientY });
  });

  return {
    node,
    picture,
    draw(nodes, edges, nextLayout, label) {
      layout = nextLayout;
      picture.setAttribute('aria-label', label);
      const placed = nodes.map((each, at) => ({ ...each, at: layout.nodes[at] })).filter(({ at }) => at);
      boxes = new Map(placed.map((each) => [each.id, { group: boxNode(each), at: each.at }]));
      fill(
        moving,
        edges.map((each, at) => (layout.edges[at] ? edgeNode(each, layout.edges[at]) : null)),
        [...boxes.values()].map(({ group }) => group),
      );
      begin();
    },
    mark({ hover, pin }) {
      for (const [id, { group }] of boxes) {
        group.classList.toggle('is-hover', id === hover);
        group.classList.toggle('is-pinned', id === pin);
      }
    },
    get isDrawn() {
      return boxes.size > 0;
    },
    has: (id) => boxes.has(id),
    fit: () => scene.fit(layout),
    centre: (id) => boxes.has(id) && scene.centre(boxes.get(id).at),
    zoomBy: (factor) => scene.zoomAt(scene.room().width / 2, scene.room().height / 2, factor),
    panBy: (steps) => scene.panBy(-steps * PAN * scene.room().width, 0),
    /* The drawing alone, at its own size, for a file. */
    get size() {
      return layout && { width: layout.width, height: layout.height };
    },
    get layout() {
      return layout;
    },
  };
}

/* ---- on a canvas ---- */

/* A cubic curve as short lines; a picture of picture.js knows no curves. */
function paintCurve(context, [a, b, c, d]) {
  for (let at = 1; at <= SEGMENTS; at++) {
    const t = at / SEGMENTS;
    const u = 1 - t;
    const mix = (name) => u ** 3 * a[name] + 3 * u * u * t * b[name] + 3 * u * t * t * c[name] + t ** 3 * d[name];
    context.lineTo(mix('x'), mix('y'));
  }
}

function paintEdge(context, drawn, { share, text, isDashed }) {
  if (drawn.points.length === 0) return;
  context.strokeStyle = token('text2');
  context.lineWidth = edgeWidth(share);
  context.setLineDash(isDashed ? [4, 3] : []);
  context.beginPath();
  context.moveTo(drawn.points[0].x, drawn.points[0].y);
  for (let at = 0; at + 3 < drawn.points.length; at += 3) paintCurve(context, drawn.points.slice(at, at + 4));
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
  edges.forEach((each, at) => layout.edges[at] && paintEdge(context, layout.edges[at], each));
  nodes.forEach((each, at) => {
    const centre = layout.nodes[at];
    if (!centre) return;
    const { width, height } = boxSize(each);
    const scale = boxScale(each.own ?? 0);
    const heat = boxHeat(each.own ?? 0);
    const left = centre.x - width / 2;
    const top = centre.y - height / 2;
    context.fillStyle = token('panel');
    context.fillRect(left, top, width, height);
    context.globalAlpha = heat;
    context.fillStyle = token('seq-2');
    context.fillRect(left, top, width, height);
    context.globalAlpha = 1;
    context.strokeStyle = token('control');
    context.lineWidth = 1;
    context.strokeRect(left, top, width, height);
    context.fillStyle = token('accent');
    context.fillRect(left, top + height - BAR_PX, width * Math.min(1, each.share), BAR_PX);
    each.lines.forEach((line, i) => {
      context.fillStyle = token(i && heat <= HOT ? 'text2' : 'text');
      context.font = `${i ? '' : '600 '}${LETTERS_PX * scale}px ${token('mono')}`;
      context.fillText(
        cutMiddle(visible(line), MAX_LETTERS),
        left + PAD_PX * scale,
        top + (PAD_PX + LINE_PX * (i + 0.75)) * scale,
      );
    });
  });
}
