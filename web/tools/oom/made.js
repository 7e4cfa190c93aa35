/* SPDX-License-Identifier: Apache-2.0
 * made.js: what stands behind a click: how the figures of the page are made, and the ledger. And why it happened, which
 * stands below the answer. */

import { el, fill, nameInline } from '../../lib/dom.js';
import { bytes, visible } from '../../lib/format.js';
import { drawLedger } from '../../widgets/ledger.js';
import { drawBar } from './bars.js';
import * as say from './text.js';
import { figureWith } from './where.js';

/* A panel that is closed until it is asked for; `panel` as of createPanel(). */
function createClosed(className, title) {
  const body = el('div', { class: 'panel-body' });
  const node = el(
    'details',
    { class: `panel oom-closed ${className}` },
    el('summary', { class: 'panel-head' }, el('h2', {}, title)),
    body,
  );
  return { node, body };
}

const fact = (word, ...about) => el('div', {}, el('dt', {}, word), el('dd', {}, about));

const FITS = { yes: 'Yes.', no: 'No.', perhaps: 'Perhaps: it is too close to tell.', unknown: 'Not known.' };

const sureNode = ({ sureness, sureness_of: whose, sureness_reason: reason }) =>
  el('span', { title: reason }, el('strong', {}, sureness), whose ? el('span', { class: 'dim' }, ` ${whose}`) : null);

/* Of a plan, a trace or profiles alone, without a text. */
function factsOf({ fits, fit }, links) {
  const { evidence } = fit;
  const known = (word, name, ...about) =>
    fit[`${name}_bytes`] == null
      ? null
      : fact(
          word,
          links.figure(fit[`${name}_bytes`], evidence[name], undefined, name === 'over' ? 'strong over' : 'strong'),
          about,
        );
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
      source === 'snapshot' && stated != null && bytes(stated) !== bytes(value)
        ? el(
            'span',
            { class: agrees ? 'dim' : 'caution', title: why ?? '' },
            agrees ? ' text: ' : ' the text says ',
            links.figure(stated, own, undefined, ''),
          )
        : null,
    ),
  );

const isTogether = (core) => Boolean(core?.together?.rows.length);

/* Of a text; core: the verdict, or null while it is asked for. */
function factsOfText({ verdict, phase, device }, core, figures) {
  const rows = verdict.figures.map((row) =>
    fact(
      row.word,
      figures.node(row.bytes, row.key, `strong ${row.is_over ? 'over' : ''}`, row.text ?? undefined),
      row.after ? el('span', { class: 'dim' }, ` ${visible(row.after)}`) : null,
    ),
  );
  return [
    el('p', { class: 'oom-fits' }, el('strong', {}, verdict.fits)),
    el(
      'dl',
      { class: 'oom-facts' },
      isTogether(core) ? togetherFacts(core.together, figures.links) : rows,
      verdict.whose ? fact('whose', visible(verdict.whose)) : null,
      phase ? fact('when', say.phaseName(phase)) : null,
      device ? fact('device', nameInline(device)) : null,
      fact('how sure', sureNode(core?.fit ?? verdict)),
    ),
  ];
}

/* Why it happened, in the daemon's sentences, each once: of the text, of all that is here, and what could not be read.
 * answer: what stands above them. */
export function whyNodes(failure, core, figures, answer) {
  const { links } = figures;
  const isOfRun = failure?.phase === 'run' && core?.module;
  const ofText = failure ? [figures.sentence(failure.verdict.cause_text), failure.verdict.advice ?? []] : [];
  const said = isTogether(core) || isOfRun ? [links.sentence(core.fit.sentence, core.fit.figures)] : ofText;
  const hasCause = core && core.cause.kind !== 'unknown' && !answer.includes(core.cause.text);
  const notRead = (core?.not_read ?? []).filter((row) => row.sentence !== core.verdict);
  return [
    hasCause
      ? el(
          'p',
          { class: 'oom-why' },
          links.sentence(core.cause.text, core.cause.figures),
          ' ',
          el('span', { class: 'dim' }, core.cause.confidence),
        )
      : null,
    ...said
      .filter((parts) => parts.length > 0)
      .map((parts) => el('p', { class: 'oom-why' }, parts))
      .filter((node) => node.textContent !== '' && node.textContent !== core?.cause.text),
    ...notRead.map((row) => el('p', { class: 'oom-note' }, visible(row.sentence))),
  ];
}

/* What the text states beside its sizes. */
const othersNode = (failure, figures) =>
  el(
    'ul',
    { class: 'oom-legend oom-others', 'aria-label': 'What else the text states' },
    failure.verdict.other_figures.map((row) =>
      el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.node(row.bytes, row.key)),
    ),
    say
      .wordRows(failure)
      .map((row) => el('li', {}, el('span', { class: 'dim' }, `${row.word} `), figures.word(row.text, row.key))),
  );

export function createMade(figures) {
  const panel = createClosed('panel-oom-made', 'How these figures are computed');
  return {
    panel,
    /* failure: of a text, or null; core, plan: see where.js; other: a bar of the same memory, or null. */
    show(failure, core, plan, other) {
      const { links } = figures;
      const notes = (core?.notes ?? []).filter(
        (note) => !failure || core.together || note.kind === 'snapshot' || note.kind === 'profile',
      );
      fill(
        panel.body,
        failure ? factsOfText(failure, core, figures) : factsOf(core, links),
        other ? drawBar({ ...other, limit: null, over_bytes: 0 }, figureWith(figures, links)) : null,
        plan?.agreement.length ? el('p', { class: 'oom-agreement' }, figures.sentence(plan.agreement)) : null,
        failure ? othersNode(failure, figures) : null,
        notes.map((note) => el('p', { class: 'oom-note' }, visible(note.text))),
      );
    },
  };
}

/* What was taken, and who says so. */
export function createLedger() {
  const panel = createClosed('panel-oom-ledger', 'Ledger: what was taken, and the source of each figure');
  const ledger = el('div', { class: 'ledger' });
  panel.body.append(ledger);
  return {
    panel,
    show(core, links) {
      panel.node.hidden = !core;
      if (!core) return;
      drawLedger(ledger, core.ledger, links);
      /* One alone says what the bar says. */
      panel.node.hidden = ledger.hidden || (core.ledger.bars.length === 1 && core.where.length > 0);
    },
  };
}
