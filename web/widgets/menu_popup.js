/* SPDX-License-Identifier: Apache-2.0
 * menu_popup.js: what opens below a ⋯ button: its entries, with the keys of a WAI-ARIA menu. */

import { el, fill } from '../lib/dom.js';
import { spokenKey } from '../lib/keys.js';

const AWAY_PX = 8;
const opened = { close: null };

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

/* node: the menu; button: what opens it; titleOf() as of menu.js. Out: {isOpen, open(at, entries), close(isFocusBack),
 * onKey(key) → true if it was for the menu}. */
export function createPopup({ id, node, button, titleOf }) {
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
    fill(popup, entries.map((entry) => itemOf(entry, act)));
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
    const starts = (item) => item.querySelector('.menu-word').textContent.toLowerCase().startsWith(letter.toLowerCase());
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
