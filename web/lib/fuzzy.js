/* SPDX-License-Identifier: Apache-2.0
 * fuzzy.js: how well a few typed letters stand for a text. Pure. */

const LONGEST = 300;
const WORD_START = 8;
const BESIDE = 5;
const PER_GAP = 1;

const isStart = (text, at) => at === 0 || (/[^\p{L}\p{N}]/u.test(text[at - 1]) && /[\p{L}\p{N}]/u.test(text[at]));

/* Score of one word of the query from `from` on: {score, places}; null if it is not in there in order. */
function place(text, word, from) {
  const places = [];
  let score = 0;
  let last = from - 1;
  for (const letter of word) {
    const next = text.indexOf(letter, last + 1);
    if (next < 0) return null;
    let best = next;
    /* A later place that begins a word is better, if the rest still fits behind it. */
    for (let at = next; at >= 0 && at < next + 60; at = text.indexOf(letter, at + 1)) {
      if (!isStart(text, at)) continue;
      const rest = word.slice(places.length + 1);
      if (isInOrder(text, rest, at + 1)) best = at;
      break;
    }
    if (places.length && next === last + 1) best = next;
    score += best === last + 1 && places.length ? BESIDE : isStart(text, best) ? WORD_START : 0;
    if (places.length) score -= PER_GAP * Math.min(10, best - last - 1);
    places.push(best);
    last = best;
  }
  return { score, places };
}

function isInOrder(text, letters, from) {
  let at = from - 1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/* {score, places: indexes of the letters found}, or null. Every word of the query has to be there. */
export function match(query, text) {
  const lower = text.slice(0, LONGEST).toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let score = 0;
  const places = [];
  for (const word of words) {
    const whole = lower.indexOf(word);
    const found =
      whole >= 0
        ? {
            score: word.length * BESIDE + (isStart(lower, whole) ? 2 * WORD_START : 0),
            places: Array.from(word, (letter, at) => whole + at),
          }
        : place(lower, word, 0);
    if (!found) return null;
    score += found.score;
    places.push(...found.places);
  }
  return { score: score - lower.length / 100, places };
}

/* The items that match, best first; equal ones keep their order. textOf(item) is what is searched. */
export function rank(query, items, textOf) {
  if (!query.trim()) return items.map((item) => ({ item, score: 0, places: [] }));
  return items
    .map((item) => ({ item, ...match(query, textOf(item)) }))
    .filter((row) => row.score !== undefined)
    .sort((a, b) => b.score - a.score);
}
