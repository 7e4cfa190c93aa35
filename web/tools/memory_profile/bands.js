/* SPDX-License-Identifier: Apache-2.0
 * bands.js: the timeline in bands by program, by op, by category, or by what grows and what is steady: how it is asked
 * for, the layers of the chart, and the words below it. Its own file: the chart without bands knows nothing of it. */

import { el, fill, name } from '../../lib/dom.js';
import { count } from '../../lib/format.js';
import { categoryWords, swatchStyle } from '../../widgets/categories.js';
import { SET_SIZE, setTone } from '../../widgets/sets.js';
import { taken } from '../../widgets/spread.js';
import { verdictWord } from './text.js';

/* Value of the URL, word. */
export const STACKS = [
  ['none', 'nothing'],
  ['category', 'category'],
  ['program', 'program'],
  ['op', 'op'],
  ['trend', 'growing or steady'],
];

/* What stands beside a name that nobody recorded. */
export const guessTag = (word = 'guess') => el('span', { class: 'inferred' }, word);

const OF_KIND = { before: 'alloc-stack', other: setTone(SET_SIZE - 1), unnamed: 'control' };

const bandsOf = (data) => (data?.stacked?.bands ?? []).filter(({ kind }) => kind === 'group');
/* The token of a band's colour: that of its category, else of groups in their order, the largest first. */
export function toneOf(data, band) {
  if (data.stacked.by === 'category' && band.kind !== 'before')
    return swatchStyle(band.kind === 'group' ? band.label : 'unknown').replace('swatch-', 'cat-');
  return OF_KIND[band.kind] ?? setTone(bandsOf(data).indexOf(band) % (SET_SIZE - 1));
}

export function bandWords(data, band) {
  if (data.stacked.by === 'category' && band.kind === 'group') return categoryWords(band.label);
  return data.stacked.by === 'trend' && band.kind === 'group' ? verdictWord(band.label) : band.label;
}

/* Pure: layers of the chart, the whole in front of nothing, then less and less of it. hasBefore: the level before the
 * first event is drawn too; of: {at: the index of the event whose bands stand at each index, isPale}, for all where
 * null. */
export function bandLayers(data, hasBefore, of = null) {
  const bands = data.stacked?.bands ?? [];
  const sums = [];
  return bands
    .map((band) => {
      const values = hasBefore ? [band.before_bytes, ...band.bytes] : band.bytes;
      values.forEach((value, at) => (sums[at] = (sums[at] ?? 0) + Math.max(0, value)));
      const tone = toneOf(data, band);
      return {
        values: of ? taken(sums, of.at) : [...sums],
        fill: tone,
        stroke: tone,
        width: 1,
        word: bandWords(data, band),
        isPale: Boolean(of?.isPale),
      };
    })
    .reverse();
}

/* "the 1,200 largest of 12,345 allocations are drawn apart", or nothing where each has its stripe. */
export const apartWords = ({ blocks, block_count: all }) =>
  blocks && blocks.length < all
    ? `the ${count(blocks.length)} largest of ${count(all)} allocations are drawn apart`
    : '';

/* onChoose(by). Out: {choice, node: the words below the chart, set(by, isOfStacks): whether there are stacks to tell
   categories
 * from, draw(data)}. */
export function createBands(onChoose) {
  const select = el(
    'select',
    { class: 'stack-choice', 'aria-label': 'Stack by', on: { change: () => onChoose(select.value) } },
    STACKS.map(([value, word]) => el('option', { value }, word)),
  );
  const node = el('div', { class: 'time-bands', hidden: true });
  return {
    choice: el('label', { class: 'group-label' }, el('span', { class: 'dim' }, 'stack by'), select),
    node,
    set(by, isOfStacks) {
      [...select.options].find(({ value }) => value === 'category').hidden = !isOfStacks;
      select.value = by || 'none';
    },
    draw(data) {
      const { stacked } = data;
      node.hidden = !stacked;
      if (!stacked) return;
      fill(
        node,
        stacked.reason
          ? el('span', { class: 'dim' }, stacked.reason.text)
          : stacked.bands
              .filter((band) => band.kind !== 'before' || Math.max(band.before_bytes, ...band.bytes) > 0)
              .map((band) =>
                el(
                  'span',
                  { class: 'band' },
                  el('span', {
                    class: `swatch swatch-${toneOf(data, band).replace('cat-', '')}`,
                    'aria-hidden': 'true',
                  }),
                  name(bandWords(data, band)),
                  band.confidence ? [' ', guessTag()] : '',
                ),
              ),
        el('span', { class: 'dim' }, stacked.reason ? '' : apartWords(data)),
      );
    },
  };
}
