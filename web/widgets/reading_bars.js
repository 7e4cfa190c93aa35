/* SPDX-License-Identifier: Apache-2.0
 * reading_bars.js: how much of the files of a session was read so far, a bar each, while somebody waits.
 * Its own file: it asks again and again, which nothing else of a panel does. */

import { get } from '../lib/api.js';
import { el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';
import { createPolling } from '../lib/polling.js';

const ASK_EVERY_MS = 500;

const bar = ({ file, text, read_bytes, size_bytes }) =>
  el(
    'li',
    {},
    el('progress', { max: size_bytes, value: read_bytes, 'aria-label': `${visible(file)}: ${text}` }),
    el('span', {}, `${text}.`),
    el('code', {}, visible(file)),
  );

/* {node, begin(), end()}; what cannot be told leaves the bars as they are: the answer that is awaited says why. */
export function createReadingBars(session) {
  const node = el('ul', { class: 'reading-bars', 'aria-live': 'off' });
  const controller = new AbortController();
  const polling = createPolling(async () => {
    const { readings } = await get(
      'readings',
      { session },
      { signal: controller.signal, isQuiet: true, isPassing: true },
    );
    if (readings.length && !controller.signal.aborted) fill(node, ...readings.map(bar));
  }, ASK_EVERY_MS);
  return {
    node,
    begin: polling.begin,
    end() {
      polling.end();
      controller.abort();
    },
  };
}
