/* SPDX-License-Identifier: Apache-2.0
 * sides.js: what A and B are where the URL leaves one out, and whether the two are programs or device profiles.
 * Its own file: page.js puts the page together. */

import { get } from '../../lib/api.js';
import { parseReference, referenceText } from '../../lib/reference.js';
import { listSessions } from '../../lib/selection.js';
import { setting } from '../../lib/settings.js';

/* Moments of allocator snapshots are compared as profiles are, where no program is known. */
export const isProfiles = ({ kind, snapshot_count: snapshots, module_count: modules }) =>
  kind === 'profiles' || (snapshots > 0 && !modules);
/* Sessions of programs; others hold nothing to compare here but device profiles. */
const hasPrograms = (session) => session.module_count !== 0 && !isProfiles(session) && session.kind !== 'text';

export const profilesOf = (session, signal) => get(`sessions/${encodeURIComponent(session)}/profiles`, {}, { signal });
export const sessionOf = (session, signal) => get(`sessions/${encodeURIComponent(session)}`, {}, { signal });

/* What is the same of memory1.prof and memory9.prof, which were taken one after the other, and not of others beside
   them. */
const seriesOf = ({ name }) => name.replace(/\d+/g, '#');

/* Pure: the moments that stand for one snapshot: what is left at the end and the peak; where it ends at its peak, as
 * one that was saved when a request failed, the first step or the start and the peak. */
export function momentsOf(profiles, peak) {
  const at = (moment) => profiles.find((profile) => profile.moment === moment);
  const end = at('end');
  const isFull = end?.in_use_bytes === peak.in_use_bytes;
  return [(isFull && (at('step0') ?? at('start'))) || end, peak].filter(Boolean);
}

/* What stands for a session: its series; of one snapshot two of its moments, of several their peaks. */
function seriesIn(profiles) {
  const peaks = profiles.filter(({ moment }) => moment === 'peak');
  if (peaks.length === 0) return profiles.filter((profile) => seriesOf(profile) === seriesOf(profiles.at(-1)));
  return peaks.length > 1 ? peaks : momentsOf(profiles, peaks[0]);
}

/* The first and the last profile of a series; of one that is given the profile before or behind it. */
async function filledInProfiles(session, { a, b }, signal) {
  const { profiles } = await profilesOf(session, signal);
  const series = seriesIn(profiles);
  const side = (profile) => (profile ? referenceText({ session, module: profile.id }) : '');
  const given = profiles.findIndex(({ id }) => id === parseReference(a || b).module);
  const other = given < 0 ? null : b ? profiles[given - 1] : profiles[given + 1];
  return {
    a: a || side(b && other ? other : series.length > 1 ? series[0] : profiles[0]),
    b: b || side(a && other ? other : (series.at(-1) ?? profiles.at(-1))),
  };
}

async function isOfProfiles(reference, signal) {
  const { session, module } = parseReference(reference);
  if (!session) return module !== '';
  return isProfiles(await sessionOf(session, signal));
}

/* What is compared where the URL leaves a side out: B is the session that is open, else the newest; A is what was set
   as A,
 * else the newest other one of B's folder, else of all. Of a session of device profiles, its first and its last. */
export async function filledIn({ a, b, session }, signal) {
  if (a && b) return { a, b };
  const list = await listSessions('', signal);
  const ids = list.sessions.filter(hasPrograms).map(({ id }) => id);
  const here = parseReference(a || b).session || session;
  const profiles = list.sessions.find((each) => isProfiles(each) && (each.id === here || (ids.length === 0 && !here)));
  if (profiles) return filledInProfiles(profiles.id, { a, b }, signal);
  const ofA = parseReference(a).session;
  const after = b || ids.find((id) => id === session && id !== ofA) || ids.find((id) => id !== ofA) || ids[0] || '';
  const kept = setting('last_a');
  const others = ids.filter((id) => id !== parseReference(after).session);
  const folders = new Map(list.sessions.map(({ id, name }) => [id, name.slice(0, name.lastIndexOf('/') + 1)]));
  const beside = others.find((id) => folders.get(id) === folders.get(parseReference(after).session));
  const before = a || (kept && kept !== after ? kept : '') || beside || others[0] || ids[0] || '';
  return { a: before, b: after };
}

/* "programs" or "profiles"; what is not the same on both sides the daemon refuses. */
export async function kindOf({ a, b }, signal) {
  const kinds = await Promise.all([a, b].map((side) => isOfProfiles(side, signal)));
  return kinds.every(Boolean) ? 'profiles' : 'programs';
}
