/* SPDX-License-Identifier: Apache-2.0
 * explain.js: every figure opens a card: formula with its numbers, inputs, file and field, how sure it is.
 *
 *   figure that explains itself:   explained('total', 35962892288)         a button in the sentence
 *   anything that has the focus:   el('td', { 'data-explain': 'size:1498' }, …)     by the key `i`
 *   the page says what they mean:  const off = explainWith(async (key) => card);  context.bind(explainKeys(),
 * 'Figures')
 *
 * A card: {title, formula: text, inputs: [{name, bytes | text, note}], file, field, confidence: "exact" | "bound" |
 * "guess", why, caveat}; what is missing is left out. A sum of inputs that balances says so itself. */

import { begin } from '../lib/activity.js';
import { el, figure, nameInline, prose } from '../lib/dom.js';
import { bytes, exactBytes } from '../lib/format.js';
import { dialogHead, openDialog } from './dialog.js';
import { tooltipSubject } from './tooltip.js';

const LONGEST_NAME = 60;
const WORDS = {
  exact: 'Bytes from the plan or the file.',
  model: 'A replay of the compiler\u2019s heap.',
  confirmed: 'The compiler compiled the changed program.',
  rule: 'Follows from how JAX and XLA name and connect values.',
  bound: 'A limit, not an estimate: its reason says whether lower or upper.',
  guess: 'Based on names, or a rule had several answers.',
};
const AWAY_PX = 8;
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

/* `nodes` with `text` behind. A line may break beside a button: the point or comma behind it stays with it. */
export function withText(nodes, text) {
  const [end] = /^[.,;:)]*/.exec(text);
  if (end && nodes.at(-1)?.matches?.('.explained, .figure-link'))
    nodes.push(el('span', { class: 'unbroken' }, nodes.pop(), end), text.slice(end.length));
  else nodes.push(text);
  return nodes;
}

/* Parts of a sentence become nodes: text, figures with their exact bytes, names: "…", {bytes, text, role, explain},
   {name}. */
export function nodesOf(parts) {
  return parts.reduce((nodes, part) => {
    if (typeof part === 'string') return withText(nodes, part);
    if (part.name !== undefined) return [...nodes, nameInline(part.name, LONGEST_NAME)];
    const className = CLASSES[part.role] ?? '';
    const node = part.explain
      ? explained(part.explain, part.bytes, part.text, className)
      : figure(part.bytes, part.text, className);
    return [...nodes, node];
  }, []);
}

/* cardOf(name, rest) of a key "name" or "name:rest" → card or null, or a promise of it. One page at a time. Out: takes
   it back. */
export function explainWith(cardOf) {
  provider = cardOf;
  return () => {
    if (provider === cardOf) provider = null;
  };
}

/* For the ⋯ menu of a panel. */
export const explainEntry = (key) => ({ word: 'Explain', key: 'i', run: () => explain(key) });

function inputRow({ name, bytes: value, text, note, sign = '' }) {
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, prose(name), note ? el('span', { class: 'dim' }, ` ${note}`) : null),
    el('td', { class: 'figure' }, value == null ? (text ?? 'not known') : `${sign}${bytes(value)}`),
    el('td', { class: 'figure dim' }, value == null ? '' : exactBytes(value)),
  );
}

const line = (word, ...value) => el('p', { class: 'explain-line' }, el('span', { class: 'dim' }, `${word} `), value);

/* Beside `mark`, inside the window; in the middle without one. */
function placeCard(node, mark) {
  if (!mark || window.innerWidth < 600) return;
  const { width, height } = node.getBoundingClientRect();
  const left = Math.min(Math.max(AWAY_PX, mark.left), window.innerWidth - width - AWAY_PX);
  const below = mark.bottom + AWAY_PX;
  const top = below + height <= window.innerHeight ? below : Math.max(AWAY_PX, mark.top - AWAY_PX - height);
  Object.assign(node.style, { margin: '0', left: `${Math.round(left)}px`, top: `${Math.round(top)}px` });
}

function openCard(card, mark) {
  const { title, formula, inputs = [], file, field, confidence, why, caveat } = card;
  const { node } = openDialog({
    title: `Explained: ${title}`,
    className: 'explain',
    content: (close) => [
      dialogHead(title, close),
      el(
        'div',
        { class: 'dialog-body' },
        formula ? el('p', { class: 'explain-formula' }, prose(formula)) : null,
        inputs.length ? el('table', { class: 'explain-inputs' }, el('tbody', {}, inputs.map(inputRow))) : null,
        confidence ? line(confidence, prose(why || WORDS[confidence])) : null,
        file ? line('file', nameInline(file, 120)) : null,
        field ? line('field', prose(field)) : null,
        caveat ? line('but', prose(caveat)) : null,
      ),
    ],
  });
  placeCard(node, mark);
}

export async function explain(key, mark = null) {
  if (!provider) return;
  const end = begin();
  try {
    const [name, ...rest] = key.split(':');
    const card = await provider(name, rest.join(':'));
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
