/* SPDX-License-Identifier: Apache-2.0
 * window_line.js: a line under a title that says what the selected window holds, with what can be done with it. */

import { button, el } from '../lib/dom.js';

/* A word of the line that can be pressed; `key` does the same. */
export const lineButton = (word, key, run, className = '') =>
  button(`text-button ${className}`.trim(), run, word, { title: key });

/* Hidden at first. letGo: {label, key, run} of the cross at its end. Out: {node, words}: the line, and the place of its
   sentence. */
export function windowLine(buttons, letGo, className = '') {
  const words = el('div', { class: 'window-words', role: 'status' });
  const node = el(
    'div',
    { class: `window-line ${className}`.trim(), hidden: true },
    words,
    buttons,
    button('icon-button', letGo.run, '×', { 'aria-label': letGo.label, title: letGo.key }),
  );
  return { node, words };
}

/* The line of a window that was selected in a chart: Enter zooms, Esc lets it go. Out: also {zoom}, the button. */
export function selectedLine(onZoom, onClear, buttons = []) {
  const zoom = lineButton('Zoom', 'Enter', onZoom);
  return { ...windowLine([zoom, ...buttons], { label: 'Let the window go', key: 'Esc', run: onClear }), zoom };
}
