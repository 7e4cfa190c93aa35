/* SPDX-License-Identifier: Apache-2.0
 * chart.js: jobs as lines over the calendar, or the modules or hosts of the one that is chosen, with whose memory each
 * of them takes. Its own file: two panels of one question. */

import { categoryFill, categoryWords } from '../../widgets/categories.js';
import { el } from '../../lib/dom.js';
import { bytes, count, cutMiddle, spokenBytes, visible, when } from '../../lib/format.js';
import { openLink } from '../../lib/route.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLegend } from '../../widgets/legend.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createStacked } from '../../widgets/stacked.js';
import { createTimeLines, lineStyle, pointsOf } from '../../widgets/time_lines.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { token } from '../../lib/theme.js';
import { pointLines } from './columns.js';
import * as empty from './empty.js';
import { columnsOf, limitsOf, lineOf, LINES_OF, NAME_MAX, named, REST, stackOf } from './lines.js';
import { hrefOf } from './state.js';

const METRICS = [
  ['needed', 'what it needs'],
  ['peak', 'peak live'],
  ['share', 'share of capacity'],
];

/* view: of page.js. Out: {node, draw(chart, state, linesOf), destroy()}. */
export function createFleetChart(view) {
  const { context } = view;
  let shown = { lines: [], metric: 'needed' };
  const lineAt = (point) => shown.lines[point.line];
  const lines = createTimeLines({
    sentence: (point) => pointLines(lineAt(point), point.point, shown.metric).join('. '),
    onHover: (point, mark) =>
      showTooltip(`f:${point.line}:${point.point}`, pointLines(lineAt(point), point.point, shown.metric), mark),
    onLeave: () => hideTooltip(),
    onPick(point) {
      const href = hrefOf(lineAt(point).references[point.point], lineAt(point).kind, context);
      if (href) openLink(href);
      else context.say('This point comes from a file that this daemon does not watch');
    },
  });
  const legend = createLegend('Lines');
  const metric = el(
    'select',
    {
      class: 'group-choice',
      'aria-label': 'What is drawn',
      on: { change: () => view.choose({ metric: metric.value === 'needed' ? '' : metric.value }) },
    },
    METRICS.map(([value, word]) => el('option', { value }, word)),
  );
  const panel = createPanel('panel-fleet', 'Jobs over time', {
    menu: exportEntries({
      name: 'fleet',
      title: () => panel.node.querySelector('h2').textContent,
      drawing: () =>
        lines.drawing()
          ? { ...lines.drawing(), legend: entriesOf(shown).map(({ word, fill }) => ({ word, colour: fill })) }
          : null,
      csv: () => view.csv('points', {}),
    }),
  });
  panel.setAside(legend.node, metric);
  panel.body.append(lines.node);
  const categories = createCategories(view);
  return {
    nodes: [panel.node, categories.node],
    draw(chart, state, linesOf) {
      shown = { lines: named(chart.lines, linesOf), metric: state.metric, linesOf };
      metric.value = state.metric;
      const more =
        chart.line_count > chart.lines.length
          ? ` ${count(chart.lines.length)} of ${count(chart.line_count)}, those that need most`
          : '';
      panel.setTitle(`${LINES_OF[linesOf]} over time`, el('span', { class: 'dim' }, more));
      legend.set(entriesOf(shown, (line) => view.onlyJob(line.job)));
      const drawn = shown.lines.map((line) => lineOf(line, state.metric));
      if (pointsOf(drawn).length > 0) panel.show();
      else panel.say(message(empty.noPoints(shown.lines, state.metric)));
      lines.draw({
        lines: drawn,
        limits: limitsOf(shown.lines, state.metric),
        isShare: state.metric === 'share',
        label: labelOf(shown),
      });
      categories.draw(shown.lines, linesOf);
    },
    destroy() {
      lines.destroy();
      categories.destroy();
    },
  };
}

const entriesOf = ({ lines, linesOf }, onLine = null) =>
  lines.map((line, at) => ({
    word: cutMiddle(line.name, NAME_MAX),
    title: `${line.name}: ${visible(line.trend_sentence)}`,
    fill: lineStyle(at).fill(),
    onClick: onLine && linesOf === 'job' ? () => onLine(line) : null,
  }));

function labelOf({ lines, linesOf }) {
  const steps = lines.reduce((sum, { steps: own }) => sum + own.length, 0);
  const largest = lines[0] ? ` Largest: ${lines[0].name}, ${spokenBytes(lines[0].needed_bytes.at(-1))}.` : '';
  return `${LINES_OF[linesOf]} over time: ${count(lines.length)} lines, ${count(steps)} steps.${largest}`;
}

/* ---- whose memory each commit, job or host takes ---------------------------------------- */

const wordOf = (category) => (category === REST ? 'not live at the peak' : categoryWords(category));
const fillOf = (category) => (category === REST ? token('line') : categoryFill(category));

const BY = { job: 'by job', module: 'by commit', host: 'by host' };

function createCategories(view) {
  let columns = null;
  let stack = [];
  const wordsAt = (at) => {
    const parts = stack.map(({ category, bytes: all }) => [category, all[at] ?? 0]).sort((a, b) => b[1] - a[1]);
    return [
      `${visible(columns.names[at] ?? 'no commit')}, ${when(columns.at_ms[at])}`,
      bytes(columns.needed_bytes[at]),
      parts
        .slice(0, 3)
        .map(([category, own]) => `${wordOf(category)} ${bytes(own)}`)
        .join(', '),
    ];
  };
  const chart = createStacked({
    sentence: (at) => wordsAt(at).join('. '),
    onHover: (at, mark) => showTooltip(`fc:${at}`, wordsAt(at), mark),
    onLeave: () => hideTooltip(),
    onPick(at) {
      const href = hrefOf(columns.references[at], columns.kinds[at], view.context);
      if (href) openLink(href);
    },
  });
  const legend = createLegend('Whose memory');
  const panel = createPanel('panel-fleet-categories', 'Whose memory it is', {
    menu: exportEntries({
      name: 'fleet-categories',
      title: () => panel.node.querySelector('h2').textContent,
      drawing: () =>
        chart.drawing()
          ? {
              ...chart.drawing(),
              legend: stack.map(({ category }) => ({ word: wordOf(category), colour: fillOf(category) })),
            }
          : null,
      csv: () => view.csv('points', {}),
    }),
  });
  panel.setAside(legend.node);
  panel.body.append(chart.node);
  return {
    node: panel.node,
    /* Of one job alone: of its module that needs most, or of its hosts. */
    draw(lines, linesOf) {
      columns = lines.length > 0 ? columnsOf(lines, linesOf) : null;
      stack = columns ? stackOf(columns) : [];
      panel.node.hidden = stack.length === 0;
      if (panel.node.hidden) return;
      const subject = linesOf === 'module' ? lines[0].name : 'the last commit';
      panel.setTitle('Whose memory it is', el('span', { class: 'dim' }, ` at the peak of ${subject}, ${BY[linesOf]}`));
      legend.set(stack.map(({ category }) => ({ word: wordOf(category), fill: fillOf(category) })));
      chart.draw({
        parts: stack.map(({ category, bytes: all }) => ({
          fill: () => fillOf(category),
          values: all.map((each) => each ?? 0),
        })),
        names: columns.names.map((each) => visible(each ?? '–')),
        isBytes: true,
        label: `Whose memory ${subject} takes, ${BY[linesOf]}: ${count(columns.names.length)} columns.`,
      });
    },
    destroy: chart.destroy,
  };
}
