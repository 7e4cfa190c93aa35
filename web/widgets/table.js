/* SPDX-License-Identifier: Apache-2.0
 * table.js: a plain grid: sticky header, one stop for the keyboard, arrow keys between
 * rows, Enter pins, and a footer that makes the sum whole. On a phone rows are cards. */

import { el, fill } from '../lib/dom.js';

/* columns: [{key, title, className, cell(row) → nodes}]; rows have an `id`.
 * onHover(row, mark), onLeave(), onPin(row). Out: {node, draw(rows, columns, footRows, label), mark(hoverId, pinId)}. */
export function createTable({ onHover, onLeave, onPin }) {
  const head = el('thead', { role: 'rowgroup' });
  const body = el('tbody', { role: 'rowgroup' });
  const foot = el('tfoot', { role: 'rowgroup' });
  const table = el('table', { role: 'grid', class: 'grid' }, head, body, foot);
  const node = el('div', { class: 'grid-scroll' }, table);
  let rows = [];
  let lines = new Map();
  let marked = [];
  let at = 0;

  const markOf = (line) => line.getBoundingClientRect();
  const focusRow = (to) => {
    const { children } = body;
    if (children.length === 0) return;
    children[at]?.setAttribute('tabindex', '-1');
    at = Math.max(0, Math.min(children.length - 1, to));
    children[at].setAttribute('tabindex', '0');
    children[at].focus();
  };
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
  body.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) focusRow(at + moves[event.key]);
    else if (event.key === 'Home') focusRow(0);
    else if (event.key === 'End') focusRow(rows.length - 1);
    else if (event.key === 'Enter') onPin(rows[at]);
    else return;
    event.preventDefault();
  });
  const rowOf = (event) => event.target.closest('tr');
  const indexOf = (line) => Array.prototype.indexOf.call(body.children, line);
  body.addEventListener('focusin', (event) => {
    const line = rowOf(event);
    at = indexOf(line);
    onHover(rows[at], markOf(line), true);
  });
  body.addEventListener('focusout', onLeave);
  body.addEventListener('pointerover', (event) => {
    const line = rowOf(event);
    if (line) onHover(rows[indexOf(line)], markOf(line), false);
  });
  body.addEventListener('pointerleave', onLeave);
  body.addEventListener('click', (event) => {
    const line = rowOf(event);
    if (line && !window.getSelection()?.toString()) onPin(rows[indexOf(line)]);
  });

  return {
    node,
    draw(next, columns, footRows, label) {
      rows = next;
      at = 0;
      table.setAttribute('aria-label', label);
      table.setAttribute('aria-rowcount', String(rows.length + 1));
      fill(
        head,
        el(
          'tr',
          { role: 'row', 'aria-rowindex': '1' },
          columns.map((column) =>
            el(
              'th',
              {
                scope: 'col',
                role: 'columnheader',
                class: column.className,
                'aria-sort': column.sort ?? null,
              },
              column.title,
            ),
          ),
        ),
      );
      fill(
        body,
        rows.map((row, index) =>
          el(
            'tr',
            {
              role: 'row',
              'data-id': row.id,
              tabindex: index === 0 ? '0' : '-1',
              'aria-selected': 'false',
              'aria-rowindex': String(index + 2),
            },
            columns.map((column) =>
              el('td', { role: 'gridcell', class: column.className }, column.cell(row)),
            ),
          ),
        ),
      );
      lines = new Map(rows.map((row, index) => [row.id, body.children[index]]));
      marked = [];
      fill(
        foot,
        footRows.map((cells) =>
          el(
            'tr',
            { role: 'row' },
            cells.map((cell) =>
              el('td', { role: 'gridcell', class: cell.className, colspan: cell.span ?? null }, cell.parts),
            ),
          ),
        ),
      );
    },
    mark(hoverId, pinId) {
      for (const line of marked) {
        line.classList.remove('is-hover', 'is-pinned');
        line.setAttribute('aria-selected', 'false');
      }
      marked = [];
      const light = (id, className) => {
        const line = lines.get(id);
        if (!line) return;
        line.classList.add(className);
        marked.push(line);
      };
      light(hoverId, 'is-hover');
      light(pinId, 'is-pinned');
      lines.get(pinId)?.setAttribute('aria-selected', 'true');
    },
  };
}
