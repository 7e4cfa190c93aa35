/* SPDX-License-Identifier: Apache-2.0
 * look.js: choices of how the page looks at a program: the curve by category or as one, the panel that has the whole
 * height, the person's own rules of whose memory a buffer is. All of them stand in the URL.
 * Its own file: page.js opens and lights what these choose from. */

import { el } from '../../lib/dom.js';
import { lazy } from '../../lib/lazy.js';
import { setLarge } from '../../widgets/panel.js';
import { toggledCategory } from './filter.js';
import { asker } from './load.js';

/* Names of the panels in the URL, in their order. */
export const PANELS = ['curve', 'strips', 'map', 'table', 'code', 'patterns'];

/* How the curve is drawn, and which panel has the whole height. */
export function hearLook(view, route) {
  view.curve.setUnpadded(route.unpadded !== '0');
  view.curve.setStacked(route.stack !== 'none');
  view.stack.value = route.stack === 'none' ? 'none' : '';
  setLarge(view.panels, PANELS.indexOf(route.large));
}

/* The panel with the focus, else the table; again: all as they were. */
export function enlarge(view) {
  const at = view.panels.findIndex((panel) => panel.node.contains(document.activeElement));
  view.context.choose({ large: view.context.route.large ? '' : PANELS[at < 0 ? PANELS.indexOf('table') : at] });
}

/* onChoose(what the URL says of it). */
export function stackChoice(onChoose) {
  const select = el(
    'select',
    { class: 'small-select', 'aria-label': 'Stack the curve by', title: 't' },
    el('option', { value: '' }, 'by category'),
    el('option', { value: 'none' }, 'as one'),
  );
  select.addEventListener('change', () => onChoose(select.value));
  return select;
}

/* The summary with the person's rules of the URL; with rules that cannot be read, without them. */
export async function askWithRules(view, place, rules, signal) {
  view.rules = rules;
  view.context.banners.drop('rules');
  if (rules) {
    const ask = asker({ ...place, category_rules: rules }, signal);
    try {
      return { ask, answer: await ask('summary') };
    } catch (error) {
      if (error.status !== 400 || !/^category_rules: /.test(error.message)) throw error;
      view.context.banners.set('rules', { text: `The rules of this link cannot be used: ${error.message} The page is shown without them.` });
    }
  }
  const ask = asker(place, signal);
  return { ask, answer: ask('summary') };
}

/* The rules are typed into a dialog. */
export function editRules(view) {
  const { session, host, module } = view.program.ask.place;
  import('./rules.js').then(({ openRules }) =>
    openRules({ place: { session, host, module }, rules: view.context.route.rules, onRules: (rules) => view.context.choose({ rules }) }),
  );
}

/* The drawer of changes is open while the URL names one, or the drawer itself. Out: {part, hear(route), escape(isInside)}. */
export function whatifDrawer(view) {
  const part = lazy(() => import('./whatif.js'), ({ createWhatif }) => createWhatif(view));
  const isOpen = (route) => Boolean(route.drawer) || route.whatif.length > 0;
  return {
    part,
    hear: (route) => (isOpen(route) ? part.with((it) => it.hear(route)) : part.now?.shut()),
    /* One step back while the focus is in it, else as the last step. */
    escape(isInside) {
      if (!isOpen(view.context.route) || (isInside && !part.now?.has(document.activeElement))) return false;
      part.now?.close();
      return true;
    },
  };
}

/* Opens it by hand; glob: what the changes are to be made to, as the daemon names it. */
export function openWhatif(view, { drawer = 'whatif', glob = '' } = {}) {
  view.context.choose({ drawer, glob });
  view.whatif.part.with((it) => it.take());
}

/* A legend word: only this category; with Ctrl it is added or taken away; again shows all. */
export function onlyCategory(view, category, isAdded) {
  view.context.choose({ filter: toggledCategory(view.context.route.filter, category, isAdded) });
}
