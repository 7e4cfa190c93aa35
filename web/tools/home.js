/* SPDX-License-Identifier: Apache-2.0
 * home.js: what was found under the watched folders, what could not be read, and why. */

import { get, isAbort } from '../lib/api.js';
import { el, figure, fill, nameInline, prose } from '../lib/dom.js';
import { ago, bytes, count, counted, visible } from '../lib/format.js';
import { listSessions } from '../lib/selection.js';
import { message } from '../widgets/panel.js';
import { foundText } from './home_found.js';
import { fillRows, sessionRow, sessionTable } from './home_rows.js';
import * as say from './home_text.js';

const ASK_AFTER_MS = 300;
const SORTS = [
  ['newest', 'newest'],
  ['name', 'name'],
  ['largest', 'largest on disk'],
];

function nodesOf(parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.name !== undefined) return nameInline(part.name, 60);
    return figure(part.bytes, part.text ?? bytes(part.bytes), part.role ?? '');
  });
}

function notRead(list) {
  if (list.not_read.length === 0) return null;
  return el(
    'details',
    { class: 'not-read', open: list.not_read.length <= 5 },
    el('summary', {}, say.notReadTitle(list.not_read)),
    el(
      'ul',
      {},
      list.not_read.map((entry) =>
        el(
          'li',
          {},
          nameInline(entry.file, 120),
          ': ',
          visible(entry.reason || entry.code),
          entry.offset_bytes === null || entry.offset_bytes === undefined
            ? ''
            : `, at byte ${count(entry.offset_bytes)}`,
          '.',
        ),
      ),
    ),
  );
}

function watched(about, lookAgain) {
  const roots = about.roots.filter((root) => root.readable);
  return el(
    'p',
    { class: 'dim watched' },
    'Watched: ',
    roots.length === 0 ? 'no folder that can be read' : null,
    roots.map((root, at) => [
      at ? '; ' : '',
      nameInline(root.path, 100),
      `, ${counted(root.file_count, 'file')}, last looked ${ago(root.last_scan_ms)}`,
    ]),
    ' ',
    el('button', { type: 'button', class: 'text-button', on: { click: lookAgain } }, 'Look now'),
  );
}

function intakeZone(context) {
  return el(
    'div',
    { class: 'intake' },
    el('span', {}, 'Drop a file or paste an error text: memory.prof · log · error text'),
    el('button', { type: 'button', class: 'text-button', 'aria-haspopup': 'dialog', on: { click: context.takeIn } }, 'Paste or choose'),
  );
}

/* Filter and order. Out: {node, set(route)}. */
function createTools(context) {
  const input = el('input', {
    type: 'search',
    class: 'home-filter',
    placeholder: 'filter by name',
    'aria-label': 'Filter sessions by name',
    spellcheck: 'false',
  });
  const select = el(
    'select',
    { class: 'home-sort', on: { change: () => context.choose({ sort: select.value === 'newest' ? '' : select.value, tool: 'home', session: '' }) } },
    SORTS.map(([value, word]) => el('option', { value }, word)),
  );
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => context.setFilter(input.value.trim()), ASK_AFTER_MS);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || input.value === '') return;
    event.preventDefault();
    input.value = '';
    context.setFilter('');
  });
  context.bind([{ keys: ['/'], does: 'to the filter', run: () => input.focus() }]);
  return {
    node: el('div', { class: 'home-tools', hidden: true }, input, el('label', {}, 'sort: ', select)),
    stop: () => clearTimeout(timer),
    set({ filter, sort }) {
      if (document.activeElement !== input) input.value = filter;
      select.value = SORTS.some(([value]) => value === sort) ? sort : 'newest';
    },
  };
}

/* context: {link(session, patch), setFilter(text), choose(patch), setTitle(text), bind(rows), takeIn(),
 * verdictOf(session) → patch of the link that says why}. */
export function mount(root, context) {
  const title = el('h1', { class: 'answer home-answer' });
  const aside = el('p', { class: 'home-tally' });
  const news = el('div', { role: 'status' });
  const tools = createTools(context);
  const body = el('div', { class: 'home-body' });
  root.replaceChildren(
    el('div', { class: 'home' }, el('div', { class: 'home-head' }, title, aside), news, intakeZone(context), tools.node, body),
  );
  let controller = null;
  let route = null;
  let shown = null;

  const sort = () => (SORTS.some(([value]) => value === route.sort) ? route.sort : 'newest');
  const isPlain = () => route.filter === '' && sort() === 'newest';

  function sayAnswer(list, rows) {
    const newest = rows[0];
    const over = rows.filter((row) => row.worst?.word === 'over').length;
    fill(aside, isPlain() || over ? say.tally(list, over) : '');
    if (!newest || !isPlain()) {
      fill(title, nodesOf(say.listParts(list, sort())));
      return;
    }
    const kind = foundText(newest.session).split(',')[0];
    const isOver = newest.worst?.word === 'over';
    fill(
      title,
      nodesOf(say.newestParts(newest.session, kind, newest.worst)),
      ' ',
      el('a', { href: context.link(newest.session.id, isOver ? context.verdictOf(newest.session) : {}) }, isOver ? 'See why' : 'Open'),
    );
  }

  function draw(list, about) {
    const rows = list.sessions.map((session) => sessionRow(session, context.link(session.id)));
    const broken = about.roots.filter((each) => !each.readable);
    const isEmpty = list.total === 0;
    context.setTitle(`${isEmpty ? 'no profiles' : counted(list.total, 'session')} – memviewd`);
    if (isEmpty) {
      fill(aside);
      fill(title, broken.length && broken.length === about.roots.length ? 'Nothing can be read.' : `No profiles under ${say.short(say.rootsText(about))}.`);
    } else sayAnswer(list, rows);
    tools.node.hidden = list.total < 2 && isPlain();
    fill(
      body,
      broken.map((each) => message(say.unreadableRoot(each))),
      isEmpty && broken.length < Math.max(1, about.roots.length) ? message(say.emptyMessage(about)) : null,
      !isEmpty && list.matched === 0
        ? message({ title: `No session matches "${visible(route.filter)}".`, text: 'Clear the field to see all.' })
        : null,
      list.sessions.length
        ? el('div', { class: 'panel', tabindex: '0', role: 'region', 'aria-label': 'What was found' }, sessionTable(list, rows))
        : null,
      notRead(list),
      watched(about, load),
    );
    return rows;
  }

  async function load() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      const [list, about] = await Promise.all([listSessions(route.filter, signal, sort()), get('about', {}, { signal })]);
      const rows = draw(list, about);
      shown = list;
      fill(news);
      fillRows(rows, signal, () => sayAnswer(list, rows));
    } catch (error) {
      if (isAbort(error) || error.code === 'gone') return;
      fill(title, 'The list of sessions could not be read.');
      fill(body, message({ kind: 'error', title: '', text: error.message }));
    }
  }

  return {
    show(selection, next) {
      route = next;
      tools.set(next);
      return load();
    },
    hear(next) {
      return this.show(null, next);
    },
    /* The list never shifts under the pointer: a line says that there is more. */
    async filesChanged() {
      const now = await listSessions(route.filter, null, sort()).catch(() => null);
      const text = now && shown ? say.newsText(shown, now) : '';
      if (!text) return;
      fill(
        news,
        el(
          'p',
          { class: 'banner' },
          el('span', { class: 'banner-text' }, prose(`${text} · `)),
          el('button', { type: 'button', class: 'text-button', on: { click: load } }, 'Show'),
        ),
      );
    },
    unmount() {
      controller?.abort();
      tools.stop();
    },
  };
}
