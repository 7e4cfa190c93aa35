/* SPDX-License-Identifier: Apache-2.0
 * export.mjs: tables that leave the page, and what the palette finds, without a browser. */

import { csvText, markdownText, shownTable } from '../../../web/lib/export.js';
import { match, rank } from '../../../web/widgets/palette.js';
import { keyOf, spokenKey } from '../../../web/lib/keys.js';
import { escapeXml } from '../../../web/lib/picture.js';

const TABLE = {
  columns: [
    { key: 'name', title: 'Name' },
    { key: 'size_bytes', title: 'Size, bytes' },
    { key: 'source', title: 'Source', isSource: true },
  ],
  rows: [
    { name: 'fusion.1', size_bytes: 2147483648, source: 'model.py:41' },
    { name: '=cmd|"x"', size_bytes: -5, source: null },
    { name: 'a,b\nc', size_bytes: null, source: '@d' },
  ],
};

export function run({ test, equal, truth }) {
  test('CSV: units in the header, exact numbers, no formulas', () => {
    equal(
      csvText(TABLE),
      'name,size_bytes,source\r\n' +
        'fusion.1,2147483648,model.py:41\r\n' +
        '"\'=cmd|""x""",-5,\r\n' +
        '"a,b\nc",,\'@d\r\n',
    );
  });
  test('the switch leaves out the columns of source paths', () => {
    equal(
      shownTable(TABLE, true).columns.map(({ key }) => key),
      ['name', 'size_bytes'],
    );
    truth(!csvText(shownTable(TABLE, true)).includes('model.py'), 'a path is still there');
    equal(shownTable(TABLE, false).columns.length, 3);
  });
  test('Markdown: numbers to the right, signs escaped, 50 rows and the rest in words', () => {
    const rows = Array.from({ length: 60 }, (none, at) => ({ name: `a|${at}`, size_bytes: at, source: '' }));
    const text = markdownText({ ...TABLE, rows }, 'Live', 'session');
    truth(text.includes('| --- | ---: | --- |'), text.slice(0, 200));
    truth(text.includes('| a\\|49 | 49 |  |'), 'row 50 is not there');
    truth(!text.includes('a\\|50'), 'row 51 is there');
    truth(text.includes('10 more rows: use CSV.'), 'the rest is not said');
  });
  test('Markdown: a name mentions nobody, refers to nothing and links nowhere', () => {
    const rows = [{ name: '@someone #1 GH-2 http://a www.b', size_bytes: 1, source: '' }];
    const text = markdownText({ ...TABLE, rows }, 'Live', 'session');
    truth(text.includes('| @&#8203;someone #&#8203;1 GH-&#8203;2 http:&#8203;//a www&#8203;.b |'), text);
  });
  test('names in an SVG stay text', () => {
    equal(escapeXml('<b>&"\u0001'), '&lt;b&gt;&amp;&quot;\ufffd');
  });
  test('a few letters find a command, whole words first', () => {
    truth(match('gmv', 'Go to Memory Viewer'), 'word starts');
    equal(match('xyz', 'Go to Memory Viewer'), null);
    const found = rank('theme', ['The memory of it', 'Theme: dark'], (text) => text);
    equal(
      found.map(({ item }) => item),
      ['Theme: dark', 'The memory of it'],
    );
    equal(match('dark theme', 'Theme: dark') != null, true, 'words in any order');
    equal(
      rank('', ['b', 'a'], (text) => text).map(({ item }) => item),
      ['b', 'a'],
    );
  });
  test('keys are what they print', () => {
    const key = (key, more = {}) =>
      keyOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
    equal(key('?', { shiftKey: true }), '?');
    equal(key('N', { shiftKey: true }), 'N');
    equal(key('K', { metaKey: true }), 'Ctrl+k');
    equal(key('ArrowUp', { altKey: true }), 'Alt+ArrowUp');
    equal(key('Enter', { shiftKey: true }), 'Shift+Enter');
    equal(spokenKey('g v'), 'g then v');
    equal(spokenKey('+'), '+');
    equal(spokenKey('Shift+Enter'), 'Shift Enter');
  });
}
