/* SPDX-License-Identifier: Apache-2.0
 * head.js: the answer of the Device Memory page: what is live, where most of it was
 * made, what the filters let through, and what the profile cannot know. */

import { button, el, figure, fill, prose } from '../../lib/dom.js';
import { isGrave, sentenceParts } from '../../lib/finding.js';
import { counted, cutMiddle, visible } from '../../lib/format.js';
import { explained } from '../../widgets/explain.js';
import { notesButton } from '../../widgets/notices.js';
import { lighting } from './parts.js';
import { countFilters } from './state.js';
import * as say from './text.js';

const SITE = 56;

function nodesOf(parts, isSecond = false) {
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      if (typeof part === 'string') return part;
      if (part.name !== undefined) return el('bdi', { dir: 'ltr', class: 'name-inline' }, cutMiddle(part.name, SITE));
      const className = part.role === 'main' && !isSecond ? 'answer-figure' : '';
      if (part.bytes === undefined) return el('span', { class: `figure ${className}` }, part.text);
      if (!part.explain) return figure(part.bytes, part.text, className);
      return explained(part.explain, part.bytes, part.text, className);
    });
}

/* "init_state train.py:88 7.72 GiB (62 % of all)": a click pins it everywhere. */
function largestList({ url, store }, summary) {
  const items = say.largestItems(summary);
  if (items.length === 0) return null;
  return el(
    'p',
    { class: 'device-largest' },
    el('span', { class: 'dim' }, summary.is_diff ? 'Most changed: ' : 'Most: '),
    items.map(({ frame, text, value, bytes, share }, at) => [
      at ? ' · ' : '',
      button('site-button', () => url.pin(frame.id), el('bdi', { dir: 'ltr', class: 'mono' }, cutMiddle(text, SITE)), {
        title: visible(`${text}\n${frame.file}`),
        on: lighting(store, frame),
      }),
      ' ',
      typeof bytes === 'number'
        ? explained(`site:${frame.id}`, bytes, value, 'strong')
        : el('span', { class: 'figure strong' }, value),
      el('span', { class: 'dim' }, ` (${share})`),
    ]),
  );
}

/* Which moments of which devices are shown, each with the way back to it in the Memory Profile. */
function momentLinks(link, { session, summary }) {
  const rows = summary.profiles
    .filter(({ moment }) => moment)
    .sort((a, b) => (a.role > b.role ? 1 : a.role < b.role ? -1 : 0));
  if (rows.length === 0) return null;
  const hrefOf = ({ id, moment: { memory, text: asked, time_ps: time } }) =>
    link(session, { tool: 'memory_profile', host: id.split('@')[0], memory, ...(asked === 'peak' ? {} : { time }) });
  return el(
    'p',
    { class: 'device-standing dim' },
    'Requested bytes of blocks that are not free yet. ',
    rows.map((row, at) => [
      at ? ' \u00b7 ' : '',
      el(
        'a',
        { href: hrefOf(row) },
        summary.is_diff
          ? `${row.role === 'base' ? 'A' : 'B'} in the Memory Profile`
          : 'This moment in the Memory Profile',
      ),
    ]),
  );
}

/* link, linkHere: of the context, see app.js. Out: {node, show(summary, notes), lead(parts or null), setFinding(what
   the core tells of all profiles, or null),
 * say(sentence), setNotRead(list)}; lead: what a view puts before all, while it is the one shown. */
export function createHead({ url, subject, store, link, linkHere }) {
  const title = el('h1', { class: 'answer' });
  const aside = el('div', { class: 'answer-aside' });
  const more = el('div', { class: 'answer-more' });
  /* Of what JAX writes: it says of each sample whether it is a buffer or an executable. */
  const standing = () =>
    el(
      'p',
      { class: 'device-standing dim' },
      'Counts live arrays and code only. Temporaries inside a compiled program are in the ',
      /* Of the same session alone: the newest program would be another job's. */
      subject.hasPrograms
        ? el('a', { href: link(subject.session, { tool: 'memory_viewer' }) }, 'Memory Viewer')
        : 'Memory Viewer, of which this session has no program',
      '. Such a file does not tell the capacity.',
    );
  const node = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside), more);
  let notes = [];
  let notRead = [];
  let leading = null;
  let finding = null;
  const sentence = (summary) => {
    if (summary.is_diff) return say.changeSentence(summary);
    const many = countFilters(url.state);
    return summary.sample_count === 0 && many ? say.nothingSentence(summary, many) : say.liveSentence(summary);
  };
  const drawTitle = () => {
    const { summary } = subject;
    if (!summary) return;
    const isLed = leading != null && url.state.view === 'series';
    const isTold = !isLed && isGrave(finding) && !summary.is_diff && countFilters(url.state) === 0;
    const own = nodesOf(sentence(summary), isLed || isTold);
    const first = isLed
      ? nodesOf(leading)
      : isTold
        ? [
            nodesOf(sentenceParts(finding)),
            ' ',
            el('a', { class: 'see-why', href: linkHere({ view: finding.evidence.view }) }, 'See the series'),
          ]
        : own;
    fill(
      title,
      el('span', { class: 'answer-first' }, first),
      isLed || isTold ? [' ', el('span', { class: 'answer-second dim' }, own)] : null,
    );
  };
  const drawNotes = () =>
    fill(
      aside,
      notesButton([
        ...notes,
        ...notRead.map(({ file, reason }) => ({ text: `${visible(file)} is not shown: ${reason}.` })),
      ]),
    );
  return {
    node,
    show(summary, nextNotes) {
      notes = nextNotes;
      const passed = say.filteredSentence(summary, countFilters(url.state));
      drawTitle();
      fill(
        more,
        largestList({ url, store }, summary),
        passed ? el('p', { class: 'device-passed' }, prose(passed)) : null,
        summary.stackless_count > 0
          ? el(
              'p',
              { class: 'dim' },
              `${counted(summary.stackless_count, 'sample')} without a call stack: shown as (no stack); tracebacks ` +
                `were switched off when they were made.`,
            )
          : null,
        summary.kinds.length ? standing() : momentLinks(link, subject),
      );
      drawNotes();
    },
    lead(parts) {
      leading = parts;
      drawTitle();
    },
    setFinding(found) {
      finding = found;
      drawTitle();
    },
    redraw: drawTitle,
    say(sentence) {
      fill(title, el('span', { class: 'answer-first' }, sentence));
      fill(more);
      drawNotes();
    },
    setNotRead(list) {
      notRead = list ?? [];
      drawNotes();
    },
  };
}
