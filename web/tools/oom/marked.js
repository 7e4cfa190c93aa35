/* SPDX-License-Identifier: Apache-2.0
 * marked.js: the text as given, with the ranges of the figures marked, and figures that know where they stand in it.
 * Hovering or focusing one lights its place, a click goes there; and the other way round. Of a long text only the
 * failure and what stands around it is here; more is fetched when asked for. */

import { getBytes, isAbort, problemText } from '../../lib/api.js';
import { button, el, fill, nameInline } from '../../lib/dom.js';
import { bytes, exactBytes, visible } from '../../lib/format.js';
import { withText } from '../../widgets/explain.js';
import { createPanel, message } from '../../widgets/panel.js';

const AROUND = 2048;
const MAX = 192 * 1024;
const STEP = 32 * 1024;

/* ---- from ranges to pieces: pure; ranges count bytes, so pieces are cut from bytes and decoded each ---- */

/* [{begin, end, keys: [key]}], ascending, without overlaps; of two that overlap the earlier named stays. */
export function marksOf(ranges) {
  const kept = [];
  const add = ([begin, end], key) => {
    const same = kept.find((mark) => mark.begin === begin && mark.end === end);
    if (same) same.keys.push(key);
    else if (!kept.some((mark) => begin < mark.end && mark.begin < end)) kept.push({ begin, end, keys: [key] });
  };
  const { text, buffers, io_buffers: io, ...figures } = ranges;
  for (const [key, range] of Object.entries(figures)) add(range, key);
  for (const [list, rows] of [
    ['buffers', buffers],
    ['io_buffers', io],
  ]) {
    for (const [at, row] of rows.entries()) {
      for (const [key, range] of Object.entries(row))
        if (key !== 'label' || !row.shape) add(range, `${list}.${at}.${key}`);
    }
  }
  return kept.sort((a, b) => a.begin - b.begin);
}

/* The bytes [from, from + data.length) of a text as pieces: {text, keys, isRead}. `whole`: the range of the
 * failure itself; what lies outside was not understood as part of it. */
export function piecesOf(data, from, marks, whole, encoding) {
  const decoder = new TextDecoder(encoding);
  const end = from + data.length;
  const cuts = new Set([from, end]);
  for (const at of [...marks.flatMap((mark) => [mark.begin, mark.end]), ...(whole ?? [])])
    if (at > from && at < end) cuts.add(at);
  const places = [...cuts].sort((a, b) => a - b);
  const byBegin = new Map(marks.map((mark) => [mark.begin, mark]));
  const pieces = [];
  let open = null;
  for (let i = 0; i + 1 < places.length; i++) {
    const [begin, stop] = [places[i], places[i + 1]];
    open = byBegin.get(begin) ?? (open && begin < open.end ? open : null);
    pieces.push({
      text: decoder.decode(data.subarray(begin - from, stop - from)),
      keys: open?.keys ?? [],
      isRead: Boolean(whole && begin >= whole[0] && begin < whole[1]),
    });
  }
  return pieces;
}

/* Where to look: the failure with a little around it, at most `max` bytes. */
export function windowAround(whole, size, around, max) {
  const [begin, end] = whole ?? [0, 0];
  const from = Math.max(0, begin - around);
  return [from, Math.min(size, Math.max(end + around, from + 2 * around), from + max)];
}

/* ---- figures ---- */

/* Keys of what has the focus: it stays lit when the pointer leaves something else, which may have moved away below it.
 */
function focusedKeys() {
  const { keys, key } = document.activeElement?.dataset ?? {};
  return keys?.split(' ') ?? (key ? [key] : []);
}

/* What lights while something of these keys is pointed at or has the focus. */
const lights = (figures, keys) => ({
  pointerenter: () => figures.light(keys),
  pointerleave: () => figures.light(focusedKeys()),
  focus: () => figures.light(keys),
  blur: () => figures.light([]),
});

/* root: what holds the figures. Out: see below; `text`, of createMarked(), is set later. */
export function createFigures(root) {
  const of = (key) => [...root.querySelectorAll('[data-key]')].filter((node) => node.dataset.key === key);
  /* A button that shows the place of its figure or word in the text. */
  const link = (key, about, ...shownAs) =>
    el(
      'button',
      {
        type: 'button',
        class: 'figure figure-link',
        'data-key': key,
        on: { click: () => self.text?.jump([key]), ...lights(self, [key]) },
        ...about,
      },
      ...shownAs,
    );
  const self = {
    text: null,
    rows: null, // {light(keys), jump(key) → true}: the table of buffers
    links: null, // of evidence.js, once the core has answered
    /* Lights figures, rows and marks of these keys, and nothing else. */
    light(keys) {
      for (const node of root.querySelectorAll('[data-key]'))
        node.classList.toggle('is-lit', keys.includes(node.dataset.key));
      self.rows?.light(keys);
      self.text?.lightUp(keys);
    },
    /* From the text to the figure. */
    jump(keys) {
      const node = keys.flatMap(of).find((each) => each.tagName === 'BUTTON');
      if (node) {
        const closed = node.closest('details');
        if (closed) closed.open = true;
        node.focus({ preventScroll: true });
        node.scrollIntoView({ block: 'nearest' });
      } else keys.some((key) => self.rows?.jump(key));
    },
    /* A figure as a button, if the text states it. */
    node(value, key, className = '', text = bytes(value)) {
      if (!key && self.links?.of(value) != null) return self.links.figure(value, self.links.of(value), text, className);
      if (!key) return el('span', { class: `figure ${className}`, title: exactBytes(value) }, text);
      const title = `${exactBytes(value)}, as printed. Shows its place in the text.`;
      return link(key, { class: `figure figure-link ${className}`, title }, text);
    },
    /* The same of a word. */
    word: (text, key) => link(key, { title: 'Shows its place in the text.' }, nameInline(text, 40)),
    /* Parts of a sentence, see text.js. */
    sentence(parts) {
      const classes = { main: 'answer-figure', over: 'over' };
      return parts.reduce((nodes, part) => {
        if (typeof part === 'string') return withText(nodes, visible(part));
        if (part.name !== undefined) return [...nodes, nameInline(part.name, 60)];
        return [...nodes, self.node(part.bytes, part.key, classes[part.role] ?? '', part.text ?? undefined)];
      }, []);
    },
  };
  return self;
}

/* ---- the text ---- */

const shown = (text) =>
  text
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n')
    .replace(/\u240d\n/g, '\n');

/* A window that begins inside a letter loses the rest of that letter. */
function aligned(from, data, encoding) {
  let skip = 0;
  if (encoding !== 'utf-8') skip = from % 2;
  else while (from > 0 && skip < 3 && (data[skip] & 0xc0) === 0x80) skip++;
  return { from: from + skip, data: data.subarray(skip) };
}

function markNode(piece, figures) {
  const isBuffer = piece.keys.every((key) => key.includes('.'));
  return el(
    'mark',
    {
      'data-keys': piece.keys.join(' '),
      tabindex: isBuffer ? '-1' : '0',
      role: 'button',
      title: 'Go to this figure',
      on: {
        click: () => figures.jump(piece.keys),
        keydown: (event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          figures.jump(piece.keys);
        },
        ...lights(figures, piece.keys),
      },
    },
    shown(piece.text),
  );
}

/* Two lines of `pre`, until it is opened: by the button, by a click into it, by Enter or Space on it. Out: {button,
   set(can it
 * be folded), open(), show(): the first mark is seen, isFolded()}. */
function createFold(pre, onTurn) {
  const state = { can: false, isOpen: false };
  const isFolded = () => state.can && !state.isOpen;
  const turn = button('text-button', () => set(!state.isOpen), '', { 'aria-controls': pre.id });
  function show() {
    pre.classList.toggle('is-folded', isFolded());
    const first = isFolded() ? pre.querySelector('mark, .is-read') : null;
    if (first) pre.scrollTop = first.offsetTop - 8;
    turn.hidden = !state.can || (isFolded() && pre.scrollHeight <= pre.clientHeight + 1);
    turn.setAttribute('aria-expanded', String(state.isOpen));
    fill(turn, state.isOpen ? 'Fold the text' : 'Unfold the text');
  }
  function set(isOpen) {
    state.isOpen = isOpen;
    show();
    onTurn();
  }
  pre.addEventListener('click', ({ target }) => isFolded() && !target.closest('mark') && set(true));
  pre.addEventListener('keydown', (event) => {
    if (event.target !== pre || !isFolded() || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    set(true);
  });
  new ResizeObserver(() => isFolded() && show()).observe(pre);
  return {
    button: turn,
    isFolded,
    show,
    set(can) {
      state.can = can;
      show();
      onTurn();
    },
    open: () => isFolded() && set(true),
  };
}

/* figures: of createFigures(). */
export function createMarked(figures, actions) {
  const panel = createPanel('panel-oom-text', 'Text as given');
  const pre = el('pre', { class: 'oom-text', id: 'oom-text', tabindex: '0', 'aria-label': 'Text as given' });
  const before = button('text-button', () => grow(-STEP, 0), '');
  const after = button('text-button', () => grow(0, STEP), '');
  panel.body.append(before, pre, after);
  const fold = createFold(pre, () => ends());
  panel.setAside(fold.button, actions);
  let now = null; // {about, failure, size, encoding, from, to}
  let controller = null;

  function ends() {
    before.hidden = !now || now.from === 0 || fold.isFolded();
    after.hidden = !now || now.to >= now.size || fold.isFolded();
  }

  function draw(data) {
    const whole = now.failure?.ranges.text ?? null;
    const at = aligned(now.from, data, now.encoding);
    const pieces = piecesOf(at.data, at.from, now.failure ? marksOf(now.failure.ranges) : [], whole, now.encoding);
    fill(
      pre,
      pieces.map((piece) =>
        piece.keys.length
          ? markNode(piece, figures)
          : el('span', { class: piece.isRead ? 'is-read' : 'is-unread' }, shown(piece.text)),
      ),
    );
    ends();
    fill(before, `${bytes(Math.min(STEP, now.from))} before this`);
    fill(after, `${bytes(Math.min(STEP, now.size - now.to))} after this`);
    panel.setTitle(
      'Text as given',
      el(
        'span',
        { class: 'dim' },
        now.from > 0 || now.to < now.size ? ` ${bytes(now.to - now.from)} of ${bytes(now.size)}` : '',
      ),
    );
    panel.show();
    fold.show();
  }

  async function load() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    const end = panel.wait('Reading the text.', () => controller.abort());
    try {
      const pieces = [];
      for (let from = now.from; from < now.to; from += 1 << 20)
        pieces.push(
          await getBytes(
            'oom/text',
            { ...now.about, from, to: Math.min(now.to, from + (1 << 20)) },
            { signal, isSmall: now.to - now.from < 1 << 16 },
          ),
        );
      const data = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
      pieces.reduce((at, piece) => (data.set(piece, at), at + piece.length), 0);
      if (!signal.aborted) draw(data);
    } catch (error) {
      if (isAbort(error)) return;
      panel.say(message({ kind: 'error', title: 'The text cannot be shown.', text: problemText(error) }));
    } finally {
      end();
    }
  }

  async function grow(back, on) {
    const top = pre.scrollHeight - pre.scrollTop;
    now.from = Math.max(0, now.from + back);
    now.to = Math.min(now.size, now.to + on);
    await load();
    if (back) pre.scrollTop = pre.scrollHeight - top;
  }

  return {
    panel,
    /* about: {session, file} or {local}; failure may be null: the text from `at` on is shown. */
    async show({ about, failure, size, encoding, at = 0 }) {
      const whole = failure?.ranges.text ?? [at, at];
      const [from, to] = windowAround(whole, size, AROUND, MAX);
      now = { about, failure, size, encoding, from: encoding === 'utf-8' ? from : from & ~1, to };
      await load();
      this.lightUp([]);
      const first = pre.querySelector('.is-read, mark');
      if (first && from > 0 && !fold.isFolded()) pre.scrollTop = first.offsetTop - 24;
    },
    /* Two lines of it will do: more stands beside. */
    setFold: (can) => fold.set(can),
    lightUp(keys) {
      for (const mark of pre.querySelectorAll('mark'))
        mark.classList.toggle(
          'is-lit',
          keys.length > 0 && mark.dataset.keys.split(' ').some((key) => keys.includes(key)),
        );
    },
    /* Scrolls the text, and nothing else, to a range. False if it is not here. */
    jump(keys) {
      const mark = [...pre.querySelectorAll('mark')].find((each) =>
        each.dataset.keys.split(' ').some((key) => keys.includes(key)),
      );
      if (!mark) return false;
      fold.open();
      pre.scrollTop = mark.offsetTop - pre.clientHeight / 3;
      mark.focus({ preventScroll: true });
      mark.scrollIntoView({ block: 'nearest' });
      return true;
    },
    stop: () => controller?.abort(),
  };
}
