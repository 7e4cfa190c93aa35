/* SPDX-License-Identifier: Apache-2.0
 * panel.js: a titled box whose body is never blank: it holds the thing, or the reason
 * why the thing is not there. The old picture stays, dimmed, until the new one is there. */

import { button, el, fill, prose } from '../lib/dom.js';
import { begin } from '../lib/activity.js';
import { visible } from '../lib/format.js';
import { copyButton } from './details.js';
import { createMenu } from './menu.js';
import { createReadingBars } from './reading_bars.js';

const DIM_AFTER_MS = 300;
const SAY_AFTER_MS = 1000;
const FOLLOWS = 'Waiting for the files to be read.';
let serial = 0;

/* What is to be run, line by line, with a button that copies it. */
export const command = (text) =>
  el('div', { class: 'command' }, el('code', {}, text.split('\n').map(visible).join('\n')), copyButton(text, true));

/* A message that stands where a thing would stand: {title, text, run: a command, kind: "empty" | "error",
 * action: {label, run() or href}}. */
export function message({ title, text, run = '', kind = 'empty', action = null }) {
  return el(
    'div',
    { class: `message message-${kind}`, role: kind === 'error' ? 'alert' : null },
    kind === 'error' ? el('span', { class: 'message-mark', 'aria-hidden': 'true' }, '⚠ ') : null,
    title ? el('strong', {}, prose(title), ' ') : null,
    prose(text),
    run ? command(run) : null,
    action
      ? el(
          'p',
          {},
          action.href ? el('a', { href: action.href }, action.label) : button('text-button', action.run, action.label),
        )
      : null,
  );
}

/* {node, head, reading, body, setTitle, setAside, setMenu, canEnlarge, canKeep, say, show, wait}. `body` is for the
   drawing; `menu`
 * are the entries behind ⋯, see menu.js; hasReading: a line below the head is kept free for what is read off the
 * drawing. */
export function createPanel(className, title, { menu = null, hasReading = false } = {}) {
  const id = `panel-${++serial}`;
  const heading = el('h2', { id }, title);
  const aside = el('div', { class: 'panel-aside' });
  const more = el('div', { class: 'panel-more' });
  const large = el('span', { class: 'panel-large' });
  const kept = el('span', { class: 'panel-large' });
  const setMenu = (entries) =>
    fill(
      more,
      kept.firstChild && kept,
      large.firstChild && large,
      entries ? createMenu(() => heading.textContent, entries) : null,
    );
  setMenu(menu);
  const body = el('div', { class: 'panel-body' });
  const said = el('div', { class: 'panel-said', hidden: true });
  const reading = el('div', { class: 'panel-reading' });
  const waiting = el('div', { class: 'panel-wait', role: 'status', hidden: true });
  let isFilled = false; // there is something under it already
  const node = el(
    'section',
    { class: `panel ${className}`, 'aria-labelledby': id },
    el('header', { class: 'panel-head' }, heading, aside, more),
    hasReading ? reading : null,
    waiting,
    body,
    said,
  );
  return {
    node,
    head: node.firstElementChild,
    reading,
    body,
    setTitle(...parts) {
      fill(heading, ...parts);
    },
    setAside(...parts) {
      fill(aside, ...parts);
    },
    setMenu,
    /* A button that gives the panel the whole height; onChoose(isLarge). See setLarge. */
    canEnlarge(onChoose) {
      const turn = button('large-button', () => onChoose(turn.getAttribute('aria-pressed') !== 'true'), '⤢', {
        'aria-label': `${heading.textContent}: whole height`,
        'aria-pressed': 'false',
        title: 'Full height (z); again, or Esc, to go back',
      });
      fill(large, turn);
      more.prepend(large);
      node.classList.add('can-enlarge');
    },
    /* A button that keeps the panel in view while the page scrolls; onChoose(isKept). Out: set(isKept). */
    canKeep(onChoose) {
      const keep = button('large-button', () => onChoose(keep.getAttribute('aria-pressed') !== 'true'), '⤒', {
        'aria-label': `${heading.textContent}: keep in view`,
        'aria-pressed': 'false',
        title: 'Stays at the top while the page scrolls (K); again: no longer',
      });
      fill(kept, keep);
      more.prepend(kept);
      node.classList.add('can-keep');
      return (isKept) => {
        keep.setAttribute('aria-pressed', String(isKept));
        node.classList.toggle('is-kept', isKept);
      };
    },
    /* A reason instead of the drawing. */
    say(content) {
      isFilled = true;
      body.hidden = true;
      fill(said, content);
      said.hidden = false;
    },
    show() {
      isFilled = true;
      said.hidden = true;
      body.hidden = false;
    },
    wait(sentence, cancel, session) {
      const end = wait(node, waiting, sentence, cancel, session);
      return sentence || isFilled ? end : follow(body, end);
    },
  };
}

/* Gives panels[at] the height of all; −1: each has its own. */
export function setLarge(panels, at) {
  for (const [i, { node }] of panels.entries()) {
    node.classList.toggle('is-large', i === at);
    node.classList.toggle('is-put-away', at >= 0 && i !== at);
    node.querySelector('.large-button')?.setAttribute('aria-pressed', String(i === at));
  }
}

/* A panel that waits for another one's reading and has nothing yet says so. */
function follow(body, end) {
  const words = el('div', { class: 'panel-follows' }, el('p', {}, FOLLOWS));
  const timer = setTimeout(() => body.before(words), SAY_AFTER_MS);
  return () => {
    clearTimeout(timer);
    words.remove();
    end();
  };
}

/* Dims after 300 ms; after 1 s says `sentence` (if any), for how long it waits, and how much was read of the files of
 * `session` (if any). The returned function ends all. */
function wait(node, waiting, sentence, cancel, session) {
  const end = begin();
  const bars = session ? createReadingBars(session) : null;
  const dim = setTimeout(() => node.classList.add('is-old'), DIM_AFTER_MS);
  const say =
    sentence &&
    setTimeout(() => {
      const seconds = el('span', { class: 'wait-seconds', 'aria-hidden': 'true' });
      const stop = button('text-button', cancel, 'Cancel');
      fill(waiting, el('div', {}, prose(sentence), ' ', seconds, ' ', stop, bars?.node));
      waiting.hidden = false;
      bars?.begin();
    }, SAY_AFTER_MS);
  return () => {
    clearTimeout(dim);
    clearTimeout(say);
    bars?.end();
    node.classList.remove('is-old');
    waiting.hidden = true;
    end();
  };
}
