/* SPDX-License-Identifier: Apache-2.0
 * table_header.js: the header of a table: a click sorts, the edge of a column is dragged, and columns
 * are turned on and off. */

import { el, fill } from '../lib/dom.js';
import { nextSort, sortOf } from './table_sort.js';

const MIN_REM = 3;
const LEAST_REM = 8; // of a column that shares what is left
const MAX_REM = 60;

export const remPx = () => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

/* onSort(text), onColumns(). Out: {node, columnsNode, draw(columns), shown(), choices(), setShown(key, isShown),
 * cell(at), indexOf(node), sortBy(at, isAdded), widen(at, rem)}. */
export function createHeader({ state, onSort, onColumns }) {
  const node = el('thead', { role: 'rowgroup' });
  const columnsNode = el('colgroup', {});
  const widths = new Map();
  const isShown = new Map();
  let columns = [];

  const isOn = (column) => isShown.get(column.key) ?? !column.isHidden;
  const shown = () => columns.filter(isOn);
  const widthOf = (column) => widths.get(column.key) ?? column.width ?? null;

  /* Columns of a width keep it, or grow to `wide` where there is room; the others share the rest, and are never
     narrower than
   * `min`. All that grow, also a column of the rest unless its `wide` is less than that, have an equal part of the
   * room. */
  const drawWidths = () => {
    const list = shown();
    const leastOf = (column) => widthOf(column) ?? column.min ?? LEAST_REM;
    const min = list.reduce((sum, column) => sum + leastOf(column), 0);
    const isGrowing = (column) =>
      !widths.has(column.key) && (column.wide == null ? widthOf(column) == null : column.wide > leastOf(column));
    const growing = list.filter(isGrowing).length;
    fill(
      columnsNode,
      list.map((column) => {
        const node_ = el('col', {});
        const rem = widthOf(column);
        if (rem != null)
          node_.style.width = isGrowing(column)
            ? `clamp(${rem}rem, ${rem}rem + (100cqw - ${min}rem) / ${growing}, ${column.wide}rem)`
            : `${rem}rem`;
        return node_;
      }),
    );
    state.table.style.setProperty('--grid-min', `${min}rem`);
  };
  /* rem null: as wide as the column asks for. */
  const setWidth = (column, rem) => {
    if (rem == null) widths.delete(column.key);
    else widths.set(column.key, Math.max(MIN_REM, Math.min(MAX_REM, rem)));
    drawWidths();
  };
  const draw = () => {
    drawWidths();
    fill(
      node,
      el(
        'tr',
        { role: 'row', 'aria-rowindex': '1' },
        shown().map((column, at) => headerCell(column, at, state.sort, { sortBy, setWidth })),
      ),
    );
    state.table.setAttribute('aria-colcount', String(columns.length));
  };

  function sortBy(at, isAdded) {
    const column = shown()[at];
    if (column?.sortKey) onSort(nextSort(state.sort, column, isAdded));
  }

  return {
    node,
    columnsNode,
    draw(next) {
      columns = next;
      state.columns = next;
      draw();
    },
    shown,
    /* [{key, title, isShown}] for a menu. */
    choices: () => columns.map((column) => ({ key: column.key, title: column.title, isShown: isOn(column) })),
    /* The last column stays. */
    setShown(key, isOnNow) {
      if (!isOnNow && shown().length === 1) return;
      isShown.set(key, isOnNow);
      draw();
      onColumns();
    },
    cell: (at) => node.firstChild?.children[at] ?? null,
    indexOf(inner) {
      const cell = inner.closest('th');
      return cell && node.contains(cell) ? Array.prototype.indexOf.call(cell.parentNode.children, cell) : -1;
    },
    sortBy,
    widen(at, rem) {
      const column = shown()[at];
      const now = node.firstChild.children[at].getBoundingClientRect().width / remPx();
      setWidth(column, Math.round(now + rem));
    },
  };
}

function headerCell(column, at, sort, { sortBy, setWidth }) {
  const { direction, rank } = sortOf(sort, column);
  const cell = el(
    'th',
    {
      scope: 'col',
      role: 'columnheader',
      class: `${column.className ?? ''} ${column.isNumber ? 'is-number' : ''} ${column.sortKey ? 'is-sortable' : ''}`,
      tabindex: '-1',
      'aria-colindex': String(at + 1),
      'aria-sort': direction,
      'data-rank': rank > 0 ? String(rank + 1) : null,
      title:
        [column.hint, column.sortKey && 'Click to sort; Shift+click to add a second order.']
          .filter(Boolean)
          .join('\n') || null,
      on: {
        click: (event) => {
          if (!event.target.closest('.grid-edge')) sortBy(at, event.shiftKey);
        },
      },
    },
    el('span', { class: 'grid-title' }, column.title),
  );
  cell.append(edge(cell, (px) => setWidth(column, px == null ? null : px / remPx())));
  return cell;
}

/* The right edge of a header, to be dragged: onWidth(px), by a double click onWidth(null). */
function edge(cell, onWidth) {
  const handle = el('span', { class: 'grid-edge', 'aria-hidden': 'true', on: { dblclick: () => onWidth(null) } });
  handle.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const from = event.clientX;
    const { width } = cell.getBoundingClientRect();
    const move = (moved) => onWidth(width + moved.clientX - from);
    handle.addEventListener('pointermove', move);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', move), {
      once: true,
    });
  });
  return handle;
}
