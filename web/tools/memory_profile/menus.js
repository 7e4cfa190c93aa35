/* SPDX-License-Identifier: Apache-2.0
 * menus.js: what can be done with an allocation, with a time and with a row, where they are.
 * Its own file: page.js builds the views, this acts in them. */

import { time as timeWords } from '../../lib/format.js';
import { around } from '../../lib/range.js';
import { openMenuAt } from '../../widgets/menu.js';
import { MIN_PS } from '../../widgets/timeline.js';
import { copyText } from '../../widgets/toast.js';
import { noteAt } from './keys.js';

/* Of an item of stripes.js. */
function allocationActs({ url, pins, trace }, item, time) {
  const own = pins.item;
  const isPinned = own?.id === item.id;
  const { born_ps: born, freed_ps: freed } = item.block;
  return [
    { word: isPinned ? 'Let the pin go' : 'Pin it', run: () => pins.pinStripe(item, time) },
    {
      word: 'Compare with the pinned one',
      why: !own ? 'nothing is pinned' : isPinned ? 'it is the pinned one' : '',
      key: 'Ctrl+click',
      run: () => pins.pinStripe(item, time, true),
    },
    {
      word: 'Zoom to its life',
      run: () => url.setRange(around([born ?? trace.all[0], freed ?? trace.all[1]], trace.all, MIN_PS, 0.1), true),
    },
    { word: 'Copy what made it', run: () => void copyText(item.made) },
  ];
}

/* what: {item or null, time} of the timeline. */
export function openTimelineMenu(view, { item, time }, place, giveBack) {
  const { url } = view;
  const at = timeWords(time, 1e6);
  const acts = [
    ...(item ? allocationActs(view, item, time) : []),
    { word: `Set the time to ${at}`, run: () => url.setTime(time) },
    { word: `Write a note at ${at}`, key: item ? '' : 't', run: () => noteAt(url, time) },
  ];
  openMenuAt(place, item ? `What to do with ${item.name || item.made}` : `What to do at ${at}`, acts, giveBack);
}

/* A row of a table; name: of the table. */
export function openRowMenu({ url, pins }, row, name, place, giveBack) {
  const isPinned = pins.rowIn(name) === row.id;
  const text = row.op ?? row.line ?? row.address ?? '';
  const at = row.time_ps ?? row.born_ps ?? null;
  const acts = [
    { word: isPinned ? 'Let the pin go' : 'Pin it', run: () => pins.pin(row, name) },
    at != null && { word: `Set the time to ${timeWords(at, 1e6)}`, run: () => url.setTime(at) },
    row.op && { word: 'Show only this op', run: () => url.choose({ filter: `op:"${row.op.replaceAll('"', '')}"` }) },
    text && { word: 'Copy its name', run: () => void copyText(text) },
  ];
  openMenuAt(place, text ? `What to do with ${text}` : 'What to do with the row', acts.filter(Boolean), giveBack);
}
