/* SPDX-License-Identifier: Apache-2.0
 * device_memory_parts.js: small things that several views of the Device Memory page have. */

import { later } from '../lib/activity.js';
import { el, svg } from '../lib/dom.js';
import { commonParams } from './device_memory_state.js';

const WRITE_AFTER_MS = 250;

/* Link to the whole table as the daemon writes it. */
export function csvLink(view, name, params, format = 'csv') {
  const url = new URL(`api/v1/device_memory/${name}`, document.baseURI);
  for (const [key, value] of Object.entries({ ...commonParams(view.state, view.session), ...params, format }))
    for (const each of [value].flat()) if (each !== '' && each !== null && each !== undefined) url.searchParams.append(key, each);
  return url.href;
}

/* The field that filters a table; what is in it stands in the URL. */
export function createFind(view, placeholder) {
  let takeBack = null;
  const write = () => view.context.move({ filter: input.value });
  const input = el('input', {
    type: 'search',
    class: 'device-find',
    placeholder,
    'aria-label': 'Filter the rows',
    spellcheck: 'false',
    on: {
      input: () => {
        takeBack?.();
        takeBack = later(write, WRITE_AFTER_MS);
      },
      keydown: (event) => {
        if (event.key !== 'Escape') return;
        if (input.value) {
          input.value = '';
          write();
        } else input.blur();
        event.preventDefault();
        event.stopPropagation();
      },
    },
  });
  return {
    node: input,
    draw() {
      if (document.activeElement !== input) input.value = view.state.filter;
    },
    focus: () => input.focus(),
  };
}

/* A bar whose length follows `share` (0..1). */
export function shareBar(share, className = '') {
  const wide = Math.max(0, Math.min(1, share)) * 100;
  return svg(
    'svg',
    { class: `share-bar ${className}`.trim(), viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'share-track', width: 100, height: 8 }),
    svg('rect', { class: 'share-part', width: wide.toFixed(2), height: 8 }),
  );
}
