/* SPDX-License-Identifier: Apache-2.0
 * legend.js: words beside squares of any colour; a square is drawn as SVG, as its colour is only
 * known when it is drawn. */

import { button, el, fill, svg } from '../lib/dom.js';

/* entries: [{fill, word, title, onClick}]. Out: {node, set(entries)}. */
export function createLegend(label) {
  const node = el('ul', { class: 'legend', 'aria-label': label });
  return {
    node,
    set(entries) {
      fill(
        node,
        entries.map(({ fill: colour, word, title = null, onClick = null }) => {
          const square = svg(
            'svg',
            { class: 'legend-square', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
            svg('rect', { width: 12, height: 12, rx: 2, fill: colour }),
          );
          const words = el('bdi', { dir: 'ltr' }, word);
          return el('li', { title }, onClick ? button('legend-word', onClick, [square, words]) : [square, words]);
        }),
      );
    },
  };
}
