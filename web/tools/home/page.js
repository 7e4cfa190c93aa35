/* SPDX-License-Identifier: Apache-2.0
 * page.js: what was found under the watched folders, what could not be read, and why. */

import { later } from '../../lib/activity.js';
import { get, isAbort, post } from '../../lib/api.js';
import { button, el, fill, nameInline, prose } from '../../lib/dom.js';
import { ago, count, counted, cutMiddle, visible } from '../../lib/format.js';
import { forgetUpload, uploadedSessions, UPLOADS } from '../../lib/uploads.js';
import { explainKeys, explainWith, nodesOf } from '../../widgets/explain.js';
import { message } from '../../widgets/panel.js';
import { createCapture } from './capture.js';
import { foundText, VERDICT_NAMES, verdictName } from './found.js';
import { createSessionList, foundOf, isByFigure } from './list.js';
import * as say from './text.js';

const ASK_AFTER_MS = 300;
const SORTS = [
  ['failed', 'failed first'],
  ['newest', 'newest'],
  ['name', 'name'],
  ['largest', 'largest on disk'],
  ['peak', 'highest peak'],
  ['share', 'share of capacity'],
];
const PAGE = 1000;
const MAX_SESSIONS = 5000;

/* All that match, or the first 5,000 of them: a list as the daemon sends one. */
async function listAll(filter, sort, how) {
  const ask = (offset) =>
    get('sessions', { sort: isByFigure(sort) ? 'newest' : sort, filter, limit: PAGE, offset }, how);
  const list = await ask(0);
  while (list.sessions.length < Math.min(list.matched_count, MAX_SESSIONS)) {
    const { sessions } = await ask(list.sessions.length);
    if (sessions.length === 0) break;
    list.sessions.push(...sessions);
  }
  return list;
}

const LOOKED_AFTER_MS = 300;

/* What this tab dropped and the daemon still holds; what it forgot is not asked for again. */
async function listDropped(how) {
  const all = await Promise.all(
    uploadedSessions().map((id) =>
      get(`${UPLOADS}/${id.slice(0, 40)}`, {}, how).catch((error) => {
        if (isAbort(error)) throw error;
        if (error.status === 404) forgetUpload(id);
        return { sessions: [] };
      }),
    ),
  );
  return all.flatMap(({ sessions }) => sessions);
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
          entry.offset_bytes == null ? '' : `, at byte ${count(entry.offset_bytes)}`,
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
    roots.map((root, at) => [at ? '; ' : '', nameInline(root.path, 100), ` (${counted(root.file_count, 'file')})`]),
    roots.length === 0 ? null : `, last looked ${ago(Math.min(...roots.map((root) => root.last_scan_ms)))}`,
    ' ',
    button('text-button', lookAgain, 'Look again'),
  );
}

function openFilesLine(context) {
  return el(
    'div',
    { class: 'open-files' },
    el(
      'span',
      {},
      'Drop files or a folder, or paste an error text: xplane.pb · XLA dump · hlo_proto.pb · memory.prof · ' +
        'snapshot.pickle · log',
    ),
    button('text-button', context.takeIn, 'Paste or choose', { 'aria-haspopup': 'dialog' }),
  );
}

/* Jobs below `memviewd watch` that go on; a daemon that cannot tell shows none. */
async function listLive(how) {
  const { runs } = await get('live', {}, how).catch((error) => {
    if (isAbort(error)) throw error;
    return { runs: [] };
  });
  return runs.filter((run) => run.is_running);
}

const liveLine = (runs) =>
  runs.length === 0
    ? null
    : el(
        'p',
        { class: 'home-live' },
        `${counted(runs.length, 'watched job')} ${runs.length === 1 ? 'runs' : 'run'} now. `,
        el('a', { href: '?tool=live' }, 'What is in use'),
      );

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
    {
      class: 'home-sort',
      on: {
        change: () =>
          context.choose({ sort: select.value === SORTS[0][0] ? '' : select.value, tool: 'home', session: '' }),
      },
    },
    SORTS.map(([value, word]) => el('option', { value }, word)),
  );
  const verdicts = el(
    'select',
    {
      class: 'home-verdict',
      on: { change: () => context.choose({ verdict: verdicts.value, tool: 'home', session: '' }) },
    },
    ['', ...VERDICT_NAMES].map((value) => el('option', { value }, value || 'all')),
  );
  let takeBack = null;
  input.addEventListener('input', () => {
    takeBack?.();
    takeBack = later(() => context.setFilter(input.value.trim()), ASK_AFTER_MS);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || input.value === '') return;
    event.preventDefault();
    input.value = '';
    context.setFilter('');
  });
  context.bind([{ keys: ['/'], does: 'to the filter', run: () => input.focus() }]);
  return {
    node: el(
      'div',
      { class: 'home-tools', hidden: true },
      input,
      el('label', {}, 'verdict: ', verdicts),
      el('label', {}, 'sort: ', select),
    ),
    stop: () => takeBack?.(),
    set({ filter, sort, verdict }) {
      verdicts.value = VERDICT_NAMES.includes(verdict) ? verdict : '';
      if (document.activeElement !== input) input.value = filter;
      select.value = SORTS.some(([value]) => value === sort) ? sort : SORTS[0][0];
    },
  };
}

/* The first line: what the newest session needs, or in which order the list stands; and the tally beside it. onAgain()
 * sorts again. Out: {forget(), show(list, rows, {sort, isPlain})}. */
function createAnswer({ title, aside }, context, onAgain) {
  /* Said again only when it changed: a link in it may have the focus. */
  let said = '';
  function sayIt(words, ...nodes) {
    if (words === said) return;
    said = words;
    fill(title, ...nodes);
  }
  /* The first that has something to mend beside what is over. */
  const findingOf = (rows) =>
    rows.sessions.map((session) => ({ session, finding: foundOf(session)?.finding })).find(({ finding }) => finding) ??
    null;
  const openLink = ({ id, name }) =>
    el('a', { href: context.link(id), 'aria-label': `Open ${cutMiddle(visible(name), 60)}` }, 'Open');
  function findingNodes(rows) {
    const found = findingOf(rows);
    return (
      found &&
      el(
        'span',
        { class: 'answer-second dim' },
        ' ',
        nodesOf(say.findingParts(found.session, found.finding)),
        ' ',
        openLink(found.session),
      )
    );
  }
  /* Those that are over by what is known; a request of a snapshot that failed tells of no such amount. */
  const overOf = (rows) =>
    rows.sessions
      .map((session) => ({ session, worst: foundOf(session)?.worst }))
      .filter(({ worst }) => worst?.word === 'over');
  /* What needs a person leads: how much is over, and of the latest what is most. */
  function sayWorst(list, rows, [first]) {
    const { session } = first;
    const parts = say.overParts(first, list.total_count, rows.counts);
    const culprit =
      rows.counts.over === 1 ? (foundOf(session).culprit ?? null) : null; /* of several it would be nobody's */
    sayIt(
      `${JSON.stringify(parts)} ${Boolean(culprit)} ${findingOf(rows)?.session.id}`,
      nodesOf(parts),
      culprit ? el('span', { class: 'answer-second' }, ' ', nodesOf(culprit.sentence)) : null,
      ' ',
      el('a', { href: context.link(session.id, context.whereReason(session)) }, 'See why'),
      findingNodes(rows),
    );
  }
  return {
    forget() {
      said = '';
    },
    fail(error, body) {
      fill(title, 'The list of sessions could not be read.');
      fill(body, message({ kind: 'error', title: '', text: error.message }));
    },
    show(list, rows, { sort, isPlain, verdict }) {
      const [newest] = rows.sessions;
      const { over, unknown } = rows.counts;
      const overBySome = overOf(rows);
      const isWorst = newest && isPlain && overBySome.length > 0;
      fill(aside, !isWorst && (isPlain || over) ? say.tally(list, rows.counts) : '');
      if (isWorst) {
        sayWorst(list, rows, overBySome);
        return;
      }
      if (!newest || !isPlain) {
        const again = button('text-button', onAgain, 'Sort again');
        const shownCount = verdict
          ? rows.sessions.filter((session) => verdictName(foundOf(session)) === verdict).length
          : 0;
        const parts = say.listParts(list, sort, unknown, verdict, shownCount);
        sayIt(`${parts} ${rows.isSorted}`, nodesOf(parts), ' ', rows.isSorted ? null : again);
        return;
      }
      /* What the list knows of it may be all that can be read of it. */
      const {
        worst = null,
        culprit = null,
        isWhole = false,
        module_count: moduleCount = newest.module_count,
      } = foundOf(newest) ?? {};
      const known = isWhole ? worst : null;
      const isText = known?.from.kind === 'text';
      const kind = isText ? 'error text' : foundText({ ...newest, module_count: moduleCount }).split(',')[0];
      const isOver = known?.word === 'over';
      const isUnread = Boolean(foundOf(newest)?.error);
      sayIt(
        `${newest.id} ${findingOf(rows)?.session.id} ${kind} ${known?.bytes} ${known?.word} ${known?.by} ${isUnread}`,
        nodesOf(say.newestParts(newest, kind, known, isUnread)),
        culprit ? el('span', { class: 'answer-second' }, ' ', nodesOf(culprit.sentence)) : null,
        ' ',
        isOver ? el('a', { href: context.link(newest.id, context.whereReason(newest)) }, 'See why') : openLink(newest),
        findingNodes(rows),
      );
    },
  };
}

/* A table with its label; what is left out of it stands below. */
const region = (label, className, list, below = null) =>
  el('div', { class: `panel ${className}`, tabindex: '0', role: 'region', 'aria-label': label }, list.node, below);

/* What has the focus is drawn anew: the same has it again, else the page. */
function keepingFocus(root, redraw) {
  const had = document.activeElement;
  const isHere = root.contains(had) && had !== root;
  const answer = redraw();
  if (!isHere || had.isConnected) return answer;
  const same = [...root.querySelectorAll(had.tagName)].find((node) => node.textContent === had.textContent);
  (same ?? root).focus();
  return answer;
}

/* What stands below the filter. */
function bodyOf({ list, about, dropped, broken, live, filter }, rows, onLook) {
  const isEmpty = list.total_count === 0;
  const left = list.matched_count - list.sessions.length;
  return [
    liveLine(live),
    broken.map((each) => message(say.unreadableRoot(each))),
    dropped
      ? el(
          'section',
          { class: 'home-dropped' },
          el('h2', {}, 'Dropped in this tab'),
          el('p', { class: 'dim' }, 'Kept in the memory of the daemon for some hours, never on disk.'),
          region('Dropped in this tab', '', dropped),
        )
      : null,
    isEmpty && broken.length < Math.max(1, about.roots.length)
      ? message({ ...say.emptyMessage(about), title: '' })
      : null,
    !isEmpty && list.matched_count === 0
      ? message({ title: `No session matches "${visible(filter)}".`, text: 'Clear the field to see all.' })
      : null,
    list.sessions.length
      ? region(
          'What was found',
          'home-found',
          rows,
          left > 0
            ? el(
                'p',
                { class: 'dim home-left' },
                `${count(left)} more of ${counted(list.matched_count, 'session')} are left out; the filter narrows ` +
                  `the list.`,
              )
            : null,
        )
      : null,
    notRead(list),
    watched(about, onLook),
  ];
}

const newsLine = (text, onShow) =>
  el(
    'p',
    { class: 'banner' },
    el('span', { class: 'banner-text' }, prose(`${text} · `)),
    button('text-button', onShow, 'Show'),
  );

/* The daemon looks at its folders soon; what takes longer is told as news. Out: {again(), stop()}. */
function createLook(load) {
  let takeBack = () => {};
  return {
    async again() {
      takeBack();
      await post('rescan', '{}', 'application/json').catch(() => {}); /* the list, asked for next, says what is wrong */
      takeBack = later(load, LOOKED_AFTER_MS);
    },
    stop: () => takeBack(),
  };
}

/* context: {link(session, patch), setFilter(text), choose(patch), setTitle(text), bind(rows), takeIn(),
 * whereReason(session) → patch of the link that says why}. */
export function mount(root, context) {
  const title = el('h1', { class: 'answer home-answer' });
  const aside = el('p', { class: 'home-tally' });
  const news = el('div', { role: 'status' });
  const [tools, capture] = [createTools(context), createCapture(context)];
  const body = el('div', { class: 'home-body' });
  root.replaceChildren(
    el(
      'div',
      { class: 'home' },
      el('div', { class: 'home-head' }, title, aside),
      news,
      openFilesLine(context),
      capture.node,
      tools.node,
      body,
    ),
  );
  const answer = createAnswer({ title, aside }, context, () => load());
  let [controller, route, shown] = [null, null, null];
  const look = createLook(() => load());
  const lists = [];
  const stopCards = explainWith(async (word, id) => {
    const session = lists.flatMap((each) => each.sessions).find((each) => each.id === id);
    const { cardOf } = await import('./explain.js');
    return session ? cardOf(word, foundOf(session)) : null;
  });
  context.bind(explainKeys(), 'Figures');

  const sort = () => (SORTS.some(([value]) => value === route.sort) ? route.sort : SORTS[0][0]);
  const verdict = () => (VERDICT_NAMES.includes(route.verdict) ? route.verdict : '');
  const isPlain = () => route.filter === '' && sort() === SORTS[0][0] && verdict() === '';
  const stopLists = () => lists.splice(0).forEach((each) => each.stop());
  function makeList(sessions, options) {
    const list = createSessionList(sessions, { linkOf: (session) => context.link(session.id), ...options });
    lists.push(list);
    return list;
  }

  function draw(list, about, given, live) {
    const sayNow = () => answer.show(list, rows, { sort: sort(), isPlain: isPlain(), verdict: verdict() });
    const rows = makeList(list.sessions, {
      caption: 'What was found',
      sort: sort(),
      verdict: verdict(),
      lead: isPlain() ? list.sessions[0] : null,
      onSort: (order) => context.choose({ sort: order, tool: 'home', session: '' }),
      onRead: () => sayNow(),
    });
    rows.isSorted = rows.counts.unknown === 0 || !isByFigure(sort());
    answer.forget();
    const dropped = given.length ? makeList(given, { caption: 'Dropped in this tab' }) : null;
    const broken = about.roots.filter((each) => !each.readable);
    const isEmpty = list.total_count === 0;
    context.setTitle(`${isEmpty ? 'no profiles' : counted(list.total_count, 'session')} – memviewd`);
    if (isEmpty) {
      fill(aside);
      fill(
        title,
        broken.length && broken.length === about.roots.length
          ? say.nothingReadable(broken)
          : `No profiles under ${say.short(say.rootsText(about))}.`,
      );
    } else sayNow();
    tools.node.hidden = list.total_count < 2 && isPlain();
    capture.set(about.capture_addresses ?? []);
    fill(body, bodyOf({ list, about, dropped, broken, live, filter: route.filter }, rows, look.again));
    return dropped ? [dropped, rows] : [rows];
  }

  async function load() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      const [list, about, given, live] = await Promise.all([
        listAll(route.filter, sort(), { signal }),
        get('about', {}, { signal }),
        listDropped({ signal }),
        listLive({ signal }),
      ]);
      stopLists();
      const all = keepingFocus(root, () => {
        fill(news);
        return draw(list, about, given, live);
      });
      shown = list;
      all.forEach((each) => each.start(signal));
    } catch (error) {
      if (!isAbort(error) && error.code !== 'gone') answer.fail(error, body);
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
    /* The list never shifts under the pointer: a line says that there is more. An empty one cannot. */
    async filesChanged() {
      const of = shown;
      const now = await listAll(route.filter, sort(), {}).catch(() => null);
      /* What was read meanwhile is news no more. */
      const text = now && of && of === shown ? say.newsText(shown, now) : '';
      if (text && of.total_count === 0) await load();
      else if (text) fill(news, newsLine(text, load));
    },
    unmount() {
      [look, capture, tools].forEach((each) => each.stop());
      controller?.abort();
      stopLists();
      stopCards();
    },
  };
}
