/* SPDX-License-Identifier: Apache-2.0
 * light.js: what is hovered and pinned is lit in every view of the Memory Viewer and stands in its pane;
 * what keys do with the panels and with the pin: centre it, zoom to it, go to the next. */

import { Problem } from '../../lib/api.js';
import { later, nextFrame } from '../../lib/activity.js';
import { bytes, cutMiddle, visible } from '../../lib/format.js';
import { button, el } from '../../lib/dom.js';
import { lazy } from '../../lib/lazy.js';
import { around, moved, whole } from '../../lib/range.js';
import { pinText } from '../../lib/route.js';
import { MIN_STEPS } from '../../widgets/curve.js';
import { isPhone } from '../../widgets/phone_tabs.js';
import { buffersKey } from '../../widgets/strips.js';
import { besidePart } from './beside.js';
import { bufferDetails, mergedDetails, pageDetails } from './details.js';
import { wayOf } from './groups.js';
import { nextPicture, openWhatif, PANELS, pictureOf } from './look.js';
import { windowWords } from './text.js';

const PANE_AFTER_MS = 40;
/* What takes the focus in a panel: the first of these that is there. */
const STOPS = [
  '[role="slider"]',
  '[role="listbox"]:not(.filter-list)',
  ':is([role="grid"], [role="treegrid"]) tbody [tabindex="0"]',
  '.menu-dots',
];
const groupParts = lazy(() => import('./pinned_group.js'));

/* What the URL pins: a buffer, or a group of the table. What is in no strip and no row is asked for by itself; what is
 * not here is named. */
export async function setPin(view, { pin, group }) {
  if (pin?.kind === 'g' && wayOf(group)) {
    view.wantedPin = pinText(pin);
    /* While the moment is being moved the group keeps what it has. */
    if (!view.place.isMoving) await groupParts.with((parts) => parts.pinGroup(view, refresh));
    return;
  }
  const id = pin?.kind === 'b' ? pin.id : null;
  let fault = pin && id == null ? `${cutMiddle(visible(pinText(pin)), 40)} is no buffer; nothing is pinned.` : '';
  view.wantedPin = id;
  view.groupAsked?.abort();
  view.group = null;
  if (id != null && view.program.space && !view.records.isWhole(id)) {
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
  if (id != null && !fault) view.table.reveal(id);
  refresh(view);
}

/* item: a buffer, or a row that stands for a group. */
export function pinItem(view, item) {
  if (item.isGroup) view.context.pin(item.key, 'g');
  else if (item.id != null) view.context.pin(item.id);
}

/* A panel by its number: its tab on a phone, else the focus goes to what it shows. */
export function toPanel(view, at) {
  if (isPhone()) {
    view.context.choose({ view: at === 0 ? '' : view.tabs.ids[at] });
    return true;
  }
  const panel = view.panels[at].node;
  if (panel.hidden) return false;
  if (PANELS[at] === 'curve' && pictureOf(view.context.route) === 'offsets') nextPicture(view);
  if (PANELS[at] === 'map' && pictureOf(view.context.route) !== 'offsets') view.context.choose({ stack: 'offsets' });
  if (PANELS[at] === 'table' && ['code', 'patterns'].includes(view.context.route.view))
    view.context.choose({ view: '' });
  const isSeen = (node) => node?.checkVisibility?.() ?? true;
  const focus = () => {
    STOPS.map((each) => panel.querySelector(each))
      .find((node) => node && isSeen(node))
      ?.focus();
    panel.scrollIntoView({ block: 'nearest' });
  };
  /* The map may still be on its way. */
  if (PANELS[at] === 'map') Promise.resolve(view.map.show()).then(focus);
  else focus();
  return true;
}

/* Once a frame, however often the pointer moved. */
export function refresh(view) {
  nextFrame(view.light);
}

/* The group that is pinned, or null. */
const groupOf = (view) => (view.group && view.group.id === view.store.state.pin ? view.group : null);

/* Lights what is hovered and pinned in every view, and fills the pane. */
export function lightUp(view) {
  if (!view.program.space) return;
  const { hover, pin } = view.store.state;
  const hovered = hover?.startsWith('b:') ? hover.slice(2) : null;
  /* of all that lives, so of no merged bar that a filter thinned out */
  const rankOf = (id, order) => (view.context.route.filter ? null : view.table.rankOf(id, order));
  const group = groupOf(view);
  view.strips.mark({ hover, pin: pin == null ? null : buffersKey(pin), runs: group?.runs, rankOf });
  view.table.mark(hovered, pin);
  view.map.mark(hovered, pin, group);
  view.curve.setLit(litIds(view, hovered, pin, group));
  view.curve.showSpans((hovered ?? pin) ? spansOf(view, hovered ?? pin) : (view.window.now?.line.spans ?? []));
  view.curve.setNext(nextPeakOf(view, hovered ?? pin));
  if (hovered != null) view.records.want(hovered);
  view.takeBack?.();
  view.takeBack = later(
    () => showDetails(view, pin ?? hovered, hover, pin != null),
    hovered != null && pin == null ? PANE_AFTER_MS : 0,
  );
}

/* Sets of ids of what is hovered and of what is pinned, else found; the same set as long as the same is pinned. */
function litIds(view, hovered, pin, group) {
  const of = group ?? pin ?? view.found ?? null;
  const { beside = null } = view;
  if (view.litOf !== of || view.litNow !== group?.now || view.litBeside !== beside) {
    const own = group ? group.all.rows.map(({ id }) => id) : pin == null ? (view.found ?? []) : [pin];
    const all = [...own, ...(beside ? [beside.id] : [])];
    Object.assign(view, {
      litOf: of,
      litNow: group?.now,
      litBeside: beside,
      litPinned: of == null ? null : new Set(all),
    });
  }
  return { hovered: hovered == null || hovered === pin ? null : new Set([hovered]), pinned: view.litPinned };
}

/* The pane follows a pointer that rests; what moves along a strip is named by the tooltip. */
function showDetails(view, id, hover, isPinned) {
  if (!view.program.space) return;
  const { details } = view.context;
  const mine = (view.inPane = {}); // while the parts of a group are loaded
  const record = id == null ? null : view.records.get(id);
  const group = isPinned ? groupOf(view) : null;
  const merged = id == null && hover ? view.strips.barOfKey(hover) : null;
  if (group)
    groupParts.with(
      (parts) =>
        view.inPane === mine &&
        details.show(
          withWhatif(
            view,
            parts.groupDetails(group, view.program.space, view.place, (row) => pinItem(view, row)),
            group.now.glob,
          ),
        ),
    );
  else if (record)
    details.show(
      withWhatif(
        view,
        bufferDetails(record, view.program.space, isPinned, isPinned ? view.walk.parts(record) : null),
        isPinned && record.glob,
        isPinned && besidePart(view, record),
      ),
    );
  else if (merged) details.show(mergedDetails(merged, view.program.space));
  else details.show(view.window.now?.details() ?? view.code.part.now?.details() ?? pageDetails(view.program.space));
}

/* What is pinned in the device's memory can be changed, if a change can name it. pair: what it is compared with, or
   null. */
function withWhatif(view, shown, glob, pair = null) {
  const before = pair ? [pair] : [];
  if (!glob || view.program.space.space !== 0) return { ...shown, parts: [...before, ...shown.parts] };
  const [facts, ...rest] = shown.parts;
  return {
    ...shown,
    parts: [
      ...before,
      facts,
      el(
        'p',
        {},
        button('text-button', () => openWhatif(view, { glob }), 'What if…'),
      ),
      ...rest,
    ],
  };
}

/* Steps in which a buffer, or one of a pinned group, lives. */
export function spansOf(view, id) {
  const group = groupOf(view);
  if (group && id === group.id) return group.spans;
  const record = view.records.get(id);
  const span = record && spanOf(record, view.program.space);
  return span ? [span] : [];
}

/* Pure: where the peak is without it, and what it is called there; null where it saves nothing and moves nothing. */
export function nextPeak({ saves_bytes: saves, next_peak_step: step }, space) {
  if (step == null || (saves === 0 && step === space.peak_step)) return null;
  return { step, word: `peak without it ${bytes(space.peak_bytes - saves)}` };
}

function nextPeakOf(view, id) {
  if (id == null) return null;
  const group = groupOf(view);
  const saving = group && id === group.id ? group.now.saving : null;
  const known = saving ? { saves_bytes: saving.bytes, next_peak_step: saving.next_peak_step } : view.records.get(id);
  return known && nextPeak(known, view.program.space);
}

/* Steps in which a buffer lives; all of them when it lives for the whole program. */
function spanOf(record, space) {
  if (record.is_indefinite) return [0, space.step_count];
  if (record.born_step == null) return null;
  return [record.born_step, record.dies_step ?? space.step_count];
}

/* ---- what keys and a double click do with the pin ---- */

/* The pinned buffer in the middle; the second time its life fills the view. */
export function centrePin(view) {
  const { pin } = view.store.state;
  const spans = spansOf(view, pin);
  if (spans.length === 0) return;
  const span = [spans[0][0], spans[spans.length - 1][1]];
  const { place } = view;
  const [from, to] = place.range;
  const isAgain = view.centred === pin && !place.isWhole;
  view.centred = pin;
  const all = [0, view.program.space.step_count];
  if (isAgain || place.isWhole) place.setRange(around(span, all, MIN_STEPS));
  else place.setRange(moved([from, to], all, (span[0] + span[1] - from - to) / 2));
}

/* A double click on a buffer: pinned, and its life fills the view. */
export async function zoomTo(view, id) {
  if (view.store.state.pin !== id) view.context.pin(id);
  if (!view.records.isWhole(id)) await view.records.read(id).catch(() => {});
  const [span] = spansOf(view, id);
  if (span) view.place.setRange(around(span, [0, view.program.space.step_count], MIN_STEPS));
}

/* The offsets of the window are typed; one that is only begun ends at the moment, and without one it takes the steps
 * in view. */
export async function editOffsets(view) {
  const { place } = view;
  const { space } = view.program;
  const [from, to] = whole(place.range);
  if (to <= from) return;
  const window = () => place.shownWindow ?? [from, to - 1];
  const take = (offsets) => (offsets || place.window) && place.setWindow(window(), offsets);
  await view.window.with(({ line }) =>
    line.editOffsets(place.offsets, `Offsets of ${windowWords(space, window())}`, take),
  );
}

/* The next buffer in the order of the table. */
export async function byBuffer(view, direction) {
  const row = await view.table.beside(view.store.state.pin, direction);
  if (row) pinItem(view, row);
}
