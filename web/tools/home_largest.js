/* SPDX-License-Identifier: Apache-2.0
 * home_largest.js: the largest module of the newest sessions, and whether it fits. Filled in after
 * the list stands, two sessions at a time; what a session recorded as capacity decides. */

import { get, isAbort } from '../lib/api.js';
import { sessionVerdict } from '../lib/capacity.js';
import { el, figure, fill } from '../lib/dom.js';
import { bytesInColumn, unitName } from '../lib/format.js';
import { listModules } from '../lib/selection.js';

const MOST_SESSIONS = 20;
const AT_A_TIME = 2;
const GIB_UNIT = 3;

/* Pure: {bytes, word} of a session: its largest module, and "over", "fits" or "". */
export function largestOf(modules, errorTexts) {
  const largest = modules.reduce((most, module) => Math.max(most, module.largest_total_bytes ?? 0), 0);
  return { bytes: largest || null, word: sessionVerdict(modules, errorTexts) };
}

/* Error texts are asked only of sessions that have one. */
async function look(session, signal) {
  const [modules, detail] = await Promise.all([
    listModules(session.id, '', '', signal),
    session.has_error_text ? get(`sessions/${encodeURIComponent(session.id)}`, {}, { signal }) : null,
  ]);
  return { total: modules.total, ...largestOf(modules.modules, detail?.error_texts ?? []) };
}

/* The two cells of a row that are filled later. */
export function largestCells() {
  return {
    largest: el('td', { class: 'h-largest' }, el('span', { class: 'dim' }, '–')),
    verdict: el('td', { class: 'h-verdict' }),
  };
}

function draw({ largest, verdict }, found) {
  if (found.bytes !== null) {
    const { text, isOwn } = bytesInColumn(found.bytes, GIB_UNIT);
    const unit = isOwn ? null : el('span', { class: 'unit' }, ` ${unitName(GIB_UNIT)}`);
    fill(largest, figure(found.bytes, text, isOwn ? 'dim' : ''), unit);
  }
  fill(verdict, found.word ? el('span', { class: found.word }, found.word) : null);
}

/* rows: [{session, cells, onTotal(count)}], newest first. Ends early when `signal` aborts. */
export async function fillLargest(rows, signal) {
  const queue = rows.slice(0, MOST_SESSIONS);
  const work = async () => {
    for (let row = queue.shift(); row && !signal.aborted; row = queue.shift()) {
      try {
        const found = await look(row.session, signal);
        if (signal.aborted) return;
        draw(row.cells, found);
        row.onTotal(found.total);
      } catch (error) {
        if (isAbort(error)) return;
        fill(row.cells.largest, el('span', { class: 'dim', title: error.message }, 'not readable'));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}
