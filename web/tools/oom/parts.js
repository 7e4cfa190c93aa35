/* SPDX-License-Identifier: Apache-2.0
 * parts.js: the panels of a failure: whether it fitted, where it went, what to run next; and what is
 * said when there is no failure. */

import { el, fill, nameInline } from '../../lib/dom.js';
import { count, counted, visible } from '../../lib/format.js';
import { command, createPanel, message } from '../../widgets/panel.js';
import { drawBar } from './bar.js';
import { agreement, isOfPlan, planBarOf } from './plan.js';
import * as say from './text.js';

export function createFit(figures) {
  const panel = createPanel('panel-oom-fit', 'Did it fit?');
  return {
    panel,
    show({ verdict, phase, device }) {
      const texts = [figures.sentence(verdict.cause_text), verdict.advice ?? []].filter((text) => text.length > 0);
      const fact = (word, ...about) => el('div', {}, el('dt', {}, word), el('dd', {}, about));
      fill(
        panel.body,
        el('p', { class: 'oom-fits' }, el('strong', {}, verdict.fits)),
        el(
          'dl',
          { class: 'oom-facts' },
          verdict.figures.map((row) =>
            fact(
              row.word,
              figures.node(row.bytes, row.key, `strong ${row.is_over ? 'over' : ''}`, row.text ?? undefined),
              row.after ? el('span', { class: 'dim' }, ` ${visible(row.after)}`) : null,
            ),
          ),
          phase ? fact('when', say.phaseName(phase)) : null,
          device ? fact('device', nameInline(device)) : null,
          fact('how sure', el('span', { title: verdict.sureness_reason }, el('strong', {}, verdict.sureness), el('span', { class: 'dim' }, ` ${verdict.sureness_of}`))),
        ),
        texts.map((text) => el('p', { class: 'oom-why' }, text)),
      );
    },
  };
}

export function createWhere(figures, menu) {
  const panel = createPanel('panel-oom-where', 'Where did it all go?', { menu });
  return {
    panel,
    /* plan: of planOf(), or null. Where the text gives a total alone, the plan says what it is made of. */
    show(failure, plan = null) {
      const { bar: told, other_figures: others } = failure.verdict;
      const bar = (!told?.is_itemised && plan && isOfPlan(failure) && planBarOf(plan, failure)) || told;
      const said = plan ? agreement(failure, plan) : '';
      fill(
        panel.body,
        bar
          ? drawBar(bar, (value, key) => figures.node(value, key, 'strong'))
          : el('p', {}, 'The text does not say what the memory was used for.'),
        said ? el('p', { class: 'oom-agreement' }, said, bar === told ? null : el('span', { class: 'dim' }, ' The text states a total alone; the bar is of the plan.')) : null,
        el(
          'ul',
          { class: 'oom-legend oom-others', 'aria-label': 'What else the text states' },
          others.map((row) => el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.node(row.bytes, row.key))),
          say.wordRows(failure).map((row) => el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.word(row.text, row.key))),
        ),
      );
    },
  };
}

/* Commands with a button each. `link`: {href, text} of the module's own page, or null. */
export function createNext() {
  const panel = createPanel('panel-oom-next', 'See more');
  return {
    panel,
    show(failure, link = null) {
      const hasList = failure.buffers.length + failure.io_buffers.length > 0;
      const isTotal = failure.family === 'tpu_compile' && !hasList && failure.form !== 'fast_exit';
      const stepNodes = failure.verdict.next_steps.map((step) => (step.kind === 'command' ? command(step.text) : el('p', {}, visible(step.text))));
      panel.setTitle(isTotal && !link ? 'The error gives a total only' : 'To see more');
      fill(
        panel.body,
        link ? el('p', {}, 'The compiler\u2019s plan of this program is here: ', el('a', { href: link.href }, link.text), '.') : null,
        failure.notes.map((note) => el('p', { class: 'oom-note' }, visible(note.text))),
        link ? el('details', { class: 'folded' }, el('summary', {}, 'How to record it again'), stepNodes) : stepNodes,
        failure.family === 'tpu_compile' && !link ? el('p', {}, 'Then drop the folder into the one that memviewd watches, or name it: the Memory Viewer opens its modules.') : null,
      );
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
        el(
          'button',
          { type: 'button', class: 'oom-line', on: { click: () => onLine(line.begin_bytes) } },
          el('span', { class: 'oom-line-at' }, count(line.line)),
          el('bdi', { class: 'oom-line-text' }, visible(line.text)),
        ),
      ),
    ),
    lines.mention_count > lines.mentions.length ? el('li', { class: 'dim' }, `${counted(lines.mention_count - lines.mentions.length, 'further line')} not listed.`) : null,
  );
  const button =
    lines.mention_count > 0
      ? el(
          'button',
          {
            type: 'button',
            class: 'text-button',
            'aria-expanded': 'false',
            on: {
              click: () => {
                list.hidden = !list.hidden;
                button.setAttribute('aria-expanded', String(!list.hidden));
              },
            },
          },
          `Show the lines that mention memory: ${count(lines.mention_count)}`,
        )
      : null;
  const looked = el('details', { class: 'folded' }, el('summary', {}, 'Sentences that were looked for'), el('ol', {}, found.looked_for.map((each) => el('li', {}, visible(each)))));
  return { title, node: el('div', { class: 'oom-nothing' }, message({ title: '', text }), button, list, isReport ? null : looked) };
}
