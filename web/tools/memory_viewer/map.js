/* SPDX-License-Identifier: Apache-2.0
 * map.js: the panel of the allocation map. It folds where there is no room; what draws it is loaded
 * when it is to be seen, or a key asks for it. */

import { nextFrame } from '../../lib/activity.js';
import { el, fill } from '../../lib/dom.js';
import { lazy } from '../../lib/lazy.js';
import { onSetting, setSetting, setting } from '../../lib/settings.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';

/* Where the four panels have no room one above the other. */
const wide = matchMedia('(min-width: 62.5rem) and (min-height: 40rem)');
const low = matchMedia('(max-height: 50rem)');
const isFolded = () => wide.matches && (setting('map') || (low.matches ? 'shut' : 'open')) === 'shut';

/* actions: as of map_view.js. Out: {panel, load(), start(route), hear(route), setView(), setPlace(), fit(offsets),
 * mark(hover, pin, group), showStep(step), search(direction), focusFind(), nextColour(), cancel(), destroy()}. */
export function createMapPanel(view, actions) {
  const exports = exportEntries({
    name: 'map',
    title: 'Allocation map',
    drawing: () => !panel.body.hidden && !isFolded() && (part.now?.map.drawing() ?? null),
    table: () => part.now.map.table(),
  });
  const panel = createPanel('panel-map', 'Allocation map', {
    menu: () => [
      exports(),
      { word: 'Show all', key: '0', run: () => view.showAll() },
      { word: 'Next colour', key: 'c', run: () => nextColour() },
      { word: 'Centre the pin', key: 'f', run: () => view.centrePin(), why: view.store.state.pin === null ? 'nothing is pinned' : '' },
      explainEntry('map'),
    ],
  });
  const part = lazy(
    () => import('./map_view.js'),
    ({ createMapView }) => createMapView(view, panel, () => !isFolded(), actions),
  );
  let shown = null; // once the space that is open was asked for
  const show = () => {
    shown ??= Promise.resolve(part.with((it) => it.start())).then(() => nextFrame(view.light));
    return shown;
  };
  const use = async (act) => {
    await show();
    act(part.now);
  };
  const nextColour = () => use((it) => it.nextColour());
  const foldButton = el('button', {
    type: 'button',
    class: 'fold',
    'aria-label': 'Allocation map',
    on: { click: () => setSetting('map', isFolded() ? 'open' : 'shut') },
  });
  panel.head.prepend(foldButton);
  panel.node.dataset.explain = 'map';
  const drawFold = () => {
    const isShut = isFolded();
    panel.node.classList.toggle('is-folded', isShut);
    foldButton.setAttribute('aria-expanded', String(!isShut));
    fill(foldButton, isShut ? '▸' : '▾');
    if (isShut || !view.space) return;
    if (shown) part.now?.load();
    else show();
  };
  const offFold = onSetting((name) => name === 'map' && drawFold());
  for (const each of [wide, low]) each.addEventListener('change', drawFold);
  drawFold();
  if (!isFolded()) part.warm();

  return {
    panel,
    load: () => (shown ? part.now?.load() : null),
    /* A space was opened. What the URL asks of a map that is folded is heard as well. */
    start(route) {
      shown = null;
      return isFolded() && !route.find && !route.color ? null : show();
    },
    hear: (route) => shown && part.now?.hear(route),
    setView: () => part.now?.setView(),
    setPlace: () => part.now?.setPlace(),
    fit: (offsets) => part.now?.fit(offsets),
    mark: (...lit) => part.now?.mark(...lit),
    showStep: (step) => part.now?.map.showStep(step),
    search: (direction) => use((it) => it.search(direction)),
    focusFind: () => use((it) => it.focusFind()),
    nextColour,
    cancel: () => part.now?.map.cancel() ?? false,
    destroy() {
      offFold();
      for (const each of [wide, low]) each.removeEventListener('change', drawFold);
      part.now?.destroy();
    },
  };
}
