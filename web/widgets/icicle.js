/* SPDX-License-Identifier: Apache-2.0
 * icicle.js: a flame graph, root on top, on our own canvas. The base is drawn when the window
 * moves, hover and pin on an overlay. It knows trees (icicle_layout.js), no profiles. */

import { el } from '../lib/dom.js';
import { begin, nextFrame } from '../lib/activity.js';
import { onTheme } from '../lib/theme.js';
import { createTreeMirror } from './icicle_tree.js';
import { buildTree, makeRects, rectAt, rectOf, visibleRects } from './icicle_layout.js';
import { paintFrameOutline, paintIcicle, ROW_PX, topOf } from './icicle_paint.js';
import { prepare } from './strips_paint.js';

const MOST_RECTS = 8000;
const MOST_PX = 8192;
const SNAP_PX = 4;
const APART_PX = 8;
const MOVE_MS = 120;
const NOTCH = 1.2;
const PAN = 0.15;
/* As wide as one frame of this share of the picture may become. */
const LEAST_SHARE = 1e-7;
const MOST_SAME = 500;

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/* In: sentence(node), onHover(node, many, mark), onLeave(), onPick(node | null), onMove() after a zoom by hand;
 * isFlipped: the root stands at the bottom.
 * Out: see the end of this function; look is that of icicle_paint.js. */
export function createIcicle({ sentence, onHover, onLeave, onPick, onMove = () => {}, isFlipped = false }) {
  const base = el('canvas', { role: 'img', class: 'icicle-base' });
  const over = el('canvas', { 'aria-hidden': 'true', class: 'icicle-over' });
  const picture = el('div', { class: 'icicle-picture' }, base, over);
  const spacer = el('div', { class: 'icicle-spacer' });
  const scroll = el('div', { class: 'icicle' }, picture, spacer);
  const rects = makeRects(MOST_RECTS);
  const view = { from: 0, to: 1, base: 0 };
  let tree = buildTree({ depth: [], frame: [], total: [], self: [] });
  let look = null;
  let isHit = null;
  let size = { width: 0, height: 0, ratio: 1 };
  let marks = { hover: -1, pin: -1 };
  let stopMoving = null;
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
    const hover = mirror.active >= 0 ? mirror.active : marks.hover;
    const name = hover >= 0 ? tree.frame[hover] : -1;
    let same = 0;
    for (let at = 0; hover > 0 && at < rects.length && same < MOST_SAME; at++) {
      if (rects.merged[at] || tree.frame[rects.node[at]] !== name || rects.node[at] === hover) continue;
      paintFrameOutline(context, rects, at, place(), 'same');
      same++;
    }
    for (const [node, kind] of [
      [hover, mirror.active >= 0 ? 'focus' : 'hover'],
      [marks.pin, 'pin'],
    ]) {
      const at = node >= 0 ? rectOf(tree, rects, node) : -1;
      if (at >= 0) paintFrameOutline(context, rects, at, place(), kind);
    }
    mirror.setPinned(marks.pin);
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
      width: Math.min(scroll.clientWidth, MOST_PX),
      height: Math.min(scroll.clientHeight, MOST_PX),
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
    const wide = Math.min(whole, Math.max(whole * LEAST_SHARE, to - from));
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
    const most = (tree.width[node] * size.width) / APART_PX;
    glide(tree.x[node], Math.min(to, tree.x[node] + most));
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
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    const line = Math.floor((event.clientY - box.top + scroll.scrollTop) / ROW_PX);
    const row = isFlipped ? rowCount() - 1 - line : line;
    return rectAt(rects, event.clientX - box.left, row, SNAP_PX);
  };
  const markOf = (rect) => {
    const box = picture.getBoundingClientRect();
    const top = box.top + topOf(rects.row[rect], place());
    const left = box.left + rects.x[rect];
    return { left, right: left + rects.width[rect], top, bottom: top + ROW_PX };
  };
  const mirror = createTreeMirror({
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
  picture.append(mirror.node);
  /* Scrolls and pans so that a node stands in the picture. */
  function show(node) {
    if (tree.depth[node] < view.base || tree.x[node] >= view.to || tree.x[node] + tree.width[node] <= view.from)
      zoomTo(tree.depth[node] < view.base ? node : 0);
    const top = topOf(tree.depth[node] - view.base, { ...place(), scrollPx: 0 });
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + ROW_PX > scroll.scrollTop + size.height) scroll.scrollTop = top + ROW_PX - size.height;
    paint();
  }
  let drag = null;
  picture.addEventListener('pointermove', (event) => {
    if (drag) {
      const share = (drag.x - event.clientX) / size.width;
      if (!drag.isMoved && Math.abs(drag.x - event.clientX) < 5) return;
      drag.isMoved = true;
      set(drag.from + share * drag.wide, drag.from + (1 + share) * drag.wide);
      onLeave();
      return;
    }
    const rect = at(event);
    picture.classList.toggle('is-on-mark', rect >= 0);
    if (rect < 0) onLeave();
    else onHover(rects.node[rect], rects.merged[rect], markOf(rect));
  });
  picture.addEventListener('pointerleave', () => {
    if (mirror.active < 0) onLeave();
  });
  picture.addEventListener('pointerdown', (event) => {
    if (event.button > 1 || (event.pointerType === 'mouse' && event.button === 0 && !event.shiftKey)) return;
    drag = { x: event.clientX, from: view.from, wide: view.to - view.from, isMoved: false };
    if (event.pointerType === 'mouse') picture.setPointerCapture(event.pointerId);
  });
  const endDrag = () => {
    const wasMoved = drag?.isMoved;
    setTimeout(() => {
      drag = null;
    }, 0);
    if (wasMoved) onMove();
  };
  picture.addEventListener('pointerup', endDrag);
  picture.addEventListener('pointercancel', endDrag);
  picture.addEventListener('click', (event) => {
    if (drag?.isMoved) return;
    const rect = at(event);
    if (rect < 0) onPick(null);
    else if (rects.merged[rect]) takeApart(rects.node[rect], rects.merged[rect]);
    else onPick(rects.node[rect]);
  });
  scroll.addEventListener('scroll', () => nextFrame(paint));
  scroll.addEventListener(
    'wheel',
    (event) => {
      const isZoom = event.ctrlKey || event.metaKey;
      const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isZoom && !isPan) return;
      event.preventDefault();
      const px = event.clientX - picture.getBoundingClientRect().left;
      if (isZoom) zoomAbout(px, event.deltaY < 0 ? NOTCH : 1 / NOTCH);
      else pan((event.deltaX || event.deltaY) / size.width);
    },
    { passive: false },
  );

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
      mirror.setLabel(`${label} Arrow keys move, Enter pins and zooms.`);
      mirror.setTree(tree);
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
    focus: () => mirror.node.focus(),
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
