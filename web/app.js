/* SPDX-License-Identifier: Apache-2.0
 * app.js: the frame. Looks up what the URL names (lookup.js), draws what stands around the page (bar.js), loads the
 * tool and hands the rest to it. To add a tool: a folder in tools/ with a page.js, and a row in pages.js. */

import { isAbort, takeToken } from './lib/api.js';
import { begin } from './lib/activity.js';
import { fill } from './lib/dom.js';
import { bind, spokenKey, startKeys } from './lib/keys.js';
import { referenceOf, referenceOfProfile } from './lib/reference.js';
import { createRouter, emptyRoute, isSamePlace, openLink } from './lib/route.js';
import { setSubject } from './lib/subject.js';
import { startRoving } from './lib/roving.js';
import { createDetails } from './widgets/details.js';
import { createBanners, createLive } from './widgets/notices.js';
import { startPane } from './widgets/pane.js';
import { watchDrops } from './widgets/drop_zone.js';
import { toast } from './widgets/toast.js';
import { checkSession, watchConnection } from './widgets/connection.js';
import { createBar } from './bar.js';
import { frameCommands, openHelp, openFilesDialog, openPalette, paletteSources } from './commands.js';
import { lookUp } from './lookup.js';
import { sayFailure, sayLost, sayNoAnswer, sayNothing, watchParts } from './empty_state.js';
import { HOME, pageOf, PAGES } from './pages.js';

/* The other banners belong to what the URL names; the next choice drops them. */
const KEPT = ['gone', 'token', 'files'];

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
const bar = createBar({ router, here: () => ({ row: pageRow, selection }), routeHere });
const sources = paletteSources({ router, here: () => ({ row: pageRow, selection }), routeHere, open: openLink });

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
  pin: (id, kind = 'b') => router.push({ ...routeHere(), pin: id == null ? null : { kind, id } }),
  setCapacity: (capacity) => router.push({ ...routeHere(), capacity }),
  /* A hint of one sentence, for eyes and screen readers. */
  say: toast,
  /* For screen readers alone: one polite sentence, at most one in 500 ms. */
  tell: createLive(at('live')),
  /* A file or a text of the reader: what it is stands in a banner before anything opens. */
  takeIn: () => openFilesDialog(takeIn),
  /* Reads what the URL names anew. */
  again: () => go(router.route, true),
  /* Where the reason of a failure stands. */
  whereReason: (session) => {
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
  setNothing: () => sayNothing(details, selection?.session, bar.shownName(), pageRow),
  /* A page may show another host than the first where the URL names none. */
  setHost: (id) => {
    const host = selection.session.hosts.find((each) => each.id === id);
    if (!host || host === selection.host) return;
    selection = { ...selection, host };
    bar.drawBreadcrumb();
  },
  setSpaces: (spaces, space, defaults = null) => {
    selection = { ...selection, spaces, space, defaults };
    bar.drawBreadcrumb();
  },
};

/* dropped: {files} or {entries} of drop_zone.js. */
async function takeIn(dropped) {
  const end = begin();
  try {
    const { takeIn: take } = await import('./open_files.js');
    /* The banner that was pressed is gone: the focus goes to what it opens. */
    const focused = (act) => {
      at('main').focus();
      act();
    };
    await take(dropped, {
      banners,
      route: () => router.route,
      again: () => focused(context.again),
      open: (link) => focused(() => openLink(router.link({ ...emptyRoute(), ...link }))),
    });
  } catch (error) {
    if (!isAbort(error)) sayFailure(error, banners, page);
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
    reference:
      pageRow === HOME
        ? ''
        : pageRow?.tool === 'device_memory'
          ? referenceOfProfile(selection ?? {}, router.route)
          : referenceOf(selection ?? {}, router.route.step),
    link: new URL(router.link(pageRow === HOME ? router.route : routeHere()), location.href).href,
  };
}

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
  pane.onPin(Boolean(row.isPaneOnPin));
  page = module.mount(at('main'), context);
}

/* What a route leaves out is what is shown now: the newest session, the default page. */
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
    const { row, found } = await lookUp(route, banners, signal);
    if (signal.aborted) return;
    if (found?.lost) {
      leavePage();
      page = pageRow = null;
      selection = found;
      bar.drawBreadcrumb();
      bar.drawRail();
      const linkTo = (session) => router.link({ ...emptyRoute(), tool: route.tool, session });
      sayLost(found.lost, pageOf(route.tool) ?? PAGES[0], found.sessions.sessions, linkTo);
      return;
    }
    await mountPage(row, signal);
    if (signal.aborted) return;
    selection = found;
    bar.drawBreadcrumb();
    bar.drawRail();
    await page.show(found, route);
  } catch (error) {
    if (!isAbort(error)) sayFailure(error, banners, page);
  } finally {
    end();
  }
}

function filesChanged() {
  if (pageRow === HOME) page?.filesChanged();
  else if (selection?.session) checkSession(selection, banners, () => go(router.route, true), follow);
}

/* A page may take by itself what its session has become; false: the reader is asked. */
function follow(session) {
  const following = page?.follow?.(session);
  if (!following) return false;
  selection = { ...selection, session };
  following.catch((error) => isAbort(error) || sayFailure(error, banners, page));
  return true;
}

/* ---- start ------------------------------------------------------------------------ */

/* Links of this page change the state without a load. */
function followLink(event) {
  const link = event.target.closest?.('a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  openLink(link.getAttribute('href'));
}

function bindPage() {
  at('find').addEventListener('click', () => openPalette(sources));
  at('help').addEventListener('click', openHelp);
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    at('main').focus();
  });
  document.addEventListener('click', followLink);
  watchParts(banners);
  startKeys();
  bind(
    frameCommands({
      open: openLink,
      entries: bar.entries,
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
  fill(at('find-key'), spokenKey('Ctrl+k'));
  bindPage();
  startRoving();
  await takeToken();
  watchConnection({
    banners,
    onBack: () => go(router.route, true),
    onGone: () => page || sayNoAnswer(),
    onChange: filesChanged,
  });
  await go(router.route);
  end();
}

start();
