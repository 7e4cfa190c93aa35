/* SPDX-License-Identifier: Apache-2.0
 * lookup.js: which page and which selection a route means.
 * Its own file: what a URL means, apart from what is drawn of it. */

import { cutMiddle, visible } from './lib/format.js';
import { findSession, listSessions, modulesAhead, NOTHING, resolve } from './lib/selection.js';
import { HOME, nameOf, pageOf, PAGES, defaultPage } from './pages.js';

/* Sessions that a bare address looks into. */
const MAX_LOOKS = 12;

/* Does the page have something to show of what was found? A program that cannot be read has no figure. */
function hasFigure(row, { session, module }) {
  if (row.levels.includes('module')) return module?.largest_total_bytes > 0;
  return (
    row.prefers?.(session) ??
    (row.tool !== 'memory_profile' || Boolean(session.has_memory_events || session.snapshot_count))
  );
}

/* The first page with something to show of the session that is named. A young list does not know yet how many programs
 * it has: where none is found, the first page that needs none is meant. */
async function lookUpNamed(route, sessions, signal) {
  const named = await findSession(route.session, sessions, signal);
  const first = named ? defaultPage(named) : PAGES[0];
  first.load().catch(() => {});
  const found = await resolve(route, first, sessions, signal);
  const isWithout = found.session?.id === named?.id && found.modules?.modules.length === 0;
  const next = isWithout
    ? PAGES.find((row) => !row.isAside && !row.levels.includes('module') && !row.lacks(named))
    : null;
  return next ? { row: next, found: await resolve(route, next, sessions, signal) } : { row: first, found };
}

/* Without a tool in the URL: the page that the session asks for, else the first with something to show; without a
 * session either, that which failed last, else the newest session that has something: as Home names it. */
async function lookUpDefault(route, sessions, signal) {
  if (route.session) return lookUpNamed(route, sessions, signal);
  const looked = sessions.sessions.slice(0, MAX_LOOKS);
  const [foremost] = looked;
  let second = null;
  for (const session of looked) {
    const leading = location.search === '' && PAGES.find((row) => row.leads?.(session));
    for (const row of leading ? [leading] : PAGES.filter((each) => !each.isAside && !each.lacks(session))) {
      if (session === foremost) row.load().catch(() => {});
      const found = await resolve({ ...route, session: session.id }, row, sessions, signal);
      if (found.session && hasFigure(row, found)) return { row, found };
      if (found.module || (found.session && row.tool === 'memory_profile')) second ??= { row, found };
    }
  }
  if (second) return second;
  return { row: HOME, found: { session: null, warnings: [] } };
}

/* That of the session which a bare address means, if early.js has guessed it. */
function summaryOf(row, route, { session, modules }, signal) {
  const ahead = modules ? (row.ahead?.({ ...route, session: session.id }, signal) ?? null) : null;
  ahead?.catch(() => {});
  return ahead;
}

/* Out: {row: of pages.js, found: of resolve(), with `ahead`, what its page asked for before}; what the reader should
   know of it becomes a banner. */
export async function lookUp(route, banners, signal) {
  const named = pageOf(route.tool);
  if (route.tool && !named) {
    banners.set('tool', {
      text: `There is no page ${cutMiddle(visible(route.tool), 40)} here; showing the usual one.`,
    });
  }
  if (named === HOME) return { row: HOME, found: null };
  named?.load().catch(() => {}); // on its way while the session is looked up; asked again when it is needed
  const ahead = named?.levels.includes('module') ? modulesAhead(route, signal) : null;
  const summary = route.session ? (named?.ahead?.(route, signal) ?? null) : null;
  summary?.catch(() => {}); // who needs it hears of it
  /* What failed needs a person first; without any the newest is meant. */
  const sessions = await listSessions('', signal, location.search === '' ? 'failed' : 'newest');
  if (named?.isAlone?.(route)) return { row: named, found: { ...NOTHING, sessions } };
  const { row, found } = named
    ? { row: named, found: await resolve(route, named, sessions, signal, ahead) }
    : await lookUpDefault(route, sessions, signal);
  for (const [index, text] of found.warnings.entries()) banners.set(`warning-${index}`, { text });
  if (named && !found.session && !found.lost && !row.hasEmpty && sessions.total_count)
    banners.set('tool', { text: `No session here has anything for the ${nameOf(row)}; showing what was found.` });
  if (found.session?.id === route.session) found.ahead = summary;
  else if (named && found.session) found.ahead = summaryOf(named, route, found, signal);
  return { row: found.session || row.hasEmpty ? row : HOME, found };
}
