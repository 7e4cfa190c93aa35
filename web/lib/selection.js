/* SPDX-License-Identifier: Apache-2.0
 * selection.js: what the URL names, looked up. A host or module that no longer exists becomes
 * a warning, the default takes its place, and the rest still applies; without its session nothing is shown. */

import { get, Problem } from './api.js';
import { cutMiddle, visible } from './format.js';

const PAGE = 100;
const MAX_LOOKS = 12;

const short = (text) => cutMiddle(visible(text), 40);

/* sort: newest, name, largest or failed. */
export function listSessions(filter = '', signal = null, sort = 'newest') {
  return get('sessions', { sort, filter, limit: PAGE }, { signal });
}

export function listModules(session, host, filter = '', signal = null) {
  return get(
    `sessions/${encodeURIComponent(session)}/modules`,
    { host, filter, sort: '-total', limit: PAGE },
    { signal },
  );
}

/* A session that the first page of the list leaves out is asked for by itself. */
export async function findSession(id, list, signal) {
  const listed = list.sessions.find((session) => session.id === id);
  if (listed) return listed;
  try {
    return await get(`sessions/${encodeURIComponent(id)}`, {}, { signal });
  } catch (error) {
    if (error instanceof Problem && [400, 404].includes(error.status)) return null;
    throw error;
  }
}

/* The newest session whose largest module has a figure; else the newest that has modules. */
async function newestWithModules(list, signal) {
  let second = null;
  const candidates = list.sessions.filter((session) => session.module_count !== 0).slice(0, MAX_LOOKS);
  for (const session of candidates) {
    let modules;
    try {
      modules = await listModules(session.id, '', '', signal);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'gone') throw error;
      continue;
    }
    if (modules.modules[0]?.largest_total_bytes > 0) return { session, modules };
    if (!second && modules.modules.length) second = { session, modules };
  }
  return second;
}

function chooseHost(session, wanted, warnings) {
  const hosts = session.hosts ?? [];
  const host = hosts.find((candidate) => candidate.id === wanted) ?? null;
  if (wanted && !host) warnings.push(`Host ${short(wanted)} is not in this session; showing the first.`);
  return host ?? hosts[0] ?? null;
}

/* A module beyond the first page of the list cannot be seen here; the daemon knows it. */
function chooseModule(modules, wanted, warnings) {
  if (!wanted) return modules.modules[0] ?? null;
  const module = modules.modules.find((candidate) => candidate.id === wanted);
  if (module) return module;
  if (modules.matched_count > modules.modules.length) return { id: wanted, name: wanted, spaces: [], isUnlisted: true };
  warnings.push(`Module ${short(wanted)} is not in this session; showing the largest.`);
  return modules.modules[0] ?? null;
}

/* The modules of the session that the URL names, asked for before the list of sessions is there; null without one. */
export function modulesAhead(route, signal) {
  if (!route.session || route.host) return null;
  const ahead = listModules(route.session, '', '', signal);
  ahead.catch(() => {}); // who needs them hears of it
  return ahead;
}

/* A page without the selector of modules asks for none. */
async function findModules(session, route, host, known, signal) {
  try {
    if (known && !route.host) return { modules: await known, problem: null };
    return { modules: await listModules(session.id, route.host && host ? host.id : '', '', signal), problem: null };
  } catch (error) {
    if (!(error instanceof Problem) || ['gone', 'token'].includes(error.code)) throw error;
    return { modules: null, problem: error };
  }
}

/* What is selected when a page needs no session. */
export const NOTHING = { session: null, host: null, modules: null, module: null, problem: null };

/* page: {levels, lacks, prefers} of pages.js; sessions: of them, newest first, as listed; ahead: of modulesAhead().
   Out: {sessions, session, host, modules, module, problem, warnings};
 * session is null when nothing can be shown, problem is why its modules cannot be listed; modules and module
 * are null for a page that has no selector of them; lost: the session that the URL names and that is not here (any
 * more): the figures of another one would be taken for its own. */
export async function resolve(route, page, sessions, signal, ahead = null) {
  const warnings = [];
  const hasModules = page.levels.includes('module');
  let session = null;
  let known = null;
  if (route.session) {
    session = await findSession(route.session, sessions, signal);
    if (!session) return { ...NOTHING, sessions, warnings, lost: route.session };
    known = ahead;
  }
  if (!session && hasModules) {
    const found = await newestWithModules(sessions, signal);
    ({ session, modules: known } = found ?? { session: null, modules: null });
  } else if (!session) {
    const able = sessions.sessions.filter((each) => !page.lacks(each));
    session =
      able.find((each) => page.prefers?.(each)) ?? able[0] ?? (page.hasEmpty ? null : (sessions.sessions[0] ?? null));
  }
  if (!session) return { ...NOTHING, sessions, warnings };
  const host = chooseHost(session, route.host, warnings);
  if (!hasModules) return { ...NOTHING, sessions, session, host, warnings };
  const { modules, problem } = await findModules(session, route, host, known, signal);
  const module = problem ? null : chooseModule(modules, route.module, warnings);
  return { sessions, session, host, modules, module, problem, warnings };
}
