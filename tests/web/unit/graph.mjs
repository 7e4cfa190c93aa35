/* SPDX-License-Identifier: Apache-2.0
 * graph.mjs: what goes to Graphviz, and what comes back. */

import { boxHeat, boxScale, graphvizInput, readLayout } from '../../../web/widgets/graph_layout.js';

export function run({ test, equal, truth }) {
  test('boxes go to Graphviz by number, never by name', () => {
    const sent = graphvizInput(
      [
        { width: 144, height: 36, name: '"]; evil' },
        { width: 72, height: 36 },
      ],
      [{ from: 0, to: 1, share: 0.5, text: '38.15 MiB' }],
    );
    equal(
      sent.nodes.map((node) => node.name),
      ['n0', 'n1'],
    );
    equal(sent.nodes[0].attributes, { width: 2, height: 0.5 });
    equal([sent.edges[0].tail, sent.edges[0].head], ['n0', 'n1']);
    truth(!JSON.stringify(sent).includes('evil'), 'a name went out');
  });

  test('places come back in the order in which boxes were given, y downwards', () => {
    const layout = readLayout({
      bb: '0,0,200,100',
      objects: [
        { name: 'n1', pos: '50,20' },
        { name: 'n0', pos: '100,80' },
      ],
      edges: [{ id: 'e0', pos: 'e,60,40 90,60 80,55 70,50 65,45', lp: '75,52' }],
    });
    equal(layout.nodes, [
      { x: 100, y: 20 },
      { x: 50, y: 80 },
    ]);
    equal(layout.edges[0].points.length, 4);
    equal(
      [layout.edges[0].tip, layout.edges[0].label],
      [
        { x: 60, y: 60 },
        { x: 75, y: 48 },
      ],
    );
  });

  test('a box grows and warms with what is its own, and stays readable', () => {
    equal([boxScale(0), boxHeat(0)], [1, 0]);
    truth(boxScale(0.25) > 1 && boxScale(0.25) < boxScale(1) && boxScale(1) === boxScale(3), 'size');
    truth(boxHeat(0.25) < boxHeat(1) && boxHeat(1) < 1, 'colour');
  });
}
