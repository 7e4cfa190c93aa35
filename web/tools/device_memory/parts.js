/* SPDX-License-Identifier: Apache-2.0
 * parts.js: small things that several views of the Device Memory page have. */

import { svg } from '../../lib/dom.js';
import { createFilter } from '../../widgets/filter.js';
import { amount } from './text.js';

const FIELDS = {
  fn: 'function',
  file: 'file',
  line: 'line of the file',
  name: 'function and place',
  self: 'bytes of its own',
  total: 'bytes in all',
  each: 'size of one buffer',
  count: 'how many',
  device: 'device',
  kind: 'buffer or executable',
  copies: 'the same on other devices',
};

/* The field that filters the rows of a table; what is in it stands in the URL. names: of FIELDS. */
export function createRowFilter({ url, subject }, label, names) {
  const valuesOf = (name) => {
    const list = () => (name === 'device' ? subject.summary?.devices : subject.summary?.kinds) ?? [];
    const words = () => list().map((each) => ({ value: each.name, figure: amount(subject.summary.metric, each.total) }));
    return ['device', 'kind'].includes(name) ? { values: async () => words() } : {};
  };
  return createFilter({
    label,
    placeholder: 'filter the rows, e.g. fn:init >1MiB',
    fields: () => names.map((name) => ({ name, says: FIELDS[name], ...valuesOf(name) })),
    onFilter: (filter, isTyping) => (isTyping ? url.move({ filter }) : url.choose({ filter })),
  });
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
