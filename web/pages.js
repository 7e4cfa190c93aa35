/* SPDX-License-Identifier: Apache-2.0
 * pages.js: one row a tool. A tool is loaded when it is opened, never before.
 *
 * - tool: its name in the URL; title: its name and what it shows; word, icon: its place in the rail; key: `g` and then
 *   this key.
 * - load(): its module, with mount(root, context) → {show(selection, route), hear(route), escape(), unmount()}.
 * - levels: the selectors of the breadcrumb that it uses; without "module" none is looked up.
 * - ahead(route, signal): asked while the session of the URL is still looked up, or null; show() gets it as
 *   selection.ahead. lib/early.js asks it sooner.
 * - prefers(session): among those that lack nothing these come first, where the URL names none.
 * - lacks(session): "" or, in words, why there is nothing for it in a session of the list.
 * - hasSearch: `find` of the URL searches all of its panels.
 * - moment(text): what `:1536` in the palette changes in the URL, or null; left out without moments.
 * - isAlone(route): true if what the URL names needs no session, e.g. a file that was dropped.
 * - hasEmpty: it has something to show without any session, too.
 * - isPlain: it has no details pane; isPaneOnPin: the pane opens when something is pinned.
 * - isUnlisted: the rail has it only while it is open.
 * - isAside: no bare address opens it: what it shows of a session another page shows first.
 * - leads(session): true if `/` opens this page when that session is the one that is meant (lookup.js). */

import { get, isAhead } from './lib/api.js';

/* What shows no session of its own. */
const OF_NO_SESSION = {
  levels: [],
  lacks: () => '',
  isAlone: () => true,
  hasEmpty: true,
  isPlain: true,
  isAside: true,
};

export const PAGES = [
  {
    tool: 'memory_viewer',
    word: 'Viewer',
    isPaneOnPin: true,
    title: 'Memory Viewer: what fills a memory space',
    key: 'v',
    icon: 'M3 20V14h4V9h4V5h3v6h3v4h4v5z',
    hasSearch: true,
    load: () => import('./tools/memory_viewer/page.js'),
    levels: ['session', 'host', 'module', 'space'],
    /* Without a module the daemon means the largest, which the page shows too. */
    ahead: ({ session, host, module, rules, capacity }, signal) =>
      !host && !module && !rules && !capacity && isAhead('memory_viewer/summary', { session })
        ? get('memory_viewer/summary', { session }, { signal })
        : null,
    lacks: (session) => (session.module_count === 0 ? 'No program in this session' : ''),
    moment: (text) => (/^\d{1,15}$/.test(text) ? { step: Number(text) } : null),
  },
  {
    tool: 'memory_profile',
    word: 'Profile',
    isPaneOnPin: true,
    title: 'Memory Profile: what the allocator did over time',
    key: 'r',
    icon: 'M3 19h18M4 16l4-7 4 4 4-9 4 8',
    hasSearch: true,
    load: () => import('./tools/memory_profile/page.js'),
    levels: ['session', 'host'],
    ahead: ({ session }, signal) => get('memory_profile/summary', { session }, { signal }),
    lacks: (session) => (session.kind === 'trace' ? '' : 'No trace in this session'),
    moment: (text) => (/^\d{1,9}(\.\d{1,9})?$/.test(text) ? { time: Math.round(Number(text) * 1e9) } : null),
  },
  {
    tool: 'device_memory',
    word: 'Device',
    isPaneOnPin: true,
    title: 'Device Memory: live arrays by call stack',
    key: 'd',
    icon: 'M3 4h18v4H3zM3 10h12v4H3zM3 16h7v4H3z',
    hasSearch: true,
    load: () => import('./tools/device_memory/page.js'),
    levels: ['session'],
    lacks: (session) => (session.profile_count || session.snapshot_count ? '' : 'No device profile in this session'),
    isAlone: (route) => route.local !== '' && route.session === '',
  },
  {
    tool: 'oom',
    word: 'OOM',
    title: 'OOM: did it fit, where did it go, what will make it fit',
    key: 'o',
    icon: 'M12 3l10 18H2zM11 10h2v5h-2zM11 17h2v2h-2z',
    load: () => import('./tools/oom/page.js'),
    levels: ['session'],
    lacks: (session) =>
      session.failure || session.kind !== 'dump' || session.module_count !== 0
        ? ''
        : 'Neither an error text nor a program in this session',
    prefers: (session) => Boolean(session.failure) || session.kind === 'text',
    leads: (session) => Boolean(session.failure),
    isAlone: (route) => route.local !== '',
    hasEmpty: true,
    isPlain: true,
  },
  {
    tool: 'compare',
    word: 'Compare',
    isPaneOnPin: true,
    title: 'Compare: two programs, device profiles or moments of snapshots side by side',
    key: 'c',
    icon: 'M7 4L3 8l4 4M3 8h13M17 12l4 4-4 4M21 16H8',
    load: () => import('./tools/compare/page.js'),
    levels: [],
    lacks: (session) =>
      session.module_count === 0 && session.kind !== 'profiles' && !session.snapshot_count
        ? 'Nothing to compare in this session'
        : '',
    isAlone: () => true,
    hasEmpty: true,
    isAside: true,
  },
  {
    tool: 'modules',
    word: 'Modules',
    title: 'All modules: what each program of a session needs, on every host',
    key: 'm',
    icon: 'M4 6h16M4 12h16M4 18h16',
    load: () => import('./tools/modules/page.js'),
    levels: ['session'],
    lacks: (session) => (session.module_count === 0 ? 'No program in this session' : ''),
    isPlain: true,
    isAside: true,
  },
  {
    tool: 'fleet',
    word: 'Fleet',
    title: 'Fleet: what many jobs took over their commits',
    key: 'f',
    icon: 'M3 20V4M3 20h18M6 15l4-4 4 2 6-7M17 6h3v3',
    load: () => import('./tools/fleet/page.js'),
    ...OF_NO_SESSION,
  },
  {
    tool: 'live',
    word: 'Live',
    title: 'Live: what running jobs have in use',
    key: 'l',
    icon: 'M3 12h4l3-8 4 16 3-8h4',
    load: () => import('./tools/live/page.js'),
    ...OF_NO_SESSION,
    isUnlisted: true,
  },
];

export const HOME = {
  tool: 'home',
  word: 'Home',
  title: 'Home: what was found',
  key: 'h',
  icon: 'M3 11l9-8 9 8M6 9v11h12V9',
  load: () => import('./tools/home/page.js'),
  levels: [],
  lacks: () => '',
};

/* The name of a page: "Memory Viewer". */
export const nameOf = ({ title }) => title.split(':')[0];

export const pageOf = (tool) => (tool === 'home' ? HOME : (PAGES.find((page) => page.tool === tool) ?? null));

/* The page of a session that names none: the first that has something to show there. */
export function defaultPage(session) {
  return PAGES.find((page) => !page.isAside && !page.lacks(session)) ?? PAGES[0];
}
