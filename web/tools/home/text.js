/* SPDX-License-Identifier: Apache-2.0
 * text.js: the sentences of Home. Pure. Parts are those of nodesOf() in explain.js.
 * Its own file: each tool has its sentences in one. */

import { clauseParts } from '../../lib/finding.js';
import { bytes, count, counted, cutMiddle, visible, when } from '../../lib/format.js';

const short = (text) => cutMiddle(visible(text), 60);

const CODES = {
  malformed: 'malformed',
  truncated: 'truncated',
  unsupported: 'not supported',
  limit: 'over a limit',
  notfound: 'missing',
  argument: 'not usable',
  io: 'unreadable',
  changed: 'changed while read',
};

export const rootsText = (about) =>
  about.roots.map((root) => visible(root.path)).join(', ') || 'the files given at start';

/* "dump, 12:02 today" */
const placeText = (session, kind) =>
  [kind, session.modified_at_ms ? when(session.modified_at_ms) : ''].filter(Boolean).join(', ');

/* What the newest session says: needs its figure, once it is read. `kind` is its first word. */
export function newestParts(session, kind, worst, isUnread = false) {
  const place = ` (${placeText(session, kind)}).`;
  const { id } = session;
  const explain = `needs:${id}`;
  const name = { name: worst?.name || session.name };
  if (isUnread) return ['Newest: ', { name: session.name }, ', which cannot be read', place];
  if (!worst || worst.bytes == null) return ['Newest: ', { name: session.name }, place];
  if (worst.word === 'over' && worst.by > 0)
    return [
      'Newest: ',
      name,
      ', ',
      { text: `over by ${worst.byText}`, role: 'over', bytes: worst.by, explain: `over:${id}` },
      place,
    ];
  if (worst.word === 'fits')
    return [
      'Newest: ',
      name,
      ', fits: ',
      { bytes: worst.bytes, explain },
      ' of ',
      { bytes: worst.capacity, explain: `share:${id}` },
      place,
    ];
  if (worst.from.kind === 'profiles' || / grows?$/.test(worst.word))
    return ['Newest: ', name, ', ', { bytes: worst.bytes, explain }, ' live', place];
  /* A recording reached what it reached: a program alone needs. */
  if (['events', 'snapshot'].includes(worst.from.kind))
    return ['Newest: ', { name: session.name }, ', reached ', { bytes: worst.bytes, explain }, place];
  return ['Newest: ', name, ', needs ', { bytes: worst.bytes, explain }, place];
}

/* "15 of 39 sessions are over, the latest: b by 17.74 GiB.", "14 failures in 15 of 39 sessions, the latest: …" latest:
 * {session, worst} of the one that stands first; the sizes of others, which may be of other programs, say nothing
 * beside it. counts: of list.js; total: sessions. */
export function overParts({ session, worst }, total, { unknown = 0, over: overCount = 1, same = 0 } = {}) {
  const sessions = `${count(overCount)} of ${counted(total, 'session')}`;
  const what = same
    ? `${counted(overCount - same, 'failure')} in ${sessions}`
    : `${sessions} ${overCount === 1 ? 'is' : 'are'} over`;
  const head = `${what}${
    unknown ? ` so far, ${count(unknown)} not read ` + `yet` : ''
  }${overCount > 1 ? '; the latest' : ''}: `;
  const by =
    worst.by > 0
      ? [' by ', { text: worst.byText, role: 'over', bytes: worst.by, explain: `over:${session.id}` }]
      : worst.bytes > 0
        ? [' asks for ', { bytes: worst.bytes, text: bytes(worst.bytes), explain: `needs:${session.id}` }]
        : [];
  return [head, { name: short(session.name) }, ...by, '.'];
}

/* "training: grows 64.0 KiB a step in 55 of 55 steps: metrics_append." */
export const findingParts = (session, finding) => [{ name: short(session.name) }, ': ', ...clauseParts(finding), '.'];

/* The answer when the list is not simply the newest first. unknown: how many sessions have no figure yet. */
export function listParts(list, sort, unknown = 0, verdict = '', shownCount = 0) {
  const order =
    {
      newest: ', newest first',
      name: ', by name',
      largest: ', largest on disk first',
      peak: ', highest peak first',
      share: ', fullest first',
    }[sort] ?? '';
  if (verdict)
    return [
      `${count(shownCount)} of ${counted(list.total_count, 'session')}: ${verdict}${
        unknown ? `; ${count(unknown)} ` + `not read yet` : ''
      }${order}.`,
    ];
  if (['peak', 'share'].includes(sort) && unknown > 0)
    return [
      `${
        list.matched_count < list.total_count ? `${count(list.matched_count)} of ` + `` : ''
      }${counted(list.total_count, 'session')}${order}; ${count(unknown)} not read yet, at the end.`,
    ];
  if (list.matched_count < list.total_count)
    return [`${count(list.matched_count)} of ${counted(list.total_count, 'session')} match${order}.`];
  return [`${counted(list.total_count, 'session')}${order}.`];
}

/* "7 sessions, 2 of them over", "1,000 sessions, 12 of them over so far; 800 not read yet"; "2 of 3 over" of a filter
 */
export function tally(list, { over: overCount, unknown = 0, same = 0 }) {
  if (list.matched_count < list.total_count)
    return overCount ? `${count(overCount)} of ${count(list.matched_count)} over` : '';
  const failures = same ? `, ${counted(overCount - same, 'failure')}` : '';
  const over = overCount ? `, ${count(overCount)} of them over${failures}` : '';
  return `${counted(list.total_count, 'session')}${over}${
    unknown ? `${over ? ' so far' : ''}; ${count(unknown)} not ` + `read yet` : ''
  }`;
}

/* The message for folders without a profile. */
export function emptyMessage(about) {
  const root = about.roots[0];
  const files = about.roots.reduce((sum, each) => sum + each.file_count, 0);
  const depth = about.roots.reduce((max, each) => Math.max(max, each.depth), 0);
  return {
    title: `No profiles under ${rootsText(about)}.`,
    text:
      `Looked at ${counted(files, 'file')}, ${counted(depth, 'level')} deep; none is a trace, dump, HLO proto or ` +
      `device profile. ` +
      'Drop a file here, open one directly (`memviewd FILE_OR_DIR`), or see an example (`memviewd --demo`). To ' +
      'record one (it appears here without a restart):',
    run: `with jax.profiler.trace("${root ? root.path : '/tmp/xprof'}"):\n    step()`,
  };
}

/* The message for a folder that cannot be read, or is not there. */
export function unreadableRoot(root) {
  if (root.missing)
    return {
      kind: 'empty',
      title: `${visible(root.path)} is not there.`,
      text: 'memviewd checks for it every second, and lists its contents here when it appears.',
    };
  return {
    kind: 'error',
    title: `Cannot read ${visible(root.path)}: ${visible(root.reason || 'no reason was given')}.`,
    text: 'Give the user of the daemon read access, or start it with another `--logdir`.',
  };
}

/* The answer where no folder can be read. */
export const nothingReadable = (broken) =>
  broken.every((root) => root.missing) ? `Waiting for ${short(rootsText({ roots: broken }))}.` : 'Nothing can be read.';

/* "Not read: 3 files (2 truncated, 1 unreadable)" */
export function notReadTitle(files) {
  const codes = new Map();
  for (const { code } of files) codes.set(code, (codes.get(code) ?? 0) + 1);
  const words = [...codes].map(([code, total]) => `${count(total)} ${CODES[code] ?? 'not usable'}`);
  return `Not read: ${counted(files.length, 'file')} (${words.join(', ')})`;
}

/* What is new since the list was made; "" if nothing that it would show. */
export function newsText(shown, now) {
  const ids = new Map(shown.sessions.map((session) => [session.id, session.modified_at_ms]));
  const added = now.sessions.filter((session) => !ids.has(session.id)).length;
  const changed = now.sessions.filter(
    (session) => ids.has(session.id) && ids.get(session.id) !== session.modified_at_ms,
  ).length;
  const gone = shown.total_count + added - now.total_count;
  const words = [
    added ? counted(added, 'new session') : '',
    changed ? `${counted(changed, 'session')} changed` : '',
    gone > 0 ? `${counted(gone, 'session')} gone` : '',
    shown.not_read.length === now.not_read.length ? '' : 'other files that cannot be read',
  ];
  return words.filter(Boolean).join(', ');
}

export { short };
