/* SPDX-License-Identifier: Apache-2.0
 * advice.js: behind the finding of the answer, the cause that the plan's largest part does not name and the best piece
 * of advice, as the verdict has them; each leads on. Asked for once the page stands, and extra: without it nothing is
 * said. Its own file: another view of the daemon. */

import { get, isAbort, Problem } from '../../lib/api.js';
import { el } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { predictedFit } from '../../lib/predicted.js';
import { explained, withText } from '../../widgets/explain.js';

/* What is predicted is of the device's own memory. */
const SPACE = 0;

/* Where nobody knows what there is, nothing has to be changed. */
const bestOf = ({ fits, best, advice }) => (fits === 'unknown' ? null : (advice[best] ?? null));

function nodesOf(verdict, { context, program }, told) {
  const { place } = program;
  const best = (program.advice = bestOf(verdict));
  const words = best ? predictedFit(best) : '';
  const { cause } = verdict;
  const isTold = cause.kind === 'unknown' || told.toLowerCase().includes(cause.words.toLowerCase());
  const all = context.link(place.session, { tool: 'oom', module: place.module, capacity: context.route.capacity });
  return [
    isTold ? null : [el('span', { 'data-explain': 'culprit' }, visible(cause.text)), ' '],
    best && [
      el('span', { 'aria-hidden': 'true' }, '▶ '),
      el(
        'a',
        {
          class: 'advice-best',
          href: best.change == null ? all : context.linkHere({ whatif: [best.change], drawer: 'whatif' }),
        },
        visible(best.title),
      ),
      ': ',
      withText(
        [
          best.lands_at_bytes == null
            ? `saves ${best.confidence === 'bound' ? '≤ ' : ''}${bytes(best.saves_bytes)}`
            : explained(
                'advice',
                best.lands_at_bytes,
                `${best.confidence === 'bound' ? '≥ ' : ''}${bytes(best.lands_at_bytes)}`,
                'strong',
              ),
        ],
        `${words && ', '}${words} (${best.confidence}). `,
      ),
    ],
    verdict.advice.length ? el('a', { href: all }, best ? 'All advice' : 'Advice') : null,
  ];
}

/* Writes into the head what the verdict of this program says; what came too late is dropped. */
export async function loadAdvice(view) {
  const { program, context } = view;
  const { space, place, wanted, isRefused } = program;
  view.adviceAsked?.abort();
  view.head.setAdvice(null);
  program.advice = null;
  if (space.space !== SPACE) return;
  const { signal } = (view.adviceAsked = new AbortController());
  try {
    const verdict = await get(
      'verdict',
      { session: place.session, host: place.host, module: place.module, capacity: isRefused ? '' : wanted },
      { signal, isQuiet: true, isSlow: true },
    );
    if (!signal.aborted && program.space === space)
      view.head.setAdvice(nodesOf(verdict, { context, program }, view.head.finding));
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem)) throw error;
  }
}
