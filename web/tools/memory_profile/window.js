/* SPDX-License-Identifier: Apache-2.0
 * window.js: what the selected window says: its own peak, and what was born and died in it. */

import { isAbort, Problem } from '../../lib/api.js';
import { el, figure, fill } from '../../lib/dom.js';
import { bytes, count, duration, signedBytes, time } from '../../lib/format.js';
import { selectedLine } from '../../widgets/window_line.js';

const WIDTH_PX = 64;

/* Pure: ", born 12.00 GiB in 24, died 3.00 GiB in 6, +9.00 GiB from before to after" */
export function changeWords(between) {
  return (
    `, born ${bytes(between.born_bytes)} in ${count(between.born_count)}, ` +
    `died ${bytes(between.died_bytes)} in ${count(between.died_count)}, ` +
    `${signedBytes(between.in_use_difference_bytes)} from before to after`
  );
}

/* A line under the title of the timeline. actions: onZoom(), onClear(), onMoment(ps). Out: {node, load()}. */
export function createWindowLine(view, { onZoom, onClear, onMoment }) {
  const { node, words } = selectedLine(onZoom, onClear);
  let asked = '';
  const show = ([from, to], peak, between) => {
    fill(
      words,
      el('strong', {}, `${time(from)} to ${time(to)}`),
      `, ${duration(to - from)}: `,
      peak ? ['peak ', figure(peak.in_use_bytes, bytes(peak.in_use_bytes), 'strong'), ' '] : 'no event, ',
      peak
        ? el(
            'button',
            { type: 'button', class: 'link-button', on: { click: () => onMoment(peak.time_ps) } },
            `at ${time(peak.time_ps)}`,
          )
        : `${bytes(between.in_use_bytes)} in use`,
      between.between ? changeWords(between.between) : '',
    );
    node.hidden = false;
  };
  return {
    node,
    /* The window of the URL, or none. */
    async load() {
      const { window } = view.wanted;
      const key = JSON.stringify([window, view.place, view.serial]);
      if (key === asked) return;
      asked = key;
      if (!window) {
        node.hidden = true;
        return;
      }
      const [from, to] = window;
      try {
        const [timeline, live] = await Promise.all([
          view.ask('timeline', { from, to, width: WIDTH_PX }),
          view.ask('live', { time: to, a: from, b: to, limit: 1 }),
        ]);
        if (asked === key) show(window, timeline.data.window_peak, live.data);
      } catch (error) {
        if (!isAbort(error) && !(error instanceof Problem)) throw error;
        if (asked === key) node.hidden = true;
      }
    },
  };
}
