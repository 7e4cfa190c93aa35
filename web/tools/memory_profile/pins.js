/* SPDX-License-Identifier: Apache-2.0
 * pins.js: what is pinned (in the URL), picked or under the pointer, and what the pane at the right says of it.
 * A pin is "e:EVENT", "g:KEY" of a group and "r:CODE" of a remainder of what is live, "w:KEY" of a row of growth. */

import { later } from '../../lib/activity.js';
import { isAbort, Problem } from '../../lib/api.js';
import { pinText } from '../../lib/route.js';
import { hideTooltip } from '../../widgets/tooltip.js';
import * as details from './details.js';

const PANE_AFTER_MS = 40;
/* The table whose row a pin names; that of an event may be in any. */
const TABLE_OF = { g: 'live', r: 'live', w: 'growth' };
const TABLES = ['live', 'events', 'growth'];
/* Remainders and groups have their kind in their id, growth shares that of groups. */
const idIn = { g: (id) => `g:${id}`, r: (id) => `r:${id}`, w: (id) => `g:${id}` };

/* How the URL names a row of a table or a block of the address map. Pure. */
export function pinOf(row, table) {
  if (table === 'growth') return { kind: 'w', id: row.id.slice(2) };
  if (row.event !== null && row.event !== undefined) return { kind: 'e', id: String(row.event) };
  return { kind: row.id[0], id: row.id.slice(2) };
}

function spanOf({ event, partner, relation }, all) {
  if (partner) return [event.time_ps, partner.time_ps].sort((a, b) => a - b);
  return relation === 'before_window' ? [all[0], event.time_ps] : [event.time_ps, all[1]];
}

/* view: {context, wanted, all, pool, ask, timeline, tabsOf, programs}, as they are when they are asked. */
export function createPins(view) {
  const { context } = view;
  let pinned = null; // what the pane says of the pin
  let run = null; // step or launch that was picked
  let reading = null; // event under the pointer
  let takeBack = null;

  const parts = () => {
    const [kind, id] = [view.wanted.pin?.[0], view.wanted.pin?.slice(2)];
    return { kind, id, table: TABLE_OF[kind] ?? null };
  };
  /* Id of the row of `table` that is pinned, or null. */
  const rowIn = (table) => {
    const { kind, id, table: own } = parts();
    if (kind === 'e') return view.tabsOf[table].idOfEvent?.(Number(id)) ?? `e:${id}`;
    return own === table ? idIn[kind](id) : null;
  };
  const mark = () => {
    for (const table of TABLES) view.tabsOf[table].mark(null, rowIn(table));
  };
  const planOf = ({ item }) => view.programs.find((program) => item.key && program.key === item.key)?.href ?? '';
  const show = () => {
    if (!view.pool) return;
    if (pinned) context.details.show(pinned);
    else if (run) context.details.show(details.runDetails(run, planOf(run)));
    else if (reading?.activity) context.details.show(details.readingDetails(reading));
    else context.details.show(details.pageDetails(view.pool, view.timeline.data, view.programs));
  };
  /* The allocations behind a row, one by one. */
  const listRow = (row) => {
    const term = (field, value) => (value ? `${field}:"${String(value).replaceAll('"', '')}"` : '');
    const filter = [term('op', row.op), term('shape', row.shape), term('dtype', row.dtype)].filter(Boolean).join(' ');
    context.choose({ view: '', group: 'none', filter, sort: '', pin: null });
  };
  const eventOf = async (id) => {
    const { data } = await view.ask('event', { id });
    return { said: details.eventDetails(data, (time) => context.choose({ time })), span: spanOf(data, view.all) };
  };
  const groupOf = async ({ kind, id, table }) => {
    const row = await view.tabsOf[table].find(idIn[kind](id));
    const list = () => listRow(row);
    if (!row) return { said: details.absentDetails(kind), span: null };
    return { said: kind === 'w' ? details.growthDetails(row, list) : details.groupDetails(row, list), span: null };
  };

  return {
    mark,
    show,
    rowIn,
    /* Whether the pin is of a row that changes with the moment. */
    isOfRow: () => parts().table !== null,
    /* Reads what the URL names; the life of an event is shaded on the timeline. */
    async load() {
      const { pool, wanted: asked } = view;
      const own = parts();
      let found = null;
      if (asked.pin !== null) {
        try {
          found = await (own.table ? groupOf(own) : eventOf(own.id));
        } catch (error) {
          if (isAbort(error)) return;
          if (!(error instanceof Problem)) throw error;
          context.banners.set('pin', { text: `Event ${own.id} is not in this trace; showing the moment.` });
        }
        if (pool !== view.pool || asked.pin !== view.wanted.pin) return;
        run = null;
      }
      pinned = found?.said ?? null;
      view.wanted.span = found?.span ?? null;
      view.timeline.place();
      view.tabsOf.addresses.setPinned(own.kind === 'e' ? Number(own.id) : null);
      mark();
      show();
    },
    /* A row or block was chosen; chosen again it is let go. Of an event in the table the moment follows. */
    pin(row, table) {
      const pin = pinOf(row, table);
      const isSame = pinText(pin) === view.wanted.pin;
      const time = row.time_ps ?? row.freed_ps ?? null;
      context.choose({ pin: isSame ? null : pin, ...(table === 'events' && !isSame && time !== null ? { time } : {}) });
    },
    pickRun(picked) {
      run = picked;
      context.choose({ sel: `${run.from}-${Math.max(run.to, run.from + 1)}`, pin: null });
      show();
    },
    /* The pane follows the pointer a little later, so that a movement across costs nothing. */
    hover(next) {
      reading = next;
      takeBack?.();
      if (!pinned && !run) takeBack = later(show, PANE_AFTER_MS);
    },
    /* The moment or the picture changed by a key or a drag: what was under the pointer is no longer. */
    forget() {
      hideTooltip();
      if (!reading) return;
      reading = null;
      takeBack?.();
      show();
    },
    /* Lets go of what is pinned or picked. True if something was. */
    release() {
      if (run) {
        run = null;
        show();
        return true;
      }
      if (view.wanted.pin === null) return false;
      context.pin(null);
      return true;
    },
    /* Another trace or memory id. */
    reset() {
      pinned = run = reading = null;
    },
    destroy: () => takeBack?.(),
  };
}
