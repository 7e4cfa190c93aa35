/* SPDX-License-Identifier: Apache-2.0
 * notes.js: the line of notes that stand on a time axis, each a way to its time, and the dialog that asks for the words
 * of one. */

import { button, el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';
import { MAX_NOTES, MAX_TEXT, notesOf, withNote } from '../lib/notes.js';
import { dialogHead, openDialog } from './dialog.js';
import { toast } from './toast.js';

/* wordsOf(at): a time in words; onGo(at), onDrop(at). Out: {node, set([{at, text}])}. */
export function createNotesLine({ wordsOf, onGo, onDrop }) {
  const node = el('ul', { class: 'notes-line', 'aria-label': 'Notes', hidden: true });
  let said = '';
  const row = ({ at, text }) =>
    el(
      'li',
      {},
      button('link-button', () => onGo(at), wordsOf(at)),
      ` ${visible(text)} `,
      button('icon-button', () => onDrop(at), '×', { 'aria-label': `Remove the note at ${wordsOf(at)}` }),
    );
  return {
    node,
    set(notes) {
      const words = JSON.stringify(notes);
      if (words === said) return;
      said = words;
      fill(node, notes.map(row));
      node.hidden = notes.length === 0;
    },
  };
}

/* Asks for the words of a note at a place of the axis; list: of the URL; onSave(list), without it where the words are
   taken away. */
export function writeNote({ at, place, list, onSave }) {
  const notes = notesOf(list);
  const text = notes.find((each) => each.at === at)?.text ?? '';
  if (!text && notes.length >= MAX_NOTES)
    toast(`There are ${MAX_NOTES} notes, as many as the link can hold: remove one first.`);
  else askNote({ place, text, onSave: (words) => onSave(withNote(list, at, words)) });
}

/* Asks for the words of a note; onSave(text), "" takes it away. */
function askNote({ place, text, onSave }) {
  const input = el('input', {
    type: 'text',
    maxlength: String(MAX_TEXT),
    'aria-label': `Note at ${place}`,
    value: text,
  });
  openDialog({
    title: `Note at ${place}`,
    className: 'views',
    content(close) {
      const save = (event) => {
        event.preventDefault();
        close();
        onSave(input.value);
      };
      return [
        dialogHead(`Note at ${place}`, close),
        el(
          'div',
          { class: 'dialog-body' },
          el(
            'form',
            { class: 'view-form', on: { submit: save } },
            input,
            button('text-button', () => {}, 'Save', { type: 'submit' }),
          ),
          el(
            'p',
            { class: 'dim' },
            'The note is shown on the chart and kept in the link of this page. An empty note is removed.',
          ),
        ),
      ];
    },
  });
  input.focus();
  input.select();
}
