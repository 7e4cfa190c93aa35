/* SPDX-License-Identifier: Apache-2.0
 * keys.js: the one registry of what can be done: keys, the palette and `?` are made from it.
 *
 *   const off = bind([
 *     { keys: ['p'], does: 'moment to the peak', run: () => … },
 *     { keys: ['w', '+'], does: 'zoom in', run: () => … },
 *     { keys: ['g v'], does: 'go to the Memory Viewer', run: () => … },
 *     { keys: ['Ctrl+k'], does: 'find or run', run: () => … },
 *     { keys: [], does: 'set as A', run: () => … },              // in the palette alone
 *     { keys: ['ArrowLeft'], does: 'back by one', run: () => …, within: slider },
 *   ]);
 *
 * - Keys are what `event.key` says: 'n' and 'N' are two keys; 'Ctrl+x' means Ctrl or ⌘, 'Shift+Enter',
 *   'Alt+ArrowUp' as they stand; 'g v' is one key after the other, within 1.5 s.
 * - A single character works only while no text field has focus, and not at all if letters are
 *   switched off in the settings; one bound `within` an element works while focus is in there.
 * - While a dialog is open only keys with Ctrl and those bound within it work.
 * - The row bound last is asked first. run(event) returning false passes the key on.
 * - isOn() false: the row is not there now. `isHidden` rows are not listed (they are listed elsewhere). */

import { isTyping } from './dom.js';
import { setting } from './settings.js';

const SEQUENCE_MS = 1500;
/* What a text field needs for itself. */
const EDITS = /^(Shift\+)?(Enter|Escape|Arrow.*|Home|End|Page.*)$/;

let rows = [];
let begun = null;

/* A key that scrolls, or that a focused control needs, is left to it: true where nothing has the focus. */
export const isUnclaimed = (event) => !event || event.target === document.body || event.target.id === 'main';

/* Adds rows; `group` is their heading in `?`. The answer takes them back. */
export function bind(added, group = 'This page') {
  const mine = added.map((row) => ({ keys: [], within: null, isOn: null, isHidden: false, group, ...row }));
  rows = [...rows, ...mine];
  return () => {
    rows = rows.filter((row) => !mine.includes(row));
  };
}

/* Rows that can be used now: {keys, does, run, group, within}. */
export function bindings() {
  return rows.filter((row) => isUsable(row));
}

function isUsable(row) {
  return (!row.within || row.within.isConnected) && (!row.isOn || row.isOn());
}

/* "Ctrl+k" for a key event; a character that needs Shift is named as it is printed. */
export function keyOf(event) {
  const isCharacter = event.key.length === 1;
  const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : event.key;
  return [
    event.ctrlKey || event.metaKey ? 'Ctrl+' : '',
    event.altKey ? 'Alt+' : '',
    event.shiftKey && (!isCharacter || event.ctrlKey || event.metaKey) ? 'Shift+' : '',
    key,
  ].join('');
}

const isLetter = (key) => Array.from(key.split(' ')[0]).length === 1;

/* What stands below a dialog hears nothing; the browser closes the dialog by Escape. */
const isBehindDialog = (target) =>
  Boolean(target.closest?.('dialog')) || document.querySelector('dialog:modal') != null;

/* Is this row to be asked for `key`, which was pressed at `target`? */
function isMeant(row, key, target) {
  if (!row.keys.includes(key) || !isUsable(row)) return false;
  if (row.within) return row.within.contains(target);
  if (!key.startsWith('Ctrl+') && isBehindDialog(target)) return false;
  if (isLetter(key) && setting('letters') === 'off') return false;
  return !isTyping(target) || !(isLetter(key) || EDITS.test(key));
}

function ask(key, event) {
  for (const row of [...rows].reverse()) {
    if (!isMeant(row, key, event.target)) continue;
    if (row.run(event) !== false) return true;
  }
  return false;
}

function onKey(event) {
  if (event.defaultPrevented || event.isComposing || ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
  const key = keyOf(event);
  const first = begun && event.timeStamp - begun.at < SEQUENCE_MS ? begun.key : '';
  begun = null;
  if ((first && ask(`${first} ${key}`, event)) || ask(key, event)) {
    event.preventDefault();
    return;
  }
  const isFirst = rows.some((row) =>
    row.keys.some((each) => each.startsWith(`${key} `) && isMeant(row, each, event.target)),
  );
  if (isFirst) begun = { key, at: event.timeStamp };
}

export function startKeys(target = document) {
  target.addEventListener('keydown', onKey);
}

const SAID = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc', ' ': 'Space' };
const isApple = () => /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

/* "Ctrl+k" → "Ctrl K" ("⌘ K" on a Mac), "g v" → "g then v". */
export function spokenKey(key) {
  return key
    .split(' ')
    .map((each) =>
      each
        .split(/\+(?=.)/)
        .map((part, at, all) => {
          if (part === 'Ctrl') return isApple() ? '⌘' : 'Ctrl';
          return SAID[part] ?? (all.length > 1 && part.length === 1 ? part.toUpperCase() : part);
        })
        .join(' '),
    )
    .join(' then ');
}
