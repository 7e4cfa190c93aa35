/* SPDX-License-Identifier: Apache-2.0
 * table_menu.js: what stands behind ⋯ of the table of buffers. */

import { setSetting } from '../../lib/settings.js';
import { isWithoutPaths } from '../../lib/subject.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { copyText } from '../../widgets/toast.js';

/* Address of all rows that the filter keeps, as CSV. */
function csvLink(view, wanted) {
  const { by, filter, ...rest } = wanted;
  const kept = [view.place.within, filter].filter(Boolean).join(' ');
  const params = { ...view.ask.place, ...rest, filter: kept, by, format: 'csv', paths: isWithoutPaths() ? 'without' : '' };
  const url = new URL(`api/v1/memory_viewer/${by ? 'groups' : 'buffers'}`, document.baseURI);
  for (const [name, value] of Object.entries(params)) if (value !== '') url.searchParams.set(name, value);
  return url.href;
}

/* wanted(): what is asked for now. Out: entries of menu.js. */
export function tableMenu({ view, table, wanted }) {
  const exports = exportEntries({ name: 'buffers', title: 'Buffers', csv: () => csvLink(view, wanted()) });
  const rowLink = () => {
    const row = table.activeRow;
    return row ? view.context.linkHere({ pin: row.isGroup ? { kind: 'g', id: row.key } : { kind: 'b', id: row.id } }) : null;
  };
  return [
    exports(),
    {
      word: 'Leave out source paths',
      isOn: isWithoutPaths(),
      run: () => setSetting('paths', isWithoutPaths() ? 'with' : 'without'),
    },
    explainEntry('table'),
    { word: 'Copy chosen rows', key: 'Ctrl+c', run: () => table.copy('tabs') },
    { word: 'Copy chosen rows as Markdown', run: () => table.copy('markdown') },
    {
      word: 'Copy link to the row',
      why: rowLink() ? '' : 'no row is chosen',
      run: () => copyText(new URL(rowLink(), document.baseURI).href),
    },
    ...table.columns().map(({ key, title, isShown }) => ({
      word: `Column ${title.replace(/, [KMGT]?i?B$/, '')}`,
      isOn: isShown,
      run: () => table.setColumnShown(key, !isShown),
    })),
  ];
}
