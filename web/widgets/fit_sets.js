/* SPDX-License-Identifier: Apache-2.0
 * fit_sets.js: predicted changes as a page prints them: figures with how sure they are, lines of code with a button
 * that copies them, and the sets of changes that would make a program fit. All of it is decided by the daemon. */

import { button, el, fill, figure } from '../lib/dom.js';
import { bytes, MINUS, visible } from '../lib/format.js';
import { copyButton } from './details.js';

/* Signs of a bound: it saves at most this, and lands at least there. */
export const isBound = ({ confidence }) => confidence === 'bound';
export const savingFigure = (row) =>
  figure(
    row.saving_bytes,
    row.saving_bytes < 0
      ? `${MINUS}${bytes(-row.saving_bytes)}`
      : `${isBound(row) ? '≤ ' : ''}${bytes(row.saving_bytes)}`,
  );
export const landingFigure = (row) => figure(row.total_bytes, `${isBound(row) ? '≥ ' : ''}${bytes(row.total_bytes)}`);

/* "+23.2 %", or "–" where it asks for none or it is not known. */
export const computeWords = ({ extra_flops_percent: more }) => (more ? `+${more.toFixed(1)} %` : '–');

/* The line to write; none: nothing. */
export const callLine = (call) =>
  call ? el('div', { class: 'change-call' }, el('code', {}, visible(call)), copyButton(call)) : null;

/* How sure, and why on a click: `id` of the node that says why; opened: keys of those that are open. */
export function confidenceButton({ key, word, id, opened }) {
  const turn = () => {
    if (!opened.delete(key)) opened.add(key);
    node.setAttribute('aria-expanded', String(opened.has(key)));
    document.getElementById(id).hidden = !opened.has(key);
  };
  const node = button('confidence', turn, word, {
    'aria-expanded': String(opened.has(key)),
    'aria-controls': id,
    title: 'Why no surer?',
    'data-key': `sure ${key}`,
  });
  return node;
}

/* fit: of the view whatif. act(changes) → the node that applies a set. Out: nodes. */
export function fitNodes(fit, act) {
  const set = (each) =>
    el(
      'li',
      { class: 'fit-set' },
      el(
        'p',
        { class: 'fit-head' },
        el('strong', { class: 'fit-changes' }, each.changes.map(({ change }) => visible(change)).join(' + ')),
        el('span', {}, 'becomes ', landingFigure(each)),
        el('span', { class: 'dim' }, each.confidence),
        each.extra_flops_percent ? el('span', { class: 'dim' }, `${computeWords(each)} compute`) : null,
        act(each.changes.map(({ change }) => change)),
      ),
      each.changes.map(({ call }) => callLine(call)),
    );
  const nodes = [el('p', { class: 'fit-says' }, visible(fit.sentence))];
  if (fit.sets.length)
    nodes.push(fill(el('ol', { class: 'fit-sets', 'aria-label': 'Sets of changes' }), fit.sets.map(set)));
  if (fit.nearest.length)
    nodes.push(el('p', { class: 'dim' }, 'What comes nearest:'), el('ul', { class: 'fit-sets' }, fit.nearest.map(set)));
  if (!fit.is_complete) nodes.push(el('p', { class: 'dim' }, 'Not all sets were tried.'));
  return nodes;
}
