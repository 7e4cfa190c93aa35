/* SPDX-License-Identifier: Apache-2.0
 * ledger.js: what the plan, the allocator, device profiles and the loaded programs each say was taken, as bars of one
 * scale held against the capacity. Figures and the sentence are the daemon's. Its own file: two pages show it. */

import { el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';

/* Pure: a capacity that would leave of the bars a line. */
const FAR = 8;
export const isFarFrom = (capacity, whole) => capacity > FAR * whole;

const share = (size, scale) => `${(100 * size) / Math.max(1, scale)}%`;

function barNode({ bytes: size }, scale, capacity) {
  const within = el('span', { class: 'ledger-part' });
  within.style.width = share(capacity == null ? size : Math.min(size, capacity), scale);
  const over = capacity != null && size > capacity ? el('span', { class: 'ledger-over' }) : null;
  if (over) over.style.width = share(size - capacity, scale);
  const mark = capacity == null ? null : el('span', { class: 'ledger-capacity' });
  if (mark) mark.style.left = share(capacity, scale);
  return el('span', { class: 'ledger-bar', 'aria-hidden': 'true' }, within, over, mark);
}

/* ledger: of the view verdict; links: of evidence.js. */
export function drawLedger(node, ledger, links) {
  const { bars, sentence } = ledger;
  const most = Math.max(0, ...bars.map((bar) => bar.bytes));
  const isFar = ledger.capacity_bytes != null && isFarFrom(ledger.capacity_bytes, most);
  const capacity = isFar ? null : ledger.capacity_bytes;
  node.hidden = bars.length === 0;
  if (node.hidden) return;
  const scale = Math.max(capacity ?? 0, most);
  fill(
    node,
    el(
      'ul',
      { class: 'ledger-bars', 'aria-label': 'Ledger of one device' },
      bars.map((bar) =>
        el(
          'li',
          {},
          el('span', { class: 'ledger-word' }, visible(bar.label)),
          barNode(bar, scale, capacity),
          links.figure(bar.bytes, bar.evidence, undefined, ''),
        ),
      ),
      capacity == null
        ? null
        : el(
            'li',
            { class: 'ledger-limit' },
            el('span', { class: 'ledger-word' }, 'capacity'),
            barNode({ bytes: 0 }, scale, capacity),
            links.figure(capacity, ledger.capacity_evidence, undefined, ''),
          ),
    ),
    el(
      'p',
      { class: 'ledger-says' },
      isFar
        ? [
            'Capacity ',
            links.figure(ledger.capacity_bytes, ledger.capacity_evidence, undefined, ''),
            ', far to the right. ',
          ]
        : null,
      links.sentence(sentence, ledger.figures),
    ),
  );
}
