/* SPDX-License-Identifier: Apache-2.0
 * breadcrumb.js: the breadcrumb in the bar: Home › session › host › module › memory space.
 * On a phone it is a sheet behind the menu button. Each selector lists with figures, largest first (sessions: newest
 * first). Its own file: bar.js holds the rest of the frame. */

import { el, fill } from '../lib/dom.js';
import { bytes, when } from '../lib/format.js';
import { moduleName } from '../lib/module_names.js';
import { listModules, listSessions } from '../lib/selection.js';
import { createSelector } from './selector.js';

/* levels: [{level, title, load}]; onChoose(level, id). Out: {set({level: {id, label, count} | null})}. */
export function createBreadcrumb(node, { levels, home, onChoose }) {
  const bar = node.closest('.bar');
  const menu = bar.querySelector('#menu');
  const selectors = new Map();
  const openSheet = (isOpen) => {
    bar.classList.toggle('is-open', isOpen);
    menu.setAttribute('aria-expanded', String(isOpen));
  };
  for (const { level, title, load } of levels) {
    selectors.set(level, {
      title,
      ...createSelector({
        title,
        load,
        onChoose: (id) => {
          openSheet(false);
          onChoose(level, id);
        },
      }),
    });
  }
  menu.addEventListener('click', () => openSheet(!bar.classList.contains('is-open')));
  bar.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !bar.classList.contains('is-open')) return;
    openSheet(false);
    menu.focus();
    event.stopPropagation();
  });
  const item = (title, child) =>
    el('div', { class: 'crumb' }, el('span', { class: 'crumb-title', 'aria-hidden': 'true' }, title), child);

  return {
    set(values) {
      const shown = levels.filter(({ level }) => values[level]);
      for (const { level } of shown) selectors.get(level).set(values[level]);
      fill(
        node,
        item('', home),
        shown
          .map(({ level, title }) => [
            el('span', { class: 'crumb-mark', 'aria-hidden': 'true' }, '›'),
            item(title, selectors.get(level).node),
          ])
          .flat(),
      );
    },
  };
}

const holds = (name, filter) => name.toLowerCase().includes(filter.toLowerCase());

function moduleFigure(module) {
  if (module.error) return 'not readable';
  return module.has_buffer_assignment ? bytes(module.largest_total_bytes) : 'no sizes';
}

/* "over by 17.74 GiB" of what a text says of a session; "" without one. */
const verdictWords = (failure) => (!failure ? '' : failure.over_text ? `over by ${failure.over_text}` : 'failed');

/* here() → {selection, route}: what is shown now. Out: [{level, title, load(filter, signal)}]. */
export function breadcrumbLevels(here) {
  const sessions = async (filter, signal) => {
    const list = await listSessions(filter, signal);
    const options = list.sessions.map(({ id, name, modified_at_ms: at, failure }) => ({
      id,
      label: name,
      figure: [verdictWords(failure), when(at)].filter(Boolean).join(' · '),
    }));
    return { matched: list.matched_count, options };
  };
  const hosts = async (filter) => {
    const found = here().selection.session.hosts.filter((host) => holds(host.name, filter));
    return { matched: found.length, options: found.map((host) => ({ id: host.id, label: host.name })) };
  };
  const modules = async (filter, signal) => {
    const { selection, route } = here();
    const list = await listModules(selection.session.id, route.host, filter, signal);
    const options = list.modules.map((module) => ({
      id: module.id,
      label: moduleName(module, list.modules),
      figure: moduleFigure(module),
    }));
    return { matched: list.matched_count, options };
  };
  const spaces = async (filter) => {
    const found = here().selection.spaces.filter((space) => holds(space.name, filter));
    const options = found.map((space) => ({ id: space.space, label: space.name, figure: bytes(space.total_bytes) }));
    return { matched: found.length, options };
  };
  return [
    { level: 'session', title: 'session', load: sessions },
    { level: 'host', title: 'host', load: hosts },
    { level: 'module', title: 'module', load: modules },
    { level: 'space', title: 'memory space', load: spaces },
  ];
}

/* Pure: what stands in the breadcrumb: {level: {id, label, count} | null}. */
export function breadcrumbValues(selection) {
  const { session, host, module, modules, sessions, spaces, space } = selection ?? {};
  return {
    session: session ? { id: session.id, label: session.name, count: sessions.total_count } : null,
    host: host ? { id: host.id, label: host.name, count: session.hosts.length } : null,
    module: module ? { id: module.id, label: moduleName(module, modules.modules), count: modules.total_count } : null,
    space: space ? { id: space.space, label: space.name, count: spaces.length } : null,
  };
}
