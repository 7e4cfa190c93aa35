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

const FIELDS = [
  ['cat', 'kind: parameter, output, constant, temporary'],
  ['op', 'opcode of the instruction'],
  ['line', 'source file and line'],
  ['scope', 'op name of the framework'],
  ['shape', 'shape:[*,2048] · [...,128] · bf16[…]'],
  ['dtype', 'element type'],
  ['name', 'name of the buffer; * stands for any text'],
  ['size', 'size:>64MiB · 1GiB..2GiB · >10%'],
  ['pad', 'padding: pad:>1MiB · >10%'],
  ['unpadded', 'bytes without padding'],
  ['alive', 'live at a step: alive:1536 · 100..200'],
  ['covers', 'offsets that it takes: covers:1GiB..2GiB'],
  ['born', 'first step: born:<100'],
  ['dies', 'last step'],
  ['lives', 'number of steps: lives:>1000'],
  ['offset', 'place in its allocation'],
  ['alloc', 'number of its allocation'],
  ['id', 'number of the buffer'],
];

export function filterFields(view) {
  const valuesOf = (name) => {
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
  return FIELDS.map(([name, says]) => ({ name, says, values: valuesOf(name) }));
}
