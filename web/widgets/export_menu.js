/* SPDX-License-Identifier: Apache-2.0
 * export_menu.js: what every panel has behind ⋯ (PNG, SVG, CSV, Markdown, copy link); links that are copied and saved.
 * */

import { begin } from '../lib/activity.js';
import { captioned, csvText, markdownText, save, saveText, shownTable, toPng, toSvg } from '../lib/export.js';
import { emptyRoute, format, openLink } from '../lib/route.js';
import { setSetting, setting } from '../lib/settings.js';
import { factsLine, fileName, isWithoutPaths, linkHere, referenceNow } from '../lib/subject.js';
import { copyPicture, copyText, toast } from './toast.js';

/* The address of this page as it is now. */
export function copyLink() {
  return copyText(linkHere());
}

/* What is shown becomes a side of a comparison; nothing where no program is shown. */
function compareEntries() {
  const here = referenceNow();
  if (!here) return [];
  const kept = setting('last_a');
  const why = !kept ? 'nothing was set as A' : kept === here ? 'A is what is shown here' : '';
  return [
    { word: 'Set as A', run: setAsA },
    { word: 'Compare with A', why, run: compareWithA },
  ];
}

/* For `Compare with A`, here or in another session. */
export function setAsA() {
  const here = referenceNow();
  if (here) setSetting('last_a', here);
  toast(here ? 'Set as A: open another program and choose Compare with A' : 'No program is shown here');
}

/* What was set as A beside what is shown. */
export function compareWithA() {
  const [a, b] = [setting('last_a'), referenceNow()];
  if (!a || !b) {
    toast(a ? 'No program is shown here' : 'Nothing was set as A');
    return;
  }
  openLink(format({ ...emptyRoute(), tool: 'compare', a, b }));
}

/* Saves what the daemon answers at this address. */
export function downloadLink(href) {
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}

/* Counted as under way until it is saved or copied. */
async function counted(act) {
  const end = begin();
  try {
    await act();
  } finally {
    end();
  }
}

/* Browsers give the clipboard to pages from this machine and by TLS alone. */
const clipboardWhy = () =>
  navigator.clipboard?.write && globalThis.ClipboardItem ? '' : 'the browser allows it on localhost and https alone';

/* The picture as PNG; what makes it is given as a promise, so that the browser still knows of the click. */
function pictureToClipboard(title, drawing) {
  const made = (async () => toPng(captioned(title, await drawing())))();
  return counted(() => copyPicture(made));
}

/* In: name ("curve", part of the file name), title (text or function), and what there is:
 * - drawing() → {width, height, paint(context), legend} or a promise of it, see captioned() of export.js;
 *   null: not now, and no table of it either;
 * - table() → {columns, rows} or a promise of it, see export.js; what stands behind the picture;
 * - csv() → link to all rows on the server, instead of those of table().
 * Out: what gives the entries of menu.js as they are then, for createPanel({menu}) or createMenu. */
export const exportEntries = (what) => () => entriesOf(what);

function entriesOf({ name, title, drawing = null, table = null, csv = null }) {
  const titleNow = () => (typeof title === 'function' ? title() : title);
  const picture = (ending) =>
    counted(async () => {
      const made = captioned(titleNow(), await drawing());
      if (ending === 'png') save(await toPng(made), fileName(name, 'png'));
      else saveText(toSvg(made, titleNow()), fileName(name, 'svg'), 'image/svg+xml');
    });
  const rowsFor = (act) => counted(async () => act(shownTable(await table())));
  const why = drawing && !drawing() ? 'nothing is drawn' : '';
  return [
    drawing && { word: 'Picture (PNG)', run: () => picture('png'), why },
    drawing && { word: 'Picture (SVG)', run: () => picture('svg'), why },
    drawing && {
      word: 'Picture to the clipboard',
      run: () => pictureToClipboard(titleNow(), drawing),
      why: why || clipboardWhy(),
    },
    (table || csv) && {
      word: 'Table (CSV)',
      why: csv ? '' : why,
      run: () =>
        csv ? downloadLink(csv()) : rowsFor((rows) => saveText(csvText(rows), fileName(name, 'csv'), 'text/csv')),
    },
    table && {
      word: 'Table (Markdown) to the clipboard',
      why,
      run: () => rowsFor((rows) => copyText(markdownText(rows, titleNow(), factsLine()))),
    },
    { word: 'Copy link', key: 'y', run: copyLink },
    { word: 'Saved views…', run: () => counted(async () => (await import('./views.js')).openViews()) },
    ...compareEntries(),
    (drawing || table) && {
      word: 'Leave out source paths',
      isOn: isWithoutPaths(),
      run: () => {
        setSetting('paths', isWithoutPaths() ? 'with' : 'without');
        toast(isWithoutPaths() ? 'Source paths are left out' : 'Source paths are kept');
      },
    },
  ].filter(Boolean);
}
