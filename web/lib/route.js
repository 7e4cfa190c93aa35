/* SPDX-License-Identifier: Apache-2.0
 * route.js: everything that was chosen stands in the URL, and nowhere else.
 * Defaults are left out, names that are not ours are kept and ignored. Dropped files that are opened like a
 * session stand there as local=HASH, as all that was dropped does; inside they are a session.
 * parse, format and isSamePlace are pure; createRouter binds them to a window. */

import { later } from './activity.js';

/* Name → kind: text (""), number (null; what is no number stays text, so that a banner can name it), list
 * (repeatable, []), pin (null). Fixed order, so that equal states give equal links. */
const KINDS = {
  tool: 'text',
  session: 'text',
  host: 'text',
  module: 'text',
  space: 'number',
  capacity: 'text',
  step: 'number',
  time: 'number',
  from: 'number',
  to: 'number',
  low: 'number',
  high: 'number',
  sel: 'text',
  offsets: 'text',
  bars: 'text',
  node: 'text',
  open: 'text',
  picture: 'text',
  unpadded: 'text',
  large: 'text',
  keep: 'text',
  a: 'text',
  b: 'text',
  note: 'list',
  align: 'text',
  pin: 'pin',
  beside: 'pin',
  view: 'text',
  filter: 'text',
  find: 'text',
  sort: 'text',
  verdict: 'text',
  group: 'text',
  stack: 'text',
  color: 'text',
  rules: 'text',
  memory: 'text',
  metric: 'text',
  by: 'text',
  invert: 'text',
  pivot: 'text',
  machinery: 'text',
  focus: 'list',
  ignore: 'list',
  hide: 'list',
  show: 'list',
  show_from: 'list',
  tag: 'list',
  files: 'list',
  order: 'text',
  report: 'text',
  local: 'text',
  file: 'text',
  whatif: 'list',
  drawer: 'text',
  glob: 'text',
};
const EMPTY = { text: '', number: null, list: [], pin: null };
const NAMES = Object.keys(KINDS);
const DEFAULTS = Object.fromEntries(NAMES.map((name) => [name, EMPTY[KINDS[name]]]));
const LEVELS = ['session', 'host', 'module', 'space'];
/* What belongs to one memory space of one module, or to one trace. */
const OF_SPACE = [
  'step',
  'time',
  'from',
  'to',
  'low',
  'high',
  'sel',
  'offsets',
  'bars',
  'node',
  'open',
  'a',
  'b',
  'note',
  'pin',
  'beside',
  'find',
  'memory',
  'whatif',
  'drawer',
  'glob',
];
const MAX_OF_A_LIST = 100;
const LONGEST = 2000;
const WRITE_AFTER_MS = 300;

/* Is this the id of dropped files that are opened like a session? */
export const isDroppedSession = (id) => /^[0-9a-f]{40}(-\d{1,4})?$/.test(id);

export function emptyRoute() {
  return { ...DEFAULTS, unknown: [] };
}

/* "b:1498" → {kind: "b", id: "1498"}; a group may be of what has no key, "g:"; anything else stays whole, of no kind,
   so that a banner can name it. */
function parsePin(text) {
  const match = /^([a-z]):([\s\S]+)$|^(g):$/.exec(text);
  return match ? { kind: match[1] ?? match[3], id: match[2] ?? '' } : { kind: '', id: text };
}

export const pinText = ({ kind, id }) => (kind ? `${kind}:${id}` : id);

export function parse(search) {
  const route = emptyRoute();
  for (const [name, value] of new URLSearchParams(search)) {
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : null;
    if (!kind) route.unknown.push([name, value]);
    else if (value === '' || value.length > LONGEST) continue;
    else if (kind === 'pin') route[name] = parsePin(value);
    else if (kind === 'number') route[name] = /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    else if (kind === 'text') route[name] = value;
    else if (route[name].length < MAX_OF_A_LIST) route[name] = [...route[name], value];
  }
  return isDroppedSession(route.local) ? { ...route, session: route.local, local: '' } : route;
}

/* Colons, slashes, commas and @ may stand as they are in a query; links stay readable. */
function encode(text) {
  return encodeURIComponent(text).replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%2C/g, ',').replace(/%40/g, '@');
}

/* "" or "?name=value&…", in a fixed order, so that equal states give equal links. */
export function format(route) {
  const pairs = [];
  for (const name of NAMES) {
    for (const value of [route[name]].flat()) {
      if (value === '' || value == null) continue;
      const spelled = name === 'session' && isDroppedSession(value) ? 'local' : name;
      pairs.push([spelled, KINDS[name] === 'pin' ? pinText(value) : String(value)]);
    }
  }
  pairs.push(...(route.unknown ?? []));
  const query = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return query ? `?${query}` : '';
}

/* True if both name the same data; they may differ in what is looked at and how. */
export function isSamePlace(a, b) {
  return ['tool', 'local', ...LEVELS].every((name) => a[name] === b[name]);
}

/* Choosing one level forgets the levels below it. */
export function choose(route, level, value) {
  const forgotten = [...OF_SPACE, ...LEVELS.slice(LEVELS.indexOf(level) + 1)];
  return { ...route, ...Object.fromEntries(forgotten.map((name) => [name, DEFAULTS[name]])), [level]: value };
}

/* Opens an address of these pages without a load; Back undoes it. */
export function openLink(href) {
  history.pushState(null, '', href);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

export function createRouter(win, onChange) {
  let route = parse(win.location.search);
  let takeBack = null;
  const link = (to) => format(to) || win.location.pathname;
  const write = () => {
    takeBack?.();
    takeBack = null;
    win.history.replaceState(null, '', link(route));
  };
  win.addEventListener('popstate', () => {
    takeBack?.();
    takeBack = null;
    route = parse(win.location.search);
    onChange(route);
  });
  return {
    get route() {
      return route;
    },
    link,
    /* A choice: Back undoes it. */
    push(next) {
      if (format(next) === format(route)) return;
      if (takeBack) write();
      route = next;
      win.history.pushState(null, '', link(next));
      onChange(route);
    },
    /* Typing, zoom, a key held down: the last entry is written over, once it has come to rest. */
    replace(next) {
      if (format(next) === format(route)) return;
      route = next;
      takeBack?.();
      takeBack = later(write, WRITE_AFTER_MS);
      onChange(route);
    },
  };
}
