/* SPDX-License-Identifier: Apache-2.0
 * palette.js: find or run anything (combobox in a dialog). Without a prefix everything is searched;
 * > commands, @ modules, # sessions, : a step or a time. */

import { begin, later } from '../lib/activity.js';
import { isAbort } from '../lib/api.js';
import { el, fill } from '../lib/dom.js';
import { capital, count, cutMiddle, visible } from '../lib/format.js';
import { bindings, spokenKey } from '../lib/keys.js';
import { openLink } from '../lib/route.js';
import { savedViews } from '../lib/saved_views.js';
import { openDialog } from './dialog.js';
import { comboField, createListbox } from './listbox.js';
import { menuCommands } from './menu.js';

const SHOWN = 100;
const ASK_AFTER_MS = 80;
const PAGE = 8;
const MAX_WORD = 90;
const PREFIXES = [
  ['>', 'commands'],
  ['@', 'modules'],
  ['#', 'sessions'],
  [':', 'a step or a time'],
];

/* Every command that can be used now, those of the page first: {word, after, keys, run, why}. */
export async function commandsNow() {
  const rows = bindings().filter((row) => !row.isHidden && row.does && !row.gesture);
  const ofPage = [
    ...rows.filter((row) => row.group !== 'Everywhere'),
    ...rows.filter((row) => row.group === 'Everywhere'),
  ];
  return [
    ...ofPage.map((row) => ({ word: capital(row.does), after: '', keys: row.keys, run: row.run, row })),
    ...savedViews().map(({ name, query }) => ({
      word: `Open view: ${visible(name)}`,
      after: '',
      keys: [],
      run: () => openLink(query),
    })),
    ...(await menuCommands())
      .filter((entry) => !entry.why && !entry.key)
      .map((entry) => ({
        word: `${entry.title}: ${entry.word}`,
        after: entry.isOn === undefined ? '' : entry.isOn ? 'on' : 'off',
        keys: [],
        run: entry.run,
      })),
  ];
}

/* Letters that were found stand out. */
function marked(text, places) {
  const found = new Set(places);
  const parts = [];
  for (const [at, letter] of [...text].entries()) {
    const isHit = found.has(at);
    const last = parts[parts.length - 1];
    if (last && last.isHit === isHit) last.text += letter;
    else parts.push({ isHit, text: letter });
  }
  return parts.map((part) => (part.isHit ? el('b', {}, part.text) : part.text));
}

const wordOf = (item) => item.word;
const short = (row) => ({ ...row, word: cutMiddle(visible(row.word), MAX_WORD) });

/* What the daemon lists for a query; null where it was not needed any more, onFailed(text) where it failed. */
function createRemote(sources, onFailed) {
  let asked = null;
  const stop = () => asked?.abort();
  return {
    stop,
    async find(kinds, query) {
      stop();
      asked = new AbortController();
      const { signal } = asked;
      const end = begin();
      try {
        const rows = await Promise.all(kinds.map((kind) => sources[kind](query, signal)));
        return signal.aborted ? null : rows.flat().map(short);
      } catch (error) {
        if (!isAbort(error)) onFailed(error.message);
        return null;
      } finally {
        end();
      }
    },
  };
}

/* What a row that was found says: rows of rank(). */
const partsOf = ({ item, places }) => [
  el('bdi', { class: 'palette-word', dir: 'ltr' }, marked(item.word, places)),
  el('span', { class: 'palette-after' }, item.after),
  (item.keys ?? []).slice(0, 2).map((key) => el('kbd', {}, spokenKey(key))),
];

/* commands: as of commandsNow(); sources: {modules(filter, signal), sessions(filter, signal)} → [{word, after, run}],
 * moment(text) → {word, run} or null, search(query) → {word, after, run} of a search on this page, or null. `first` is
 * what stands in the field at the beginning. */
export function openPalette(commands, sources, first = '') {
  const input = comboField({
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    class: 'palette-input',
    placeholder: 'Find or run',
    value: first,
  });
  const foot = el('p', { class: 'palette-foot', role: 'status' });
  const hint = el(
    'p',
    { class: 'palette-hint' },
    PREFIXES.map(([sign, word]) => [el('kbd', {}, sign), ` ${word} `]),
  );
  const choose = ({ item }) => {
    dialog.close();
    item.run();
  };
  const list = createListbox({
    id: 'palette',
    input,
    label: 'Found',
    className: 'palette-list',
    rowClass: 'palette-option',
    partsOf,
    onTake: choose,
  });
  const remote = createRemote(sources, (text) => fill(foot, text));
  const own = commands.map(short);
  let takeBack = null;
  let isAsking = false; // nothing is listed before the daemon answered
  let isEntered = false; // Enter was pressed before that

  const dialog = openDialog({
    title: 'Find or run',
    className: 'palette',
    content: () => [input, list.node, foot, hint],
    onClose() {
      takeBack?.();
      remote.stop();
    },
  });
  const show = (found) => {
    list.show(found.slice(0, SHOWN));
    list.activateRound(0);
    const rest = found.length - list.options.length;
    fill(foot, found.length === 0 ? 'Nothing matches.' : rest > 0 ? `${count(rest)} more; type to narrow.` : '');
  };
  /* What is here is found at once; what the daemon lists comes after a short rest. */
  const search = () => {
    const [sign, rest] = /^[>@#:]/.test(input.value) ? [input.value[0], input.value.slice(1)] : ['', input.value];
    const query = rest.trim();
    remote.stop();
    takeBack?.();
    isAsking = sign === '@' || sign === '#';
    isEntered = false;
    if (sign === ':') {
      const moment = sources.moment(query);
      show(moment ? [{ item: moment, places: [] }] : []);
      if (!moment) fill(foot, 'A step of this page, as in :1536.');
      return;
    }
    const found = sign === '' || sign === '>' ? rank(query, own, wordOf) : [];
    if (!isAsking) show(found);
    if (isAsking || (sign === '' && query)) takeBack = later(() => ask(sign, query, found), ASK_AFTER_MS);
  };
  const ask = async (sign, query, found) => {
    const listed = await remote.find({ '@': ['modules'], '#': ['sessions'] }[sign] ?? ['modules', 'sessions'], query);
    if (!listed) return;
    const chosen = !isAsking && list.active > 0 ? list.options[list.active].item : null;
    const onPage = sign === '' ? sources.search?.(query) : null;
    show([...found, ...rank(query, listed, wordOf), ...(onPage ? [{ item: short(onPage), places: [] }] : [])]);
    if (chosen)
      list.activate(
        Math.max(
          0,
          list.options.findIndex(({ item }) => item === chosen),
        ),
      );
    isAsking = false;
    if (isEntered && list.options[0]) choose(list.options[0]);
  };
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  input.addEventListener('keydown', (event) => {
    if (event.key in moves) list.activateRound(Math.max(list.active < 0 ? 0 : -1, list.active + moves[event.key]));
    else if (event.key === 'Enter' && isAsking) isEntered = true;
    else if (event.key === 'Enter' && list.options[list.active]) choose(list.options[list.active]);
    else return;
    event.preventDefault();
  });
  input.addEventListener('input', search);
  input.setSelectionRange(first.length, first.length);
  search();
}

/* ---- how well a few typed letters stand for a text; pure ---------------------- */

const MAX_SEARCHED = 300;
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
  const lower = text.slice(0, MAX_SEARCHED).toLowerCase();
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
