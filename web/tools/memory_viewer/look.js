/* SPDX-License-Identifier: Apache-2.0
 * look.js: choices of how the page looks at a program: what its large picture shows, what stands below it, the panel
 * that has the whole height, the person's own rules of whose memory a buffer is. All of them stand in the URL.
 * Its own file: page.js opens and lights what these choose from. */

import { button, el } from '../../lib/dom.js';
import { lazy } from '../../lib/lazy.js';
import { COLOURS } from '../../widgets/map_colours.js';
import { setLarge } from '../../widgets/panel.js';
import { isPhone } from '../../widgets/phone_tabs.js';
import { toggledCategory } from './filter.js';
import { folded, groupedBy, isByOne } from './groups.js';
import { asker } from './load.js';

/* Names of the panels in the URL, in their order. */
export const PANELS = ['curve', 'strips', 'map', 'table', 'code', 'patterns'];

/* What the large picture shows: [name in the URL, word, what it does]. */
const PICTURES = [
  ['', 'By buffer', 'each buffer a stripe from birth to death'],
  ['category', 'By category', 'the bytes of each category'],
  ['none', 'As one', 'all bytes as one area'],
  ['offsets', 'At its offset', 'each buffer where the compiler placed it'],
];
const AT_OFFSETS = 'offsets';
/* The first of them by name, where the URL would show offsets without one. */
const BY_BUFFER = 'buffers';
/* What of the URL is to be seen at offsets alone, so that a link that names no picture shows it. */
const needsOffsets = ({ view, color, low, high, offsets }) =>
  view === 'map' || Boolean(COLOURS.includes(color) || offsets) || low != null || high != null;

/* Pure: which picture a URL means: '', 'category', 'none' or 'offsets'. A panel with the whole height is seen in any
   case. */
export function pictureOf(route) {
  const named = PICTURES.some(([stack]) => stack === route.stack) ? route.stack : '';
  if (route.large === 'map') return AT_OFFSETS;
  if (route.stack === BY_BUFFER) return '';
  if (route.large === 'curve' && named === AT_OFFSETS) return '';
  return named === '' && route.large !== 'curve' && needsOffsets(route) ? AT_OFFSETS : named;
}

/* What changes in the URL with another picture. */
const changeTo = (stack, route) => ({ stack: stack === '' && needsOffsets(route) ? BY_BUFFER : stack });

/* The next picture of the curve; from offsets the first. */
export function nextPicture(view) {
  const now = PICTURES.findIndex(([stack]) => stack === pictureOf(view.context.route));
  view.context.choose(changeTo(PICTURES[now > 1 ? 0 : now + 1][0], view.context.route));
}

/* What the large picture shows, how the curve is drawn, what the lower panel shows, which panel has the whole height.
 */
export function hearLook(view, route) {
  const picture = pictureOf(route);
  const isMap = picture === AT_OFFSETS && !view.map.panel.node.hidden;
  view.curve.setUnpadded(route.unpadded !== '0');
  view.curve.setStacked(picture === AT_OFFSETS ? '' : picture);
  view.root.firstElementChild.classList.toggle('has-map', isMap);
  if (isMap) view.map.show();
  for (const each of view.pictureButtons)
    each.setAttribute('aria-pressed', String(each.dataset.stack === (isMap ? picture : view.curve.stacked())));
  view.window.now?.moveTo((isMap && !isPhone() ? view.map : { panel: view.curvePanel }).panel);
  const lower =
    ['code', 'patterns'].includes(route.view) && route.large !== 'table'
      ? route.view
      : isByOne(route.group)
        ? 'buffers'
        : '';
  for (const each of ['code', 'patterns']) view.root.firstElementChild.classList.toggle(`has-${each}`, lower === each);
  for (const each of view.lowerButtons) each.setAttribute('aria-pressed', String(each.dataset.view === lower));
  setLarge(view.panels, PANELS.indexOf(route.large));
  for (const set of view.setKept) set(route.keep !== '');
}

/* In the head of each panel, buttons for all that stand in one place. rows: [id, word, title]. Out: all buttons. */
function placeSwitch(panels, label, attribute, rows, onChoose) {
  return panels.flatMap(({ head }) => {
    const all = rows.map(([id, word, title = null]) =>
      button('switch-button', () => onChoose(id), word, { [attribute]: id, title }),
    );
    head.querySelector('h2').after(el('span', { class: 'panel-switch', role: 'group', 'aria-label': label }, all));
    return all;
  });
}

/* The large picture is one of four; tables, code and patterns stand in one place below it, under the head of the table,
 * whose filter all of them hear. */
export function addSwitches(view) {
  const { context } = view;
  const pictures = PICTURES.map(([stack, word, does]) => [stack, word, stack === AT_OFFSETS ? does : `${does} (t)`]);
  view.pictureButtons = placeSwitch(
    [view.curvePanel, view.map.panel],
    'What the picture shows',
    'data-stack',
    pictures,
    (stack) => context.choose(changeTo(stack, context.route)),
  );
  const lower = [
    ['', 'Groups'],
    ['buffers', 'Buffers'],
    ['code', 'Code'],
    ['patterns', 'Patterns'],
  ];
  const choose = (id) => {
    const isTable = ['', 'buffers'].includes(id);
    const isOther = isTable && isByOne(context.route.group) !== (id === 'buffers');
    context.choose({
      view: isTable ? '' : id,
      ...(isOther ? groupedBy(folded(context.route.group), context.route) : {}),
    });
  };
  view.lowerButtons = placeSwitch([view.table.panel], 'Groups, buffers, code or patterns', 'data-view', lower, choose);
}

/* The panel with the focus, else the table; again: all as they were. */
export function enlarge(view) {
  const at = view.panels.findIndex((panel) => panel.node.contains(document.activeElement));
  view.context.choose({ large: view.context.route.large ? '' : PANELS[at < 0 ? PANELS.indexOf('table') : at] });
}

/* How the daemon is asked: with the person's rules of the URL; with rules that cannot be read, without them. */
export async function askWithRules(view, place, rules, signal, summary) {
  view.rules = rules;
  view.context.banners.drop('rules');
  if (rules) {
    const ask = asker({ ...place, category_rules: rules }, signal);
    try {
      await ask('summary');
      return ask;
    } catch (error) {
      if (error.status !== 400 || !/^category_rules: /.test(error.message)) throw error;
      view.context.banners.set('rules', {
        text: `The rules of this link cannot be used: ${error.message} The page is shown without them.`,
      });
    }
  }
  return asker(place, signal, summary);
}

/* The rules are typed into a dialog. */
export function editRules(view) {
  const { session, host, module } = view.program.ask.place;
  import('./rules.js').then(({ openRules }) =>
    openRules({
      place: { session, host, module },
      rules: view.context.route.rules,
      onRules: (rules) => view.context.choose({ rules }),
    }),
  );
}

/* The drawer of changes is open while the URL names one, or the drawer itself. Out: {part, hear(route),
   escape(isInside)}. */
export function whatifDrawer(view) {
  const part = lazy(
    () => import('./whatif.js'),
    ({ createWhatif }) => createWhatif(view),
  );
  const isOpen = (route) => Boolean(route.drawer) || route.whatif.length > 0;
  return {
    part,
    hear: (route) => (isOpen(route) ? part.with((it) => it.hear(route)) : part.now?.shut()),
    /* One step back while the focus is in it, else as the last step. */
    escape(isInside) {
      if (!isOpen(view.context.route) || (isInside && !part.now?.has(document.activeElement))) return false;
      part.now?.close();
      return true;
    },
  };
}

/* Opens it by hand; glob: what the changes are to be made to, as the daemon names it. */
export function openWhatif(view, { drawer = 'whatif', glob = '' } = {}) {
  view.context.choose({ drawer, glob });
  view.whatif.part.with((it) => it.take());
}

/* A legend word: only this category; with Ctrl it is added or taken away; again shows all. */
export function onlyCategory(view, category, isAdded) {
  view.context.choose({ filter: toggledCategory(view.context.route.filter, category, isAdded) });
}
