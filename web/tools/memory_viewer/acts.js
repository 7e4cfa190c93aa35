/* SPDX-License-Identifier: Apache-2.0
 * acts.js: what keys and a double click do with the pin: centre it, zoom to it, go to the next. */

import { around, moved, whole } from '../../lib/range.js';
import { MIN_STEPS } from '../../widgets/curve.js';
import { pinItem, spansOf } from './light.js';
import { windowWords } from './text.js';

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
  const all = [0, view.space.step_count];
  if (isAgain || place.isWhole) place.setRange(around(span, all, MIN_STEPS));
  else place.setRange(moved([from, to], all, (span[0] + span[1] - from - to) / 2));
}

/* A double click on a buffer: pinned, and its life fills the view. */
export async function zoomTo(view, id) {
  if (view.store.state.pin !== id) view.context.pin(id);
  if (!view.records.isWhole(id)) await view.records.read(id).catch(() => {});
  const [span] = spansOf(view, id);
  if (span) view.place.setRange(around(span, [0, view.space.step_count], MIN_STEPS));
}

/* The offsets of the window are typed; one that is only begun ends at the moment, and without one it takes the steps
 * in view. */
export async function editOffsets(view) {
  const { place, space } = view;
  const [from, to] = whole(place.range);
  if (to <= from) return;
  const window = () => place.shownWindow ?? [from, to - 1];
  const take = (offsets) => (offsets || place.window) && place.setWindow(window(), offsets);
  await view.window.with(({ line }) => line.editOffsets(place.offsets, `Offsets of ${windowWords(space, window())}`, take));
}

/* The next buffer in the order of the table. */
export async function byBuffer(view, direction) {
  const row = await view.table.beside(view.store.state.pin, direction);
  if (row) pinItem(view, row);
}
