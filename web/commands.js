/* SPDX-License-Identifier: Apache-2.0
 * commands.js: what can be done on every page: keys and commands of the frame. */

import { setSetting, setting } from './lib/settings.js';
import { copyLink } from './widgets/export_menu.js';

/* In: open(href), entries() → rows of the rail, escape() → true if something closed. */
export function frameCommands({ open, entries, escape }) {
  const goTo = entries().map(({ tool, key, title }) => ({
    keys: [`g ${key}`],
    does: `go to ${title.replace(/:.*/, '')}`,
    run: () => open(entries().find((entry) => entry.tool === tool).href),
  }));
  const theme = (name) => ({ does: `theme: ${name}`, run: () => setSetting('theme', name) });
  return [
    { keys: ['Escape'], does: 'one step back', run: escape },
    { keys: ['y'], does: 'copy link to this state', run: () => void copyLink() },
    ...goTo,
    theme('system'),
    theme('light'),
    theme('dark'),
    {
      does: 'single letters as keys: on or off',
      run: () => setSetting('letters', setting('letters') === 'on' ? 'off' : 'on'),
    },
  ];
}
