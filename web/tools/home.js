/* SPDX-License-Identifier: Apache-2.0
 * home.js: what was found under the watched folders, what could not be read, and why. */

import { get, isAbort } from '../lib/api.js';
import { el, fill, name, nameInline, prose } from '../lib/dom.js';
import { ago, bytes, count, counted, cutMiddle, visible, when } from '../lib/format.js';
import { listSessions } from '../lib/selection.js';
import { message } from '../widgets/panel.js';
import { fillLargest, largestCells } from './home_largest.js';

const ASK_AFTER_MS = 300;
const FILTER_FROM = 8;
const KINDS = { trace: 'trace', dump: 'XLA dump', hlo: 'HLO protos' };

const roots = (about) =>
  about.roots.map((root) => visible(root.path)).join(', ') || 'the files given at start';

/* Pure: what a session holds, in words. */
export function foundText(session) {
  const words = [KINDS[session.kind] ?? session.kind];
  if (session.module_count === null) words.push('not read yet');
  else if (session.module_count === 0) words.push('no program');
  else words.push(counted(session.module_count, 'module'));
  if (session.has_error_text) words.push('error text');
  return words.join(', ');
}

/* Pure: the sentence at the top. */
export function headline(list, about) {
  if (list.total === 0) return `No profiles under ${cutMiddle(roots(about), 80)}.`;
  const newest = list.sessions[0];
  if (list.matched < list.total || !newest)
    return `${count(list.matched)} of ${counted(list.total, 'session')}.`;
  const time = newest.modified_at_ms ? `, ${when(newest.modified_at_ms)}` : '';
  return `${counted(list.total, 'session')}; newest: ${cutMiddle(visible(newest.name), 60)}${time}.`;
}

/* Pure: the message for folders without a profile. */
export function emptyMessage(about) {
  const root = about.roots[0];
  const path = root ? visible(root.path).replaceAll('`', '\u02cb') : '/tmp/xprof';
  const files = about.roots.reduce((sum, each) => sum + each.file_count, 0);
  const depth = about.roots.reduce((most, each) => Math.max(most, each.depth), 0);
  return {
    title: `No profiles under ${roots(about)}.`,
    text:
      `Looked at ${counted(files, 'file')}, ${counted(depth, 'level')} deep; none is a trace, dump or HLO proto. ` +
      `Record one with \`jax.profiler.trace("${path}")\`; it appears here without a restart. Or open a file directly: \`memviewd FILE_OR_DIR\`.`,
  };
}

/* Pure: the message for a folder that cannot be read. */
export function unreadableRoot(root) {
  return {
    kind: 'error',
    title: `Cannot read ${visible(root.path)}: ${visible(root.reason || 'no reason was given')}.`,
    text: 'Give the user of the daemon read access, or start it with another `--logdir`.',
  };
}

/* {session, node, cells, onTotal}: what is not read yet is filled in later. */
function sessionRow(session, context) {
  const hosts = session.host_count ?? session.hosts?.length ?? 0;
  const cells = largestCells();
  const found = el('td', { class: 'h-found' }, foundText(session));
  const onTotal = (total) => fill(found, foundText({ ...session, module_count: total }));
  const node = el(
    'tr',
    {},
    el('td', { class: 'h-when' }, when(session.modified_at_ms)),
    el('td', { class: 'h-name' }, el('a', { href: context.link(session.id) }, name(session.name))),
    found,
    el('td', { class: 'h-hosts' }, hosts > 0 ? count(hosts) : '–'),
    el('td', { class: 'h-size' }, bytes(session.size_bytes)),
    cells.largest,
    cells.verdict,
  );
  return { session, node, cells, onTotal };
}

function sessionTable(list, rows) {
  const titles = [
    ['When', 'h-when'],
    ['Session', 'h-name'],
    ['Found', 'h-found'],
    ['Hosts', 'h-hosts'],
    ['On disk', 'h-size'],
    ['Largest, GiB', 'h-largest'],
    ['Verdict', 'h-verdict'],
  ];
  const rest = list.matched - list.sessions.length;
  return el(
    'table',
    { class: 'grid home-grid' },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        titles.map(([title, className]) => el('th', { scope: 'col', class: className }, title)),
      ),
    ),
    el(
      'tbody',
      {},
      rows.map((row) => row.node),
    ),
    rest > 0
      ? el(
          'tfoot',
          {},
          el(
            'tr',
            {},
            el(
              'td',
              { colspan: 7 },
              `${count(list.sessions.length)} of ${count(list.matched)} sessions; the filter narrows the list.`,
            ),
          ),
        )
      : null,
  );
}

function notRead(list) {
  if (list.not_read.length === 0) return null;
  return el(
    'details',
    { class: 'not-read', open: list.not_read.length <= 5 },
    el('summary', {}, `Not read: ${counted(list.not_read.length, 'file')}`),
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

function watched(about) {
  return el(
    'p',
    { class: 'dim watched' },
    'Watched: ',
    about.roots
      .filter((root) => root.readable)
      .map((root, at) => [
        at ? '; ' : '',
        nameInline(root.path, 100),
        `, ${counted(root.file_count, 'file')}, last looked ${ago(root.last_scan_ms)}`,
      ])
      .flat(),
  );
}

/* context: {link(session), setFilter(text), setTitle(text)}. */
export function mount(root, context) {
  const title = el('h1', { class: 'answer' });
  const news = el('div', { role: 'status' });
  const input = el('input', {
    type: 'search',
    class: 'home-filter',
    placeholder: 'filter by name',
    'aria-label': 'Filter sessions by name',
    spellcheck: 'false',
  });
  const tools = el('div', { class: 'home-tools', hidden: true }, input);
  const body = el('div', { class: 'home-body' });
  root.replaceChildren(el('div', { class: 'home' }, title, news, tools, body));
  let controller = null;
  let timer = 0;
  let filter = '';

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => context.setFilter(input.value.trim()), ASK_AFTER_MS);
  });

  function draw(list, about) {
    const rows = list.sessions.map((session) => sessionRow(session, context));
    const broken = about.roots.filter((each) => !each.readable);
    const isEmpty = list.total === 0;
    fill(
      title,
      isEmpty && broken.length && broken.length === about.roots.length
        ? 'Nothing can be read.'
        : headline(list, about),
    );
    context.setTitle(`${isEmpty ? 'no profiles' : counted(list.total, 'session')} – memviewd`);
    tools.hidden = list.total < FILTER_FROM && filter === '';
    fill(
      body,
      broken.map((each) => message(unreadableRoot(each))),
      isEmpty && broken.length < Math.max(1, about.roots.length) ? message(emptyMessage(about)) : null,
      !isEmpty && list.matched === 0
        ? message({ title: `No session matches "${visible(filter)}".`, text: 'Clear the field to see all.' })
        : null,
      list.sessions.length ? el('div', { class: 'panel' }, sessionTable(list, rows)) : null,
      notRead(list),
      watched(about),
    );
    return rows;
  }

  async function load() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      const [list, about] = await Promise.all([listSessions(filter, signal), get('about', {}, { signal })]);
      const rows = draw(list, about);
      fill(news);
      fillLargest(rows, signal);
    } catch (error) {
      if (isAbort(error) || error.code === 'gone') return;
      fill(title, 'The list of sessions could not be read.');
      fill(body, message({ kind: 'error', title: '', text: error.message }));
    }
  }

  return {
    show(selection, route) {
      filter = route.filter;
      if (document.activeElement !== input) input.value = filter;
      return load();
    },
    hear(route) {
      return this.show(null, route);
    },
    /* The list never shifts under the pointer: a line says that there is more. */
    filesChanged() {
      fill(
        news,
        el(
          'p',
          { class: 'banner' },
          el('span', { class: 'banner-text' }, prose('The watched folders changed.')),
          el('button', { type: 'button', class: 'text-button', on: { click: load } }, 'Show'),
        ),
      );
    },
    unmount() {
      controller?.abort();
      clearTimeout(timer);
    },
  };
}
