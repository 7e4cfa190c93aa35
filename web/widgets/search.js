/* SPDX-License-Identifier: Apache-2.0
 * search.js: one field that searches all panels of a page: it counts what each of them has, and steps from one to the
 * next. What is found, and how it is shown, the page knows:
 *
 *   const search = createSearch({
 *     label: 'Search the buffers, groups, code and patterns',
 *     places: [{
 *       word: 'Groups',
 *       find: async (text, signal) => ({ items: [{ key, … }], count, isLeast, also }),   also: one more count, in words
 *       show: (item) => …,               scrolls to it and pins it
 *       pinned: () => key | null,        of what is pinned now: the next step goes on from there
 *     }],
 *     onText: (text) => …,               what is typed, for the URL
 *     onFound: (found) => …,             per place what find() gave, or null
 *     isAlways: true,                    it stands there without a text, too
 *   });
 *   search.hear(text);  search.again();  what the URL says; the same of what else is shown now
 *
 * Keys: Enter and n step on, Shift Enter and N back, Esc clears it, then leaves. */

import { later } from '../lib/activity.js';
import { isAbort, Problem } from '../lib/api.js';
import { button, consume, el, fill } from '../lib/dom.js';
import { capital, count, visible } from '../lib/format.js';

const ASK_AFTER_MS = 150;

/* Pure. sizes: how many items each place has that can be stepped to; at: {place, item} or null. Out: the next. */
export function stepOf(sizes, at, by) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total === 0) return null;
  const before = (place) => sizes.slice(0, place).reduce((sum, size) => sum + size, 0);
  const now = at ? before(at.place) + at.item : by > 0 ? -1 : total;
  let item = (((now + by) % total) + total) % total;
  const place = sizes.findIndex((size) => {
    if (item < size) return true;
    item -= size;
    return false;
  });
  return { place, item };
}

/* Pure: "3 of 37"; found: {count, isLeast} or null each. */
export function foundWords(found, at) {
  const total = found.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  const all = `${found.some((each) => each?.isLeast) ? '≥ ' : ''}${count(total)}`;
  if (total === 0) return 'none found';
  if (!at) return `${all} found`;
  const before = found.slice(0, at.place).reduce((sum, each) => sum + (each?.count ?? 0), 0);
  return `${count(before + at.item + 1)} of ${all}`;
}

function createLine({ label, isAlways }, { onInput, onKey, step, close }) {
  const input = el('input', {
    type: 'search',
    class: 'search-input',
    placeholder: 'search all panels',
    'aria-label': label,
    spellcheck: 'false',
    on: { input: onInput, keydown: onKey },
  });
  const said = el('span', { class: 'search-said', role: 'status' });
  const each = el('span', { class: 'search-places' });
  const steps = el(
    'span',
    { class: 'search-steps', hidden: true },
    button('icon-button', () => step(-1), '‹', { 'aria-label': 'Previous match', title: 'Previous match (N)' }),
    button('icon-button', () => step(1), '›', { 'aria-label': 'Next match', title: 'Next match (n)' }),
  );
  const end = isAlways ? null : button('icon-button', close, '×', { 'aria-label': 'Close the search' });
  const node = el('div', { class: 'page-search', role: 'search', hidden: !isAlways }, input, steps, said, each, end);
  return { node, input, said, each, steps };
}

/* What each panel has, as a button that goes to the first of it. */
const placeNodes = (places, found, at, onGo) =>
  places.map(({ word }, place) => {
    const own = found[place];
    if (!own) return null;
    const words = `${word} ${own.isLeast ? '≥ ' : ''}${count(own.count)}${own.also ? `, ${own.also}` : ''}`;
    return own.items.length === 0
      ? el('span', { class: 'search-place dim' }, words)
      : button('search-place', () => onGo(place), words, { 'aria-pressed': String(at?.place === place) });
  });

/* Where what is pinned is one of what was found: the next step goes on from there. */
function pinnedAt(places, found) {
  for (const [place, own] of found.entries()) {
    const key = own && places[place].pinned?.();
    const item = key == null ? -1 : own.items.findIndex((each) => each.key === key);
    if (item >= 0) return { place, item };
  }
  return null;
}

/* Out: {all: what each place has, null where it failed; refused: the problems of these}. */
async function findIn(places, text, signal) {
  const refused = [];
  const one = async ({ find }) => {
    try {
      return await find(text, signal);
    } catch (error) {
      if (isAbort(error)) return null;
      if (!(error instanceof Problem)) throw error;
      refused.push(error);
      return null;
    }
  };
  return { all: await Promise.all(places.map(one)), refused };
}

/* Out: {node, open(), hear(text), again(), step(by), text, stop()}. */
export function createSearch({ label, places, onText, onFound = () => {}, isAlways = false }) {
  let text = '';
  let found = places.map(() => null);
  let at = null;
  let asked = null;
  let takeBack = null;
  const line = createLine(
    { label, isAlways },
    {
      onInput: () => onText(line.input.value.trim()),
      onKey(event) {
        if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape' && line.input.value !== '') clear();
        else if (event.key === 'Escape') leave();
        else return;
        consume(event);
      },
      step: (by) => step(by),
      close: () => leave(),
    },
  );
  const { node, input } = line;
  const clear = () => {
    input.value = '';
    onText('');
  };
  const leave = () => {
    if (input.value) clear();
    input.blur();
    node.hidden = !isAlways;
  };
  const say = (words, isWrong = false) => {
    if (isWrong) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    fill(line.said, words);
  };
  const draw = () => {
    say(foundWords(found, at));
    line.steps.hidden = !found.some((each) => each?.items.length);
    const focused = [...line.each.children].indexOf(document.activeElement);
    fill(
      line.each,
      placeNodes(places, found, at, (place) => show({ place, item: 0 })),
    );
    line.each.children[focused]?.focus();
  };
  const show = (next) => {
    at = next;
    draw();
    places[at.place].show(found[at.place].items[at.item]);
  };
  function step(by) {
    const next = stepOf(
      found.map((own) => own?.items.length ?? 0),
      at ?? pinnedAt(places, found),
      by,
    );
    if (next) show(next);
    return next != null;
  }

  async function ask() {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    const before = at && { place: at.place, key: found[at.place]?.items[at.item]?.key };
    if (!text) {
      at = null;
      found = places.map(() => null);
      say('');
      fill(line.each);
      line.steps.hidden = true;
      onFound(found);
      return;
    }
    const { all, refused } = await findIn(places, text, signal);
    if (signal.aborted) return;
    found = all;
    const item = before ? (found[before.place]?.items.findIndex(({ key }) => key === before.key) ?? -1) : -1;
    at = item >= 0 ? { place: before.place, item } : null;
    onFound(found);
    draw();
    /* A panel that does not know a field of the filter has nothing; that no panel knows it is said. */
    if (refused.length && !found.some((each) => each?.count)) say(refusalOf(refused[0]), true);
  }
  return {
    node,
    step,
    get text() {
      return text;
    },
    open() {
      node.hidden = false;
      input.focus();
      input.select();
    },
    hear(next) {
      if (next === text) return;
      text = next;
      at = null;
      asked?.abort(); /* what it finds is of the text before: no step goes there */
      found = places.map(() => null);
      if (document.activeElement !== input) input.value = text;
      if (text) node.hidden = false;
      else if (document.activeElement !== input) node.hidden = !isAlways;
      takeBack?.();
      takeBack = later(ask, ASK_AFTER_MS);
    },
    /* Something else is shown: another moment, another grouping. */
    again() {
      if (!text) return;
      takeBack?.();
      takeBack = later(ask, ASK_AFTER_MS);
    },
    stop() {
      takeBack?.();
      asked?.abort();
    },
  };
}

const refusalOf = (problem) => `${capital(visible(problem.message).replace(/^filter: /, ''))}`;
