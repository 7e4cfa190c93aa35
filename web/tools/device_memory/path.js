/* SPDX-License-Identifier: Apache-2.0
 * path.js: the frames above the one that is pinned, each a way back: all › main › fit. */

import { el, fill } from '../../lib/dom.js';
import { counted } from '../../lib/format.js';
import { pathOf } from '../../widgets/icicle_layout.js';
import { frameText } from './text.js';

const MAX_CRUMBS = 12;

/* flame: {view, path (the node to fill), whole (the answer about all)}; part: the icicle that is shown. */
export function drawPath({ view, path, whole }, part) {
  const { read, root } = part;
  const node = part.nodeOfPin();
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
    add(id, at >= 0 ? frameText(whole, at) : id);
  }
  for (const each of pathOf(read.tree, Math.max(0, node)).slice(1))
    add(read.names.id[read.tree.frame[each]], read.names.text[read.tree.frame[each]]);
  const hidden = Math.max(0, above.length - MAX_CRUMBS);
  fill(
    path,
    crumb(view, '', 'all', false),
    hidden ? [' › ', el('span', { class: 'dim' }, `${counted(hidden, 'frame')} …`)] : null,
    above
      .slice(hidden)
      .map(({ ids: way, text }, at, list) => [' › ', crumb(view, way, text, at === list.length - 1)]),
  );
}

function crumb(view, way, text, isLast) {
  const words = el('bdi', { dir: 'ltr', class: 'mono' }, text);
  if (isLast) return el('span', { class: 'path-here', 'aria-current': 'true' }, words);
  return el('button', { type: 'button', class: 'path-step', on: { click: () => view.pin(way || null) } }, words);
}
