/* SPDX-License-Identifier: Apache-2.0
 * where.js: where it all went: one bar held against what there was, and what is largest in it. */

import { el, fill } from '../../lib/dom.js';
import { createPanel } from '../../widgets/panel.js';
import { drawBar } from './bars.js';
import { createPeak } from './peak.js';
import { takenOf, whoseOf } from './spread.js';

const TITLE = 'Where did it all go?';

/* A figure that lights its place in the text, or opens its evidence. */
export const figureWith =
  (figures, links) =>
  (value, key, evidence, text, className = 'strong') =>
    key || evidence == null
      ? figures.node(value, key, className, text)
      : links.figure(value, evidence, text, className);

/* What lies under the pointer lights its row; a click goes where the row leads. */
function bindCells(node, figures) {
  const keyOf = ({ target }) => target.closest('.oom-cell')?.dataset.key ?? null;
  node.addEventListener('pointerover', (event) => {
    const key = keyOf(event);
    figures.light(key ? [key] : []);
  });
  node.addEventListener('pointerleave', () => figures.light([]));
  node.addEventListener('click', (event) => {
    const key = keyOf(event);
    if (key)
      [...document.querySelectorAll('.oom-largest [data-key]')]
        .find((row) => row.dataset.key === key)
        ?.querySelector('.oom-label a')
        ?.click();
  });
}

export function createWhere(figures, menu) {
  const panel = createPanel('panel-oom-where', TITLE, { menu });
  const peak = createPeak(figures);
  return {
    panel,
    peak,
    /* failure: of a text, or null; plan: of the answer oom/plan, or null; core: the verdict, or null while it is asked
       for;
     * link: {href, text} of the program's page, or null. Out: the other bar of the same memory, which the page shows
     * elsewhere, or null. */
    show(failure, plan, core, link) {
      const told = failure?.verdict.bar ?? null;
      const taken = takenOf(told, plan, core, failure?.phase);
      const whose = whoseOf(told, core);
      const bar = whose ?? taken;
      panel.node.hidden = !bar && (core?.peak.groups.length ?? 0) === 0;
      if (panel.node.hidden) return null;
      const { links } = figures;
      const now = core?.together?.rows.length ? 'when the request failed' : 'at the peak';
      panel.setTitle(TITLE, whose ? el('span', { class: 'dim' }, ` ${now}`) : null);
      panel.setAside(link ? el('a', { href: link.href }, link.text) : '');
      const drawn = bar && drawBar(bar, figureWith(figures, links));
      if (drawn) bindCells(drawn.querySelector('.oom-bar'), figures);
      if (core) peak.show(core, links);
      fill(panel.body, drawn, core ? peak.node : null);
      return whose ? taken : null;
    },
  };
}
