/* SPDX-License-Identifier: Apache-2.0
 * parts.js: small things that several views of the Device Memory page have. */

import { button, el, name, svg } from '../../lib/dom.js';
import { visible } from '../../lib/format.js';
import { downloadLink, exportEntries } from '../../widgets/export_menu.js';
import { createFilter } from '../../widgets/filter.js';
import { message } from '../../widgets/panel.js';
import { filterFields } from '../../widgets/table_columns.js';
import { pagedRows } from '../../widgets/table_rows.js';
import { copyText } from '../../widgets/toast.js';
import { failed } from './empty.js';
import { amount, siteName } from './text.js';

/* The field that filters the rows of a table; what is in it stands in the URL. Out: of createFilter, and said(columns):
   of the answer. */
export function createRowFilter({ url, subject }, label) {
  let columns = [];
  const valuesOf = (name) => {
    const list = { device: subject.summary?.devices, kind: subject.summary?.kinds }[name];
    return list
      ? async () => list.map((each) => ({ value: each.name, figure: amount(subject.summary.metric, each.total) }))
      : null;
  };
  const filter = createFilter({
    label,
    placeholder: 'filter the rows, e.g. fn:init >1MiB',
    fields: () => filterFields(columns, valuesOf),
    onFilter: (text, isTyping) => (isTyping ? url.move({ filter: text }) : url.choose({ filter: text })),
  });
  return {
    ...filter,
    said: (next) => {
      columns = next;
    },
  };
}

/* Behind ⋯ of every view: what exportEntries says, and the samples that the filters leave for pprof. */
export function menuOf(subject, what) {
  const exports = exportEntries(what);
  const href = () => subject.link('profile', { by: '', machinery: '' }, '');
  return () => [
    ...exports(),
    { word: 'Download for pprof', run: () => downloadLink(href()) },
    { word: 'Copy the pprof command', run: () => copyText(`pprof -symbolize=none '${href()}'`) },
  ];
}

/* All rows of a view, page by page; rowsOf(data): those of an answer, of which `data` is the first. */
export function rowsFrom({ subject, panel }, view, asked, { data, count, pageRows, rowsOf }) {
  return pagedRows({
    count,
    first: rowsOf(data),
    pageRows,
    ask: async (offset, limit, signal) => rowsOf((await subject.ask(view, { ...asked, offset, limit }, signal)).data),
    onProblem: (problem) => panel.say(message(failed('The table', problem))),
  });
}

/* Those of a library step back behind the reader's own. */
const classOf = (frame) => (frame.is_machinery ? 'is-library' : '');
/* A frame in words: whole, or cut where the place is narrow. */
export const frameWords = (frame) => el('bdi', { dir: 'ltr', class: `mono ${classOf(frame)}`.trim() }, siteName(frame));
export const frameName = (frame, text = siteName(frame)) => name(text, classOf(frame));

/* What an element hears that stands for a frame: all views light it. */
export const lighting = (store, { id }) => ({
  pointerenter: () => store.set({ hover: id }),
  pointerleave: () => store.set({ hover: null }),
});

/* A frame in a list: its name, a figure and what is said of it, and a bar of its share (0..1). */
export const neighbour = ({ frame, figure, said, share }, onPick) =>
  button(
    'neighbour',
    onPick,
    [
      el('span', { class: 'neighbour-name' }, frameName(frame)),
      el('span', { class: 'figure' }, figure, el('span', { class: 'dim' }, said)),
      shareBar(share),
    ],
    { title: visible(`${siteName(frame)}\n${frame.file}`) },
  );

/* A bar whose length follows `share` (0..1). */
export function shareBar(share) {
  const wide = Math.max(0, Math.min(1, share)) * 100;
  return svg(
    'svg',
    { class: 'share-bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'share-track', width: 100, height: 8 }),
    svg('rect', { class: 'share-part', width: wide.toFixed(2), height: 8 }),
  );
}
