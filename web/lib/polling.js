/* SPDX-License-Identifier: Apache-2.0
 * polling.js: asks again and again while something takes long, and not at all of what is quick.
 * Its own file: it draws nothing, so that its clock can be a test's. */

/* ask(): a promise; a refusal ends it. The first question waits as long as those between two: what is there by then
 * costs no request. timers: {set, clear}, of a test. Out: {begin(), end()}. */
export function createPolling(ask, everyMs, timers = { set: setTimeout.bind(null), clear: clearTimeout.bind(null) }) {
  let timer = 0;
  let isOpen = false;
  const next = () => {
    timer = timers.set(async () => {
      try {
        await ask();
      } catch {
        isOpen = false;
      }
      if (isOpen) next();
    }, everyMs);
  };
  return {
    begin() {
      isOpen = true;
      next();
    },
    end() {
      isOpen = false;
      timers.clear(timer);
    },
  };
}
