/* SPDX-License-Identifier: Apache-2.0
 * details.js: the pane at the right: the pinned thing, else the hovered one, else what
 * the page shows. A column when wide, a drawer when not, a sheet on a phone. */

import { button, el, fill, name, nameInline } from '../lib/dom.js';
import { count, counted, visible } from '../lib/format.js';

/* One line: a word and what it says; nothing for what is not known. */
export function fact(term, ...value) {
  const shown = value.flat().filter((part) => part != null && part !== '');
  return shown.length ? el('div', { class: 'fact' }, el('dt', {}, term), el('dd', {}, shown)) : null;
}

export function facts(...rows) {
  return el('dl', { class: 'facts' }, rows);
}

/* Copies the text as it is in the file, or its visible form if it holds control characters; lines of a command of
 * ours stay lines. */
export function copyButton(text, isOurs = false) {
  const whole = !isOurs && /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text) ? visible(text) : text;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(whole);
      fill(node, 'copied');
    } catch {
      fill(node, 'not allowed');
    }
    setTimeout(() => fill(node, 'copy'), 1500);
  };
  const node = button('text-button copy', copy, 'copy');
  return node;
}

/* "alive 412 ▬▬▬ 3,010" of 0 … total. */
export function lifeBar(from, to, total) {
  const span = el('span', { class: 'life-span' });
  span.style.left = `${(100 * from) / Math.max(1, total)}%`;
  span.style.width = `${Math.max(1, (100 * (to - from)) / Math.max(1, total))}%`;
  return el(
    'div',
    { class: 'life' },
    el('span', {}, count(from)),
    el('span', { class: 'life-track', 'aria-hidden': 'true' }, span),
    el('span', {}, count(to)),
  );
}

/* A list that opens; short ones are open from the start. */
export function folded(summary, rows, isOpen = rows.length <= 8) {
  return el('details', { class: 'folded', open: isOpen }, el('summary', {}, summary), el('ol', {}, rows));
}

const place = ({ file, line }) => `${file}${line ? `:${line}` : ''}`;

/* The frames of a stack, {file, function, line, is_library}, innermost first: the person's stand first, those of
   libraries
 * step back. isOpen: it is what was asked for. Null without any. */
export function stackList(stack, isOpen = undefined) {
  if (!stack?.length) return null;
  const isLibrary = (frame) => Boolean(frame.is_library);
  const frames = [...stack.filter((frame) => !isLibrary(frame)), ...stack.filter(isLibrary)];
  const of = frames.some(isLibrary) && !frames.every(isLibrary) ? ', yours before those of libraries' : '';
  return folded(
    `${counted(frames.length, 'stack frame')}, innermost first${of}`,
    frames.map((frame) =>
      el(
        'li',
        { class: isLibrary(frame) ? 'dim' : null },
        frame.file && frame.file !== '??' ? [nameInline(place(frame), 90), ' '] : null,
        frame.function ? nameInline(frame.function, 60) : null,
      ),
    ),
    isOpen,
  );
}

/* onClose() lets the pin go. Out: {show({heading, subject, parts, isPinned, isCut}), …}; of a cut
 * subject there is nothing to copy yet. */
export function createDetails(node, { onClose }) {
  const close = button('icon-button close', onClose, '×', { 'aria-label': 'Close details' });
  const title = el('h2', { class: 'details-title' });
  const body = el('div', { class: 'details-body' });
  let isKept = false;
  const open = (isPinned) => node.classList.toggle('is-open', isPinned || isKept);
  /* One stop of the keyboard, so that it can be scrolled. */
  const scroll = { class: 'details-scroll', tabindex: '0', role: 'group', 'aria-label': 'Details' };
  fill(title, 'Details');
  fill(node, el('div', scroll, el('header', { class: 'details-head' }, title, close), body));
  return {
    show({ heading, subject = '', parts, isPinned = false, isCut = false }) {
      open(isPinned);
      node.classList.toggle('is-pinned', isPinned);
      fill(title, heading);
      fill(
        body,
        subject ? el('p', { class: 'details-name' }, name(subject), isCut ? null : copyButton(subject)) : null,
        parts,
      );
    },
    /* A drawer or sheet opened by hand stays, whatever it shows. */
    open() {
      isKept = true;
      open(false);
    },
    toggle() {
      isKept = !node.classList.contains('is-open');
      open(false);
    },
    /* False if there was nothing to close. */
    shut() {
      const wasOpen = isKept;
      isKept = false;
      open(false);
      return wasOpen;
    },
    clear() {
      isKept = false;
      node.classList.remove('is-open', 'is-pinned');
      fill(title, 'Details');
      fill(body, el('p', { class: 'dim' }, 'Nothing is hovered or pinned.'));
    },
  };
}
