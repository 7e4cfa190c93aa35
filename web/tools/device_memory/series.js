/* SPDX-License-Identifier: Apache-2.0
 * series.js: several profiles in order: what each holds by call site, what grows, and the
 * choice of two of them to compare in every view. */

import { el, fill } from '../../lib/dom.js';
import { count, counted, cutMiddle, percent, visible, when } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLegend } from '../../widgets/legend.js';
import { createPanel, message } from '../../widgets/panel.js';
import { sparkline } from '../../widgets/sparkline.js';
import { createStacked } from '../../widgets/stacked.js';
import { createTable } from '../../widgets/table.js';
import { localRows, pagedRows } from '../../widgets/table_rows.js';
import { moved, pickProfile, seriesParams } from './state.js';
import { seriesColumns } from './columns.js';
import { csvLink } from './parts.js';
import { createLoader } from './load.js';
import { createOrder } from './order.js';
import * as empty from './empty.js';
import * as say from './text.js';

const COLOURS = ['parameter', 'output', 'activation', 'optimizer', 'temporary', 'constant', 'collective', 'gradient'];
const PAGE_ROWS = 200;
const DEFAULT_SORT = '-growth';

export function createSeries(view) {
  const series = { view, data: null };
  const params = () => ({ ...seriesParams(view.state, view.session), base: [], sort: view.state.sort || DEFAULT_SORT });
  series.legend = createLegend('Colours of the call sites');
  series.chart = createStacked({
    sentence: (at) => say.profileSentence(series.data, at),
    onHover: (at, mark) => view.tooltip(`s:${at}`, say.profileLines(series.data, at), mark),
    onLeave: () => view.untip(),
    onPick: (at) => view.choose(pickProfile(view.state, series.data.profiles[at].id)),
  });
  series.order = createOrder({
    onOrder: (order) =>
      view.choose({
        order: order === 'name' ? '' : order,
        files: order === 'hand' ? series.data.profiles.map(({ id }) => id) : [],
      }),
    onMove: (from, to) =>
      view.choose({ order: 'hand', files: moved(series.data.profiles.map(({ id }) => id), from, to) }),
    onPick: (at) => view.choose(pickProfile(view.state, series.data.profiles[at].id)),
  });
  series.panel = createPanel('panel-series', 'Live bytes of each profile', {
    menu: exportEntries({
      name: 'series',
      title: 'Live bytes of each profile, by call site',
      drawing: () => {
        const drawing = series.chart.drawing();
        return drawing ? { ...drawing, legend: legendOf(series).map(({ word, fill: colour }) => ({ word, colour })) } : null;
      },
      csv: () => csvLink(view, 'series', params()),
    }),
  });
  series.panel.setAside(series.legend.node, series.order.select);
  series.marksText = el('p', { class: 'series-marks', role: 'status' });
  series.left = el('div', { class: 'series-left' });
  series.panel.body.append(series.chart.node, series.marksText, series.order.list, series.left);
  series.table = createTable({
    kind: ['call site', 'call sites'],
    onHover: (row) => view.store.set({ hover: row.frame.id }),
    onLeave: () => view.store.set({ hover: null }),
    onPin: (row) => view.pin(row.frame.id),
    onSort: (sort) => view.choose({ sort: sort === DEFAULT_SORT ? '' : sort }),
  });
  series.sites = createPanel('panel-sites panel-table', 'Call sites');
  series.sites.body.append(series.table.node);
  series.loader = createLoader(view, series.panel, { what: 'The series', sentence: 'all profiles' });
  return {
    node: el('div', { class: 'device-series' }, series.panel.node, series.sites.node),
    async show() {
      const data = await series.loader.load('series', params(), (found) => draw(series, found, params()));
      if (!data) return;
      mark(series);
      view.head.lead(data.profiles.length > 1 ? say.seriesSentence(data) : null);
    },
    forget: series.loader.forget,
    light() {},
    destroy() {
      series.chart.destroy();
      series.table.destroy();
    },
  };
}

/* ---- drawing ------------------------------------------------------------------------- */

function draw(series, data, asked) {
  const { view, panel, sites } = series;
  series.data = data;
  sites.node.hidden = data.profiles.length < 2;
  fill(
    series.left,
    leftOutBy(data.left_out).map(([reason, names]) =>
      el(
        'p',
        { class: 'dim' },
        (names.length === 1 ? `${names[0]} is left out: ${reason}` : `${names.join(', ')} are left out, of each: ${reason}`).replace(/\.*$/, '.'),
      ),
    ),
  );
  if (data.profiles.length < 2) {
    panel.say([message(empty.onlyOneProfile()), series.left]);
    return;
  }
  panel.body.append(series.left);
  series.parts = partsOf(data);
  panel.setTitle(
    say.isBytes(data.metric) ? 'Live bytes of each profile' : 'Live allocations of each profile',
    el('span', { class: 'dim' }, ` 1 … ${count(data.profiles.length)}, by call site, growing ones at the bottom`),
  );
  series.legend.set(legendOf(series));
  series.chart.draw({
    parts: series.parts,
    names: data.profiles.map(({ name }) => visible(name).replace(/\.(prof|pb\.gz|pb)$/, '')),
    isBytes: say.isBytes(data.metric),
    label: say.seriesLabel(data),
  });
  series.order.set(view.state.order, data.profiles);
  drawTable(series, data, asked);
}

/* [reason, names] of what is left out, each reason once. */
function leftOutBy(list) {
  const by = new Map();
  for (const { name, reason } of list) by.set(visible(reason), [...(by.get(visible(reason)) ?? []), visible(name)]);
  return [...by];
}

/* Growing call sites first (they come so), the largest of the others, the rest as one. */
function partsOf(data) {
  const order = ['grows', 'steps_once', 'irregular', 'too_few', 'shrinks', 'steady'];
  const weight = (site) => Math.max(...site.values.map(Math.abs), 0);
  const chosen = [...data.sites]
    .filter((site) => weight(site) > 0)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || weight(b) - weight(a))
    .slice(0, COLOURS.length)
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const parts = chosen.map((site, at) => ({
    word: say.siteName(site.frame, site.callee),
    values: site.values,
    fill: () => token(`cat-${COLOURS[at]}`),
  }));
  const shown = new Set(chosen);
  const rest = data.profiles.map(
    (_, at) =>
      (data.rest[at] ?? 0) + data.sites.reduce((sum, site) => sum + (shown.has(site) ? 0 : site.values[at]), 0),
  );
  if (rest.some((value) => value !== 0))
    parts.push({ word: 'other call sites', values: rest, fill: () => token('cat-unknown') });
  return parts;
}

const legendOf = ({ parts }) =>
  parts.map(({ word, fill: colour }) => ({ word: cutMiddle(word, 36), title: word, fill: colour() }));

function drawTable(series, data, asked) {
  const { view } = series;
  const withIds = (rows) => rows.map((row, at) => ({ ...row, id: `${row.frame.id}:${row.callee ?? ''}:${at}` }));
  const first = withIds(data.sites);
  series.sites.setTitle('Call sites', el('span', { class: 'dim' }, ` ${say.verdictCounts(data.verdict_counts)}`));
  series.table.show({
    source:
      data.total_count <= first.length
        ? localRows(first)
        : pagedRows({
            count: data.total_count,
            first,
            pageRows: PAGE_ROWS,
            ask: async (offset, limit, signal) =>
              withIds((await view.ask('series', { ...asked, offset, limit }, signal)).data.sites),
          }),
    columns: seriesColumns(
      data,
      (row) => sparkline(row.values, say.sparkLabel(data.metric, row)),
      (verdict) => say.VERDICTS[verdict] ?? verdict,
    ),
    sort: asked.sort,
    foot: {
      text: `${counted(data.total_count, 'call site')}; growth of all: ${say.signedAmount(data.metric, data.growth)}`,
    },
    label: 'Call sites over the profiles',
  });
}

/* A and B, in the chart and in words. */
function mark(series) {
  const { view, data } = series;
  const index = (id) => (id ? data.profiles.findIndex((profile) => profile.id === id) : -1);
  const { a, b } = view.state;
  series.chart.mark({ a: index(a), b: index(b) });
  const named = (id) => cutMiddle(visible(data.profiles[index(id)]?.name ?? id), 40);
  const at = (id) => data.profiles[index(id)]?.total ?? 0;
  fill(
    series.marksText,
    a && b
      ? [
          `A ${named(a)}, B ${named(b)}: `,
          el('strong', {}, say.changeWords(data.metric, at(b) - at(a))),
          ` (${percent(Math.abs(at(b) - at(a)), at(a))} of A). Every view shows this difference. `,
          el('button', { type: 'button', class: 'text-button', on: { click: () => view.choose({ a: b, b: a }) } }, 'swap (x)'),
          ' ',
          el('button', { type: 'button', class: 'text-button', on: { click: () => view.choose({ a: '', b: '' }) } }, 'clear'),
        ]
      : a
        ? `A ${named(a)}${data.profiles[index(a)]?.captured_at_ms ? ` (${when(data.profiles[index(a)].captured_at_ms)})` : ''}. Click a second profile to see the difference.`
        : 'Click a profile to see it; a second one gives the difference.',
  );
}
