/* SPDX-License-Identifier: Apache-2.0
 * crumb_levels.js: what each selector of the breadcrumb lists, with its figures, largest
 * first (sessions: newest first). */

import { bytes, when } from '../lib/format.js';
import { listModules, listSessions } from '../lib/selection.js';

const holds = (name, filter) => name.toLowerCase().includes(filter.toLowerCase());

function moduleFigure(module) {
  if (module.error) return 'not readable';
  return module.has_buffer_assignment ? bytes(module.largest_total_bytes) : 'no sizes';
}

/* Modules of one name are told apart by their key, "name(program id)". */
function moduleLabel(module, modules) {
  const isAlone = modules.filter((each) => each.name === module.name).length <= 1;
  return isAlone ? module.name : module.key;
}

/* here() → {selection, route}: what is shown now. Out: [{level, title, load(filter, signal)}]. */
export function crumbLevels(here) {
  const sessions = async (filter, signal) => {
    const list = await listSessions(filter, signal);
    const options = list.sessions.map(({ id, name, modified_at_ms: at }) => ({
      id,
      label: name,
      figure: when(at),
    }));
    return { matched: list.matched, options };
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
      label: moduleLabel(module, list.modules),
      figure: moduleFigure(module),
    }));
    return { matched: list.matched, options };
  };
  const spaces = async (filter) => {
    const found = here().selection.spaces.filter((space) => holds(space.name, filter));
    const options = found.map((space) => ({
      id: space.space,
      label: space.name,
      figure: bytes(space.total_bytes),
    }));
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
export function crumbValues(selection) {
  const { session, host, module, modules, sessions, spaces, space } = selection ?? {};
  return {
    session: session ? { id: session.id, label: session.name, count: sessions.total } : null,
    host: host ? { id: host.id, label: host.name, count: session.hosts.length } : null,
    module: module
      ? { id: module.id, label: moduleLabel(module, modules.modules), count: modules.total }
      : null,
    space: space ? { id: space.space, label: space.name, count: spaces.length } : null,
  };
}
