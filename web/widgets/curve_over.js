/* SPDX-License-Identifier: Apache-2.0
 * curve_over.js: what lies on the curve and moves without drawing it again: the lives of what
 * is lit, the selected window, the moment, two marks. */

import { el } from '../lib/dom.js';

/* {node, set(patch), place(xOf, width), isOnGrip(x, y)}; xOf(step) → pixels from the left of the plot. */
export function createCurveOver() {
  const makeSpan = () => el('div', { class: 'curve-span', hidden: true });
  const spans = [makeSpan()];
  const window = el('div', { class: 'curve-window', hidden: true });
  const moment = el('div', { class: 'curve-moment', hidden: true }, el('span', { class: 'curve-grip' }));
  const flags = ['a', 'b'].map((name) =>
    el('div', { class: 'curve-mark', hidden: true }, el('span', { class: 'curve-flag' }, name.toUpperCase())),
  );
  const node = el('div', { class: 'curve-over', 'aria-hidden': 'true' }, window, spans, flags, moment);
  let shown = { spans: [], window: null, moment: null, marks: { a: null, b: null } };
  let at = { xOf: null, width: 0, momentX: 0 };

  const stretch = (box, range, min) => {
    if (!range) {
      box.hidden = true;
      return;
    }
    const left = Math.max(0, at.xOf(range[0]));
    const right = Math.min(at.width, at.xOf(range[1]));
    box.hidden = !(right > left - 1 && left <= at.width);
    box.style.left = `${left}px`;
    box.style.width = `${Math.max(min, right - left)}px`;
  };
  /* Where the middle of a step is; hidden where it is out of view. */
  const stand = (line, step) => {
    const x = step === null ? NaN : at.xOf(step + 0.5);
    line.hidden = !(x >= -1 && x <= at.width + 1);
    line.style.transform = `translateX(${x || 0}px)`;
    return x;
  };
  const place = () => {
    if (!at.xOf) return;
    for (const [i, box] of spans.entries()) stretch(box, shown.spans[i], 2);
    stretch(window, shown.window, 1);
    at.momentX = stand(moment, shown.moment);
    stand(flags[0], shown.marks.a);
    stand(flags[1], shown.marks.b);
  };
  return {
    node,
    set(patch) {
      shown = { ...shown, ...patch };
      while (spans.length < shown.spans.length) {
        spans.push(makeSpan());
        spans[0].after(spans[spans.length - 1]);
      }
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
