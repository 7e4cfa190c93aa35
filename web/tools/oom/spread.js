/* SPDX-License-Identifier: Apache-2.0
 * spread.js: where it all went, as the verdict has it: the stretches of what was needed where no text states them, whose
 * memory it is by category on the same scale, and the ledger. Its own file: half of a block of the page. */

import { el, fill } from '../../lib/dom.js';
import { bytes, percent, visible } from '../../lib/format.js';
import { categoryWords, swatch, swatchStyle } from '../../widgets/categories.js';
import { drawLedger, isFarFrom } from '../../widgets/ledger.js';

const LOOKS = { arguments: 'parameter', outputs: 'output', temporaries: 'temporary', constants: 'constant', program: 'collective', arrays: 'parameter', fragmentation: 'lost', free: 'free' };
/* What is less of the whole has no place in the legend of its own. */
const LITTLE = 0.001;

/* Pure: does what lies beside a text say more of the failure than the text: a snapshot, live arrays of a device profile? */
export const saysMoreThanText = (core) => Boolean(core?.together?.rows.length) || Boolean(core?.where.some(({ source }) => source === 'device profile'));

/* Pure: the bar of parts.js out of a verdict; null where nothing is itemised. */
export function barOf({ where, where_bytes: whole, where_over_bytes: over, where_evidence: sum, fit, together }) {
  if (where.length === 0) return null;
  return {
    parts: where.map((row) => ({ word: row.label, bytes: row.bytes, key: null, evidence: row.evidence, look: together && row.kind === 'reserved' ? 'parameter-light' : (LOOKS[row.kind] ?? 'unknown'), fragmentation_bytes: 0, fragmentation_key: null })),
    whole_bytes: whole,
    whole_evidence: sum,
    of: '',
    limit: fit.capacity_bytes === null ? null : { bytes: fit.capacity_bytes, word: 'capacity', key: null, evidence: fit.evidence.capacity },
    over_bytes: over,
    over_evidence: fit.evidence.over,
    over_word: 'over by',
    over_text: bytes(over),
    is_itemised: true,
  };
}

const part = (className, size, scale, title) => {
  const node = el('span', { class: className, title });
  node.style.width = `${(100 * size) / Math.max(1, scale)}%`;
  return node;
};

const wordOf = ({ category, label }) => (category ? categoryWords(category) : visible(label));

function categoryNodes({ categories, where_bytes: whole, fit, together }, links) {
  const scale = Math.max(whole, isFarFrom(fit.capacity_bytes ?? 0, whole) ? 0 : (fit.capacity_bytes ?? 0));
  const said = categories.filter(({ bytes: own }) => own >= whole * LITTLE);
  const small = categories.filter(({ bytes: own }) => own < whole * LITTLE);
  const words = categories.map((row) => `${wordOf(row)} ${bytes(row.bytes)}`).join(', ');
  return [
    el('h3', {}, together?.rows.length ? 'Whose memory it was when the request failed' : 'Whose memory it is at the peak'),
    el('div', { class: 'oom-bar', role: 'img', 'aria-label': `${words}.` }, categories.map((row) => part(`oom-part ${row.category ? swatchStyle(row.category) : 'swatch-any'}`, row.bytes, scale, `${wordOf(row)} ${bytes(row.bytes)}`))),
    el(
      'ul',
      { class: 'oom-legend', 'aria-label': 'Categories' },
      said.map((row) =>
        el(
          'li',
          {},
          row.category ? swatch(row.category) : el('span', { class: 'swatch swatch-any', 'aria-hidden': 'true' }),
          `${wordOf(row)} `,
          links.figure(row.bytes, row.evidence),
          el('span', { class: 'dim' }, ` ${percent(row.bytes, whole)} of all`),
        ),
      ),
      small.map((row) => el('li', { class: 'dim' }, `${wordOf(row)} `, links.figure(row.bytes, row.evidence, undefined, ''))),
    ),
  ];
}

/* Out: {node, show(verdict or null, links)}. */
export function createSpread() {
  const categories = el('div', { class: 'oom-bars' });
  const ledger = el('div', { class: 'ledger' });
  const title = el('h3', {}, 'What was taken, and who says so');
  const node = el('div', { class: 'oom-spread' }, categories, title, ledger);
  return {
    node,
    show(verdict, links) {
      node.hidden = !verdict;
      if (!verdict) return;
      categories.hidden = verdict.categories.length === 0;
      fill(categories, categories.hidden ? null : categoryNodes(verdict, links));
      drawLedger(ledger, verdict.ledger, links);
      /* One alone says what the bar above says. */
      ledger.hidden ||= verdict.ledger.bars.length === 1 && verdict.where.length > 0;
      title.hidden = ledger.hidden;
    },
  };
}
