/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_why.js: what stands where nothing can be drawn. Reasons are loaded when one is needed, but for
 * those that come when nothing can be loaded any more. */

import { problemText } from '../lib/api.js';
import { visible } from '../lib/format.js';
import { lazy } from '../lib/lazy.js';
import { message } from '../widgets/panel.js';

const reasons = lazy(() => import('./memory_viewer_empty.js'));

/* A backquote begins a command in our sentences; in a name it is only a mark. */
export const safe = (text) => visible(text).replaceAll('`', '\u02cb');

/* The message of a reason of memory_viewer_empty.js, by its name, or a promise of it. */
export const why = (name, ...facts) => reasons.with((each) => message(each[name](...facts)));

/* The message that something could not be read. */
export const failed = (what, problem) => message(failure(what, problem));

/* Pure. */
export function failure(what, problem) {
  if (problem.code === 'gone')
    return {
      kind: 'error',
      title: `${what} could not be read.`,
      text: 'The daemon does not answer. This page tries again by itself.',
    };
  if (problem.code === 'token')
    return {
      kind: 'error',
      title: `${what} could not be read.`,
      text: 'This daemon asks for a token. Open the link that it printed at start.',
    };
  return {
    kind: 'error',
    title: `${what} could not be read.`,
    text: `${safe(problemText(problem))} The rest of the page is not touched by this.`,
  };
}

/* The message that the reader stopped it. */
export const stopped = (what) =>
  message({ title: `Reading ${what} was stopped.`, text: 'Nothing is wrong with it: choose it again in the bar above.' });
