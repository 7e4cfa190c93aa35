/* SPDX-License-Identifier: Apache-2.0
 * spread.js: bars out of a verdict, for bars.js: the stretches of what was needed, and whose memory it is. Pure. */

import { bytes, visible } from '../../lib/format.js';
import { categoryWords } from '../../widgets/categories.js';
import { cellsOf } from './bars.js';

const LOOKS = {
  arguments: 'parameter',
  outputs: 'output',
  temporaries: 'temporary',
  constants: 'constant',
  program: 'collective',
  arrays: 'parameter',
  fragmentation: 'lost',
  free: 'free',
};

/* Does what lies beside a text say more of the failure than the text: a snapshot, live arrays of a device profile? */
export const saysMoreThanText = (core) =>
  Boolean(core?.together?.rows.length) || Boolean(core?.where.some(({ source }) => source === 'device profile'));

const partOf = (row, look) => ({
  word: row.label,
  bytes: row.bytes,
  key: null,
  evidence: row.evidence,
  look,
  fragmentation_bytes: 0,
  fragmentation_key: null,
});

/* The stretches of what was needed; null where nothing is itemised. */
export function barOf({ where, where_bytes: whole, where_over_bytes: over, where_evidence: sum, fit, together }) {
  if (where.length === 0) return null;
  return {
    parts: where.map((row) =>
      partOf(row, together && row.kind === 'reserved' ? 'parameter-light' : (LOOKS[row.kind] ?? 'unknown')),
    ),
    whole_bytes: whole,
    whole_evidence: sum,
    of: '',
    limit:
      fit.capacity_bytes == null
        ? null
        : { bytes: fit.capacity_bytes, word: 'capacity', key: null, evidence: fit.evidence.capacity },
    over_bytes: over,
    over_evidence: fit.evidence.over,
    over_word: 'over by',
    over_text: bytes(over),
    is_itemised: true,
  };
}

/* What the text itemises is the text's; what it does not is the plan's. The limit stays the text's. At run time a text
   may
 * state the request alone, which is no more than a piece. told: the bar of the text, plan: of the answer oom/plan,
 * core: the verdict; each may be null. */
export function takenOf(told, plan, core, phase) {
  if (!told || core?.together || saysMoreThanText(core)) return core ? barOf(core) : told;
  const isPiece = phase === 'run' && told.parts.length === 1;
  const own = core && (!told.is_itemised || isPiece) ? barOf(core) : null;
  if (own && core.where[0].source === 'plan') return { ...own, limit: told.limit ?? own.limit };
  return plan?.bar ?? told;
}

/* Whose memory it is, with the largest groups as cells; null where that is not known. Stretches that no category has a
   share
 * of stay beside: where one of them is what the categories add up to, the others. */
export function whoseOf(told, core) {
  if (!core?.categories.length) return null;
  const own = barOf(core);
  if (!own) return null;
  const { categories, where, where_bytes: whole, peak } = core;
  const sum = categories.reduce((all, row) => all + row.bytes, 0);
  const at = sum === whole ? -1 : where.findIndex((row) => row.bytes === sum);
  const parts = categories.map((row) => {
    const category = row.category ?? 'any';
    const word = row.category ? categoryWords(row.category) : visible(row.label);
    return { ...partOf(row, category), word, category, cells: cellsOf(row, whole, peak.groups) };
  });
  const others = at < 0 ? [] : own.parts.filter((_, index) => index !== at);
  return { ...own, parts: [...parts, ...others], limit: told?.limit ?? own.limit };
}
