/* SPDX-License-Identifier: Apache-2.0
 * pinned_group.js: a group that is pinned: its buffers at the moment and over the whole program, where
 * they stand in the strips, when one of them lives, and what the pane says of them. */

import { button, el, nameInline } from '../../lib/dom.js';
import { count, counted, cutMiddle, percent, visible } from '../../lib/format.js';
import { isAbort, Problem } from '../../lib/api.js';
import { explained } from '../../widgets/explain.js';
import { fact, facts, folded, lifeBar } from '../../widgets/details.js';
import { runsOf } from '../../widgets/strips_layout.js';
import { wayOf, wordsOf } from './groups.js';
import { askFiltered } from './load.js';
import { unitWord } from './text.js';

const MAX_OUTLINED = 1000; // as many rows as one answer holds
const MAX_SPANS = 64;
const NAMED = 8;

/* Pure: steps [from, to) in which one of them lives, in order and apart; where there are too many, the nearest are
 * joined. */
export function spansOf(rows, stepCount, max = MAX_SPANS) {
  const lives = rows
    .map((row) => (row.is_indefinite ? [0, stepCount] : [row.born_step, row.dies_step ?? stepCount]))
    .filter(([born]) => born != null)
    .sort((a, b) => a[0] - b[0]);
  for (let gap = 0; ; gap = gap * 2 + 1) {
    const spans = [];
    for (const [from, to] of lives) {
      const last = spans[spans.length - 1];
      if (last && from <= last[1] + gap) last[1] = Math.max(last[1], to);
      else spans.push([from, to]);
    }
    if (spans.length <= max) return spans;
  }
}

/* What the table knows of a group's row: {count, bytes, largest_bytes, padding_bytes (null: not known)}. */
function sumsOf({ matched_count: number, matched_bytes: bytes, largest_bytes: largest, rows }) {
  const isWhole = rows.length === number;
  const padding = isWhole ? rows.reduce((sum, row) => sum + (row.padding_bytes ?? 0), 0) : null;
  return { count: number, bytes, largest_bytes: largest, padding_bytes: padding };
}

/* Asks for the group that the URL pins, and lights it. */
export async function pinGroup(view, refresh) {
  const { context, place } = view;
  const { space } = view.program;
  const { route } = context;
  if (!space || route.pin?.kind !== 'g') return;
  const { id: key } = route.pin;
  const by = wayOf(route.group);
  const params = { space: space.space, by, key, filter: route.filter, sort: '-size', limit: MAX_OUTLINED };
  const moment = space.replay_error ? 'all' : (place.step ?? 'peak');
  const question = JSON.stringify([params, moment, view.program.ask.serial]);
  const light = () => {
    if (view.group) context.banners.drop('pin');
    view.store.set({ pin: view.group?.id ?? null });
    refresh(view);
  };
  if (view.group?.question === question) {
    light();
    return;
  }
  view.groupAsked?.abort();
  const { signal } = (view.groupAsked = new AbortController());
  try {
    const [now, all, name] = await Promise.all([
      ...[moment, 'all'].map(
        async (step) => (await askFiltered(view.program, 'buffers', { ...params, step }, signal)).data,
      ),
      nameOf(view.program, { space: space.space, by, key }, signal),
    ]);
    if (view.program.space !== space || signal.aborted) return;
    view.group =
      all.matched_count === 0 ? null : groupOf({ question, key, name, by, now, all }, space, Boolean(route.filter));
    if (view.group) view.records.add(now.rows);
    else sayUnknown(view, key, route.filter);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    view.group = null;
    sayUnknown(view, key, route.filter);
  }
  light();
}

function sayUnknown(view, key, filter) {
  const where = filter ? 'has no buffer that passes the filter' : 'is not in this module';
  view.context.banners.set('pin', { text: `Group ${cutMiddle(visible(key), 40)} ${where}; nothing is pinned.` });
}

/* The key of a group by whose memory it is says nothing to a person: it is called as in the table. */
async function nameOf(program, { space, by, key }, signal) {
  if (by !== 'whose' || !/^\w+$/.test(key)) return key;
  const { data } = await program.ask('groups', { space, by, step: 'all', filter: `group:${key}`, limit: 1 }, signal);
  return data.groups[0]?.label || key;
}

function groupOf({ question, key, name, by, now, all }, space, isFiltered) {
  const runs = new WeakMap();
  return {
    question,
    id: `g:${key}`,
    key,
    name,
    by,
    now,
    all,
    isFiltered,
    sums: sumsOf(now),
    spans: spansOf(all.rows, space.step_count),
    /* The bars of a strip that stand for it; the same bars have the same boxes. */
    runs(rects, order) {
      if (!runs.has(rects)) runs.set(rects, runsOf(rects, order, now.rows, isFiltered));
      return runs.get(rects);
    },
  };
}

function aliveFact({ spans, all }, space) {
  if (spans.length === 0 || space.step_count === 0) return null;
  const [from, to] = [spans[0][0], spans[spans.length - 1][1]];
  const parts =
    spans.length > 1 && all.rows.length === all.matched_count ? `, in ${count(spans.length)} stretches` : '';
  return fact(
    'one of them alive',
    `${unitWord(space)}s ${count(from)} to ${count(to)} of ${count(space.step_count)}${parts}`,
    lifeBar(from, to, space.step_count),
  );
}

/* The pane while a group is pinned; onPin(row) pins one of its buffers. place: {isPeak, within}. */
export function groupDetails(group, space, { isPeak, within }, onPin) {
  const { sums, name, by, now, all } = group;
  const { word, none } = wordsOf(by);
  const figure = (bytes, words) => explained('pinned_group', bytes, words);
  const where = space.step_unit === 'none' || isPeak ? 'at the peak' : `at ${unitWord(space)} ${count(now.step ?? 0)}`;
  const rows = now.rows.slice(0, NAMED).map((row) =>
    el(
      'li',
      {},
      button('link-button', () => onPin(row), nameInline(row.name, 40)),
      ' ',
      explained(`size:${row.id}`, row.bytes),
    ),
  );
  if (sums.count > rows.length)
    rows.push(
      el(
        'li',
        { class: 'dim' },
        `${count(sums.count - rows.length)} more, none larger${within ? '' : ': open its row'}`,
      ),
    );
  const max = Math.max(now.matched_count, all.matched_count);
  return {
    heading: 'Pinned group',
    subject: name || none,
    isCut: !name,
    isPinned: true,
    parts: [
      facts(
        fact('by', word),
        fact(
          where,
          sums.count === 0
            ? 'none of them lives'
            : [
                `${counted(sums.count, 'buffer')}, `,
                el('strong', {}, figure(sums.bytes)),
                ' · ',
                figure(sums.bytes, percent(sums.bytes, space.peak_bytes)),
                ' of the peak',
              ],
        ),
        now.saving &&
          fact(
            'saves',
            explained('pinned_saves', now.saving.bytes),
            el('span', { class: 'dim' }, ' · bound'),
            el('p', { class: 'saving-says' }, now.saving.sentence),
          ),
        fact('largest', sums.count ? figure(sums.largest_bytes) : null),
        fact('padding', sums.padding_bytes ? figure(sums.padding_bytes) : null),
        fact('whole program', counted(all.matched_count, 'buffer')),
        aliveFact(group, space),
      ),
      rows.length ? folded(`Largest ${where}`, rows, true) : null,
      within ? el('p', { class: 'dim' }, 'The table row counts only those in the rectangle.') : null,
      group.isFiltered ? el('p', { class: 'dim' }, 'Of the buffers that pass the filter.') : null,
      max > MAX_OUTLINED
        ? el(
            'p',
            { class: 'dim' },
            `The ${count(MAX_OUTLINED)} largest are outlined, and the steps in which one of them lives are shaded.`,
          )
        : null,
      el('p', { class: 'dim' }, 'A click on a figure explains it. Esc unpins.'),
    ],
  };
}
