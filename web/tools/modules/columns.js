/* SPDX-License-Identifier: Apache-2.0
 * columns.js: how the columns of modules and of their hosts are drawn. One unit for all bytes of the table. */

import { button, el, name } from '../../lib/dom.js';
import { bytes, count, percent, signedBytes, unitOf, visible } from '../../lib/format.js';
import { moduleName } from '../../lib/module_names.js';
import { categoryWords, swatch } from '../../widgets/categories.js';
import { inUnit, roomFor, tableColumns } from '../../widgets/table_columns.js';

const none = () => el('span', { class: 'dim' }, '–');
const isKnown = (value) => value != null;

/* A bar of the share of the capacity; what is over it is said by a word and a colour. */
function capacityOf(row) {
  const share = row.of_capacity_percent;
  if (!isKnown(share)) return none();
  const part = el('span', { class: 'capacity-part' });
  part.style.width = `${Math.min(100, share)}%`;
  const isOver = share > 100;
  return [
    el('span', { class: `capacity-bar${isOver ? ' is-over' : ''}`, 'aria-hidden': 'true' }, part),
    el(
      'span',
      { class: `figure${isOver ? ' over' : ''}` },
      isOver ? `${percent(share, 100)} over` : percent(share, 100),
    ),
  ];
}

const sumOf = (parts) => parts.reduce((sum, part) => sum + part.bytes, 0);
const wordsOf = (parts, all) =>
  parts.map((part) => `${categoryWords(part.category)} ${bytes(part.bytes)} (${percent(part.bytes, all)})`).join(', ');

/* What is live at the peak: a bar of all categories, and in words the one that the daemon calls the largest. */
function categoriesOf(row) {
  const all = sumOf(row.categories);
  if (all === 0) return none();
  const largest = row.categories.find(({ category }) => category === row.category);
  const parts = row.categories.map((part) => {
    const node = swatch(part.category);
    node.classList.add('category-part');
    node.style.width = `${(100 * part.bytes) / all}%`;
    return node;
  });
  return el(
    'span',
    { class: 'categories', title: `Live at the peak: ${wordsOf(row.categories, all)}` },
    el('span', { class: 'category-bar', 'aria-hidden': 'true' }, parts),
    el('span', { class: 'category-words' }, `${categoryWords(largest.category)} ${percent(largest.bytes, all)}`),
  );
}

/* ⟲: some outputs take the place of donated arguments. */
function outputsOf(unit) {
  return (row) => {
    if (!isKnown(row.output_bytes)) return none();
    const reused = row.output_reused_bytes > 0;
    return [
      inUnit(row.output_bytes, unit),
      reused &&
        el(
          'span',
          { class: 'reused', title: `${bytes(row.output_reused_bytes)} in place of donated arguments` },
          '\u00a0⟲',
        ),
    ];
  };
}

const partOf = (field, whole, unit) => (row) =>
  isKnown(row[field])
    ? el('span', { class: 'figure', title: percent(row[field], row[whole]) }, inUnit(row[field], unit))
    : none();

/* "4 ≠": opens the hosts side by side. */
function hostsOf(openHosts) {
  return (row) => {
    if (!isKnown(row.host_count)) return none();
    const differing = row.outlier_count + row.absent_host_count;
    if (row.host_count + row.absent_host_count < 2) return count(row.host_count);
    const said = differing
      ? `${count(differing)} of ${count(row.host_count + row.absent_host_count)} differ`
      : 'all alike';
    return button(
      `text-button hosts-button${differing ? ' is-unequal' : ''}`,
      () => openHosts(row),
      `${count(row.host_count)}${differing ? ' ≠' : ''}`,
      { 'aria-label': `Hosts of ${visible(row.module)} side by side: ${said}`, title: said },
    );
  };
}

function differenceOf(row) {
  const by = row.difference_bytes;
  if (!isKnown(by)) return none();
  if (by === 0) return el('span', { class: 'dim' }, row.outlier === 'yes' ? 'peak only' : 'as most');
  return el('span', { class: `figure ${by > 0 ? 'grown' : 'shrunk'}` }, signedBytes(by), by > 0 ? ' ▲' : ' ▼');
}

const STATES = { not_read: 'not read yet', failed: 'cannot be read', no_assignment: 'no memory plan' };

function totalOf(unit) {
  return (row) => {
    if (isKnown(row.total_bytes)) return inUnit(row.total_bytes, unit);
    return el('span', { class: row.state === 'failed' ? 'caution' : 'dim' }, STATES[row.state] ?? '–');
  };
}

/* What gives way first where the window has no room for all; behind ⋯ it is still there. */
const GIVES_WAY = ['frag', 'code', 'pad', 'outputs', 'temp', 'args', 'cat', 'hosts', 'capacity'];
const LEAST_REM = 8; // of a column without a width

/* Pure: the columns that fit into so many rem. */
export function fitted(columns, rem) {
  const isOn = new Map(columns.map(({ key, isHidden }) => [key, !isHidden]));
  const taken = () => columns.reduce((sum, { key, width }) => sum + (isOn.get(key) ? (width ?? LEAST_REM) : 0), 0);
  for (const key of GIVES_WAY) {
    if (taken() <= rem) break;
    isOn.set(key, false);
  }
  return columns.map((column) => ({ ...column, isHidden: !isOn.get(column.key) }));
}

/* openHosts(row); hrefOf(row) → link to the Memory Viewer, or null. */
export function moduleColumns(data, { hasHosts, isOfHosts, isOneModule, isOneSpace, hrefOf, openHosts }) {
  const unit = unitOf(data.largest_bytes);
  const size = { in: unit, width: 5.25 };
  const isSaid = (field) => data.rows.some((row) => isKnown(row[field]) && row[field] !== '');
  const named = ({ module, key, file }) => ({ name: module, key, file: isOfHosts ? key : file });
  const peers = data.rows.map(named);
  const wordOf = (row) => moduleName(named(row), peers);
  const linked = (row) => {
    const href = hrefOf(row);
    return href ? el('a', { href, class: 'module-link', tabindex: '-1' }, name(wordOf(row))) : name(wordOf(row));
  };
  const wide = roomFor(data.rows.map(wordOf));
  const moduleColumn = isOneModule ? false : { width: 11, wide, card: isOfHosts ? 'line' : 'title', cell: linked };
  return tableColumns(data.columns, {
    ...(isOfHosts ? { host: { width: 8, card: 'title' }, module: moduleColumn } : {}),
    total: { ...size, width: 6.75, card: 'figure', explain: 'total', cell: totalOf(unit) },
    ...(isOfHosts ? { differs: { width: 8, card: 'line', cell: differenceOf } } : {}),
    peak: { ...size, width: 7.5, explain: 'peak' },
    capacity: { width: 10, cell: capacityOf, explain: 'capacity', isHidden: !isSaid('of_capacity_percent') },
    ...(isOfHosts ? {} : { module: moduleColumn }),
    hosts: isOneModule
      ? false
      : { width: 4.25, card: isOfHosts ? 'none' : 'line', cell: hostsOf(openHosts), isHidden: !hasHosts },
    cat: { width: 14.5, card: isOfHosts ? 'none' : 'line', cell: categoriesOf },
    args: { ...size, explain: 'arguments' },
    temp: { ...size, width: 9, explain: 'temporaries' },
    outputs: { ...size, width: 6.75, cell: outputsOf(unit), explain: 'outputs' },
    code: { ...size, isHidden: !isSaid('code_bytes'), explain: 'code' },
    pad: { ...size, width: 7, cell: partOf('padding_bytes', 'peak_bytes', unit), explain: 'padding' },
    frag: { ...size, width: 5.75, cell: partOf('fragmentation_bytes', 'total_bytes', unit), explain: 'fragmentation' },
    runs: { width: 4, isHidden: !isSaid('run_count') },
    run: { width: 5.5, isHidden: true },
    first: { width: 7, isHidden: true },
    ...(isOfHosts ? {} : { differs: { width: 8, cell: differenceOf, isHidden: true } }),
    space: { width: 7, isHidden: isOneSpace },
    ...(isOfHosts ? {} : { host: { width: 9, isHidden: true } }),
    remark: { isHidden: !isSaid('remark') },
  });
}
