/* SPDX-License-Identifier: Apache-2.0
 * state.js: what the URL says of the Device Memory page, as the daemon wants to be
 * asked, and what each gesture makes of it. Pure. */

export const VIEWS = [
  { view: 'flame', word: 'Flame' },
  { view: 'graph', word: 'Graph' },
  { view: 'top', word: 'Top' },
  { view: 'callers', word: 'Callers' },
  { view: 'source', word: 'Source' },
  { view: 'buffers', word: 'Buffers' },
  { view: 'series', word: 'Series' },
];
export const GRAINS = [
  { by: 'line', word: 'by line' },
  { by: 'filefunction', word: 'by function and file' },
  { by: 'function', word: 'by function' },
  { by: 'file', word: 'by file' },
];
/* Chips: one expression each, in the order in which they apply. */
export const FILTERS = ['focus', 'ignore', 'hide', 'show', 'show_from', 'tag'];

const oneOf = (list, value, fallback) => (list.includes(value) ? value : fallback);
const asList = (value) => (Array.isArray(value) ? value : value ? [value] : []);

/* A frame (or a path to it) is pinned, and with it at most one group of equal buffers; null lets both go. */
export function pinned(path, group = '') {
  return { pin: path ? { kind: 'f', id: path } : null, sel: path ? group : '' };
}

/* route: of lib/route.js. Values that are none of ours are as if they were left out. */
export function stateOf(route) {
  return {
    view: oneOf(
      VIEWS.map(({ view }) => view),
      route.view,
      'flame',
    ),
    metric: route.metric || 'bytes',
    by: oneOf(
      GRAINS.map(({ by }) => by),
      route.by,
      'line',
    ),
    isInverted: route.invert === '1',
    isMachinery: route.machinery === '1',
    filters: Object.fromEntries(FILTERS.map((name) => [name, asList(route[name])])),
    a: route.a ?? '',
    b: route.b ?? '',
    local: route.local ?? '',
    files: asList(route.files),
    order: oneOf(['name', 'time', 'hand'], route.order, 'name'),
    pivot: route.pivot ?? '',
    isSplit: route.group === 'device',
    find: route.find ?? '',
    filter: route.filter ?? '',
    sort: route.sort ?? '',
    pin: route.pin?.kind === 'f' ? route.pin.id : '',
    group: /^\d{1,9}$/.test(route.sel ?? '') ? route.sel : '',
  };
}

/* The profile that is shown and the one that it is compared with: {shown, base}, "" = the daemon's choice. */
export function compared({ a, b, local }) {
  if (a && b) return { shown: b, base: a };
  return { shown: a || b || local, base: '' };
}

/* What every view of the same profiles asks. */
export function commonParams(state, session) {
  const { shown, base } = compared(state);
  return {
    session,
    profile: shown ? [shown] : [],
    base: base ? [base] : [],
    metric: state.metric === 'bytes' ? '' : state.metric,
    by: state.by === 'line' ? '' : state.by,
    machinery: state.isMachinery ? '1' : '',
    ...state.filters,
  };
}

/* Series: all profiles of the session, in the wanted order; never a difference. */
export function seriesParams(state, session) {
  const { base, profile, ...rest } = commonParams(state, session);
  const isByHand = state.order === 'hand' && state.files.length > 0;
  const wanted = session ? state.files : profile;
  return { ...rest, profile: wanted, order: isByHand ? 'given' : state.order === 'time' ? 'time' : '' };
}

export function countFilters({ filters }) {
  return FILTERS.reduce((sum, name) => sum + filters[name].length, 0);
}

/* ---- gestures: each gives a patch for the URL ------------------------------------ */

export function addFilter({ filters }, name, expression) {
  const text = expression.trim();
  if (!text || filters[name].includes(text)) return null;
  return { [name]: [...filters[name], text] };
}

export function dropFilter({ filters }, name, expression) {
  return { [name]: filters[name].filter((each) => each !== expression) };
}

export function dropFilters() {
  return Object.fromEntries(FILTERS.map((name) => [name, []]));
}

/* "focus: init", "-device:TPU_0", "device=TPU_0", "init" → {name, expression}; a bare word is focus. */
export function readChip(text, keys = []) {
  const named = /^(focus|ignore|hide|show|show_from|show-from|tag)\s*[:=]\s*(.+)$/s.exec(text.trim());
  if (named) return { name: named[1].replace('-', '_'), expression: named[2] };
  const tag = /^(-?)([\w:.-]+?)\s*[:=]\s*(.+)$/s.exec(text.trim());
  if (tag && keys.includes(tag[2])) return { name: 'tag', expression: `${tag[1]}${tag[2]}=${tag[3]}` };
  return { name: 'focus', expression: text.trim() };
}

/* The words on a chip. */
export function chipWords(name, expression) {
  if (name !== 'tag') return { key: name.replace('_', ' '), value: expression };
  const [, minus, key, value] = /^(-?)([^=]*)=?([\s\S]*)$/.exec(expression);
  return { key: `${minus ? 'not ' : ''}${key}`, value };
}

/* Each frame named in the expression, literally: what "only this" asks for. */
export function quoted(text) {
  return `^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}

/* A click on a profile of the series: first A, then B, then anew. */
export function pickProfile({ a, b }, id) {
  if (a && !b && a !== id) return { b: id };
  if (a === id && !b) return { a: '', b: '' };
  return { a: id, b: '' };
}

export function swapped({ a, b }) {
  return a && b ? { a: b, b: a } : null;
}

/* Ids in a new order: the one at `from` goes to `to`. */
export function moved(ids, from, to) {
  const next = [...ids];
  const [id] = next.splice(from, 1);
  next.splice(Math.max(0, Math.min(next.length, to)), 0, id);
  return next;
}
