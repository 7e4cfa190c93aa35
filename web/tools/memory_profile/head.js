/* SPDX-License-Identifier: Apache-2.0
 * head.js: the answer of the page, and the pools of all hosts, worst first.
 * Its own file: each tool has its head in one. */

import { button, consume, el, figure, fill, name, showWithin } from '../../lib/dom.js';
import { isGrave, sentenceParts } from '../../lib/finding.js';
import { bytesWithin, count } from '../../lib/format.js';
import { explained, nodesOf } from '../../widgets/explain.js';
import { notesButton } from '../../widgets/notices.js';
import { sparkline } from '../../widgets/sparkline.js';
import { answer, ends, poolName, poolSentence, second } from './text.js';

/* The plan explains what the allocator does not: named where the line is flat. */
function programLinks({ pool, programs, session }, link) {
  const [first] = programs.list;
  if (!first || pool.finding?.kind !== 'flat_line') return [];
  const all = el('a', { href: link(session.id, { tool: 'memory_viewer' }) }, `all ${count(programs.count)} programs`);
  return [
    programs.list.length > 1 ? ' The largest plan: ' : ' Its plan: ',
    el('a', { href: first.href }, name(first.name)),
    first.bytes ? [' (', figure(first.bytes), ')'] : '',
    programs.list.length > 1 ? ['; ', all] : '',
    '.',
  ];
}

/* What a session without memory events leads to. */
export function programsMessage({ session, programs }, link) {
  const what =
    programs.count === 1
      ? 'The plan of its program is in the '
      : `The plans of its ${programs.count} programs are in the `;
  return el(
    'p',
    { class: 'message' },
    what,
    el('a', { href: link(session.id, { tool: 'memory_viewer' }) }, 'Memory Viewer'),
    '.',
  );
}

/* Where the page shows what the core's view tells: of its parameters those that are the page's too. */
const EVIDENCE = {
  growth: () => ({ patch: { view: 'growth', sort: '', filter: '' }, word: 'See the growth' }),
  holes: ({ time }) => ({
    patch: { view: 'addresses', time: Number(time), low: null, high: null },
    word: 'See who pins the holes',
  }),
};

/* What is told first, linked to its evidence; null where nothing is grave. */
function leadNodes({ finding }, linkHere) {
  if (!isGrave(finding)) return null;
  const { patch, word } = EVIDENCE[finding.evidence.view](finding.evidence.params);
  return [nodesOf(sentenceParts(finding)), ' ', el('a', { class: 'see-why', href: linkHere(patch) }, word)];
}

/* link, linkHere: of the context, see app.js. Out: {node, show(): of the trace as it is now, say(sentence, notes)}. */
export function createHead({ trace, link, linkHere }) {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const more = el('p', { class: 'answer-more' });
  const node = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside), more);
  const start = (nodes, notes, lead = null) => {
    fill(
      title,
      lead && [el('span', { class: 'answer-first' }, lead), ' '],
      el('span', { class: lead ? 'answer-second dim' : 'answer-first' }, nodes),
    );
    fill(aside, notesButton(notes));
  };
  return {
    node,
    show() {
      const { pool, summary, notes } = trace;
      start(nodesOf(answer(pool, summary.hosts.length)), notes, leadNodes(pool, linkHere));
      const [found, ...others] = pool.finding?.kind === 'flat_line' ? second(pool) : [null, ...second(pool)];
      fill(
        more,
        [
          ...ends(notes).map(nodesOf),
          found ? [nodesOf(found), programLinks(trace, link)] : null,
          ...others.map(nodesOf),
        ]
          .filter(Boolean)
          .map((nodes) => [el('span', {}, nodes), ' ']),
      );
    },
    say(sentence, notes = []) {
      start(sentence, notes);
      fill(more);
    },
  };
}

/* True of "rank0" and "rank1", not of two snapshots that merely lie in one folder. */
const areAlike = (names) => new Set(names.map((text) => text.replace(/\d+/g, '#'))).size === 1;

/* "Allocators" and how far their peaks lie apart, where they are of one job. */
export function poolsTitle({ spread_bytes: spread, pools }) {
  const hosts = [
    ...new Set(pools.filter(({ has_stacks: isSnapshot }) => isSnapshot).map(({ host_name: host }) => host)),
  ];
  const apart =
    spread == null || (hosts.length > 1 && !areAlike(hosts))
      ? null
      : el('span', { class: 'pools-spread dim' }, 'spread ', explained('spread', spread));
  return ['Allocators', apart].filter(Boolean);
}

/* The pools as one choice (WAI-ARIA radio group): arrows move and choose. onChoose(pool).
 * Out: {node, draw(summary, chosen)}. */
export function createPools(onChoose) {
  const list = el('div', { class: 'pools', role: 'radiogroup', 'aria-label': 'Allocator, worst first' });
  const node = el('div', { class: 'pools-row' }, list);
  let pools = [];
  const choose = (at, isFocused) => {
    const to = (at + pools.length) % pools.length;
    onChoose(pools[to]);
    if (isFocused) list.children[to]?.focus();
  };
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = [...list.children].indexOf(document.activeElement);
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key in steps) choose(at + steps[event.key], true);
    else if (event.key === 'Home') choose(0, true);
    else if (event.key === 'End') choose(pools.length - 1, true);
    else return;
    consume(event);
  });
  return {
    node,
    draw(summary, chosen) {
      ({ pools } = summary);
      const hosts = summary.hosts.length;
      const bytesOf = bytesWithin(summary.spread_bytes ?? 0, pools[0].peak.in_use_bytes);
      fill(
        list,
        pools.map((pool, at) => {
          const isChosen = pool === chosen;
          return button(
            'pool',
            () => choose(at, false),
            [
              name(hosts > 1 ? `${pool.host_name} ${poolName(pool)}` : poolName(pool)),
              figure(pool.peak.in_use_bytes, bytesOf(pool.peak.in_use_bytes), 'strong'),
              sparkline(pool.sparkline_bytes, 'In use over time'),
            ],
            {
              role: 'radio',
              'aria-checked': String(isChosen),
              'aria-label': poolSentence(pool, hosts),
              tabindex: isChosen ? '0' : '-1',
              'data-memory': pool.memory,
            },
          );
        }),
      );
      showWithin(list, list.children[pools.indexOf(chosen)]);
    },
  };
}
