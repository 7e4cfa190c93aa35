/* SPDX-License-Identifier: Apache-2.0
 * chart.js: the rows of the table as columns: how high each program is and whose memory that is. Programs that are
 * alike in name and all figures are one column. Its own file: the table stands without it. */

import { el } from '../../lib/dom.js';
import { bytes, count, counted, percent, visible } from '../../lib/format.js';
import { moduleName } from '../../lib/module_names.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { createLegend } from '../../widgets/legend.js';
import { createPanel } from '../../widgets/panel.js';
import { createStacked } from '../../widgets/stacked.js';
import { hideTooltip, showTooltip } from '../../widgets/tooltip.js';
import { foldAlike, partsOf } from './fold.js';

const MOST = 40;
const SEEN = 1 / 200; // of all: a smaller part has no word in the legend

/* onOpen(row). Out: {node, show(data, hasHosts: a row for each host), destroy()}. */
export function createModulesChart(onOpen) {
  let columns = [];
  let parts = [];
  let names = [];
  let isOfHosts = false;
  const linesOf = (at) => {
    const { row, rows } = columns[at];
    const own = parts.filter(({ values }) => values[at] > 0).sort((a, b) => b.values[at] - a.values[at]);
    return [
      [isOfHosts ? `${visible(row.module)} on ${names[at]}` : names[at]],
      [
        `${bytes(row.total_bytes)} of ${visible(row.space_name)}${
          rows.length > 1 ? `, ${count(rows.length)} ` + `identical` : ''
        }`,
      ],
      ...own
        .slice(0, 4)
        .map(({ word, values }) => [`${word} ${bytes(values[at])}, ${percent(values[at], row.total_bytes)}`]),
    ];
  };
  const chart = createStacked({
    keys: 'Arrow keys move, Enter opens the program.',
    sentence: (at) => linesOf(at).flat().join(', '),
    onHover: (at, mark) => showTooltip(`m:${at}`, linesOf(at), mark),
    onLeave: hideTooltip,
    onPick: (at) => onOpen(columns[at].row),
  });
  const legend = createLegend('Colours of the categories');
  const panel = createPanel('panel-modules-chart', 'Memory of each module', {
    menu: exportEntries({
      name: 'modules-chart',
      title: 'Memory of each module',
      drawing: () => {
        const drawing = chart.drawing();
        return drawing ? { ...drawing, legend: parts.map(({ word, fill }) => ({ word, colour: fill() })) } : null;
      },
      table: () => ({
        columns: [{ key: 'module', title: 'Module' }, ...parts.map(({ word }) => ({ key: word, title: word }))],
        rows: columns.map((_, at) => ({
          module: names[at],
          ...Object.fromEntries(parts.map(({ word, values }) => [word, values[at]])),
        })),
      }),
    }),
  });
  panel.setAside(legend.node);
  panel.body.append(chart.node);
  panel.node.hidden = true;
  return {
    node: panel.node,
    /* data: of the table, in its order. */
    show(data, hasHosts) {
      isOfHosts = hasHosts;
      const known = data.rows.filter((row) => row.total_bytes > 0);
      const folded = isOfHosts ? known.map((row) => ({ row, rows: [row] })) : foldAlike(known);
      columns = folded.slice(0, MOST);
      panel.node.hidden = columns.length < 2;
      if (panel.node.hidden) return;
      const peers = columns.map(({ row }) => ({ name: row.module, key: row.key, file: row.file }));
      names = columns.map(({ row, rows }, at) => {
        if (isOfHosts) return visible(row.host_name ?? row.module);
        return rows.length > 1 ? `${visible(row.module)} × ${rows.length}` : visible(moduleName(peers[at], peers));
      });
      parts = partsOf(columns);
      const left = folded.length - columns.length + data.matched_count - data.rows.length;
      const alike = known.length - folded.length;
      const said = [
        alike ? `${counted(alike, 'identical module')} folded` : '',
        left > 0 ? `${count(left)} more in the table` : '',
      ].filter(Boolean);
      panel.setTitle(
        isOfHosts ? 'Memory of each module and host' : 'Memory of each module',
        el('span', { class: 'dim' }, said.length ? ` ${said.join(', ')}` : ''),
      );
      const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);
      const all = sumOf(parts.map(({ values }) => sumOf(values)));
      legend.set(
        parts.filter(({ values }) => sumOf(values) > SEEN * all).map(({ word, fill }) => ({ word, fill: fill() })),
      );
      chart.draw({
        parts,
        names,
        isBytes: true,
        label: `Memory of ${counted(columns.length, 'program')}, by category.`,
      });
    },
    destroy() {
      hideTooltip();
      chart.destroy();
    },
  };
}
