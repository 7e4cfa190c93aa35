/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_table.js: the table of the buffers that live at the moment: paged, sorted and
 * filtered by the daemon. What is asked stands in the URL: step, filter, sort. */

import { el } from '../lib/dom.js';
import { count, unitOf } from '../lib/format.js';
import { isAbort, Problem } from '../lib/api.js';
import { createPanel, message } from '../widgets/panel.js';
import { createTable } from '../widgets/table.js';
import { pagedRows } from '../widgets/table_rows.js';
import { columnsOf, footOf } from './memory_viewer_columns.js';
import * as empty from './memory_viewer_empty.js';
import * as say from './memory_viewer_text.js';

const PAGE_ROWS = 100;
const USUAL_SORT = '-size';

/* view: {ask, space, records, context}; actions: onHover(row, mark), onLeave(), onPin(row).
 * Out: {panel, load(), hear(), mark(hover, pin), destroy()}. */
export function createBuffersTable(view, actions) {
  const panel = createPanel('panel-table', 'Buffers');
  const { context } = view;
  const table = createTable({
    kind: ['buffer', 'buffers'],
    ...actions,
    onSort: (sort) => context.choose({ sort: sort === USUAL_SORT ? '' : sort }),
  });
  panel.body.append(table.node);
  let asked = '';

  /* What the URL asks of the table. */
  const wanted = () => {
    const { filter, sort, step } = context.route;
    const { space } = view;
    const isStep = Number.isInteger(step) && step >= 0 && step < space.step_count;
    return {
      step: space.replay_error ? 'all' : isStep ? step : 'peak',
      sort: sort || USUAL_SORT,
      filter,
    };
  };

  const load = async () => {
    const { space, ask } = view;
    if (!space) return;
    const params = { space: space.space, ...wanted() };
    const key = JSON.stringify([params, ask.serial]);
    asked = key;
    const end = panel.wait('', null);
    try {
      const { data } = await ask('buffers', { ...params, limit: PAGE_ROWS });
      if (asked === key) draw(data, params, ask);
    } catch (error) {
      if (isAbort(error) || asked !== key) return;
      if (!(error instanceof Problem)) throw error;
      panel.say(message(empty.failed('The table', error)));
    } finally {
      end();
    }
  };

  function draw(data, params, ask) {
    const { space, records } = view;
    const unit = unitOf(data.largest_bytes);
    const where = whereText(data, space);
    const keep = (rows) => {
      records.add(rows);
      return rows;
    };
    panel.show();
    panel.setTitle('Buffers', el('span', { class: 'dim' }, ` ${where}`));
    table.show({
      source: pagedRows({
        count: data.matched_count,
        first: keep(data.rows),
        pageRows: PAGE_ROWS,
        ask: async (offset, limit, signal) =>
          keep((await ask('buffers', { ...params, offset, limit }, signal)).data.rows),
        onProblem: (error) => panel.say(message(empty.failed('The table', error))),
      }),
      columns: columnsOf(data.largest_bytes),
      sort: params.sort,
      foot: footOf(data, unit),
      label: `Buffers ${where}`,
    });
    if (data.total_count === 0) panel.say(message(empty.noBuffers()));
    actions.onDraw();
  }

  return {
    panel,
    load,
    /* Another step, filter or order. */
    hear() {
      if (view.space && JSON.stringify([{ space: view.space.space, ...wanted() }, view.ask.serial]) !== asked)
        return load();
      return null;
    },
    mark: table.mark,
    destroy: table.destroy,
  };
}

/* "at the peak · step 376" */
function whereText(data, space) {
  if (data.step === null) return 'of this memory space';
  if (space.step_unit === 'none') return 'at the peak';
  const at = `${say.unitWord(space)} ${count(data.step)}`;
  return data.step === space.peak_step ? `at the peak · ${at}` : `live at ${at}`;
}
