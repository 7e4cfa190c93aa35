/* SPDX-License-Identifier: Apache-2.0
 * menu.js: the ⋯ button that every panel has (WAI-ARIA menu button). Its entries are commands of
 * the palette as well.
 *
 * An entry: {word, run, why, isOn, key}. `why` dims it and says the reason; `isOn` true or false
 * makes it a switch; `key` is shown beside it. Entries may be a function, asked at each opening; null ones
 * are left out, and lists or promises of more may stand among them. */

import { begin } from '../lib/activity.js';
import { consume, el, fill } from '../lib/dom.js';
import { spokenKey } from '../lib/keys.js';

const AWAY_PX = 8;
const FLOATING_PX = 320;
const entriesOf = new WeakMap();
const opened = { close: null };
let serial = 0;

/* Every entry of every menu in the document: [{title, word, run, why, …}]; without those of a menu that cannot be
 * loaded, which says so itself when it is opened. */
export async function menuCommands() {
  const nodes = [...document.querySelectorAll('[data-menu]')].filter((node) => node.checkVisibility?.() ?? true);
  const lists = nodes.map(async (node) => {
    const { title, list } = entriesOf.get(node);
    const entries = await list().catch(() => []);
    return entries.map((entry) => ({ ...entry, title: title() }));
  });
  return (await Promise.all(lists)).flat();
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
    el(
      'span',
      { class: 'menu-word' },
      entry.word,
      entry.why ? el('span', { class: 'menu-why' }, ` ${entry.why}`) : null,
    ),
    entry.key ? el('kbd', { 'aria-hidden': 'true' }, spokenKey(entry.key)) : null,
  );
}

/* Below the button, above it where there is more room; never wider than the window or higher than the page in it. */
function place(popup, from) {
  const below = window.innerHeight - from.bottom - AWAY_PX;
  const above = from.top - AWAY_PX - Math.max(0, document.querySelector('main').getBoundingClientRect().top);
  popup.style.maxHeight = popup.style.right = '';
  const { width, height } = popup.getBoundingClientRect();
  const isUp = height > below && above > below;
  popup.classList.toggle('is-up', isUp);
  popup.style.maxHeight = `${Math.floor(isUp ? above : below)}px`;
  const lacking = width + AWAY_PX - from.right;
  if (lacking > 0) popup.style.right = `${-Math.ceil(lacking)}px`;
}

let floating = null;

/* A menu of a mark, at a place of the window. giveBack(): where the focus goes when it is closed by a key. */
export function openMenuAt({ x, y }, title, entries, giveBack = () => {}) {
  if (!floating) {
    const button = el('button', {
      type: 'button',
      class: 'menu-anchor',
      tabindex: '-1',
      'aria-haspopup': 'menu',
      'aria-expanded': 'false',
    });
    const node = el('div', { class: 'menu menu-floating' }, button);
    floating = { node, button, title: '', giveBack };
    floating.popup = createPopup({ id: `menu-${++serial}`, node, button, titleOf: () => floating.title });
    button.addEventListener('focus', () => {
      button.blur();
      floating.giveBack();
    });
    node.addEventListener('keydown', (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && floating.popup.onKey(event.key)) consume(event);
    });
  }
  const { node, button, popup } = floating;
  Object.assign(floating, { title, giveBack });
  button.setAttribute('aria-label', title);
  document.querySelector('main').append(node);
  node.style.left = `${Math.max(AWAY_PX, Math.min(x, window.innerWidth - FLOATING_PX))}px`;
  node.style.top = `${y}px`;
  popup.open(0, entries);
}

/* node: the menu; button: what opens it; titleOf() Out: {isOpen, open(at, entries), close(isFocusBack),
 * onKey(key) → true if it was for the menu}. */
function createPopup({ id, node, button, titleOf }) {
  const popup = el('ul', { id, role: 'menu', class: 'menu-popup', hidden: true });
  node.append(popup);
  button.setAttribute('aria-controls', id);

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
  const move = (to) => {
    const items = popup.children;
    items[(to + items.length) % items.length]?.focus();
  };
  const open = (at, entries) => {
    opened.close?.();
    opened.close = () => close(false);
    popup.setAttribute('aria-label', titleOf());
    fill(
      popup,
      entries.map((entry) => itemOf(entry, act)),
    );
    popup.hidden = false;
    place(popup, button.getBoundingClientRect());
    button.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside, true);
    move(at);
  };
  const find = (letter) => {
    const items = [...popup.children];
    const from = items.indexOf(document.activeElement) + 1;
    const order = [...items.slice(from), ...items.slice(0, from)];
    const starts = (item) =>
      item.querySelector('.menu-word').textContent.toLowerCase().startsWith(letter.toLowerCase());
    order.find(starts)?.focus();
  };
  const onKey = (key) => {
    const at = [...popup.children].indexOf(document.activeElement);
    if (key === 'ArrowDown') move(at + 1);
    else if (key === 'ArrowUp') move(at < 0 ? -1 : at - 1);
    else if (key === 'Home') move(0);
    else if (key === 'End') move(-1);
    else if (key === 'Escape') close(true);
    else if (key === 'Enter' || key === ' ') popup.children[at]?.click();
    else if (key === 'Tab') {
      close(false);
      return false;
    } else if (key.length === 1) find(key);
    else return false;
    return true;
  };
  return {
    get isOpen() {
      return !popup.hidden;
    },
    open,
    close,
    onKey,
  };
}

/* In: title ("Memory over program order", or a function), entries. Out: the node: a button and its menu. */
export function createMenu(title, entries) {
  const id = `menu-${++serial}`;
  const titleOf = () => (typeof title === 'function' ? title() : title);
  const list = async () => {
    const given = await (typeof entries === 'function' ? entries() : entries);
    return (await Promise.all(given)).flat().filter(Boolean);
  };
  const button = el(
    'button',
    { type: 'button', class: 'icon-button menu-dots', 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
    '⋯',
  );
  const node = el('div', { class: 'menu', 'data-menu': '' }, button);
  entriesOf.set(node, { title: titleOf, list });
  const popup = createPopup({ id, node, button, titleOf });
  // its entries are on their way: what is pressed meanwhile is for the menu, unless the reader went elsewhere
  let isAwaited = false;
  let opening = null;
  const leave = ({ target }) => {
    if (!node.contains(target)) isAwaited = false;
  };
  const watch = (how) => {
    for (const type of ['pointerdown', 'focusin']) document[how](type, leave, true);
  };
  const open = (at) => {
    const end = begin();
    isAwaited = true;
    watch('addEventListener');
    opening = list()
      .then((rows) => isAwaited && popup.open(at, rows))
      .finally(() => {
        isAwaited = false;
        watch('removeEventListener');
        end();
      });
  };
  const label = () => button.setAttribute('aria-label', `More: ${titleOf()}`);
  button.addEventListener('pointerenter', label);
  button.addEventListener('focus', label);
  label();
  button.addEventListener('click', () => {
    if (popup.isOpen) popup.close(true);
    else if (!isAwaited) open(0);
  });
  node.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isAwaited && event.key !== 'Tab') opening.then(() => popup.isOpen && popup.onKey(event.key));
    else if (popup.isOpen) {
      if (!popup.onKey(event.key)) return;
    } else if (['ArrowDown', 'ArrowUp'].includes(event.key)) open(event.key === 'ArrowDown' ? 0 : -1);
    else return;
    consume(event);
  });
  return node;
}
