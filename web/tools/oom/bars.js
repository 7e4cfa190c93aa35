/* SPDX-License-Identifier: Apache-2.0
 * bars.js: one bar of parts: within a part the largest of it as cells, a tick where the capacity is and, hatched, what
 * lies above it; and its legend. Red is only what lies above the limit. */

import { el } from '../../lib/dom.js';
import { bytes, percent, visible } from '../../lib/format.js';
import { swatchStyle } from '../../widgets/categories.js';
import { isFarFrom } from '../../widgets/ledger.js';
import * as say from './text.js';

/* What is less of the whole has no place in the legend of its own, and no cell. */
const LITTLE = 0.001;
const LEAST_CELL = 0.004;
const MAX_CELLS = 64;
/* From here on the word of the tick stands to its left. */
const NEAR_END = 0.6;

const share = (size, whole) => `${(100 * size) / Math.max(1, whole)}%`;

function piece(className, size, scale, attributes = {}, ...about) {
  const node = el('span', { class: className, ...attributes }, ...about);
  node.style.width = share(size, scale);
  return node;
}

/* Pure: groups of equal buffers as cells of their category, largest first: [{bytes, key, title}]. None where they hold
   more
 * than the category has: then they are no pieces of it. */
export function cellsOf(category, whole, groups) {
  const own = groups.filter((group) => group.category === category.category);
  if (own.reduce((sum, group) => sum + group.bytes, 0) > category.bytes) return [];
  return own
    .filter((group) => group.bytes >= whole * LEAST_CELL)
    .flatMap((group) => {
      const isApart = group.count <= MAX_CELLS && group.bytes / group.count >= whole * LEAST_CELL;
      const cell = {
        bytes: isApart ? group.bytes / group.count : group.bytes,
        key: `group.${group.key}`,
        title: `${visible(group.label)} ${bytes(group.bytes)}`,
      };
      return Array.from({ length: isApart ? group.count : 1 }, () => cell);
    });
}

const cellNode = (cell, at, part) =>
  piece(at % 2 ? 'oom-cell is-second' : 'oom-cell', cell.bytes, part.bytes, {
    title: cell.title,
    'data-key': cell.key,
  });

/* Of a part that holds fragmentation, that is a piece of its own. */
function partPieces(part, scale) {
  const word = visible(part.word);
  const lost = part.fragmentation_bytes;
  const about = { title: `${word} ${bytes(part.bytes)}`, 'data-key': part.key };
  const whole = piece(
    `oom-part ${swatchStyle(part.look)}`,
    part.bytes - lost,
    scale,
    about,
    (part.cells ?? []).map((cell, at) => cellNode(cell, at, part)),
  );
  if (!lost) return [whole];
  return [
    whole,
    piece('oom-part swatch-lost', lost, scale, {
      title: `fragmentation ${bytes(lost)}, of ${word}`,
      'data-key': part.fragmentation_key,
    }),
  ];
}

/* The tick of the limit, its word above the bar, and what is above the limit. */
function limitNodes({ limit, over_bytes: over }, scale) {
  const at = Math.min(limit.bytes, scale);
  const tick = el('span', { class: 'oom-tick', 'data-key': limit.key });
  const word = el(
    'span',
    { class: at > scale * NEAR_END ? 'oom-tick-word is-before' : 'oom-tick-word' },
    `${limit.word} ${bytes(limit.bytes)}`,
  );
  const above = over > 0 ? piece('oom-over', Math.min(over, scale - at), scale) : null;
  for (const node of [tick, word, above]) if (node) node.style.left = share(at, scale);
  return { word, marks: [above, tick] };
}

/* bar: of a text, or of spread.js; figureOf(bytes, key, evidence, text, className) → the node of a figure that opens
   its
 * evidence, or lights its range. */
export function drawBar(bar, figureOf) {
  const isFar = bar.limit && isFarFrom(bar.limit.bytes, bar.whole_bytes);
  const scale = isFar ? bar.whole_bytes : Math.max(bar.whole_bytes, bar.limit?.bytes ?? 0);
  const held = bar.limit && !isFar ? limitNodes(bar, scale) : null;
  return el(
    'div',
    { class: 'oom-bars' },
    held && el('div', { class: 'oom-scale', 'aria-hidden': 'true' }, held.word),
    el(
      'div',
      { class: 'oom-track' },
      el(
        'div',
        { class: 'oom-bar', role: 'img', 'aria-label': say.barText(bar) },
        bar.parts.flatMap((part) => partPieces(part, scale)),
      ),
      held?.marks,
    ),
    drawLegend(bar, figureOf),
  );
}

const isSmall = (part, whole) => Boolean(part.category) && part.bytes < whole * LITTLE;

function entryNodes(part, whole, figureOf) {
  const swatch = (look) => el('span', { class: `swatch ${swatchStyle(look)}`, 'aria-hidden': 'true' });
  const ofAll = (size) => (part.bytes < whole ? el('span', { class: 'dim' }, ` ${percent(size, whole)} of all`) : null);
  const lost = part.fragmentation_bytes;
  return [
    el(
      'li',
      {},
      swatch(part.look),
      `${visible(part.word)} `,
      figureOf(part.bytes, part.key, part.evidence),
      ofAll(part.bytes),
    ),
    lost > 0 && lost < part.bytes
      ? el(
          'li',
          {},
          swatch('lost'),
          'of which fragmentation ',
          figureOf(lost, part.fragmentation_key, null),
          ofAll(lost),
        )
      : null,
  ];
}

function drawLegend(bar, figureOf) {
  const { limit, parts, whole_bytes: whole } = bar;
  const line = (className) => el('span', { class: className, 'aria-hidden': 'true' });
  const ofWhole = bar.of ? el('span', { class: 'dim' }, ` ${bar.of}`) : null;
  return el(
    'ul',
    { class: 'oom-legend', 'aria-label': 'What the bar is made of' },
    parts.filter((part) => !isSmall(part, whole)).flatMap((part) => entryNodes(part, whole, figureOf)),
    parts
      .filter((part) => isSmall(part, whole))
      .map((part) =>
        el(
          'li',
          { class: 'dim' },
          `${visible(part.word)} `,
          figureOf(part.bytes, part.key, part.evidence, undefined, ''),
        ),
      ),
    parts.length > 1 ? el('li', {}, 'in all ', figureOf(whole, null, bar.whole_evidence ?? null), ofWhole) : null,
    limit
      ? el(
          'li',
          {},
          line('key-line'),
          `${limit.word} `,
          figureOf(limit.bytes, limit.key, limit.evidence ?? null),
          isFarFrom(limit.bytes, whole) ? el('span', { class: 'dim' }, ' far to the right') : null,
        )
      : null,
    bar.over_bytes > 0
      ? el(
          'li',
          {},
          line('key-line key-over'),
          `${bar.over_word} `,
          figureOf(bar.over_bytes, null, bar.over_evidence ?? null, bar.over_text, 'strong over'),
        )
      : null,
  );
}
