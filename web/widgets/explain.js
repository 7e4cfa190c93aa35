/* SPDX-License-Identifier: Apache-2.0
 * explain.js: every figure opens a card: formula with its numbers, inputs, file and field, how sure it is.
 *
 *   figure that explains itself:   explained('total', 35962892288)         a button in the sentence
 *   anything that has the focus:   el('td', { 'data-explain': 'size:1498' }, …)     by the key `i`
 *   the page says what they mean:  const off = explainWith(async (key) => card);  context.bind(explainKeys(), 'Figures')
 *
 * A card: {title, formula: text, inputs: [{name, bytes | text, note}], file, field, confidence: "exact" | "bound" |
 * "guess", why, caveat}; what is missing is left out. A sum of inputs that balances says so itself. The card is
 * loaded when the first one is opened. */

import { begin } from '../lib/activity.js';
import { el, figure, nameInline } from '../lib/dom.js';
import { bytes, exactBytes } from '../lib/format.js';
import { tooltipSubject } from './tooltip.js';

const LONGEST_NAME = 60;
const CLASSES = { main: 'answer-figure', over: 'over' };

let provider = null;

/* A byte figure as a button; the exact bytes stand in its title. */
export function explained(key, value, text = bytes(value), className = '') {
  return el(
    'button',
    { type: 'button', class: `figure explained ${className}`.trim(), 'data-explain': key, title: exactBytes(value) },
    text,
  );
}

/* A line may break beside a button: the point or comma behind it stays with it. */
function withText(nodes, text) {
  const [end] = /^[.,;:)]*/.exec(text);
  if (end && nodes.at(-1)?.matches?.('.explained')) nodes.push(el('span', { class: 'unbroken' }, nodes.pop(), end), text.slice(end.length));
  else nodes.push(text);
  return nodes;
}

/* Parts of a sentence become nodes: text, figures with their exact bytes, names: "…", {bytes, text, role, explain}, {name}. */
export function nodesOf(parts) {
  return parts.reduce((nodes, part) => {
    if (typeof part === 'string') return withText(nodes, part);
    if (part.name !== undefined) return [...nodes, nameInline(part.name, LONGEST_NAME)];
    const className = CLASSES[part.role] ?? '';
    const node = part.explain ? explained(part.explain, part.bytes, part.text, className) : figure(part.bytes, part.text, className);
    return [...nodes, node];
  }, []);
}

/* cardOf(key) → card or null, or a promise of it. One page at a time. Out: takes it back. */
export function explainWith(cardOf) {
  provider = cardOf;
  return () => {
    if (provider === cardOf) provider = null;
  };
}

/* For the ⋯ menu of a panel. */
export const explainEntry = (key) => ({ word: 'Explain', key: 'i', run: () => explain(key) });

export async function explain(key, mark = null) {
  if (!provider) return;
  const end = begin();
  try {
    const [card, { openCard }] = await Promise.all([provider(key), import('./explain_card.js')]);
    if (card) openCard(card, mark);
  } finally {
    end();
  }
}

/* The figure or the row that has the focus, else what a tooltip names, else what the focus stands in or the pointer is
 * over: it, the first figure of a row, or the panel. {key, mark} */
function subject() {
  const focus = document.activeElement;
  const named = tooltipSubject();
  if (named && !focus.matches('[data-explain], [role="row"]')) return { key: named, mark: null };
  const node = subjectNode(focus);
  return node && { key: node.dataset.explain, mark: node.getBoundingClientRect() };
}

function subjectNode(focus) {
  const hovered = [...document.querySelectorAll(':hover')].pop() ?? null;
  for (const node of [focus === document.body ? null : focus, hovered]) {
    const inRow = node?.matches?.('[role="row"]') ? node.querySelector('[data-explain]') : null;
    const found = inRow ?? node?.closest?.('[data-explain]');
    if (found) return found;
  }
  return document.querySelector('main [data-explain]');
}

export function explainKeys() {
  return [
    {
      keys: ['i'],
      does: 'explain the focused figure',
      run: () => {
        const found = subject();
        if (!found) return false;
        explain(found.key, found.mark);
        return true;
      },
    },
  ];
}

document.addEventListener('click', (event) => {
  const node = event.target.closest?.('button[data-explain]');
  if (node) explain(node.dataset.explain, node.getBoundingClientRect());
});
