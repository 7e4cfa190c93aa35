/* SPDX-License-Identifier: Apache-2.0
 * part.js: one icicle of the flame graph with its names, colours, hover and search. */

import { el, fill } from '../../lib/dom.js';
import { percent } from '../../lib/format.js';
import { createIcicle } from '../../widgets/icicle.js';
import { searchTree } from '../../widgets/icicle_layout.js';
import { ROW_PX } from '../../widgets/icicle_paint.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { openFrameMenu } from './acts.js';
import { coloursOf, findPath, matcher, nodeOfFrame, pathIds, readFlame } from './tree.js';
import * as say from './text.js';

const FIGURE_LETTERS = 12;
const HEADING_PX = 36;

let serial = 0;

/* What is said of a node; of `many` siblings that are drawn as one, their sum. shown: {data, read}. */
function factsOf({ data, read }, node, many = 0) {
  const { tree, names } = read;
  const at = tree.frame[node];
  let total = tree.total[node];
  for (let i = 1, next = tree.end[node]; i < many; i++, next = tree.end[next]) total += tree.total[next];
  return {
    name: names.text[at],
    source: names.source[at],
    total,
    self: tree.self[node],
    share: percent(Math.abs(tree.total[node]), data.percent_base),
    many,
    folded: read.folded.above?.[node] ?? 0,
    before: read.before?.[node] ?? 0,
    after: read.after?.[node] ?? 0,
  };
}

/* With room its figure too; without room the name of the function alone. */
function labelOf({ data, read }, node, letters) {
  const at = read.tree.frame[node];
  const whole = read.names.text[at];
  if (whole.length > letters) return read.names.function[at] || whole;
  if (whole.length + FIGURE_LETTERS > letters) return whole;
  const size = data.is_diff
    ? `${say.changeWords(data.metric, read.tree.total[node])} ` +
      `(${say.relativeWords({ before: read.before[node], after: read.after[node] })})`
    : say.amount(data.metric, read.tree.total[node]);
  return whole.length + size.length + 3 <= letters ? `${whole}   ${size}` : whole;
}

function lookOf(shown) {
  const { colours } = shown;
  return {
    palette: colours.palette(),
    slot: colours.slot,
    slotOfMany: colours.slotOfMany,
    label: (node, letters) => labelOf(shown, node, letters),
  };
}

function openMenuOf(url, { names, tree }, node, ...where) {
  const at = tree.frame[node];
  hideTooltip();
  openFrameMenu(
    url,
    { id: names.id[at], function: names.function[at], file: names.file[at] },
    names.text[at],
    ...where,
  );
}

/* onPick(path of ids | null); onWindow(range) of createIcicle; isFlipped: callers above, the frame below them. */
export function createPart({ url, store, hint }, { onPick, onWindow, isFlipped = false }) {
  const key = ++serial;
  const heading = el('h3', { hidden: true });
  /* data: the answer; read: of readFlame(); root: path that the answer begins with. */
  const shown = { data: null, read: null, colours: null, root: '' };
  let hoverNode = -1;
  let found = null;

  const relative = (path) => (shown.root ? path.slice(shown.root.length + 1) : path);
  const nodeOfPin = () => {
    const { pin } = url.state;
    const { read } = shown;
    if (!pin || !read) return -1;
    const at = findPath(read, relative(pin));
    if (at.isWhole) return at.node;
    return pin.includes('.') ? -1 : nodeOfFrame(read, pin);
  };
  const idOf = (node) => shown.read.names.id[shown.read.tree.frame[node]] || null;
  const icicle = createIcicle({
    isFlipped,
    onWindow,
    sentence: (node) => say.nodeSentence(shown.data.metric, factsOf(shown, node), shown.data.is_diff),
    onHover: (node, many, mark) => {
      const { metric, is_diff: isDiff } = shown.data;
      hoverNode = node;
      showTooltip(`f:${key}:${node}`, say.nodeLines(metric, factsOf(shown, node, many), isDiff), mark);
      store.set({ hover: many ? null : idOf(node) });
      icicle.mark({ hover: node, pin: nodeOfPin() });
    },
    onLeave: () => {
      hoverNode = -1;
      hideTooltip();
      store.set({ hover: null });
      icicle.mark({ hover: -1, pin: nodeOfPin() });
    },
    onMenu: (node, ...where) => openMenuOf(url, shown.read, node, ...where),
    onAll: () => (url.state.pin ? url.pin(null) : icicle.zoomTo(0)),
    onHint: () => hint('Click the chart or hold Ctrl to zoom'),
    onPick: (node) => onPick([shown.root, pathIds(shown.read, node)].filter(Boolean).join('.'), idOf(node)),
  });
  const node = el('div', { class: 'flame-part' }, heading, icicle.node);
  return {
    node,
    icicle,
    /* As high as its rows, less where there is no room. */
    fitRows() {
      node.style.flex = `0 1 ${Math.max(1, shown.read.tree.deepest) * ROW_PX + HEADING_PX}px`;
    },
    shown,
    /* known: colours of files to keep; rootName: word on the first frame; at: path that the answer begins
     * with; isRootHidden: the one frame below the root is the first that is seen. */
    draw(data, { at = '', known = null, rootName = 'all', isRootHidden = false, label }) {
      const read = readFlame(data, rootName);
      Object.assign(shown, { data, read, root: at, colours: coloursOf(read, data.is_diff, known) });
      hoverNode = -1;
      found = null;
      icicle.draw(read.tree, lookOf(shown), label, isRootHidden && read.tree.length > 1 ? 1 : Math.max(0, nodeOfPin()));
    },
    setHeading(...parts) {
      heading.hidden = parts.length === 0;
      fill(heading, parts);
    },
    legend: () => {
      const palette = shown.colours.palette();
      return shown.colours.legend.map((entry) => ({ ...entry, fill: palette[entry.slot].fill }));
    },
    recolour: () => shown.colours && icicle.recolour(lookOf(shown)),
    light(hover) {
      if (shown.read)
        icicle.mark({
          hover: hoverNode >= 0 ? hoverNode : hover ? nodeOfFrame(shown.read, hover) : -1,
          pin: nodeOfPin(),
        });
    },
    nodeOfPin,
    zoomToPin: () => icicle.zoomTo(Math.max(0, nodeOfPin())),
    /* {nodes, total, isLiteral}, or null without a text. */
    search(text) {
      if (!text) {
        found = null;
        icicle.search(null);
        return null;
      }
      const { isMatch, isLiteral } = matcher(shown.read.names, text);
      found = { ...searchTree(shown.read.tree, isMatch), isLiteral };
      icicle.search(found.isHit);
      return found;
    },
    destroy: icicle.destroy,
  };
}
