/* SPDX-License-Identifier: Apache-2.0
 * saved_views.js: addresses of pages that the reader named, kept by the browser. Its own file: what is kept, without a
 * picture. */

import { setSetting, setting } from './settings.js';

const MAX_VIEWS = 100;
export const MAX_NAME = 80;

/* [{name, query: "?tool=…"}], the one that was saved last first. What is stored may be of anybody: only what is well
   formed. */
export function savedViews() {
  try {
    const list = JSON.parse(setting('views') || '[]');
    return list
      .filter((each) => typeof each?.name === 'string' && typeof each.query === 'string' && each.query.startsWith('?'))
      .slice(0, MAX_VIEWS);
  } catch {
    return [];
  }
}

const store = (list) => setSetting('views', JSON.stringify(list.slice(0, MAX_VIEWS)));

/* Another one of that name is replaced. */
export function saveView(name, query) {
  store([{ name: name.slice(0, MAX_NAME), query }, ...savedViews().filter((each) => each.name !== name)]);
}

export function forgetView(name) {
  store(savedViews().filter((each) => each.name !== name));
}
