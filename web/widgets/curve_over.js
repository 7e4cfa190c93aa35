/* SPDX-License-Identifier: Apache-2.0
 * curve_over.js: what lies on the curve and moves without drawing it again: the life of a
 * buffer, the selected window, the moment. */

import { el } from '../lib/dom.js';

/* {node, set(patch), place(xOf, width), isOnGrip(x, y)}; xOf(step) → pixels from the left of the plot. */
export function createCurveOver() {
  const span = el('div', { class: 'curve-span', hidden: true });
  const window = el('div', { class: 'curve-window', hidden: true });
  const moment = el('div', { class: 'curve-moment', hidden: true }, el('span', { class: 'curve-grip' }));
  const node = el('div', { class: 'curve-over', 'aria-hidden': 'true' }, window, span, moment);
  let shown = { span: null, window: null, moment: null };
  let at = { xOf: null, width: 0, momentX: 0 };

  const stretch = (box, range, least) => {
    if (!range) {
      box.hidden = true;
      return;
    }
    const left = Math.max(0, at.xOf(range[0]));
    const right = Math.min(at.width, at.xOf(range[1]));
    box.hidden = !(right > left - 1 && left <= at.width);
    box.style.left = `${left}px`;
    box.style.width = `${Math.max(least, right - left)}px`;
  };
  const place = () => {
    if (!at.xOf) return;
    stretch(span, shown.span, 2);
    stretch(window, shown.window, 1);
    at.momentX = shown.moment === null ? NaN : at.xOf(shown.moment + 0.5);
    moment.hidden = !(at.momentX >= -1 && at.momentX <= at.width + 1);
    moment.style.transform = `translateX(${at.momentX || 0}px)`;
  };
  return {
    node,
    set(patch) {
      shown = { ...shown, ...patch };
      place();
    },
    place(xOf, width) {
      at = { ...at, xOf, width };
      place();
    },
    /* The handle at the head of the moment. */
    isOnGrip: ({ x, y }) => !moment.hidden && y <= 16 && Math.abs(x - at.momentX) <= 9,
  };
}
