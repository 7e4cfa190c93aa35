/* SPDX-License-Identifier: Apache-2.0
 * connection.js: says when the daemon does not answer, and when files changed under the page.
 * What is seen stays; the page goes on by itself.
 * Its own file: watches daemon and disk; the frame says what to do then. */

import { get, onConnection } from '../lib/api.js';
import { literal, when } from '../lib/format.js';

const GONE_AFTER_MS = 1500;
const EVERY_MS = 5000;

/* Asks every 5 s; sleeps while the page is hidden. onChange(about) is called when the scan generation moved since the
   last look. */
function startHeartbeat(onChange) {
  let generation = null;
  let timer = 0;
  const beat = async () => {
    clearTimeout(timer);
    try {
      const about = await get('about', {}, { isQuiet: true });
      if (generation != null && about.scan_generation !== generation) onChange(about);
      generation = about.scan_generation;
    } catch {
      /* api.js told everybody already */
    }
    if (!document.hidden) timer = setTimeout(beat, EVERY_MS);
  };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) beat();
  });
  beat();
  return { beat };
}

/* onBack(): the daemon answers again. onGone(): it does not, and the banner says so.
 * onChange(): a file was added, changed or removed under the watched folders. */
export function watchConnection({ banners, onBack, onGone, onChange }) {
  let timer = 0;
  let heartbeat = null;
  const sayGone = (sinceMs) => {
    banners.set('gone', {
      canClose: false,
      action: { label: 'Try now', run: () => heartbeat.beat() },
      text:
        `No answer from ${location.host} since ${when(sinceMs).replace(' today', '')}. What you see stays; ` +
        `trying again every 5 s.`,
    });
    onGone();
  };
  onConnection(({ isGone, sinceMs }) => {
    clearTimeout(timer);
    if (!isGone) {
      banners.drop('gone');
      onBack();
      return;
    }
    /* One lost answer is no news: ask again before saying so. */
    heartbeat?.beat();
    timer = setTimeout(() => sayGone(sinceMs), GONE_AFTER_MS);
  });
  heartbeat = startHeartbeat(onChange);
}

/* What of the selection is no longer on disk: the name of its session, of its host, of the file of its module, or null.
 */
function missingOf({ session, host, module }, now) {
  if (!now) return session.name;
  if (host && !now.hosts.some(({ id }) => id === host.id)) return host.name ?? host.id;
  const file = module?.file?.split('/').at(-1);
  return !file || now.files.some(({ name }) => name.split('/').at(-1) === file) ? null : file;
}

/* Says so if what is on the page (selection: {session, host, module}) is another one on disk now, or was deleted.
 * follow(session): the page takes by itself what there is now, if it is true. */
export async function checkSession(selection, banners, reload, follow) {
  const { session } = selection;
  let now = null;
  try {
    now = await get(`sessions/${encodeURIComponent(session.id)}`, {}, { isQuiet: true });
  } catch (error) {
    if (error.status !== 404) return; // the daemon does not say
  }
  const missing = missingOf(selection, now);
  if (missing == null) banners.drop('missing');
  else banners.set('missing', { text: `${literal(missing)} is no longer on disk. What you see stays.` });
  if (!now || now.modified_at_ms === session.modified_at_ms) return;
  if (missing == null && follow(now)) {
    banners.drop('changed');
    return;
  }
  banners.set('changed', {
    action: { label: 'Reload', run: reload },
    text:
      `${literal(session.name)} changed on disk at ${when(now.modified_at_ms)}; figures are of ` +
      `${when(session.modified_at_ms)}.`,
  });
}
