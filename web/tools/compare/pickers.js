/* SPDX-License-Identifier: Apache-2.0
 * pickers.js: what is held against what: session, host, module, memory space and step of A and of B, or session and
 * device profile. */

import { isAbort } from '../../lib/api.js';
import { button, el, fill } from '../../lib/dom.js';
import { bytes, when } from '../../lib/format.js';
import { parseReference, referenceText } from '../../lib/reference.js';
import { listModules, listSessions } from '../../lib/selection.js';
import { createSelector } from '../../widgets/selector.js';
import { isProfiles, profilesOf, sessionOf } from './sides.js';

const LEVELS = ['session', 'host', 'module', 'space', 'step'];
const SIDES = ['a', 'b'];

/* "at 12.5ms" of HOST@12.5ms: a moment that no list has. */
const momentOf = (id) => (id.includes('@') ? `at ${id.split('@')[1]}` : '');
const holds = (name, filter) => name.toLowerCase().includes(filter.toLowerCase());

/* What may be chosen below a session: {session, host, modules, module, space}, or {session, profiles, profile}. */
async function lookUp(reference, signal) {
  const said = parseReference(reference);
  const session = await sessionOf(said.session, signal);
  if (isProfiles(session)) {
    const { profiles } = await profilesOf(said.session, signal);
    return {
      said,
      session,
      profiles,
      profile: profiles.find(({ id }) => id === said.module) ?? (said.module ? null : profiles.at(-1)),
    };
  }
  const modules = await listModules(said.session, said.host, '', signal);
  const module =
    modules.modules.find(({ id }) => id === said.module) ?? (said.module ? null : modules.modules[0]) ?? null;
  const host = (session.hosts ?? []).find(({ id }) => id === said.host) ?? session.hosts?.[0] ?? null;
  const spaces = module?.spaces ?? [];
  const largest = spaces.reduce((max, each) => (max && max.total_bytes >= each.total_bytes ? max : each), null);
  return {
    said,
    session,
    host,
    modules,
    module,
    spaces,
    space: spaces.find(({ space }) => String(space) === said.space) ?? largest,
  };
}

/* Where `level` becomes `value`, what stands below it is left open again. */
function chosen(said, level, value) {
  const below = LEVELS.slice(LEVELS.indexOf(level) + 1);
  return referenceText({ ...said, ...Object.fromEntries(below.map((name) => [name, ''])), [level]: value });
}

/* One side. Out: {node, show(reference, signal)}. */
function createSide(name, onChoose) {
  let found = null;
  let reference = '';
  const choose = (level, value) => onChoose(chosen(parseReference(reference), level, value));
  const loads = {
    async session(filter, signal) {
      const list = await listSessions(filter, signal);
      return {
        matched: list.matched_count,
        options: list.sessions.map(({ id, name: label, modified_at_ms: at }) => ({ id, label, figure: when(at) })),
      };
    },
    async host(filter) {
      const hosts = found.session.hosts.filter((host) => holds(host.name, filter));
      return { matched: hosts.length, options: hosts.map((host) => ({ id: host.id, label: host.name })) };
    },
    async profile(filter) {
      const profiles = found.profiles.filter((profile) => holds(profile.name, filter));
      return {
        matched: profiles.length,
        options: profiles.map((profile) => ({
          id: profile.id,
          label: profile.name,
          figure: profile.moment ? bytes(profile.in_use_bytes) : when(profile.modified_at_ms),
        })),
      };
    },
    async module(filter, signal) {
      const list = await listModules(found.said.session, found.said.host, filter, signal);
      return {
        matched: list.matched_count,
        options: list.modules.map(({ id, name: label, largest_total_bytes: total }) => ({
          id,
          label,
          figure: total ? bytes(total) : 'no sizes',
        })),
      };
    },
    async space(filter) {
      const spaces = found.spaces.filter((space) => holds(space.name, filter));
      return {
        matched: spaces.length,
        options: spaces.map((space) => ({ id: space.space, label: space.name, figure: bytes(space.total_bytes) })),
      };
    },
  };
  const selectors = Object.fromEntries(
    Object.entries(loads).map(([level, load]) => [
      level,
      createSelector({
        title: `${level === 'space' ? 'memory space' : level} of ${name}`,
        load,
        onChoose: (id) => choose(level === 'profile' ? 'module' : level, id),
      }),
    ]),
  );
  const step = el('input', {
    class: 'compare-step',
    size: '6',
    inputmode: 'numeric',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': `Step of ${name}: a number, or peak`,
    on: {
      change: () => {
        const value = step.value.trim();
        choose('step', value === 'peak' ? '' : value);
      },
    },
  });
  const node = el('div', { class: 'compare-side', role: 'group', 'aria-label': `What ${name} is` });
  const heading = el('strong', { class: 'compare-name' }, name);
  const marks = () => el('span', { class: 'crumb-mark', 'aria-hidden': 'true' }, '›');
  function showModule({ session, host, modules, module, spaces, space }) {
    selectors.host.set({ id: host?.id ?? '', label: host?.name ?? '', count: session.hosts?.length ?? 0 });
    selectors.module.set({ id: module?.id ?? '', label: module?.name ?? 'not listed', count: modules.total_count });
    selectors.space.set({ id: space?.space ?? '', label: space?.name ?? 'no memory space', count: spaces.length });
    return [
      (session.hosts?.length ?? 0) > 1 ? [marks(), selectors.host.node] : null,
      marks(),
      selectors.module.node,
      marks(),
      selectors.space.node,
      el('label', { class: 'compare-at' }, el('span', { class: 'dim' }, 'step '), step),
    ];
  }
  function showProfile({ said, profiles, profile }) {
    selectors.profile.set({
      id: profile?.id ?? '',
      label: profile?.name ?? (momentOf(said.module) || 'not listed'),
      count: profiles.length,
    });
    return [marks(), selectors.profile.node];
  }
  return {
    node,
    async show(next, signal) {
      reference = next;
      found = null;
      step.value = parseReference(next).step || 'peak';
      try {
        const sessions = await listSessions('', signal);
        selectors.session.set({ id: parseReference(next).session, label: '…', count: sessions.total_count });
        fill(node, heading, selectors.session.node);
        if (!next) return;
        if (!parseReference(next).session) {
          fill(node, heading, el('span', { class: 'dim' }, 'a dropped profile'));
          return;
        }
        found = await lookUp(next, signal);
        selectors.session.set({ id: found.said.session, label: found.session.name, count: sessions.total_count });
        fill(node, heading, selectors.session.node, found.profiles ? showProfile(found) : showModule(found));
      } catch (error) {
        if (!isAbort(error))
          fill(node, heading, selectors.session.node, el('span', { class: 'caution' }, error.message));
      }
    },
  };
}

/* onChoose({a} or {b}), onSwap(). Out: {node, show({a, b}, signal), swap()}. */
export function createPickers({ onChoose, onSwap }) {
  const sides = SIDES.map((name) => createSide(name.toUpperCase(), (reference) => onChoose({ [name]: reference })));
  const swap = button('text-button compare-swap', onSwap, '⇄', {
    'aria-label': 'Swap A and B',
    title: 'Swap A and B (x)',
  });
  return {
    node: el('div', { class: 'compare-pickers' }, sides[0].node, swap, sides[1].node),
    show: (references, signal) => Promise.all(SIDES.map((name, at) => sides[at].show(references[name], signal))),
    swap: onSwap,
  };
}
