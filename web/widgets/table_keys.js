/* SPDX-License-Identifier: Apache-2.0
 * table_keys.js: the keyboard of a table, as in the WAI-ARIA patterns of grid and treegrid. The table is
 * one stop; a row has the focus first, then → goes into its cells. Row −1 is the header. */

/* Adds state.focusAt(row, column), state.settleFocus(hadFocus) and state.settleTab(). */
export function bindKeys(state, { onHover, onLeave }) {
  const { node, body } = state;
  const columns = () => state.header.shown().length;
  const target = ({ row, column }) => {
    if (row < 0) return state.header.cell(Math.max(0, column));
    const line = state.lines.get(row);
    return column < 0 ? line : (line?.children[column] ?? line);
  };
  let stop = null;

  /* The one stop: what is active, or the scrolled box while the active row is not in the document. */
  state.settleTab = () => {
    const next = target(state.active) ?? node;
    if (next === stop) return next;
    stop?.setAttribute('tabindex', '-1');
    if (stop === node) node.removeAttribute('tabindex');
    next.setAttribute('tabindex', '0');
    stop = next;
    return next;
  };
  state.settleFocus = (hadFocus) => {
    const last = state.source.count - 1;
    if (state.active.row > last) state.active = { ...state.active, row: Math.max(last, last < 0 ? -1 : 0) };
    const next = state.settleTab();
    if ((hadFocus || document.activeElement === node) && !node.contains(document.activeElement))
      next.focus({ preventScroll: true });
    else if (document.activeElement === node && next !== node) next.focus({ preventScroll: true });
  };
  state.focusAt = (row, column) => {
    const last = state.source.count - 1;
    state.active = {
      row: Math.max(-1, Math.min(last, row)),
      column: Math.max(row < 0 ? 0 : -1, Math.min(columns() - 1, column)),
    };
    if (state.active.row >= 0) state.reveal(state.active.row);
    const next = state.settleTab();
    next.focus({ preventScroll: state.active.row >= 0 });
    if (state.active.column >= 0 && state.active.row >= 0) next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };

  node.addEventListener('keydown', (event) => {
    if (event.altKey || event.target.closest('a, button, input')) return;
    const isDone = state.active.row < 0 ? headerKey(state, event, columns()) : rowKey(state, event, columns());
    if (!isDone) return;
    event.preventDefault();
    event.stopPropagation();
  });
  node.addEventListener('focusin', (event) => {
    const head = state.header.indexOf(event.target);
    if (head >= 0) state.active = { row: -1, column: head };
    else {
      const line = event.target.closest('tr');
      if (!line || !body.contains(line)) return;
      const at = Array.prototype.indexOf.call(line.children, event.target.closest('td'));
      state.active = { row: line.at, column: at };
      const row = state.source.at(line.at);
      if (row) onHover(row, line.getBoundingClientRect(), true);
    }
    state.settleTab();
  });
  node.addEventListener('focusout', (event) => {
    if (!node.contains(event.relatedTarget)) onLeave();
  });
}

function headerKey(state, event, columns) {
  const { column } = state.active;
  if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
    state.header.widen(column, event.key === 'ArrowRight' ? 1 : -1);
    return true;
  }
  if (event.ctrlKey || event.metaKey) return false;
  const moves = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: columns - 1 };
  if (event.key in moves) state.focusAt(-1, moves[event.key]);
  else if (event.key === 'ArrowDown') state.focusAt(0, column);
  else if (event.key === 'PageDown') state.focusAt(pageRows(state), column);
  else if (event.key === 'Enter') state.header.sortBy(column, event.shiftKey);
  else return false;
  return true;
}

const pageRows = (state) => Math.max(1, Math.floor(state.node.clientHeight / state.rowPx) - 2);

function rowKey(state, event, columns) {
  const { row, column } = state.active;
  const { source } = state;
  const page = pageRows(state);
  const last = source.count - 1;
  if (event.ctrlKey || event.metaKey) {
    if (event.key === 'Home') state.focusAt(0, column);
    else if (event.key === 'End') state.focusAt(last, column);
    else if (event.key === 'a' && !event.shiftKey) state.chosen.all();
    else return false;
    return true;
  }
  const rows = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + page, PageUp: Math.max(0, row - page) };
  if (event.key in rows) {
    const to = Math.min(last, rows[event.key]);
    if (event.shiftKey) state.chosen.to(Math.max(0, to), row);
    state.focusAt(event.shiftKey ? Math.max(0, to) : to, column);
    return true;
  }
  if (event.shiftKey) return false;
  if (event.key === 'Home') state.focusAt(column < 0 ? 0 : row, column < 0 ? -1 : 0);
  else if (event.key === 'End') state.focusAt(column < 0 ? last : row, column < 0 ? -1 : columns - 1);
  else if (event.key === 'ArrowRight') goRight(state, source.at(row));
  else if (event.key === 'ArrowLeft') goLeft(state, source.at(row));
  else if (event.key === 'Enter') state.enter(row);
  else return false;
  return true;
}

/* A closed group opens first; then the cells follow. */
function goRight(state, item) {
  const { row, column } = state.active;
  if (column < 0 && item?.isGroup && !item.isOpen) state.source.toggle(row);
  else state.focusAt(row, column + 1);
}

/* Out of the cells, then an open group closes, and a member goes to its group. */
function goLeft(state, item) {
  const { row, column } = state.active;
  if (column >= 0) state.focusAt(row, column - 1);
  else if (item?.isGroup && item.isOpen) state.source.toggle(row);
  else if (state.source.isTree) state.focusAt(state.source.parentOf(row), -1);
}
