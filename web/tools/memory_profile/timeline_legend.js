/* SPDX-License-Identifier: Apache-2.0
 * timeline_legend.js: the words above the chart of the timeline, and those of its picture.
 * Its own file: the panel of the timeline is long enough. */

import { button, el } from '../../lib/dom.js';
import { token } from '../../lib/theme.js';
import { bandLayers } from './bands.js';

/* The words above the chart; free and fragmentation are switches. */
export function createLegend(onLayer) {
  const key = (className, word) => el('span', { class: `key ${className}` }, word);
  const stack = key('key-stack', 'stack');
  const heap = key('key-heap', 'heap');
  const free = button('key key-free', () => onLayer('free'), 'free');
  const fragmentation = button('key key-line key-dashed', () => onLayer('fragmentation'), 'fragmentation (right axis)');
  const failed = key('key-line key-failed', 'failed request');
  const allocated = key('key-line', 'allocated');
  const predicted = key('key-line key-dashed key-predicted', 'after the ticked changes: reserved, allocated');
  const nodes = [stack, heap, allocated, free, fragmentation, failed, predicted];
  for (const node of nodes) node.hidden = true; /* until it is known what is drawn */
  return {
    nodes,
    set({ data, isFree, isHeld, hasFragmentation, hasStack, isPredicted }) {
      allocated.hidden = !isHeld;
      free.hidden = false;
      predicted.hidden = !isPredicted;
      free.textContent = isHeld ? 'reserved' : 'free';
      free.classList.toggle('key-held', isHeld);
      const isStacked = Boolean(data.stacked?.bands.length);
      stack.hidden = !hasStack || isStacked;
      heap.hidden = isStacked;
      failed.hidden = data.failures.length === 0;
      free.disabled = !data.has_free;
      free.title = isHeld
        ? 'What PyTorch holds of the device, free blocks too; on or off (u)'
        : data.has_free
          ? 'Free memory on or off (u)'
          : 'This allocator does not say what is free.';
      free.setAttribute('aria-pressed', String(isFree));
      fragmentation.hidden = !data.has_fragmentation;
      fragmentation.setAttribute('aria-pressed', String(hasFragmentation));
      fragmentation.textContent = data.is_thinned ? 'largest fragmentation (right axis)' : 'fragmentation (right axis)';
      fragmentation.title = data.is_thinned
        ? 'The largest value of all events in each part of the width'
        : 'After each event';
    },
  };
}

/* Words of the layers, for pictures. */
export function pictureLegend({ layers, of, striped, hasStack }) {
  const stripeLayers = striped
    ? of.stacked
      ? bandLayers(of, false)
      : [{ fill: 'alloc-heap' }, ...(hasStack ? [{ fill: 'alloc-stack' }] : [])]
    : [];
  const words = { 'alloc-heap': 'heap', 'alloc-stack': 'stack', panel: 'free', held: 'reserved', '': 'fragmentation' };
  const shown = layers.filter(({ isPale, isStripes }) => !isPale && !isStripes);
  return [...shown, ...stripeLayers].map(({ fill, stroke, dash, word }) => ({
    word: word ?? words[fill],
    colour: token(fill && fill !== 'panel' ? fill : stroke),
    kind: dash ? 'dashed' : fill === 'panel' ? 'line' : 'fill',
  }));
}
