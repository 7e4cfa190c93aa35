/* SPDX-License-Identifier: Apache-2.0
 * parts.js: the panels of a failure: whether it fitted, where it went as one bar held against what there was, what to run
 * next, the menu of exports; and what is said when there is no failure. */

import { button, el, fill, nameInline } from '../../lib/dom.js';
import { saveText } from '../../lib/export.js';
import { bytes, count, counted, percent, visible } from '../../lib/format.js';
import { factsLine, fileName } from '../../lib/subject.js';
import { swatchStyle } from '../../widgets/categories.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { command, createPanel, message } from '../../widgets/panel.js';
import { copyText } from '../../widgets/toast.js';
import { tableOf } from './buffers.js';
import { isFarFrom } from '../../widgets/ledger.js';
import { barOf, createSpread, saysMoreThanText } from './spread.js';
import * as say from './text.js';

const fact = (word, ...about) => el('div', {}, el('dt', {}, word), el('dd', {}, about));

const FITS = { yes: 'Yes.', no: 'No.', perhaps: 'Perhaps: it is too close to tell.', unknown: 'Not known.' };

const sureNode = ({ sureness, sureness_of: whose, sureness_reason: reason }) =>
  el('span', { title: reason }, el('strong', {}, sureness), whose ? el('span', { class: 'dim' }, ` ${whose}`) : null);

/* Of a plan, a trace or profiles alone, without a text. */
function factsOf({ fits, fit }, links) {
  const { evidence } = fit;
  const known = (word, name, ...about) => (fit[`${name}_bytes`] === null ? null : fact(word, links.figure(fit[`${name}_bytes`], evidence[name], undefined, name === 'over' ? 'strong over' : 'strong'), about));
  return [
    el('p', { class: 'oom-fits' }, el('strong', {}, FITS[fits]), ' ', links.sentence(fit.sentence, fit.figures)),
    el(
      'dl',
      { class: 'oom-facts' },
      known('needed', 'needed'),
      known('capacity', 'capacity', fit.source ? el('span', { class: 'dim' }, ` ${visible(fit.source)}`) : null),
      fit.over_bytes ? known('over by', 'over') : fits === 'yes' ? known('free', 'free') : null,
      fact('how sure', sureNode(fit)),
    ),
  ];
}

/* Of a text and the snapshot of its failure: the snapshot's figure, and the text's where that is another one. */
const togetherFacts = (together, links) =>
  together.rows.map(({ label, bytes: value, source, text_bytes: stated, agrees, why, evidence, text_evidence: own }) =>
    fact(
      label,
      links.figure(value, evidence),
      source === 'snapshot' && stated !== null && bytes(stated) !== bytes(value)
        ? el('span', { class: agrees ? 'dim' : 'caution', title: why ?? '' }, agrees ? ' text: ' : ' the text says ', links.figure(stated, own, undefined, ''))
        : null,
    ),
  );

/* What the core found beside what the text says; "unknown" says nothing that the text does not. */
const causeNode = (verdict, links) =>
  verdict && verdict.cause.kind !== 'unknown'
    ? el('p', { class: 'oom-why' }, links.sentence(verdict.cause.text, verdict.cause.figures), ' ', el('span', { class: 'dim' }, verdict.cause.confidence))
    : null;

/* Files that the verdict would also rest on; the one that it opens with is said there. */
const notRead = (core) => (core?.not_read ?? []).filter((row) => row.sentence !== core.verdict).map((row) => visible(row.sentence));

export function createFit(figures) {
  const panel = createPanel('panel-oom-fit', '1 Did it fit?');
  return {
    panel,
    /* failure: of a text, or null; core: the verdict of all that is here, or null while it is asked for. */
    show(failure, core, links) {
      if (!failure) {
        fill(panel.body, factsOf(core, links), causeNode(core, links), [...notRead(core), ...core.notes.map((note) => visible(note.text))].map((text) => el('p', { class: 'oom-note' }, text)));
        return;
      }
      const { verdict, phase, device } = failure;
      const together = core?.together ?? null;
      const isSaid = together !== null && together.rows.length > 0;
      const isSaidOfRun = phase === 'run' && core?.module;
      const said = isSaid || isSaidOfRun ? [links.sentence(core.fit.sentence, core.fit.figures)] : [figures.sentence(verdict.cause_text), verdict.advice ?? []];
      const texts = [...said, ...notRead(core), ...(core?.notes ?? []).filter((note) => together || note.kind === 'snapshot' || note.kind === 'profile').map((note) => visible(note.text))].filter((text) => text.length > 0);
      fill(
        panel.body,
        el('p', { class: 'oom-fits' }, el('strong', {}, verdict.fits)),
        el(
          'dl',
          { class: 'oom-facts' },
          isSaid ? togetherFacts(together, links) : verdict.figures.map((row) =>
            fact(
              row.word,
              figures.node(row.bytes, row.key, `strong ${row.is_over ? 'over' : ''}`, row.text ?? undefined),
              row.after ? el('span', { class: 'dim' }, ` ${visible(row.after)}`) : null,
            ),
          ),
          verdict.whose ? fact('whose', visible(verdict.whose)) : null,
          phase ? fact('when', say.phaseName(phase)) : null,
          device ? fact('device', nameInline(device)) : null,
          fact('how sure', sureNode(core?.fit ?? verdict)),
        ),
        /* The cause of a text is said once, as the verdict has it, with how sure it is. */
        texts.map((text) => el('p', { class: 'oom-why' }, text)).filter((node) => node.textContent !== core?.cause.text),
        causeNode(core, links),
      );
    },
  };
}

/* ---- the bar: red is only what lies above the limit ---- */

function piece(className, size, scale, attributes = {}) {
  const node = el('span', { class: className, ...attributes });
  node.style.width = `${(100 * size) / Math.max(1, scale)}%`;
  return node;
}

/* Of a part that holds fragmentation, that is a piece of its own. */
function partPieces(part, scale) {
  const word = visible(part.word);
  const lost = part.fragmentation_bytes;
  const whole = piece(`oom-part ${swatchStyle(part.look)}`, part.bytes - lost, scale, { title: `${word} ${bytes(part.bytes)}`, 'data-key': part.key });
  if (!lost) return [whole];
  return [whole, piece('oom-part swatch-lost', lost, scale, { title: `fragmentation ${bytes(lost)}, of ${word}`, 'data-key': part.fragmentation_key })];
}

/* figureOf(bytes, key, evidence, text, className) → the node of a figure that opens its evidence, or lights its range. */
function drawBar(bar, figureOf) {
  const isFar = bar.limit && isFarFrom(bar.limit.bytes, bar.whole_bytes);
  const scale = isFar ? bar.whole_bytes : Math.max(bar.whole_bytes, bar.limit?.bytes ?? 0);
  const track = el('div', { class: 'oom-bar', role: 'img', 'aria-label': say.barText(bar) }, bar.parts.flatMap((part) => partPieces(part, scale)));
  const held = bar.limit && !isFar
    ? el(
        'div',
        { class: 'oom-limit', 'aria-hidden': 'true' },
        piece('oom-within', Math.min(bar.limit.bytes, scale), scale, { 'data-key': bar.limit.key }),
        bar.over_bytes > 0 ? piece('oom-over', Math.min(bar.over_bytes, scale), scale) : null,
      )
    : null;
  return el('div', { class: 'oom-bars' }, track, held, drawLegend(bar, figureOf));
}

function drawLegend(bar, figureOf) {
  const swatch = (look) => el('span', { class: `swatch ${swatchStyle(look)}`, 'aria-hidden': 'true' });
  const line = (className) => el('span', { class: className, 'aria-hidden': 'true' });
  const share = (part) => (bar.parts.length > 1 ? el('span', { class: 'dim' }, ` ${percent(part, bar.whole_bytes)} of all`) : null);
  const sized = (value, key, evidence = null) => figureOf(value, key, evidence);
  const entries = bar.parts.flatMap((part) => [
    el('li', {}, swatch(part.look), `${visible(part.word)} `, sized(part.bytes, part.key, part.evidence), share(part.bytes)),
    part.fragmentation_bytes > 0 && part.fragmentation_bytes < part.bytes
      ? el('li', {}, swatch('lost'), 'of which fragmentation ', sized(part.fragmentation_bytes, part.fragmentation_key), share(part.fragmentation_bytes))
      : null,
  ]);
  return el(
    'ul',
    { class: 'oom-legend', 'aria-label': 'What the bar is made of' },
    entries,
    bar.parts.length > 1 ? el('li', {}, 'in all ', figureOf(bar.whole_bytes, null, bar.whole_evidence ?? null), bar.of ? el('span', { class: 'dim' }, ` ${bar.of}`) : null) : null,
    bar.limit ? el('li', {}, line('key-line'), `${bar.limit.word} `, figureOf(bar.limit.bytes, bar.limit.key, bar.limit.evidence ?? null), isFarFrom(bar.limit.bytes, bar.whole_bytes) ? el('span', { class: 'dim' }, ' far to the right') : null) : null,
    bar.over_bytes > 0 ? el('li', {}, line('key-line key-over'), `${bar.over_word} `, figureOf(bar.over_bytes, null, bar.over_evidence ?? null, bar.over_text, 'strong over')) : null,
  );
}

/* What the text itemises is the text's; what it does not is the plan's. The limit stays the text's. At run time a text may
 * state the request alone, which is no more than a piece. */
function barFor(told, plan, core, phase) {
  if (core?.together || saysMoreThanText(core)) return barOf(core);
  const isPiece = phase === 'run' && told?.parts.length === 1;
  const own = core && (!told?.is_itemised || isPiece) ? barOf(core) : null;
  if (own && core.where[0].source === 'plan') return told ? { ...own, limit: told.limit ?? own.limit } : own;
  return plan?.bar ?? told;
}

export function createWhere(figures, menu) {
  const panel = createPanel('panel-oom-where', '2 Where did it all go?', { menu });
  const spread = createSpread();
  return {
    panel,
    /* failure: of a text, or null; plan: of the answer oom/plan, or null. Where the text gives a total alone, the plan says
     * what it is made of. core: the verdict, or null while it is asked for. */
    show(failure, plan = null, core = null, links = null) {
      const { bar: told, other_figures: others } = failure?.verdict ?? { bar: barOf(core), other_figures: [] };
      const bar = barFor(told, plan, core, failure?.phase);
      panel.node.hidden = !failure && !bar && core.ledger.bars.length === 0;
      fill(
        panel.body,
        bar
          ? drawBar(bar, (value, key, evidence, text, className = 'strong') => (key || !evidence ? figures.node(value, key, className, text) : links.figure(value, evidence, text, className)))
          : el('p', {}, failure ? 'The text does not say what the memory was used for.' : 'Nothing here says what the memory was used for.'),
        plan?.agreement.length ? el('p', { class: 'oom-agreement' }, figures.sentence(plan.agreement)) : null,
        el(
          'ul',
          { class: 'oom-legend oom-others', 'aria-label': 'What else the text states' },
          others.map((row) => el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.node(row.bytes, row.key))),
          (failure ? say.wordRows(failure) : []).map((row) => el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.word(row.text, row.key))),
        ),
        spread.node,
      );
      spread.show(core, links);
    },
  };
}

/* Commands with a button each. `link`: {href, text} of the module's own page, or null; core: the verdict, which leaves out
 * what need not be made again, or null. */
export function createNext() {
  const panel = createPanel('panel-oom-next', 'See more');
  return {
    panel,
    show(failure, link = null, core = null) {
      const hasList = failure.buffers.length + failure.io_buffers.length > 0;
      const isTotal = failure.family === 'tpu_compile' && !hasList && failure.form !== 'fast_exit';
      const steps = core?.next_steps ?? failure.verdict.next_steps;
      const isDumped = core !== null && core.module !== null;
      panel.setTitle(isTotal && !link && !isDumped ? 'The error gives a total only' : 'To see more');
      fill(
        panel.body,
        link ? el('p', {}, 'The compiler\u2019s plan of this program is here: ', el('a', { href: link.href }, link.text), '.') : null,
        failure.notes.map((note) => el('p', { class: 'oom-note' }, visible(note.text))),
        steps.map((step) => (step.kind === 'command' ? command(step.text) : el('p', {}, visible(step.text)))),
        failure.family === 'tpu_compile' && !link && !isDumped ? el('p', {}, 'Then drop the folder into the one that memviewd watches, or name it: the Memory Viewer opens its modules.') : null,
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
    lines.mention_count > lines.mentions.length ? el('li', { class: 'dim' }, `${counted(lines.mention_count - lines.mentions.length, 'further line')} not listed.`) : null,
  );
  const toggle = () => {
    list.hidden = !list.hidden;
    opener.setAttribute('aria-expanded', String(!list.hidden));
  };
  const opener =
    lines.mention_count > 0
      ? button('text-button', toggle, `Show the lines that mention memory: ${count(lines.mention_count)}`, { 'aria-expanded': 'false' })
      : null;
  const looked = el('details', { class: 'folded' }, el('summary', {}, 'Sentences that were looked for'), el('ol', {}, found.looked_for.map((each) => el('li', {}, visible(each)))));
  return { title, node: el('div', { class: 'oom-nothing' }, message({ title: '', text }), opener, list, isReport ? null : looked) };
}

/* now() → {failure, rows, core}. Entries of the ⋯ menu. */
export function menuOf(now) {
  const table = exportEntries({ name: 'oom', title: () => visible(now().failure?.verdict.title ?? 'Verdict'), table: () => tableOf(now().rows) });
  return () => {
    const { failure, core, rows } = now();
    if (!failure && !core) return [];
    const figures = failure ? [failure] : core;
    return [
      { word: 'Verdict (Markdown) to the clipboard', run: () => copyText(say.verdictText(failure, core, tableOf(rows), factsLine())) },
      { word: 'Figures (JSON)', run: () => saveText(`${JSON.stringify(figures, null, 1)}\n`, fileName('oom', 'json'), 'application/json') },
      ...(failure ? [table()] : []),
    ];
  };
}
