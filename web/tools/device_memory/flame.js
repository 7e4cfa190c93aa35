/* SPDX-License-Identifier: Apache-2.0
 * flame.js: the flame graph: one icicle; two (a frame with its callers above it); or one
 * a device. A click pins and zooms in one act; the path above stays as a breadcrumb. */

import { button, el, fill } from '../../lib/dom.js';
import { count, counted, visible } from '../../lib/format.js';
import { onTheme } from '../../lib/theme.js';
import { downloadLink } from '../../widgets/export_menu.js';
import { createLegend } from '../../widgets/legend.js';
import { createBrush } from '../../widgets/brush.js';
import { pathOf, silhouetteOf } from '../../widgets/icicle_layout.js';
import { createPanel, message } from '../../widgets/panel.js';
import { countFilters, quoted } from './state.js';
import { createLoader } from './load.js';
import { createPart } from './part.js';
import { menuOf, shareBar } from './parts.js';
import { drawSandwich, frameOf } from './sandwich.js';
import { createTopPanel } from './top.js';
import { findPath } from './tree.js';
import * as empty from './empty.js';
import * as say from './text.js';

const MAX_DEVICES = 16;
const MAX_PIN = 1800;
const MAX_CRUMBS = 12;
/* Fewer frames are all seen at once. */
const MINIMAP_FRAMES = 40;

export function createFlame({ url, subject, store, hint }) {
  const flame = { url, subject, store, hint, whole: null, parts: [], shown: '' };
  build(flame);
  return {
    node: flame.node,
    show: () => show(flame),
    forget() {
      for (const loader of [flame.loader, flame.subLoader]) loader.forget();
      flame.top.forget();
      flame.whole = null;
      flame.shown = '';
    },
    light(hover, pin) {
      flame.top.light(hover, pin);
      for (const part of flame.parts) part.light(hover);
    },
    zoomBy: (factor) => flame.parts.forEach((part) => part.icicle.zoomBy(factor)),
    panBy: (steps) => flame.parts.forEach((part) => part.icicle.panBy(steps)),
    showAll() {
      if (url.state.pin) url.pin(null);
      else for (const part of flame.parts) part.icicle.zoomTo(0);
    },
    showPin: () => flame.parts.forEach((part) => part.nodeOfPin() > 0 && part.zoomToPin()),
    destroy() {
      flame.stopTheme();
      flame.minimap.destroy();
      flame.parts.forEach((part) => part.destroy());
      flame.top.destroy();
    },
  };
}

/* ---- the panel --------------------------------------------------------------------- */

function build(flame) {
  const { url, subject, store } = flame;
  flame.foundText = el('span', { class: 'device-found', role: 'status' });
  flame.invert = el('input', {
    type: 'checkbox',
    on: { change: () => url.choose({ invert: flame.invert.checked ? '1' : '', pin: null }) },
  });
  flame.split = el('input', {
    type: 'checkbox',
    on: { change: () => url.choose({ group: flame.split.checked ? 'device' : '', pivot: '' }) },
  });
  const toggle = (box, word, title) => el('label', { class: 'device-toggle', title }, box, word);
  flame.invertLabel = toggle(flame.invert, 'invert', 'Call sites on top, their callers below (v)');
  flame.splitLabel = toggle(flame.split, 'by device', 'One graph per device, side by side');
  flame.legend = createLegend('Colours of the flame graph');
  flame.path = el('nav', { class: 'device-path', 'aria-label': 'Frames above', hidden: true });
  flame.partsNode = el('div', { class: 'flame-parts' });
  flame.minimap = createBrush({ min: 1, onRange: (range) => flame.parts[0]?.icicle.setWindow(range) });
  flame.minimap.node.classList.add('flame-minimap');
  flame.panel = createPanel('panel-flame', 'Flame graph', { menu: flameMenu(flame) });
  flame.panel.setAside(flame.foundText, flame.splitLabel, flame.invertLabel);
  flame.panel.body.append(flame.legend.node, flame.path, flame.minimap.node, flame.partsNode);
  flame.top = createTopPanel({ url, subject, store }, { isShort: true });
  flame.loader = createLoader(subject, flame.panel, { what: 'The flame graph', sentence: 'call stacks' });
  flame.subLoader = createLoader(subject, flame.panel, {
    what: 'This part of the flame graph',
    sentence: 'more call stacks',
  });
  flame.node = el('div', { class: 'device-flame' }, flame.panel.node, flame.top.node);
  flame.stopTheme = onTheme(() => {
    for (const part of flame.parts) part.recolour();
    if (flame.parts[0]?.shown.read) drawLegend(flame);
  });
}

function flameMenu(flame) {
  const entries = menuOf(flame.subject, {
    name: 'flame',
    title: () => flame.title ?? 'Flame graph',
    drawing: () => {
      const drawing = flame.parts[0]?.icicle.drawing();
      if (!drawing) return null;
      return { ...drawing, legend: flame.parts[0].legend().map(({ word, fill: colour }) => ({ word, colour })) };
    },
  });
  const collapsed = {
    word: 'Stacks, one per line (collapsed)',
    run: () => downloadLink(flame.subject.link('traces', {}, 'collapsed')),
  };
  return () => [...entries(), collapsed];
}

/* ---- loading ------------------------------------------------------------------------ */

/* "" = one icicle, else what there are several of. */
function modeOf({ url, subject }) {
  if (url.state.pivot) return 'pivot';
  return url.state.isSplit && (subject.summary?.devices.length ?? 0) > 1 ? 'device' : '';
}

async function show(flame) {
  const { subject } = flame;
  const { state } = flame.url;
  flame.invert.checked = state.isInverted;
  flame.split.checked = state.isSplit;
  if (state.isSplit) await subject.summaryRead;
  const mode = modeOf(flame);
  const params = state.isInverted && mode !== 'pivot' ? { invert: '1' } : {};
  if (mode === 'pivot') await showPivot(flame);
  else if (mode === 'device') await showDevices(flame, params);
  else await showWhole(flame, params);
  search(flame);
  await flame.top.show();
  flame.splitLabel.hidden = !state.isSplit && (subject.summary?.devices.length ?? 0) < 2;
}

/* A click pins a frame and zooms to it; again lets go. A path too long for a link is its last frame alone. */
function pickOf(flame) {
  return (path, id) => {
    const { url } = flame;
    const pin = path.length > MAX_PIN ? id : path;
    url.pin(!pin || pin === url.state.pin ? null : pin);
  };
}

/* As many parts as there shall be; those that are there already stay. */
function setParts(flame, makers) {
  const shape = makers.map(({ isFlipped = false }) => isFlipped).join();
  if (flame.shape === shape) return;
  flame.shape = shape;
  flame.parts.forEach((part) => part.destroy());
  flame.parts = makers.map((options) => createPart(flame, { onPick: pickOf(flame), ...options }));
  fill(
    flame.partsNode,
    flame.parts.map(({ node }) => node),
  );
}

async function showWhole(flame, params) {
  const data = await flame.loader.load('flame', params, (found) => {
    flame.whole = found;
    flame.shown = '';
  });
  if (!data) return;
  if (flame.shown !== 'whole') {
    setParts(flame, [{ onWindow: flame.minimap.setRange }]);
    flame.partsNode.classList.remove('is-split');
    drawWhole(flame, data, '');
    flame.shown = 'whole';
  }
  await showPinned(flame, params);
}

function drawWhole(flame, data, at) {
  const { url, subject } = flame;
  const [part] = flame.parts;
  const known = at && !data.is_diff ? part.shown.colours?.files : null;
  const frames = data.nodes.depth.length - 1;
  part.setHeading();
  part.draw(data, { at, known, label: say.flameLabel(subject.summary ?? data, frames, url.state.isInverted) });
  flame.minimap.draw(silhouetteOf(part.shown.read.tree));
  flame.minimap.setRange([part.icicle.window.from, part.icicle.window.to]);
  said(flame, data, frames);
}

/* Title, legend, and why nothing is there. */
function said(flame, data, frames) {
  const { url, subject, panel } = flame;
  flame.minimap.node.hidden = modeOf(flame) !== '' || frames < MINIMAP_FRAMES;
  const deepest = Math.max(...flame.parts.map(({ shown }) => shown.read.tree.deepest + 1));
  const rows = modeOf(flame) === 'pivot' ? 2 * deepest + 6 : deepest;
  panel.node.style.setProperty('--icicle-rows', rows);
  flame.title = data.is_diff ? 'Flame graph of the change' : 'Flame graph';
  subject.names = [...new Set(flame.parts[0].shown.read.names.function.filter(Boolean))];
  panel.setTitle(flame.title, el('span', { class: 'dim' }, ` ${counted(frames, 'frame')}${leftOutWords(data)}`));
  drawLegend(flame);
  if (frames > 0) return;
  const many = countFilters(url.state);
  panel.say(message(many ? empty.noMatch(many, say.faultsOf(subject.summary)) : empty.noSamples()));
}

const isThinned = ({ left_out: left }) => left?.node_count > 0 && left.below > 0;

function leftOutWords(data) {
  const { node_count: left, below } = data.left_out ?? {};
  if (!left) return '';
  return below > 0
    ? `; ${count(left)} smaller than ${say.amount(data.metric, below)} appear when zoomed`
    : `; ${count(left)} that hold nothing are not drawn`;
}

function drawLegend(flame) {
  flame.legend.set(
    flame.parts[0]
      .legend()
      .map(({ file, ...entry }) => ({
        ...entry,
        onClick: file ? () => flame.url.choose({ focus: [...flame.url.state.filters.focus, quoted(file)] }) : null,
      })),
  );
}

/* A pinned frame that the whole picture leaves out, or of which it leaves much out, is asked for. */
async function showPinned(flame, params) {
  const { pin } = flame.url.state;
  const [part] = flame.parts;
  if (part.shown.root !== '' && !`${pin}.`.startsWith(`${part.shown.root}.`)) drawWhole(flame, flame.whole, '');
  const { data, read, root } = part.shown;
  const found = findPath(read, root ? pin.slice(root.length + 1) : pin);
  const isPath = pin.includes('.') || found.isWhole;
  const isThin = isThinned(data) && read.tree.width[found.node] < read.tree.width[0] / 2;
  if (pin && isPath && (!found.isWhole || (isThin && root !== pin)))
    await flame.subLoader
      .load('flame', { ...params, at: pin }, () => {})
      .then((found) => found && drawWhole(flame, found, pin));
  else flame.subLoader.forget();
  part.zoomToPin();
  drawPath(flame, part.shown, part.nodeOfPin());
}

/* The frames above the one that is pinned, each a way back: all › main › fit. shown: of part.js. */
function drawPath({ url, path, whole }, { read, root }, node) {
  path.hidden = node <= 0 && root === '';
  if (path.hidden) return;
  const above = [];
  let ids = '';
  const add = (id, text) => {
    ids = ids ? `${ids}.${id}` : id;
    above.push({ ids, text });
  };
  for (const id of root.split('.').filter(Boolean)) {
    const at = whole.frames.id.indexOf(id);
    add(id, at >= 0 ? say.frameText(whole, at) : id);
  }
  for (const each of pathOf(read.tree, Math.max(0, node)).slice(1))
    add(read.names.id[read.tree.frame[each]], read.names.text[read.tree.frame[each]]);
  const hidden = Math.max(0, above.length - MAX_CRUMBS);
  fill(
    path,
    crumb(url, '', 'all', false),
    hidden ? [' › ', el('span', { class: 'dim' }, `${counted(hidden, 'frame')} …`)] : null,
    above.slice(hidden).map(({ ids: way, text }, at, list) => [' › ', crumb(url, way, text, at === list.length - 1)]),
  );
}

function crumb(url, way, text, isLast) {
  const words = el('bdi', { dir: 'ltr', class: 'mono' }, text);
  if (isLast) return el('span', { class: 'path-here', 'aria-current': 'true' }, words);
  return button('path-step', () => url.pin(way || null), words);
}

/* ---- several ------------------------------------------------------------------------- */

/* All callers of a frame above it, all it called below. */
async function showPivot(flame) {
  const { url, store } = flame;
  const { pivot } = url.state;
  const data = await flame.loader.load('flame', { pivot }, () => {
    flame.shown = '';
  });
  if (!data || flame.shown === pivot) return;
  flame.shown = pivot;
  const onPick = (path, id) => url.pin(id === store.state.pin ? null : id);
  setParts(flame, [{ isFlipped: true, onPick }, { onPick }]);
  flame.partsNode.classList.remove('is-split');
  const name = frameOf(data, pivot);
  drawSandwich(flame.parts, data, name);
  fill(
    flame.path,
    'Sandwich of ',
    el('bdi', { dir: 'ltr', class: 'mono path-here' }, name),
    ' ',
    button('text-button', () => url.choose({ pivot: '' }), 'back to all'),
  );
  flame.path.hidden = false;
  said(flame, data, data.nodes.depth.length + data.callers.depth.length - 1);
}

/* One icicle a device, largest first, each at the full width of its place. */
async function showDevices(flame, params) {
  const { url, subject } = flame;
  const devices = subject.summary.devices.slice(0, MAX_DEVICES);
  const shown = JSON.stringify([subject.key, devices.map(({ name }) => name), params]);
  if (flame.shown === shown) {
    flame.parts.forEach((part) => part.zoomToPin());
    return;
  }
  const others = url.state.filters.tag.filter((tag) => !tag.startsWith('device='));
  const end = flame.panel.wait('Reading call stacks of each device.', () => url.choose({ group: '' }));
  try {
    const answers = await Promise.all(
      devices.map(({ name }) => subject.ask('flame', { ...params, tag: [...others, `device=${name}`] })),
    );
    flame.shown = shown;
    flame.loader.forget();
    flame.panel.show();
    setParts(
      flame,
      devices.map(() => ({})),
    );
    flame.partsNode.classList.add('is-split');
    const max = Math.max(...answers.map(({ data }) => Math.abs(data.total)), 1);
    let frames = 0;
    answers.forEach(({ data }, at) => {
      const part = flame.parts[at];
      const own = data.nodes.depth.length - 1;
      frames += own;
      part.draw(data, {
        known: at && !data.is_diff ? flame.parts[0].shown.colours.files : null,
        label: `${visible(devices[at].name)}: ${say.flameLabel(data, own, url.state.isInverted)}`,
      });
      part.setHeading(
        el('bdi', { dir: 'ltr', class: 'mono' }, visible(devices[at].name)),
        el('span', { class: 'figure dim' }, ` ${say.amount(data.metric, data.total)}`),
        shareBar(Math.abs(data.total) / max),
      );
    });
    flame.path.hidden = true;
    said(flame, answers[0].data, frames);
  } finally {
    end();
  }
}

/* ---- search ---------------------------------------------------------------------------- */

function search(flame) {
  const { find } = flame.url.state;
  const [part] = flame.parts;
  if (!part?.shown.read) return;
  const all = flame.parts.map((each) => each.search(find));
  if (!find) {
    fill(flame.foundText);
    return;
  }
  const isPivot = modeOf(flame) === 'pivot';
  const total = isPivot ? all[0].total : all.reduce((sum, each) => sum + each.total, 0);
  const nodes = all.reduce((sum, each) => sum + each.nodes.length, 0);
  const isThin = isThinned(part.shown.data);
  const words = say.foundSentence(part.shown.data, { matched_total: total, matched_count: nodes }, nodes);
  fill(
    flame.foundText,
    all[0].isLiteral ? 'searched as plain text: ' : '',
    isThin && nodes ? '≥ ' : '',
    isPivot ? counted(nodes, 'frame') : words,
  );
  if (isThin && !isPivot) exactSearch(flame, find, nodes);
}

/* Of what is too small to be sent, the daemon knows the sum. */
async function exactSearch(flame, find, nodes) {
  const { url, subject } = flame;
  try {
    const { data } = await subject.ask('flame', { search: find, ...(url.state.isInverted ? { invert: '1' } : {}) });
    if (url.state.find !== find || !data.search || data.search.is_literal) return;
    fill(flame.foundText, say.foundSentence(data, data.search, Math.max(nodes, 1)));
  } catch {
    /* the bound stays */
  }
}
