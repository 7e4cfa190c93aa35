/* SPDX-License-Identifier: Apache-2.0
 * device_memory_flame.js: the flame graph: one icicle, two (a frame with its callers above it), or one
 * a device. A click pins and zooms in one act; the path above stays as a breadcrumb. */

import { later } from '../lib/activity.js';
import { el, fill } from '../lib/dom.js';
import { count, counted, percent } from '../lib/format.js';
import { onTheme } from '../lib/theme.js';
import { exportEntries } from '../widgets/export_menu.js';
import { createIcicle } from '../widgets/icicle.js';
import { pathOf, searchTree } from '../widgets/icicle_layout.js';
import { createLegend } from '../widgets/legend.js';
import { createPanel, message } from '../widgets/panel.js';
import { hideTooltip, showTooltip } from '../widgets/tooltip.js';
import { countFilters, quoted } from './device_memory_state.js';
import { createLoader } from './device_memory_load.js';
import { createTopPanel } from './device_memory_top.js';
import { coloursOf, findPath, matcher, nodeOfFrame, pathIds, readFlame } from './device_memory_tree.js';
import * as empty from './device_memory_empty.js';
import * as say from './device_memory_text.js';

const ASK_AFTER_MS = 120;
const MOST_CRUMBS = 12;

export function createFlame(view) {
  const flame = {
    view,
    data: null,
    read: null,
    colours: null,
    root: '', // path that the answer begins with; "" = all
    found: null,
    match: -1,
    takeBack: null,
  };
  build(flame);
  const { icicle, top } = flame;
  return {
    node: flame.node,
    show: () => show(flame),
    forget() {
      flame.loader.forget();
      flame.subLoader.forget();
      top.forget();
      flame.data = null;
    },
    light: (hover, pin) => {
      top.light(hover, pin);
      if (!flame.read) return;
      icicle.mark({ hover: flame.hoverNode ?? nodeOf(flame, hover), pin: pinNode(flame) });
    },
    zoomBy: (factor) => icicle.zoomBy(factor),
    panBy: (steps) => icicle.panBy(steps),
    showAll: () => (view.state.pin ? view.pin(null) : icicle.zoomTo(0)),
    showPin: () => pinNode(flame) > 0 && icicle.zoomTo(pinNode(flame)),
    focusFind: () => flame.find.focus(),
    nextMatch: (by) => nextMatch(flame, by),
    destroy() {
      flame.takeBack?.();
      flame.stopTheme();
      icicle.destroy();
      top.destroy();
    },
  };
}

/* ---- the panel --------------------------------------------------------------------- */

function build(flame) {
  const { view } = flame;
  flame.find = el('input', {
    type: 'search',
    class: 'device-find',
    placeholder: 'find a frame',
    'aria-label': 'Find frames in the flame graph',
    spellcheck: 'false',
    on: {
      input: () => {
        flame.takeBack?.();
        flame.takeBack = later(() => view.context.move({ find: flame.find.value }), ASK_AFTER_MS);
      },
      keydown: (event) => onFindKey(flame, event),
    },
  });
  flame.foundText = el('span', { class: 'device-found', role: 'status' });
  flame.invert = el('input', {
    type: 'checkbox',
    on: { change: () => view.choose({ invert: flame.invert.checked ? '1' : '', pin: null }) },
  });
  flame.legend = createLegend('Colours of the flame graph');
  flame.path = el('nav', { class: 'device-path', 'aria-label': 'Frames above' });
  flame.icicle = createIcicle({
    sentence: (node) => say.nodeSentence(flame.data.metric, factsOf(flame, node), flame.data.is_diff),
    onHover: (node, many, mark) => hover(flame, node, many, mark),
    onLeave: () => leave(flame),
    onPick: (node) => pick(flame, node),
  });
  flame.panel = createPanel('panel-flame', 'Flame graph', {
    menu: exportEntries({
      name: 'flame',
      title: () => flame.title ?? 'Flame graph',
      drawing: () => {
        const drawing = flame.icicle.drawing();
        return drawing ? { ...drawing, legend: legendOf(flame).map(({ word, fill: colour }) => ({ word, colour })) } : null;
      },
    }),
  });
  flame.panel.body.append(flame.path, flame.icicle.node);
  flame.top = createTopPanel(view, { isShort: true });
  flame.loader = createLoader(view, flame.panel, { what: 'The flame graph', sentence: 'call stacks' });
  flame.subLoader = createLoader(view, flame.panel, { what: 'This part of the flame graph', sentence: 'more call stacks' });
  flame.node = el('div', { class: 'device-flame' }, flame.panel.node, flame.top.node);
  flame.stopTheme = onTheme(() => flame.colours && recolour(flame));
}

function onFindKey(flame, event) {
  if (event.key === 'Enter') nextMatch(flame, event.shiftKey ? -1 : 1);
  else if (event.key === 'Escape') {
    if (flame.find.value) {
      flame.find.value = '';
      flame.view.context.move({ find: '' });
    } else flame.find.blur();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

const invertLabel = (flame) =>
  el('label', { class: 'device-toggle', title: 'Call sites on top, their callers below (v)' }, flame.invert, 'invert');

/* ---- loading ------------------------------------------------------------------------ */

async function show(flame) {
  const { view } = flame;
  const { state } = view;
  flame.invert.checked = state.isInverted;
  if (document.activeElement !== flame.find) flame.find.value = state.find;
  const params = state.isInverted ? { invert: '1' } : {};
  const loaded = flame.loader.load('flame', params, (data) => {
    flame.whole = data;
    draw(flame, data, '');
  });
  const [data] = await Promise.all([loaded, flame.top.show()]);
  if (!data) return;
  await showPart(flame, params);
  search(flame);
}

/* A pinned frame that the whole picture leaves out, or of which it leaves much out, is asked for. */
async function showPart(flame, params) {
  const { pin } = flame.view.state;
  if (flame.root !== '' && !`${pin}.`.startsWith(`${flame.root}.`)) draw(flame, flame.whole, '');
  if (!pin) {
    if (flame.root !== '') draw(flame, flame.whole, '');
    else zoomToPin(flame);
    return;
  }
  const isPath = pin.includes('.') || findPath(flame.read, pin).isWhole;
  const { isWhole, node } = findPath(flame.read, relative(flame, pin));
  const isThin = flame.data.left_out?.node_count > 0 && flame.read.tree.width[node] < flame.read.tree.width[0] / 2;
  if (isPath && (!isWhole || (isThin && flame.root !== pin)))
    await flame.subLoader.load('flame', { ...params, at: pin }, (data) => draw(flame, data, pin));
  else zoomToPin(flame);
}

const relative = (flame, path) => (flame.root ? path.slice(flame.root.length + 1) : path);

function draw(flame, data, root) {
  const { view, panel } = flame;
  flame.data = data;
  flame.root = root;
  flame.hoverNode = null;
  flame.match = -1;
  flame.read = readFlame(data);
  view.names = [...new Set(flame.read.names.function.filter(Boolean))];
  const isSame = root !== '' && flame.colours;
  flame.colours = coloursOf(flame.read, data.is_diff, isSame ? flame.colours.files : null);
  const shown = flame.read.tree.length - 1;
  flame.title = data.is_diff ? 'Flame graph of the change' : 'Flame graph';
  panel.setTitle(
    flame.title,
    el('span', { class: 'dim' }, ` ${counted(shown, 'frame')}${leftOutWords(data)}`),
  );
  panel.setAside(flame.legend.node, invertLabel(flame), flame.foundText, flame.find);
  if (shown === 0 || data.total === 0) {
    const isFiltered = countFilters(view.state) > 0;
    if (shown === 0)
      panel.say(message(isFiltered ? empty.noMatch(countFilters(view.state), view.controls.faults()) : empty.noSamples()));
  }
  flame.icicle.draw(
    flame.read.tree,
    lookOf(flame),
    say.flameLabel(view.summary ?? data, shown, view.state.isInverted),
    Math.max(0, pinNode(flame)),
  );
  recolour(flame);
  drawPath(flame);
}

function leftOutWords(data) {
  const { node_count: left, below } = data.left_out ?? {};
  return left > 0 ? `; ${count(left)} smaller than ${say.amount(data.metric, below)} appear when zoomed` : '';
}

function lookOf({ colours, read }) {
  return {
    palette: colours.palette(),
    slot: colours.slot,
    slotOfMany: colours.slotOfMany,
    label: (node) => {
      const at = read.tree.frame[node];
      return read.names.text[at];
    },
  };
}

function legendOf(flame) {
  const palette = flame.colours.palette();
  return flame.colours.legend.map((entry) => ({ ...entry, fill: palette[entry.slot].fill }));
}

function recolour(flame) {
  flame.legend.set(
    legendOf(flame).map(({ file, ...entry }) => ({
      ...entry,
      onClick: file ? () => flame.view.choose({ focus: [...flame.view.state.filters.focus, quoted(file)] }) : null,
    })),
  );
  flame.icicle.recolour(lookOf(flame));
}

/* ---- hover, pin, path ------------------------------------------------------------------ */

/* What is said of a node. */
function factsOf(flame, node, many = 0) {
  const { tree, names, before, after, folded } = flame.read;
  const at = tree.frame[node];
  return {
    name: names.text[at],
    source: names.source[at],
    total: tree.total[node],
    self: tree.self[node],
    share: percent(Math.abs(tree.total[node]), flame.data.percent_base),
    many,
    folded: folded.above[node] ?? 0,
    before: before?.[node] ?? 0,
    after: after?.[node] ?? 0,
  };
}

/* Sum of siblings that are drawn as one. */
function factsOfMany(flame, node, many) {
  const { tree } = flame.read;
  let total = 0;
  let at = node;
  for (let i = 0; i < many; i++) {
    total += tree.total[at];
    at = tree.end[at];
  }
  return { ...factsOf(flame, node, many), total };
}

function hover(flame, node, many, mark) {
  const facts = many ? factsOfMany(flame, node, many) : factsOf(flame, node);
  flame.hoverNode = node;
  showTooltip(`f:${node}`, say.nodeLines(flame.data.metric, facts, flame.data.is_diff), mark);
  flame.view.store.set({ hover: many ? null : flame.read.names.id[flame.read.tree.frame[node]] || null });
  flame.icicle.mark({ hover: node, pin: pinNode(flame) });
}

function leave(flame) {
  flame.hoverNode = null;
  hideTooltip();
  flame.view.store.set({ hover: null });
  flame.icicle.mark({ hover: -1, pin: pinNode(flame) });
}

/* The pinned frame again lets go; joined frames zoom in on their parent's part. */
function pick(flame, node) {
  const { view, read } = flame;
  if (node === null) return;
  const path = [flame.root, pathIds(read, node)].filter(Boolean).join('.');
  view.pin(path === '' || path === view.state.pin ? null : path);
}

function nodeOf(flame, id) {
  return id ? nodeOfFrame(flame.read, id) : -1;
}

function pinNode(flame) {
  const { pin } = flame.view.state;
  if (!pin || !flame.read) return -1;
  const found = findPath(flame.read, relative(flame, pin));
  if (found.isWhole) return found.node;
  return pin.includes('.') ? -1 : nodeOf(flame, pin);
}

function zoomToPin(flame) {
  flame.icicle.zoomTo(Math.max(0, pinNode(flame)));
  drawPath(flame);
}

/* all › main › … › init_state: each goes back to itself. */
function drawPath(flame) {
  const { view, read } = flame;
  const node = pinNode(flame);
  flame.path.hidden = node <= 0 && flame.root === '';
  if (flame.path.hidden) return;
  const above = [];
  let ids = '';
  if (flame.root) {
    const whole = flame.whole ? readFlame(flame.whole) : null;
    for (const id of flame.root.split('.')) {
      ids = ids ? `${ids}.${id}` : id;
      const at = whole ? whole.names.id.indexOf(id) : -1;
      above.push({ ids, text: at >= 0 ? whole.names.text[at] : id });
    }
  }
  for (const each of pathOf(read.tree, Math.max(0, node)).slice(1)) {
    const own = read.names.id[read.tree.frame[each]];
    ids = ids ? `${ids}.${own}` : own;
    above.push({ ids, text: read.names.text[read.tree.frame[each]] });
  }
  const crumb = (path, text, isLast) =>
    isLast
      ? el('span', { class: 'path-here', 'aria-current': 'true' }, el('bdi', { dir: 'ltr', class: 'mono' }, text))
      : el(
          'button',
          { type: 'button', class: 'path-step', on: { click: () => view.pin(path || null) } },
          el('bdi', { dir: 'ltr', class: 'mono' }, text),
        );
  const hidden = above.length > MOST_CRUMBS ? above.length - MOST_CRUMBS : 0;
  fill(
    flame.path,
    crumb('', 'all', false),
    hidden ? [' › ', el('span', { class: 'dim' }, `${counted(hidden, 'frame')} …`)] : null,
    above
      .slice(hidden)
      .map(({ ids: path, text }, at, list) => [' › ', crumb(path, text, at === list.length - 1)]),
  );
}

/* ---- search ---------------------------------------------------------------------------- */

function search(flame) {
  const { find } = flame.view.state;
  if (!flame.read) return;
  if (!find) {
    flame.found = null;
    flame.icicle.search(null);
    fill(flame.foundText);
    return;
  }
  const { isMatch, isLiteral } = matcher(flame.read.names, find);
  const found = searchTree(flame.read.tree, isMatch);
  flame.found = found;
  flame.match = -1;
  flame.icicle.search(found.isHit);
  const words = say.foundSentence(
    flame.data.metric,
    { matched_total: found.total, matched_count: found.nodes.length },
    flame.data.percent_base,
    found.nodes.length,
  );
  const isThin = flame.data.left_out?.node_count > 0;
  fill(flame.foundText, isLiteral ? 'searched as it stands: ' : '', isThin ? '≥ ' : '', words);
  if (isThin) exactSearch(flame, find);
}

/* Of what is too small to be sent, the daemon knows the sum. */
async function exactSearch(flame, find) {
  const { view } = flame;
  try {
    const { data } = await view.ask('flame', { search: find, least: '1', ...(view.state.isInverted ? { invert: '1' } : {}) });
    if (view.state.find !== find || !data.search || data.search.is_literal) return;
    fill(flame.foundText, say.foundSentence(data.metric, data.search, data.percent_base, flame.found.nodes.length));
  } catch {
    /* the bound stays */
  }
}

function nextMatch(flame, by) {
  const nodes = flame.found?.nodes ?? [];
  if (nodes.length === 0) return;
  flame.match = (flame.match + by + nodes.length) % nodes.length;
  const node = nodes[flame.match];
  flame.icicle.show(node);
  flame.hoverNode = node;
  flame.view.store.set({ hover: flame.read.names.id[flame.read.tree.frame[node]] });
  flame.icicle.mark({ hover: node, pin: pinNode(flame) });
}
