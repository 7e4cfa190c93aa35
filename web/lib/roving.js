/* SPDX-License-Identifier: Apache-2.0
 * roving.js: what stands in a row is one stop of Tab: the bar, the rail, the figures of the answer, the buttons in the
 * head of a panel. Arrow keys go on inside. Its own file: no page knows of it. */

import { nextFrame } from './activity.js';

/* What is chosen above a picture is one row, and all in the panel of a flame graph that is not the graph. */
const FIELD_ROWS = ['.device-controls', '.panel-flame'];
const ROWS = `.bar, .rail, main .head, main .panel:not(.panel-flame) > .panel-head, ${FIELD_ROWS.join(', ')}`;
/* Fields for text stay stops elsewhere: a filter is come to by Tab; what opens above the page is no part of the row. */
const ITEMS =
  'a[href], button:not([role="radio"]), summary, select, input[type="checkbox"], ' +
  FIELD_ROWS.map((row) => `${row} input`).join(', ');
const OUTSIDE = '.selector-popup, [role="tablist"], [role="dialog"], [role="menu"], dialog';
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/* Does the item need this key itself: to open what it has, to choose, to move between letters? */
function isOwn(item, key) {
  if (key === 'ArrowDown' && item.hasAttribute('aria-haspopup')) return true;
  if (item.matches('select')) return key === 'ArrowUp' || key === 'ArrowDown';
  if (!item.matches('input:not([type="checkbox"])')) return false;
  const { selectionStart: from, selectionEnd: to, value } = item;
  return !(key === 'ArrowLeft' ? to === 0 : key === 'ArrowRight' && from === value.length);
}

const stops = new WeakMap(); // row → the item that Tab comes to

function itemsOf(row) {
  return [...row.querySelectorAll(ITEMS)].filter(
    (item) => !item.disabled && !item.closest(OUTSIDE) && item.closest(ROWS) === row && item.checkVisibility(),
  );
}

/* Where Tab enters: where one was last, else what is shown now, else the first. */
function settle(row) {
  const items = itemsOf(row);
  const last = stops.get(row);
  const stop = items.includes(last) ? last : (items.find((item) => item.hasAttribute('aria-current')) ?? items[0]);
  if (!stop) return;
  for (const item of items) {
    if (item === stop) item.removeAttribute('tabindex');
    else item.tabIndex = -1;
  }
}

function onKey(event) {
  const row = event.target.closest?.(ROWS);
  if (
    !row ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.shiftKey ||
    !event.target.matches(ITEMS) ||
    event.target.closest(OUTSIDE)
  )
    return;
  if (!(event.key in STEPS) || isOwn(event.target, event.key)) return;
  const items = itemsOf(row);
  const next = items[items.indexOf(event.target) + STEPS[event.key]];
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

/* Rows that a change may have changed: the one around it, and those in it. */
function rowsAround({ target, type, addedNodes, attributeName }) {
  const own = target.closest(ROWS);
  if (own) return [own];
  const roots =
    type === 'childList'
      ? [...addedNodes].filter((node) => node instanceof HTMLElement)
      : attributeName === 'hidden'
        ? [target]
        : [];
  return roots.flatMap((root) => [...(root.matches(ROWS) ? [root] : []), ...root.querySelectorAll(ROWS)]);
}

/* Keeps the rows of the document so, whatever is drawn into them; once a frame, as what is seen has to be measured. */
export function startRoving() {
  const changed = new Set();
  const settleAll = () => {
    for (const row of changed) if (row.isConnected) settle(row);
    changed.clear();
  };
  const hear = (rows) => {
    if (rows.length && changed.size === 0) nextFrame(settleAll);
    for (const row of rows) changed.add(row);
  };
  new window.MutationObserver((records) => hear(records.flatMap(rowsAround))).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['hidden', 'disabled', 'aria-current'],
  });
  document.addEventListener('keydown', onKey, true);
  document.addEventListener('focusin', ({ target }) => {
    const row = target.closest?.(ROWS);
    if (!row || !target.matches(ITEMS) || target.closest(OUTSIDE)) return;
    stops.set(row, target);
    settle(row);
  });
  const hearAll = () => hear([...document.querySelectorAll(ROWS)]);
  /* What a narrower window hides can be no stop. */
  window.addEventListener('resize', hearAll);
  hearAll();
}
