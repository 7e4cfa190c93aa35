/* SPDX-License-Identifier: Apache-2.0
 * beside.js: two buffers compared: A, which was kept ("beside" of the URL), and B, which is pinned. */

import { nextFrame } from '../../lib/activity.js';
import { Problem } from '../../lib/api.js';
import { bytes, count, cutMiddle, splitShape, visible } from '../../lib/format.js';
import { pinText } from '../../lib/route.js';
import { categoryWord } from '../../widgets/categories.js';
import { pairTable, sizeChange, wordChange } from '../../widgets/pair.js';

/* Reads A of the URL; what is not here is named. */
export async function setBeside(view, { beside }) {
  const { banners } = view.context;
  const id = beside?.kind === 'b' ? beside.id : null;
  view.besideAsked = id;
  banners.drop('beside');
  let record = null;
  if (id != null && view.program.space) {
    try {
      if (!view.records.isWhole(id)) await view.records.read(id);
      record = view.records.get(id) ?? null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
  if (view.besideAsked !== id) return;
  if (beside && !record)
    banners.set('beside', {
      text: `${cutMiddle(visible(pinText(beside)), 40)} is not in this module; nothing is compared.`,
    });
  view.beside = record;
  nextFrame(view.light);
}

/* What is pinned becomes A, and `item` is pinned; without one the comparison ends where there is one. */
export function keepBeside(view, item = null) {
  const { pin } = view.store.state;
  const { context, beside } = view;
  const isBuffer = pin != null && !String(pin).startsWith('g:');
  if (!item && beside) context.choose({ beside: null });
  else if (!item && isBuffer) context.choose({ beside: { kind: 'b', id: pin } });
  else if (item?.id != null && !item.isGroup)
    context.choose({
      pin: { kind: 'b', id: item.id },
      ...(isBuffer && pin !== item.id ? { beside: { kind: 'b', id: pin } } : {}),
    });
  return pin != null;
}

const signed = (value) => (value === 0 ? 'the same' : `${value < 0 ? '−' : '+'}${count(Math.abs(value))}`);

/* First step and the one behind the last; null where they are not known. */
const lifeOf = (record, { step_count: end }) =>
  record.is_indefinite ? [0, end] : record.born_step == null ? null : [record.born_step, record.dies_step ?? end];
const shapeOf = ({ shape }) => splitShape(visible(shape ?? ''))[0] || '–';
const sourceOf = ({ source_file: file, source_line: line }) =>
  file ? `${visible(file).replace(/.*\//, '')}${line ? `:${line}` : ''}` : '–';

/* What the pane says of A beside the pinned `b`; null where nothing is compared. */
export function besidePart(view, b) {
  const { beside: a, context, program } = view;
  if (!a || a.id === b.id) return null;
  const { space } = program;
  const [lifeA, lifeB] = [lifeOf(a, space), lifeOf(b, space)];
  const unit = space.step_unit === 'schedule' ? 'position' : 'step';
  const row = (word, at) => [word, at(lifeA), at(lifeB)];
  const steps =
    lifeA && lifeB
      ? [
          [...row(`first ${unit}`, ([from]) => count(from)), signed(lifeB[0] - lifeA[0])],
          [...row(`last ${unit}`, ([, to]) => count(to - 1)), signed(lifeB[1] - lifeA[1])],
          [...row(`${unit}s`, ([from, to]) => count(to - from)), signed(lifeB[1] - lifeB[0] - lifeA[1] + lifeA[0])],
        ]
      : [];
  const word = (name, of) => [name, of(a), of(b), wordChange(of(a), of(b))];
  const rows = [
    ['size', bytes(a.bytes), bytes(b.bytes), sizeChange(a.bytes, b.bytes)],
    ...steps,
    word('category', ({ category }) => categoryWord(category)),
    word('shape', shapeOf),
    word('source', sourceOf),
  ];
  return pairTable(a.name || `buffer ${a.id}`, b.name || `buffer ${b.id}`, rows, () =>
    context.choose({ beside: null }),
  );
}
