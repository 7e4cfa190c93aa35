/* SPDX-License-Identifier: Apache-2.0
 * api.js: asks the daemon. Answers are parsed JSON; everything else is a Problem,
 * which says what failed, in which file and at which byte. */

import { beginRequest } from './activity.js';
import { count, visible } from './format.js';
import { setting } from './settings.js';

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
  if (name)
    throw new Problem({ status: 400, code: 'argument', detail: `${name}: a text with a NUL in it matches nothing` });
}

/* The address of api/v1/<path>; what is empty is left out, but for a key. */
export function apiUrl(path, params) {
  const url = new URL(`api/v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(params))
    for (const each of [value].flat())
      if (each != null && (each !== '' || name === 'key')) url.searchParams.append(name, each);
  return url;
}

/* ---- several questions in one request ------------------------------------------
 * What a page asks while it opens goes together, and is kept with its entry of the browser's history: loaded again, it
 * asks all of that at once (early.js), instead of one after the other: session, module, curve. */

const MAX_TOGETHER = 16; // as the daemon takes
const MAX_TOGETHER_CHARACTERS = 6000;
const HIDDEN_MS = 100; // a page that is not seen has no frames
const OPENING_MS = 5000;
const QUICK_MS = 400; // the line of a reader far away is in it
const JSON_ONLY = { Accept: 'application/json' };
const STATUS_BUSY = 503;
const NEWEST = 'sessions/newest'; // the newest session with programs
const encoder = new globalThis.TextEncoder();
/* What of an address stands below api/v1/. */
const belowRoot = (href) => href.slice(apiUrl('', {}).href.length);

let opening = []; // what was asked, below api/v1/; null once the reader does something
let waiting = []; // {href, signal, resolve, reject} that will be asked together

/* Its parts as fetch() gives them: [{status, ok, json(), arrayBuffer()}], promises; isLater: it would have kept the
 * others waiting, and has to be asked for alone. What went wrong with all is told of each. */
function partsOf(count, response) {
  const whole = response.then(async (answer) => {
    const body = await answer.json().catch(() => ({}));
    return Array.from({ length: count }, (_, at) => (answer.ok ? body.answers[at] : { status: answer.status, body }));
  });
  return Array.from({ length: count }, async (_, at) => {
    const { status, body, text } = (await whole)[at];
    const isLater = status === STATUS_BUSY && (await response).ok;
    const arrayBuffer = async () => encoder.encode(text).buffer;
    return { status, ok: status < 400, isLater, json: async () => body, arrayBuffer };
  });
}

/* What early.js has asked for: address below api/v1/ → {answer that is under way, isTaken}. Each is taken once; but
 * while the page opens by all who ask the same. */
const ahead = new Map();
if (globalThis.memviewdAhead) {
  const { asked, response } = globalThis.memviewdAhead;
  const parts = partsOf(asked.length, response);
  const newest = asked.indexOf(NEWEST);
  const named = newest < 0 ? null : parts[newest].then(nameNewest).catch(() => {});
  parts.forEach((part, at) => {
    const known = named ? named.then(() => part) : part;
    known.catch(() => {}); // the page says it, if it asks for it
    ahead.set(asked[at], { part: known, isTaken: false });
  });
}

/* What was asked of the newest session is what would be asked of it by its id. */
async function nameNewest(answer) {
  const { id } = await answer.json();
  ahead.get(NEWEST).isTaken = true;
  for (const [path, entry] of [...ahead])
    if (id && path.includes('newest'))
      ahead.set(path.replace(NEWEST, `sessions/${id}`).replace('session=newest', `session=${id}`), entry);
}

/* A browser also says pointermove where the page came under a pointer that rests. */
const isByReader = ({ type, movementX, movementY }) => type !== 'pointermove' || movementX !== 0 || movementY !== 0;
for (const type of ['pointermove', 'pointerdown', 'keydown', 'popstate'])
  globalThis.addEventListener?.(type, (event) => isByReader(event) && (opening = null), {
    passive: true,
    capture: true,
  });

const isTogether = setting('ask') !== 'alone';
const isOpening = () => isTogether && opening != null && performance.now() < OPENING_MS;

/* Did early.js ask for it, and nobody took it yet? */
export const isAhead = (path, params) => ahead.get(belowRoot(apiUrl(path, params).href))?.isTaken === false;

function takeAhead({ href }) {
  const found = ahead.get(belowRoot(href));
  if (!found || (found.isTaken && !isOpening())) return null;
  found.isTaken = true;
  return found.part;
}

function keepAhead({ href }) {
  const path = belowRoot(href);
  const length = opening.reduce((sum, each) => sum + each.length, path.length);
  if (opening.length === MAX_TOGETHER || opening.includes(path) || length > MAX_TOGETHER_CHARACTERS) return;
  opening.push(path);
  history.replaceState({ asked: opening }, '');
}

function askAll(group) {
  if (group.length === 1) {
    const [{ href, signal, resolve, reject }] = group;
    fetch(href, { headers: JSON_ONLY, signal }).then(resolve, reject);
    return;
  }
  const gaveUp = new AbortController();
  const url = apiUrl('batch', { ask: group.map(({ href }) => belowRoot(href)) });
  const parts = partsOf(group.length, fetch(url, { headers: JSON_ONLY, signal: gaveUp.signal }));
  group.forEach(({ signal, resolve, reject }, at) => {
    parts[at].then(resolve, reject);
    signal?.addEventListener('abort', () => {
      reject(signal.reason);
      if (group.every((each) => each.signal?.aborted)) gaveUp.abort();
    });
  });
}

function askWaiting() {
  let group = [];
  let length = 0;
  for (const each of waiting) {
    if (each.signal?.aborted) {
      each.reject(each.signal.reason);
      continue;
    }
    length += each.href.length;
    if (group.length === MAX_TOGETHER || length > MAX_TOGETHER_CHARACTERS) {
      askAll(group);
      [group, length] = [[], each.href.length];
    }
    group.push(each);
  }
  waiting = [];
  if (group.length) askAll(group);
}

/* GET of an address with what else is asked within two frames: so much later another part of the page may ask. */
function askTogether(href, signal) {
  return new Promise((resolve, reject) => {
    if (!waiting.length) {
      const hidden = setTimeout(askWaiting, HIDDEN_MS);
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          clearTimeout(hidden);
          askWaiting();
        }),
      );
    }
    waiting.push({ href, signal, resolve, reject });
  });
}

/* isSlow: its answer may take long, and others are not to wait for it: unless it took no time when the page was opened
 * before. */
async function request(path, params, signal, { sent = null, isSlow = false, isPassing = false } = {}) {
  const beganMs = performance.now();
  refuseNul(params);
  const url = apiUrl(path, params);
  const isFirst = !sent && !isSlow && isOpening();
  let response;
  try {
    const early = sent ? null : takeAhead(url);
    if (early) response = await early;
    else if (isFirst) response = await askTogether(url.href, signal);
    signal?.throwIfAborted();
    if (!response || response.isLater)
      response = await fetch(url, { ...sent, headers: { ...JSON_ONLY, ...sent?.headers }, signal });
    signal?.throwIfAborted();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    reached(false);
    throw new Problem({ code: 'gone', detail: `no answer from ${location.host}` });
  }
  reached(true);
  if (!response.ok) throw await readProblem(response);
  const isQuick = isFirst || (!sent && !isPassing && performance.now() - beganMs < QUICK_MS);
  if (isQuick && isOpening()) keepAhead(url);
  return response;
}

/* GET api/v1/<path>. Counted as under way unless `isQuiet`; isSlow: nothing else is to wait for its answer; isPassing:
 * what is told now is of no use later. */
export async function get(
  path,
  params = {},
  { signal = null, isQuiet = false, isSlow = false, isPassing = false } = {},
) {
  const end = isQuiet ? () => {} : beginRequest();
  try {
    return await (await request(path, params, signal, { isSlow: isSlow || isPassing, isPassing })).json();
  } finally {
    end();
  }
}

/* GET api/v1/<path> as bytes; isSmall: with what else is asked while the page opens. */
export async function getBytes(path, params = {}, { signal = null, isSmall = false } = {}) {
  const end = beginRequest();
  try {
    return new Uint8Array(await (await request(path, params, signal, { isSlow: !isSmall })).arrayBuffer());
  } finally {
    end();
  }
}

/* POST api/v1/<path> with a file or a text; params as for get(). */
export async function post(path, body, type = 'application/octet-stream', params = {}, { signal = null } = {}) {
  const end = beginRequest();
  try {
    return await (
      await request(path, params, signal, { sent: { method: 'POST', body, headers: { 'Content-Type': type } } })
    ).json();
  } finally {
    end();
  }
}

/* DELETE api/v1/<path>. */
export async function remove(path) {
  const end = beginRequest();
  try {
    await request(path, {}, null, { sent: { method: 'DELETE' } });
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
  if (problem.offsetBytes != null) {
    place.push(`${place.length ? 'at byte' : 'At byte'} ${count(problem.offsetBytes)}`);
  }
  return place.length ? `${sentence} ${place.join(', ')}.` : sentence;
}
