/* SPDX-License-Identifier: Apache-2.0
 * pane.js: the width of the details pane, by drag or arrow keys, and whether it is there at all.
 * Where the pane is a drawer or a sheet, it opens and closes instead; so it does on a page whose picture has all the
 * width until something is pinned. */

import { button, el } from '../lib/dom.js';
import { onSetting, setSetting, setting } from '../lib/settings.js';

export const PANE_MIN_PX = 240;
export const PANE_MAX_PX = 560;
const DEFAULT_PX = 320;
const STEP_PX = 20;
const wide = matchMedia('(min-width: 87.5rem)');

const clamp = (px) => Math.max(PANE_MIN_PX, Math.min(PANE_MAX_PX, Math.round(px)));

/* node: the pane; toggleDrawer(). Out: {toggle(), onPin(isOnPin): the page opens it for what is pinned}. */
export function startPane(node, toggleDrawer) {
  const handle = el('div', {
    class: 'pane-handle',
    role: 'separator',
    tabindex: '0',
    'aria-orientation': 'vertical',
    'aria-label': 'Width of the details pane',
    'aria-controls': node.id,
    'aria-valuemin': String(PANE_MIN_PX),
    'aria-valuemax': String(PANE_MAX_PX),
  });
  node.prepend(handle);
  let isOnPin = false;
  const toggle = () => {
    if (wide.matches) setSetting('pane', isColumn() ? 'shut' : 'open');
    else toggleDrawer();
  };
  /* Of a page that opens it on a pin only who asked for it has it as a column. */
  const isColumn = () => (isOnPin ? setting('pane') === 'open' : setting('pane') !== 'shut');
  node.after(button('pane-edge', toggle, '⟨', { 'aria-label': 'Details pane', title: 'Details (q)' }));
  const place = () => {
    const px = clamp(Number(setting('pane_px')) || DEFAULT_PX);
    document.documentElement.style.setProperty('--pane', `${px / 16}rem`);
    document.body.classList.toggle('is-pane-shut', !isOnPin && !isColumn());
    document.body.classList.toggle('is-pane-drawer', isOnPin && !isColumn());
    handle.setAttribute('aria-valuenow', String(px));
  };
  const widen = (px) => setSetting('pane_px', clamp(px));
  const drag = (event) => widen(window.innerWidth - event.clientX);
  handle.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener('pointermove', drag);
    handle.focus();
  });
  handle.addEventListener('pointerup', () => handle.removeEventListener('pointermove', drag));
  handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', drag));
  handle.addEventListener('dblclick', () => widen(DEFAULT_PX));
  handle.addEventListener('keydown', (event) => {
    const now = Number(handle.getAttribute('aria-valuenow'));
    const to = { ArrowLeft: now + STEP_PX, ArrowRight: now - STEP_PX, Home: PANE_MIN_PX, End: PANE_MAX_PX }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    widen(to);
  });
  onSetting((name) => {
    if (name === 'pane' || name === 'pane_px') place();
  });
  place();
  return {
    toggle,
    onPin(next) {
      isOnPin = next;
      place();
    },
  };
}
