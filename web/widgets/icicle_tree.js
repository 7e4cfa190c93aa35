/* SPDX-License-Identifier: Apache-2.0
 * icicle_tree.js: the focusable tree beside the canvas, for keyboard and screen reader. The path to
 * the active frame, its siblings and its children stand in the document, at most 200 of a kind.
 * Its own file: what a screen reader and the keyboard have of a flame graph, which nobody sees. */

import { el, fill } from '../lib/dom.js';
import { childrenOf, pathOf, siblingsOf } from './icicle_layout.js';

const LOADED = 200;
let serial = 0;

function around(list, node) {
  const at = Math.max(0, list.indexOf(node));
  const from = Math.max(0, Math.min(list.length - LOADED, at - LOADED / 2));
  return list.slice(from, from + LOADED).map((each, i) => ({ node: each, position: from + i + 1, size: list.length }));
}

/* sentence(node) names a frame; onMove(node), onEnter(node), onLeave(). */
export function createKeyboardTree({ sentence, onMove, onEnter, onLeave }) {
  const id = `icicle-${++serial}`;
  const list = el('ul', { id, class: 'hidden', role: 'tree', tabindex: '0' });
  let tree = null;
  let active = -1;
  let pinned = -1;

  const item = ({ node, position, size }, inner = null) =>
    el(
      'li',
      {
        id: `${id}-${node}`,
        role: 'treeitem',
        'aria-level': tree.depth[node] + 1,
        'aria-setsize': size,
        'aria-posinset': position,
        'aria-selected': String(node === pinned),
        'aria-expanded': tree.end[node] > node + 1 ? String(Boolean(inner)) : null,
      },
      sentence(node),
      inner,
    );
  const level = (nodes, open, inside) =>
    nodes.map((each) => item(each, each.node === open && inside ? el('ul', { role: 'group' }, inside) : null));
  const draw = () => {
    if (!tree || tree.length === 0) {
      fill(list);
      list.removeAttribute('aria-activedescendant');
      return;
    }
    const here = Math.max(0, active);
    const children = around(childrenOf(tree, here), -1);
    let inside = children.length ? level(children, -1, null) : null;
    for (const node of pathOf(tree, here).reverse()) {
      const nodes = node === here ? around(siblingsOf(tree, node), node) : [one(node)];
      inside = level(nodes, node, inside);
    }
    fill(list, inside);
    if (active >= 0) list.setAttribute('aria-activedescendant', `${id}-${active}`);
    else list.removeAttribute('aria-activedescendant');
  };
  const one = (node) => {
    const siblings = siblingsOf(tree, node);
    return { node, position: siblings.indexOf(node) + 1, size: siblings.length };
  };
  const move = (node) => {
    active = node;
    draw();
    onMove(node);
  };
  const beside = (by) => {
    const siblings = siblingsOf(tree, active);
    return siblings[Math.max(0, Math.min(siblings.length - 1, siblings.indexOf(active) + by))];
  };
  const steps = {
    ArrowRight: () => childrenOf(tree, active)[0] ?? active,
    ArrowLeft: () => (tree.parent[active] < 0 ? active : tree.parent[active]),
    ArrowDown: (by) => beside(by),
    ArrowUp: (by) => beside(-by),
    Home: () => 0,
    End: () => siblingsOf(tree, active).at(-1),
  };
  list.addEventListener('keydown', (event) => {
    if (!tree?.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) move(steps[event.key](event.shiftKey ? 10 : 1));
    else if (event.key === 'Enter') onEnter(active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener('focus', () => {
    if (tree?.length) move(active < 0 ? Math.max(0, pinned) : active);
  });
  list.addEventListener('blur', onLeave);
  return {
    node: list,
    setLabel(text) {
      list.setAttribute('aria-label', text);
    },
    setTree(next) {
      tree = next;
      active = -1;
      pinned = -1;
      draw();
    },
    setPinned(node) {
      if (node === pinned) return;
      pinned = node;
      if (node >= 0 && document.activeElement !== list) active = node;
      draw();
    },
    get active() {
      return document.activeElement === list ? active : -1;
    },
  };
}
