/* SPDX-License-Identifier: Apache-2.0
 * menu.js: the ⋯ button that every panel has (WAI-ARIA menu button). Its entries are commands of
 * the palette as well.
 *
 * An entry: {word, run, why, isOn, key}. `why` dims it and says the reason; `isOn` true or false
 * makes it a switch; `key` is shown beside it. Entries may be a function, asked at each opening;
 * null entries are left out. */

import { el, fill } from '../lib/dom.js';
import { spokenKey } from '../lib/keys.js';

const opened = { close: null };
const entriesOf = new WeakMap();
let serial = 0;

/* Every entry of every menu in the document: [{title, word, run, why, …}]. */
export function menuCommands() {
  return [...document.querySelectorAll('[data-menu]')]
    .filter((node) => node.checkVisibility?.() ?? true)
    .flatMap((node) => {
      const { title, list } = entriesOf.get(node);
      return list().map((entry) => ({ ...entry, title: title() }));
    });
}

function itemOf(entry, act) {
  const isSwitch = typeof entry.isOn === 'boolean';
  return el(
    'li',
    {
      role: isSwitch ? 'menuitemcheckbox' : 'menuitem',
      class: 'menu-item',
      tabindex: '-1',
      'aria-checked': isSwitch ? String(entry.isOn) : null,
      'aria-disabled': entry.why ? 'true' : null,
      on: { click: () => act(entry) },
    },
    el('span', { class: 'menu-check', 'aria-hidden': 'true' }, entry.isOn ? '✓' : ''),
    el('span', { class: 'menu-word' }, entry.word, entry.why ? el('span', { class: 'menu-why' }, ` ${entry.why}`) : null),
    entry.key ? el('kbd', { 'aria-hidden': 'true' }, spokenKey(entry.key)) : null,
  );
}

/* In: title ("Memory over program order", or a function), entries. Out: the node: a button and its menu. */
export function createMenu(title, entries) {
  const id = `menu-${++serial}`;
  const titleOf = () => (typeof title === 'function' ? title() : title);
  const list = () => (typeof entries === 'function' ? entries() : entries).filter(Boolean);
  const popup = el('ul', { id, role: 'menu', class: 'menu-popup', hidden: true });
  const button = el(
    'button',
    { type: 'button', class: 'icon-button menu-dots', 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id },
    '⋯',
  );
  const node = el('div', { class: 'menu', 'data-menu': '' }, button, popup);
  entriesOf.set(node, { title: titleOf, list });

  const close = (isFocusBack) => {
    if (popup.hidden) return;
    popup.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
    opened.close = null;
    if (isFocusBack) button.focus();
  };
  const outside = (event) => {
    if (!node.contains(event.target)) close(false);
  };
  const act = (entry) => {
    if (entry.why) return;
    close(true);
    entry.run();
  };
  const open = (at) => {
    opened.close?.();
    opened.close = () => close(false);
    popup.setAttribute('aria-label', titleOf());
    fill(popup, list().map((entry) => itemOf(entry, act)));
    popup.hidden = false;
    popup.classList.toggle('is-up', popup.getBoundingClientRect().bottom > window.innerHeight);
    button.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside, true);
    move(at);
  };
  const move = (to) => {
    const items = popup.children;
    items[(to + items.length) % items.length]?.focus();
  };
  const find = (letter) => {
    const items = [...popup.children];
    const from = items.indexOf(document.activeElement) + 1;
    const order = [...items.slice(from), ...items.slice(0, from)];
    const starts = (item) => item.querySelector('.menu-word').textContent.toLowerCase().startsWith(letter.toLowerCase());
    order.find(starts)?.focus();
  };
  button.addEventListener('pointerenter', () => button.setAttribute('aria-label', `More: ${titleOf()}`));
  button.addEventListener('focus', () => button.setAttribute('aria-label', `More: ${titleOf()}`));
  button.setAttribute('aria-label', `More: ${titleOf()}`);
  button.addEventListener('click', () => (popup.hidden ? open(0) : close(true)));
  node.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (popup.hidden) {
      if (!['ArrowDown', 'ArrowUp'].includes(event.key)) return;
      open(event.key === 'ArrowDown' ? 0 : -1);
    } else {
      const at = [...popup.children].indexOf(document.activeElement);
      if (event.key === 'ArrowDown') move(at + 1);
      else if (event.key === 'ArrowUp') move(at < 0 ? -1 : at - 1);
      else if (event.key === 'Home') move(0);
      else if (event.key === 'End') move(-1);
      else if (event.key === 'Escape') close(true);
      else if (event.key === 'Enter' || event.key === ' ') popup.children[at]?.click();
      else if (event.key === 'Tab') {
        close(false);
        return;
      } else if (event.key.length === 1) find(event.key);
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  return node;
}
