/* SPDX-License-Identifier: Apache-2.0
 * icicle_tree.js: the focusable tree beside the canvas, for keyboard and screen reader. The path to
 * the active frame, its siblings and its children stand in the document, at most 200 of a kind.
 * Its own file: what a screen reader and the keyboard have of a flame graph, which nobody sees. */

import { el } from '../lib/dom.js';
import { childrenOf, pathOf, siblingsOf } from './icicle_layout.js';
import { createKeyboard } from './keyboard_list.js';

const LOADED = 200;
const PAGE = 10;

/* Of a list of siblings those around a node, with their places. */
function around(list, node) {
  const at = Math.max(0, list.indexOf(node));
  const from = Math.max(0, Math.min(list.length - LOADED, at - LOADED / 2));
  return list.slice(from, from + LOADED).map((each, i) => ({ node: each, position: from + i + 1, size: list.length }));
}

/* sentence(node) names a frame; onMove(node), onEnter(node), onLeave(). */
export function createKeyboardTree({ sentence, ...actions }) {
  let tree = null;
  const beside = (active, by) => {
    const siblings = siblingsOf(tree, active);
    return siblings[Math.max(0, Math.min(siblings.length - 1, siblings.indexOf(active) + by))];
  };
  const steps = {
    ArrowRight: (active) => childrenOf(tree, active)[0] ?? active,
    ArrowLeft: (active) => (tree.parent[active] < 0 ? active : tree.parent[active]),
    ArrowDown: (active, by) => beside(active, by),
    ArrowUp: (active, by) => beside(active, -by),
    Home: () => 0,
    End: (active) => siblingsOf(tree, active).at(-1),
  };
  const rowsOf = (idOf, active, pinned) => {
    const item = ({ node, position, size }, inner) => {
      const place = { 'aria-level': tree.depth[node] + 1, 'aria-setsize': size, 'aria-posinset': position };
      const isOpen = tree.end[node] > node + 1 ? String(Boolean(inner)) : null;
      return el(
        'li',
        {
          id: idOf(node),
          role: 'treeitem',
          ...place,
          'aria-selected': String(node === pinned),
          'aria-expanded': isOpen,
        },
        sentence(node),
        inner,
      );
    };
    const level = (rows, open, inside) =>
      rows.map((row) => item(row, row.node === open && inside ? el('ul', { role: 'group' }, inside) : null));
    const here = Math.max(0, active);
    const children = around(childrenOf(tree, here), -1);
    let inside = children.length ? level(children, -1, null) : null;
    for (const node of pathOf(tree, here).reverse()) {
      const siblings = siblingsOf(tree, node);
      const alone = { node, position: siblings.indexOf(node) + 1, size: siblings.length };
      inside = level(node === here ? around(siblings, node) : [alone], node, inside);
    }
    return inside;
  };
  const keyboard = createKeyboard({
    role: 'tree',
    isEmpty: () => !tree?.length,
    rowsOf,
    next: (key, isShift, active) => steps[key]?.(active, isShift ? PAGE : 1),
    ...actions,
  });
  return {
    node: keyboard.node,
    setLabel: keyboard.setLabel,
    setTree(next) {
      tree = next;
      Object.assign(keyboard, { active: -1, pinned: -1 });
      keyboard.draw();
    },
    setPinned(node) {
      if (node >= 0 && node !== keyboard.pinned && !keyboard.hasFocus) keyboard.active = node;
      keyboard.setPinned(node);
    },
    /* The node that the keyboard is at, or -1. */
    get active() {
      return keyboard.hasFocus ? keyboard.active : -1;
    },
  };
}
