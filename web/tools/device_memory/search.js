/* SPDX-License-Identifier: Apache-2.0
 * search.js: what a search finds in the views of Device Memory: frames of the flame graph, rows of Top, groups of equal
 * buffers. Its own file: it knows all of them, and the page only that it searches. */

import { createSearch } from '../../widgets/search.js';
import { searchTree } from '../../widgets/icicle_layout.js';
import { pinned } from './state.js';
import { matcher, pathIds, readFlame } from './tree.js';

const MAX_FOUND = 1000;
const MAX_PIN = 1800;

/* As the flame graph searches: a regular expression, or the text itself. */
const framesOf = ({ subject, url }) => ({
  word: 'Flame',
  async find(text, signal) {
    const params = url.state.isInverted ? { invert: '1' } : {};
    const { data } = await subject.ask('flame', params, signal);
    const read = readFlame(data);
    const { nodes } = searchTree(read.tree, matcher(read.names, text).isMatch);
    const items = nodes.slice(0, MAX_FOUND).map((node) => {
      const path = pathIds(read, node);
      return { key: path.length > MAX_PIN ? read.names.id[read.tree.frame[node]] : path };
    });
    return { items, count: nodes.length };
  },
  pinned: () => url.state.pin || null,
  show: ({ key }) => url.choose({ view: '', pivot: '', ...pinned(key) }),
});

/* A table that the daemon filters. */
const rowsOf = ({ subject, url }, { view, word, key, patch, pinOf }) => ({
  word,
  async find(text, signal) {
    const { data } = await subject.ask(view, { filter: text, limit: MAX_FOUND }, signal);
    return { items: data.rows.map((row) => ({ ...row, key: key(row) })), count: data.matched_count };
  },
  pinned: pinOf,
  show: (row) => url.choose({ ...(url.state.view === view ? {} : { view, sort: '', filter: '' }), ...patch(row) }),
});

export function createDeviceSearch(page) {
  const { url } = page;
  return createSearch({
    label: 'Search frames, functions and buffers',
    places: [
      framesOf(page),
      rowsOf(page, {
        view: 'top',
        word: 'Top',
        key: (row) => row.frame.id,
        patch: (row) => pinned(row.frame.id),
        pinOf: () => url.state.pin || null,
      }),
      rowsOf(page, {
        view: 'buffers',
        word: 'Buffers',
        key: (row) => String(row.id),
        patch: (row) => pinned(row.frame.id, String(row.id)),
        pinOf: () => url.state.group || null,
      }),
    ],
    onText: (find) => url.move({ find }),
    isAlways: true,
  });
}
