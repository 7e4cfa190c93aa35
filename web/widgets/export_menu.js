/* SPDX-License-Identifier: Apache-2.0
 * export_menu.js: what every panel has behind ⋯, loaded when that is opened; links that are copied and saved. */

import { linkHere } from '../lib/subject.js';
import { copyText } from './toast.js';

/* what: {name, title, drawing, table, csv}, see export_entries.js. Out: entries for createPanel({menu}) or createMenu. */
export const exportEntries = (what) => async () => (await import('./export_entries.js')).entriesOf(what);

/* The address of this page as it is now. */
export function copyLink() {
  return copyText(linkHere());
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
