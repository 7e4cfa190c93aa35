/* SPDX-License-Identifier: Apache-2.0
 * about.js: what the details pane says while nothing is hovered or pinned: what the page shows. */

import { el, nameInline } from '../../lib/dom.js';

const KEYS = [
  ['hover', 'lights the same buffer everywhere'],
  ['click', 'pins it; again, or Esc, lets go'],
  ['Tab', 'to a chart or the table'],
  ['← →', 'from bar to bar, step to step'],
  ['Enter', 'pins'],
];

export function pageDetails(space) {
  const parts = [
    el(
      'p',
      {},
      el('strong', {}, 'The total'),
      ' (allocations, with fragmentation) decides whether the program fits in ',
      nameInline(space.name),
      '. ',
      el('strong', {}, 'Peak live'),
      ' is the largest sum of buffers that live at one time; it says what fills the memory.',
    ),
    el(
      'p',
      {},
      space.step_unit === 'schedule'
        ? 'A position is a place in the schedule of the program.'
        : 'A step is an event of the heap trace: one buffer is born or dies.',
    ),
    el(
      'p',
      {},
      'The three strips show every buffer that lives at the peak, as wide as it is large. The hatched part is padding: bytes that hold no data.',
    ),
    el('dl', { class: 'keys' }, KEYS.map(([key, does]) => [el('dt', {}, key), el('dd', {}, does)]).flat()),
  ];
  return { heading: 'What this page shows', parts };
}
