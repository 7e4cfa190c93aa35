/* SPDX-License-Identifier: Apache-2.0
 * parts.js: what stands beside the picture of a failure: what to run next, the list of failures, the menu of exports;
 * and what is said when there is no failure. Its own file: what changes with a text alone. */

import { button, el, fill, nameInline } from '../../lib/dom.js';
import { saveText } from '../../lib/export.js';
import { count, counted, visible } from '../../lib/format.js';
import { factsLine, fileName } from '../../lib/subject.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { command, createPanel, message } from '../../widgets/panel.js';
import { copyText } from '../../widgets/toast.js';
import { tableOf } from './buffers.js';
import * as say from './text.js';

/* Commands with a button each. `link`: {href, text} of the program's page, or null: isLinked, the page has it
   elsewhere; core: the verdict, which leaves out
 * what need not be made again, or null. */
export function createNext() {
  const panel = createPanel('panel-oom-next', 'See more');
  return {
    panel,
    show(failure, link = null, core = null, isLinked = false) {
      const hasList = failure.buffers.length + failure.io_buffers.length > 0;
      const isTotal = failure.family === 'tpu_compile' && !hasList && failure.form !== 'fast_exit';
      const steps = core?.next_steps ?? failure.verdict.next_steps;
      const isDumped = core != null && core.module != null;
      panel.setTitle(isTotal && !link && !isDumped ? 'The error gives a total only' : 'To see more');
      fill(
        panel.body,
        link && !isLinked
          ? el(
              'p',
              {},
              'The compiler\u2019s plan of this program is here: ',
              el('a', { href: link.href }, link.text),
              '.',
            )
          : null,
        failure.notes.map((note) => el('p', { class: 'oom-note' }, visible(note.text))),
        steps.map((step) => (step.kind === 'command' ? command(step.text) : el('p', {}, visible(step.text)))),
        failure.family === 'tpu_compile' && !link && !isDumped
          ? el(
              'p',
              {},
              'Then move the folder into the one that memviewd watches, or pass it on the command line: the Memory ' +
                'Viewer opens its modules.',
            )
          : null,
      );
      panel.node.hidden = panel.body.childElementCount === 0;
    },
  };
}

/* The list of failures; hidden for one alone. linkTo(at) → href. */
export function createReports() {
  const node = el('nav', { class: 'oom-reports', 'aria-label': 'Reports in this text', hidden: true });
  return {
    node,
    show(failures, leftOut, at, linkTo) {
      node.hidden = failures.length < 2 && failures[0]?.replicas === 1 && leftOut === 0;
      fill(
        node,
        el('p', { class: 'oom-reports-title' }, say.reportsText(failures, leftOut)),
        el(
          'ol',
          {},
          failures.map((failure, index) => {
            const line = say.reportLine(failure);
            return el(
              'li',
              {},
              el(
                'a',
                { href: linkTo(index), 'aria-current': index === at ? 'true' : null },
                el('span', { class: 'oom-report-at' }, `${index + 1}`),
                el('span', {}, line.title),
                line.name ? nameInline(line.name, 40) : null,
                el('span', { class: 'oom-report-size' }, line.size),
              ),
            );
          }),
        ),
      );
      node.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    },
  };
}

/* Instead of a failure: what was looked for, and the lines that mention memory. onLine(place) shows one in the text. */
export function nothingFound(found, onLine) {
  const { title, text, isReport } = say.nothing(found);
  const lines = found.lines ?? { mentions: [], mention_count: 0 };
  const list = el(
    'ol',
    { class: 'oom-lines', hidden: true },
    lines.mentions.map((line) =>
      el(
        'li',
        {},
        button('oom-line', () => onLine(line.begin_bytes), [
          el('span', { class: 'oom-line-at' }, count(line.line)),
          el('bdi', { class: 'oom-line-text' }, visible(line.text)),
        ]),
      ),
    ),
    lines.mention_count > lines.mentions.length
      ? el(
          'li',
          { class: 'dim' },
          `${counted(lines.mention_count - lines.mentions.length, 'further line')} not listed.`,
        )
      : null,
  );
  const toggle = () => {
    list.hidden = !list.hidden;
    opener.setAttribute('aria-expanded', String(!list.hidden));
  };
  const opener =
    lines.mention_count > 0
      ? button('text-button', toggle, `Show the lines that mention memory: ${count(lines.mention_count)}`, {
          'aria-expanded': 'false',
        })
      : null;
  const looked = el(
    'details',
    { class: 'folded' },
    el('summary', {}, 'Sentences that memviewd looks for'),
    el(
      'ol',
      {},
      found.looked_for.map((each) => el('li', {}, visible(each))),
    ),
  );
  return {
    title,
    node: el('div', { class: 'oom-nothing' }, message({ title: '', text }), opener, list, isReport ? null : looked),
  };
}

/* now() → {failure, rows, core}. Entries of the ⋯ menu. */
export function menuOf(now) {
  const table = exportEntries({
    name: 'oom',
    title: () => visible(now().failure?.verdict.title ?? 'Verdict'),
    table: () => tableOf(now().rows),
  });
  return () => {
    const { failure, core, rows } = now();
    if (!failure && !core) return [];
    const figures = failure ? [failure] : core;
    return [
      {
        word: 'Verdict (Markdown) to the clipboard',
        run: () => copyText(say.verdictText(failure, core, tableOf(rows), factsLine())),
      },
      {
        word: 'Figures (JSON)',
        run: () => saveText(`${JSON.stringify(figures, null, 1)}\n`, fileName('oom', 'json'), 'application/json'),
      },
      ...(failure ? [table()] : []),
    ];
  };
}
