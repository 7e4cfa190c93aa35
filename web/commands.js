/* SPDX-License-Identifier: Apache-2.0
 * commands.js: what can be done on every page: keys and commands of the frame. The palette and the
 * dialogs are loaded when they are first opened.
 * Its own file: the rows of keys and commands, to be found by who adds one. */

import { begin } from './lib/activity.js';
import { bytes, when } from './lib/format.js';
import { choose, emptyRoute } from './lib/route.js';
import { listModules, listSessions } from './lib/selection.js';
import { setSetting, setting } from './lib/settings.js';
import { compareWithA, copyLink, setAsA } from './widgets/export_menu.js';
import { nameOf } from './pages.js';

/* Counted as under way until the dialog stands there. What is typed meanwhile is meant for it. */
async function withModule(load, act) {
  const end = begin();
  let typed = '';
  const keep = (event) => {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    typed += event.key;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('keydown', keep, true);
  try {
    const module = await load();
    act(module, typed);
  } finally {
    document.removeEventListener('keydown', keep, true);
    end();
  }
}

const loadHelp = () => import('./widgets/help.js');

export const openSettings = () => withModule(loadHelp, (help) => help.openSettings());
export const openHelp = () => withModule(loadHelp, (help) => help.openHelp(openSettings));

/* take({files}): see open_files.js. */
export const openFilesDialog = (take) =>
  withModule(
    () => import('./open_files.js'),
    (files) => files.openFilesDialog(take),
  );

export const openViews = () =>
  withModule(
    () => import('./widgets/views.js'),
    (views) => views.openViews(),
  );

/* sources: see palette.js. */
export function openPalette(sources, first = '') {
  return withModule(
    async () => {
      const palette = await import('./widgets/palette.js');
      return { palette, commands: await palette.commandsNow() };
    },
    ({ palette, commands }, typed) => palette.openPalette(commands, sources, first + typed),
  );
}

/* What the palette finds besides commands, see palette.js. here() → {row: of pages.js, selection}; routeHere() → the
 * route of what is shown; open(href). */
export function paletteSources({ router, here, routeHere, open }) {
  return {
    async sessions(filter, signal) {
      const list = await listSessions(filter, signal);
      return list.sessions.map(({ id, name: word, modified_at_ms: atMs }) => ({
        word,
        after: `session, ${when(atMs)}`,
        run: () => open(router.link({ ...emptyRoute(), session: id })),
      }));
    },
    async modules(filter, signal) {
      const { selection } = here();
      if (!selection?.session) return [];
      const list = await listModules(selection.session.id, router.route.host, filter, signal);
      return list.modules.map((module) => ({
        word: module.name,
        after: `module, ${module.has_buffer_assignment ? bytes(module.largest_total_bytes) : 'no sizes'}`,
        run: () => router.push({ ...choose(routeHere(), 'module', module.id), tool: '' }),
      }));
    },
    search(text) {
      if (!here().row?.hasSearch || !here().selection?.session) return null;
      return {
        word: text,
        after: 'search all panels of this page',
        run: () => router.push({ ...routeHere(), find: text }),
      };
    },
    moment(text) {
      const patch = here().row?.moment?.(text);
      return patch ? { word: `Go to ${text}`, after: '', run: () => router.push({ ...routeHere(), ...patch }) } : null;
    },
  };
}

/* In: open(href), entries() → rows of the rail, escape() → true if something closed, sources of the
 * palette, togglePane(), takeIn({files}), lookAgain(). */
export function frameCommands({ open, entries, escape, sources, togglePane, takeIn, lookAgain }) {
  const goTo = entries().map((row) => ({
    keys: [`g ${row.key}`],
    does: `go to ${nameOf(row)}`,
    run: () => open(entries().find((entry) => entry.tool === row.tool).href),
  }));
  const theme = (name) => ({ does: `theme: ${name}`, run: () => setSetting('theme', name) });
  return [
    { keys: ['Ctrl+k'], does: 'find or run', run: () => void openPalette(sources) },
    { keys: ['?'], does: 'keys and gestures of this page', run: () => void openHelp() },
    { keys: ['Escape'], does: 'one step back', run: escape },
    { keys: ['q'], does: 'details pane', run: togglePane, isOn: () => !document.body.classList.contains('is-plain') },
    { keys: ['y'], does: 'copy link to this state', run: () => void copyLink() },
    {
      gesture: 'arrow keys',
      does: 'move inside the bar, the rail, the answer or the head of a panel (Tab stops once at each)',
      run: () => false,
    },
    { does: 'save this view by name, or open a saved one', run: () => void openViews() },
    { does: 'set as A, to be compared', run: setAsA },
    { does: 'compare with A', run: compareWithA },
    ...goTo,
    theme('system'),
    theme('light'),
    theme('dark'),
    {
      does: 'single letters as keys: on or off',
      run: () => setSetting('letters', setting('letters') === 'on' ? 'off' : 'on'),
    },
    { does: 'settings', run: () => void openSettings() },
    { does: 'open a file or paste a text', run: () => void openFilesDialog(takeIn) },
    { does: 'look for new files', run: lookAgain },
    { does: 'about: version, commit, licences', run: () => withModule(loadHelp, (help) => help.openAbout()) },
  ];
}
