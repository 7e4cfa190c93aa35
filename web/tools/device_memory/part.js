/* SPDX-License-Identifier: Apache-2.0
 * part.js: one icicle of the flame graph with its names, colours, hover and search. */

import { el, fill } from '../../lib/dom.js';
import { percent } from '../../lib/format.js';
import { createIcicle } from '../../widgets/icicle.js';
import { searchTree } from '../../widgets/icicle_layout.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { coloursOf, findPath, matcher, nodeOfFrame, pathIds, readFlame } from './tree.js';
import * as say from './text.js';

const FIGURE_LETTERS = 12;

let serial = 0;

/* onPick(path of ids | null); isFlipped: callers above, the frame below them. */
export function createPart(view, { onPick, isFlipped = false }) {
  const key = ++serial;
  const heading = el('h3', { hidden: true });
  let data = null;
  let read = null;
  let colours = null;
  let root = '';
  let hoverNode = -1;
  let found = null;
  let match = -1;

  const relative = (path) => (root ? path.slice(root.length + 1) : path);
  const nodeOfPin = () => {
    const { pin } = view.state;
    if (!pin || !read) return -1;
    const at = findPath(read, relative(pin));
    if (at.isWhole) return at.node;
    return pin.includes('.') ? -1 : nodeOfFrame(read, pin);
  };
  const factsOf = (node, many = 0) => {
    const at = read.tree.frame[node];
    const pick = (list) => list?.[node] ?? 0;
    return {
      name: read.names.text[at],
      source: read.names.source[at],
      total: read.tree.total[node],
      self: read.tree.self[node],
      share: percent(Math.abs(read.tree.total[node]), data.percent_base),
      many,
      folded: pick(read.folded.above),
      before: pick(read.before),
      after: pick(read.after),
    };
  };
  /* Sum of siblings that are drawn as one. */
  const factsOfMany = (node, many) => {
    let total = 0;
    for (let i = 0, at = node; i < many; i++, at = read.tree.end[at]) total += read.tree.total[at];
    return { ...factsOf(node, many), total };
  };
  const idOf = (node) => read.names.id[read.tree.frame[node]] || null;
  const icicle = createIcicle({
    isFlipped,
    sentence: (node) => say.nodeSentence(data.metric, factsOf(node), data.is_diff),
    onHover: (node, many, mark) => {
      const facts = many ? factsOfMany(node, many) : factsOf(node);
      hoverNode = node;
      showTooltip(`f:${key}:${node}`, say.nodeLines(data.metric, facts, data.is_diff), mark);
      view.store.set({ hover: many ? null : idOf(node) });
      icicle.mark({ hover: node, pin: nodeOfPin() });
    },
    onLeave: () => {
      hoverNode = -1;
      hideTooltip();
      view.store.set({ hover: null });
      icicle.mark({ hover: -1, pin: nodeOfPin() });
    },
    onAll: () => (view.state.pin ? view.pin(null) : icicle.zoomTo(0)),
    onHint: () => view.context.say?.('Click the chart or hold Ctrl to zoom'),
    onPick: (node) => onPick([root, pathIds(read, node)].filter(Boolean).join('.'), idOf(node)),
  });
  const look = () => ({
    palette: colours.palette(),
    slot: colours.slot,
    slotOfMany: colours.slotOfMany,
    /* With room its figure too; without room the name of the function alone. */
    label(node, letters) {
      const at = read.tree.frame[node];
      const whole = read.names.text[at];
      if (whole.length > letters) return read.names.function[at] || whole;
      if (whole.length + FIGURE_LETTERS > letters) return whole;
      const size = data.is_diff
        ? `${say.changeWords(data.metric, read.tree.total[node])} (${say.relativeWords({ before: read.before[node], after: read.after[node] })})`
        : say.amount(data.metric, read.tree.total[node]);
      return whole.length + size.length + 3 <= letters ? `${whole}   ${size}` : whole;
    },
  });
  return {
    node: el('div', { class: 'flame-part' }, heading, icicle.node),
    icicle,
    get data() {
      return data;
    },
    get read() {
      return read;
    },
    get root() {
      return root;
    },
    get files() {
      return colours?.files ?? null;
    },
    /* known: colours of files to keep; rootName: word on the first frame; at: path that the answer begins
     * with; isRootHidden: the one frame below the root is the first that is seen. */
    draw(next, { at = '', known = null, rootName = 'all', isRootHidden = false, label }) {
      data = next;
      root = at;
      hoverNode = -1;
      found = null;
      read = readFlame(data, rootName);
      colours = coloursOf(read, data.is_diff, known);
      icicle.draw(read.tree, look(), label, isRootHidden && read.tree.length > 1 ? 1 : Math.max(0, nodeOfPin()));
    },
    setHeading(...parts) {
      heading.hidden = parts.length === 0;
      fill(heading, parts);
    },
    legend: () => {
      const palette = colours.palette();
      return colours.legend.map((entry) => ({ ...entry, fill: palette[entry.slot].fill }));
    },
    recolour: () => colours && icicle.recolour(look()),
    light(hover) {
      if (read) icicle.mark({ hover: hoverNode >= 0 ? hoverNode : hover ? nodeOfFrame(read, hover) : -1, pin: nodeOfPin() });
    },
    nodeOfPin,
    zoomToPin: () => icicle.zoomTo(Math.max(0, nodeOfPin())),
    /* {nodes, total, isLiteral}, or null without a text. */
    search(text) {
      match = -1;
      if (!text) {
        found = null;
        icicle.search(null);
        return null;
      }
      const { isMatch, isLiteral } = matcher(read.names, text);
      found = { ...searchTree(read.tree, isMatch), isLiteral };
      icicle.search(found.isHit);
      return found;
    },
    nextMatch(by) {
      const nodes = found?.nodes ?? [];
      if (nodes.length === 0) return;
      match = (match + by + nodes.length) % nodes.length;
      hoverNode = nodes[match];
      icicle.show(hoverNode);
      view.store.set({ hover: idOf(hoverNode) });
      icicle.mark({ hover: hoverNode, pin: nodeOfPin() });
    },
    destroy: icicle.destroy,
  };
}
