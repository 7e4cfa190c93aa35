/* SPDX-License-Identifier: Apache-2.0
 * graph.js: the call graph: functions as boxes, calls as arrows, trimmed by the daemon
 * and laid out in a worker that is loaded only now; beside it the same functions as a list. */

import { isAbort } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { counted, percent, visible } from '../../lib/format.js';
import { boxSize, createGraph as createPicture, paintGraph } from '../../widgets/graph.js';
import { layOutGraph, stopLayout } from '../../widgets/graph_layout.js';
import { createPanel, message } from '../../widgets/panel.js';
import { hideTooltip } from '../../widgets/tooltip.js';
import { openFrameMenu } from './acts.js';
import { countFilters } from './state.js';
import { lighting, menuOf, neighbour } from './parts.js';
import { createLoader } from './load.js';
import * as empty from './empty.js';
import * as say from './text.js';

export function createGraph({ url, subject, store, hint }) {
  const state = { url, subject, store, data: null, nodes: [], edges: [] };
  state.panel = createPanel('panel-graph', 'Call graph', {
    menu: menuOf(subject, {
      name: 'graph',
      title: 'Call graph',
      drawing: () =>
        state.graph.layout && {
          ...state.graph.size,
          paint: (context) => paintGraph(context, state.nodes, state.edges, state.graph.layout),
        },
      table: () => tableOf(state.data),
    }),
  });
  state.graph = createPicture({
    onPick: (id) => id && url.pin(id === store.state.pin ? null : id),
    onHover: (id) => store.set({ hover: id }),
    onLeave: () => store.set({ hover: null }),
    onMenu(id, place) {
      const { frame } = state.data.nodes.find((node) => node.frame.id === id);
      openFrameMenu(url, frame, say.siteName(frame), place);
    },
    onHint: () => hint('Click the graph or hold Ctrl to zoom'),
  });
  state.said = el('p', { class: 'graph-said', role: 'status' });
  state.list = el('ol', { class: 'graph-list', 'aria-label': 'Functions of the call graph' });
  state.panel.body.append(state.said, el('div', { class: 'graph-body' }, state.graph.node, state.list));
  state.loader = createLoader(subject, state.panel, { what: 'The call graph', sentence: 'the call graph' });
  return {
    node: state.panel.node,
    async show() {
      const data = await state.loader.load('graph', {}, () => {});
      if (data && data !== state.data) await draw(state, data);
      light(state);
    },
    forget() {
      state.loader.forget();
      state.data = null;
      stopLayout();
    },
    light: () => light(state),
    zoomBy: state.graph.zoomBy,
    panBy: state.graph.panBy,
    showAll: state.graph.fit,
    showPin: () => store.state.pin && state.graph.centre(store.state.pin),
    destroy() {
      hideTooltip();
      stopLayout();
    },
  };
}

/* The lines in a box: name, place, self, total. */
function linesOf(data, { frame, self, total }) {
  const { percent_base: base } = data;
  const share = (value) => percent(Math.abs(value), base);
  const place = say.placeText(frame);
  return [
    frame.function || frame.name,
    frame.function ? place : '',
    self !== 0 ? `self ${say.figureOf(data, self)} (${share(self)})` : '',
    `total ${say.figureOf(data, total)} (${share(total)})`,
  ].filter(Boolean);
}

const growth = (data, value) => (data.is_diff ? (value > 0 ? 'is-grown' : value < 0 ? 'is-shrunk' : '') : '');

async function draw(state, data) {
  const { url, subject, panel, said } = state;
  state.data = data;
  const base = Math.abs(data.percent_base) || 1;
  const index = new Map(data.nodes.map(({ frame }, at) => [frame.id, at]));
  state.nodes = data.nodes.map((node) => ({
    id: node.frame.id,
    lines: linesOf(data, node),
    share: Math.abs(node.total) / base,
    own: Math.abs(node.self) / base,
    className: growth(data, node.total),
    title: visible(`${node.frame.name}\n${node.frame.file}`),
  }));
  state.edges = data.edges
    .filter(({ from, to }) => index.has(from) && index.has(to))
    .map((edge) => ({
      from: index.get(edge.from),
      to: index.get(edge.to),
      share: Math.abs(edge.value) / base,
      text: say.figureOf(data, edge.value),
      isDashed: edge.is_residual,
      className: growth(data, edge.value),
    }));
  panel.setTitle(
    'Call graph',
    el(
      'span',
      { class: 'dim' },
      ` ${counted(data.nodes.length, 'function')}, shares of ${say.wholeWords(data, 'all')}`,
    ),
  );
  const byTotal = [...data.nodes].sort((a, b) => Math.abs(b.total) - Math.abs(a.total));
  fill(
    state.list,
    byTotal.map((node) => listRow(state, data, node)),
  );
  if (data.nodes.length === 0) {
    panel.say(
      message(
        countFilters(url.state)
          ? empty.noMatch(countFilters(url.state), say.faultsOf(subject.summary))
          : empty.noStacks(),
      ),
    );
    return;
  }
  const words = say.trimSentence(data);
  fill(said, `Laying out ${words}.`);
  try {
    const layout = await layOutGraph(state.nodes.map(boxSize), state.edges);
    if (state.data !== data) return;
    state.graph.draw(state.nodes, state.edges, layout, `Call graph of ${words}.`);
    fill(
      said,
      `${words[0].toUpperCase()}${words.slice(1)}. Size and colour show what is its own. Drag pans, the wheel zooms ` +
        `after a click, 0 shows all.`,
    );
  } catch (error) {
    if (isAbort(error) || state.data !== data) return;
    fill(said, message(empty.graphFailed(error.message)));
  }
}

function listRow({ url, store }, data, { frame, self, total }) {
  const said = ` self ${say.figureOf(data, self)}`;
  const share = Math.abs(total) / (Math.abs(data.percent_base) || 1);
  return el(
    'li',
    { 'data-id': frame.id, on: lighting(store, frame) },
    neighbour({ frame, figure: say.figureOf(data, total), said, share }, () =>
      url.pin(frame.id === store.state.pin ? null : frame.id),
    ),
  );
}

function light({ store, graph, list }) {
  const { hover, pin } = store.state;
  graph.mark({ hover, pin });
  for (const row of list.children) {
    row.classList.toggle('is-hover', row.dataset.id === hover);
    row.classList.toggle('is-pinned', row.dataset.id === pin);
  }
}

function tableOf(data) {
  return {
    columns: [
      { key: 'name', title: 'Function' },
      { key: 'self', title: `Self, ${data?.metric.unit}` },
      { key: 'total', title: `Total, ${data?.metric.unit}` },
      { key: 'file', title: 'File', isSource: true },
    ],
    rows: (data?.nodes ?? []).map(({ frame, self, total }) => ({
      name: say.siteName(frame),
      self,
      total,
      file: frame.file,
    })),
  };
}
