/* SPDX-License-Identifier: Apache-2.0
 * filter.js: the fields by which buffers are filtered, and the values that they have now. */

import { bytes, splitShape } from '../../lib/format.js';
import { typed } from '../../lib/filter_text.js';

const MAX_VALUES = 200;

/* Field → way of grouping that lists its values. A value as it is typed: a shape without its layout, a scope
 * with what lies in it. */
const VALUES = {
  shape: ['shape', (key) => splitShape(key)[0]],
  dtype: ['dtype', typed],
  cat: ['category', typed],
  op: ['opcode', typed],
  line: ['line', typed],
  scope: ['scope', (key) => (/[\s",]/.test(key) ? typed(key) : `${key}/*`)],
};

export function valuesOfFields(view) {
  return (name) => {
    const known = VALUES[name];
    if (!known) return null;
    const [by, typedOf] = known;
    return async (signal) => {
      const { step } = view.context.route;
      const params = { space: view.space.space, step: view.space.replay_error ? 'all' : (step ?? 'peak'), by };
      const { data } = await view.ask('groups', { ...params, limit: MAX_VALUES }, signal);
      return data.groups
        .filter((group) => group.key !== '')
        .map((group) => ({ value: group.key, figure: bytes(group.bytes), typed: typedOf(group.key) }));
    };
  };
}
