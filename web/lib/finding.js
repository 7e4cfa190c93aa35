/* SPDX-License-Identifier: Apache-2.0
 * finding.js: what the core tells first of a trace or of profiles (`finding` of an answer), as parts of a sentence.
 * Pure. Its own file: two tools and Home say it alike. */

import { capital, cutMiddle, visible } from './format.js';

const NAME = 60;

const shown = (part) => (part.name === undefined ? part : { name: cutMiddle(visible(part.name), NAME) });

/* Does it speak of something that is to be mended? */
export const isGrave = (finding) => ['failed_request', 'fragmentation', 'grows'].includes(finding?.kind);

/* With a capital and a full stop: a sentence of its own. */
export function sentenceParts(finding) {
  const [first, ...rest] = finding.parts.map(shown);
  return [typeof first === 'string' ? capital(first) : first, ...rest, finding.sentence.endsWith('.') ? '' : '.'];
}

/* As it is, behind a name: "training: grows …". */
export const clauseParts = (finding) => finding.parts.map(shown);
