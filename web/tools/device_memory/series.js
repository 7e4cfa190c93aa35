/* SPDX-License-Identifier: Apache-2.0
 * series.js: several profiles in order: what each holds by call site, what grows, and the
 * choice of two of them to compare in every view. */

import { button, consume, el, fill } from '../../lib/dom.js';
import { sentenceParts } from '../../lib/finding.js';
import { count, counted, cutMiddle, percent, visible, when } from '../../lib/format.js';
import { token } from '../../lib/theme.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLegend } from '../../widgets/legend.js';
import { createPanel, message } from '../../widgets/panel.js';
import { SET_SIZE, setFill } from '../../widgets/sets.js';
import { sparkline } from '../../widgets/sparkline.js';
import { areApart, createStacked } from '../../widgets/stacked.js';
import { createTable } from '../../widgets/table.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { moved, pickProfile, seriesParams } from './state.js';
import { seriesColumns } from './columns.js';
import { createLoader } from './load.js';
import { rowsFrom } from './parts.js';
import * as empty from './empty.js';
import * as say from './text.js';

const PAGE_ROWS = 200;
const DEFAULT_SORT = '-growth';
const ORDERS = [
  ['name', 'order: name'],
  ['time', 'order: time taken'],
  ['hand', 'order: by hand'],
];

const MAX_BY_HAND = 100;

export function createSeries({ url, subject, store, lead }) {
  const series = { url, subject, store, data: null };
  const params = () => ({
    ...seriesParams(url.state, subject.session),
    base: [],
    sort: url.state.sort || DEFAULT_SORT,
  });
  series.legend = createLegend('Colours of the call sites');
  series.chart = createStacked({
    sentence: (at) => say.profileSentence(series.data, at),
    onHover: (at, mark) => showTooltip(`s:${at}`, say.profileLines(series.data, at), mark),
    onLeave: () => hideTooltip(),
    onPick: (at) => url.choose(pickProfile(url.state, series.data.profiles[at].id)),
  });
  series.order = createOrder({
    onOrder: (order) =>
      url.choose({
        order: order === 'name' ? '' : order,
        files: order === 'hand' ? series.data.profiles.map(({ id }) => id) : [],
      }),
    onMove: (from, to) =>
      url.choose({
        order: 'hand',
        files: moved(
          series.data.profiles.map(({ id }) => id),
          from,
          to,
        ),
      }),
    onPick: (at) => url.choose(pickProfile(url.state, series.data.profiles[at].id)),
  });
  series.panel = createPanel('panel-series', 'Live bytes of each profile', {
    menu: exportEntries({
      name: 'series',
      title: 'Live bytes of each profile, by call site',
      drawing: () => {
        const drawing = series.chart.drawing();
        return drawing
          ? { ...drawing, legend: legendOf(series).map(({ word, fill: colour }) => ({ word, colour })) }
          : null;
      },
      csv: () => subject.link('series', params()),
    }),
  });
  series.panel.setAside(series.legend.node, series.order.select);
  series.marksText = el('p', { class: 'series-marks', role: 'status' });
  series.left = el('div', { class: 'series-left' });
  series.panel.body.append(series.chart.node, series.marksText, series.order.list, series.left);
  series.table = createTable({
    kind: ['call site', 'call sites'],
    onHover: (row) => store.set({ hover: row.frame.id }),
    onLeave: () => store.set({ hover: null }),
    onPin: (row) => url.pin(row.frame.id),
    onSort: (sort) => url.choose({ sort: sort === DEFAULT_SORT ? '' : sort }),
  });
  series.sites = createPanel('panel-sites panel-table', 'Call sites');
  series.sites.body.append(series.table.node);
  series.loader = createLoader(subject, series.panel, { what: 'The series', sentence: 'all profiles' });
  return {
    node: el('div', { class: 'device-series' }, series.panel.node, series.sites.node),
    async show() {
      const data = await series.loader.load('series', params(), (found) => draw(series, found, params()));
      if (!data) return;
      mark(series);
      lead(data.finding && sentenceParts(data.finding));
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
  const { url, panel, sites } = series;
  series.data = data;
  sites.node.hidden = data.profiles.length < 2;
  fill(
    series.left,
    leftOutBy(data.left_out).map(([reason, names]) =>
      el(
        'p',
        { class: 'dim' },
        (names.length === 1
          ? `${names[0]} is left out: ${reason}`
          : `${names.join(', ')} are left out; for each: ${reason}`
        ).replace(/\.*$/, '.'),
      ),
    ),
  );
  if (data.profiles.length < 2) {
    panel.say([message(empty.onlyOneProfile()), series.left]);
    return;
  }
  panel.body.append(series.left);
  series.parts = partsOf(data);
  const times = url.state.order === 'time' ? data.profiles.map((profile) => profile.captured_at_ms) : null;
  const isToScale = times?.every((time) => time != null) && areApart(times);
  panel.setTitle(
    `Live ${say.isBytes(data.metric) ? 'bytes' : 'allocations'} ` +
      `${say.areMoments(data) ? 'at each moment' : 'of each profile'}`,
    el(
      'span',
      { class: 'dim' },
      ` 1 … ${count(data.profiles.length)}, by call site, growing ones at the ` +
        `bottom${isToScale ? '; each is as wide as the time to the next' : ''}`,
    ),
  );
  series.legend.set(legendOf(series));
  series.chart.draw({
    parts: series.parts,
    names: say.profileNames(data),
    times: isToScale ? times : null,
    isBytes: say.isBytes(data.metric),
    label: say.seriesLabel(data),
  });
  series.order.set(url.state.order, data.profiles);
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
    .slice(0, SET_SIZE)
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const parts = chosen.map((site, at) => ({
    word: say.siteName(site.frame, site.callee),
    values: site.values,
    fill: () => setFill(at),
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
  const { subject } = series;
  const rowsOf = ({ sites }) => sites.map((row, at) => ({ ...row, id: `${row.frame.id}:${row.callee ?? ''}:${at}` }));
  series.sites.setTitle('Call sites', el('span', { class: 'dim' }, ` ${say.verdictCounts(data.verdict_counts)}`));
  series.table.show({
    source: rowsFrom({ subject, panel: series.sites }, 'series', asked, {
      data,
      count: data.total_count,
      pageRows: PAGE_ROWS,
      rowsOf,
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
  const { url, data } = series;
  const index = (id) => (id ? data.profiles.findIndex((profile) => profile.id === id) : -1);
  const { a, b } = url.state;
  series.chart.mark({ a: index(a), b: index(b) });
  const named = (id) => cutMiddle(visible(data.profiles[index(id)]?.name ?? id), 40);
  const at = (id) => data.profiles[index(id)]?.total ?? 0;
  const word = say.areMoments(data) ? 'moment' : 'profile';
  fill(
    series.marksText,
    a && b
      ? [
          `A ${named(a)}, B ${named(b)}: `,
          el('strong', {}, say.changeWords(data.metric, at(b) - at(a))),
          ` (${percent(Math.abs(at(b) - at(a)), at(a))} of A). Every view shows this difference. `,
          button('text-button', () => url.choose({ a: b, b: a }), 'swap (x)'),
          ' ',
          button('text-button', () => url.choose({ a: '', b: '' }), 'clear'),
        ]
      : a
        ? `A ${named(a)}${
            data.profiles[index(a)]?.captured_at_ms ? ` ` + `(${when(data.profiles[index(a)].captured_at_ms)})` : ''
          }. Click a second ${word} to see the difference.`
        : `Click a ${word} to see it; a second one gives the difference.`,
  );
}

/* ---- the order of the profiles ------------------------------------------------------- */

/* By name, by the time they were taken, or by hand (drag, or Alt+↑ ↓ in the list). Out: {select, list, set(order,
   profiles)}. */
function createOrder({ onOrder, onMove, onPick }) {
  const select = el(
    'select',
    { class: 'device-choice', 'aria-label': 'Order of the profiles', on: { change: () => onOrder(select.value) } },
    ORDERS.map(([value, word]) => el('option', { value }, word)),
  );
  const list = el('ol', {
    class: 'order-list',
    'aria-label': 'Profiles in order; drag them, or Alt and arrow up or down',
  });
  let dragged = -1;
  let focusAt = -1;

  function moveBy(event, at, total) {
    const to = at + (event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : NaN);
    if (!event.altKey || !(to >= 0 && to < total)) return;
    consume(event);
    focusAt = to;
    onMove(at, to);
  }
  const row = (profile, at, total) =>
    el(
      'li',
      {
        class: 'order-row',
        draggable: 'true',
        on: {
          dragstart: (event) => {
            dragged = at;
            event.dataTransfer.effectAllowed = 'move';
            event.dataTransfer.setData('text/plain', profile.name);
          },
          dragover: (event) => dragged >= 0 && event.preventDefault(),
          drop: (event) => {
            consume(event);
            if (dragged >= 0 && dragged !== at) onMove(dragged, at);
            dragged = -1;
          },
          dragend: () => {
            dragged = -1;
          },
        },
      },
      button(
        'site-button',
        () => onPick(at),
        el('bdi', { dir: 'ltr', class: 'mono' }, cutMiddle(visible(profile.name), 40)),
        { on: { keydown: (event) => moveBy(event, at, total) } },
      ),
      profile.captured_at_ms ? el('span', { class: 'dim' }, ` ${when(profile.captured_at_ms)}`) : null,
    );
  return {
    select,
    list,
    set(order, profiles) {
      /* A link holds no more of them. */
      const isTooMany = profiles.length > MAX_BY_HAND;
      select.lastChild.disabled = isTooMany;
      select.title = isTooMany ? `By hand: up to ${MAX_BY_HAND} profiles` : '';
      select.value = order;
      list.hidden = order !== 'hand';
      fill(list, list.hidden ? [] : profiles.map((profile, at) => row(profile, at, profiles.length)));
      if (focusAt >= 0) list.children[focusAt]?.querySelector('button').focus();
      focusAt = -1;
    },
  };
}
