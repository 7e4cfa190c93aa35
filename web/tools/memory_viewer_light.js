/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_light.js: what is hovered and pinned is lit in every view of the Memory Viewer and stands in its pane;
 * what keys do with the pin and with the panels. */

import { Problem } from '../lib/api.js';
import { later, nextFrame } from '../lib/activity.js';
import { cutMiddle, visible } from '../lib/format.js';
import { lazy } from '../lib/lazy.js';
import { pinText } from '../lib/route.js';
import { around, moved } from '../lib/range.js';
import { LEAST_STEPS } from '../widgets/curve.js';
import { isPhone } from '../widgets/phone_tabs.js';
import { buffersKey } from '../widgets/strips.js';
import { pageDetails } from './memory_viewer_about.js';

const PANE_AFTER_MS = 40;
/* What takes the focus in a panel: the first of these that is there. */
const STOPS = ['[role="slider"]', '[role="listbox"]:not(.filter-list)', '[role="grid"] tbody [tabindex="0"]', '.fold', '.menu-dots'];
const paneParts = lazy(() => import('./memory_viewer_details.js'));

/* What the URL pins. What is in no strip and no row is asked for by itself; what is no buffer here is named. */
export async function setPin(view, { pin }) {
  const id = pin?.kind === 'b' ? pin.id : null;
  let fault = pin && id === null ? `${cutMiddle(visible(pinText(pin)), 40)} is no buffer; nothing is pinned.` : '';
  view.wantedPin = id;
  if (id !== null && view.space && !view.records.isWhole(id)) {
    try {
      await view.records.read(id);
    } catch (error) {
      if (error instanceof Problem && [400, 404].includes(error.status))
        fault = `Buffer ${cutMiddle(visible(id), 40)} is not in this module; showing the peak.`;
    }
    if (view.wantedPin !== id) return;
  }
  if (fault) view.context.banners.set('pin', { text: fault });
  else view.context.banners.drop('pin');
  view.store.set({ pin: fault ? null : id });
  refresh(view);
}

/* The pinned buffer in the middle; the second time its life fills the view. */
export function centrePin(view) {
  const record = view.records.get(view.store.state.pin);
  const span = record && spanOf(record, view.space);
  if (!span) return;
  const { place } = view;
  const [from, to] = place.range;
  const isAgain = view.centred === record.id && !place.isWhole;
  view.centred = record.id;
  const all = [0, view.space.step_count];
  if (isAgain || place.isWhole) place.setRange(around(span, all, LEAST_STEPS));
  else place.setRange(moved([from, to], all, (span[0] + span[1] - from - to) / 2));
}

/* A double click on a buffer: pinned, and its life fills the view. */
export async function zoomTo(view, id) {
  if (view.store.state.pin !== id) view.context.pin(id);
  if (!view.records.isWhole(id)) await view.records.read(id).catch(() => {});
  const record = view.records.get(id);
  const span = record && spanOf(record, view.space);
  if (span) view.place.setRange(around(span, [0, view.space.step_count], LEAST_STEPS));
}

/* The next buffer in the order of the table. */
export async function byBuffer(view, direction) {
  const row = await view.table.beside(view.store.state.pin, direction);
  if (row && !row.isGroup) view.context.pin(row.id);
}

/* A panel by its number: its tab on a phone, else the focus goes to what it shows. */
export function toPanel(view, at) {
  if (isPhone()) {
    view.context.choose({ view: at === 0 ? '' : view.tabs.ids[at] });
    return true;
  }
  const panel = view.panels[at].node;
  if (panel.hidden) return false;
  const isSeen = (node) => node?.checkVisibility?.() ?? true;
  STOPS.map((each) => panel.querySelector(each)).find((node) => node && isSeen(node))?.focus();
  panel.scrollIntoView({ block: 'nearest' });
  return true;
}

/* Once a frame, however often the pointer moved. */
export function refresh(view) {
  nextFrame(view.light);
}

/* Lights what is hovered and pinned in every view, and fills the pane. */
export function lightUp(view) {
  if (!view.space) return;
  const { hover, pin } = view.store.state;
  const hovered = hover?.startsWith('b:') ? hover.slice(2) : null;
  const rankOf = (id, order) => view.table.rankOf(id, order);
  view.strips.mark(hover, pin === null ? null : buffersKey(pin), rankOf);
  view.table.mark(hovered, pin);
  view.map.mark(hovered, pin);
  const lit = view.records.get(hovered ?? pin);
  view.curve.showSpan(lit ? spanOf(lit, view.space) : null);
  if (hovered !== null) view.records.want(hovered);
  view.takeBack?.();
  view.takeBack = later(
    () => showDetails(view, pin ?? hovered, hover, pin !== null),
    hovered !== null && pin === null ? PANE_AFTER_MS : 0,
  );
}

/* The pane follows a pointer that rests; what moves along a strip is named by the tooltip. */
function showDetails(view, id, hover, isPinned) {
  if (!view.space) return;
  const { details } = view.context;
  const mine = (view.inPane = {});
  const record = id === null ? null : view.records.get(id);
  const merged = id === null && hover ? view.strips.barOfKey(hover) : null;
  const show = (of) => paneParts.with((parts) => view.inPane === mine && details.show(of(parts)));
  if (record) show((parts) => parts.bufferDetails(record, view.space, isPinned));
  else if (merged) show((parts) => parts.mergedDetails(merged, view.space));
  else details.show(view.window.now?.details() ?? pageDetails(view.space));
}

/* Steps in which a buffer lives; all of them when it lives for the whole program. */
function spanOf(record, space) {
  if (record.is_indefinite) return [0, space.step_count];
  if (record.born_step === null || record.born_step === undefined) return null;
  return [record.born_step, record.dies_step ?? space.step_count];
}
