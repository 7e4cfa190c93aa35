/* SPDX-License-Identifier: Apache-2.0
 * icicle.js: a flame graph, root on top, on our own canvas. The base is drawn when the window
 * moves, hover and pin on an overlay. It knows trees (icicle_layout.js), no profiles. */

import { el } from '../lib/dom.js';
import { begin, nextFrame } from '../lib/activity.js';
import { onTheme, token } from '../lib/theme.js';
import { bindGestures } from './gestures.js';
import { createKeyboardTree } from './icicle_tree.js';
import { buildTree, makeRects, rectAt, rectOf, visibleRects } from './icicle_layout.js';
import { paintFrameOutline, paintIcicle, ROW_PX, topOf } from './icicle_paint.js';
import { prepare } from './strips_paint.js';

const MAX_RECTS = 8000;
const MAX_PX = 8192;
const SNAP_PX = 4;
const APART_PX = 8;
const MOVE_MS = 120;
const PAN = 0.15;
/* As wide as one frame of this share of the picture may become. */
const MIN_SHARE = 1e-7;
const MAX_SAME = 500;

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/* In: sentence(node), onHover(node, many, mark), onLeave(), onPick(node), onMove() after a zoom by hand; onAll() asks for everything;
 * isFlipped: the root stands at the bottom.
 * Out: see the end of this function; look is that of icicle_paint.js. */
export function createIcicle({ sentence, onHover, onLeave, onPick, onMove = () => {}, onAll = () => {}, onHint = () => {}, isFlipped = false }) {
  const base = el('canvas', { role: 'img', class: 'icicle-base' });
  const over = el('canvas', { 'aria-hidden': 'true', class: 'icicle-over' });
  const picture = el('div', { class: 'icicle-picture' }, base, over);
  const spacer = el('div', { class: 'icicle-spacer' });
  const scroll = el('div', { class: 'icicle' }, picture, spacer);
  const rects = makeRects(MAX_RECTS);
  const view = { from: 0, to: 1, base: 0 };
  let tree = buildTree({ depth: [], frame: [], total: [], self: [] });
  let look = null;
  let isHit = null;
  let size = { width: 0, height: 0, ratio: 1 };
  let marks = { hover: -1, pin: -1 };
  let stopMoving = null;
  let band = null; // what is being selected, px
  let isFresh = false; // a tree that was not painted yet

  /* Rows of the tree, or of the picture if those are more. */
  const rowCount = () => Math.max(tree.deepest - view.base + 1, Math.floor(size.height / ROW_PX));
  const place = () => ({ scrollPx: scroll.scrollTop, ratio: size.ratio, rows: isFlipped ? rowCount() : 0, isHit });
  const rowsInView = () => {
    const first = Math.floor(scroll.scrollTop / ROW_PX);
    const last = Math.floor((scroll.scrollTop + size.height - 1) / ROW_PX);
    if (!isFlipped) return { firstRow: first, lastRow: last };
    return { firstRow: Math.max(0, rowCount() - 1 - last), lastRow: Math.max(0, rowCount() - 1 - first) };
  };
  const isReady = () => look !== null && tree.length > 0 && size.width > 0 && size.height > 0;

  /* ---- drawing ---- */
  const paintOver = () => {
    if (!isReady()) return;
    const context = prepare(over, size.width, size.height, size.ratio);
    if (!context) return;
    const hover = keyboard.active >= 0 ? keyboard.active : marks.hover;
    const name = hover >= 0 ? tree.frame[hover] : -1;
    let same = 0;
    for (let at = 0; hover > 0 && at < rects.length && same < MAX_SAME; at++) {
      if (rects.merged[at] || tree.frame[rects.node[at]] !== name || rects.node[at] === hover) continue;
      paintFrameOutline(context, rects, at, place(), 'same');
      same++;
    }
    for (const [node, kind] of [
      [hover, keyboard.active >= 0 ? 'focus' : 'hover'],
      [marks.pin, 'pin'],
    ]) {
      const at = node >= 0 ? rectOf(tree, rects, node) : -1;
      if (at >= 0) paintFrameOutline(context, rects, at, place(), kind);
    }
    if (band) {
      context.fillStyle = token('wash');
      context.fillRect(band[0], 0, band[1] - band[0], size.height);
    }
    keyboard.setPinned(marks.pin);
  };
  const paint = () => {
    if (!isReady()) return;
    const context = prepare(base, size.width, size.height, size.ratio);
    if (!context) return;
    visibleRects(tree, { ...view, ...rowsInView(), px: size.width }, rects);
    paintIcicle(context, tree, rects, look, place());
    paintOver();
    if (isFresh) performance.mark('flame drawn');
    isFresh = false;
  };
  const toRoot = () => {
    scroll.scrollTop = isFlipped ? scroll.scrollHeight : 0;
  };
  const fit = () => {
    const rows = Math.max(1, tree.deepest - view.base + 1);
    const wasAtRoot = isFlipped && scroll.scrollTop + size.height >= scroll.scrollHeight - 1;
    spacer.style.height = `${Math.max(0, Math.min(8e6, rows * ROW_PX) - size.height)}px`;
    if (wasAtRoot) toRoot();
  };
  const watch = new ResizeObserver(() => {
    size = {
      width: Math.min(scroll.clientWidth, MAX_PX),
      height: Math.min(scroll.clientHeight, MAX_PX),
      ratio: window.devicePixelRatio || 1,
    };
    picture.style.height = `${size.height}px`;
    fit();
    nextFrame(paint);
  });
  watch.observe(scroll);
  const stopTheme = onTheme(() => nextFrame(paint));

  /* ---- the window ---- */
  const set = (from, to) => {
    const whole = tree.width[0] ?? 1;
    const wide = Math.min(whole, Math.max(whole * MIN_SHARE, to - from));
    view.from = Math.max(0, Math.min(whole - wide, from));
    view.to = view.from + wide;
    nextFrame(paint);
  };
  /* Moves there in a few frames, at once for those who want no motion. */
  const glide = (from, to) => {
    stopMoving?.();
    if (isStill()) {
      set(from, to);
      return;
    }
    const start = { from: view.from, to: view.to };
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
  };
  const zoomAbout = (px, factor) => {
    const wide = view.to - view.from;
    const at = view.from + (px / size.width) * wide;
    const next = Math.min(tree.width[0], wide / factor);
    set(at - (px / size.width) * next, at - (px / size.width) * next + next);
    onMove();
  };
  const pan = (share) => {
    const by = (view.to - view.from) * share;
    set(view.from + by, view.to + by);
    onMove();
  };
  /* Frames that are drawn as one come apart: the first, which is the largest, is wide enough to be seen. */
  const takeApart = (node, many) => {
    let to = tree.x[node];
    let at = node;
    for (let i = 0; i < many; i++) {
      to += tree.width[at];
      at = tree.end[at];
    }
    const max = (tree.width[node] * size.width) / APART_PX;
    glide(tree.x[node], Math.min(to, tree.x[node] + max));
    onMove();
  };
  const zoomTo = (node) => {
    if (!tree.length) return;
    const to = Math.max(0, node ?? 0);
    const isNew = view.base !== tree.depth[to];
    view.base = tree.depth[to];
    fit();
    if (isNew) toRoot();
    glide(tree.x[to], tree.x[to] + (tree.width[to] || 1));
  };

  /* ---- pointer ---- */
  const at = ({ x, y }) => {
    const line = Math.floor((y + scroll.scrollTop) / ROW_PX);
    return rectAt(rects, x, isFlipped ? rowCount() - 1 - line : line, SNAP_PX);
  };
  const markOf = (rect) => {
    const box = picture.getBoundingClientRect();
    const top = box.top + topOf(rects.row[rect], place());
    const left = box.left + rects.x[rect];
    return { left, right: left + rects.width[rect], top, bottom: top + ROW_PX };
  };
  const keyboard = createKeyboardTree({
    sentence,
    onMove: (node) => {
      show(node);
      const rect = rectOf(tree, rects, node);
      onHover(node, 0, rect >= 0 ? markOf(rect) : picture.getBoundingClientRect());
      nextFrame(paintOver);
    },
    onEnter: onPick,
    onLeave: () => {
      onLeave();
      nextFrame(paintOver);
    },
  });
  picture.append(keyboard.node);
  /* Scrolls and pans so that a node stands in the picture. */
  function show(node) {
    if (tree.depth[node] < view.base || tree.x[node] >= view.to || tree.x[node] + tree.width[node] <= view.from)
      zoomTo(tree.depth[node] < view.base ? node : 0);
    const top = topOf(tree.depth[node] - view.base, { ...place(), scrollPx: 0 });
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + ROW_PX > scroll.scrollTop + size.height) scroll.scrollTop = top + ROW_PX - size.height;
    paint();
  }
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
        if (rect >= 0 && rects.merged[rect]) takeApart(rects.node[rect], rects.merged[rect]);
        else if (rect >= 0) onPick(rects.node[rect]);
      },
      double(place) {
        if (at(place) < 0) onAll();
      },
      /* A stretch of the plot is marked, then shown. */
      select(from, to, isEnd) {
        band = to && !isEnd ? [Math.min(from.x, to.x), Math.max(from.x, to.x)] : null;
        nextFrame(paintOver);
        if (!to || !isEnd) return;
        const scale = (view.to - view.from) / size.width;
        glide(view.from + Math.min(from.x, to.x) * scale, view.from + Math.max(from.x, to.x) * scale);
        onMove();
      },
      pan(dx, dy) {
        scroll.scrollTop -= dy;
        pan(-dx / size.width);
      },
      zoom: (place, factor) => zoomAbout(place.x, factor),
      hint: onHint,
    },
    { owner: scroll },
  );
  scroll.addEventListener('scroll', () => nextFrame(paint), { passive: true });

  return {
    node: scroll,
    get tree() {
      return tree;
    },
    get look() {
      return look;
    },
    get size() {
      return { ...size };
    },
    get window() {
      return { ...view };
    },
    /* zoom: node to show, or null for all. */
    draw(next, nextLook, label, zoom = null) {
      tree = next;
      look = nextLook;
      isHit = null;
      isFresh = true;
      stopMoving?.();
      marks = { hover: -1, pin: -1 };
      base.setAttribute('aria-label', label);
      keyboard.setLabel(`${label} Arrow keys move, Enter pins and zooms.`);
      keyboard.setTree(tree);
      const to = zoom ?? 0;
      view.base = tree.depth[to] ?? 0;
      view.from = tree.x[to] ?? 0;
      view.to = view.from + (tree.width[to] || 1);
      fit();
      toRoot();
      nextFrame(paint);
    },
    mark(next) {
      const isSame = next.hover === marks.hover && next.pin === marks.pin;
      marks = next;
      if (!isSame) nextFrame(paintOver);
    },
    /* isHit[node] or null: the others fade. */
    search(next) {
      isHit = next;
      nextFrame(paint);
    },
    recolour(nextLook) {
      look = nextLook;
      nextFrame(paint);
    },
    zoomTo,
    zoomBy: (factor) => zoomAbout(size.width / 2, factor),
    panBy: (steps) => pan(steps * PAN),
    show,
    focus: () => keyboard.node.focus(),
    /* The same drawing elsewhere: {width, height, paint(context)}, or null while there is none. */
    drawing: () =>
      isReady() && {
        width: size.width,
        height: Math.min(size.height, (tree.deepest - view.base + 1) * ROW_PX),
        paint: (context) => paintIcicle(context, tree, rects, look, { ...place(), ratio: 1 }),
      },
    destroy() {
      stopMoving?.();
      stopTheme();
      watch.disconnect();
    },
  };
}
