/* SPDX-License-Identifier: Apache-2.0
 * rest.mjs: when a page has done all that an act set going. Every act of a case (key, click, move, load) ends
 * only then, so that what is read after it is true however slow the machine is. */

/* What is shown for a moment only (a word that something was copied) stays longer: a slow reader misses nothing. */
const PASSING_MS = [1001, 3000];
const PASSING_FACTOR = 20;
/* A timer that a reader would wait for. */
const LONGEST_MS = 1000;
const REST_MS = 90000;
/* Frames without work. A wheel, and a window of another size, are heard a while before they show. */
const TURNS = 2;
const LATE_TURNS = 4;
const LATE = ['wheel', 'setViewportSize', 'emulateMedia'];

/* Runs in the page, before its own scripts. */
function watchWork({ longestMs, passingMs, passingFactor }) {
  const setTimer = globalThis.setTimeout.bind(globalThis);
  const clearTimer = globalThis.clearTimeout.bind(globalThis);
  const askFrame = globalThis.requestAnimationFrame.bind(globalThis);
  const dropFrame = globalThis.cancelAnimationFrame.bind(globalThis);
  const timers = new Set();
  const frames = new Set();
  let isChanged = true;

  globalThis.setTimeout = (task, ms = 0, ...more) => {
    if (typeof task !== 'function') return setTimer(task, ms, ...more);
    if (ms > longestMs)
      return setTimer(task, ms >= passingMs[0] && ms <= passingMs[1] ? ms * passingFactor : ms, ...more);
    const id = setTimer(() => {
      timers.delete(id);
      task(...more);
    }, ms);
    timers.add(id);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    timers.delete(id);
    clearTimer(id);
  };
  globalThis.requestAnimationFrame = (task) => {
    const id = askFrame((nowMs) => {
      frames.delete(id);
      task(nowMs);
    });
    frames.add(id);
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => {
    frames.delete(id);
    dropFrame(id);
  };
  new MutationObserver(() => {
    isChanged = true;
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });

  const undone = () =>
    [
      document.body?.hasAttribute('data-idle') ? '' : 'not idle',
      timers.size ? `${timers.size} timers` : '',
      frames.size ? `${frames.size} frames` : '',
      isChanged ? 'changed' : '',
    ].filter(Boolean);
  /* A frame, and what it posted. */
  const turn = () => new Promise((resolve) => askFrame(() => setTimer(resolve, 0)));
  /* Resolves once `turns` frames in a row found nothing to do; with what is still to be done after `mostMs`. */
  globalThis.atRest = async (turns, mostMs) => {
    const end = performance.now() + mostMs;
    for (let still = 0; still < turns;) {
      isChanged = false;
      await turn();
      const left = undone();
      still = left.length ? 0 : still + 1;
      if (performance.now() > end && left.length) return left;
    }
    return [];
  };
}

/* Before the first page of a browser context. */
export function watchRest(context, { isPassingKept = true } = {}) {
  const passingFactor = isPassingKept ? PASSING_FACTOR : 1;
  return context.addInitScript(watchWork, { longestMs: LONGEST_MS, passingMs: PASSING_MS, passingFactor });
}

/* Pages that rest, as far as a case let them. */
const atRest = new WeakSet();
/* Pages whose acts are watched, and their evaluate() as it was. */
const watched = new WeakMap();

/* Waits until the page has nothing left to do. Another page may open meanwhile: then until that one has. */
export async function rest(page, turns = TURNS) {
  if (atRest.has(page)) return;
  const end = Date.now() + REST_MS;
  while (!page.isClosed()) {
    const mostMs = Math.max(1, end - Date.now());
    let left = ['it loads'];
    try {
      const look = (how) => document.readyState === 'complete' && globalThis.atRest(...how);
      const found = await watched.get(page)(look, [turns, mostMs]);
      if (found) left = found;
      else await page.waitForLoadState('load', { timeout: mostMs });
    } catch (error) {
      if (!/context was destroyed|navigat|frame was detached/i.test(error.message)) throw error;
    }
    if (left.length === 0) break;
    if (Date.now() > end) throw new Error(`the page does not come to rest: ${left.join(', ')}`);
  }
  atRest.add(page);
}

/* Something was set going in another way than by the methods below. */
export const stir = (page) => atRest.delete(page);

const DEVICES = {
  keyboard: 'press type insertText down up',
  mouse: 'click dblclick move down up wheel',
  touchscreen: 'tap',
};
const PAGE_ACTS =
  'goto reload goBack goForward click dblclick tap fill focus hover press check uncheck selectOption setInputFiles ' +
  'setViewportSize emulateMedia';
const LOCATOR_ACTS =
  'click dblclick tap fill clear focus blur hover press pressSequentially check uncheck selectOption setInputFiles ' +
  'dispatchEvent scrollIntoViewIfNeeded dragTo';
/* What may set something going, or waits for what comes by itself. */
const PAGE_CALLS = 'evaluate evaluateHandle waitForSelector waitForFunction waitForURL waitForEvent waitForTimeout';
const LOCATOR_CALLS = 'evaluate evaluateAll evaluateHandle waitFor';

/* `before` each of these methods of `target`, `after` it. */
function wrap(target, names, before, after = null) {
  for (const name of names.split(' ')) {
    const act = target[name];
    target[name] = async function acting(...given) {
      before(this);
      const answer = await act.apply(this, given);
      await after?.(this, name);
      return answer;
    };
  }
}

let isLocatorWrapped = false;

/* From now on every act on the page, its locators and its keyboard ends when the page is at rest. */
export function actsEndAtRest(page) {
  const stirred = () => stir(page);
  const settle = (_, name) => rest(page, LATE.includes(name) ? LATE_TURNS : TURNS);
  for (const [device, names] of Object.entries(DEVICES)) wrap(page[device], names, stirred, settle);
  wrap(page, PAGE_ACTS, stirred, settle);
  watched.set(page, page.evaluate.bind(page));
  wrap(page, PAGE_CALLS, stirred);
  if (isLocatorWrapped) return;
  isLocatorWrapped = true;
  const locators = Object.getPrototypeOf(page.locator('html'));
  const stirOf = (locator) => stir(locator.page());
  wrap(locators, LOCATOR_ACTS, stirOf, (locator) => watched.has(locator.page()) && rest(locator.page()));
  wrap(locators, LOCATOR_CALLS, stirOf);
}
