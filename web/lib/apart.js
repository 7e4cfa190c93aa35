/* SPDX-License-Identifier: Apache-2.0
 * apart.js: names of one list that are alike are cut where they are equal: what tells `…mu…` from `…nu…` stays. */

import { resplit, wholeName } from './dom.js';
import { cutMiddle } from './format.js';

const END = 10; // of a name stays in any case
const IN_WORD = /[\p{L}\p{N}_]/u;

const equalFrom = (a, b) => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
};
/* The word around a place, or that ends or begins there: half of one tells nothing. */
function wordAt(text, at) {
  let [from, to] = [at, at];
  while (from > 0 && IN_WORD.test(text[from - 1])) from--;
  if (from === at) to++;
  while (to < text.length && IN_WORD.test(text[to])) to++;
  return [from, Math.min(to, text.length)];
}

/* Pure. endLength: so many letters of the end stay in any case. Out: name → [from, to): the first word in which it
 * differs from the one that is most like it, of those with the same end: an end that differs tells them apart already.
 */
export function differences(names, endLength = END) {
  const ofEnd = new Map();
  for (const text of new Set(names)) {
    const end = endLength ? text.slice(-endLength) : '';
    ofEnd.set(end, [...(ofEnd.get(end) ?? []), text]);
  }
  const spans = new Map();
  for (const like of ofEnd.values()) {
    like.sort().forEach((text, at) => {
      const near = [like[at - 1], like[at + 1]].filter((other) => other !== undefined);
      if (near.length) spans.set(text, wordAt(text, Math.max(...near.map((other) => equalFrom(text, other)))));
    });
  }
  return spans;
}

/* Pure: `text` in so many letters, [from, to) of it among them where that has room: with what stands before it. */
export function cutAround(text, max, span) {
  const [from, to] = span ?? [0, 0];
  if (text.length <= max || to - from === 0 || to - from + 2 > max) return cutMiddle(text, max);
  const isEnd = to === text.length;
  const begin = Math.max(0, from - (max - (to - from) - (isEnd ? 1 : 2)));
  return `${begin ? '\u2026' : ''}${text.slice(begin, to)}${isEnd ? '' : '\u2026'}`;
}

/* nodes: of name(), of one list. Each is cut elsewhere than where it differs. */
export function tellApart(nodes) {
  const spans = differences(nodes.map(wholeName));
  for (const node of nodes) resplit(node, spans.get(wholeName(node)) ?? null);
}
