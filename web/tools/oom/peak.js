/* SPDX-License-Identifier: Apache-2.0
 * peak.js: what is largest at the peak: groups of equal buffers of repeated layers, and behind a click the patterns by
 * name, which overlap. Each leads to the Memory Viewer with that group or pattern. Its own file: half of a panel. */

import { el, fill, name, nameInline } from '../../lib/dom.js';
import { bytes, capital, count, counted, percent, visible } from '../../lib/format.js';
import { categoryWord, categoryWords, swatch } from '../../widgets/categories.js';
import { exportEntries } from '../../widgets/export_menu.js';

/* Labels wrap, so that rows can be told apart. */
const MAX_LABEL = 96;
const each = ({ count: many, bytes: all }) => (many > 1 ? `${count(many)} × ${bytes(all / many)}` : '');

const HEADS = [
  ['Size', 'number'],
  ['Share, count', 'number'],
  ['Whose memory', ''],
];
const COLUMNS = ['bytes', 'count', 'category', 'label', 'shape', 'source'].map((key) => ({
  key,
  title: key,
  isSource: key === 'source',
}));

/* What the page says elsewhere is not said again. */
function patternNode(pattern, cause, links) {
  const href = links.href(pattern.evidence);
  const { saves_bytes: saves } = pattern;
  const isSaid = pattern.sentence === cause.text;
  return el(
    'li',
    {},
    el(
      'p',
      {},
      isSaid ? capital(visible(cause.words)) : links.sentence(pattern.sentence, pattern.figures),
      href ? [' ', el('a', { href }, 'See it')] : null,
    ),
    el(
      'p',
      { class: 'dim' },
      saves > 0
        ? ['Without it the peak is ', links.figure(saves, pattern.saves_evidence, undefined, ''), ' lower. ']
        : null,
      visible(pattern.when_gone),
    ),
  );
}

function groupRow(group, whole, links, figures) {
  const href = links.href(group.evidence);
  const key = `group.${group.key}`;
  /* A snapshot has no name for them but the category: then the line is the name. */
  const isPlace = Boolean(group.source) && group.label === categoryWords(group.category);
  const label = nameInline(isPlace ? group.source : group.label, MAX_LABEL);
  return el(
    'tr',
    { 'data-key': key, on: { pointerenter: () => figures.light([key]), pointerleave: () => figures.light([]) } },
    el('td', { class: 'number' }, links.figure(group.bytes, group.evidence)),
    el(
      'td',
      { class: 'number dim' },
      whole ? percent(group.bytes, whole) : '',
      el('span', { class: 'oom-each' }, each(group)),
    ),
    el(
      'td',
      { class: 'oom-label' },
      href ? el('a', { href }, label) : label,
      el(
        'span',
        { class: 'oom-of dim' },
        el('span', {}, swatch(group.category), categoryWord(group.category)),
        group.source && !isPlace ? el('span', { class: 'oom-at' }, name(group.source)) : null,
        group.inner
          ? el(
              'span',
              { class: 'oom-at', title: `asked for ${bytes(group.inner.bytes)} of it` },
              name(group.inner.source),
            )
          : null,
        group.shape ? el('span', { class: 'oom-shape' }, name(group.shape)) : null,
      ),
    ),
  );
}

function restRow({ bytes: whole, rest_bytes: rest, rest_evidence: others, group_count: all, groups }, links) {
  const href = links.href(others);
  const smaller = counted(all - groups.length, 'smaller group');
  return el(
    'tfoot',
    {},
    el(
      'tr',
      {},
      el('td', { class: 'number' }, links.figure(rest, others, undefined, '')),
      el('td', { class: 'number dim' }, percent(rest, whole)),
      el('td', {}, href ? el('a', { href }, `${smaller} in the Memory Viewer`) : all > groups.length ? smaller : ''),
    ),
  );
}

/* figures: of marked.js. Out: {node, menu, show(verdict, links)}. */
export function createPeak(figures) {
  let groups = [];
  const node = el('div', { class: 'oom-largest' });
  return {
    node,
    menu: exportEntries({
      name: 'peak',
      title: 'What made the peak',
      table: () => ({ columns: COLUMNS, rows: groups }),
    }),
    show({ peak, cause }, links) {
      ({ groups } = peak);
      const { patterns, bytes: whole } = peak;
      node.hidden = groups.length === 0 && patterns.length === 0;
      fill(
        node,
        groups.length > 0 &&
          el(
            'table',
            {},
            el('caption', { class: 'hidden' }, 'Groups of equal buffers of repeated layers, largest first'),
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                HEADS.map(([word, kind]) => el('th', { scope: 'col', class: kind }, word)),
              ),
            ),
            el(
              'tbody',
              {},
              groups.map((group) => groupRow(group, whole, links, figures)),
            ),
            peak.rest_bytes > 0 ? restRow(peak, links) : null,
          ),
        patterns.length > 0 &&
          el(
            'details',
            { class: 'folded oom-by-pattern' },
            el(
              'summary',
              {},
              `${counted(patterns.length, 'pattern')} at the peak`,
              whole == null ? null : [' of ', bytes(whole), ' live'],
              patterns.length > 1 ? '; they may overlap' : '',
            ),
            el(
              'ul',
              { class: 'oom-patterns', 'aria-label': 'Patterns at the peak' },
              patterns.map((pattern) => patternNode(pattern, cause, links)),
            ),
          ),
      );
    },
  };
}
