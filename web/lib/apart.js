/* SPDX-License-Identifier: Apache-2.0
 * apart.js: names of one list that are alike are cut where they are equal: what tells `…mu…` from `…nu…` stays. */

import { resplit, wholeName } from './dom.js';

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

/* Pure. Out: name → [from, to): the first word in which it differs from the one that is most like it, of those with the
 * same end: an end that differs tells them apart already. */
export function differences(names) {
  const ofEnd = new Map();
  for (const text of new Set(names)) {
    const end = text.slice(-END);
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

/* nodes: of name(), of one list. Each is cut elsewhere than where it differs. */
export function tellApart(nodes) {
  const spans = differences(nodes.map(wholeName));
  for (const node of nodes) resplit(node, spans.get(wholeName(node)) ?? null);
}
