/* SPDX-License-Identifier: Apache-2.0
 * controls.js: which profile, compared with which; the views; filters as chips, metric,
 * grain and machinery. What is chosen here holds for every view. */

import { button, el, fill } from '../../lib/dom.js';
import { bytes, counted, cutMiddle, visible } from '../../lib/format.js';
import { createChips } from '../../widgets/chips.js';
import { createSelector } from '../../widgets/selector.js';
import { createTabs } from '../../widgets/tabs.js';
import {
  addFilter,
  chipWords,
  compared,
  countFilters,
  dropFilter,
  dropFilters,
  FILTERS,
  GRAINS,
  readChip,
  VIEWS,
} from './state.js';
import { chipFault } from './text.js';

const KINDS = [
  ['focus', 'focus'],
  ['ignore', 'ignore'],
  ['hide', 'hide'],
  ['show', 'show only'],
  ['show_from', 'show from'],
  ['tag', 'tag'],
];
const NOTHING = 'none';
const MAX_HINTS = 300;
const TIME = /^(\d+(?:\.\d+)?)\s*(ps|ns|us|µs|ms|s)$/;

const holds = (name, filter) => name.toLowerCase().includes(filter.toLowerCase());

function choice(label, options, onChoose) {
  const select = el(
    'select',
    { class: 'device-choice', 'aria-label': label, on: { change: () => onChoose(select.value) } },
    options.map(([value, word]) => el('option', { value }, word)),
  );
  return select;
}

function toggle(word, title, onChange) {
  const box = el('input', { type: 'checkbox', on: { change: () => onChange(box.checked) } });
  const label = el('label', { class: 'device-toggle', title }, box, word);
  return { box, label };
}

/* Profiles of the session, moments of its snapshots, and what was dropped. A time that is typed is a moment of the
 * snapshot that is shown. */
function profileOptions(subject, filter, shown, first = []) {
  const found = subject.profiles.filter(({ name }) => holds(name, filter));
  const options = found.map(({ id, size_bytes: size, in_use_bytes: used }) => ({
    id,
    label: nameOf(subject, id),
    figure: bytes(used ?? size),
  }));
  const [, number, unit] = TIME.exec(filter) ?? [];
  const typed =
    number && shown.includes('@')
      ? [{ id: momentId(shown, `${number}${unit}`), label: `at ${number} ${unit}`, figure: '' }]
      : [];
  return { matched: found.length, options: [...first, ...typed, ...options] };
}

/* "HOST@MOMENT@MEMORY" at another moment. */
function momentId(id, moment) {
  const [host, , ...memory] = id.split('@');
  return [host, moment, ...memory].join('@');
}

/* Of a session with one device of one snapshot a moment needs no more than its own words. */
function nameOf(subject, id) {
  const places = new Set(subject.profiles.map(({ host, memory }) => `${host} ${memory ?? ''}`));
  const listed = subject.profiles.find((profile) => profile.id === id);
  const asked = subject.summary?.profiles.find((profile) => profile.id === id);
  const words = places.size === 1 ? (listed?.words ?? asked?.moment?.words) : null;
  return words ?? listed?.name ?? asked?.name ?? id;
}

/* "memory9.prof ▾ compared with memory1.prof ▾ ⇄" */
function createProfileChoice({ url, subject }) {
  const shown = createSelector({
    title: 'profile',
    load: async (filter) => profileOptions(subject, filter, shownId({ url, subject })),
    onChoose: (id) => url.choose(compared(url.state).base ? { b: id } : { a: id, b: '' }),
  });
  const base = createSelector({
    title: 'profile to compare with',
    load: async (filter) =>
      profileOptions(
        subject,
        filter,
        shownId({ url, subject }),
        filter ? [] : [{ id: NOTHING, label: 'nothing', figure: '' }],
      ),
    onChoose: (id) => {
      const now = shownId({ url, subject });
      url.choose(id === NOTHING ? { a: now, b: '' } : { a: id, b: now });
    },
  });
  const swap = button('icon-button', () => url.choose({ a: url.state.b, b: url.state.a }), '⇄', {
    'aria-label': 'Swap the two profiles',
    title: 'Swap the two profiles (x)',
  });
  const node = el('span', { class: 'device-profiles' });
  return {
    node,
    draw() {
      const total = subject.profiles.length;
      const { base: baseId } = compared(url.state);
      const id = shownId({ url, subject });
      if (!id) {
        fill(node);
        return;
      }
      shown.set({ id, label: nameOf(subject, id), count: total });
      base.set({ id: baseId || NOTHING, label: baseId ? nameOf(subject, baseId) : 'nothing', count: total });
      fill(
        node,
        shown.node,
        total > 1 ? [el('span', { class: 'dim' }, 'compared with'), base.node, baseId ? swap : null] : null,
      );
    },
  };
}

/* The profile on the page: of the URL, else the daemon's choice (the last). */
function shownId({ url, subject }) {
  return compared(url.state).shown || (subject.summary?.profiles.find(({ role }) => role === 'profile')?.id ?? '');
}

/* What the filter field offers: values of labels, then function names that are on the page. */
function hintsOf({ summary, names }) {
  if (!summary) return [];
  const tags = [
    ...summary.devices.map(({ name }) => `device=${name}`),
    ...summary.kinds.map(({ name }) => `kind=${name}`),
  ];
  return [...tags, ...names].slice(0, MAX_HINTS);
}

/* What is chosen, where the controls are folded: "memory9.prof, by line, 2 filters". */
function foldedWords({ url, subject }) {
  const id = shownId({ url, subject });
  const { base } = compared(url.state);
  const filters = countFilters(url.state);
  return [
    id ? cutMiddle(visible(nameOf(subject, id)), 24) : '',
    base ? `against ${cutMiddle(visible(nameOf(subject, base)), 24)}` : '',
    GRAINS.find(({ by }) => by === url.state.by)?.word,
    filters ? counted(filters, 'filter') : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/* What can be measured, as the file names it. */
function drawMetrics(select, { summary }, metric) {
  const types = summary?.sample_types ?? [];
  const bytesName = types.find(({ unit }) => unit === 'bytes')?.name;
  const others = types.filter(({ name }) => name !== bytesName);
  fill(
    select,
    bytesName || types.length === 0 ? el('option', { value: 'bytes' }, 'bytes') : null,
    others.map(({ name, unit }) => {
      const word = unit === 'count' && others.length === 1 ? 'count' : name;
      return el('option', { value: word }, word);
    }),
  );
  select.value = metric;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
}

/* The filters, with what the daemon says of each. Out: {node, focus(), draw() → is one at fault?}. */
function createFilterChips({ url, subject }) {
  const chips = createChips({
    kinds: KINDS,
    label: 'Filters',
    placeholder: 'function, file or label=value',
    onAdd: (kind, text) => {
      const read = kind === 'focus' ? readChip(text, ['device', 'kind']) : { name: kind, expression: text };
      url.choose(addFilter(url.state, read.name, read.expression));
    },
  });
  return {
    node: chips.node,
    focus: chips.focus,
    draw() {
      const { state } = url;
      const told = new Map(
        (subject.summary?.filters ?? []).map((each) => [`${each.parameter} ${each.expression}`, each]),
      );
      const all = FILTERS.flatMap((name) => state.filters[name].map((expression) => ({ name, expression })));
      const said = all.map(({ name, expression }) => {
        const found = told.get(`${name} ${expression}`);
        return { found, fault: found ? chipFault(found) : '' };
      });
      const faults = said.map(({ fault }) => fault).filter(Boolean);
      chips.set({
        chips: all.map(({ name, expression }, at) => ({
          ...chipWords(name, expression),
          text: said[at].fault || `${name} ${expression}`,
          faultAt: said[at].found?.fault_at ?? null,
          isEmpty: said[at].found?.matched_count === 0,
          onDrop: () => url.choose(dropFilter(state, name, expression)),
        })),
        faults,
        hints: hintsOf(subject),
        onClear: () => url.choose(dropFilters()),
      });
      return faults.length > 0;
    },
  };
}

/* search: of search.js. Out: {node, draw(), panelAttributes(view), openSearch(), focusFilter()}. */
export function createControls({ url, subject, search }) {
  const tabs = createTabs({
    label: 'Views of this profile',
    tabs: VIEWS.map(({ view: id, word }, at) => ({ id, word, key: String(at + 1) })),
    onChoose: (id) => url.choose({ view: id === 'flame' ? '' : id, sort: '', filter: '' }),
  });
  const profiles = createProfileChoice({ url, subject });
  const chips = createFilterChips({ url, subject });
  const metric = choice('Figures', [['bytes', 'bytes']], (value) =>
    url.choose({ metric: value === 'bytes' ? '' : value }),
  );
  const grain = choice(
    'Grain',
    GRAINS.map(({ by, word }) => [by, word]),
    (value) => url.choose({ by: value === 'line' ? '' : value, pin: null }),
  );
  const machinery = toggle(
    'library frames',
    'Show the frames of JAX, Flax, PyTorch, IPython and Python itself',
    (isOn) => url.choose({ machinery: isOn ? '1' : '', pin: null }),
  );
  const choices = el(
    'div',
    { class: 'device-line', id: 'device-choices' },
    search.node,
    chips.node,
    el('span', { class: 'device-choices' }, metric, grain, machinery.label),
  );
  /* On a phone the picture comes before what may be chosen of it. */
  const unfold = button('text-button device-unfold', () => fold(node.classList.contains('is-unfolded')), '', {
    'aria-controls': choices.id,
  });
  const node = el(
    'div',
    { class: 'device-controls' },
    el('div', { class: 'device-line' }, tabs.node, unfold, profiles.node),
    choices,
  );
  const fold = (isFolded) => {
    node.classList.toggle('is-unfolded', !isFolded);
    unfold.setAttribute('aria-expanded', String(!isFolded));
  };
  fold(true);
  return {
    node,
    draw() {
      tabs.set(url.state.view);
      unfold.textContent = foldedWords({ url, subject });
      profiles.draw();
      drawMetrics(metric, subject, url.state.metric);
      if (chips.draw() || url.state.find) fold(false);
      grain.value = url.state.by;
      machinery.box.checked = url.state.isMachinery;
    },
    panelAttributes: tabs.panelAttributes,
    openSearch() {
      fold(false);
      search.open();
    },
    focusFilter() {
      fold(false);
      chips.focus();
    },
  };
}
