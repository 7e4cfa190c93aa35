/* SPDX-License-Identifier: Apache-2.0
 * tabs.js: views of one page, one at a time (WAI-ARIA tabs; arrows move and choose). */

import { consume, el, showWithin } from '../lib/dom.js';

let serial = 0;

/* tabs: [{id, word, key}]; onChoose(id). Out: {node, set(id, why of each), panelAttributes(id)}. */
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
    const steps = { ArrowRight: shown + 1, ArrowLeft: shown - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    const next = (steps[event.key] + tabs.length) % tabs.length;
    buttons[next].focus();
    onChoose(tabs[next].id);
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
    /* For the element that holds the chosen view. */
    panelAttributes: (id) => ({ id: `${prefix}-panel`, role: 'tabpanel', 'aria-labelledby': `${prefix}-${id}` }),
  };
}
