/* SPDX-License-Identifier: Apache-2.0
 * palette.js: find or run anything (combobox in a dialog). Without a prefix everything is searched;
 * > commands, @ modules, # sessions, : a step or a time. */

import { begin, later } from '../lib/activity.js';
import { isAbort } from '../lib/api.js';
import { el, fill } from '../lib/dom.js';
import { capital, count, cutMiddle, visible } from '../lib/format.js';
import { rank } from '../lib/fuzzy.js';
import { bindings, spokenKey } from '../lib/keys.js';
import { openDialog } from './dialog.js';
import { menuCommands } from './menu.js';

const SHOWN = 60;
const ASK_AFTER_MS = 80;
const PAGE = 8;
const LONGEST_WORD = 90;
const PREFIXES = [
  ['>', 'commands'],
  ['@', 'modules'],
  ['#', 'sessions'],
  [':', 'a step or a time'],
];

/* Every command that can be used now, those of the page first: {word, after, keys, run, why}. */
export async function commandsNow() {
  const rows = bindings().filter((row) => !row.isHidden && row.does && !row.gesture);
  const ofPage = [...rows.filter((row) => row.group !== 'Everywhere'), ...rows.filter((row) => row.group === 'Everywhere')];
  return [
    ...ofPage.map((row) => ({ word: capital(row.does), after: '', keys: row.keys, run: row.run, row })),
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

/* commands: as of commandsNow(); sources: {modules(filter, signal), sessions(filter, signal)} → [{word, after, run}], moment(text) →
 * {word, run} or null. `first` is what stands in the field at the beginning. */
export function openPalette(commands, sources, first = '') {
  const input = el('input', {
    type: 'text',
    class: 'palette-input',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    'aria-autocomplete': 'list',
    'aria-label': 'Find or run',
    placeholder: 'Find or run',
    autocomplete: 'off',
    spellcheck: 'false',
    value: first,
  });
  const list = el('ul', { id: 'palette-list', role: 'listbox', class: 'palette-list', 'aria-label': 'Found' });
  const foot = el('p', { class: 'palette-foot', role: 'status' });
  const hint = el(
    'p',
    { class: 'palette-hint' },
    PREFIXES.map(([sign, word]) => [el('kbd', {}, sign), ` ${word} `]),
  );
  let shown = [];
  let active = -1;
  let asked = null;
  let takeBack = null;
  let closed = false;
  let isAsking = false;
  let isEntered = false;

  const dialog = openDialog({
    title: 'Find or run',
    className: 'palette',
    content: () => [input, list, foot, hint],
    onClose: () => {
      closed = true;
      takeBack?.();
      asked?.abort();
    },
  });
  const activate = (at) => {
    list.children[active]?.setAttribute('aria-selected', 'false');
    active = shown.length ? (at + shown.length) % shown.length : -1;
    const row = list.children[active];
    row?.setAttribute('aria-selected', 'true');
    row?.scrollIntoView({ block: 'nearest' });
    if (row) input.setAttribute('aria-activedescendant', row.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const choose = (row) => {
    dialog.close();
    row.run();
  };
  const rowOf = ({ item, places }, at) =>
    el(
      'li',
      {
        id: `palette-${at}`,
        role: 'option',
        class: 'palette-option',
        'aria-selected': 'false',
        on: { click: () => choose(item), pointermove: () => active !== at && activate(at) },
      },
      el('bdi', { class: 'palette-word', dir: 'ltr' }, marked(item.word, places)),
      el('span', { class: 'palette-after' }, item.after),
      (item.keys ?? []).slice(0, 2).map((key) => el('kbd', {}, spokenKey(key))),
    );
  const show = (found) => {
    shown = found.slice(0, SHOWN).map((row) => row.item);
    fill(list, found.slice(0, SHOWN).map(rowOf));
    const rest = found.length - shown.length;
    fill(foot, found.length === 0 ? 'Nothing matches.' : rest > 0 ? `${count(rest)} more; type to narrow.` : '');
    activate(0);
  };
  const remote = async (kind, query) => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    const end = begin();
    try {
      const rows = await Promise.all(kind.map((each) => sources[each](query, signal)));
      return signal.aborted || closed ? null : rows.flat();
    } catch (error) {
      if (!isAbort(error)) fill(foot, error.message);
      return null;
    } finally {
      end();
    }
  };
  const wordOf = (item) => item.word;
  const short = (row) => ({ ...row, word: cutMiddle(visible(row.word), LONGEST_WORD) });
  const own = commands.map(short);
  /* What is here is found at once; what the daemon lists comes after a short rest. */
  const search = () => {
    const [sign, rest] = /^[>@#:]/.test(input.value) ? [input.value[0], input.value.slice(1)] : ['', input.value];
    const query = rest.trim();
    asked?.abort();
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
    const listed = await remote({ '@': ['modules'], '#': ['sessions'] }[sign] ?? ['modules', 'sessions'], query);
    if (!listed) return;
    const rows = [...found, ...rank(query, listed.map(short), wordOf)];
    const chosen = !isAsking && active > 0 ? shown[active] : null;
    show(rows);
    if (chosen) activate(Math.max(0, shown.indexOf(chosen)));
    isAsking = false;
    if (isEntered && shown[0]) choose(shown[0]);
  };
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  input.addEventListener('keydown', (event) => {
    if (event.key in moves) activate(Math.max(active < 0 ? 0 : -1, active + moves[event.key]));
    else if (event.key === 'Enter' && isAsking) isEntered = true;
    else if (event.key === 'Enter' && shown[active]) choose(shown[active]);
    else return;
    event.preventDefault();
  });
  input.addEventListener('input', search);
  input.setSelectionRange(first.length, first.length);
  search();
}
