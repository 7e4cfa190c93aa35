/* SPDX-License-Identifier: Apache-2.0
 * search.js: what a search finds in the panels of the Memory Viewer: buffers in the pictures and the table, groups,
 * places of the code, patterns. Its own file: it knows all of them, and the page only that it searches. */

import { partsOf, splitTerms } from '../../lib/filter_text.js';
import { createSearch } from '../../widgets/search.js';
import { METRICS, nameOf, readCode, WAYS } from './code_tree.js';
import { groupedBy, isByOne, wayOf } from './groups.js';
import { itemOfRow } from './map_items.js';

const MAX_FOUND = 1000;
const MAX_GROUPS = 500;
const NODES = 3000;

/* Pure: does a text hold all words of the search? A term of a field is none: of it only buffers have values. */
export function holdsWords(search, words) {
  const terms = splitTerms(search).map(({ text }) => partsOf(text));
  const plain = terms.every(({ field, sign }) => field == null && sign !== '-');
  const holds = (each) => words.some((word) => word.toLowerCase().includes(each.toLowerCase()));
  return plain && terms.every(({ value }) => holds(value.replaceAll('"', '')));
}

const placeOf = ({ program: { space }, place }) => ({
  space: space.space,
  ...(space.replay_error ? { step: 'all' } : place.isPeak ? {} : { step: place.step }),
});

function buffersOf(view) {
  const { program, context, records, map } = view;
  return {
    word: 'Buffers',
    async find(text, signal) {
      const { space } = program;
      const ask = (params) => program.ask('buffers', { space: space.space, filter: text, ...params }, signal);
      const { step } = view.table.wanted();
      const [all, now] = await Promise.all([
        ask({ step: 'all', sort: '-size', limit: MAX_FOUND }),
        step === 'all' ? null : ask({ step, limit: 0 }),
      ]);
      records.add(all.data.rows);
      return {
        items: all.data.rows.map((row) => ({ ...itemOfRow(row, space), key: row.id })),
        count: all.data.matched_count,
        also: now && `${now.data.matched_count} of them ${step === 'peak' ? 'at the peak' : 'now'}`,
      };
    },
    pinned: () => view.store.state.pin,
    show(item) {
      const isAway = ['code', 'patterns'].includes(context.route.view);
      context.choose({ pin: { kind: 'b', id: item.key }, ...(isAway ? { view: '' } : {}) });
      map.bring(item);
    },
  };
}

function groupsOf({ program, context, table, store }) {
  const way = () => wayOf(isByOne(context.route.group) ? '' : context.route.group) || 'whose';
  return {
    word: 'Groups',
    async find(text, signal) {
      const { step } = table.wanted();
      const params = { space: program.space.space, step, by: way(), filter: text, limit: MAX_GROUPS };
      const { data } = await program.ask('groups', params, signal);
      return { items: data.groups.map(({ key }) => ({ key: `g:${key}`, group: key })), count: data.group_count };
    },
    pinned: () => store.state.pin,
    show({ group }) {
      const folded = isByOne(context.route.group) ? groupedBy('', context.route) : {};
      context.choose({ view: '', ...folded, pin: { kind: 'g', id: group } });
    },
  };
}

function codeOf({ program, context, place, code }) {
  const known = (words, word) => (word in words ? word : Object.keys(words)[0]);
  return {
    word: 'Code',
    async find(text, signal) {
      const { by, metric, open } = context.route;
      const params = { by: known(WAYS, by), metric: known(METRICS, metric), open, nodes: NODES };
      const { data } = await program.ask('tree', { ...placeOf({ program, place }), ...params }, signal);
      const read = readCode(data);
      const items = read.places.flatMap(({ id, isRest }, at) => {
        const name = read.names[read.tree.frame[at]];
        return at > 0 && !isRest && holdsWords(text, [nameOf(name, true), name.text]) ? [{ key: id }] : [];
      });
      return { items, count: items.length, isLeast: data.left_out.node_count > 0 && items.length > 0 };
    },
    pinned: () => (context.route.view === 'code' ? context.route.node : null),
    async show({ key }) {
      context.choose({ view: 'code', node: key });
      await code.load();
      code.panel.node.scrollIntoView({ block: 'nearest' });
    },
  };
}

function patternsOf({ program, context, patterns }) {
  return {
    word: 'Patterns',
    async find(text, signal) {
      const { data } = await program.ask('whose', { space: program.space.space }, signal);
      const items = data.patterns
        .filter(({ kind, sentence, rule }) => holdsWords(text, [kind, sentence, rule]))
        .map(({ kind }) => ({ key: kind }));
      return { items, count: items.length };
    },
    async show({ key }) {
      context.choose({ view: 'patterns' });
      await patterns.part.with((it) => it.load().then(() => it.reveal(key)));
    },
  };
}

/* onFound(ids of buffers). Out: see search.js. */
export function createViewerSearch(view, onFound) {
  return createSearch({
    label: 'Search buffers, groups, code and patterns',
    places: [buffersOf, groupsOf, codeOf, patternsOf].map((of) => of(view)),
    onText: (find) => view.context.move({ find }),
    onFound: ([buffers]) => onFound(buffers?.items ?? []),
  });
}
