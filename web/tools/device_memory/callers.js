/* SPDX-License-Identifier: Apache-2.0
 * callers.js: one function in the middle, who called it at the left, what it called at the right, with what went each
 * way; below them two flame graphs: all its callers, and all that it called. A click moves the middle. Its own file:
 * each view has one. */

import { el, fill } from '../../lib/dom.js';
import { count, percent, visible } from '../../lib/format.js';
import { createPanel, message } from '../../widgets/panel.js';
import { frameWords, lighting, menuOf, neighbour } from './parts.js';
import { createLoader } from './load.js';
import { createSandwich } from './sandwich.js';
import * as empty from './empty.js';
import { figureOf, siteName, wholeWords } from './text.js';

export function createCallers({ url, subject, store, hint }) {
  let shown = null;
  const panel = createPanel('panel-callers', 'Callers and callees', {
    menu: menuOf(subject, { name: 'callers', title: 'Callers and callees', table: () => tableOf(shown) }),
  });
  const loader = createLoader(subject, panel, { what: 'Callers', sentence: 'callers' });
  const flames = createSandwich({ url, subject, store, hint });

  const item = (data, { total }, { frame, value }) => {
    const said = ` ${percent(Math.abs(value), Math.abs(total))}`;
    const share = Math.abs(value) / (Math.abs(total) || 1);
    return el(
      'li',
      { class: frame.id === store.state.hover ? 'is-hover' : null, 'data-frame': frame.id, on: lighting(store, frame) },
      neighbour({ frame, figure: figureOf(data, value), said, share }, () => url.pin(frame.id)),
    );
  };
  const side = (data, node, list, title, none) =>
    el(
      'section',
      { class: 'callers-side' },
      el(
        'h3',
        {},
        title,
        el('span', { class: 'dim' }, ` ${count(list.length)}${list.length ? ', shares of its total' : ''}`),
      ),
      list.length
        ? el(
            'ol',
            { class: 'neighbours' },
            list.map((each) => item(data, node, each)),
          )
        : el('p', { class: 'dim' }, none),
    );
  const draw = (data) => {
    shown = data;
    const node = data.nodes[0];
    if (!node) {
      panel.say(message(empty.noFrameChosen('then its callers are listed here.')));
      return;
    }
    fill(
      panel.body,
      el(
        'div',
        { class: 'callers' },
        side(data, node, node.callers, 'Callers', 'Nothing calls it: its stacks begin here.'),
        el(
          'section',
          { class: 'callers-middle' },
          el('h3', {}, frameWords(node.frame)),
          el('p', { class: 'dim callers-file' }, el('bdi', { dir: 'ltr' }, visible(node.frame.file))),
          el('p', {}, el('span', { class: 'figure strong' }, figureOf(data, node.total)), ' total'),
          el('p', { class: 'dim' }, `${percent(Math.abs(node.total), data.percent_base)} of ${wholeWords(data)}`),
          el('p', {}, el('span', { class: 'figure' }, figureOf(data, node.self)), ' self'),
        ),
        side(data, node, node.callees, 'Callees', 'It calls nothing that holds memory.'),
      ),
      flames.node,
    );
    flames.show(node.frame.id);
  };
  return {
    node: panel.node,
    async show() {
      const frame = store.state.pin;
      if (frame) await loader.load('callers', { frame }, draw);
      else await showLargest(subject, loader, panel, draw);
    },
    forget() {
      loader.forget();
      flames.forget();
    },
    light(hover) {
      flames.light(hover);
      for (const row of panel.body.querySelectorAll('[data-frame]'))
        row.classList.toggle('is-hover', row.dataset.frame === hover);
    },
    destroy: flames.destroy,
  };
}

/* With nothing pinned: the frame that holds most itself. */
async function showLargest(subject, loader, panel, draw) {
  await subject.summaryRead;
  const top = subject.summary?.top[0] ?? null;
  const frame = top?.frame.id ?? (await largest(subject));
  if (!frame) {
    loader.forget();
    panel.say(message(empty.noFrameChosen('then its callers are listed here.')));
    return;
  }
  await loader.load('callers', { frame }, draw);
}

async function largest(subject) {
  try {
    const { data } = await subject.ask('top', { sort: '-self', limit: 1 });
    return data.rows[0]?.frame.id ?? null;
  } catch {
    return null;
  }
}

function tableOf(data) {
  const rows = (data?.nodes ?? []).flatMap((node) => [
    ...node.callers.map((each) => ({ of: siteName(node.frame), side: 'caller', ...flat(each) })),
    ...node.callees.map((each) => ({ of: siteName(node.frame), side: 'callee', ...flat(each) })),
  ]);
  return {
    columns: [
      { key: 'of', title: 'Of' },
      { key: 'side', title: 'Side' },
      { key: 'name', title: 'Function' },
      { key: 'value', title: data?.metric.unit === 'bytes' ? 'Bytes' : 'Count' },
      { key: 'file', title: 'File', isSource: true },
    ],
    rows,
  };
}

const flat = ({ frame, value }) => ({ name: siteName(frame), value, file: frame.file });
