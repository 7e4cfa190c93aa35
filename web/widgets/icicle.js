/* SPDX-License-Identifier: Apache-2.0
 * icicle.js: a flame graph, root on top, on our own canvas. The base is drawn when the window
 * moves, hover and pin on an overlay. It knows trees (icicle_layout.js), no profiles. */

import { consume, el } from '../lib/dom.js';
import { begin } from '../lib/activity.js';
import { token } from '../lib/theme.js';
import { createLayers, markIn } from './canvas.js';
import { bindGestures } from './gestures.js';
import { createKeyboardTree } from './icicle_tree.js';
import { buildTree, makeRects, rectAt, rectOf, visibleRects } from './icicle_layout.js';
import { paintFrameOutline, paintIcicle, ROW_PX, topOf } from './icicle_paint.js';

const MAX_RECTS = 8000;
const MAX_SPACE_PX = 8e6;
const SNAP_PX = 4;
const APART_PX = 8;
const MOVE_MS = 120;
const PAN = 0.15;
/* As wide as one frame of this share of the picture may become. */
const MIN_SHARE = 1e-7;
const MAX_SAME = 500;

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/* In: sentence(node), onHover(node, many, mark), onLeave(), onPick(node), onMove() after a zoom by hand;
   onWindow([from, to)) when another part
 * of the width is shown; onAll() asks for everything; onMenu(node, {x, y} of the window, giveBack()): what can be done
 * with a frame; isFlipped: the root stands at the bottom. Out: see the end of this function; look is that of
 * icicle_paint.js. */
export function createIcicle({
  sentence,
  onHover,
  onLeave,
  onPick,
  onMove = () => {},
  onWindow = () => {},
  onAll = () => {},
  onMenu = null,
  onHint = () => {},
  isFlipped = false,
}) {
  const state = {
    tree: buildTree({ depth: [], frame: [], total: [], self: [] }),
    rects: makeRects(MAX_RECTS),
    base: 0, // depth of the first row
    look: null,
    isHit: null,
    marks: { hover: -1, pin: -1 },
    band: null, // what is being selected, px
    isFresh: false, // a tree that was not painted yet
    isFlipped,
  };
  const layers = createLayers({
    name: 'icicle',
    isReady: () => state.look != null && state.tree.length > 0,
    paint: (context) => paintBase(context, state),
    paintOver(context) {
      paintOver(context, state, keyboard.active);
      keyboard.setPinned(state.marks.pin);
    },
    onSize() {
      picture.style.height = `${layers.size.height}px`;
      rows.fit();
    },
  });
  const picture = el('div', { class: 'icicle-picture' }, layers.nodes);
  const spacer = el('div', { class: 'icicle-spacer' });
  const scroll = el('div', { class: 'icicle' }, picture, spacer);
  const span = createSpan(
    () => state.tree.width[0] ?? 1,
    () => {
      layers.repaint();
      onWindow([span.from, span.to]);
    },
  );
  Object.assign(state, { scroll, size: layers.size, span });
  const rows = scrolledRows(state, spacer);
  const byHand =
    (act) =>
    (...how) => {
      act(...how);
      onMove();
    };
  const moves = {
    /* A node and what it holds, or all. */
    zoomTo(node) {
      const { tree } = state;
      if (!tree.length) return;
      const to = Math.max(0, node ?? 0);
      rows.setBase(tree.depth[to]);
      span.glide(tree.x[to], tree.x[to] + (tree.width[to] || 1));
    },
    takeApart: byHand((node, many) => span.glide(...apart(state, node, many))),
    zoomAbout: byHand((px, factor) => span.zoomAbout(px / layers.size.width, factor)),
    pan: byHand(span.pan),
    glide: byHand(span.glide),
  };
  /* Scrolls and pans so that a node stands in the picture. */
  const show = (node) => {
    const { tree } = state;
    if (tree.depth[node] < state.base || tree.x[node] >= span.to || tree.x[node] + tree.width[node] <= span.from)
      moves.zoomTo(tree.depth[node] < state.base ? node : 0);
    rows.reveal(node);
    layers.draw();
  };
  const markOf = (rect) => markIn(picture.getBoundingClientRect(), frameBox(state, rect));
  const keyboard = createKeyboardTree({
    sentence,
    onMove(node) {
      show(node);
      const rect = rectOf(state.tree, state.rects, node);
      onHover(node, 0, rect >= 0 ? markOf(rect) : picture.getBoundingClientRect());
      layers.repaintOver();
    },
    onEnter: onPick,
    onLeave() {
      onLeave();
      layers.repaintOver();
    },
  });
  picture.append(keyboard.node);
  layers.watch(scroll);
  bindIcicleGestures(picture, state, {
    moves,
    keyboard,
    markOf,
    repaintOver: layers.repaintOver,
    onHover,
    onLeave,
    onPick,
    onAll,
    onMenu,
    onHint,
  });
  scroll.addEventListener('scroll', layers.repaint, { passive: true });
  return icicleApi(state, { layers, keyboard, rows, moves, show });
}

/* What whoever owns an icicle may do with it. */
function icicleApi(state, { layers, keyboard, rows, moves, show }) {
  const { span, scroll } = state;
  const set = (patch, repaint) => {
    Object.assign(state, patch);
    repaint();
  };
  return {
    node: scroll,
    get tree() {
      return state.tree;
    },
    get look() {
      return state.look;
    },
    get size() {
      return { ...state.size };
    },
    get window() {
      return { from: span.from, to: span.to, base: state.base };
    },
    /* zoom: node to show, or null for all. */
    draw(tree, look, label, zoom = null) {
      const to = zoom ?? 0;
      Object.assign(state, {
        tree,
        look,
        isHit: null,
        isFresh: true,
        marks: { hover: -1, pin: -1 },
        base: tree.depth[to] ?? 0,
      });
      layers.setLabel(label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins and zooms.`);
      keyboard.setTree(tree);
      span.put(tree.x[to] ?? 0, (tree.x[to] ?? 0) + (tree.width[to] || 1));
      rows.fit();
      rows.toRoot();
      layers.repaint();
    },
    mark(next) {
      const { hover, pin } = state.marks;
      const isSame = next.hover === hover && next.pin === pin;
      set({ marks: next }, () => isSame || layers.repaintOver());
    },
    /* isHit[node] or null: the others fade. */
    search: (isHit) => set({ isHit }, layers.repaint),
    recolour: (look) => set({ look }, layers.repaint),
    zoomTo: moves.zoomTo,
    /* [from, to) of the width of the tree, at once. */
    setWindow: ([from, to]) => span.set(from, to),
    zoomBy: (factor) => moves.zoomAbout(state.size.width / 2, factor),
    panBy: (steps) => moves.pan(steps * PAN),
    show,
    focus: () => keyboard.node.focus(),
    /* The same drawing elsewhere: {width, height, paint(context)}, or null while there is none. */
    drawing: () =>
      layers.isReady() && {
        width: state.size.width,
        height: Math.min(state.size.height, (state.tree.deepest - state.base + 1) * ROW_PX),
        paint: (context) => paintIcicle(context, state.tree, state.rects, state.look, { ...placeOf(state), ratio: 1 }),
      },
    destroy() {
      span.stop();
      layers.destroy();
    },
  };
}

/* ---- what is drawn ---------------------------------------------------------------- */

/* Rows of the tree, or of the picture if those are more. */
const rowCount = ({ tree, base, size }) => Math.max(tree.deepest - base + 1, Math.floor(size.height / ROW_PX));

/* For icicle_paint.js. */
const placeOf = (state) => ({
  scrollPx: state.scroll.scrollTop,
  ratio: state.size.ratio,
  rows: state.isFlipped ? rowCount(state) : 0,
  isHit: state.isHit,
});

const frameBox = (state, rect) => ({
  x: state.rects.x[rect],
  y: topOf(state.rects.row[rect], placeOf(state)),
  width: state.rects.width[rect],
  height: ROW_PX,
});

function rowsInView(state) {
  const { scrollTop } = state.scroll;
  const firstRow = Math.floor(scrollTop / ROW_PX);
  const lastRow = Math.floor((scrollTop + state.size.height - 1) / ROW_PX);
  if (!state.isFlipped) return { firstRow, lastRow };
  const last = rowCount(state) - 1;
  return { firstRow: Math.max(0, last - lastRow), lastRow: Math.max(0, last - firstRow) };
}

function paintBase(context, state) {
  const { tree, rects, span, size } = state;
  visibleRects(tree, { from: span.from, to: span.to, base: state.base, ...rowsInView(state), px: size.width }, rects);
  paintIcicle(context, tree, rects, state.look, placeOf(state));
  if (state.isFresh) performance.mark('flame drawn');
  state.isFresh = false;
}

/* focused: the node that the keyboard is at, or -1. */
function paintOver(context, state, focused) {
  const { tree, rects, marks, band, size } = state;
  const place = placeOf(state);
  const hover = focused >= 0 ? focused : marks.hover;
  const name = hover >= 0 ? tree.frame[hover] : -1;
  let same = 0;
  for (let at = 0; hover > 0 && at < rects.length && same < MAX_SAME; at++) {
    if (rects.merged[at] || tree.frame[rects.node[at]] !== name || rects.node[at] === hover) continue;
    paintFrameOutline(context, rects, at, place, 'same');
    same++;
  }
  for (const [node, kind] of [
    [hover, focused >= 0 ? 'focus' : 'hover'],
    [marks.pin, 'pin'],
  ]) {
    const at = node >= 0 ? rectOf(tree, rects, node) : -1;
    if (at >= 0) paintFrameOutline(context, rects, at, place, kind);
  }
  if (!band) return;
  context.fillStyle = token('wash');
  context.fillRect(band[0], 0, band[1] - band[0], size.height);
}

/* ---- what part of the tree is shown ------------------------------------------------ */

/* Across: [from, to) in the unit of the tree's widths, never wider than whole(). */
function createSpan(whole, onChange) {
  const span = { from: 0, to: 1, put, set, glide, zoomAbout, pan, stop: () => stopMoving?.() };
  let stopMoving = null;

  function set(from, to) {
    const all = whole();
    const wide = Math.min(all, Math.max(all * MIN_SHARE, to - from));
    span.from = Math.max(0, Math.min(all - wide, from));
    span.to = span.from + wide;
    onChange();
  }
  /* There at once, as it is. */
  function put(from, to) {
    stopMoving?.();
    Object.assign(span, { from, to });
  }
  /* Moves there in a few frames, at once for those who want no motion. */
  function glide(from, to) {
    stopMoving?.();
    if (isStill()) {
      set(from, to);
      return;
    }
    const start = { from: span.from, to: span.to };
    const end = begin();
    let frame = 0;
    let beganMs = 0;
    const step = (nowMs) => {
      beganMs ||= nowMs;
      const share = Math.min(1, (nowMs - beganMs) / MOVE_MS);
      const ease = 1 - (1 - share) ** 2;
      set(start.from + (from - start.from) * ease, start.to + (to - start.to) * ease);
      if (share < 1) frame = requestAnimationFrame(step);
      else stopMoving?.();
    };
    stopMoving = () => {
      cancelAnimationFrame(frame);
      stopMoving = null;
      end();
    };
    frame = requestAnimationFrame(step);
  }
  function zoomAbout(share, factor) {
    const wide = span.to - span.from;
    const next = Math.min(whole(), wide / factor);
    const from = span.from + share * (wide - next);
    set(from, from + next);
  }
  function pan(share) {
    const by = (span.to - span.from) * share;
    set(span.from + by, span.to + by);
  }
  return span;
}

/* Downwards: the picture stays, a spacer below it makes the box scroll by rows. */
function scrolledRows(state, spacer) {
  const { scroll } = state;
  const toRoot = () => {
    scroll.scrollTop = state.isFlipped ? scroll.scrollHeight : 0;
  };
  const fit = () => {
    const px = Math.min(MAX_SPACE_PX, Math.max(1, state.tree.deepest - state.base + 1) * ROW_PX);
    const wasAtRoot = state.isFlipped && scroll.scrollTop + state.size.height >= scroll.scrollHeight - 1;
    spacer.style.height = `${Math.max(0, px - state.size.height)}px`;
    if (wasAtRoot) toRoot();
  };
  return {
    fit,
    toRoot,
    setBase(base) {
      const isNew = base !== state.base;
      state.base = base;
      fit();
      if (isNew) toRoot();
    },
    reveal(node) {
      const top = topOf(state.tree.depth[node] - state.base, { ...placeOf(state), scrollPx: 0 });
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (top + ROW_PX > scroll.scrollTop + state.size.height) scroll.scrollTop = top + ROW_PX - state.size.height;
    },
  };
}

/* Pure: frames that are drawn as one come apart: the first, which is the largest, is wide enough to be seen. */
function apart({ tree, size }, node, many) {
  let to = tree.x[node];
  let at = node;
  for (let i = 0; i < many; i++) {
    to += tree.width[at];
    at = tree.end[at];
  }
  return [tree.x[node], Math.min(to, tree.x[node] + (tree.width[node] * size.width) / APART_PX)];
}

/* ---- pointer and wheel -------------------------------------------------------------- */

function bindIcicleGestures(
  picture,
  state,
  { moves, keyboard, markOf, repaintOver, onHover, onLeave, onPick, onAll, onMenu, onHint },
) {
  const { rects, scroll, span, size } = state;
  const at = ({ x, y }) => {
    const line = Math.floor((y + scroll.scrollTop) / ROW_PX);
    return rectAt(rects, x, state.isFlipped ? rowCount(state) - 1 - line : line, SNAP_PX);
  };
  /* By the second button, or by the key for it where the keyboard is at a frame. */
  picture.addEventListener('contextmenu', (event) => {
    const isOfKey = event.button !== 2 && keyboard.active >= 0;
    const box = picture.getBoundingClientRect();
    const rect = isOfKey
      ? rectOf(state.tree, rects, keyboard.active)
      : at({ x: event.clientX - box.left, y: event.clientY - box.top });
    if (!onMenu || rect < 0 || rects.merged[rect] || rects.node[rect] === 0) return;
    consume(event);
    const mark = markOf(rect);
    onMenu(
      rects.node[rect],
      isOfKey ? { x: mark.left, y: mark.bottom } : { x: event.clientX, y: event.clientY },
      () => isOfKey && keyboard.node.focus(),
    );
  });
  bindGestures(
    picture,
    {
      hover(place) {
        const rect = at(place);
        picture.classList.toggle('is-on-mark', rect >= 0);
        if (rect < 0) onLeave();
        else onHover(rects.node[rect], rects.merged[rect], markOf(rect));
      },
      leave() {
        if (keyboard.active < 0) onLeave();
      },
      click(place) {
        const rect = at(place);
        if (rect >= 0 && rects.merged[rect]) moves.takeApart(rects.node[rect], rects.merged[rect]);
        else if (rect >= 0) onPick(rects.node[rect]);
      },
      double(place) {
        if (at(place) < 0) onAll();
      },
      /* A stretch of the plot is marked, then shown. */
      select(from, to, isEnd) {
        const [left, right] = to ? [Math.min(from.x, to.x), Math.max(from.x, to.x)] : [];
        state.band = to && !isEnd ? [left, right] : null;
        repaintOver();
        if (!to || !isEnd) return;
        const scale = (span.to - span.from) / size.width;
        moves.glide(span.from + left * scale, span.from + right * scale);
      },
      pan(dx, dy) {
        scroll.scrollTop -= dy;
        moves.pan(-dx / size.width);
      },
      zoom: (place, factor) => moves.zoomAbout(place.x, factor),
      hint: onHint,
    },
    { owner: scroll },
  );
}
