/* SPDX-License-Identifier: Apache-2.0
 * filter.js: the text of the filter: legend words in it, terms that others add to it, and the values that its fields
 * have now. */

import { bytes, splitShape } from '../../lib/format.js';
import { typed } from '../../lib/filter_text.js';

const TERM = /(^|\s)cat:([a-z_,]+)(?=\s|$)/;

/* Categories that the filter asks for; none: all. */
export function categoriesOf(filter) {
  return TERM.exec(filter)?.[2].split(',').filter(Boolean) ?? [];
}

/* The filter with only `category`, or with it added or taken away; without it when it was alone. */
export function toggledCategory(filter, category, isAdded) {
  const now = categoriesOf(filter);
  const has = now.includes(category);
  let next = has && now.length === 1 ? [] : [category];
  if (isAdded) next = has ? now.filter((each) => each !== category) : [...now, category];
  const rest = filter.replace(TERM, ' ').trim();
  return [next.length ? `cat:${next.join(',')}` : '', rest].filter(Boolean).join(' ');
}

/* A term that keeps what covers one of the offsets [low, high). */
export const coversTerm = ([low, high]) => `covers:${low}..${high - 1}`;

/* Pure: "size:120-334", the ranks of a merged bar that was opened → {order, first, count}, or null. */
export function readOpened(text) {
  const match = /^(program|size|padding):(\d{1,9})-(\d{1,9})$/.exec(text);
  if (!match || Number(match[3]) < Number(match[2])) return null;
  return { order: match[1], first: Number(match[2]), count: Number(match[3]) - Number(match[2]) + 1 };
}

const MAX_VALUES = 200;

/* Field → way of grouping that lists its values. A value as it is typed: a shape without its layout, a scope
 * with what lies in it. */
const VALUES = {
  shape: ['shape', (key) => splitShape(key)[0]],
  dtype: ['dtype', typed],
  cat: ['category', typed],
  kind: ['kind', typed],
  op: ['opcode', typed],
  line: ['line', typed],
  scope: ['scope', (key) => (/[\s",]/.test(key) ? typed(key) : `${key}/*`)],
};

export function valuesOfFields(program, context) {
  return (name) => {
    const known = VALUES[name];
    if (!known) return null;
    const [by, typedOf] = known;
    return async (signal) => {
      const { step } = context.route;
      const params = { space: program.space.space, step: program.space.replay_error ? 'all' : (step ?? 'peak'), by };
      const { data } = await program.ask('groups', { ...params, limit: MAX_VALUES }, signal);
      return data.groups
        .filter((group) => group.key !== '')
        .map((group) => ({ value: group.key, figure: bytes(group.bytes), typed: typedOf(group.key) }));
    };
  };
}
