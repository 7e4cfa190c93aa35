/* SPDX-License-Identifier: Apache-2.0
 * menus.js: what can be done with a buffer, with a row and with a step, where they are; what readers write at a step.
 * Its own file: page.js builds the views, this acts in them. */

import { count, visible } from '../../lib/format.js';
import { notesOf, withNote } from '../../lib/notes.js';
import { categoryWords } from '../../widgets/categories.js';
import { openMenuAt } from '../../widgets/menu.js';
import { createNotesLine, writeNote } from '../../widgets/notes.js';
import { copyText } from '../../widgets/toast.js';
import { keepBeside } from './beside.js';
import { pinItem, zoomTo } from './light.js';
import { onlyCategory } from './look.js';
import { unitWord } from './text.js';

const placeWords = ({ program }, step) => `${unitWord(program.space)} ${count(step)}`;

/* What readers wrote at steps. Out: {node, hear(route), write(step)}. */
export function stepNotes(view) {
  const { context } = view;
  const line = createNotesLine({
    wordsOf: (step) => placeWords(view, step),
    onGo: (step) => view.place.setMoment(step, false),
    onDrop: (step) => context.choose({ note: withNote(context.route.note, step, '') }),
  });
  return {
    node: line.node,
    hear({ note }) {
      const notes = view.program.space ? notesOf(note).filter(({ at }) => at < view.program.space.step_count) : [];
      line.set(notes);
      view.curve.setNotes(notes);
    },
    write: (step) =>
      writeNote({
        at: step,
        place: placeWords(view, step),
        list: context.route.note,
        onSave: (note) => context.choose({ note }),
      }),
  };
}

function stepActs(view, step) {
  const at = placeWords(view, step);
  return [
    { word: `Set the moment to ${at}`, run: () => view.place.setMoment(step, false) },
    { word: `Write a note at ${at}`, run: () => view.notes.write(step) },
  ];
}

export function openStepMenu(view, step, at, giveBack) {
  openMenuAt(at, `What to do at ${placeWords(view, step)}`, stepActs(view, step), giveBack);
}

/* item: of a picture, or a row of the table; step: under the pointer, or null. */
export function openBufferMenu(view, item, at, giveBack, step = null) {
  const { pin } = view.store.state;
  const isPinned = pin != null && pin === item.id;
  const isBuffer = item.id != null && !item.isGroup;
  const name = visible(view.records.get(item.id)?.name ?? item.name ?? item.scope ?? '');
  const why =
    pin == null || String(pin).startsWith('g:') ? 'no buffer is pinned' : isPinned ? 'it is the pinned one' : '';
  const acts = [
    (isBuffer || item.isGroup) && {
      word: isPinned ? 'Let the pin go' : 'Pin it',
      run: () => (isPinned ? view.context.pin(null) : pinItem(view, item)),
    },
    isBuffer && { word: 'Compare with the pinned one', why, key: 'Ctrl+click', run: () => keepBeside(view, item) },
    isBuffer && { word: 'Zoom to its life', run: () => void zoomTo(view, item.id) },
    item.category && {
      word: `Show only ${categoryWords(item.category)}`,
      run: () => onlyCategory(view, item.category, false),
    },
    ...(step == null ? [] : stepActs(view, step)),
    name && { word: 'Copy its name', run: () => void copyText(name) },
  ];
  openMenuAt(at, name ? `What to do with ${name}` : 'What to do with it', acts.filter(Boolean), giveBack);
}
