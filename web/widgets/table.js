/* SPDX-License-Identifier: Apache-2.0
 * table.js: the one table of all pages: any number of rows, of which the visible ones and a few more
 * stand in the document; sticky header; one stop for the keyboard.
 *
 *   const table = createTable({ kind: ['buffer', 'buffers'], onPin: (row) => …, onSort: (sort) => … });
 *   panel.body.append(table.node);
 *   table.show({
 *     label: 'Buffers at step 376',
 *     columns: [
 *       { key: 'size', title: 'Size, GiB', width: 6, isNumber: true, sortKey: 'size',
 *         cell: (row) => figure(row.bytes), copy: ['size_bytes', (row) => row.bytes] },
 *       { key: 'name', title: 'Name', sortKey: 'name', cell: (row) => name(row.name), copy: ['name', (row) => row.name]
 * },
 *     ],
 *     source: pagedRows({ count: 391, first: rows, ask: (offset, limit, signal) => … }),   or localRows(rows)
 *     sort: '-size',
 *     foot: { rest: { values: { size: figure(1) }, text: '354 buffers, left out by the filter' }, text: '37 of 391 …'
 * },
 *   });
 *
 * A column: `width` in rem, and `wide` where there is room, else it shares what is left; `sortKey` if its header sorts;
 * `isHidden`: off until the reader turns it on; `card`: "figure", "title" or "line", its place on the cards of a phone,
 * where the others are left out; `isTree`: carries the arrow of groups; `className` of header and cells;
 * `explain`: the word before the row's id in the key of explain.js; `value(row)` for sortRows of local rows; `copy`:
 * [name with its unit, text or number of a row]. A row has an `id`; sources are in table_rows.js. With a source of
 * groups the table is a treegrid. Keys: arrows, Page, Home, End, Ctrl+Home, Ctrl+End; Enter pins, and opens a group,
 * sorts at a header (Shift: as second key); Shift+arrows choose rows; Shift+← → at a header change its width; Ctrl+C
 * copies. */

import { nextFrame } from '../lib/activity.js';
import { tellApart } from '../lib/apart.js';
import { el, fill } from '../lib/dom.js';
import { counted } from '../lib/format.js';
import { copyNow, copyRows, createChosen } from './table_copy.js';
import { createHeader } from './table_header.js';
import { bindKeys } from './table_keys.js';
import { localRows, naturalOf, revealed, scrollOf, windowOf } from './table_rows.js';

const FIRST_ROW_PX = 28;
const PRINTED_ROWS = 50;
const FOUND_WITHIN = 20000;

/* kind: [one, many]; onHover(row, mark, isFocus), onLeave(), onPin(row, isChosenByKey), onSort(text),
 * onMenu(row, {x, y}: of the window, giveBack()): the menu of a row, onWaiting() → nodes for rows that are not here
 * yet. Out: see the end of this function. */
export function createTable(options) {
  const { kind = ['row', 'rows'], onHover = () => {}, onLeave = () => {}, onPin = () => {} } = options;
  const [body, foot] = ['tbody', 'tfoot'].map((tag) => el(tag, { role: 'rowgroup' }));
  const table = el('table', { role: 'grid', class: 'grid', 'aria-multiselectable': 'true' });
  const node = el('div', { class: 'grid-scroll' }, table);
  const before = space();
  const after = space();
  const state = {
    node,
    table,
    body,
    columns: [],
    source: localRows([]),
    sort: '',
    foot: null,
    lines: new Map(),
    rowPx: FIRST_ROW_PX,
    anchor: null,
    hover: null,
    pin: null,
    active: { row: 0, column: -1 },
    isPrinting: false,
    onPin,
  };
  const chosen = createChosen(
    () => state.source,
    () => relight(state),
  );
  state.chosen = chosen;
  const header = createHeader({
    state,
    onSort: (text) => options.onSort?.(text),
    onColumns: () => {
      state.lines.clear();
      fill(body);
      drawFoot(state, foot);
      draw();
    },
  });
  state.header = header;
  table.append(header.columnsNode, header.node, body, foot);

  const draw = () => drawRows(state, before, after);
  state.draw = draw;
  state.reveal = (index) => revealRow(state, index, draw);
  state.enter = (index, isArrow = false) => enter(state, index, isArrow);
  bindKeys(state, { onHover, onLeave });
  bindPointer(state, { onHover, onLeave });
  if (options.onMenu) bindMenu(state, options.onMenu);
  const stop = redrawnBy(state);

  return {
    node,
    /* {source, columns, sort, foot: {rest: {values, text} | null, text}, label}. */
    show({ source, columns, sort = '', foot: footParts = null, label, isAtTop = true }) {
      const hadFocus = node.contains(document.activeElement);
      const isInHeader = hadFocus && state.active.row < 0;
      state.source.stop();
      Object.assign(state, { source, sort, foot: footParts, label, kind });
      state.lines.clear();
      fill(body);
      chosen.clear();
      source.listen(() => nextFrame(draw));
      if (isAtTop) {
        node.scrollTop = 0;
        state.anchor = null;
        state.active = { row: isInHeader ? -1 : 0, column: Math.min(state.active.column, columns.length - 1) };
      }
      table.setAttribute('role', source.isTree ? 'treegrid' : 'grid');
      table.setAttribute('aria-label', label);
      header.draw(columns);
      drawFoot(state, foot);
      draw();
      if (hadFocus) state.focusAt(state.active.row, state.active.column);
    },
    mark(hover, pin) {
      state.hover = hover;
      state.pin = pin;
      relight(state);
    },
    /* Scrolls until the row with this index is there; focuses it if asked. */
    reveal(index, isFocused = false) {
      state.reveal(index);
      if (isFocused) state.focusAt(index, -1);
    },
    ...byId(state),
    focus: () => state.focusAt(state.active.row, state.active.column),
    get activeRow() {
      return state.source.at(state.active.row);
    },
    /* {text} of the chosen rows, else of all that are here: tab-separated or Markdown. */
    copy: (form) => copyRows(state, form),
    columns: header.choices,
    setColumnShown: header.setShown,
    destroy() {
      stop();
      state.source.stop();
    },
  };
}

/* What is asked for rows by their ids. */
const byId = (state) => ({
  /* As reveal(), for the row with this id, if it is known; a group with this id opens. */
  revealId: (id, isFocused = false) => revealId(state, id, isFocused),
  openId: (id) => openId(state, id),
  /* Is the row there, and not in a group that is closed? */
  holds: (id) => indexOfId(state, id) >= 0,
  /* The row beside the one with this id in the present order, the first without one; null at the ends. */
  beside: (id, direction) => rowBeside(state, id, direction),
});

/* A group opens as it is pinned, and closes as it is let go; its arrow opens and closes alone. */
function enter(state, index, isArrow) {
  const row = state.source.at(index);
  if (!row) return;
  const isPinned = row.id === state.pin;
  const isKept = row.isGroup && (isArrow || (isPinned && !row.isOpen));
  if (row.isGroup && (isArrow || isPinned || !row.isOpen)) state.source.toggle(index);
  if (!isKept) state.onPin(row);
}

/* What draws the table anew, and the text that is copied from it. Out: takes all of it back. */
function redrawnBy(state) {
  const { node, draw } = state;
  const soon = () => nextFrame(draw);
  node.addEventListener('copy', (event) => {
    const text = copyNow(state);
    if (text == null) return;
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  });
  node.addEventListener('scroll', soon, { passive: true });
  const watch = new ResizeObserver(soon);
  watch.observe(node);
  const media = matchMedia('print');
  const onPrint = () => {
    state.isPrinting = media.matches;
    draw();
  };
  media.addEventListener('change', onPrint);
  return () => {
    watch.disconnect();
    media.removeEventListener('change', onPrint);
  };
}

const indexOfId = ({ source }, id) => {
  for (let at = 0; at < Math.min(source.count, FOUND_WITHIN); at++) if (source.at(at)?.id === id) return at;
  return -1;
};

function revealId(state, id, isFocused) {
  const at = indexOfId(state, id);
  if (at < 0) return;
  state.reveal(at);
  if (isFocused) state.focusAt(at, -1);
}

/* Its first rows are here then. */
const MEMBERS_LOADED = 100;

async function openId(state, id) {
  const at = indexOfId(state, id);
  const row = at >= 0 ? state.source.at(at) : null;
  if (!row?.isGroup) return;
  if (!row.isOpen) state.source.toggle(at);
  await state.source.load(at + 1, at + 1 + Math.min(row.count, MEMBERS_LOADED));
}

async function rowBeside(state, id, direction) {
  const at = indexOfId(state, id);
  const to = at >= 0 ? at + direction : 0;
  if (to < 0 || to >= state.source.count) return null;
  if (!state.source.at(to)) await state.source.load(to, to + 1);
  const row = state.source.at(to);
  if (row) state.reveal(to);
  return row;
}

function space() {
  return el('tbody', { class: 'grid-space', 'aria-hidden': 'true' }, el('tr', {}, el('td', {})));
}

/* Room for rows that are not in the document. */
function setSpace(node, px, put) {
  node.firstChild.firstChild.style.height = `${px}px`;
  if (px <= 0) node.remove();
  else if (!node.isConnected) put(node);
}

/* ---- rows ------------------------------------------------------------------- */

/* What of the scrolled box shows rows: its height without header and footer. */
function sizeOf(state) {
  const sticky = state.header.node.offsetHeight + (state.table.tFoot?.lastChild?.offsetHeight ?? 0);
  return {
    count: state.source.count,
    rowPx: state.rowPx,
    viewPx: Math.max(state.rowPx, state.node.clientHeight - sticky),
  };
}

/* Where among all rows we are: the exact place that was asked for, unless the reader scrolled since. */
function naturalNow(state, size) {
  const { anchor, node } = state;
  if (anchor && Math.abs(anchor.scrollPx - node.scrollTop) < 2) return anchor.naturalPx;
  state.anchor = null;
  return naturalOf(size, node.scrollTop);
}

function revealRow(state, index, draw) {
  const size = sizeOf(state);
  const now = naturalNow(state, size);
  const naturalPx = revealed(size, now, index);
  if (naturalPx !== now) {
    state.node.scrollTop = scrollOf(size, naturalPx);
    state.anchor = { scrollPx: state.node.scrollTop, naturalPx };
  }
  draw();
}

function drawRows(state, before, after) {
  const { source, body, lines, table } = state;
  const size = sizeOf(state);
  const range = state.isPrinting
    ? { from: 0, to: Math.min(PRINTED_ROWS, source.count), beforePx: 0, afterPx: 0 }
    : windowOf(size, state.node.scrollTop, naturalNow(state, size));
  table.setAttribute('aria-rowcount', String(source.count + 1 + (table.tFoot?.children.length ?? 0)));
  const hadFocus = body.contains(document.activeElement);
  for (const [index, line] of lines) {
    const isStale = index < range.from || index >= range.to || line.rowKey !== keyOf(source.at(index));
    if (isStale) {
      line.remove();
      lines.delete(index);
    }
  }
  let next = body.firstChild;
  let isNew = false;
  for (let index = range.from; index < range.to; index++) {
    isNew ||= !lines.has(index);
    const line = lines.get(index) ?? lineOf(state, index);
    if (line === next) next = next.nextSibling;
    else body.insertBefore(line, next);
    lines.set(index, line);
  }
  setSpace(before, range.beforePx, (node) => body.before(node));
  setSpace(after, range.afterPx, (node) => body.after(node));
  state.range = range;
  if (isNew) namesApart(state);
  source.need(range.from, range.to);
  state.settleFocus(hadFocus);
  relight(state);
  measure(state, before, after);
}

/* Names of a column are cut where they are equal. */
function namesApart({ lines, header }) {
  for (let at = 0; at < header.shown().length; at++) {
    const cells = [...lines.values()].map((line) => line.children[at]);
    tellApart(cells.flatMap((cell) => [...(cell?.querySelectorAll('.name') ?? [])]));
  }
}

/* The height of a row is the style sheet's; rows are 44 px on touch, cards on a phone. */
function measure(state, before, after) {
  const px = state.body.firstChild?.getBoundingClientRect().height ?? 0;
  if (px < 1 || Math.abs(px - state.rowPx) < 0.25 || state.isMeasuring) return;
  state.rowPx = px;
  state.isMeasuring = true;
  drawRows(state, before, after);
  state.isMeasuring = false;
}

const keyOf = (row) => (row ? `${row.id} ${row.isOpen ?? ''} ${row.level ?? ''}` : '');

const classOf = (column) =>
  `${column.className ?? ''} ${column.isNumber ? 'is-number' : ''} card-${column.card ?? 'none'}`.trim();

/* The card of a cell; of a group it is another one. */
function explainOf(column, row) {
  const word = row?.isGroup ? column.explainGroup : row && column.explain;
  return word ? `${word}:${row.id}` : null;
}

function lineOf(state, index) {
  const row = state.source.at(index);
  const columns = state.header.shown();
  const isGroup = row?.isGroup ?? false;
  const line = el(
    'tr',
    {
      role: 'row',
      class: isGroup ? 'is-group' : row ? null : 'is-waiting',
      'data-id': row?.id ?? null,
      tabindex: '-1',
      'aria-rowindex': String(index + 2),
      'aria-level': row?.level ?? null,
      'aria-setsize': row?.setSize ?? null,
      'aria-posinset': row?.position ?? null,
      'aria-expanded': isGroup ? String(row.isOpen) : null,
    },
    columns.map((column, at) =>
      el(
        'td',
        {
          role: 'gridcell',
          class: classOf(column),
          tabindex: '-1',
          'aria-colindex': String(at + 1),
          'data-explain': explainOf(column, row),
        },
        row && column.isTree && isGroup ? el('span', { class: 'twist', 'aria-hidden': 'true' }) : null,
        row ? column.cell(row) : at === 0 ? '…' : '',
      ),
    ),
  );
  line.rowKey = keyOf(row);
  line.at = index;
  return line;
}

/* Marks what is hovered, pinned and chosen among the rows that are there. */
function relight(state) {
  for (const line of state.lines.values()) {
    const id = line.dataset.id ?? null;
    const isPinned = id != null && id === state.pin;
    line.classList.toggle('is-hover', id != null && id === state.hover);
    line.classList.toggle('is-pinned', isPinned);
    line.classList.toggle('is-chosen', state.chosen.has(line.at));
    line.setAttribute('aria-selected', String(isPinned || state.chosen.has(line.at)));
  }
}

/* ---- footer ----------------------------------------------------------------- */

/* The rest as a row, so that the sum is whole; then "37 of 391 buffers, 30.10 of 33.41 GiB". */
function drawFoot(state, foot) {
  const columns = state.header.shown();
  const { rest, text } = state.foot ?? {};
  const more = state.source.count - PRINTED_ROWS;
  const line = (className, cells) => el('tr', { role: 'row', class: className }, cells);
  const wide = (className, span, ...parts) =>
    el('td', { role: 'gridcell', class: className, colspan: Math.max(1, span) }, parts);
  const leading = rest ? columns.findIndex((column) => !(column.key in rest.values)) : 0;
  fill(
    foot,
    rest &&
      line('grid-rest', [
        columns
          .slice(0, Math.max(0, leading))
          .map((column) => el('td', { role: 'gridcell', class: classOf(column) }, rest.values[column.key])),
        leading < 0 ? null : wide('c-rest', columns.length - leading, rest.text),
      ]),
    more > 0 &&
      line('grid-more', [
        wide('c-rest', columns.length, `${counted(more, `more ${state.kind[0]}`, `more ${state.kind[1]}`)}: use CSV`),
      ]),
    text && line('grid-foot', [wide('c-foot', columns.length, text)]),
  );
}

/* ---- pointer ---------------------------------------------------------------- */

/* The button or the key for menus, on a row; on a link the browser's own, which opens it elsewhere. */
function bindMenu(state, onMenu) {
  state.body.addEventListener('contextmenu', (event) => {
    const line = event.target.closest('tr');
    const row = line && state.source.at(line.at);
    if (!row || event.target.closest('a') || event.pointerType === 'touch') return;
    event.preventDefault();
    const from = document.activeElement;
    onMenu(row, { x: event.clientX, y: event.clientY }, () => (from.isConnected ? from : line).focus());
  });
}

function bindPointer(state, { onHover, onLeave }) {
  const { body } = state;
  const lineAt = (event) => event.target.closest('tr');
  body.addEventListener('pointerover', (event) => {
    const line = lineAt(event);
    const row = line && state.source.at(line.at);
    if (row) onHover(row, line.getBoundingClientRect(), false);
  });
  body.addEventListener('pointerleave', () => onLeave());
  body.addEventListener('click', (event) => {
    const line = lineAt(event);
    if (!line || event.target.closest('a, button') || window.getSelection()?.toString()) return;
    if (event.shiftKey) state.chosen.to(line.at);
    else if (event.ctrlKey || event.metaKey) state.chosen.toggle(line.at);
    else {
      state.chosen.clear(line.at);
      state.active = { row: line.at, column: -1 };
      state.settleTab();
      state.enter(line.at, event.target.matches('.twist'));
    }
  });
  /* Shift+click chooses rows, not text. */
  body.addEventListener('mousedown', (event) => {
    if (event.shiftKey) event.preventDefault();
  });
}
