/* SPDX-License-Identifier: Apache-2.0
 * notes.mjs: notes on a time axis as the URL has them. */

import { MAX_TEXT, notesOf, withNote } from '../../../web/lib/notes.js';
import { emptyRoute, format, parse } from '../../../web/lib/route.js';

export function run({ test, equal }) {
  test('notes: a link has them in the order of time, whatever their words are', () => {
    const list = withNote(withNote([], 30, ' later: a&b '), 20, '<b>first</b>');
    equal(list, ['20:<b>first</b>', '30:later: a&b']);
    equal(notesOf(parse(format({ ...emptyRoute(), note: list })).note), [
      { at: 20, text: '<b>first</b>' },
      { at: 30, text: 'later: a&b' },
    ]);
  });

  test('notes: another one at a time takes its place, an empty one takes it away', () => {
    equal(withNote(['20:one', '30:two'], 20, 'three'), ['20:three', '30:two']);
    equal(withNote(['20:one', '30:two'], 30, '  '), ['20:one']);
  });

  test('notes: what is none is left out, what is too long is cut, and there are not too many', () => {
    equal(notesOf(['x', '-1:a', '5:', ':a', '7:ok']), [{ at: 7, text: 'ok' }]);
    equal(notesOf([`1:${'a'.repeat(500)}`])[0].text.length, MAX_TEXT);
    equal(notesOf(Array.from({ length: 90 }, (_, at) => `${at}:n`)).length, 20);
  });
}
