/* SPDX-License-Identifier: Apache-2.0
 * found.js: what a session holds, its worst figure, and one word of verdict. One row a kind of
 * content; the first row that knows a session says its figure. */

import { get } from '../../lib/api.js';
import { capacityIn, differenceText, heldAgainst } from '../../lib/capacity.js';
import { isGrave } from '../../lib/finding.js';
import { bytes, count, counted } from '../../lib/format.js';

const KINDS = { trace: 'trace', dump: 'XLA dump', hlo: 'HLO protos', text: 'error text', profiles: '' };

const FOUND_WORDS = { grows: 'grows', fragmentation: 'fragmented', failed_request: 'request failed' };

/* What Home can be narrowed to: value of the URL → is(word of verdict); a word that none of the others knows is other.
 */
const VERDICTS = {
  over: (word) => /^over$|requests? failed$/.test(word), // a request that failed found no room, too
  grows: (word) => /grows?$|^fragmented$/.test(word),
  fits: (word) => word === 'fits',
};
export const VERDICT_NAMES = [...Object.keys(VERDICTS), 'other'];
/* Pure: "over", "grows", "fits", "other" of what was found, as lookAt() tells it; "" before that. */
export function verdictName(found) {
  if (!found) return '';
  const word = found.worst?.word ?? '';
  return Object.keys(VERDICTS).find((name) => VERDICTS[name](word)) ?? 'other';
}

/* Pure: the daemon's word on the worst module of a session (SessionWorst): {bytes, capacity, limit, isOfShare, by,
   byText, name,
 * word, from}; `from` is what explain.js tells of it. Null without any. */
export function worstOf(worst) {
  if (!worst) return null;
  const { module, name, file, space, space_name: spaceName, fit } = worst;
  const capacity = capacityIn(fit);
  const { needed, asked, limit, share } = heldAgainst(fit);
  const by = fit.over_bytes || (fit.free_bytes ?? 0);
  const from = asked == null ? { kind: 'module', file } : { kind: 'text', file: capacity.source };
  return {
    bytes: needed,
    capacity: capacity?.bytes ?? null,
    limit,
    isOfShare: share != null,
    by,
    byText: differenceText(by, capacity),
    name,
    word: fit.word,
    from: { ...from, module, space, spaceName, capacity },
  };
}

/* Pure: the same of a failure that a text tells. A request at run time is held against `limit`, which is no capacity;
 * limitWords says what it is, as the core does: "are free". */
export function worstOfFailure(failure) {
  const {
    needed_bytes: needed,
    capacity_bytes: capacity,
    over_bytes: by,
    over_text: byText,
    module,
    memory_space: space,
  } = failure;
  const from = { kind: 'text', file: null, spaceName: space ? space.toUpperCase() : '' };
  const { limit_bytes: limit, limit_phrase: limitWords } = failure;
  const request = limit != null && limitWords !== 'are available' ? { limit, limitWords } : {};
  return {
    bytes: needed,
    capacity,
    ...request,
    by: by ?? 0,
    byText: byText ?? '',
    name: module ?? '',
    word: 'over',
    from,
  };
}

/* What the share of a request is of, by the core's words for its limit: "411 % of free", "70 × free". */
const SHARE_OF = { 'are free': 'free', 'are in the largest hole': 'largest hole', 'can be reserved': 'reservable' };

/* Pure: {limit, words, title}: what the figure of a session is a share of. A request that failed may be small beside
   the
 * capacity: what it is held against is what was free, or nothing that is known. Null without a share. */
export function shareOf({ bytes: value, capacity, limit, limitWords }) {
  if (value == null) return null;
  if (limitWords == null)
    return capacity ? { limit: capacity, words: '', title: `${bytes(value)} of ${bytes(capacity)}` } : null;
  const words = SHARE_OF[limitWords];
  const title = `A request of ${bytes(value)}: ${bytes(limit)} ${limitWords}`;
  return words
    ? { limit, words, title }
    : { limit: null, words: 'free not known', title: `${title}; how much was free is not known` };
}

/* A failure goes before a plan that is not over. */
function worstTold(session, told) {
  const worst = worstOf(told);
  return session.failure && worst?.word !== 'over' ? worstOfFailure(session.failure) : worst;
}

async function lookAtModules(session, how) {
  const modules = await get(`sessions/${encodeURIComponent(session.id)}/modules`, { sort: '-total', limit: 100 }, how);
  const worst = worstTold(session, modules.worst);
  const broken = modules.modules.find((module) => module.error)?.error;
  if (!worst && broken) throw new Error(broken.reason || broken.code);
  if (!worst && session.kind === 'trace')
    return { module_count: modules.total_count, ...(await lookAtEvents(session, how)) };
  return { module_count: modules.total_count, worst };
}

/* What leads the page is read as a whole: of a dump that is damaged in its middle the list knows totals all the same.
 * Adds `culprit`, what fills the memory most. */
export async function lookCloser(session, found, how) {
  const { module, space } = found.worst?.from ?? {};
  if (!module) return { ...found, isWhole: true };
  const { data } = await get('memory_viewer/summary', { session: session.id, module }, how);
  return { ...found, isWhole: true, culprit: data.spaces.find((each) => each.space === space)?.culprit ?? null };
}

/* Of a trace without a program: how full its fullest device was. */
async function lookAtEvents(session, how) {
  const { data } = await get('memory_profile/summary', { session: session.id }, how);
  const [fullest] = data.pools;
  if (!fullest) return { worst: null };
  const { peak, capacity_bytes: capacity } = fullest;
  const from = {
    kind: fullest.has_segments ? 'snapshot' : 'events',
    file: data.hosts.find(({ host }) => host === fullest.host)?.file ?? null,
    stack: peak.stack_bytes,
    heap: peak.heap_bytes,
    eventCount: fullest.event_count,
  };
  const finding = data.pools.map((pool) => pool.finding).find(isGrave) ?? null;
  const word = finding ? FOUND_WORDS[finding.kind] : capacity ? 'fits' : 'capacity not known';
  const failed = data.pools.flatMap((pool) => pool.failures.map((failure) => failure.requested_bytes));
  return {
    has_memory_events: true,
    finding,
    failed,
    worst: { bytes: peak.in_use_bytes, capacity, by: 0, name: fullest.memory, word, from },
  };
}

/* The fullest of the profiles, and how many call sites grow from the first to the last. */
async function lookAtProfiles(session, how) {
  const { data } = await get('device_memory/series', { session: session.id, limit: 1 }, how);
  const grows = data.verdict_counts.grows;
  const fullest = data.profiles.reduce((max, profile) => (profile.total > max.total ? profile : max));
  const word = grows
    ? `${count(grows)} ${grows === 1 ? 'grows' : 'grow'}`
    : data.profiles.length > 1
      ? 'steady'
      : 'capacity not known';
  const from = { kind: 'profiles', file: fullest.name, metric: data.metric.name, profileCount: data.profiles.length };
  return {
    finding: isGrave(data.finding) ? data.finding : null,
    worst: { bytes: fullest.total, capacity: null, by: 0, name: '', word, from },
  };
}

/* is(session), words(session) for the column "Found", look(session, how: of get()) → {worst, module_count};
   tell(session)
 * → the same where the list says it already. */
const HOLDINGS = [
  {
    is: (session) => session.kind === 'profiles',
    words: ({ profile_count: total }) => `${counted(total, 'device profile')}${total > 1 ? ', a series' : ''}`,
    look: lookAtProfiles,
  },
  {
    is: (session) => session.module_count !== 0,
    words: ({ module_count: total }) => (total == null ? 'not read yet' : counted(total, 'module')),
    look: lookAtModules,
    tell: (session) =>
      session.worst ? { module_count: session.module_count, worst: worstTold(session, session.worst) } : null,
  },
  {
    is: (session) => Boolean(session.has_memory_events),
    words: ({ snapshot_count: total }) => (total ? '' : 'memory events'),
    look: null,
  },
  {
    is: (session) => session.kind === 'trace' && session.module_count === 0,
    words: ({ snapshot_count: total }) => (total ? counted(total, 'snapshot') : ''),
    look: lookAtEvents,
  },
  {
    is: (session) => Boolean(session.failure),
    words: ({ failure }) =>
      failure.memory_space && failure.memory_space !== 'hbm' ? failure.memory_space.toUpperCase() : '',
    look: async (session) => toldOf(session),
    tell: (session) => ({ worst: worstOfFailure(session.failure) }),
  },
];

/* Pure: pairs [log, snapshot] of sessions where a log tells a failure and the folder that it is in has a snapshot of an
 * allocator. */
export function pairsOf(sessions) {
  const snapshots = new Map(
    sessions.filter((session) => session.snapshot_count > 0).map((session) => [session.name, session]),
  );
  if (snapshots.size === 0) return [];
  return sessions
    .filter((session) => session.failure)
    .map((session) => [session, snapshots.get(session.name.slice(0, session.name.lastIndexOf('/')))])
    .filter(([, snapshot]) => snapshot);
}

/* Pure: how many snapshots of these pairs are over by a failure that a log tells, too, by what was asked for as it is
   printed: the snapshot was saved where the
 * request of the log failed. foundOf: of each session, null before it is read. */
export function sameCount(pairs, foundOf) {
  const isSame = ([log, snapshot]) =>
    foundOf(snapshot)?.failed?.some((asked) => bytes(asked) === bytes(log.failure.needed_bytes ?? -1));
  const isOver = ([, snapshot]) => verdictName(foundOf(snapshot)) === 'over';
  return new Set(
    pairs
      .filter(isOver)
      .filter(isSame)
      .map(([, snapshot]) => snapshot),
  ).size;
}

/* Pure: what a session holds, in words. */
export function foundText(session) {
  const words = HOLDINGS.filter((row) => row.is(session)).map((row) => row.words(session));
  /* A snapshot of an allocator is no trace of a profiler. */
  const isOfSnapshots =
    session.snapshot_count > 0 && session.snapshot_count === session.host_count && !session.module_count;
  const kind = isOfSnapshots ? '' : (KINDS[session.kind] ?? session.kind);
  const all = [kind, ...words, session.has_error_text && session.kind !== 'text' ? 'error text' : ''].filter(Boolean);
  return all.length === 1 && kind === KINDS.trace ? `${kind}, no program` : all.join(', ');
}

/* Pure: what lookAt() would find, where the list says it already; else null. */
export function toldOf(session) {
  return HOLDINGS.find((each) => each.look && each.is(session))?.tell?.(session) ?? null;
}

/* {worst, module_count}; worst is null where no figure is known. how: {signal, isQuiet} of get(). */
export async function lookAt(session, how) {
  const row = HOLDINGS.find((each) => each.look && each.is(session));
  return row ? row.look(session, how) : { worst: null };
}
