/* SPDX-License-Identifier: Apache-2.0
 * details.js: the pane at the right: the pinned frame whole, else the hovered one in
 * short, else what the page shows. */

import { isAbort, Problem } from '../../lib/api.js';
import { later } from '../../lib/activity.js';
import { button, el, figure, name } from '../../lib/dom.js';
import { bytes, count, counted, percent, sourceLine, TIMES, visible, when } from '../../lib/format.js';
import { copyButton, fact, facts, folded } from '../../widgets/details.js';
import { frameActs } from './acts.js';
import { frameWords, shareBar } from './parts.js';
import { amount, figureOf, isBytes, wholeWords } from './text.js';

const ASK_AFTER_MS = 80;
const SAMPLES = 200;
const MAX_SAMPLES = 1000;
const LISTED = 12;

/* Out: {light(hover, pin), clear()}. */
export function createDetailsOf({ url, subject, pane, relight }) {
  const known = new Map();
  let key = '';
  let shown = '';
  let summary = null; // of which the pane told last
  let takeBack = null;

  const read = async (id) => {
    const mine = subject.key;
    try {
      const [callers, traces] = await Promise.all([
        subject.ask('callers', { frame: id }),
        subject.ask('traces', { frame: id, limit: url.state.group ? MAX_SAMPLES : SAMPLES }),
      ]);
      if (mine !== subject.key) return;
      known.set(id, { callers: callers.data, traces: traces.data });
      shown = '';
      relight();
    } catch (error) {
      if (!isAbort(error) && !(error instanceof Problem)) throw error;
    }
  };
  const want = (id) => {
    takeBack?.();
    takeBack = known.has(id) ? null : later(() => read(id), ASK_AFTER_MS);
  };
  return {
    light(hover, pin) {
      if (!subject.summary) return;
      if (key !== subject.key) {
        known.clear();
        key = subject.key;
        shown = '';
      }
      const id = pin ?? hover;
      const now = `${id} ${Boolean(pin)} ${known.has(id)} ${url.state.group}`;
      if (now === shown && (id || summary === subject.summary)) return;
      if (id && !known.has(id)) {
        if (shown.split(' ')[0] !== id) want(id);
        if (!pin) return;
      }
      if (!id) takeBack?.();
      shown = now;
      const found = id ? known.get(id) : null;
      if (found?.callers.nodes.length) pane.show(frameDetails({ url, subject }, found, Boolean(pin)));
      else if (!id) {
        summary = subject.summary;
        pane.show(pageDetails(subject));
      }
    },
    clear() {
      takeBack?.();
      pane.clear();
    },
  };
}

/* ---- a frame ------------------------------------------------------------------------ */

const act = (word, title, run) => button('text-button', run, word, { title });

function frameDetails({ url }, { callers: data, traces }, isPinned) {
  const node = data.nodes[0];
  const { frame } = node;
  const whole = frame.line ? `${frame.file}:${frame.line}` : frame.file;
  const neighbours = (list, word) =>
    list.length
      ? folded(
          counted(list.length, word),
          list.slice(0, LISTED).map((each) =>
            el(
              'li',
              {},
              button('site-button', () => url.pin(each.frame.id), frameWords(each.frame)),
              el('span', { class: 'figure dim' }, ` ${amount(data.metric, each.value)}`),
            ),
          ),
        )
      : null;
  return {
    heading: isPinned ? 'Pinned frame' : 'Frame',
    subject: frame.function || frame.name,
    isPinned,
    parts: [
      isPinned ? groupPart(url, data.metric, traces) : null,
      facts(
        fact('total', amountNode(data.metric, node.total)),
        fact('self', amountNode(data.metric, node.self)),
        fact('share', `${percent(Math.abs(node.total), data.percent_base)} of ${wholeWords(data)}`),
        fact('source', whole ? [name(sourceLine(frame.file, frame.line)), ' ', copyButton(whole)] : null),
        fact('made of', eachOf(traces)),
        frame.is_machinery ? fact('kind', 'library code') : null,
      ),
      perDevice(data.metric, traces),
      neighbours(node.callers, 'caller'),
      neighbours(node.callees, 'callee'),
      isPinned
        ? el(
            'p',
            { class: 'details-acts' },
            frameActs(url, frame).map(({ word, title, run }) => act(word, title, run)),
          )
        : null,
    ],
  };
}

/* The group of equal buffers that was chosen, with its whole stack. */
function groupPart(url, metric, traces) {
  const { group } = url.state;
  const trace = group ? traces.rows.find(({ id }) => String(id) === group) : null;
  if (!trace) return null;
  const frames = new Map(traces.frames.map((frame) => [frame.id, frame]));
  const each = trace.each == null ? 'of unknown size' : bytes(trace.each);
  return el(
    'section',
    { class: 'group-part' },
    el(
      'h3',
      {},
      `${count(trace.count)} ${TIMES} ${each}`,
      el('span', { class: 'dim' }, ` = ${amount(metric, trace.value)}`),
    ),
    facts(
      trace.labels.map(({ key, text, number, unit }) =>
        fact(visible(key), text == null ? `${count(number)} ${unit}` : name(text)),
      ),
    ),
    folded(
      `made by ${counted(trace.stack.length, 'frame')}, innermost first`,
      trace.stack.map((id) =>
        el(
          'li',
          {},
          button('site-button', () => url.pin(id), frames.has(id) ? frameWords(frames.get(id)) : id),
        ),
      ),
    ),
  );
}

function amountNode(metric, value) {
  return isBytes(metric) ? figure(value) : count(value);
}

/* "8 × 988.16 MiB, 2 × 4.00 KiB": exact sizes, largest first. */
function eachOf(traces) {
  const sizes = new Map();
  let unknown = 0;
  for (const { each, count: many } of traces.rows) {
    if (each == null) unknown += many;
    else sizes.set(each, (sizes.get(each) ?? 0) + many);
  }
  const list = [...sizes].sort((a, b) => b[0] - a[0]);
  const shown = list.slice(0, 4).map(([each, many]) => `${count(many)} ${TIMES} ${bytes(each)}`);
  const rest = list.length > 4 ? ` and ${counted(list.length - 4, 'other size')}` : '';
  const more = unknown ? [`${count(unknown)} of unknown size`] : [];
  const isCut = traces.total_count > traces.rows.length ? ` (of the ${count(traces.rows.length)} largest groups)` : '';
  return [...shown, ...more].join(', ') + rest + isCut;
}

function perDevice(metric, traces) {
  if (traces.total_count > traces.rows.length) return null;
  const sums = new Map();
  for (const { value, labels } of traces.rows) {
    const device = labels.find(({ key }) => key === 'device')?.text;
    if (device) sums.set(device, (sums.get(device) ?? 0) + value);
  }
  return deviceBars(
    'Per device',
    [...sums].map(([device, value]) => ({ name: device, total: value, words: amount(metric, value) })),
  );
}

/* Devices side by side: a bar each, all of one scale. rows: [{name, total, words}]; of one device there is nothing to
   compare. */
function deviceBars(heading, rows) {
  if (rows.length < 2) return null;
  const max = Math.max(...rows.map(({ total }) => Math.abs(total)), 1);
  return el(
    'div',
    { class: 'per-device' },
    el('h3', {}, heading),
    rows.map(({ name: device, total, words }) =>
      el(
        'div',
        { class: 'per-device-row' },
        el('bdi', { dir: 'ltr', class: 'mono', title: visible(device) }, visible(device)),
        shareBar(Math.abs(total) / max),
        el('span', { class: 'figure' }, words),
      ),
    ),
  );
}

/* ---- the page ----------------------------------------------------------------------- */

const CAPTURED = {
  snapshot: 'time of the moment',
  gzip: 'as the file says',
  profile: 'as the profile says',
  file: 'time of the file',
};

function pageDetails(subject) {
  const { summary } = subject;
  const { metric } = summary;
  const list = (rows) =>
    rows
      .slice(0, LISTED)
      .map((row) =>
        el(
          'div',
          {},
          el('bdi', { dir: 'ltr', class: 'mono' }, visible(row.name)),
          el(
            'span',
            { class: 'figure dim' },
            ` ${figureOf(summary, row.total)}, ${summary.is_diff && row.count > 0 ? '+' : ''}${count(row.count)}`,
          ),
        ),
      );
  const bars = deviceBars(
    'Devices',
    summary.devices.map((row) => ({
      ...row,
      words: `${figureOf(summary, row.total)}, ${summary.is_diff && row.count > 0 ? '+' : ''}${count(row.count)}`,
    })),
  );
  const shares = [
    bars,
    facts(bars ? null : fact('devices', list(summary.devices)), fact('kinds', list(summary.kinds))),
  ];
  return {
    heading: 'This page',
    parts: [
      summary.is_diff ? el('section', { class: 'page-profile' }, el('h3', {}, 'Change from A to B'), shares) : null,
      summary.profiles.map((profile) =>
        el(
          'div',
          { class: 'page-profile' },
          el('p', { class: 'details-name' }, name(profile.name)),
          facts(
            summary.is_diff ? fact('role', profile.role === 'base' ? 'A, before' : 'B, after') : null,
            fact('total', amount(metric, profile.total)),
            fact('samples', count(profile.sample_count)),
            fact('file', bytes(profile.size_bytes)),
            profile.captured_at_ms
              ? fact('taken', when(profile.captured_at_ms), ` (${CAPTURED[profile.captured_at_from] ?? ''})`)
              : null,
          ),
        ),
      ),
      summary.is_diff ? null : shares,
      el('p', { class: 'dim' }, 'Hover a frame to see it here; a click pins it.'),
    ],
  };
}
