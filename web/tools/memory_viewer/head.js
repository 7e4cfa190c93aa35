/* SPDX-License-Identifier: Apache-2.0
 * head.js: the answer of the page, its figures, and what the file itself says. */

import { button, el, fill, name } from '../../lib/dom.js';
import { canChoose } from '../../lib/capacity.js';
import { baseName, bytes, cutMiddle, visible } from '../../lib/format.js';
import { explained, nodesOf } from '../../widgets/explain.js';
import { notesButton } from '../../widgets/notices.js';
import { answer, sourceOf } from './answer.js';
import { failureParts } from './failure.js';
import { culpritParts, madeOf, waste } from './text.js';

const MAX_QUOTED = 240;
const MIN_QUOTED = 80;

function figureList(rows, className, label) {
  return el(
    'ul',
    { class: `made-of ${className}`, 'aria-label': label },
    rows.map((row) =>
      el(
        'li',
        { title: row.hint },
        el('span', { class: 'dim' }, `${row.word} `),
        explained(row.explain ?? `part:${row.word}`, row.bytes, bytes(row.bytes), 'strong'),
        row.after
          ? el(
              'span',
              { class: 'dim' },
              ' ',
              el('button', { type: 'button', class: 'explained', 'data-explain': `part:${row.word}` }, row.after),
            )
          : null,
      ),
    ),
  );
}

/* The first line, and those after it while that is only a heading. */
function quoteOf(text) {
  const all = text.trim().split('\n');
  /* Of a traceback of Python the last line that is not of a frame says what failed. */
  const raised = /^Traceback \(/.test(all[0]) ? all.findLastIndex((line, at) => at > 0 && /^\S/.test(line)) : 0;
  const lines = all.slice(Math.max(0, raised));
  let quote = lines.shift();
  while (lines.length && quote.length < MIN_QUOTED) quote += ` ${lines.shift().trim()}`;
  return quote;
}

function errorTexts(texts) {
  return texts.map(({ file, text }) => {
    const first = quoteOf(text);
    return el(
      'details',
      { class: 'error-text' },
      el(
        'summary',
        {},
        name(baseName(file)),
        el('span', { class: 'dim' }, ' says: '),
        el('bdi', { class: 'quote' }, cutMiddle(visible(first), MAX_QUOTED)),
      ),
      el('pre', { tabindex: '0', 'aria-label': 'Error text' }, text.split('\n').map(visible).join('\n')),
    );
  });
}

/* "15.75 GiB: capacity as error.txt prints it, ± 5 MiB." */
function capacityWords({ capacity, space, wanted }) {
  if (capacity) {
    const { text, hint } = sourceOf(capacity);
    return [
      explained('capacity', capacity.bytes, bytes(capacity.bytes), 'strong'),
      ': ',
      el('span', { title: hint, 'data-explain': 'capacity' }, text),
      '.',
    ];
  }
  return wanted && !canChoose(space.space) ? [`The chosen capacity says nothing about ${visible(space.name)}.`] : [];
}

/* What failed, and where its reason stands; null where the plan says it. */
function failureNodes(view, said) {
  const parts = failureParts(said, view);
  return parts && el('span', { class: 'answer-first answer-failure' }, nodesOf(parts));
}

const whyLink = ({ failure, why }) => failure && el('a', { class: 'see-why', href: why }, 'See why');

/* chooser: {node, set()}; onWhatif(): what would be saved by changes is asked for; said: {notes, errorTexts, failure,
   program, why}, `why` the address of the OOM page.
 * Out: {node, finding, setAdvice(nodes), show({module, space, capacity, wanted, said}), say(sentence, said)}. */
export function createHead(chooser, onWhatif) {
  const source = el('span', { class: 'capacity-source' });
  const found = el('span', {});
  const advice = el('span', { class: 'advice-line' });
  const group = el('p', { class: 'group' }, found, ' ', advice);
  const lost = el('div', { class: 'figures' });
  const parts = el('div', { class: 'figures' });
  const texts = el('div', { class: 'error-texts' });
  const capacityLine = el('div', { class: 'capacity' }, source, chooser.node);
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const more = el('div', { class: 'facts-line' }, group, texts, parts, lost, capacityLine);
  /* The figures behind the answer open by hand, so that the first chart is in view. */
  const unfold = el(
    'button',
    { type: 'button', class: 'text-button unfold', 'aria-expanded': 'false', on: { click: () => setOpen(!isOpen) } },
    'Figures',
  );
  let isOpen = false;
  const setOpen = (next) => {
    isOpen = next;
    node.classList.toggle('is-open', isOpen);
    unfold.setAttribute('aria-expanded', String(isOpen));
  };
  const node = el(
    'div',
    { class: 'head' },
    el('div', { class: 'answer-row' }, title, el('div', { class: 'answer-beside' }, unfold, aside)),
    more,
  );
  return {
    node,
    /* What filled the memory, in words. */
    get finding() {
      return found.textContent;
    },
    /* What stands behind it; null: nothing yet. */
    setAdvice: (nodes) => fill(advice, nodes),
    show({ module, space, capacity, wanted, said }) {
      const told = failureNodes({ module, space, wanted }, said);
      const { needs, peak } = answer(space, Boolean(told));
      fill(
        title,
        told && [told, ' '],
        el('span', { class: told ? 'answer-second' : 'answer-first' }, nodesOf(needs)),
        ' ',
        el('span', { class: 'answer-second' }, nodesOf(peak)),
      );
      chooser.set();
      fill(source, capacityWords({ capacity, space, wanted }));
      source.hidden = source.textContent === '';
      capacityLine.hidden = source.hidden && chooser.node.hidden;
      node.classList.toggle('is-undecided', !capacity);
      /* Where it is not known the choice is the next act; else it comes after what filled the memory. What is
       * focused is not moved. */
      if (!capacityLine.contains(document.activeElement))
        more.insertBefore(capacityLine, capacity ? null : more.firstChild);
      fill(texts, errorTexts(said.errorTexts));
      unfold.hidden = false;
      fill(
        aside,
        whyLink(said),
        button('see-why', onWhatif, 'What if…', { title: 'Changes, and what each would save (v)' }),
        notesButton(said.notes),
      );
      fill(found, nodesOf(culpritParts(space)));
      fill(lost, figureList(waste(space), 'waste', 'Of the total'));
      fill(parts, figureList(madeOf(space), 'sum', 'What the total is made of'));
    },
    say(sentence, said) {
      const told = failureNodes({ space: null }, said);
      fill(title, told && [told, ' '], el('span', { class: told ? 'answer-second' : 'answer-first' }, sentence));
      fill(aside, whyLink(said), notesButton(said.notes));
      capacityLine.hidden = true;
      for (const each of [found, advice, lost, parts]) fill(each);
      fill(texts, errorTexts(said.errorTexts));
      unfold.hidden = said.errorTexts.length === 0; /* no figures to open */
    },
  };
}
