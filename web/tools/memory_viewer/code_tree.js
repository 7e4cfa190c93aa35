/* SPDX-License-Identifier: Apache-2.0
 * code_tree.js: an answer of the view `tree` as a tree of icicle_layout.js with its names and colours, and what of the
 * filter names a place in it. Pure, but for the colours, which are those of the theme. */

import { bytes, count, counted, percent, sourceLine, spokenBytes } from '../../lib/format.js';
import { partsOf, splitTerms } from '../../lib/filter_text.js';
import { token } from '../../lib/theme.js';
import { buildTree, pathOf } from '../../widgets/icicle_layout.js';
import { CATEGORY_NAMES, categoryFill, categoryInk, categoryWords } from '../../widgets/categories.js';

export const WAYS = { scope: 'by scope', stack: 'by source stack' };
export const METRICS = { bytes: 'bytes', byte_steps: 'bytes × steps', padding: 'padding' };
const FIELDS = ['in', 'layer', 'stack'];
const LONGEST_TERM = 1500;
const DIM = CATEGORY_NAMES.length;
const REST = DIM + 1;

/* data: the answer. What is not listed below a node is one more child of it. Out: {tree, data, names[], place(node)}.
 */
export function readCode(data) {
  const { nodes } = data;
  const columns = { depth: [], frame: [], total: [], self: [] };
  const places = [];
  const names = [...data.names];
  const add = (depth, name, total, self, place) => {
    columns.depth.push(depth);
    columns.frame.push(name);
    columns.total.push(total);
    columns.self.push(self);
    places.push(place);
  };
  const open = []; // nodes whose rest follows their last child
  const close = (depth) => {
    while (open.length && open[open.length - 1].depth >= depth) {
      const { at, depth: own } = open.pop();
      if (nodes.rest[at] <= 0) continue;
      names.push({
        text: `${counted(nodes.rest_count[at], 'smaller buffer')} not drawn`,
        kind: 'rest',
        file: null,
        function: null,
        line: null,
      });
      add(own + 1, names.length - 1, nodes.rest[at], nodes.rest[at], {
        id: nodes.id[at],
        isRest: true,
        count: nodes.rest_count[at],
        layers: 0,
        category: -1,
        key: '',
      });
    }
  };
  nodes.depth.forEach((depth, at) => {
    close(depth);
    add(depth, nodes.name[at], nodes.total[at], nodes.self[at], {
      id: nodes.id[at],
      isRest: false,
      count: nodes.count[at],
      layers: nodes.layers[at],
      category: nodes.category[at],
      key: data.names[nodes.key[at]].text,
      self: nodes.self[at],
    });
    open.push({ at, depth });
  });
  close(0);
  return { tree: buildTree(columns), data, names, places };
}

export const nodeOfId = ({ places }, id) => (id ? places.findIndex((place) => place.id === id && !place.isRest) : -1);

/* The places from the outermost to a node: {id, text, key, kind, layers, …}; of the whole program where `node` is 0. */
export function wayTo(read, node) {
  const { data, tree, names, places } = read;
  const below = pathOf(tree, node)
    .slice(1)
    .filter((at) => !places[at].isRest)
    .map((at) => ({ ...names[tree.frame[at]], ...places[at] }));
  return [...data.path, ...below];
}

/* What a frame is called: "models.py:11 attention"; whole: with its folders. */
export function nameOf({ text, file, function: inside, line }, isWhole = false) {
  if (!file) return text;
  return `${isWhole ? file + (line ? `:${line}` : '') : sourceLine(file, line)}${inside ? ` ${inside}` : ''}`;
}

/* ---- the filter ---- */

/* Quotes inside a text stand for any text. */
const quoted = (text) =>
  text
    .split('"')
    .map((part) => (part ? `"${part}"` : ''))
    .join('*');

/* Terms that keep what lies at this place; opened: the id of layers that stand apart. */
export function termsOf(way, by, opened) {
  if (way.length === 0) return '';
  const field = by === 'stack' ? 'stack' : 'in';
  const gap = by === 'stack' ? ' > ' : '/';
  const isLayer = (at) => at > 0 && way[at - 1].layers > 1 && (opened === 'all' || way[at - 1].id === opened);
  const folded = way.filter((_, at) => !isLayer(at)).map(({ key }) => key + gap);
  const layers = way.filter((_, at) => isLayer(at)).map(({ text }) => `layer:"/${text.replaceAll('"', '')}/"`);
  const whole = `${field}:${quoted(folded.join(''))}*`;
  const place = whole.length <= LONGEST_TERM ? whole : `${field}:${quoted(folded[folded.length - 1])}`;
  return [place, ...layers].join(' ');
}

/* The filter without terms that name a place in the code: what the tree itself is asked with. */
export const withoutPlace = (filter) =>
  splitTerms(filter)
    .filter(({ text }) => !FIELDS.includes(partsOf(text).field) || partsOf(text).sign)
    .map(({ text }) => text)
    .join(' ');

export const withPlace = (filter, terms) => [terms, withoutPlace(filter)].filter(Boolean).join(' ');

/* ---- words ---- */

/* An amount of the metric: "1.2 GiB"; of bytes × steps "1.2 GiB × steps". */
export const amount = (metric, value) => (metric === 'byte_steps' ? `${bytes(value)} × steps` : bytes(value));

export function factsOf(read, node) {
  const { data, tree, names, places } = read;
  const place = places[node];
  const name = names[tree.frame[node]];
  return { ...place, name, total: tree.total[node], share: percent(tree.total[node], data.matched_total) };
}

const OF_WHAT = { bytes: 'of all', byte_steps: 'of all', padding: 'of all padding' };

export function placeLines(read, node) {
  const { data } = read;
  const { name, total, share, count: many, layers, category, isRest, self } = factsOf(read, node);
  const lines = [
    [nameOf(name)],
    [`${amount(data.metric, total)} · ${share} ${OF_WHAT[data.metric]}`],
    [`${counted(many, 'buffer')}${layers > 1 ? ` of ${count(layers)} layers` : ''}`],
  ];
  if (isRest) return [...lines, ['Click shows them.']];
  if (self > 0 && self < total) lines.push([`${amount(data.metric, self)} at this very place`]);
  if (category >= 0) lines.push([`mostly ${categoryWords(data.categories[category])}`]);
  if (name.kind === 'library') lines.push(['a library’s frame']);
  return lines;
}

export function placeSentence(read, node) {
  const { data } = read;
  const { name, total, share, count: many } = factsOf(read, node);
  const value = data.metric === 'byte_steps' ? amount(data.metric, total) : spokenBytes(total);
  return (
    `${nameOf(name).slice(0, 200)}, ${value}, ${share.replace(' %', ' percent').replace('<', 'under')}, ` +
    `${counted(many, 'buffer')}.`
  );
}

/* ---- colours ---- */

/* Each place has the colour of the category that holds most of it; libraries and what is not drawn step back. */
export function lookOf(read) {
  const { data, tree, names, places } = read;
  const slot = new Uint8Array(tree.length);
  for (let node = 0; node < tree.length; node++) {
    const { category, isRest } = places[node];
    const isDim = node === 0 || names[tree.frame[node]].kind === 'library';
    const known = category < 0 ? -1 : CATEGORY_NAMES.indexOf(data.categories[category]);
    slot[node] = isRest ? REST : isDim || known < 0 ? DIM : known;
  }
  const palette = [
    ...CATEGORY_NAMES.map((category) => ({ fill: categoryFill(category), ink: categoryInk(category) })),
    { fill: token('line'), ink: token('text') },
    { fill: token('hover'), ink: token('text2') },
  ];
  const size = (node) => amount(data.metric, tree.total[node]);
  const words = (node) => nameOf(names[tree.frame[node]]);
  const label = (node, letters) => {
    const { file, line } = names[tree.frame[node]];
    const name = words(node).length > letters && file ? sourceLine(file, line) : words(node);
    return name.length + size(node).length + 3 <= letters ? `${name}   ${size(node)}` : name;
  };
  return { palette, slot, slotOfMany: () => DIM, label, lines: (node) => [words(node), size(node)] };
}

/* Categories that colour a node, for the legend. */
export function categoriesIn({ data, places }) {
  return new Set(places.filter(({ category }) => category >= 0).map(({ category }) => data.categories[category]));
}
