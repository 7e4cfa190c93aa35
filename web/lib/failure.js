/* SPDX-License-Identifier: Apache-2.0
 * failure.js: what is said where something could not be read. Pure. */

import { problemText } from './api.js';
import { capital, cutMiddle, literal } from './format.js';

/* For message() of panel.js: the reader stopped what was read; again() reads it. */
export const stopped = (what, again) => ({
  title: `Reading ${literal(cutMiddle(what, 60))} was stopped.`,
  text: 'Nothing is wrong with it.',
  action: { label: 'Read it', run: again },
});

/* Why, and where the daemon can be started in another way, how. */
export function whyOf(problem) {
  const more = problem.code === 'memory' ? ' Start the daemon with a larger `--memory-limit=MIB`.' : '';
  return capital(literal(problemText(problem))) + more;
}

/* {kind, title, text} of a problem with `what`. */
export function failure(what, problem) {
  const said = { kind: 'error', title: `${what} could not be read.` };
  if (problem.code === 'gone') return { ...said, text: 'The daemon does not answer. This page tries again by itself.' };
  if (problem.code === 'token')
    return {
      ...said,
      text:
        'This daemon requires a token. Open the link that it printed at start, or append #token= and the token ' +
        'from its file to the address.',
    };
  return { ...said, text: `${whyOf(problem)} The rest of the page is not affected.` };
}
