/* SPDX-License-Identifier: Apache-2.0
 * tabs.js: views of one page, one at a time (WAI-ARIA tabs; arrows move and choose). */

import { consume, el, showWithin } from '../lib/dom.js';
import { count } from '../lib/format.js';

let serial = 0;

/* tabs: [{id, word, key}]; onChoose(id). Out: {node, set(id), setCounts({id: number}), leaveOut(ids),
   panelAttributes(id)}. */
export function createTabs({ tabs, label, onChoose }) {
  const prefix = `tabs-${++serial}`;
  const buttons = tabs.map(({ id, word, key }) =>
    el(
      'button',
      {
        type: 'button',
        role: 'tab',
        class: 'tab',
        id: `${prefix}-${id}`,
        'aria-controls': `${prefix}-panel`,
        'aria-keyshortcuts': key,
        on: { click: () => onChoose(id) },
      },
      el('span', { class: 'tab-key', 'aria-hidden': 'true' }, key),
      word,
    ),
  );
  const node = el('div', { role: 'tablist', class: 'tabs', 'aria-label': label }, buttons);
  let shown = -1;
  node.addEventListener('keydown', (event) => {
    const offered = buttons.filter((button) => !button.hidden);
    const own = offered.indexOf(buttons[shown]);
    const steps = { ArrowRight: own + 1, ArrowLeft: own - 1, Home: 0, End: offered.length - 1 };
    if (!(event.key in steps)) return;
    const next = offered[(steps[event.key] + offered.length) % offered.length];
    next.focus();
    onChoose(tabs[buttons.indexOf(next)].id);
    consume(event);
  });
  return {
    node,
    set(id) {
      shown = tabs.findIndex((tab) => tab.id === id);
      buttons.forEach((button, at) => {
        button.setAttribute('aria-selected', String(at === shown));
        button.tabIndex = at === shown ? 0 : -1;
      });
      showWithin(node, buttons[shown]);
    },
    /* How many a tab has to show, behind its word. */
    setCounts(counts) {
      buttons.forEach((button, at) => {
        const number = counts[tabs[at].id];
        button.querySelector('.tab-count')?.remove();
        if (number !== undefined) button.append(el('span', { class: 'tab-count' }, ` ${count(number)}`));
      });
    },
    /* What has nothing to show here is not offered. */
    leaveOut(ids) {
      buttons.forEach((button, at) => {
        button.hidden = ids.includes(tabs[at].id);
      });
    },
    /* For the element that holds the chosen view. */
    panelAttributes: (id) => ({ id: `${prefix}-panel`, role: 'tabpanel', 'aria-labelledby': `${prefix}-${id}` }),
  };
}
