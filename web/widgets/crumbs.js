/* SPDX-License-Identifier: Apache-2.0
 * crumbs.js: the breadcrumb in the bar: Home › session › host › module › memory space.
 * On a phone it is a sheet behind the menu button. */

import { el, fill } from '../lib/dom.js';
import { createSelector } from './selector.js';

/* levels: [{level, title, load}]; onChoose(level, id). Out: {set({level: {id, label, count} | null})}. */
export function createCrumbs(node, { levels, home, onChoose }) {
  const bar = node.closest('.bar');
  const menu = bar.querySelector('#menu');
  const selectors = new Map();
  const openSheet = (isOpen) => {
    bar.classList.toggle('is-open', isOpen);
    menu.setAttribute('aria-expanded', String(isOpen));
  };
  for (const { level, title, load } of levels) {
    selectors.set(level, {
      title,
      ...createSelector({
        title,
        load,
        onChoose: (id) => {
          openSheet(false);
          onChoose(level, id);
        },
      }),
    });
  }
  menu.addEventListener('click', () => openSheet(!bar.classList.contains('is-open')));
  bar.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !bar.classList.contains('is-open')) return;
    openSheet(false);
    menu.focus();
    event.stopPropagation();
  });
  const item = (title, child) =>
    el('div', { class: 'crumb' }, el('span', { class: 'crumb-title', 'aria-hidden': 'true' }, title), child);

  return {
    set(values) {
      const shown = levels.filter(({ level }) => values[level]);
      for (const { level } of shown) selectors.get(level).set(values[level]);
      fill(
        node,
        item('', home),
        shown
          .map(({ level, title }) => [
            el('span', { class: 'crumb-mark', 'aria-hidden': 'true' }, '›'),
            item(title, selectors.get(level).node),
          ])
          .flat(),
      );
    },
  };
}
