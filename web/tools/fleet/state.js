/* SPDX-License-Identifier: Apache-2.0
 * state.js: what of the URL is the page's, and what it asks the daemon for. Pure.
 * Its own file: page, chart and table read it, and unit tests. */

import { partsOf, splitTerms } from '../../lib/filter_text.js';

/* Tab → its view of the daemon, what that is asked besides, its order; title: of the table, if it has more than the
   tab's word says. */
export const TABS = {
  jobs: { word: 'Jobs', view: 'series', params: { rows: 'job' }, sort: '-share,-needed,job,module' },
  modules: { word: 'Modules', view: 'series', params: {}, sort: '-share,-needed,job,module' },
  regressions: {
    word: 'Regressions',
    title: 'Regressions and improvements',
    view: 'regressions',
    params: {},
    sort: '-change,job,module',
  },
  hosts: { word: 'Hosts that differ', view: 'hosts', params: {}, sort: '-at,-abs,host' },
  next: { word: 'Next to fail', view: 'series', params: { filter: 'trend:over,reaches' }, sort: 'fails,-share' },
  commits: { word: 'Commits', view: 'points', params: {}, sort: 'job,module,-at' },
};

/* Field of the filter → what it is. Each is a parameter of the daemon. */
export const FIELDS = {
  job: 'its label: job:bert',
  commit: 'its label: commit:c0ffee',
  module: 'name of the program',
  host: 'rows of one host',
  user: 'its label',
  kind: 'module, memory, failure, profiles',
  label: 'any label: label:cluster=eu',
  since: 'written on that day or later: since:2026-11-01',
  until: 'written before that day: until:2026-12-01',
};
const DAYS = ['since', 'until'];

const unquoted = (text) => text.replaceAll('"', '');

function dayMs(text) {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  return Number.isNaN(ms) ? null : String(ms);
}

function faultOf({ sign, field, value }, params) {
  if (sign || field == null || !Object.hasOwn(FIELDS, field))
    return `each term is one of ${Object.keys(FIELDS).join(', ')}, and a value: job:bert`;
  if (field in params) return `"${field}" is given twice`;
  if (DAYS.includes(field) && dayMs(value) == null) return `"${value}" is no day: ${field}:2026-11-01`;
  if (field === 'label' && !/^[^=]+=/.test(value)) return 'a label is KEY=VALUE';
  return '';
}

/* The text of the filter as parameters of the daemon; fault: null, or {text, place} of the first term that is none. */
export function paramsOf(text) {
  const params = {};
  for (const { text: term, from } of splitTerms(text)) {
    const parts = partsOf(term);
    const value = unquoted(parts.value);
    const fault = faultOf({ ...parts, value }, params);
    if (fault) return { params: {}, fault: { text: fault, place: from } };
    if (value !== '') params[parts.field] = DAYS.includes(parts.field) ? dayMs(value) : value;
  }
  return { params, fault: null };
}

/* view: a tab; metric: needed, peak, share. */
export function stateOf(route) {
  const { params, fault } = paramsOf(route.filter ?? '');
  return {
    filter: route.filter ?? '',
    params,
    fault,
    tab: Object.hasOwn(TABS, route.view) ? route.view : 'jobs',
    sort: route.sort ?? '',
    metric: ['peak', 'share'].includes(route.metric) ? route.metric : 'needed',
  };
}

/* The filter with one field set: what a click on a job does. */
export function withField(text, field, value) {
  const others = splitTerms(text)
    .map((term) => term.text)
    .filter((term) => partsOf(term).field !== field);
  const quoted = /^[^\s":]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`;
  return [...others, `${field}:${quoted}`].join(' ');
}

const TOOLS = { module: 'memory_viewer', memory: 'memory_profile', failure: 'oom', profiles: 'device_memory' };

/* Where a row leads to: the page of its session, if this daemon has it. reference: SESSION/HOST/MODULE. */
export function hrefOf(reference, kind, context) {
  if (!reference) return null;
  const [session, host, module] = reference.split('/');
  return context.link(session, { tool: TOOLS[kind] ?? 'memory_viewer', host, module });
}

/* The comparison of both sides of a step. */
export function compareHref({ reference_before: a, reference: b, kind }, context) {
  return a && b && kind === 'module' ? context.link('', { tool: 'compare', a, b }) : null;
}
