/* SPDX-License-Identifier: Apache-2.0
 * phone_tabs.js: on a phone the panels of a page stand behind tabs, one at a time (WAI-ARIA tabs);
 * where there is room they all stand there and the tabs are gone. */

import { button, el } from '../lib/dom.js';

const phone = matchMedia('(max-width: 37.49rem)');
let serial = 0;

export const isPhone = () => phone.matches;

/* tabs: [{id, word, panel}], panel as of panel.js; onChoose(id). Out: {node, set(id), ids, stop()}. */
export function createPhoneTabs(tabs, onChoose) {
  const group = `tabs-${++serial}`;
  const buttons = tabs.map(({ id, word, panel }) => {
    panel.node.id ||= `${group}-${id}-panel`;
    panel.node.classList.add('tabbed');
    return button('phone-tab', () => onChoose(id), word, {
      id: `${group}-${id}`,
      role: 'tab',
      'aria-controls': panel.node.id,
    });
  });
  const node = el('div', { class: 'phone-tabs', role: 'tablist', 'aria-label': 'Views of this page' }, buttons);
  let shown = tabs[0].id;
  const draw = () => {
    for (const [at, { id, panel }] of tabs.entries()) {
      const isShown = id === shown;
      buttons[at].setAttribute('aria-selected', String(isShown));
      buttons[at].tabIndex = isShown ? 0 : -1;
      panel.node.classList.toggle('is-shown', isShown);
      if (phone.matches) panel.node.setAttribute('role', 'tabpanel');
      else panel.node.removeAttribute('role');
    }
  };
  node.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement);
    const last = buttons.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    buttons[to].focus();
    onChoose(tabs[to].id);
  });
  phone.addEventListener('change', draw);
  draw();
  return {
    node,
    ids: tabs.map(({ id }) => id),
    /* An id that is no tab shows the first. */
    set(id) {
      shown = tabs.some((tab) => tab.id === id) ? id : tabs[0].id;
      draw();
    },
    stop: () => phone.removeEventListener('change', draw),
  };
}
