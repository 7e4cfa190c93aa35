/* SPDX-License-Identifier: Apache-2.0
 * filter.js: the field above a table. Terms become chips on Enter; fields are completed, then values
 * with their bytes; a term that the daemon refuses is underlined and explained, while the last good
 * result stays.
 *
 *   const filter = createFilter({
 *     label: 'Filter buffers',
 *     fields: () => [{ name: 'cat', says: 'kind of memory', values: async (signal) => [{ value: 'parameter', figure: '1.21 GiB' }] }],
 *     onFilter: (text, isTyping) => …,     isTyping: the URL is written over; else it is a choice
 *   });
 *   filter.set(route.filter);              what the URL says
 *   filter.refuse(problem);  filter.accept();
 *
 * Keys: Enter keeps the terms, ↓ opens the list, Backspace at the begin takes the last term back, ← goes to
 * the terms (Enter edits, Delete removes), Esc closes the list, then clears what was typed, then leaves. */

import { later } from '../lib/activity.js';
import { el, fill } from '../lib/dom.js';
import { partsOf, placeOfByte, splitTerms } from '../lib/filter_text.js';
import { visible } from '../lib/format.js';
import { createCompletion } from './filter_list.js';

const TYPED_AFTER_MS = 300;
let serial = 0;

/* A term that is still being typed: nothing behind its colon, an open quote or bracket. */
function isOpen(text) {
  const last = splitTerms(text).pop()?.text ?? '';
  const { field, value } = partsOf(last);
  if (field !== null && value.replace(/[<>=]/g, '') === '') return true;
  return (last.match(/"/g) ?? []).length % 2 === 1 || /\[[^\]]*$/.test(last) || last === '-' || /^-?[<>]=?$/.test(last);
}

export function createFilter({ label, fields, onFilter, placeholder = 'filter' }) {
  const id = `filter-${++serial}`;
  const chipsNode = el('span', { class: 'filter-chips' });
  const under = el('span', { class: 'filter-under', 'aria-hidden': 'true' });
  const input = el('input', {
    type: 'text',
    class: 'filter-input',
    role: 'combobox',
    'aria-label': label,
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
    'aria-controls': `${id}-list`,
    'aria-describedby': `${id}-said`,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder,
  });
  const said = el('p', { class: 'filter-said', id: `${id}-said`, role: 'status', hidden: true });
  const clear = el(
    'button',
    { type: 'button', class: 'filter-clear', 'aria-label': 'Clear the filter', hidden: true, on: { click: () => change([], '') } },
    '×',
  );
  const line = el(
    'div',
    { class: 'filter-line', role: 'group', 'aria-label': label },
    chipsNode,
    el('span', { class: 'filter-edit' }, under, input),
    clear,
  );
  const list = createCompletion({ id, input, fields, onTake: take });
  const node = el('div', { class: 'filter' }, line, list.node, said);
  let chips = [];
  let sent = '';
  let takeBack = null;
  let wrong = null; // {place} in the whole text

  const whole = () => [...chips, input.value.trim()].filter(Boolean).join(' ');

  /* What is asked for now; while typing, once it rests. */
  function send(isTyping) {
    takeBack?.();
    takeBack = null;
    const text = whole();
    if (isTyping) {
      takeBack = later(() => {
        takeBack = null;
        if (!isOpen(input.value)) give(whole(), true);
      }, TYPED_AFTER_MS);
    } else give(text, false);
  }
  function give(text, isTyping) {
    if (text === sent && isTyping) return;
    sent = text;
    onFilter(text, isTyping);
  }
  function change(nextChips, text, isTyping = false) {
    chips = nextChips;
    input.value = text;
    wrong = null;
    draw();
    input.focus();
    send(isTyping);
  }
  /* Terms behind each other become chips. */
  function commit() {
    chips = [...chips, ...splitTerms(input.value).map((term) => term.text)];
    input.value = '';
    draw();
    send(false);
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
    const rest = splitTerms(input.value).map((term) => term.text);
    change([...chips.filter((_, index) => index !== at), ...rest], chips[at], true);
  }
  function remove(at) {
    change(
      chips.filter((_, index) => index !== at),
      input.value,
    );
  }

  /* ---- drawing ---- */

  function draw() {
    const before = chips.join(' ').length + (chips.length ? 1 : 0);
    let from = 0;
    fill(
      chipsNode,
      chips.map((text, at) => {
        const isWrong = wrong !== null && wrong >= from && wrong <= from + text.length;
        from += text.length + 1;
        return chip(text, at, isWrong);
      }),
    );
    clear.hidden = chips.length === 0 && input.value === '';
    input.placeholder = chips.length ? '' : placeholder;
    underline(before);
  }
  function chip(text, at, isWrong) {
    const main = el(
      'button',
      {
        type: 'button',
        class: 'chip-text',
        tabindex: '-1',
        'aria-label': `Term ${visible(text)}${isWrong ? ', not understood' : ''}: Enter edits, Delete removes`,
        on: { click: () => edit(at) },
      },
      el('bdi', {}, visible(text)),
    );
    const drop = el(
      'button',
      {
        type: 'button',
        class: 'chip-drop',
        tabindex: '-1',
        'aria-label': `Remove ${visible(text)}`,
        on: { click: () => remove(at) },
      },
      '×',
    );
    return el('span', { class: isWrong ? 'chip is-wrong' : 'chip' }, main, drop);
  }
  /* The wrong term among what is typed, drawn under the field's own text. */
  function underline(before) {
    const term =
      wrong === null || wrong < before
        ? null
        : splitTerms(input.value).find(({ to }) => wrong - before <= to) ?? null;
    input.setAttribute('aria-invalid', String(wrong !== null));
    if (!term) fill(under);
    else fill(under, input.value.slice(0, term.from), el('span', { class: 'filter-wrong' }, term.text));
    under.style.transform = `translateX(${-input.scrollLeft}px)`;
  }

  /* ---- keys ---- */

  const chipAt = (at) => chipsNode.children[at]?.firstChild;
  chipsNode.addEventListener('keydown', (event) => {
    const at = [...chipsNode.children].indexOf(event.target.closest('.chip'));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'ArrowLeft') chipAt(Math.max(0, at - 1)).focus();
    else if (event.key === 'ArrowRight') (chipAt(at + 1) ?? input).focus();
    else if (event.key === 'Delete' || event.key === 'Backspace') remove(at);
    else if (event.key === 'Escape') input.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  input.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const isAtBegin = input.selectionStart === 0 && input.selectionEnd === 0;
    if (list.onKey(event)) {
      /* done there */
    } else if (event.key === 'Enter') commit();
    else if (event.key === 'Backspace' && isAtBegin && chips.length) edit(chips.length - 1);
    else if (event.key === 'ArrowLeft' && isAtBegin && chips.length) chipAt(chips.length - 1).focus();
    else if (event.key === 'Escape' && input.value !== '') change(chips, '');
    else if (event.key === 'Escape') input.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  input.addEventListener('input', () => {
    wrong = null;
    said.hidden = true;
    draw();
    send(true);
    list.open();
  });
  input.addEventListener('scroll', () => {
    under.style.transform = `translateX(${-input.scrollLeft}px)`;
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
      if (text === whole() || (document.activeElement === input && text === sent)) return;
      sent = text;
      chips = splitTerms(text).map((term) => term.text);
      input.value = '';
      wrong = null;
      said.hidden = true;
      draw();
    },
    /* Values that were proposed belong to another moment. */
    forget: () => list.forget(),
    accept() {
      wrong = null;
      said.hidden = true;
      draw();
    },
    /* problem: of the daemon, with the place of the fault in bytes. */
    refuse(problem) {
      const text = whole();
      wrong = placeOfByte(text, problem.offsetBytes ?? 0);
      const why = visible(problem.message).replace(/^filter: /, '');
      const guess = /Did you mean (\w+)\?/.exec(why)?.[1] ?? null;
      fill(
        said,
        `${why.charAt(0).toUpperCase()}${why.slice(1)}${/[.?]$/.test(why) ? '' : '.'} `,
        guess && el('button', { type: 'button', class: 'text-button', on: { click: () => replaceField(guess) } }, `Use ${guess}`),
        ' The last good result stays.',
      );
      said.hidden = false;
      draw();
    },
    destroy() {
      takeBack?.();
      list.close();
    },
  };

  function replaceField(name) {
    const text = whole();
    const term = splitTerms(text).find(({ to }) => wrong <= to);
    if (!term) return;
    const { sign, value } = partsOf(term.text);
    const next = `${text.slice(0, term.from)}${sign}${name}:${value}${text.slice(term.to)}`;
    change(
      splitTerms(next).map((each) => each.text),
      '',
    );
  }
}
