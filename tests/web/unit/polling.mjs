/* SPDX-License-Identifier: Apache-2.0
 * polling.mjs: what is quick is not asked about, what takes long again and again. */

import { createPolling } from '../../../web/lib/polling.js';

const EVERY_MS = 500;

/* A clock that stands still until it is told: timers {set, clear}, pass(ms). */
function createClock() {
  let now = 0;
  let waiting = [];
  return {
    timers: {
      set(task, afterMs) {
        const each = { task, at: now + afterMs };
        waiting.push(each);
        return each;
      },
      clear(each) {
        waiting = waiting.filter((other) => other !== each);
      },
    },
    async pass(ms) {
      now += ms;
      const due = waiting.filter(({ at }) => at <= now);
      waiting = waiting.filter(({ at }) => at > now);
      for (const { task } of due) await task();
    },
  };
}

export function run({ test, equal }) {
  const start = (answer = async () => {}) => {
    const clock = createClock();
    const asked = { count: 0 };
    const polling = createPolling(
      () => {
        asked.count++;
        return answer();
      },
      EVERY_MS,
      clock.timers,
    );
    polling.begin();
    return { ...clock, asked, polling };
  };

  test('polling: what ends within the first wait is never asked about', async () => {
    const { asked, polling, pass } = start();
    await pass(EVERY_MS - 1);
    equal(asked.count, 0);
    polling.end();
    await pass(10 * EVERY_MS);
    equal(asked.count, 0);
  });

  test('polling: what takes long is asked about after each wait, until it ends', async () => {
    const { asked, polling, pass } = start();
    for (let round = 1; round <= 3; round++) {
      await pass(EVERY_MS);
      equal(asked.count, round);
    }
    polling.end();
    await pass(EVERY_MS);
    equal(asked.count, 3);
  });

  test('polling: a refusal ends it', async () => {
    const { asked, pass } = start(async () => {
      throw new Error('gone');
    });
    await pass(EVERY_MS);
    await pass(EVERY_MS);
    equal(asked.count, 1);
  });
}
