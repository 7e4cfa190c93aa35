/* SPDX-License-Identifier: Apache-2.0
 * state.js: what of the URL is the page's, and where its rows lead to. Pure.
 * Its own file: page and table read it, and unit tests. */

/* group=host: a row for each host; view=outliers: only what differs; space=all: every memory space; pin: the module
 * whose hosts stand side by side. */
export function stateOf(route) {
  return {
    sort: route.sort ?? '',
    filter: route.filter ?? '',
    isSplit: route.group === 'host',
    isOutliers: route.view === 'outliers',
    space: route.space ?? null,
    module: route.pin?.kind === 'g' ? route.pin.id : '',
  };
}

/* The memory space that is asked for: that of the URL, else the one that matters most; '' for all. */
export function spaceOf(state, summary) {
  if (state.space === 'all') return '';
  return Number.isInteger(state.space) ? state.space : (summary?.main_space ?? '');
}

/* The Memory Viewer on the module of a row; null of what cannot be opened. Only a host that differs is named: else the
 * first one that has the module shows it. The person's rules go along. */
export function hrefOf(row, session, context, rules = '') {
  if (!row.module_id || row.state !== 'read') return null;
  return context.link(session.id, {
    tool: 'memory_viewer',
    host: row.host && row.host !== session.hosts?.[0]?.id ? row.host : '',
    module: row.module_id,
    space: row.space,
    rules,
  });
}
