/* SPDX-License-Identifier: Apache-2.0
 * route.js: everything that was chosen stands in the URL, and nowhere else.
 * Defaults are left out, names that are not ours are kept and ignored.
 * parse, format and isSamePlace are pure; createRouter binds them to a window. */

const NAMES = ['tool', 'session', 'host', 'module', 'space', 'capacity', 'pin', 'filter'];
const LONGEST = 2000;

export function emptyRoute() {
  return { tool: '', session: '', host: '', module: '', space: null, capacity: '', pin: null, filter: '', unknown: [] };
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
    else if (name === 'space') route.space = /^-?\d{1,15}$/.test(value) ? Number(value) : value;
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

/* True if both name the same data; they may differ in capacity, pin or filter. */
export function isSamePlace(a, b) {
  return ['tool', 'session', 'host', 'module', 'space'].every((name) => a[name] === b[name]);
}

/* Choosing one level forgets the levels below it. */
export function choose(route, level, value) {
  const levels = ['session', 'host', 'module', 'space'];
  const next = { ...route, [level]: value, pin: null };
  for (const below of levels.slice(levels.indexOf(level) + 1)) next[below] = below === 'space' ? null : '';
  return next;
}

export function createRouter(win, onChange) {
  let route = parse(win.location.search);
  const link = (to) => format(to) || win.location.pathname;
  win.addEventListener('popstate', () => {
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
      route = next;
      win.history.pushState(null, '', link(next));
      onChange(route);
    },
    /* Typing: the last entry is written over. */
    replace(next) {
      route = next;
      win.history.replaceState(null, '', link(next));
      onChange(route);
    },
  };
}
