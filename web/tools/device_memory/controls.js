/* SPDX-License-Identifier: Apache-2.0
 * controls.js: which profile, compared with which; the views; filters as chips, metric,
 * grain and machinery. What is chosen here holds for every view. */

import { el, fill } from '../../lib/dom.js';
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

/* Profiles of the session, and what was dropped. */
function profileOptions(view, filter, first = []) {
  const found = view.profiles.filter(({ name }) => holds(name, filter));
  const options = found.map(({ id, name, size_bytes: size }) => ({ id, label: name, figure: bytes(size) }));
  return { matched: found.length, options: [...first, ...options] };
}

function nameOf(view, id) {
  const listed = view.profiles.find((profile) => profile.id === id);
  return listed?.name ?? view.summary?.profiles.find((profile) => profile.id === id)?.name ?? id;
}

/* "memory9.prof ▾ compared with memory1.prof ▾ ⇄" */
function createProfileChoice(view) {
  const shown = createSelector({
    title: 'profile',
    load: async (filter) => profileOptions(view, filter),
    onChoose: (id) => view.choose(compared(view.state).base ? { b: id } : { a: id, b: '' }),
  });
  const base = createSelector({
    title: 'profile to compare with',
    load: async (filter) =>
      profileOptions(view, filter, filter ? [] : [{ id: NOTHING, label: 'nothing', figure: '' }]),
    onChoose: (id) => {
      const now = shownId(view);
      view.choose(id === NOTHING ? { a: now, b: '' } : { a: id, b: now });
    },
  });
  const swap = el(
    'button',
    {
      type: 'button',
      class: 'icon-button',
      'aria-label': 'Swap the two profiles',
      title: 'Swap the two profiles (x)',
      on: { click: () => view.choose({ a: view.state.b, b: view.state.a }) },
    },
    '⇄',
  );
  const node = el('span', { class: 'device-profiles' });
  return {
    node,
    draw() {
      const total = view.profiles.length;
      const { base: baseId } = compared(view.state);
      const id = shownId(view);
      if (!id) {
        fill(node);
        return;
      }
      shown.set({ id, label: nameOf(view, id), count: total });
      base.set({ id: baseId || NOTHING, label: baseId ? nameOf(view, baseId) : 'nothing', count: total });
      fill(
        node,
        shown.node,
        total > 1 ? [el('span', { class: 'dim' }, 'compared with'), base.node, baseId ? swap : null] : null,
      );
    },
  };
}

/* The profile on the page: of the URL, else the daemon's choice (the last). */
export function shownId(view) {
  return compared(view.state).shown || (view.summary?.profiles.find(({ role }) => role === 'profile')?.id ?? '');
}

/* What the filter field offers: values of labels, then function names that are on the page. */
function hintsOf(view) {
  const { summary } = view;
  if (!summary) return [];
  const tags = [
    ...summary.devices.map(({ name }) => `device=${name}`),
    ...summary.kinds.map(({ name }) => `kind=${name}`),
  ];
  return [...tags, ...(view.names ?? [])].slice(0, MAX_HINTS);
}

/* What is chosen, where the controls are folded: "memory9.prof, by line, 2 filters". */
function foldedWords(view) {
  const id = shownId(view);
  const { base } = compared(view.state);
  const filters = countFilters(view.state);
  return [
    id ? cutMiddle(visible(nameOf(view, id)), 24) : '',
    base ? `against ${cutMiddle(visible(nameOf(view, base)), 24)}` : '',
    GRAINS.find(({ by }) => by === view.state.by)?.word,
    filters ? counted(filters, 'filter') : '',
  ]
    .filter(Boolean)
    .join(', ');
}

export function createControls(view) {
  const tabs = createTabs({
    label: 'Views of this profile',
    tabs: VIEWS.map(({ view: id, word }, at) => ({ id, word, key: String(at + 1) })),
    onChoose: (id) => view.choose({ view: id === 'flame' ? '' : id, sort: '', filter: '' }),
  });
  const profiles = createProfileChoice(view);
  const chips = createChips({
    kinds: KINDS,
    label: 'Filters',
    placeholder: 'function, file or label=value',
    onAdd: (kind, text) => {
      const read = kind === 'focus' ? readChip(text, ['device', 'kind']) : { name: kind, expression: text };
      view.choose(addFilter(view.state, read.name, read.expression));
    },
  });
  const metric = choice('Figures', [['bytes', 'bytes']], (value) =>
    view.choose({ metric: value === 'bytes' ? '' : value }),
  );
  const grain = choice(
    'Grain',
    GRAINS.map(({ by, word }) => [by, word]),
    (value) => view.choose({ by: value === 'line' ? '' : value, pin: null }),
  );
  const machinery = toggle('machinery', 'Show the frames of JAX, Flax, IPython and Python itself', (isOn) =>
    view.choose({ machinery: isOn ? '1' : '', pin: null }),
  );
  const choices = el(
    'div',
    { class: 'device-line', id: 'device-choices' },
    chips.node,
    el('span', { class: 'device-choices' }, metric, grain, machinery.label),
  );
  /* On a phone the picture comes before what may be chosen of it. */
  const unfold = el(
    'button',
    {
      type: 'button',
      class: 'text-button device-unfold',
      'aria-controls': choices.id,
      on: { click: () => fold(node.classList.contains('is-unfolded')) },
    },
    '',
  );
  const node = el('div', { class: 'device-controls' }, el('div', { class: 'device-line' }, tabs.node, unfold, profiles.node), choices);
  const fold = (isFolded) => {
    node.classList.toggle('is-unfolded', !isFolded);
    unfold.setAttribute('aria-expanded', String(!isFolded));
  };
  fold(true);
  const drawMetrics = () => {
    const types = view.summary?.sample_types ?? [];
    const usual = types.find(({ unit }) => unit === 'bytes')?.name;
    const others = types.filter(({ name }) => name !== usual);
    fill(
      metric,
      usual || types.length === 0 ? el('option', { value: 'bytes' }, 'bytes') : null,
      others.map(({ name, unit }) =>
        el('option', { value: unit === 'count' && others.length === 1 ? 'count' : name }, unit === 'count' && others.length === 1 ? 'count' : name),
      ),
    );
    metric.value = view.state.metric;
    if (metric.selectedIndex < 0) metric.selectedIndex = 0;
  };
  const drawChips = () => {
    const { state, summary } = view;
    const told = new Map((summary?.filters ?? []).map((each) => [`${each.parameter} ${each.expression}`, each]));
    const all = FILTERS.flatMap((name) => state.filters[name].map((expression) => ({ name, expression })));
    const said = all.map(({ name, expression }) => {
      const found = told.get(`${name} ${expression}`);
      return { found, fault: found ? chipFault(found) : '' };
    });
    if (said.some(({ fault }) => fault)) fold(false);
    chips.set({
      chips: all.map(({ name, expression }, at) => ({
        ...chipWords(name, expression),
        text: said[at].fault || `${name} ${expression}`,
        faultAt: said[at].found?.fault_at ?? null,
        isEmpty: said[at].found?.matched_count === 0,
        onDrop: () => view.choose(dropFilter(state, name, expression)),
      })),
      faults: said.map(({ fault }) => fault).filter(Boolean),
      hints: hintsOf(view),
      onClear: () => view.choose(dropFilters()),
    });
  };
  return {
    node,
    draw() {
      tabs.set(view.state.view);
      unfold.textContent = foldedWords(view);
      profiles.draw();
      drawMetrics();
      drawChips();
      grain.value = view.state.by;
      machinery.box.checked = view.state.isMachinery;
    },
    panelAttributes: tabs.panelAttributes,
    focusFilter() {
      fold(false);
      chips.focus();
    },
    /* What the filters say of themselves, for a view that is empty. */
    faults: () => (view.summary?.filters ?? []).map(chipFault).filter(Boolean),
  };
}
