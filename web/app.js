/* SPDX-License-Identifier: Apache-2.0
 * app.js: the frame. Looks up what the URL names, draws menu and breadcrumb, and hands
 * the rest to the tool. To add a tool: a module in tools/ and a row in PAGES. */

import { get, isAbort, Problem, problemText, takeToken } from './lib/api.js';
import { begin } from './lib/activity.js';
import { el, fill, isTyping, name, svg } from './lib/dom.js';
import { cutMiddle, visible } from './lib/format.js';
import { choose, createRouter, emptyRoute, isSamePlace } from './lib/route.js';
import { resolve } from './lib/selection.js';
import { startTheme, themeName, turnTheme } from './lib/theme.js';
import { crumbLevels, crumbValues } from './widgets/crumb_levels.js';
import { createCrumbs } from './widgets/crumbs.js';
import { createDetails } from './widgets/details.js';
import { createBanners } from './widgets/notices.js';
import { message } from './widgets/panel.js';
import { checkSession, watchReach } from './widgets/reach.js';
import * as home from './tools/home.js';
import * as memoryViewer from './tools/memory_viewer.js';

const HOME_ICON = 'M3 11l9-8 9 8M6 9v11h12V9';
const PAGES = {
  memory_viewer: { module: memoryViewer, word: 'Viewer', icon: 'M3 20V14h4V9h4V5h3v6h3v4h4v5z' },
};
/* Banners that belong to what the URL names; the next choice drops them. */
const PASSING = [
  'tool',
  'warning-0',
  'warning-1',
  'warning-2',
  'warning-3',
  'pin',
  'space',
  'capacity',
  'changed',
  'failed',
];

const at = (id) => document.getElementById(id);
const banners = createBanners(at('banners'));
const details = createDetails(at('details'), { onClose: () => page?.escape?.() });

let titles = {};
let page = null;
let pageName = '';
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

/* The first host, the largest module and the largest space need not stand in the URL. */
function isUsual(level, id) {
  const { session, modules, spaces } = selection;
  const usual = { host: session.hosts[0]?.id, module: modules?.modules[0]?.id, space: spaces?.[0]?.space };
  return level in usual && usual[level] === id;
}

/* Whatever is chosen inside a session names the session: "newest" may be another one tomorrow. */
function routeHere() {
  const tool = pageName === 'home' ? '' : router.route.tool;
  return { ...router.route, tool, session: selection?.session?.id ?? router.route.session };
}

/* What a tool may ask of the frame. */
const context = {
  banners,
  details,
  pin: (id) => router.push({ ...routeHere(), pin: id === null ? null : { kind: 'b', id } }),
  setCapacity: (capacity) => router.push({ ...routeHere(), capacity }),
  link: (session) => router.link({ ...emptyRoute(), session }),
  setFilter: (filter) => router.replace({ ...router.route, filter }),
  /* A choice that Back undoes; and what moves under the hand: zoom, typing, a key held down. */
  choose: (patch) => router.push({ ...routeHere(), ...patch }),
  move: (patch) => router.replace({ ...routeHere(), ...patch }),
  get route() {
    return router.route;
  },
  setTitle: (title) => {
    document.title = title;
  },
  setSpaces: (spaces, space) => {
    selection = { ...selection, spaces, space };
    drawCrumbs();
  },
};

/* ---- the frame ---------------------------------------------------------------- */

function drawCrumbs() {
  const { module, space } = selection ?? {};
  crumbs.set(crumbValues(pageName === 'home' ? null : selection));
  fill(
    at('now'),
    module && pageName !== 'home'
      ? [name(module.name), space ? ['·', name(space.name)] : []].flat()
      : 'memviewd',
  );
}

function railLink({ tool, word, title, icon, href }) {
  return el(
    'a',
    { href, title, 'data-tool': tool, 'aria-current': tool === pageName ? 'page' : null },
    svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: icon })),
    el('span', {}, word),
  );
}

function drawRail() {
  const session = router.route.session || selection?.session?.id;
  const known = Object.entries(PAGES).filter(([tool]) => titles[tool]);
  fill(
    at('rail'),
    railLink({
      tool: 'home',
      word: 'Home',
      title: 'Home: what was found',
      icon: HOME_ICON,
      href: '?tool=home',
    }),
    known.map(([tool, { word, icon }]) =>
      railLink({
        tool,
        word,
        icon,
        title: titles[tool],
        href: session ? router.link({ ...emptyRoute(), session }) : `?tool=${tool}`,
      }),
    ),
  );
}

function drawTheme() {
  at('theme').setAttribute('aria-label', `Theme: ${themeName()}. Press for the next.`);
  at('theme').title = `Theme: ${themeName()}`;
}

/* ---- what the URL names --------------------------------------------------------- */

/* Swaps the tool only when it is another one. */
function mountPage(wanted) {
  if (pageName === wanted) return;
  page?.unmount?.();
  details.clear();
  pageName = wanted;
  at('main').className = `page-${wanted}`;
  document.body.classList.toggle('is-plain', wanted === 'home');
  page = (wanted === 'home' ? home : PAGES[wanted].module).mount(at('main'), context);
}

async function lookUp(route, signal) {
  const wanted = route.tool in PAGES || route.tool === 'home' ? route.tool : '';
  if (route.tool && !wanted) {
    banners.set('tool', {
      text: `There is no page ${cutMiddle(visible(route.tool), 40)} here; showing the usual one.`,
    });
  }
  if (wanted === 'home') return { wanted, found: null };
  const found = await resolve(route, signal);
  for (const [index, text] of found.warnings.entries()) banners.set(`warning-${index}`, { text });
  return { wanted: found.session ? wanted || 'memory_viewer' : 'home', found };
}

/* What a route leaves out is what is shown now: the newest session, the usual page. */
function filled(route) {
  const isViewer = pageName === 'memory_viewer' && route.tool === '';
  return {
    ...route,
    tool: isViewer ? pageName : route.tool,
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
  PASSING.forEach(banners.drop);
  try {
    const { wanted, found } = await lookUp(route, signal);
    if (signal.aborted) return;
    selection = found;
    mountPage(wanted);
    drawCrumbs();
    drawRail();
    await page.show(found, route);
  } catch (error) {
    if (!isAbort(error)) showFailure(error);
  } finally {
    end();
  }
}

/* ---- what goes wrong ------------------------------------------------------------ */

function showInstead(title, content) {
  fill(at('main'), el('h1', { class: 'answer' }, title), message({ kind: 'error', title: '', ...content }));
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

function nobodyAnswers() {
  if (page) return;
  showInstead('No answer from the daemon.', {
    text: 'Start it again with the command that printed this address; the page goes on by itself.',
  });
}

function filesChanged() {
  if (pageName === 'home') page.filesChanged();
  else if (selection?.session) checkSession(selection.session, banners, () => go(router.route, true));
}

/* ---- start ------------------------------------------------------------------------ */

/* Links of this page change the state without a load. */
function followLink(event) {
  const link = event.target.closest?.('a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  history.pushState(null, '', link.getAttribute('href'));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

function bindPage() {
  at('theme').addEventListener('click', () => {
    turnTheme();
    drawTheme();
  });
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    at('main').focus();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !isTyping(event.target) && page?.escape?.()) event.preventDefault();
  });
  document.addEventListener('click', followLink);
}

async function start() {
  const end = begin();
  startTheme();
  drawTheme();
  bindPage();
  await takeToken();
  watchReach({
    banners,
    onBack: () => go(router.route, true),
    onGone: nobodyAnswers,
    onChange: filesChanged,
  });
  try {
    titles = Object.fromEntries((await get('tools')).tools.map((tool) => [tool.name, tool.title]));
  } catch (error) {
    showFailure(error);
  }
  await go(router.route);
  end();
}

start();
