/* SPDX-License-Identifier: Apache-2.0
 * programs.js: two programs, moments or memory spaces: the way from A to B by category, both curves, the buffers.
 * Its own file: page.js has this or profiles.js in it. */

import { el } from '../../lib/dom.js';
import { isWithoutPaths } from '../../lib/subject.js';
import { columnsOf } from './columns.js';
import { createCurves } from './curves.js';
import { detailsOf } from './details.js';
import { createTableOfPairs } from './table.js';
import * as say from './text.js';
import { createWaterfall } from './waterfall.js';

const TABLE = {
  title: 'Buffers',
  placeholder: 'filter, e.g. >64MiB cat:saved_activation ( / )',
  views: { groups: 'compare/groups', members: 'compare/buffers' },
  columnsOf,
  params: ({ align }) => ({ align: align === 'position' ? 'position' : 'scope' }),
  noneText: 'No buffer at this moment is in this state.',
  csvParams: () => ({ paths: isWithoutPaths() ? 'without' : '' }),
  memberParams: ({ align }) => ({ align }),
  idOf: (row, at) => `${row.a_id ?? row.a_name ?? ''}/${row.b_id ?? row.b_name ?? ''}/${at}`,
  membersOf: ({ count }) => count,
};

/* view: {sides, data, controller} of page.js; choose(patch); showWhole(). Out: a part, see page.js. */
export function createPrograms({ context, view, ask, choose, other, showWhole }) {
  const waterfall = createWaterfall({
    onPart: ({ category }) => choose({ filter: say.toggledCategory(context.route.filter, category) }),
    isLit: ({ category }, filter) => category !== '' && category === say.categoryOf(filter),
  });
  const curves = createCurves({
    context,
    ask: (name, params) => ask(`compare/${name}`, params),
    onCompareSteps: (steps) => choose({ ...say.sidesAt(view.sides, view.data, steps), ...other }),
  });
  const table = createTableOfPairs({
    context,
    ask,
    about: TABLE,
    sides: () => view.sides,
    onSpans: (spans) => curves.showSpans(spans),
    onShow: (row, isPinned) =>
      row ? context.details.show({ ...detailsOf(row, view, context), isPinned }) : showWhole(),
  });
  return {
    node: el(
      'div',
      { class: 'compare-part' },
      el('div', { class: 'compare-charts' }, waterfall.node, curves.node),
      table.node,
    ),
    summary: 'compare/summary',
    load: (route) => Promise.all([curves.load(route), table.load(route)]),
    show(data, route) {
      waterfall.show(data, route.filter);
      table.count(data.counts, data.pair_count);
    },
    shareWords: say.matchedSentence,
    wholeParts: say.wholeParts,
    hear(route) {
      waterfall.light(route.filter);
      return Promise.all([curves.hear(route), table.hear(route)]);
    },
    focusFilter: table.focusFilter,
    letGo: table.letGo,
    destroy() {
      waterfall.destroy();
      curves.destroy();
      table.destroy();
    },
  };
}
