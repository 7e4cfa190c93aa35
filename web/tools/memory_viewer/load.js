/* SPDX-License-Identifier: Apache-2.0
 * load.js: asks the daemon for what the Memory Viewer shows, and keeps
 * what is known of each buffer: first what a bar or a row says, then the whole of it. */

import { later } from '../../lib/activity.js';
import { get, isAbort, Problem } from '../../lib/api.js';
import { categoryFill, categoryWords } from '../../widgets/categories.js';

const ASK_AFTER_MS = 80;

const KEPT_ANSWERS = 8;
let serial = 0;

/* place: {session, host, module} ids; summary: the answer to ask('summary'), if that was asked already. Out:
 * ask(view, params) → answer of the daemon. Views that ask the same share one answer; `own` is the signal of a question
 * that may be taken back. */
export function asker(place, signal, summary = null) {
  const answers = new Map(summary ? [['summary ', summary]] : []);
  const ask = (view, params = {}, own = null) => {
    const path = `memory_viewer/${view}`;
    if (own) return get(path, { ...place, ...params }, { signal: AbortSignal.any([signal, own]) });
    const said = Object.entries(params).filter(([, value]) => value !== '' && value != null);
    const key = `${view} ${new URLSearchParams(said.sort())}`;
    if (!answers.has(key)) {
      const answer = get(path, { ...place, ...params }, { signal });
      answer.catch(() => answers.delete(key));
      answers.set(key, answer);
      if (answers.size > KEPT_ANSWERS) answers.delete(answers.keys().next().value);
    }
    return answers.get(key);
  };
  ask.serial = ++serial;
  ask.place = place;
  return ask;
}

/* The space that is opened where the URL names none: the one of which too much is needed, else the largest. Why the
 * program failed comes first, and a VMEM of 16 MiB that is over would never be the largest. As the capacity stands in
 * the URL or in the files, a link opens the same space everywhere. */
export function usualSpace(spaces, isOver) {
  return spaces.find(isOver) ?? spaces[0] ?? null;
}

/* Each category's bytes at the steps, from the bottom; null: not asked for. */
const stackOf = (stack) =>
  stack?.map(({ category, bytes }) => ({
    name: category,
    word: categoryWords(category),
    values: bytes,
    fill: () => categoryFill(category),
  })) ?? null;

/* Pure: the curve of an answer as the widget wants it. `to` of the answer is the step behind the last; width: as it was
   asked for. */
export function curveOf(data, width) {
  const { columns } = data;
  return {
    from: data.from,
    to: Math.max(data.from, Math.min(data.to, data.step_count) - 1),
    stepCount: data.step_count,
    isThinned: data.is_thinned,
    width,
    steps: columns.step,
    bytes: columns.bytes,
    unpadded: columns.unpadded_bytes ?? columns.bytes,
    stack: stackOf(data.stack),
    positions: columns.schedule_position ?? null,
    instructions: columns.instruction ?? null,
    peak: data.peak ?? null,
    localPeaks: data.local_peaks ?? [],
  };
}

/* Pure: notes of several answers as one list, each said once. */
export function gatherNotes(...lists) {
  const seen = new Map();
  for (const note of lists.flat())
    if (note && !seen.has(`${note.code} ${note.text}`)) seen.set(`${note.code} ${note.text}`, note);
  return [...seen.values()];
}

/* Asks for a view of `params.filter`; where that cannot be read, of the last one that could. Why is said where
 * it is typed. */
export async function askFiltered(program, name, params, signal) {
  try {
    const answer = await program.ask(name, params, signal);
    program.goodFilter = params.filter ?? program.goodFilter;
    return answer;
  } catch (error) {
    const good = program.goodFilter ?? '';
    if (error.status !== 400 || !params.filter || params.filter === good) throw error;
    return program.ask(name, { ...params, filter: good }, signal);
  }
}

/* Asks for what passes `terms` besides its filter; the places of faults are those in the filter. Whoever asked the same
 * hears of the same fault, so it stays as it is. */
export function askWithin(ask, terms) {
  if (!terms) return ask;
  return async (name, { filter, ...params }, own) => {
    try {
      return await ask(name, { ...params, filter: filter ? `${terms} ${filter}` : terms }, own);
    } catch (error) {
      if (!error.offsetBytes) throw error;
      throw new Problem({ ...error, detail: error.message, offset_bytes: error.offsetBytes - terms.length - 1 });
    }
  };
}

/* What is known, and a row that says more; a text that was cut gives way to the whole of it, and never the other way.
 */
function joined(old, row) {
  if (!old) return row;
  return old.is_cut && !row.is_cut
    ? { ...old, ...row, is_cut: false }
    : { ...row, ...old, is_cut: Boolean(old.is_cut) };
}

/* What is known of buffers, by id. `onMore(id)` is called when more became known. */
export function createRecords(onMore) {
  const known = new Map();
  const asked = new Set();
  let takeBack = null;
  let ask = null;
  let alive = null;

  const read = async (id) => {
    asked.add(id);
    const mine = alive;
    try {
      const { data } = await ask('buffer', { id });
      if (mine !== alive) return null;
      known.set(id, { ...known.get(id), ...data, is_cut: false });
      onMore(id);
      return data;
    } catch (error) {
      asked.delete(id);
      if (!isAbort(error) && mine === alive) throw error;
      return null;
    }
  };
  return {
    /* Forgets all; from now on `nextAsk` is used. */
    reset(nextAsk) {
      known.clear();
      asked.clear();
      takeBack?.();
      ask = nextAsk;
      alive = {};
    },
    add(rows) {
      for (const row of rows) if (row.id != null) known.set(row.id, joined(known.get(row.id), row));
    },
    get: (id) => known.get(id) ?? null,
    read,
    isWhole: (id) => known.get(id)?.stack !== undefined,
    /* Reads the whole of it if the reader stays for 80 ms. */
    want(id) {
      takeBack?.();
      if (asked.has(id)) return;
      takeBack = later(() => read(id).catch(() => {}), ASK_AFTER_MS);
    },
    stop() {
      takeBack?.();
      alive = null;
    },
  };
}
