/* SPDX-License-Identifier: Apache-2.0
 * gestures.js: what pointer, wheel and fingers do on every plot. Places are CSS pixels
 * inside `node`. A click is reported at once; a drag of 5 px is no click any more. */

import { later } from '../lib/activity.js';

const DRAG_PX = 5;
const LONG_PRESS_MS = 500;
const HINT_AFTER_MS = 400;
const NOTCH = 1.2;
const NOTCH_PX = 100;
const LINE_PX = 33;

/* The plot that takes the wheel: the last one clicked or focused. */
let active = null;
document.addEventListener('pointerdown', (event) => {
  if (active && !active.contains(event.target)) active = null;
});

const distance = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);

/* What a drag that begins so does; grip: the thing under the pointer that is dragged by itself. */
const kindOf = ({ pointerType, shiftKey, button }, grip) =>
  pointerType === 'touch' || shiftKey || button === 1 ? 'pan' : (grip ?? 'select');

const pinchOf = ([a, b]) => ({
  kind: 'pinch',
  apart: Math.max(1, distance([a, b])),
  middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
});

/* Sideways and vertical movement of a wheel in pixels, and whether it zooms. */
function wheelOf(event) {
  const unit = event.deltaMode === 1 ? LINE_PX : event.deltaMode === 2 ? 400 : 1;
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const along = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
  return { isSideways, dx: along * unit, dy: event.deltaY * unit };
}

function report(handlers, drag, to, isEnd) {
  const { kind, from, last } = drag;
  if (kind === 'pan') handlers.pan?.(to.x - last.x, to.y - last.y, isEnd);
  else if (kind === 'select') handlers.select?.(from, to, isEnd);
  else handlers.drag?.(kind, to, isEnd);
  drag.last = to;
}

function placeIn(node, { clientX, clientY }) {
  const { left, top } = node.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

function bindWheel(node, owner, handlers) {
  let hint = null;
  const wheel = (event) => {
    const { isSideways, dx, dy } = wheelOf(event);
    const isForced = event.ctrlKey || event.metaKey;
    const isActive = active === owner || owner.contains(document.activeElement);
    if (isSideways && !isForced) {
      event.preventDefault();
      handlers.pan?.(-dx, 0, true);
    } else if (isForced || isActive) {
      event.preventDefault();
      const isFine = isForced && Math.abs(dy) < 50;
      handlers.zoom?.(placeIn(node, event), NOTCH ** ((-dy * (isFine ? 5 : 1)) / NOTCH_PX), event.altKey);
    } else {
      hint?.();
      hint = later(() => handlers.hint?.(), HINT_AFTER_MS);
    }
  };
  node.addEventListener('wheel', wheel, { passive: false });
  owner.addEventListener('focusin', () => {
    active = owner;
  });
}

function bindMenu(node, menu) {
  node.addEventListener('contextmenu', (event) => {
    if (event.pointerType === 'touch') return; // a finger that rests is a click
    event.preventDefault();
    menu(placeIn(node, event), event);
  });
}

/* handlers (each may be absent):
 *   click(place, event), double(place, event), hover(place, event), leave()
 *   select(from, to, isEnd)   a drag; to = null: given up
 *   pan(dx, dy, isEnd)        Shift or middle drag, one finger, sideways wheel
 *   zoom(place, factor, isVertical)
 *   hint()                    a wheel over a plot that is not active
 *   grip(place) → name | null a thing under the pointer that is dragged by itself: drag(name, place, isEnd)
 *   menu(place, event)        the button for menus; the browser's own does not open
 * options: owner (what counts as "this plot" for focus), dragPans: drags pan instead of selecting. */
export function bindGestures(node, handlers, { owner = node } = {}) {
  const pointers = new Map();
  let press = null;
  let drag = null;
  let isSwallowed = false;

  const placeOf = (event) => placeIn(node, event);
  const stopPress = () => {
    press?.();
    press = null;
  };
  const pinch = () => {
    const next = pinchOf([...pointers.values()]);
    if (drag?.kind === 'pinch') {
      handlers.zoom?.(next.middle, next.apart / drag.apart, false);
      handlers.pan?.(next.middle.x - drag.middle.x, next.middle.y - drag.middle.y, false);
    }
    drag = next;
  };

  const down = (event) => {
    if (event.pointerType !== 'touch' && event.button > 1) return;
    active = owner;
    isSwallowed = false;
    const at = placeOf(event);
    pointers.set(event.pointerId, at);
    if (event.button === 1) event.preventDefault();
    if (pointers.size === 2) {
      stopPress();
      pinch();
      return;
    }
    drag = { kind: kindOf(event, handlers.grip?.(at)), from: at, last: at, isMoved: false };
    if (event.pointerType === 'touch') {
      press = later(() => {
        press = null;
        isSwallowed = true;
        handlers.click?.(at, event);
      }, LONG_PRESS_MS);
    }
  };
  const move = (event) => {
    const at = placeOf(event);
    /* Let go outside of the window, where nobody heard it. */
    if (event.buttons === 0 && pointers.delete(event.pointerId)) drag = null;
    if (!pointers.has(event.pointerId)) {
      handlers.hover?.(at, event);
      return;
    }
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      pinch();
      return;
    }
    if (!drag || drag.kind === 'pinch') return;
    if (!drag.isMoved && distance([drag.from, at]) < DRAG_PX) return;
    if (!drag.isMoved) {
      stopPress();
      drag.isMoved = true;
      node.setPointerCapture(event.pointerId);
    }
    isSwallowed = true;
    report(handlers, drag, at, false);
  };
  const up = (event) => {
    stopPress();
    pointers.delete(event.pointerId);
    if (drag?.isMoved) {
      if (event.type === 'pointercancel') handlers.select?.(drag.from, null, true);
      else report(handlers, drag, placeOf(event), true);
    }
    if (pointers.size === 0) drag = null;
  };
  node.addEventListener('pointerdown', down);
  node.addEventListener('pointermove', move);
  node.addEventListener('pointerup', up);
  node.addEventListener('pointercancel', up);
  node.addEventListener('pointerleave', () => {
    if (pointers.size === 0) handlers.leave?.();
  });
  node.addEventListener('click', (event) => {
    if (!isSwallowed && event.detail < 2) handlers.click?.(placeOf(event), event);
  });
  node.addEventListener('dblclick', (event) => {
    event.preventDefault();
    handlers.double?.(placeOf(event), event);
  });
  if (handlers.menu) bindMenu(node, handlers.menu);
  bindWheel(node, owner, handlers);
  return {
    /* True if a drag was under way; it is given up. */
    cancel() {
      if (!drag?.isMoved) return false;
      if (drag.kind === 'select') handlers.select?.(drag.from, null, true);
      drag = null;
      return true;
    },
  };
}
