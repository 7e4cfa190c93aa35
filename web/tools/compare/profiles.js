/* SPDX-License-Identifier: Apache-2.0
 * profiles.js: two device profiles: the way from A to B by call site, what kinds of things hold, and the call sites,
 * which open to their stacks. Figures are those of Device Memory's own difference. */

import { el, fill, figure, name, titled } from '../../lib/dom.js';
import { count, counted, signedBytes, sourceLine, unitOf, when } from '../../lib/format.js';
import { parseReference } from '../../lib/reference.js';
import { fact, facts } from '../../widgets/details.js';
import { createPanel } from '../../widgets/panel.js';
import { inUnit, tableColumns } from '../../widgets/table_columns.js';
import { changeCell } from './columns.js';
import { createTableOfPairs } from './table.js';
import { arrow, siteOf, sitesSentence, toggledSite } from './text.js';
import { createWaterfall } from './waterfall.js';

const dim = (text) => el('span', { class: 'dim' }, text);

/* ---- table ---- */

const size = (unit, field) => (row) => (row[field] == null ? dim('–') : inUnit(row[field], unit));
const place = (row) => (row.isGroup ? row.name : (row.stack ?? row.name));

function source({ frame }) {
  const text = sourceLine(frame.file, frame.line);
  return text ? titled(name(text), `${frame.file}:${frame.line}`) : dim('–');
}

function columnsOf({ columns, groups }) {
  const unit = unitOf(groups.reduce((max, row) => Math.max(max, row.a_bytes ?? 0, row.b_bytes ?? 0), 0));
  return tableColumns(columns, {
    change: { width: 9, card: 'figure', cell: changeCell },
    a: { in: unit, width: 5.75, cell: size(unit, 'a_bytes') },
    b: { in: unit, width: 5.75, cell: size(unit, 'b_bytes') },
    count_a: { width: 5 },
    count_b: { width: 5 },
    state: { width: 4 },
    kind: { width: 6.5 },
    stacks: { width: 4, isHidden: true },
    fn: { card: 'title', isTree: true, value: place, cell: (row) => name(place(row)), copy: ['call_site', place] },
    file: { width: 11, isHidden: true, isSource: true, card: 'line', value: ({ frame }) => frame.file, cell: source },
  });
}

const TABLE = {
  title: 'Call sites',
  placeholder: 'filter, e.g. >1MiB kind:executable fn:init ( / )',
  views: { groups: 'compare_profiles/sites', members: 'compare_profiles/stacks' },
  columnsOf,
  params: () => ({}),
  noneText: 'No call site is in this state.',
  csvParams: () => ({}),
  memberParams: () => ({}),
  idOf: (row, at) => `${row.group}/${at}`,
  membersOf: (row) => row.stack_count,
};

/* ---- kinds ---- */

const CELLS = ['Change', 'A', 'B', 'Count A', 'Count B'];

function kindRow({ kind, a_bytes: before, b_bytes: after, a_count: many, b_count: now }) {
  const change = after - before;
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, kind == null ? dim('without a kind') : name(kind)),
    [changeCell({ delta_bytes: change }), figure(before), figure(after), count(many), count(now)].map((cell) =>
      el('td', { class: 'figure' }, cell),
    ),
  );
}

function createKinds() {
  const panel = createPanel('panel-kinds', 'By kind');
  return {
    node: panel.node,
    show({ kinds }) {
      const head = el(
        'tr',
        {},
        el('th', { scope: 'col' }, 'Kind'),
        CELLS.map((word) => el('th', { scope: 'col', class: 'figure' }, word)),
      );
      fill(panel.body, el('table', { class: 'kinds' }, el('thead', {}, head), el('tbody', {}, kinds.map(kindRow))));
    },
  };
}

/* ---- details ---- */

/* Both profiles in Device Memory, one beside the other; only those of one session can be looked at there. */
function deviceLink({ a, b }, frame, context) {
  const [before, after] = [parseReference(a), parseReference(b)];
  if (!before.session || before.session !== after.session || !before.module || !after.module) return null;
  const patch = {
    tool: 'device_memory',
    a: before.module,
    b: after.module,
    pin: frame ? { kind: 'f', id: frame } : null,
  };
  return el('p', {}, el('a', { href: context.link(before.session, patch) }, 'Both by call stack in Device Memory'));
}

const held = (bytes, many) => (bytes == null ? 'not there' : [figure(bytes), ` in ${count(many)}`]);

function detailsOf(row, { sides }, context) {
  const frames = row.stack ? row.stack.split(' › ') : [];
  return {
    heading: row.stack ? 'Stack' : 'Call site',
    subject: row.name,
    parts: [
      facts(
        fact('Change', `${arrow(row.delta_bytes)} ${row.delta_bytes === 0 ? 'none' : signedBytes(row.delta_bytes)}`),
        fact('State', row.state),
        fact('A', held(row.a_bytes, row.a_count)),
        fact('B', held(row.b_bytes, row.b_count)),
        fact('Kind', row.kind),
        fact('Calls', row.callee),
        fact('Source', row.frame.file ? `${row.frame.file}:${row.frame.line}` : ''),
      ),
      frames.length > 0
        ? el(
            'ol',
            { class: 'compare-stack' },
            frames.map((each) => el('li', {}, name(each))),
          )
        : null,
      deviceLink(sides, row.frame.id, context),
    ],
  };
}

function sideFacts(side, { name: profile, total, count: many, captured_at_ms: at }) {
  return [
    fact(`${side}, profile`, name(profile)),
    fact(`${side} holds`, figure(total), ` in ${counted(many, 'thing')}`),
    fact(`${side}, taken`, at ? when(at) : ''),
  ];
}

/* ---- the part ---- */

/* As createPrograms in programs.js. */
export function createProfiles({ context, view, ask, choose, showWhole }) {
  const waterfall = createWaterfall({
    onPart: ({ group }) => choose({ filter: toggledSite(context.route.filter, group) }),
    isLit: ({ group }, filter) => group != null && group === siteOf(filter),
  });
  const kinds = createKinds();
  const table = createTableOfPairs({
    context,
    ask,
    about: TABLE,
    sides: () => view.sides,
    onSpans() {},
    onShow: (row, isPinned) =>
      row ? context.details.show({ ...detailsOf(row, view, context), isPinned }) : showWhole(),
  });
  return {
    node: el(
      'div',
      { class: 'compare-part' },
      el('div', { class: 'compare-charts' }, waterfall.node, kinds.node),
      table.node,
    ),
    summary: 'compare_profiles/summary',
    load: (route) => table.load(route),
    show(data, route) {
      waterfall.show(data, route.filter);
      kinds.show(data);
      table.count(data.counts, data.site_count);
    },
    shareWords: sitesSentence,
    wholeParts: (data) => [
      facts(...sideFacts('A', data.a), ...sideFacts('B', data.b)),
      deviceLink(view.sides, '', context),
    ],
    hear(route) {
      waterfall.light(route.filter);
      return table.hear(route);
    },
    focusFilter: table.focusFilter,
    letGo: table.letGo,
    destroy() {
      waterfall.destroy();
      table.destroy();
    },
  };
}
