/* SPDX-License-Identifier: Apache-2.0
 * acts.js: what can be done with a frame; buttons of the pane, and the menu of a frame in a picture. Its own file: both
 * have the same acts. */

import { openMenuAt } from '../../widgets/menu.js';
import { copyText } from '../../widgets/toast.js';
import { addFilter, quoted } from './state.js';

/* frame: {id, function, file}. Out: [{word: of a button, title: what it does, run}]. */
export function frameActs({ choose, state }, frame) {
  const add = (kind) => () => choose(addFilter(state, kind, quoted(frame.function || frame.file)));
  const pin = { kind: 'f', id: frame.id };
  return [
    { word: 'only this', title: 'Keep stacks through it (focus)', run: add('focus') },
    { word: 'without it', title: 'Leave out stacks through it (ignore)', run: add('ignore') },
    { word: 'hide', title: 'Remove the frame from all stacks', run: add('hide') },
    { word: 'from here', title: 'Cut off what is above it (show from)', run: add('show_from') },
    { word: 'callers', title: 'Callers and callees (4)', run: () => choose({ view: 'callers', pin }) },
    { word: 'source', title: 'Its file, line by line (5)', run: () => choose({ view: 'source', pin }) },
    {
      word: 'sandwich',
      title: 'All its callers above, all its callees below',
      run: () => choose({ view: '', pivot: frame.id }),
    },
  ];
}

/* The menu of a frame at a place of the window; text: its name. */
export function openFrameMenu(url, frame, text, place, giveBack) {
  const entries = frameActs(url, frame).map(({ title, run }) => ({ word: title, run }));
  openMenuAt(
    place,
    `What to do with ${text}`,
    [...entries, { word: 'Copy its name', run: () => copyText(text) }],
    giveBack,
  );
}
