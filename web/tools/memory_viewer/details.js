/* SPDX-License-Identifier: Apache-2.0
 * details.js: what the details pane says about a buffer, a merged bar, and the page while nothing is hovered or pinned.
 * */

import { count, counted, percent, splitShape, visible } from '../../lib/format.js';
import { el, nameInline } from '../../lib/dom.js';
import { categoryWord, swatch } from '../../widgets/categories.js';
import { explained } from '../../widgets/explain.js';
import { copyButton, fact, facts, lifeBar, stackList } from '../../widgets/details.js';
import { kindWord, mergedText, paddingText } from './text.js';

function stack(record) {
  if (record.stack === undefined) return el('p', { class: 'dim' }, record.source_file ? 'reading the stack …' : '');
  return stackList(record.stack);
}

const wordButton = (card, words) => el('button', { type: 'button', class: 'explained', 'data-explain': card }, words);
const aliveButton = ({ id }, words) => wordButton(`alive:${id}`, words);

function life(record, space) {
  const word = space.step_unit === 'schedule' ? 'schedule positions' : 'steps';
  if (record.is_indefinite) {
    return [
      aliveButton(
        record,
        space.step_count ? `the whole program, ${word} 0 to ${count(space.step_count)}` : 'the whole program',
      ),
    ];
  }
  if (record.born_step == null) return record.stack === undefined && record.shape === undefined ? [] : ['not known'];
  const dies = record.dies_step ?? space.step_count;
  return [
    aliveButton(record, `${word} ${count(record.born_step)} to ${count(dies)} of ${count(space.step_count)}`),
    lifeBar(record.born_step, dies, space.step_count),
  ];
}

function sourceFact(record) {
  if (record.shape === undefined) return null;
  if (!record.source_file) return fact('source', el('span', { class: 'dim' }, 'not recorded'));
  const line = record.source_line ? `${record.source_file}:${record.source_line}` : record.source_file;
  return fact('source', el('strong', {}, nameInline(line, 120)), ' ', copyButton(line));
}

/* `record` may still be what a bar or a row knows; the rest follows when it is read. */
function whose(record) {
  const word = [swatch(record.category), wordButton(`category:${record.id}`, categoryWord(record.category))];
  return record.confidence ? [...word, el('span', { class: 'dim' }, ` · ${record.confidence}`)] : word;
}

/* What the peak falls by without it, in the core's words; the row knows the figure alone. */
function saves({ id, saves_bytes: value, saving }) {
  if (value === undefined) return null;
  return fact(
    'saves',
    explained(`saves:${id}`, value),
    el('span', { class: 'dim' }, ' · bound'),
    saving && el('p', { class: 'saving-says', 'data-explain': `saves:${id}` }, saving.sentence),
  );
}

/* links: what made it and what reads it, as walk.js has it. */
export function bufferDetails(record, space, isPinned, links = null) {
  const [shape, layout] = splitShape(visible(record.shape ?? ''));
  const share =
    record.share_of_peak != null ? percent(record.share_of_peak, 1) : percent(record.bytes, space.peak_bytes);
  return {
    heading: isPinned ? 'Pinned buffer' : 'Buffer',
    subject: record.name || `buffer ${record.id}`,
    isCut: Boolean(record.is_cut),
    isPinned,
    parts: [
      facts(
        fact(
          'size',
          el('strong', {}, explained(`size:${record.id}`, record.bytes)),
          ' · ',
          explained(`share:${record.id}`, record.bytes, share),
          ' of the peak',
        ),
        fact(
          'unpadded',
          record.unpadded_bytes == null
            ? el('span', { class: 'dim' }, 'not known')
            : explained(`unpadded:${record.id}`, record.unpadded_bytes),
        ),
        fact(
          'padding',
          record.padding_bytes > 0
            ? explained(`padding:${record.id}`, record.padding_bytes, paddingText(record))
            : paddingText(record),
        ),
        saves(record),
        sourceFact(record),
        fact('shape', shape && nameInline(shape, 200)),
        fact('layout', (record.layout || layout) && nameInline(record.layout || layout, 120)),
        fact('category', whose(record)),
        record.rule_text ? fact('because', record.rule_text) : null,
        fact(
          'kind',
          record.kind && wordButton(`kind:${record.id}`, kindWord(record.kind)),
          record.parameter_number != null ? ` ${count(record.parameter_number)}` : '',
        ),
        fact('opcode', record.opcode && nameInline(record.opcode)),
        fact('op name', record.op_name && nameInline(record.op_name, 300)),
        fact('alive', life(record, space)),
        fact(
          'allocation',
          record.allocation && [
            `number ${count(record.allocation.index)}, `,
            explained(`allocation:${record.id}`, record.allocation.size_bytes),
            ', offset ',
            explained(`allocation:${record.id}`, record.allocation.offset_bytes),
          ],
        ),
        fact('computation', record.computation && nameInline(record.computation, 80)),
        fact('shared with', record.shared_with?.length ? counted(record.shared_with.length, 'other buffer') : ''),
        fact('buffer id', record.id),
      ),
      links,
      stack(record),
      isPinned
        ? el('p', { class: 'dim' }, 'A click on a figure explains it. Esc unpins.')
        : el('p', { class: 'dim' }, 'Click pins it.'),
    ],
  };
}

export function mergedDetails(bar, space) {
  return {
    heading: 'Small buffers',
    parts: [
      facts(
        fact('together', explained('merged', bar.bytes, mergedText(bar))),
        fact('share', explained('merged', bar.bytes, percent(bar.bytes, space.peak_bytes)), ' of the peak'),
        fact('padding', bar.padding_bytes > 0 ? explained('merged', bar.padding_bytes) : 'none'),
      ),
      el(
        'p',
        { class: 'dim' },
        'Each is too narrow for its own bar, so they are drawn as one, with two notches. Sums and the table count ' +
          'each of them.',
      ),
    ],
  };
}

const KEYS = [
  ['hover', 'highlights the same buffer everywhere'],
  ['click', 'pins it; again, or Esc, unpins'],
  ['Tab', 'to a chart or the table'],
  ['← →', 'from bar to bar, step to step'],
  ['Enter', 'pins'],
];

export function pageDetails(space) {
  const parts = [
    el(
      'p',
      {},
      el('strong', {}, 'The total'),
      ' (allocations, with fragmentation) decides whether the program fits in ',
      nameInline(space.name),
      '. ',
      el('strong', {}, 'Peak live'),
      ' is the largest sum of buffers that live at one time; it says what fills the memory.',
    ),
    el(
      'p',
      {},
      space.step_unit === 'schedule'
        ? 'A position is a place in the schedule of the program.'
        : 'A step is an event of the heap trace: one buffer is born or dies.',
    ),
    el(
      'p',
      {},
      'The picture shows each buffer as a stripe from birth to death. The strips below show every buffer that is ' +
        'live at the peak; the width is its size. The hatched part is padding: bytes that hold no data.',
    ),
    el('dl', { class: 'keys' }, KEYS.map(([key, does]) => [el('dt', {}, key), el('dd', {}, does)]).flat()),
  ];
  return { heading: 'What this page shows', parts };
}
