/* SPDX-License-Identifier: Apache-2.0
 * marked.js: the text as given, with the ranges of the figures marked. Of a long text only the
 * failure and what stands around it is here; more is fetched when asked for. */

import { getBytes, isAbort, problemText } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { createPanel, message } from '../../widgets/panel.js';
import { marksOf, piecesOf, windowAround } from './marks.js';

const AROUND = 2048;
const MAX = 192 * 1024;
const STEP = 32 * 1024;

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

/* figures: {light(keys), jump(key)}, see figures.js. */
export function createMarked(figures, actions) {
  const panel = createPanel('panel-oom-text', 'Text as given');
  const pre = el('pre', { class: 'oom-text', tabindex: '0', 'aria-label': 'Text as given' });
  const before = el('button', { type: 'button', class: 'text-button', on: { click: () => grow(-STEP, 0) } });
  const after = el('button', { type: 'button', class: 'text-button', on: { click: () => grow(0, STEP) } });
  panel.body.append(before, pre, after);
  panel.setAside(actions);
  let now = null; // {about, failure, size, encoding, from, to}
  let controller = null;

  function markNode(piece) {
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
          pointerenter: () => figures.light(piece.keys),
          pointerleave: () => figures.light([]),
          focus: () => figures.light(piece.keys),
          blur: () => figures.light([]),
        },
      },
      shown(piece.text),
    );
  }

  function draw(data) {
    const whole = now.failure?.ranges.text ?? null;
    const at = aligned(now.from, data, now.encoding);
    const pieces = piecesOf(at.data, at.from, now.failure ? marksOf(now.failure.ranges) : [], whole, now.encoding);
    fill(
      pre,
      pieces.map((piece) =>
        piece.keys.length ? markNode(piece) : el('span', { class: piece.isRead ? 'is-read' : 'is-unread' }, shown(piece.text)),
      ),
    );
    before.hidden = now.from === 0;
    after.hidden = now.to >= now.size;
    fill(before, `${bytes(Math.min(STEP, now.from))} before this`);
    fill(after, `${bytes(Math.min(STEP, now.size - now.to))} after this`);
    panel.setTitle('Text as given', el('span', { class: 'dim' }, now.from > 0 || now.to < now.size ? ` ${bytes(now.to - now.from)} of ${bytes(now.size)}` : ''));
    panel.show();
  }

  async function load() {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    const end = panel.wait('Reading the text.', () => controller.abort());
    try {
      const pieces = [];
      for (let from = now.from; from < now.to; from += 1 << 20)
        pieces.push(await getBytes('oom/text', { ...now.about, from, to: Math.min(now.to, from + (1 << 20)) }, { signal }));
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
      if (first && from > 0) pre.scrollTop = first.offsetTop - pre.offsetTop - 24;
    },
    lightUp(keys) {
      for (const mark of pre.querySelectorAll('mark'))
        mark.classList.toggle('is-lit', keys.length > 0 && mark.dataset.keys.split(' ').some((key) => keys.includes(key)));
    },
    /* Scrolls the text, and nothing else, to a range. False if it is not here. */
    jump(keys) {
      const mark = [...pre.querySelectorAll('mark')].find((each) => each.dataset.keys.split(' ').some((key) => keys.includes(key)));
      if (!mark) return false;
      pre.scrollTop = mark.offsetTop - pre.offsetTop - pre.clientHeight / 3;
      mark.focus({ preventScroll: true });
      mark.scrollIntoView({ block: 'nearest' });
      return true;
    },
    stop: () => controller?.abort(),
  };
}
