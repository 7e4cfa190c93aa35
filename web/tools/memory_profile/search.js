/* SPDX-License-Identifier: Apache-2.0
 * search.js: what a search finds in the panels of the Memory Profile: what is live, events (each is a stripe of the
 * timeline and a block of the address map), rows of growth. Its own file: it knows all of them, and the page only that
 * it searches. */

import { following } from '../../lib/range.js';
import { createSearch } from '../../widgets/search.js';
import { pinText } from '../../lib/route.js';
import { pinOf } from './pins.js';
import { rangePatch } from './state.js';

const MAX_FOUND = 1000;
const WORDS = { live: 'Live', events: 'Events', growth: 'Growth' };

export function createProfileSearch({ trace, url, tabsOf }) {
  const placeOf = (name) => ({
    word: WORDS[name],
    async find(text, signal) {
      if (!trace.pool) return null;
      const { rows, count } = await tabsOf[name].found(text, MAX_FOUND, signal);
      return { items: rows.map((row) => ({ ...row, key: pinText(pinOf(row, name)) })), count };
    },
    pinned: () => url.wanted.pin,
    /* The time follows an event, and what is in view follows the time. */
    show(row) {
      const isEvent = name === 'events' && row.time_ps != null;
      const range = isEvent && url.isZoomed() ? following(url.range(), trace.all, row.time_ps) : null;
      url.choose({
        view: name === 'live' ? '' : name,
        ...(url.wanted.view === name ? {} : { sort: '' }),
        pin: pinOf(row, name),
        ...(isEvent ? { time: row.time_ps } : {}),
        ...(range ? rangePatch(range, trace.all) : {}),
      });
      Promise.resolve(tabsOf[name].hear()).then(() => tabsOf[name].reveal(row.id));
    },
  });
  return createSearch({
    label: 'Search what is live, events and growth',
    places: Object.keys(WORDS).map(placeOf),
    onText: (find) => url.move({ find }),
  });
}
