/* SPDX-License-Identifier: Apache-2.0
 * links.js: where the figures of a verdict are seen. Its own file: every block of the page leads there. */

import { el } from '../../lib/dom.js';
import { bytes, exactBytes } from '../../lib/format.js';

/* What of the plan a stretch of the bar is, as terms of the table of buffers. */
const FILTERS = { arguments: 'kind:parameter', outputs: 'kind:output', temporaries: 'kind:temporary', constants: 'kind:constant' };
const LEDGER = { plan: 'memory_viewer', allocator_peak: 'memory_profile', live_arrays: 'device_memory', programs: 'modules' };

/* verdict: of the daemon. Out: {viewer(more), tool(name, more), row(stretch), bar(kind), evidence(open)} → href, or null where it is nowhere to be seen. */
export function linksOf(context, verdict) {
  const { capacity } = context.route;
  const { module, session } = verdict;
  const viewer = (more) => (module ? context.link(module.session, { tool: 'memory_viewer', module: module.id, capacity, ...more }) : null);
  const tool = (name, more = {}) => {
    if (name === 'memory_viewer') return viewer(more);
    return session ? context.link(session, { tool: name, ...more }) : null;
  };
  return {
    viewer,
    tool,
    row({ kind, category, source }) {
      if (source === 'trace') return tool('memory_profile');
      if (source !== 'plan') return null;
      return viewer({ filter: category ? `cat:${category}` : (FILTERS[kind] ?? '') });
    },
    bar: (kind) => tool(LEDGER[kind]),
    evidence: (open) => open && tool(open.tool, { filter: open.filter ?? '' }),
  };
}

/* A figure that leads to where it is seen. */
export function figureLink(value, href, text = bytes(value), className = 'strong') {
  if (!href) return el('span', { class: `figure ${className}`, title: exactBytes(value) }, text);
  return el('a', { href, class: `figure figure-link ${className}`, title: `${exactBytes(value)}. Shows where it is.` }, text);
}
