/* SPDX-License-Identifier: Apache-2.0
 * failure.js: what is said where something could not be read. Pure. */

import { problemText } from './api.js';
import { capital, literal } from './format.js';

/* {kind, title, text} of a problem with `what`. */
export function failure(what, problem) {
  const said = { kind: 'error', title: `${what} could not be read.` };
  if (problem.code === 'gone') return { ...said, text: 'The daemon does not answer. This page tries again by itself.' };
  if (problem.code === 'token')
    return { ...said, text: 'This daemon asks for a token. Open the link that it printed at start.' };
  const more = problem.code === 'limit' && /memory than allowed/.test(problem.message) ? ' Start the daemon with a larger `--memory-limit=MIB`.' : '';
  return { ...said, text: `${capital(literal(problemText(problem)))}${more} The rest of the page is not touched by this.` };
}
