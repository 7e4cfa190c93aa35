/* SPDX-License-Identifier: Apache-2.0
 * graph_worker.js: Graphviz beside the page. In: {id, graph} (graph_layout.js writes it, without
 * a name out of a file). Out: {id, layout} or {id, error}. The answer that carries this file alone
 * allows WebAssembly (server/pages.c).
 * Its own file: a worker, and the one file that may run WebAssembly. */

import { instance } from '../vendor/viz.js';

const ready = instance();

self.addEventListener('message', async ({ data: { id, graph } }) => {
  try {
    const viz = await ready;
    self.postMessage({ id, layout: JSON.parse(viz.renderString(graph, { format: 'json0' })) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
});
