/* SPDX-License-Identifier: Apache-2.0
 * reading_bars.js: what is known of a session while somebody waits for it: how much of its files was read so far, a bar
 * each; which files it has, and what an error text among them says.
 * Its own file: it asks again and again, which nothing else of a panel does. */

import { get } from '../lib/api.js';
import { el, fill } from '../lib/dom.js';
import { bytes, counted, visible } from '../lib/format.js';
import { createPolling } from '../lib/polling.js';

const ASK_EVERY_MS = 500;

const bar = ({ file, text, read_bytes, size_bytes }) =>
  el(
    'li',
    {},
    el('progress', { max: size_bytes, value: read_bytes, 'aria-label': `${visible(file)}: ${text}` }),
    el('span', {}, `${text}.`),
    el('code', {}, visible(file)),
  );

const KINDS = {
  trace: 'trace',
  hlo: 'program',
  buffer_assignment: 'memory plan',
  live_range: 'live ranges',
  memory_usage_report: 'memory report',
  error_text: 'error text',
  log: 'log',
  profile: 'device profile',
  other: 'other file',
};
const MAX_FILES = 8;

/* Pure: files of a session, the largest first, and what the rest has together: {shown, rest: {count, bytes}}. */
export function largestFiles({ hosts, files }) {
  const all = [...hosts.map(({ file, size_bytes }) => ({ name: file, size_bytes, kind: 'trace' })), ...files]
    .filter((file, at, list) => list.findIndex(({ name }) => name === file.name) === at)
    .sort((a, b) => b.size_bytes - a.size_bytes);
  const rest = all.slice(MAX_FILES);
  return {
    shown: all.slice(0, MAX_FILES),
    rest: { count: rest.length, bytes: rest.reduce((sum, file) => sum + file.size_bytes, 0) },
  };
}

/* What is known before anything is read: files to one scale, the failure, what an error text says. */
function knownParts(session) {
  const { shown, rest } = largestFiles(session);
  const most = Math.max(1, ...shown.map((file) => file.size_bytes));
  const [said] = session.error_texts;
  return [
    session.failure && el('p', { class: 'known-failure' }, el('strong', {}, visible(session.failure.title)), '.'),
    said && el('pre', { tabindex: '0', 'aria-label': `${visible(said.file)} says` }, firstLines(said.text)),
    shown.length > 0 && el('p', { class: 'dim' }, 'Files, by their size:'),
    el(
      'ul',
      { class: 'known-files' },
      shown.map(({ name, size_bytes: size, kind }) => {
        const line = el('span', { class: 'known-bar', 'aria-hidden': 'true' });
        line.style.inlineSize = `${(100 * size) / most}%`;
        return el(
          'li',
          {},
          el('code', {}, visible(name)),
          el('span', { class: 'dim' }, KINDS[kind] ?? visible(kind)),
          el('span', { class: 'figure' }, bytes(size)),
          line,
        );
      }),
    ),
    rest.count > 0 && el('p', { class: 'dim' }, `and ${counted(rest.count, 'file')} of ${bytes(rest.bytes)} together.`),
  ];
}

const firstLines = (text) => text.trim().slice(0, 400).split('\n').slice(0, 4).map(visible).join('\n');

/* {node, begin(), end()}; what cannot be told leaves the bars as they are: the answer that is awaited says why. */
export function createReadingBars(session) {
  const bars = el('ul', { class: 'reading-bars', 'aria-live': 'off' });
  const known = el('div', { class: 'known' });
  const node = el('div', {}, bars, known);
  const ask = (path, params) => get(path, params, { signal: controller.signal, isQuiet: true, isPassing: true });
  const controller = new AbortController();
  const polling = createPolling(async () => {
    const { readings } = await ask('readings', { session });
    if (readings.length && !controller.signal.aborted) fill(bars, ...readings.map(bar));
  }, ASK_EVERY_MS);
  return {
    node,
    begin() {
      polling.begin();
      ask(`sessions/${encodeURIComponent(session)}`).then(
        (answer) => !controller.signal.aborted && fill(known, knownParts(answer)),
        () => {}, // the answer that is awaited says why
      );
    },
    end() {
      polling.end();
      controller.abort();
    },
  };
}
