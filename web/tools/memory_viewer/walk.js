/* SPDX-License-Identifier: Apache-2.0
 * walk.js: from buffer to buffer: what the pinned one was made of and what reads it, as links in the pane and by keys,
 * and the way back. */

import { button, el, nameInline } from '../../lib/dom.js';
import { bytes, count, counted, sourceLine } from '../../lib/format.js';
import { choose } from '../../lib/route.js';
import { swatch } from '../../widgets/categories.js';
import { folded } from '../../widgets/details.js';

const MAX_STEPS = 200;

/* page: {context, program, records, pinned() → id | null}. Out: {parts(record), toOperand(), toReader(), back()}. */
export function createWalk(page) {
  let trail = []; // {from, to}: places that were left for another
  const here = () => ({ id: page.pinned(), space: page.program.space.space });
  const goTo = ({ id, space }) => {
    const { context } = page;
    const pin = { kind: 'b', id };
    context.choose(space === page.program.space.space ? { pin } : { ...choose(context.route, 'space', space), pin });
  };
  const step = (buffer) => {
    const from = here();
    trail = [...(isOnTrail(from.id) ? trail : []), { from, to: buffer.id }].slice(-MAX_STEPS);
    goTo(buffer);
  };
  const isOnTrail = (id) => trail.length > 0 && trail[trail.length - 1].to === id;
  const read = async () => {
    const { id } = here();
    if (id == null) return null;
    const record = page.records.isWhole(id) ? page.records.get(id) : await page.records.read(id);
    return id === page.pinned() ? record : null;
  };
  const by = (pick) => async () => {
    const record = await read().catch(() => null);
    const next = record && pick(record);
    if (next) step(next);
  };
  return {
    parts: (record) => linkParts(record, page, step),
    toOperand: by(({ producer }) => largestOf(producer?.operands ?? [])),
    toReader: by(({ id, consumers }) =>
      largestOf((consumers?.rows ?? []).flatMap((row) => row.buffers).filter((buffer) => buffer.id !== id)),
    ),
    /* To the buffer that the last step left. True if there was one. */
    back() {
      if (page.pinned() == null || !isOnTrail(page.pinned())) return false;
      goTo(trail.pop().from);
      return true;
    },
  };
}

/* Pure: the largest that has a place of its own. */
export function largestOf(buffers) {
  const placed = buffers.filter(({ id }) => id != null);
  return placed.length ? placed.reduce((best, each) => (each.bytes > best.bytes ? each : best)) : null;
}

/* ---- the pane ---- */

const place = ({ source_file: file, source_line: line }) =>
  file ? [' ', el('span', { class: 'dim' }, sourceLine(file, line))] : null;

function bufferLink(buffer, page, step) {
  const name = nameInline(buffer.name, 60);
  if (buffer.id == null) return [name, el('span', { class: 'dim' }, ' takes no memory of its own')];
  const { spaces, space } = page.program;
  const isHere = buffer.space === space.space;
  const other = isHere
    ? ''
    : ` in ${spaces.find((each) => each.space === buffer.space)?.name ?? `space ${buffer.space}`}`;
  const key = isHere ? `size:${buffer.id}` : `size:${buffer.id}:${buffer.space}`;
  return [
    swatch(buffer.category),
    button('link-button', () => step(buffer), name),
    ' ',
    el('span', { 'data-explain': key }, `${bytes(buffer.bytes)}${other}`),
  ];
}

/* More of a list are asked for by a button behind its rows. */
function moreButton(words, ask) {
  const row = el('li', {});
  const more = button(
    'link-button',
    async () => {
      more.disabled = true;
      const rows = await ask().catch(() => null);
      if (rows) row.replaceWith(...rows);
      else more.disabled = false;
    },
    words,
  );
  row.append(more);
  return row;
}

const askMore = async (page, record, params) =>
  (await page.program.ask('buffer', { space: page.program.space.space, id: record.id, ...params })).data;

function operandRows({ producer }, record, page, step) {
  const rows = producer.operands.map((buffer) => el('li', {}, bufferLink(buffer, page, step)));
  const end = producer.operand_offset + producer.operands.length;
  if (end >= producer.operand_count) return rows;
  const words = `${count(producer.operand_count - end)} more`;
  return [
    ...rows,
    moreButton(words, async () =>
      operandRows(await askMore(page, record, { operand_offset: end, limit: 0 }), record, page, step),
    ),
  ];
}

function readerRows({ consumers }, record, page, step) {
  const rows = consumers.rows.map((reader) => {
    const others = reader.buffers.filter(({ id }) => id !== record.id);
    const made = others.length
      ? others.map((buffer) => el('div', { class: 'link-made' }, bufferLink(buffer, page, step)))
      : el('span', { class: 'dim' }, reader.buffers.length ? ' writes into this buffer' : '');
    const more =
      reader.buffer_count > reader.buffers.length
        ? el('div', { class: 'dim' }, `and ${counted(reader.buffer_count - reader.buffers.length, 'other')}`)
        : null;
    return el(
      'li',
      {},
      nameInline(reader.opcode, 40),
      ' ',
      el('span', { class: 'dim' }, nameInline(reader.instruction, 60)),
      place(reader),
      made,
      more,
    );
  });
  const end = consumers.offset + consumers.rows.length;
  if (end >= consumers.count) return rows;
  return [
    ...rows,
    moreButton(`${count(consumers.count - end)} more`, async () =>
      readerRows(await askMore(page, record, { offset: end, limit: 100 }), record, page, step),
    ),
  ];
}

/* What made a buffer and what reads it; nothing while that is not read. */
function linkParts(record, page, step) {
  const { producer, consumers } = record;
  if (!producer || !consumers) return null;
  const made = producer.operand_count
    ? folded(
        `made from ${counted(producer.operand_count, 'value')} (<)`,
        operandRows(record, record, page, step),
        producer.operands.length <= 6,
      )
    : el(
        'p',
        { class: 'dim' },
        producer.opcode === 'parameter' ? 'It is passed in with the call.' : 'It is made from nothing.',
      );
  const readers = consumers.count
    ? folded(
        `read by ${consumers.is_cut ? 'at least ' : ''}${counted(consumers.count, 'instruction')} (>)`,
        readerRows(record, record, page, step),
        consumers.rows.length <= 6,
      )
    : null;
  const result = consumers.is_result ? el('p', { class: 'dim' }, 'It is part of what the program returns.') : null;
  const nobody = !consumers.count && !consumers.is_result ? el('p', { class: 'dim' }, 'Nothing reads it.') : null;
  return el('div', { class: 'links' }, made, readers, result, nobody);
}
