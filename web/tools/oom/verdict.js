/* SPDX-License-Identifier: Apache-2.0
 * verdict.js: what a text, a plan, a trace or profiles say, as the page shows it in four blocks: the failure that is chosen
 * with the text beside them, or what is here without one; or why there is none. */

import { get, Problem } from '../../lib/api.js';
import { button, el, fill, loadStyle, name } from '../../lib/dom.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { uploadedName } from '../../lib/uploads.js';
import { evidenceLinks } from '../../widgets/evidence.js';
import { createMenu } from '../../widgets/menu.js';
import { createBuffers } from './buffers.js';
import { createFigures, createMarked } from './marked.js';
import { createFit, createNext, createReports, createWhere, menuOf, nothingFound } from './parts.js';
import * as say from './text.js';
import { createAdvice } from './advice.js';
import { createPeak } from './peak.js';
import { createArrays } from './arrays.js';
import { saysMoreThanText } from './spread.js';

export const CLEARED = { session: '', host: '', module: '', space: null, file: '', local: '', report: '', sort: '', whatif: [] };

/* Where a text lies, as parameters of the daemon and as a choice of the page. */
const aboutOf = (found) => (found.local ? { local: found.local } : { session: found.session, file: found.file });
const hereOf = (found) => (found.local ? { ...CLEARED, tool: 'oom', local: found.local } : { tool: 'oom', local: '', session: found.session });

/* The page of the program that a failure is about, and what the daemon says of its plan: {href, text, plan: the answer's,
 * with linkTo(buffer), or null}. Null: this session has no such program. */
async function planFor(found, at, session, context, signal) {
  if (!session || session.module_count === 0 || found.local) return null;
  try {
    const { module, plan } = await get('oom/plan', { session: session.id, file: found.file, report: at + 1 }, { signal });
    if (!module) return null;
    const link = (more) => context.link(session.id, { tool: 'memory_viewer', module: module.id, ...more });
    const text = `${visible(module.name)} in the Memory Viewer${module.is_named ? '' : ' (the only program of this session)'}`;
    const there = { href: link(), text, plan };
    if (!plan) return there;
    plan.linkTo = ({ id }) => link({ space: plan.space, pin: { kind: 'b', id } });
    return there;
  } catch (error) {
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}

/* What the daemon makes of all that is here: of the text `found` (null: there is none), of the session. Null where it says
 * nothing. A capacity that is none in the URL is left out. */
export async function askCore(found, at, { route, session }, signal) {
  const text = found?.local ? { local: found.local } : { session: session?.id, file: found?.file };
  const about = { ...text, host: route.host, module: route.module, report: found ? at + 1 : '', capacity: route.capacity };
  try {
    return await get('verdict', about, { signal });
  } catch (error) {
    if (error.status === 400 && route.capacity) return askCore(found, at, { route: { ...route, capacity: '' }, session }, signal);
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}

/* Is there anything that a page could show? */
export const saysNothing = ({ fits, where, ledger, advice, peak, arrays }) => fits === 'unknown' && where.length + ledger.bars.length + advice.length + peak.groups.length + (arrays?.items.length ?? 0) === 0;

/* Figures that the sentence turns on, larger. */
function emphasised(sentence, mentions, fit, links) {
  const main = mentions.find(({ bytes: value }) => value === fit.needed_bytes);
  const at = main ? sentence.indexOf(main.text) : -1;
  if (at < 0) return links.sentence(sentence, mentions);
  const rest = mentions.slice(mentions.indexOf(main) + 1);
  return [visible(sentence.slice(0, at)), links.figure(main.bytes, main.evidence, main.text, 'answer-figure'), links.sentence(sentence.slice(at + main.text.length), rest)];
}

/* "read from: " and the names of the texts. */
function sourceNodes(found, context, menu) {
  if (!found) return [createMenu('Verdict', menu)];
  const files = found.files ?? [];
  const select = el(
    'select',
    { 'aria-label': 'Text that was read', on: { change: () => context.choose({ file: select.value, report: '', sort: '' }) } },
    files.map((file) => el('option', { value: file, selected: file === found.file }, cutMiddle(visible(file), 60))),
  );
  return [
    el('span', { class: 'dim' }, 'read from: '),
    files.length > 1 ? select : found.file ? name(found.file) : name(uploadedName(found.local)),
    found.failures.length ? createMenu('Verdict', menu) : null,
  ];
}

/* ---- what the page is made of ---- */

/* The parts of the page and what they show: `failure` of a text, `core` the verdict of all that is here; either may be null. */
function build(page, context, onPaste) {
  const figures = createFigures(page);
  const ui = { context, onPaste, figures, failure: null, core: null, ready: loadStyle('whatif.css') };
  ui.menu = menuOf(() => ({ failure: ui.failure, core: ui.core, rows: ui.buffers.rows }));
  Object.assign(ui, {
    title: el('h1', { class: 'answer' }),
    source: el('div', { class: 'oom-source' }),
    finding: el('p', { class: 'oom-finding', hidden: true }),
    instead: el('div', { class: 'oom-instead' }),
    other: button('text-button', onPaste, 'Paste other'),
    reports: createReports(),
    fit: createFit(figures),
    where: createWhere(figures, ui.menu),
    peak: createPeak(),
    arrays: createArrays(),
    buffers: createBuffers(figures, context, ui.menu),
    advice: createAdvice(context),
    next: createNext(),
  });
  ui.text = createMarked(figures, ui.other);
  figures.text = ui.text;
  const panels = [ui.fit, ui.where, ui.peak, ui.arrays, ui.buffers, ui.advice, ui.next].map(({ panel }) => panel.node);
  ui.left = el('div', { class: 'oom-left' }, ui.reports.node, panels);
  ui.body = el('div', { class: 'oom-body' }, ui.left, ui.text.panel.node);
  ui.head = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, ui.title, el('div', { class: 'answer-aside' }, ui.source)), ui.finding);
  return ui;
}

function drawNothing(ui, found, sourceName) {
  const about = { about: aboutOf(found), failure: null, size: found.size_bytes, encoding: found.encoding };
  const said = nothingFound(found, (at) => ui.text.show({ ...about, at }));
  fill(ui.title, said.title);
  fill(ui.instead, said.node);
  ui.instead.hidden = false;
  ui.left.hidden = ui.finding.hidden = ui.reports.node.hidden = true;
  ui.context.setTitle(say.documentTitle(null, sourceName));
  return ui.text.show(about);
}

/* All that the plan adds to: at first without it. */
function drawPlanned({ title, figures, failure, core, where, buffers }, plan, links) {
  const { verdict } = failure;
  const more = [...verdict.more, ...(plan?.largest ?? [])];
  if (saysMoreThanText(core)) fill(title, el('span', { class: 'answer-first' }, emphasised(core.verdict, core.figures, core.fit, links)));
  else fill(title, el('span', { class: 'answer-first' }, figures.sentence(verdict.answer)), ' ', el('span', { class: 'answer-second' }, figures.sentence(more)));
  where.show(failure, plan, core, links);
  buffers.show(failure, plan, core !== null && core.peak.groups.length === 0);
}

const landless = ({ confidence, saves_bytes: saves, evidence }, links) =>
  saves === null ? [] : [': saves ', confidence === 'bound' ? '≤ ' : '', links.figure(saves, evidence.saves)];

/* The best piece of advice, in the line of the answer; none where it fits. What it lands at, or what it saves where that
 * alone is known. */
function drawFinding({ finding, core, advice, figures: { links } }) {
  const best = core && (core.advice[core.best] ?? null);
  finding.hidden = !best;
  if (!best) return;
  const ends = { yes: ', fits', perhaps: ', may fit', no: ', not enough alone', unknown: '' }[best.fits];
  fill(
    finding,
    el('span', { 'aria-hidden': 'true' }, '▶ '),
    visible(best.title),
    best.lands_at_bytes === null ? landless(best, links) : [': ', best.confidence === 'bound' ? '≥ ' : '', links.figure(best.lands_at_bytes, best.evidence.lands_at)],
    `${ends} (${best.confidence}). `,
    button('link-button', advice.focus, 'How'),
  );
}

/* What is made of all that is here; nothing of it where the daemon says nothing. */
function drawCore(ui) {
  const { core, peak, advice, figures } = ui;
  drawFinding(ui);
  if (!core) {
    peak.panel.node.hidden = ui.arrays.panel.node.hidden = advice.panel.node.hidden = true;
    return null;
  }
  peak.show(core, figures.links);
  ui.arrays.show(core, figures.links);
  return advice.show(core, figures.links);
}

async function drawFailure(ui, found, at, { session, sourceName, signal }) {
  const { context, failure, figures, fit, next, reports, text } = ui;
  context.setTitle(say.documentTitle(failure, sourceName));
  reports.show(found.failures, found.left_out_count, at, (index) => context.linkHere({ ...hereOf(found), report: index ? String(index + 1) : '', sort: '' }));
  ui.core = figures.links = null;
  fit.show(failure, null, null);
  drawPlanned(ui, null, null);
  next.show(failure);
  void drawCore(ui);
  const [link, core] = await Promise.all([
    planFor(found, at, session, context, signal),
    askCore(found, at, { route: context.route, session }, signal),
    text.show({ about: aboutOf(found), failure, size: found.size_bytes, encoding: found.encoding }),
    ui.ready,
  ]);
  if (signal.aborted) return;
  ui.core = core;
  const links = (figures.links = core && evidenceLinks(context, core, figures, failure));
  fit.show(failure, core, links);
  drawPlanned(ui, link?.plan ?? null, links);
  if (link || core) next.show(failure, link, core);
  await drawCore(ui);
}

/* Of a plan, a trace or profiles, without a text. */
async function drawAlone(ui, core, sourceName) {
  const { context, figures, fit, where, title } = ui;
  const links = (figures.links = evidenceLinks(context, core, null));
  ui.core = core;
  context.setTitle(say.documentTitle(null, sourceName, core));
  fill(title, el('span', { class: 'answer-first' }, emphasised(core.verdict, core.figures, core.fit, links)));
  for (const node of [ui.reports.node, ui.text.panel.node, ui.buffers.panel.node, ui.next.panel.node]) node.hidden = true;
  await ui.ready;
  fit.show(null, core, links);
  where.show(null, null, core, links);
  await drawCore(ui);
}

/* page: the node that holds it all; onPaste: another text is wanted. Out: nodes and what is done with them. */
export function createVerdict(page, context, onPaste) {
  const ui = build(page, context, onPaste);
  return {
    nodes: { head: ui.head, instead: ui.instead, body: ui.body },
    /* Failure `at` of what was found, or (-1) that there is none; without a text (null) `core` of what else is here. */
    async show(found, at, session, signal, core = null) {
      const sourceName = found?.local ? uploadedName(found.local) : (session?.name ?? '');
      ui.failure = found?.failures[at] ?? null;
      ui.core = null;
      ui.body.hidden = ui.left.hidden = ui.text.panel.node.hidden = ui.next.panel.node.hidden = false;
      ui.instead.hidden = true;
      ui.body.classList.toggle('is-alone', !found);
      fill(ui.source, sourceNodes(found, context, ui.menu), found ? null : button('text-button', onPaste, 'Paste a text'));
      ui.other.textContent = found?.local ? 'Paste other' : 'Paste a text';
      if (!found) await drawAlone(ui, core, sourceName);
      else if (ui.failure) await drawFailure(ui, found, at, { session, sourceName, signal });
      else await drawNothing(ui, found, sourceName);
    },
    /* No text: a sentence, and why. */
    showEmpty(sentence, why) {
      ui.failure = ui.core = null;
      ui.finding.hidden = true;
      fill(ui.title, sentence);
      fill(ui.source);
      fill(ui.instead, why);
      ui.instead.hidden = !why;
      ui.body.hidden = true;
    },
    /* Of a figure that no page shows: how it is worked out. */
    cardOf: (word, number) => (word === 'evidence' ? (ui.figures.links?.cardOf(number) ?? null) : null),
    /* What is chosen of it has changed in the URL. */
    hear: () => Promise.all([ui.buffers.resort(), ui.advice.hear()]),
    destroy() {
      ui.advice.stop();
      ui.text.stop();
      ui.buffers.destroy();
    },
  };
}
