/* SPDX-License-Identifier: Apache-2.0
 * rail.js: the tools at the left. One without data in this session stays there, dimmed, with its
 * reason; opening it says what is missing and how to record it. The open one is never dimmed. */

import { el, fill, svg } from '../lib/dom.js';

/* entries: [{tool, word, title, icon, href, why}]; `current` is the open tool. */
export function drawRail(node, entries, current) {
  const links = entries.map(({ tool, word, title, icon, href, why }) =>
    el(
      'a',
      {
        href,
        title: why ? `${title}. ${why}.` : title,
        class: why && tool !== current ? 'is-dim' : null,
        'data-tool': tool,
        'aria-current': tool === current ? 'page' : null,
      },
      svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: icon })),
      el('span', { class: 'rail-word' }, word),
      why ? el('span', { class: 'hidden' }, `: ${why}`) : null,
    ),
  );
  const at = [...node.children].indexOf(document.activeElement);
  fill(node, links);
  if (at >= 0) links[Math.min(at, links.length - 1)].focus();
}
