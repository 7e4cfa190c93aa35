/* SPDX-License-Identifier: Apache-2.0
 * apart.mjs: names that are alike are cut where they are equal. */

import { cutAround, differences } from '../../../web/lib/apart.js';
import { splitName } from '../../../web/lib/format.js';
import { moduleName } from '../../../web/lib/module_names.js';

const cutAt = (names) => names.map((text) => text.slice(...(differences(names).get(text) ?? [0, 0])));

export function run({ test, equal }) {
  test('names of one end differ where their words do', () => {
    equal(cutAt(["state[{i}][{i}].mu['layers'][{i}]['w{i}']", "state[{i}][{i}].nu['layers'][{i}]['w{i}']"]), [
      'mu',
      'nu',
    ]);
    equal(cutAt(['decoder/layer_1/attention/logits', 'decoder/layer_12/attention/logits']), ['layer_1', 'layer_12']);
    equal(cutAt(['alpha/a_long_end', 'beta/a_long_end']), ['alpha', 'beta']);
  });

  test('names whose ends differ, and equal ones, are cut as any other', () => {
    equal(cutAt(['jit_train_step(14411077456068)', 'jit_train_step(3311706747334)', 'jit_step']), ['', '', '']);
    equal([...differences(['the same name', 'the same name']).keys()], []);
  });

  test('a name that is cut to few letters keeps what tells it apart', () => {
    const names = ['fusion.1498.remat3', 'fusion.1499.remat3', 'fusion.1500.remat3'];
    const spans = differences(names, 0);
    equal(
      names.map((each) => cutAround(each, 9, spans.get(each))),
      ['…on.1498…', '…on.1499…', '…on.1500…'],
    );
    equal(cutAround('fusion.1498.remat3', 5, [7, 11]), 'fus…3', 'no room for it');
    equal(cutAround('copy.1', 9, [5, 6]), 'copy.1');
    equal(cutAround('jit_step.12', 6, [9, 11]), '…ep.12');
  });

  test('what tells names apart stays where there is no room; what is in the end stays anyway', () => {
    const name = "state[{i}][{i}].mu['layers'][{i}]['w{i}']";
    const parts = splitName(name, [16, 18]);
    equal(parts, ['state[{i}][{i}].', 'mu', "['layers'][{i", "}]['w{i}']"]);
    equal(parts.join(''), name);
    equal(
      splitName('jit(step)/model/layer_7/attention/dot_general', [36, 45]),
      splitName('jit(step)/model/layer_7/attention/dot_general'),
    );
  });

  test('programs of one name have the number of their file, else their id', () => {
    const of = (name, number) => ({
      name,
      key: name,
      file: `dump/module_${number}.${name}.after_optimizations.hlo.pb`,
    });
    const dump = [of('jit_step', '0157'), of('jit_step', '0163'), of('jit_eval', '0170')];
    equal(
      dump.map((module) => moduleName(module, dump)),
      ['jit_step #0157', 'jit_step #0163', 'jit_eval'],
    );
    const trace = [
      { name: 'jit_step', key: 'jit_step(8731)' },
      { name: 'jit_step', key: 'jit_step(9)' },
    ];
    equal(
      trace.map((module) => moduleName(module, trace)),
      ['jit_step(8731)', 'jit_step(9)'],
    );
    equal(moduleName(trace[0], [trace[0], trace[0]]), 'jit_step', 'one program on two hosts');
  });
}
