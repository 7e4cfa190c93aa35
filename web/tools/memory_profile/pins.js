/* SPDX-License-Identifier: Apache-2.0
 * pins.js: what is pinned (in the URL) or under the pointer, and what the pane at the right says of it.
 * A pin is "e:EVENT", "g:KEY" of a group and "r:CODE" of a remainder of what is live, "w:KEY" of a row of growth,
 * "k:NUMBER" of a block that no event speaks of, "s:…" of a step and "l:…" of a launch (runPin in load.js). */

import { later } from '../../lib/activity.js';
import { isAbort, Problem } from '../../lib/api.js';
import { pinText } from '../../lib/route.js';
import { hideTooltip } from '../../widgets/tooltip.js';
import * as details from './details.js';
import { itemOf } from './stripes.js';
import { runIn, runPin, runQuestion } from './load.js';

const PANE_AFTER_MS = 40;
/* The table whose row a pin names; that of an event may be in any. */
const TABLE_OF = { g: 'live', r: 'live', w: 'growth' };
const TABLES = ['live', 'events', 'growth'];
/* Remainders and groups have their kind in their id, growth shares that of groups. */
const idIn = { g: (id) => `g:${id}`, r: (id) => `r:${id}`, w: (id) => `g:${id}` };

/* How the URL names a row of a table or a block of the address map. Pure. */
export function pinOf(row, table) {
  if (table === 'growth') return { kind: 'w', id: row.id.slice(2) };
  if (row.event != null) return { kind: 'e', id: String(row.event) };
  return { kind: row.id[0], id: row.id.slice(2) };
}

/* The pin of the URL in parts. */
const partsOf = (pin) => ({ kind: pin?.[0], id: pin?.slice(2), table: TABLE_OF[pin?.[0]] ?? null });

function spanOf({ event, partner, relation }, all) {
  if (partner) return [event.time_ps, partner.time_ps].sort((a, b) => a - b);
  return relation === 'before_window' ? [all[0], event.time_ps] : [event.time_ps, all[1]];
}

/* The allocations behind a row, one by one. */
function listRow({ choose }, row) {
  const term = (field, value) => (value ? `${field}:"${String(value).replaceAll('"', '')}"` : '');
  const filter = [term('op', row.op), term('shape', row.shape), term('dtype', row.dtype)].filter(Boolean).join(' ');
  choose({ view: '', group: 'none', filter, sort: '', pin: null });
}

/* The allocation that an event begins or ends, as a stripe: it is drawn where it is too small for the answer, too. */
function itemOfEvent({ event, partner, relation }, hasCategories) {
  const isBefore = relation === 'before_window';
  const [born, freed] = isBefore
    ? [null, event]
    : [event, partner].sort((a, b) => (b?.activity === 'allocation') - (a?.activity === 'allocation'));
  return itemOf(
    {
      ...(born ?? event),
      from_event: born?.event,
      to_event: freed?.event,
      born_ps: born?.time_ps,
      freed_ps: freed?.time_ps,
    },
    hasCategories,
  );
}

/* What a pin names: {say() → what the pane says, span, item: of stripes.js, or none}. */
const FINDERS = {
  async event({ trace, url }, { id }) {
    const { data } = await trace.ask('event', { id });
    return {
      say: () => details.eventDetails(data, (time) => url.choose({ time }), url.stacksHref),
      span: spanOf(data, trace.all),
      item: itemOfEvent(data, Boolean(trace.pool.categories)),
    };
  },
  async row({ trace, url, tabsOf }, { kind, id, table }) {
    const row = await tabsOf[table].find(idIn[kind](id));
    if (!row) return { say: () => details.absentDetails(kind), span: null };
    const list = () => listRow(url, row);
    const isOfEvent = trace.pool.has_stacks && Number.isInteger(row.first_event);
    const stack = isOfEvent
      ? (await trace.ask('event', { id: row.first_event })).data.event.stack
      : (row.stack ?? null);
    return {
      say: () => (kind === 'w' ? details.growthDetails(row, list) : details.groupDetails(row, list, stack)),
      span: null,
    };
  },
  /* Of one that was there before the recording and is there at its end. */
  async block({ trace }, { id }) {
    const { data } = await trace.ask('block', { id });
    return { say: () => details.blockDetails(data), span: trace.all, item: itemOf(data) };
  },
  async run({ trace }, { kind, id }) {
    const run = runIn((await trace.ask('lanes', runQuestion(id))).data, id);
    if (!run) return { say: () => details.absentDetails(kind), span: null };
    /* The programs may come later than the run. */
    const planOf = ({ key }) => trace.programs.list.find((program) => key && program.key === key)?.href ?? '';
    return { say: () => details.runDetails(run, planOf(run.item)), span: null };
  },
};
const finderOf = ({ kind, table }) =>
  kind === 'k' ? FINDERS.block : table ? FINDERS.row : ['s', 'l'].includes(kind) ? FINDERS.run : FINDERS.event;

/* The pinned block has an edge in the address map, and in the picture of segments. */
function markBlocks({ addresses, segments }, { kind, id }, found) {
  addresses.setPinned(kind === 'e' ? Number(id) : null);
  segments.setPinned(found?.item?.id ?? null);
}

/* "e:12" in parts, as the URL takes it. */
const parsed = (id) => ({ kind: id[0], id: id.slice(2) });

/* The peak needs no word in the URL. */
const timePatch = ({ pool }, time) => (time == null ? {} : { time: time === pool.peak.time_ps ? null : time });

/* A: nothing where it names no allocation, which is said. */
async function readBeside({ trace, url, tabsOf, banners }, pin) {
  const own = partsOf(pin);
  banners.drop('beside');
  if (pin == null || !['e', 'k'].includes(own.kind)) return null;
  try {
    return await finderOf(own)({ trace, url, tabsOf }, own);
  } catch (error) {
    if (isAbort(error)) return null;
    if (!(error instanceof Problem)) throw error;
    banners.set('beside', { text: 'What the pin is compared with is not in this trace.' });
    return null;
  }
}

/* itemNow(): the allocation that is pinned, or null. */
const stripePins = ({ trace, url }, itemNow) => ({
  /* A stripe was chosen; chosen again it is let go. time: where it was clicked, of which the tables tell; of a key
     none.
   * isBeside: what is pinned becomes A. */
  pinStripe({ id }, time = null, isBeside = false) {
    const own = itemNow();
    const kept = isBeside && own && own.id !== id ? { beside: parsed(own.id) } : {};
    url.choose({ pin: id === own?.id && !isBeside ? null : parsed(id), ...kept, ...timePatch(trace, time) });
  },
  /* What is pinned becomes A; again: nothing is. */
  keep() {
    const item = itemNow();
    if (url.wanted.beside) url.choose({ beside: null });
    else if (item) url.choose({ beside: parsed(item.id) });
    return Boolean(item);
  },
  /* The comparison ends, else what is pinned is let go. True if something was. */
  release() {
    if (url.wanted.pin == null) return false;
    url.choose(url.wanted.beside ? { beside: null } : { pin: null });
    return true;
  },
});

/* tabsOf: the tables and the address map by name. Out: {span, mark(), show(), load(), pin(row, table), …}. */
export function createPins({ trace, url, timeline, tabsOf, pane, banners }) {
  let found = null; // what the pin names
  let other = null; // the same of A, with which it is compared
  let reading = null; // event under the pointer
  let under = null; // stripe under the pointer
  let takeBack = null;

  /* Id of the row of `table` that is pinned, or null. */
  const rowIn = (table) => {
    const { kind, id, table: own } = partsOf(url.wanted.pin);
    if (kind === 'e') return tabsOf[table].idOfEvent?.(Number(id)) ?? `e:${id}`;
    return own != null && own === table ? idIn[kind](id) : null;
  };
  const mark = () => {
    for (const table of TABLES) tabsOf[table].mark(null, rowIn(table));
  };
  const show = () => {
    if (!trace.pool) return;
    if (found)
      pane.show(details.withPair(found.say(), other?.item, found.item, trace.all, () => url.choose({ beside: null })));
    else if (under) pane.show(details.stripeDetails(under));
    else if (reading?.activity) pane.show(details.readingDetails(reading));
    else pane.show(details.pageDetails(trace.pool, trace.programs.list));
  };
  return {
    mark,
    show,
    rowIn,
    /* [from, to) of the life of the pinned event, or null. */
    get span() {
      return found?.span ?? null;
    },
    /* Its allocation as an item of stripes.js, or null. */
    get item() {
      return found?.item ?? null;
    },
    get beside() {
      return other?.item ?? null;
    },
    ...stripePins({ trace, url }, () => found?.item ?? null),
    /* Whether the pin is of a row that changes with the time. */
    isOfRow: () => partsOf(url.wanted.pin).table != null,
    /* Reads what the URL names; the life of an event is shaded on the timeline. */
    async load() {
      const { pool } = trace;
      const { pin } = url.wanted;
      const own = partsOf(pin);
      let next = null;
      if (pin != null) {
        try {
          next = await finderOf(own)({ trace, url, tabsOf }, own);
        } catch (error) {
          if (isAbort(error)) return;
          if (!(error instanceof Problem)) throw error;
          const what = finderOf(own) === FINDERS.event ? `Event ${own.id}` : 'What is pinned';
          banners.set('pin', { text: `${what} is not in this trace; showing this time.` });
        }
        if (pool !== trace.pool || pin !== url.wanted.pin) return;
      }
      found = next;
      other = await readBeside({ trace, url, tabsOf, banners }, url.wanted.beside);
      if (pool !== trace.pool || pin !== url.wanted.pin) return;
      timeline.place();
      markBlocks(tabsOf, own, found);
      mark();
      show();
    },
    /* A row or block was chosen; chosen again it is let go. The time follows an event of the table. */
    pin(row, table) {
      const pin = pinOf(row, table);
      const isSame = pinText(pin) === url.wanted.pin;
      const time = row.time_ps ?? row.freed_ps ?? null;
      url.choose({ pin: isSame ? null : pin, ...(table === 'events' && !isSame && time != null ? { time } : {}) });
    },
    /* A step or launch was chosen: it is the window too. */
    pickRun: (run) => url.choose({ sel: `${run.from}-${Math.max(run.to, run.from + 1)}`, pin: runPin(run) }),
    /* The pane follows the pointer a little later, so that a movement across costs nothing. */
    hover(next, item = null) {
      reading = next;
      under = item;
      takeBack?.();
      if (!found) takeBack = later(show, PANE_AFTER_MS);
    },
    /* The time or the picture changed by a key or a drag: what was under the pointer is no longer. */
    forget() {
      hideTooltip();
      if (!reading && !under) return;
      reading = under = null;
      takeBack?.();
      show();
    },
    /* Another trace or memory id. */
    reset() {
      found = other = reading = under = null;
    },
    destroy: () => takeBack?.(),
  };
}
