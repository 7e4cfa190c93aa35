/* SPDX-License-Identifier: Apache-2.0
 * peak.js: what made the peak: the patterns by name, and groups of equal buffers of repeated layers. Each leads to the
 * Memory Viewer with that pattern or group. Its own file: a block of the page. */

import { el, fill, name, nameInline } from '../../lib/dom.js';
import { bytes, count, counted, percent, visible } from '../../lib/format.js';
import { categoryWord, swatch } from '../../widgets/categories.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createPanel } from '../../widgets/panel.js';

/* Labels wrap, so that rows can be told apart. */
const MAX_LABEL = 96;
const each = ({ count: many, bytes: all }) => (many > 1 ? `${count(many)} × ${bytes(all / many)}` : '');

const HEADS = [['Size', 'number'], ['Share', 'number'], ['Count × each', 'number'], ['Category', ''], ['Whose memory', ''], ['Source', ''], ['Shape', 'oom-shape']];
const COLUMNS = ['bytes', 'count', 'category', 'label', 'shape', 'source'].map((key) => ({ key, title: key, isSource: key === 'source' }));

function patternNode(pattern, links) {
  const href = links.href(pattern.evidence);
  const { saves_bytes: saves } = pattern;
  return el(
    'li',
    {},
    el('p', {}, links.sentence(pattern.sentence, pattern.figures), href ? [' ', el('a', { href }, 'See it')] : null),
    el('p', { class: 'dim' }, saves > 0 ? ['Without it the peak is ', links.figure(saves, pattern.saves_evidence, undefined, ''), ' lower. '] : null, visible(pattern.when_gone)),
  );
}

function groupRow(group, whole, links) {
  const href = links.href(group.evidence);
  return el(
    'tr',
    {},
    el('td', { class: 'number' }, links.figure(group.bytes, group.evidence)),
    el('td', { class: 'number dim' }, whole ? percent(group.bytes, whole) : ''),
    el('td', { class: 'number oom-each' }, each(group)),
    el('td', {}, swatch(group.category), categoryWord(group.category)),
    el('td', { class: 'oom-label' }, href ? el('a', { href }, nameInline(group.label, MAX_LABEL)) : nameInline(group.label, MAX_LABEL)),
    el('td', { class: 'oom-at' }, group.source ? name(group.source) : el('span', { class: 'dim' }, '–')),
    el('td', { class: 'oom-shape' }, name(group.shape)),
  );
}

/* Out: {panel, show(verdict, links)}. */
export function createPeak() {
  let groups = [];
  const menu = exportEntries({ name: 'peak', title: 'What made the peak', table: () => ({ columns: COLUMNS, rows: groups }) });
  const panel = createPanel('panel-oom-peak', '3 What made the peak?', { menu: () => [menu()] });
  return {
    panel,
    show({ peak }, links) {
      ({ groups } = peak);
      panel.node.hidden = groups.length === 0 && peak.patterns.length === 0;
      if (panel.node.hidden) return;
      const { rest_bytes: rest, rest_evidence: others } = peak;
      const all = links.href(others);
      panel.setTitle('3 What made the peak?', peak.bytes === null ? '' : el('span', { class: 'dim' }, ' ', links.figure(peak.bytes, peak.evidence, undefined, ''), ' live'));
      const hasShapes = groups.some(({ shape }) => shape);
      fill(
        panel.body,
        el('ul', { class: 'oom-patterns', 'aria-label': 'Patterns at the peak' }, peak.patterns.map((pattern) => patternNode(pattern, links))),
        groups.length > 0 &&
          el(
            'div',
            { class: `oom-groups${hasShapes ? '' : ' is-without-shapes'}` },
            el(
              'table',
              {},
              el('caption', { class: 'hidden' }, 'Groups of equal buffers of repeated layers, largest first'),
              el('thead', {}, el('tr', {}, HEADS.map(([word, kind]) => el('th', { scope: 'col', class: kind }, word)))),
              el('tbody', {}, groups.map((group) => groupRow(group, peak.bytes, links))),
              rest > 0
                ? el('tfoot', {}, el('tr', {}, el('td', { class: 'number' }, links.figure(rest, others, undefined, '')), el('td', { class: 'number dim' }, percent(rest, peak.bytes)), el('td', { colspan: '5' }, all ? el('a', { href: all }, `${counted(peak.group_count - groups.length, 'smaller group')} in the Memory Viewer`) : '')))
                : null,
            ),
          ),
      );
    },
  };
}
