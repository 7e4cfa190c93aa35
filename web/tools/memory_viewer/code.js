/* SPDX-License-Identifier: Apache-2.0
 * code.js: the panel that shows memory by the person's code: by scope or by source stack, as an icicle or a treemap. It
 * stands where the map is, while the URL says view=code. A click zooms to a place and filters the other views by it. */

import { isAbort, Problem, problemText } from '../../lib/api.js';
import { button, el, fill, loadStyle, nameInline } from '../../lib/dom.js';
import { count, counted } from '../../lib/format.js';
import { onTheme } from '../../lib/theme.js';
import { legend } from '../../widgets/categories.js';
import { copyButton, fact, facts } from '../../widgets/details.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createIcicle } from '../../widgets/icicle.js';
import { message } from '../../widgets/panel.js';
import { isPhone } from '../../widgets/phone_tabs.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { createTreemap } from '../../widgets/treemap.js';
import { askFiltered } from './load.js';
import {
  amount,
  categoriesIn,
  factsOf,
  lookOf,
  METRICS,
  nameOf,
  nodeOfId,
  placeLines,
  placeSentence,
  readCode,
  termsOf,
  wayTo,
  WAYS,
  withoutPlace,
  withPlace,
} from './code_tree.js';

const PICTURES = { icicle: 'icicle', treemap: 'treemap' };
const NODES = 3000;
const MAX_CRUMBS = 12;

/* A word of the URL that is one of ours, else the first. */
const known = (rows, word) => (Object.hasOwn(rows, word) ? word : Object.keys(rows)[0]);
const inUrl = (rows, word) => (word === Object.keys(rows)[0] ? '' : word);

function chooser(label, rows, name, context) {
  const node = el(
    'select',
    {
      class: 'small-select',
      'aria-label': label,
      on: {
        change: () =>
          context.choose({
            [name]: inUrl(rows, node.value),
            ...(name === 'by' ? { node: '', open: '', filter: withoutPlace(context.route.filter) } : {}),
          }),
      },
    },
    Object.entries(rows).map(([value, word]) => el('option', { value }, word)),
  );
  return { node, hear: (word) => (node.value = known(rows, word)) };
}

/* page: {program: what is open, context, place}; panel: where it stands; actions: onHint(), onDetails(): what details()
 * gives changed. Out: {load(), details(), back(), focus(), byPicture(), byWay(), openLayers(), destroy()}. */
export function createCode(page, panel, actions) {
  const { context } = page;
  const code = { ...page, panel, actions, read: null, asked: null, question: '', hover: -1, key: 0 };
  code.choosers = [
    chooser('Code', WAYS, 'by', context),
    chooser('Measure', METRICS, 'metric', context),
    chooser('Picture', PICTURES, 'picture', context),
  ];
  code.crumbs = el('nav', { class: 'code-path', 'aria-label': 'Places above' });
  code.legend = el('span', { class: 'code-legend' });
  code.host = el('div', { class: 'code-host' });
  const acts = {
    sentence: (node) => placeSentence(code.read, node),
    onHover: (node, many, mark) => hover(code, node, many, mark),
    onLeave: () => hover(code, -1),
    onPick: (node) => pick(code, node),
    onAll: () => goTo(code, []),
    onHint: actions.onHint,
  };
  code.pictures = { icicle: createIcicle(acts), treemap: createTreemap(acts) };
  const exports = exportEntries({
    name: 'code',
    title: () => titleOf(code),
    drawing: () => (code.read && !code.panel.body.hidden ? pictureOf(code).drawing() : null),
    table: () => tableOf(code.read),
  });
  panel.setMenu(() => [
    exports(),
    { word: 'Icicle or treemap', key: 'k', run: () => byPicture(code) },
    { word: 'By scope or by stack', key: 'e', run: () => byWay(code) },
  ]);
  panel.setAside(
    code.legend,
    el(
      'span',
      { class: 'map-controls' },
      code.choosers.map(({ node }) => node),
    ),
  );
  panel.body.append(code.crumbs, code.host);
  code.styled = loadStyle('code.css');
  const stopTheme = onTheme(
    () =>
      code.read &&
      Object.values(code.pictures).forEach((picture) => picture.tree.length && picture.recolour(lookOf(code.read))),
  );
  return {
    load: () => load(code),
    details: () => detailsOf(code),
    back: () => back(code),
    focus: () => pictureOf(code).focus(),
    byPicture: () => byPicture(code),
    byWay: () => byWay(code),
    openLayers: () => openLayers(code),
    destroy() {
      code.asked?.abort();
      stopTheme();
      Object.values(code.pictures).forEach((picture) => picture.destroy());
    },
  };
}

const stateOf = ({ context: { route } }) => ({
  by: known(WAYS, route.by),
  metric: known(METRICS, route.metric),
  picture: known(PICTURES, route.picture),
  node: /^[0-9a-f]{16}$/.test(route.node) ? route.node : '',
  open: /^([0-9a-f]{16}|all)$/.test(route.open) ? route.open : '',
});

const pictureOf = (code) => code.pictures[stateOf(code).picture];
const isShown = ({ context: { route } }) => route.view === 'code';
const titleOf = (code) => `Memory ${WAYS[stateOf(code).by]}, ${METRICS[stateOf(code).metric]}`;

/* ---- loading ---- */

/* Asks for what the URL says, and draws it once it is there. A place of which much is not listed is asked for itself.
 */
async function load(code) {
  const { program, place, context, panel } = code;
  const { space } = program;
  if (!space || !isShown(code)) return;
  const state = stateOf(code);
  code.choosers.forEach(({ hear }, at) => hear([state.by, state.metric, state.picture][at]));
  const params = {
    space: space.space,
    ...(space.replay_error ? { step: 'all' } : place.isPeak ? {} : { step: place.step }),
    by: state.by,
    metric: state.metric,
    open: state.open,
    filter: withoutPlace(context.route.filter),
    nodes: NODES,
  };
  const question = JSON.stringify([program.ask.serial, params, state.node, state.picture]);
  if (question === code.question) return;
  code.question = question;
  code.asked?.abort();
  const mine = (code.asked = new AbortController());
  try {
    await code.styled;
    let { data } = await askFiltered(program, 'tree', params, mine.signal);
    if (program.space !== space || mine.signal.aborted) return;
    let read = readCode(data);
    if (state.node && (nodeOfId(read, state.node) < 0 || data.left_out.node_count > 0)) {
      data = await placeAlone(code, params, state.node, mine.signal);
      if (data) read = readCode(data);
    } else context.banners.drop('node');
    if (program.space !== space || mine.signal.aborted) return;
    panel.show();
    draw(code, read);
  } catch (error) {
    if (isAbort(error)) return;
    code.question = '';
    if (!(error instanceof Problem)) throw error;
    /* A filter that cannot be read is explained where it is typed. */
    if (error.status !== 400 || !params.filter)
      panel.say(message({ kind: 'error', title: 'The code could not be read.', text: problemText(error) }));
  }
}

async function placeAlone({ program, context }, params, node, signal) {
  try {
    const { data } = await askFiltered(program, 'tree', { ...params, at: node }, signal);
    context.banners.drop('node');
    return data;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    context.banners.set('node', { text: 'That place is not in the code of this program; showing all.' });
    return null;
  }
}

function draw(code, read) {
  const state = stateOf(code);
  const picture = pictureOf(code);
  code.read = read;
  code.hover = -1;
  code.key++;
  fill(code.host, picture.node);
  const at = Math.max(0, nodeOfId(read, state.node));
  const { data } = read;
  const listed = data.nodes.depth.length - 1;
  const left =
    data.left_out.node_count > 0 ? `; ${counted(data.left_out.node_count, 'smaller one')} appear when zoomed` : '';
  code.panel.setTitle(
    `Memory ${WAYS[state.by]}`,
    el('span', { class: 'dim' }, ` ${amount(data.metric, data.matched_total)} · ${counted(listed, 'place')}${left}`),
  );
  /* The categories have their legend above the strips, which a phone does not show beside the code. */
  fill(code.legend, isPhone() ? legend(categoriesIn(read)) : null);
  /* A place without places inside stays beside its neighbours. */
  const isLeaf = read.tree.end[at] === at + 1;
  const zoom = at > 0 && isLeaf ? read.tree.parent[at] : at;
  picture.draw(
    read.tree,
    lookOf(read),
    `${titleOf(code)}: ${amount(data.metric, data.matched_total)} in ${counted(listed, 'place')}.`,
    zoom,
  );
  picture.mark({ hover: -1, pin: at > 0 ? at : -1 });
  drawCrumbs(code, at);
  if (data.matched_total === 0) code.panel.say(message(nothing(state.metric, data)));
  code.actions.onDetails();
}

function nothing(metric, data) {
  if (data.total_count > 0 && metric === 'padding' && data.total === 0)
    return { title: 'No padding.', text: 'No buffer live here is padded.' };
  if (data.total_count > 0)
    return { title: 'Nothing matches the filter.', text: 'No buffer that is alive here passes it.' };
  return { title: 'Nothing is alive here.', text: 'No buffer takes memory at this moment.' };
}

/* ---- walking ---- */

/* Zooms to the last place of a way and shows only its buffers; to all with none. */
function goTo(code, way, patch = {}) {
  const { context } = code;
  const { by, open } = { ...stateOf(code), ...patch };
  const node = way.length ? way[way.length - 1].id : '';
  context.choose({ ...patch, node, filter: withPlace(context.route.filter, termsOf(way, by, open)) });
}

/* A click: zooms there; again goes back to what is around it. */
function pick(code, node) {
  const way = wayTo(code.read, node);
  const isAgain = code.read.places[node].id === stateOf(code).node && !code.read.places[node].isRest;
  goTo(code, isAgain ? way.slice(0, -1) : way);
}

/* One step out. True if there was one. */
function back(code) {
  const { node } = stateOf(code);
  if (!isShown(code) || !node || !code.read) return false;
  goTo(code, wayTo(code.read, Math.max(0, nodeOfId(code.read, node))).slice(0, -1));
  return true;
}

const byPicture = ({ context }) =>
  context.choose({ view: 'code', picture: context.route.picture === 'treemap' ? '' : 'treemap' });
const byWay = ({ context }) =>
  context.choose({
    view: 'code',
    by: context.route.by === 'stack' ? '' : 'stack',
    node: '',
    open: '',
    filter: withoutPlace(context.route.filter),
  });

/* The layers of the place that is shown stand apart, or as one again. */
function openLayers(code) {
  const { node, open } = stateOf(code);
  if (open) goTo(code, [], { open: '' });
  else {
    const at = code.read ? nodeOfId(code.read, node) : -1;
    const way = at >= 0 ? wayTo(code.read, at) : [];
    const layers = way.findLastIndex((place) => place.layers > 1);
    if (layers >= 0) goTo(code, way.slice(0, layers + 1), { open: way[layers].id });
    else code.context.choose({ open: 'all' });
  }
}

function hover(code, node, many = 0, mark = null) {
  if (node < 0) hideTooltip();
  else showTooltip(`code:${code.key}:${node}:${many}`, placeLines(code.read, node), mark);
  code.hover = node;
  const at = nodeOfId(code.read, stateOf(code).node);
  pictureOf(code).mark({ hover: node, pin: at });
}

/* all › layer_{i} › attention: each a way back; what is folded opens at its end. */
function drawCrumbs(code, at) {
  const way = wayTo(code.read, at);
  const { open } = stateOf(code);
  const hidden = Math.max(0, way.length - MAX_CRUMBS);
  const crumb = (place, index) => {
    const words = el('bdi', { dir: 'ltr', class: 'mono' }, nameOf(place));
    const isLast = index === way.length - 1;
    if (isLast) return el('span', { class: 'path-here', 'aria-current': 'true' }, words);
    return button('path-step', () => goTo(code, way.slice(0, index + 1)), words);
  };
  const last = way[way.length - 1];
  const canOpen = open !== '' || last?.layers > 1;
  fill(
    code.crumbs,
    way.length ? button('path-step', () => goTo(code, []), 'all') : null,
    hidden ? [' › ', el('span', { class: 'dim' }, `${counted(hidden, 'place')} …`)] : null,
    way.map((place, index) => (index < hidden ? null : [' › ', crumb(place, index)])),
    canOpen
      ? [
          ' ',
          button(
            'text-button',
            () => openLayers(code),
            open ? 'fold the layers' : `show the ${count(last.layers)} layers apart`,
          ),
        ]
      : null,
  );
  code.crumbs.hidden = way.length === 0 && !canOpen;
}

/* ---- what the pane and exports say ---- */

/* Of the place that is shown, or null. */
function detailsOf(code) {
  const { node, by, open } = stateOf(code);
  const at = isShown(code) && code.read ? nodeOfId(code.read, node) : -1;
  if (at < 0) return null;
  const { data } = code.read;
  const { name, total, share, count: many, layers, self } = factsOf(code.read, at);
  return {
    heading: 'Place in the code',
    subject: nameOf(name, true),
    isPinned: true,
    parts: [
      facts(
        fact(METRICS[data.metric], el('strong', {}, amount(data.metric, total)), ` · ${share} of all`),
        fact('buffers', count(many)),
        layers > 1 ? fact('layers', count(layers)) : null,
        self > 0 && self < total ? fact('of its own', amount(data.metric, self)) : null,
        name.file
          ? fact(
              'source',
              nameInline(`${name.file}${name.line ? `:${name.line}` : ''}`, 120),
              ' ',
              copyButton(`${name.file}${name.line ? `:${name.line}` : ''}`),
            )
          : null,
        fact('filter', nameInline(termsOf(wayTo(code.read, at), by, open), 300)),
      ),
      el('p', { class: 'dim' }, 'The other views show only its buffers. Esc goes one step out.'),
    ],
  };
}

/* What stands behind the picture: one row a place. */
function tableOf(read) {
  const { tree, names, places, data } = read;
  return {
    columns: [
      { key: 'depth', title: 'Depth' },
      { key: 'place', title: 'Place' },
      { key: data.metric, title: METRICS[data.metric] },
      { key: 'buffers', title: 'Buffers' },
    ],
    rows: places.map((place, node) => ({
      depth: tree.depth[node],
      place: nameOf(names[tree.frame[node]], true),
      [data.metric]: tree.total[node],
      buffers: place.count,
    })),
  };
}
