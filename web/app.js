/* SPDX-License-Identifier: Apache-2.0
 * app.js: the frame. Looks up what the URL names, draws rail and breadcrumb, loads the tool and hands
 * the rest to it. To add a tool: a folder in tools/ with a page.js, and a row in pages.js. */

import { isAbort, Problem, problemText, takeToken } from './lib/api.js';
import { begin } from './lib/activity.js';
import { el, fill, name } from './lib/dom.js';
import { dropAgain, dropped } from './lib/dropped.js';
import { bytes, cutMiddle, visible, when } from './lib/format.js';
import { bind, spokenKey, startKeys } from './lib/keys.js';
import { choose, createRouter, emptyRoute, isSamePlace } from './lib/route.js';
import { findSession, listModules, listSessions, modulesAhead, NOTHING, resolve } from './lib/selection.js';
import { setSubject } from './lib/subject.js';
import { onTheme, startTheme, themeName, turnTheme } from './lib/theme.js';
import { createCrumbs, crumbLevels, crumbValues } from './widgets/crumbs.js';
import { createDetails } from './widgets/details.js';
import { createBanners, createLive } from './widgets/notices.js';
import { startPane } from './widgets/pane.js';
import { message } from './widgets/panel.js';
import { watchDrops } from './widgets/drop_zone.js';
import { toast } from './widgets/toast.js';
import { drawRail } from './widgets/rail.js';
import { checkSession, watchReach } from './widgets/reach.js';
import { frameCommands, openHelp, openIntake, openPalette } from './commands.js';
import { nothingTitle, sayNothing } from './nothing.js';
import { HOME, nameOf, pageOf, PAGES, usualPage } from './pages.js';

/* The other banners belong to what the URL names; the next choice drops them. */
/* Sessions that a bare address looks into. */
const MAX_LOOKS = 12;
const KEPT = ['gone', 'token', 'intake'];

const at = (id) => document.getElementById(id);
const banners = createBanners(at('banners'));
const details = createDetails(at('details'), { onClose: () => page?.escape?.() || details.shut() });
const pane = startPane(at('details'), details.toggle);

let page = null; // what mount() of the tool gave
let pageRow = null; // its row of pages.js
let pageKeys = []; // what takes its keys back
let shown = null;
let selection = null;
let controller = null;

const router = createRouter(window, (route) => {
  go(route);
});
const crumbs = createCrumbs(at('crumbs'), {
  levels: crumbLevels(() => ({ selection, route: router.route })),
  home: el('a', { class: 'crumb-home', href: '?tool=home' }, 'Home'),
  onChoose: (level, id) =>
    router.push(choose(routeHere(), level, isUsual(level, id) ? emptyRoute()[level] : id)),
});

/* The first host, the largest module and the largest space need not stand in the URL; where there are no
 * modules, what is shown without a host is up to the page. */
function isUsual(level, id) {
  const { session, modules, usual: usualSpace } = selection;
  const hasModules = pageRow?.levels.includes('module');
  const usual = { host: hasModules ? session.hosts[0]?.id : null, module: modules?.modules[0]?.id, space: usualSpace?.space };
  return level in usual && usual[level] === id;
}

/* Whatever is chosen inside a session names the session: "newest" may be another one tomorrow. */
function routeHere() {
  const tool = pageRow === HOME ? '' : router.route.tool;
  return { ...router.route, tool, session: selection?.session?.id ?? router.route.session };
}

/* What a tool may ask of the frame. */
const context = {
  banners,
  details,
  /* The state in the URL as it is now; see route.js. */
  get route() {
    return router.route;
  },
  /* A choice that Back undoes; and what moves under the hand: zoom, typing, a key held down. */
  choose: (patch) => router.push({ ...routeHere(), ...patch }),
  move: (patch) => router.replace({ ...routeHere(), ...patch }),
  /* href of the same place with `patch`; of another session with linkTo. */
  linkHere: (patch) => router.link({ ...routeHere(), ...patch }),
  link: (session, patch = {}) => router.link({ ...emptyRoute(), session, ...patch }),
  pin: (id, kind = 'b') => router.push({ ...routeHere(), pin: id === null ? null : { kind, id } }),
  setCapacity: (capacity) => router.push({ ...routeHere(), capacity }),
  /* A hint of one sentence, for eyes and screen readers. */
  say: toast,
  /* For screen readers alone: one polite sentence, at most one in 500 ms. */
  tell: createLive(at('live')),
  /* A file or a text of the reader: what it is stands in a banner before anything opens. */
  takeIn: () => openIntake(takeIn),
  /* Reads what the URL names anew. */
  again: () => go(router.route, true),
  /* Where the reason of a failure stands. */
  verdictOf: (session) => {
    const row = PAGES.find((each) => each.leads?.(session));
    return row ? { tool: row.tool } : {};
  },
  setFilter: (filter) => router.replace({ ...router.route, filter }),
  /* Keys and commands of this page, see keys.js; taken back when another page opens. */
  bind: (rows, group) => pageKeys.push(bind(rows, group)),
  setTitle: (title) => {
    document.title = title;
  },
  /* Title and pane where nothing can be drawn of what the URL names. */
  setNothing: () => sayNothing(details, selection?.session, shownName(), pageRow),
  /* A page may show another host than the first where the URL names none. */
  setHost: (id) => {
    const host = selection.session.hosts.find((each) => each.id === id);
    if (!host || host === selection.host) return;
    selection = { ...selection, host };
    drawCrumbs();
  },
  setSpaces: (spaces, space, usual = null) => {
    selection = { ...selection, spaces, space, usual };
    drawCrumbs();
  },
};

/* ---- the frame ---------------------------------------------------------------- */

/* The module that is shown, or of a page without modules the session. */
function shownName() {
  const { module, session } = selection ?? {};
  return (pageRow?.levels.includes('module') && module?.name) || (session?.name ?? '');
}

function drawCrumbs() {
  const { space } = selection ?? {};
  const values = crumbValues(pageRow === HOME ? null : selection);
  const levels = pageRow?.levels ?? [];
  crumbs.set(Object.fromEntries(Object.entries(values).map(([level, value]) => [level, levels.includes(level) ? value : null])));
  fill(
    at('now'),
    shownName() && pageRow !== HOME ? [name(shownName()), space ? ['·', name(space.name)] : []].flat() : 'memviewd',
  );
}

function railEntries() {
  const session = selection?.session ?? null;
  const id = selection?.lost ? '' : router.route.session || session?.id;
  return [HOME, ...PAGES].map((row) => ({
    ...row,
    href: row === HOME || !id ? `?tool=${row.tool}` : router.link({ ...emptyRoute(), tool: row.tool, session: id }),
    why: session ? row.lacks(session) : '',
  }));
}

const showRail = () => drawRail(at('rail'), railEntries(), pageRow?.tool);

function drawTheme() {
  at('theme').setAttribute('aria-label', `Theme: ${themeName()}. Press for the next.`);
  at('theme').title = `Theme: ${themeName()}`;
}

/* given: {files} or {entries} of drop_zone.js. */
async function takeIn(given) {
  const end = begin();
  try {
    const { takeIn: take } = await import('./intake.js');
    /* The banner that was pressed is gone: the focus goes to what it opens. */
    const focused = (act) => {
      at('main').focus();
      act();
    };
    await take(given, {
      banners,
      route: () => router.route,
      again: () => focused(context.again),
      open: (link) => focused(() => openLink(router.link({ ...emptyRoute(), ...link }))),
    });
  } catch (error) {
    if (!isAbort(error)) showFailure(error);
  } finally {
    end();
  }
}

/* What stands in the caption of a picture. */
function subjectNow() {
  const { session, module, space } = pageRow === HOME ? {} : (selection ?? {});
  return {
    session: session?.name ?? '',
    module: module?.name ?? '',
    space: space?.name ?? '',
    file: module?.file ?? '',
    link: new URL(router.link(pageRow === HOME ? router.route : routeHere()), location.href).href,
  };
}

/* What the palette finds besides commands. */
const sources = {
  async sessions(filter, signal) {
    const list = await listSessions(filter, signal);
    return list.sessions.map(({ id, name: word, modified_at_ms: atMs }) => ({
      word,
      after: `session, ${when(atMs)}`,
      run: () => openLink(context.link(id)),
    }));
  },
  async modules(filter, signal) {
    if (!selection?.session) return [];
    const list = await listModules(selection.session.id, router.route.host, filter, signal);
    return list.modules.map((module) => ({
      word: module.name,
      after: `module, ${module.has_buffer_assignment ? bytes(module.largest_total_bytes) : 'no sizes'}`,
      run: () => router.push({ ...choose(routeHere(), 'module', module.id), tool: '' }),
    }));
  },
  moment(text) {
    const patch = pageRow?.moment?.(text);
    return patch ? { word: `Go to ${text}`, after: '', run: () => context.choose(patch) } : null;
  },
};

/* ---- what the URL names --------------------------------------------------------- */

function leavePage() {
  page?.unmount?.();
  pageKeys.forEach((off) => off());
  pageKeys = [];
  details.clear();
}

/* Swaps the tool only when it is another one. */
async function mountPage(row, signal) {
  if (pageRow === row && page) return;
  const module = await row.load();
  if (signal.aborted) return;
  leavePage();
  pageRow = row;
  at('main').className = `page-${row.tool}`;
  document.body.classList.toggle('is-plain', row === HOME || Boolean(row.isPlain));
  page = module.mount(at('main'), context);
}

/* Does the page have something to show of what was found? A program that cannot be read has no figure. */
function hasFigure(row, { session, module }) {
  if (row.levels.includes('module')) return module?.largest_total_bytes > 0;
  return row.tool !== 'memory_profile' || Boolean(session.has_memory_events);
}

/* Without a tool in the URL: the page that the session asks for, else the first with something to show; without a
 * session either, the newest session that has something: as Home names it. */
async function lookUpUsual(route, sessions, signal) {
  if (route.session) {
    const named = await findSession(route.session, sessions, signal);
    const row = named ? usualPage(named) : PAGES[0];
    row.load().catch(() => {});
    return { row, found: await resolve(route, row, sessions, signal) };
  }
  const [newest] = sessions.sessions;
  let second = null;
  for (const session of sessions.sessions.slice(0, MAX_LOOKS)) {
    const leading = location.search === '' && PAGES.find((row) => row.leads?.(session));
    for (const row of leading ? [leading] : PAGES.filter((each) => !each.lacks(session))) {
      if (session === newest) row.load().catch(() => {});
      const found = await resolve({ ...route, session: session.id }, row, sessions, signal);
      if (found.session && hasFigure(row, found)) return { row, found };
      if (found.module || (found.session && row.tool === 'memory_profile')) second ??= { row, found };
    }
  }
  if (second) return second;
  return { row: HOME, found: { session: null, warnings: [] } };
}

async function lookUp(route, signal) {
  const named = pageOf(route.tool);
  if (route.tool && !named) {
    banners.set('tool', {
      text: `There is no page ${cutMiddle(visible(route.tool), 40)} here; showing the usual one.`,
    });
  }
  if (named === HOME) return { row: HOME, found: null };
  named?.load().catch(() => {}); // on its way while the session is looked up; asked again when it is needed
  const ahead = named?.levels.includes('module') ? modulesAhead(route, signal) : null;
  const sessions = await listSessions('', signal);
  if (named?.isAlone?.(route)) return { row: named, found: { ...NOTHING, sessions } };
  const { row, found } = named
    ? { row: named, found: await resolve(route, named, sessions, signal, ahead) }
    : await lookUpUsual(route, sessions, signal);
  for (const [index, text] of found.warnings.entries()) banners.set(`warning-${index}`, { text });
  if (named && !found.session && !found.lost && !row.hasEmpty && sessions.total)
    banners.set('tool', { text: `No session here has anything for the ${nameOf(row)}; showing what was found.` });
  return { row: found.session || row.hasEmpty ? row : HOME, found };
}

/* What a route leaves out is what is shown now: the newest session, the usual page. */
function filled(route) {
  return {
    ...route,
    tool: route.tool || (pageRow === HOME ? '' : (pageRow?.tool ?? '')),
    session: route.session || (selection?.session?.id ?? ''),
  };
}

/* Shows what the route names. If only the pin or the filter changed, the page hears it. */
async function go(route, isAgain = false) {
  const isHeard = !isAgain && shown && page && isSamePlace(filled(shown), filled(route));
  shown = route;
  if (isHeard) {
    page.hear?.(route);
    return;
  }
  controller?.abort();
  controller = new AbortController();
  const { signal } = controller;
  const end = begin();
  banners.keep(KEPT);
  try {
    const { row, found } = await lookUp(route, signal);
    if (signal.aborted) return;
    if (found?.lost) {
      showLost(found);
      return;
    }
    await mountPage(row, signal);
    if (signal.aborted) return;
    selection = found;
    drawCrumbs();
    showRail();
    await page.show(found, route);
  } catch (error) {
    if (!isAbort(error)) showFailure(error);
  } finally {
    end();
  }
}

/* ---- what goes wrong ------------------------------------------------------------ */

function showInstead(title, content) {
  fill(at('main'), el('h1', { class: 'answer' }, title), el('div', { class: 'whole-page' }, message({ kind: 'error', title: '', ...content })));
}

function showFailure(error) {
  if (!(error instanceof Problem)) console.error(error);
  if (error.code === 'gone') return;
  if (error.code === 'token') {
    banners.set('token', {
      text: 'This daemon asks for a token. Open the link that it printed at start.',
      canClose: false,
    });
  }
  if (page) banners.set('failed', { text: problemText(error) });
  else showInstead('Nothing to show.', { text: problemText(error) });
}

/* A part of the page that is loaded when it is needed did not come. */
function partFailed(event) {
  if (!(event.reason instanceof TypeError) || !/import|module/i.test(event.reason.message)) return;
  event.preventDefault();
  banners.set('failed', { text: `A part of this page could not be loaded from ${location.host}. What you see stays.` });
}

/* The URL names files that were dropped, and the daemon holds them no more. */
function showLost(found) {
  leavePage();
  page = pageRow = null;
  selection = found;
  drawCrumbs();
  showRail();
  const { title, text } = dropAgain(found.lost, dropped(found.lost));
  document.title = nothingTitle('dropped, not stored', pageOf(router.route.tool) ?? PAGES[0]);
  document.body.classList.add('is-plain');
  showInstead('Nothing to show.', { kind: 'empty', title, text });
}

function nobodyAnswers() {
  if (page) return;
  document.title = `no answer · ${location.host} – memviewd`;
  showInstead('No answer from the daemon.', {
    text: 'Start it again with the command that printed this address; the page goes on by itself.',
  });
}

function filesChanged() {
  if (pageRow === HOME) page?.filesChanged();
  else if (selection?.session) checkSession(selection.session, banners, () => go(router.route, true));
}

/* ---- start ------------------------------------------------------------------------ */

/* Links of this page change the state without a load. */
function followLink(event) {
  const link = event.target.closest?.('a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  openLink(link.getAttribute('href'));
}

function openLink(href) {
  history.pushState(null, '', href);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

function bindPage() {
  at('theme').addEventListener('click', turnTheme);
  at('find').addEventListener('click', () => openPalette(sources));
  at('help').addEventListener('click', openHelp);
  onTheme(drawTheme);
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    at('main').focus();
  });
  document.addEventListener('click', followLink);
  window.addEventListener('unhandledrejection', partFailed);
  startKeys();
  bind(
    frameCommands({
      open: openLink,
      entries: railEntries,
      escape: () => Boolean(page?.escape?.()) || details.shut(),
      sources,
      togglePane: pane.toggle,
      takeIn,
      lookAgain: () => go(router.route, true),
    }),
    'Everywhere',
  );
  setSubject(subjectNow);
  watchDrops({
    onFiles: takeIn,
    onText: (text) => takeIn({ files: [{ name: 'the pasted text', blob: new Blob([text], { type: 'text/plain' }) }] }),
  });
}

async function start() {
  const end = begin();
  startTheme();
  drawTheme();
  fill(at('find-key'), spokenKey('Ctrl+k'));
  bindPage();
  await takeToken();
  watchReach({
    banners,
    onBack: () => go(router.route, true),
    onGone: nobodyAnswers,
    onChange: filesChanged,
  });
  await go(router.route);
  end();
}

start();
