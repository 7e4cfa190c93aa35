/* SPDX-License-Identifier: Apache-2.0
 * tooltip.js: the tooltip of a page, see tooltip_box.js; loaded when the first one is shown. */

import { lazy } from '../lib/lazy.js';

const box = lazy(() => import('./tooltip_box.js'));
let wanted = null;

/* key, lines, mark, explain: see show() of tooltip_box.js. */
export function showTooltip(...tooltip) {
  wanted = tooltip;
  box.with((it) => wanted === tooltip && it.show(...tooltip));
}

export function hideTooltip() {
  wanted = null;
  box.now?.hide();
}

/* True if there was one to dismiss. */
export const dismissTooltip = () => box.now?.dismiss() ?? false;

/* What the tooltip says `i` explains; null where there is none to see. */
export const tooltipSubject = () => box.now?.subject() ?? null;
