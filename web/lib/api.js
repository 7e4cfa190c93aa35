/* SPDX-License-Identifier: Apache-2.0
 * api.js: asks the daemon. Answers are parsed JSON; everything else is a Problem,
 * which says what failed, in which file and at which byte. */

import { beginRequest } from './activity.js';
import { count, visible } from './format.js';

const connectionListeners = new Set();
let goneSinceMs = 0;

export class Problem extends Error {
  constructor({ status = 0, code = 'internal', detail = '', title = '', file = null, offset_bytes = null }) {
    super(detail || title || code);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.file = file;
    this.offsetBytes = offset_bytes;
  }
}

/* The fragment is for the access token only; it leaves the address bar at once. The daemon
 * gives a cookie for it, so that no script keeps it. */
export async function takeToken() {
  const match = /^#(?:token=)?([A-Za-z0-9._~-]{8,128})$/.exec(location.hash);
  if (!match) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  const end = beginRequest();
  try {
    await fetch(new URL('api/v1/login', document.baseURI), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: match[1] }),
    });
  } catch {
    /* the next request says that nobody answers */
  } finally {
    end();
  }
}

/* Hears {isGone, sinceMs} whenever the daemon stops or begins to answer. */
export function onConnection(listener) {
  connectionListeners.add(listener);
}

function reached(isReached) {
  const wasGone = goneSinceMs !== 0;
  if (isReached === !wasGone) return;
  goneSinceMs = isReached ? 0 : Date.now();
  for (const listener of connectionListeners) listener({ isGone: !isReached, sinceMs: goneSinceMs });
}

async function readProblem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    /* not JSON: the status alone has to do */
  }
  const code = response.status === 401 ? 'token' : body.code;
  return new Problem({
    ...body,
    status: response.status,
    code,
    title: body.title || `the daemon answered ${response.status}`,
  });
}

/* A NUL stands in no name; the daemon refuses it for all that is asked, and here it is said of what. */
function refuseNul(params) {
  const name = Object.keys(params).find((each) => [params[each]].flat().some((value) => String(value).includes('\0')));
  if (name) throw new Problem({ status: 400, code: 'argument', detail: `${name}: a text with a NUL in it matches nothing` });
}

/* The address of api/v1/<path>; what is empty is left out, but for a key. */
export function apiUrl(path, params) {
  const url = new URL(`api/v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(params))
    for (const each of [value].flat())
      if (each !== null && each !== undefined && (each !== '' || name === 'key')) url.searchParams.append(name, each);
  return url;
}

/* ---- ahead ---------------------------------------------------------------------
 * What a page asks while it opens is kept with its entry of the browser's history. Loaded again, it asks all of that at
 * once, instead of one after the other: session, module, curve. */

const MAX_AHEAD = 16;
const AHEAD_FOR_MS = 5000;
const JSON_ONLY = { Accept: 'application/json' };
const ahead = new Map(); // address → answer that is under way
let opening = []; // addresses; null once the reader does something

for (const href of globalThis.history?.state?.asked ?? []) {
  if (!String(href).startsWith(apiUrl('', {}).href)) continue;
  const answer = fetch(href, { headers: JSON_ONLY });
  answer.catch(() => {}); // the page says it, if it asks for it
  ahead.set(href, answer);
}
for (const event of ['pointermove', 'pointerdown', 'keydown', 'popstate'])
  globalThis.addEventListener?.(event, () => (opening = null), { once: true, capture: true });
/* What nobody took is not read: each such answer would keep one of the few connections. */
if (ahead.size)
  setTimeout(() => {
    for (const answer of ahead.values()) answer.then(({ body }) => body?.cancel(), () => {});
    ahead.clear();
  }, AHEAD_FOR_MS);

/* The answer that is under way, or null; taken once. */
function takeAhead({ href }) {
  const answer = ahead.get(href) ?? null;
  ahead.delete(href);
  return answer;
}

function keepAhead({ href }) {
  if (!opening || opening.length === MAX_AHEAD || opening.includes(href) || performance.now() > AHEAD_FOR_MS) return;
  opening.push(href);
  history.replaceState({ asked: opening }, '');
}

async function request(path, params, signal, sent = null) {
  refuseNul(params);
  const url = apiUrl(path, params);
  let response;
  try {
    const early = sent ? null : takeAhead(url);
    response = await (early ?? fetch(url, { ...sent, headers: { ...JSON_ONLY, ...sent?.headers }, signal }));
    signal?.throwIfAborted();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    reached(false);
    throw new Problem({ code: 'gone', detail: `no answer from ${location.host}` });
  }
  reached(true);
  if (!response.ok) throw await readProblem(response);
  if (!sent) keepAhead(url);
  return response;
}

/* GET api/v1/<path>. Counted as under way unless `isQuiet`. */
export async function get(path, params = {}, { signal = null, isQuiet = false } = {}) {
  const end = isQuiet ? () => {} : beginRequest();
  try {
    return await (await request(path, params, signal)).json();
  } finally {
    end();
  }
}

/* GET api/v1/<path> as bytes. */
export async function getBytes(path, params = {}, { signal = null } = {}) {
  const end = beginRequest();
  try {
    return new Uint8Array(await (await request(path, params, signal)).arrayBuffer());
  } finally {
    end();
  }
}

/* POST api/v1/<path> with a file or a text; params as for get(). */
export async function post(path, body, type = 'application/octet-stream', params = {}, { signal = null } = {}) {
  const end = beginRequest();
  try {
    return await (await request(path, params, signal, { method: 'POST', body, headers: { 'Content-Type': type } })).json();
  } finally {
    end();
  }
}

/* DELETE api/v1/<path>. */
export async function remove(path) {
  const end = beginRequest();
  try {
    await request(path, {}, null, { method: 'DELETE' });
  } finally {
    end();
  }
}

export function isAbort(error) {
  return error?.name === 'AbortError';
}

/* One or two sentences: what failed, with file and place. */
export function problemText(problem) {
  const text = visible(problem.message || 'no reason was given');
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  const place = [];
  if (problem.file && !text.includes(problem.file)) place.push(`File: ${visible(problem.file)}`);
  if (problem.offsetBytes !== null && problem.offsetBytes !== undefined) {
    place.push(`${place.length ? 'at byte' : 'At byte'} ${count(problem.offsetBytes)}`);
  }
  return place.length ? `${sentence} ${place.join(', ')}.` : sentence;
}
