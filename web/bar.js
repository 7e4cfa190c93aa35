/* SPDX-License-Identifier: Apache-2.0
 * bar.js: what stands around every page: the breadcrumb, the name of what is shown, the rail of tools, the theme.
 * Its own file: draws what app.js decides. */

import { el, fill, name, svg } from './lib/dom.js';
import { choose, emptyRoute } from './lib/route.js';
import { onTheme, startTheme, themeName, turnTheme } from './lib/theme.js';
import { createBreadcrumb, breadcrumbLevels, breadcrumbValues } from './widgets/breadcrumb.js';
import { HOME, PAGES } from './pages.js';

const at = (id) => document.getElementById(id);

/* One without data in this session stays there, dimmed, with its reason; opening it says what is missing and how to
 * record it. The open one is never dimmed. entries: rows of pages.js with {href, why}. */
function drawRail(node, entries, current) {
  const links = entries.map(({ tool, word, title, icon, href, why }) =>
    el(
      'a',
      {
        href,
        title: why ? `${title}. ${why}.` : title,
        class: why && tool !== current ? 'is-dim' : null,
        'data-tool': tool,
        'aria-current': tool === current ? 'page' : null,
      },
      svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: icon })),
      el('span', { class: 'rail-word' }, word),
      why ? el('span', { class: 'hidden' }, `: ${why}`) : null,
    ),
  );
  const focused = [...node.children].indexOf(document.activeElement);
  fill(node, links);
  if (focused >= 0) links[Math.min(focused, links.length - 1)].focus();
}

/* The first host, the largest module and the largest space need not stand in the URL; where there are no
 * modules, what is shown without a host is up to the page. */
function isDefault(row, { session, modules, defaults }, level, id) {
  const hasModules = row?.levels.includes('module');
  const ids = {
    host: hasModules ? session.hosts[0]?.id : null,
    module: modules?.modules[0]?.id,
    space: defaults?.space,
  };
  return level in ids && ids[level] === id;
}

function bindTheme() {
  const draw = () => {
    at('theme').setAttribute('aria-label', `Theme: ${themeName()}. Press for the next.`);
    at('theme').title = `Theme: ${themeName()}`;
  };
  startTheme();
  draw();
  onTheme(draw);
  at('theme').addEventListener('click', turnTheme);
}

/* here() → {row: of pages.js, selection}: the page that is open and what it shows; routeHere() → the route of it.
 * Out: {drawBreadcrumb(), drawRail(), entries() of the rail, shownName(): the module that is shown, or of a page
 * without modules the session}. */
export function createBar({ router, here, routeHere }) {
  const breadcrumb = createBreadcrumb(at('breadcrumb'), {
    levels: breadcrumbLevels(() => ({ selection: here().selection, route: router.route })),
    home: el('a', { class: 'crumb-home', href: '?tool=home' }, 'Home'),
    onChoose: (level, id) => {
      const { row, selection } = here();
      router.push(choose(routeHere(), level, isDefault(row, selection, level, id) ? emptyRoute()[level] : id));
    },
  });
  const shownName = () => {
    const { row, selection } = here();
    return (row?.levels.includes('module') && selection?.module?.name) || (selection?.session?.name ?? '');
  };
  const entries = () => {
    const { selection } = here();
    const session = selection?.session ?? null;
    const id = selection?.lost ? '' : router.route.session || session?.id;
    return [HOME, ...PAGES.filter((row) => !row.isUnlisted || row === here().row)].map((row) => ({
      ...row,
      href: row === HOME || !id ? `?tool=${row.tool}` : router.link({ ...emptyRoute(), tool: row.tool, session: id }),
      why: session ? row.lacks(session) : '',
    }));
  };
  bindTheme();
  return {
    shownName,
    entries,
    drawBreadcrumb() {
      const { row, selection } = here();
      const values = breadcrumbValues(row === HOME ? null : selection);
      const levels = row?.levels ?? [];
      breadcrumb.set(
        Object.fromEntries(
          Object.entries(values).map(([level, value]) => [level, levels.includes(level) ? value : null]),
        ),
      );
      const space = selection?.space;
      fill(
        at('now'),
        shownName() && row !== HOME ? [name(shownName()), space ? ['·', name(space.name)] : []].flat() : 'memviewd',
      );
    },
    drawRail: () => drawRail(at('rail'), entries(), here().row?.tool),
  };
}
