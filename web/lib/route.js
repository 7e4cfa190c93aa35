/* SPDX-License-Identifier: Apache-2.0
 * route.js: everything that was chosen stands in the URL, and nowhere else.
 * Defaults are left out, names that are not ours are kept and ignored.
 * parse, format and isSamePlace are pure; createRouter binds them to a window. */

import { later } from './activity.js';

/* Name → what it is when the URL leaves it out. Fixed order, so that equal states give equal links. */
const DEFAULTS = {
  tool: '',
  session: '',
  host: '',
  module: '',
  space: null,
  capacity: '',
  step: null,
  from: null,
  to: null,
  low: null,
  high: null,
  sel: '',
  pin: null,
  filter: '',
  find: '',
  sort: '',
  group: '',
  color: '',
};
const NAMES = Object.keys(DEFAULTS);
/* Whole numbers; anything else stays text, so that a banner can name it. */
const NUMBERS = new Set(['space', 'step', 'from', 'to', 'low', 'high']);
/* What belongs to one memory space of one module. */
const OF_SPACE = ['step', 'from', 'to', 'low', 'high', 'sel', 'pin', 'find'];
const LONGEST = 2000;
const WRITE_AFTER_MS = 300;

export function emptyRoute() {
  return { ...DEFAULTS, unknown: [] };
}

/* "b:1498" → {kind: "b", id: "1498"}; anything else → null. */
function parsePin(text) {
  const match = /^([a-z]):([\s\S]+)$/.exec(text);
  return match ? { kind: match[1], id: match[2] } : null;
}

export function parse(search) {
  const route = emptyRoute();
  for (const [name, value] of new URLSearchParams(search)) {
    if (!NAMES.includes(name)) route.unknown.push([name, value]);
    else if (value === '' || value.length > LONGEST) continue;
    else if (name === 'pin') route.pin = parsePin(value);
    else if (NUMBERS.has(name)) route[name] = /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    else route[name] = value;
  }
  return route;
}

/* Colons, slashes and commas may stand as they are in a query; links stay readable. */
function encode(text) {
  return encodeURIComponent(text).replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%2C/g, ',');
}

/* "" or "?name=value&…", in a fixed order, so that equal states give equal links. */
export function format(route) {
  const pairs = [];
  for (const name of NAMES) {
    const value = route[name];
    if (value === '' || value === null || value === undefined) continue;
    pairs.push([name, name === 'pin' ? `${value.kind}:${value.id}` : String(value)]);
  }
  pairs.push(...(route.unknown ?? []));
  const query = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return query ? `?${query}` : '';
}

/* True if both name the same data; they may differ in what is looked at and how. */
export function isSamePlace(a, b) {
  return ['tool', 'session', 'host', 'module', 'space'].every((name) => a[name] === b[name]);
}

/* Choosing one level forgets the levels below it. */
export function choose(route, level, value) {
  const levels = ['session', 'host', 'module', 'space'];
  const next = { ...route, ...Object.fromEntries(OF_SPACE.map((name) => [name, DEFAULTS[name]])), [level]: value };
  for (const below of levels.slice(levels.indexOf(level) + 1)) next[below] = below === 'space' ? null : '';
  return next;
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
