/* SPDX-License-Identifier: Apache-2.0
 * filter.js: the field above a table. Terms become chips on Enter; fields are completed, then values
 * with their bytes; a term that the daemon refuses is underlined and explained, while the last good
 * result stays.
 *
 *   const filter = createFilter({
 *     label: 'Filter buffers',
 *     fields: () => [{ name: 'cat', says: 'kind of memory', values: async (signal) => [{ value: 'parameter', figure:
 * '1.21 GiB' }] }],
 *     onFilter: (text, isTyping) => …,     isTyping: the URL is written over; else it is a choice
 *   });
 *   filter.set(route.filter);              what the URL says
 *   filter.refuse(problem);  filter.accept();
 *
 * Keys: Enter keeps the terms, ↓ opens the list, Backspace at the begin takes the last term back, ← goes to
 * the terms (Enter edits, Delete removes), Esc closes the list, then clears what was typed, then leaves. */

import { later } from '../lib/activity.js';
import { button, consume, el, fill } from '../lib/dom.js';
import { partsOf, placeOfByte, splitTerms } from '../lib/filter_text.js';
import { capital, visible } from '../lib/format.js';
import { createCompletion } from './filter_list.js';
import { comboField } from './listbox.js';

const TYPED_AFTER_MS = 300;
let serial = 0;

/* A term that is still being typed: nothing behind its colon, an open quote or bracket. */
function isOpen(text) {
  const last = splitTerms(text).pop()?.text ?? '';
  const { field, value } = partsOf(last);
  if (field != null && value.replace(/[<>=]/g, '') === '') return true;
  return (last.match(/"/g) ?? []).length % 2 === 1 || /\[[^\]]*$/.test(last) || last === '-' || /^-?[<>]=?$/.test(last);
}

/* The terms that are kept, as chips; ← and → go through them and on into `input`. Out: {node, draw(terms, wrong),
   focusLast()};
 * wrong: place in the whole text, or null. */
function createTerms(input, { edit, remove }) {
  const node = el('span', { class: 'filter-chips' });
  const chip = (text, at, isWrong) =>
    el(
      'span',
      { class: isWrong ? 'chip is-wrong' : 'chip' },
      button('chip-text', () => edit(at), el('bdi', {}, visible(text)), {
        tabindex: '-1',
        'aria-label': `Term ${visible(text)}${isWrong ? ', not understood' : ''}: Enter edits, Delete removes`,
      }),
      button('chip-drop', () => remove(at), '×', { tabindex: '-1', 'aria-label': `Remove ${visible(text)}` }),
    );
  const focus = (at) => (node.children[at]?.firstChild ?? input).focus();
  node.addEventListener('keydown', (event) => {
    const at = [...node.children].indexOf(event.target.closest('.chip'));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'ArrowLeft') focus(Math.max(0, at - 1));
    else if (event.key === 'ArrowRight') focus(at + 1);
    else if (event.key === 'Delete' || event.key === 'Backspace') remove(at);
    else if (event.key === 'Escape') input.focus();
    else return;
    consume(event);
  });
  return {
    node,
    draw(terms, wrong) {
      let from = 0;
      fill(
        node,
        terms.map((text, at) => {
          const isWrong = wrong != null && wrong >= from && wrong <= from + text.length;
          from += text.length + 1;
          return chip(text, at, isWrong);
        }),
      );
    },
    focusLast: () => focus(node.children.length - 1),
  };
}

/* The field of what is typed; a wrong term is drawn under its own text. Out: {node, input, underline(term or null)}. */
function createTyped({ id, label }) {
  const under = el('span', { class: 'filter-under', 'aria-hidden': 'true' });
  const input = comboField({
    class: 'filter-input',
    'aria-label': label,
    'aria-expanded': 'false',
    'aria-controls': `${id}-list`,
    'aria-describedby': `${id}-said`,
  });
  const follow = () => {
    under.style.transform = `translateX(${-input.scrollLeft}px)`;
  };
  input.addEventListener('scroll', follow);
  return {
    node: el('span', { class: 'filter-edit' }, under, input),
    input,
    underline(term) {
      if (!term) fill(under);
      else fill(under, input.value.slice(0, term.from), el('span', { class: 'filter-wrong' }, term.text));
      follow();
    },
  };
}

const termsOf = (text) => splitTerms(text).map((term) => term.text);

/* Pure: the text with another field in the term at `place`. */
function withField(text, place, name) {
  const term = splitTerms(text).find(({ to }) => place <= to);
  if (!term) return text;
  const { sign, value } = partsOf(term.text);
  return `${text.slice(0, term.from)}${sign}${name}:${value}${text.slice(term.to)}`;
}

/* Why the daemon refused it, and the field that it may have meant. */
function refusal(problem, use) {
  const why = visible(problem.message).replace(/^filter: /, '');
  const guess = /Did you mean (\w+)\?/.exec(why)?.[1] ?? null;
  return [
    `${capital(why)}${/[.?]$/.test(why) ? '' : '.'} `,
    guess && button('text-button', () => use(guess), `Use ${guess}`),
    ' The last good result stays.',
  ];
}

/* All that is seen of a filter. act: {edit(at), remove(at), clear(), take(text, isWhole)}.
 * Out: {node, input, list, terms, said(parts or null), draw(chips, wrong)}. */
function createField({ label, fields, placeholder }, act) {
  const id = `filter-${++serial}`;
  const typed = createTyped({ id, label });
  const { input } = typed;
  const terms = createTerms(input, act);
  const saying = el('p', { class: 'filter-said', id: `${id}-said`, role: 'status', hidden: true });
  const clear = button('filter-clear', act.clear, '×', { 'aria-label': 'Clear the filter', hidden: true });
  const line = el('div', { class: 'filter-line', role: 'group', 'aria-label': label }, terms.node, typed.node, clear);
  const list = createCompletion({ id, input, fields, onTake: act.take });
  return {
    node: el('div', { class: 'filter' }, line, list.node, saying),
    input,
    list,
    terms,
    said(parts) {
      if (parts) fill(saying, parts);
      saying.hidden = !parts;
    },
    draw(chips, wrong) {
      const before = chips.join(' ').length + (chips.length ? 1 : 0);
      const isInTyped = wrong != null && wrong >= before;
      terms.draw(chips, wrong);
      clear.hidden = chips.length === 0 && input.value === '';
      input.placeholder = chips.length ? '' : placeholder;
      input.setAttribute('aria-invalid', String(wrong != null));
      typed.underline(isInTyped ? (splitTerms(input.value).find(({ to }) => wrong - before <= to) ?? null) : null);
    },
  };
}

/* When the daemon is asked: for a choice at once, for what is typed once it rests. */
function createAsking(textNow, isReady, onFilter) {
  const asking = { sent: '', send, stop };
  let takeBack = null;
  let isStopped = false; // a field that is taken away loses the focus, which would ask once more
  const give = (isTyping) => {
    const text = textNow();
    if (isStopped || (text === asking.sent && isTyping)) return;
    asking.sent = text;
    onFilter(text, isTyping);
  };
  function stop() {
    takeBack?.();
    isStopped = true;
  }
  function send(isTyping) {
    takeBack?.();
    takeBack = null;
    if (!isTyping) give(false);
    else
      takeBack = later(() => {
        takeBack = null;
        if (isReady()) give(true);
      }, TYPED_AFTER_MS);
  }
  return asking;
}

export function createFilter({ label, fields, onFilter, placeholder = 'filter' }) {
  const clear = () => change([], '');
  const field = createField({ label, fields, placeholder }, { edit, remove, take, clear });
  const { node, input, list, terms } = field;
  let chips = [];
  let wrong = null; // place of the fault in the whole text
  const whole = () => [...chips, input.value.trim()].filter(Boolean).join(' ');
  const asking = createAsking(whole, () => !isOpen(input.value), onFilter);
  const draw = () => field.draw(chips, wrong);

  function change(nextChips, text, isTyping = false) {
    chips = nextChips;
    input.value = text;
    wrong = null;
    draw();
    input.focus();
    asking.send(isTyping);
  }
  /* Terms behind each other become chips. */
  function commit() {
    chips = [...chips, ...termsOf(input.value)];
    input.value = '';
    draw();
    asking.send(false);
  }
  function take(text, isWhole) {
    input.value = text;
    if (isWhole) commit();
    else {
      draw();
      list.open();
    }
  }
  function edit(at) {
    change([...chips.filter((_, index) => index !== at), ...termsOf(input.value)], chips[at], true);
  }
  function remove(at) {
    change(
      chips.filter((_, index) => index !== at),
      input.value,
    );
  }
  const right = () => {
    wrong = null;
    field.said(null);
    draw();
  };

  input.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const isAtBegin = chips.length > 0 && input.selectionStart === 0 && input.selectionEnd === 0;
    if (list.onKey(event)) {
      /* done there */
    } else if (event.key === 'Enter') commit();
    else if (event.key === 'Backspace' && isAtBegin) edit(chips.length - 1);
    else if (event.key === 'ArrowLeft' && isAtBegin) terms.focusLast();
    else if (event.key === 'Escape' && input.value !== '') change(chips, '');
    else if (event.key === 'Escape') input.blur();
    else return;
    consume(event);
  });
  input.addEventListener('input', () => {
    right();
    asking.send(true);
    list.open();
  });
  node.addEventListener('focusout', (event) => {
    if (node.contains(event.relatedTarget)) return;
    list.close();
    if (input.value.trim() !== '' && !isOpen(input.value)) commit();
  });

  return {
    node,
    focus: () => input.focus(),
    /* What the URL asks; what is being typed stays as it is. */
    set(text) {
      if (text === whole() || (document.activeElement === input && text === asking.sent)) return;
      asking.sent = text;
      chips = termsOf(text);
      input.value = '';
      right();
    },
    /* Values that were proposed belong to another moment. */
    forget: list.forget,
    accept: right,
    /* problem: of the daemon, with the place of the fault in bytes. */
    refuse(problem) {
      wrong = placeOfByte(whole(), problem.offsetBytes ?? 0);
      field.said(refusal(problem, (name) => change(termsOf(withField(whole(), wrong, name)), '')));
      draw();
    },
    destroy() {
      asking.stop();
      list.close();
    },
  };
}
