/* SPDX-License-Identifier: Apache-2.0
 * task.js: what the daemon works at for a while, a capture or a compile: begun, looked at until it has ended,
 * cancelled. */

import { get, isAbort, post, Problem, problemText, remove } from './api.js';

const ASK_EVERY_MS = 300;

/* A beat of an interval: the page itself is at rest meanwhile. */
const beat = () =>
  new Promise((resolve) => {
    const timer = setInterval(() => {
      clearInterval(timer);
      resolve();
    }, ASK_EVERY_MS);
  });

export const isEnded = ({ state }) => state === 'done' || state === 'cancelled';

/* path: of such tasks below api/v1/; isAtWork(run): is there more to come? draw(): run or fault are others now;
   onEnd(run).
 * Out: {run: what the daemon said of it last, or null; fault: why it could not be begun or followed, or '';
 * begin(body), refuse(words): it is not begun; cancel(), stop(): nobody looks at it any more}. */
export function createTask(path, { isAtWork = (run) => !isEnded(run), draw, onEnd }) {
  const ending = new AbortController();
  const { signal } = ending;

  async function tried(act) {
    try {
      task.fault = '';
      await act();
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      task.fault = problemText(error);
      if (error.status === 404) task.run = null;
      draw();
    }
  }

  async function follow() {
    while (isAtWork(task.run)) {
      await beat();
      if (signal.aborted || !task.run) return;
      task.run = await get(`${path}/${task.run.id}`, {}, { signal, isQuiet: true });
      draw();
    }
    onEnd(task.run);
  }

  const task = {
    run: null,
    fault: '',
    begin: (body) =>
      tried(async () => {
        task.run = await post(path, JSON.stringify(body), 'application/json');
        draw();
        await follow();
      }),
    refuse(words) {
      task.fault = words;
      draw();
    },
    cancel: () => tried(() => remove(`${path}/${task.run.id}`)),
    stop: () => ending.abort(),
  };
  return task;
}
