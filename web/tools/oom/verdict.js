/* SPDX-License-Identifier: Apache-2.0
 * verdict.js: what a text, a plan, a trace or profiles say, as the page shows it: the answer and why; beside each other
 * where it went and what will make it fit; below them the text and how the figures are made. Or why there is nothing.
 * */

import { get, Problem } from '../../lib/api.js';
import { button, el, fill, loadStyle, name } from '../../lib/dom.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { predictedFit } from '../../lib/predicted.js';
import { uploadedName } from '../../lib/uploads.js';
import { evidenceLinks } from '../../widgets/evidence.js';
import { createMenu } from '../../widgets/menu.js';
import { remPx } from '../../widgets/table_header.js';
import { createBuffers } from './buffers.js';
import { createFigures, createMarked } from './marked.js';
import { createLedger, createMade, whyNodes } from './made.js';
import { createNext, createReports, menuOf, nothingFound } from './parts.js';
import * as say from './text.js';
import { createAdvice } from './advice.js';
import { createArrays } from './arrays.js';
import { saysMoreThanText } from './spread.js';
import { createWhere } from './where.js';

export const CLEARED = {
  session: '',
  host: '',
  module: '',
  space: null,
  file: '',
  local: '',
  report: '',
  sort: '',
  whatif: [],
};

/* Where a text lies, as parameters of the daemon and as a choice of the page. */
const aboutOf = (found) => (found.local ? { local: found.local } : { session: found.session, file: found.file });
const hereOf = (found) =>
  found.local ? { ...CLEARED, tool: 'oom', local: found.local } : { tool: 'oom', local: '', session: found.session };

/* The page of the program that a failure is about, and what the daemon says of its plan: {href, text, plan: the
   answer's,
 * with linkTo(buffer), or null}. Null: this session has no such program. */
async function planFor(found, at, session, context, signal) {
  if (!session || session.module_count === 0 || found.local) return null;
  try {
    const { module, plan } = await get(
      'oom/plan',
      { session: session.id, file: found.file, report: at + 1 },
      { signal },
    );
    if (!module) return null;
    const link = (more) => context.link(session.id, { tool: 'memory_viewer', module: module.id, ...more });
    const text =
      `${visible(module.name)} in the Memory ` +
      `Viewer${module.is_named ? '' : ' (the only program of this session)'}`;
    const there = { href: link(), text, plan };
    if (!plan) return there;
    plan.linkTo = ({ id }) => link({ space: plan.space, pin: { kind: 'b', id } });
    return there;
  } catch (error) {
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}

/* What the daemon makes of all that is here: of the text `found` (null: there is none), of the session. Null where it
   says
 * nothing. A capacity that is none in the URL is left out. */
export async function askCore(found, at, { route, session }, signal) {
  const text = found?.local ? { local: found.local } : { session: session?.id, file: found?.file };
  const about = {
    ...text,
    host: route.host,
    module: route.module,
    report: found ? at + 1 : '',
    capacity: route.capacity,
  };
  try {
    return await get('verdict', about, { signal });
  } catch (error) {
    if (error.status === 400 && route.capacity)
      return askCore(found, at, { route: { ...route, capacity: '' }, session }, signal);
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}

/* Is there anything that a page could show? */
export const saysNothing = ({ fits, where, ledger, advice, peak, arrays }) =>
  fits === 'unknown' &&
  where.length + ledger.bars.length + advice.length + peak.groups.length + (arrays?.items.length ?? 0) === 0;

/* Figures that the sentence turns on, larger. */
function emphasised(sentence, mentions, fit, links) {
  const main = mentions.find(({ bytes: value }) => value === fit.needed_bytes);
  const at = main ? sentence.indexOf(main.text) : -1;
  if (at < 0) return links.sentence(sentence, mentions);
  const rest = mentions.slice(mentions.indexOf(main) + 1);
  return [
    visible(sentence.slice(0, at)),
    links.figure(main.bytes, main.evidence, main.text, 'answer-figure'),
    links.sentence(sentence.slice(at + main.text.length), rest),
  ];
}

/* "read from: " and the names of the texts. */
function sourceNodes(found, context, menu) {
  if (!found) return [createMenu('Verdict', menu)];
  const files = found.files ?? [];
  const select = el(
    'select',
    {
      'aria-label': 'Text that was read',
      on: { change: () => context.choose({ file: select.value, report: '', sort: '' }) },
    },
    files.map((file) => el('option', { value: file, selected: file === found.file }, cutMiddle(visible(file), 60))),
  );
  return [
    el('span', { class: 'dim' }, 'read from: '),
    files.length > 1 ? select : found.file ? name(found.file) : name(uploadedName(found.local)),
    found.failures.length ? createMenu('Verdict', menu) : null,
  ];
}

/* ---- what the page is made of ---- */

/* The parts of the page and what they show: `failure` of a text, `core` the verdict of all that is here; either may be
   null. */
function build(page, context, onPaste) {
  const figures = createFigures(page);
  const ui = { context, onPaste, figures, failure: null, core: null, ready: loadStyle('whatif.css') };
  ui.menu = menuOf(() => ({ failure: ui.failure, core: ui.core, rows: ui.buffers.rows }));
  Object.assign(ui, {
    title: el('h1', { class: 'answer' }),
    source: el('div', { class: 'oom-source' }),
    why: el('div', { class: 'oom-whys' }),
    finding: el('p', { class: 'oom-finding', hidden: true }),
    instead: el('div', { class: 'oom-instead' }),
    other: button('text-button', onPaste, 'Paste other'),
    reports: createReports(),
    where: createWhere(figures, () => [...ui.menu(), ui.where.peak.menu()]),
    arrays: createArrays(),
    buffers: createBuffers(figures, context, ui.menu),
    advice: createAdvice(context),
    next: createNext(),
    made: createMade(figures),
    ledger: createLedger(),
  });
  ui.text = createMarked(figures, ui.other);
  figures.text = ui.text;
  ui.text.setFold(true);
  const nodes = (...parts) => parts.map(({ panel }) => panel.node);
  ui.left = el('div', { class: 'oom-column oom-left' }, nodes(ui.where, ui.arrays, ui.buffers));
  ui.right = el('div', { class: 'oom-column oom-right' }, nodes(ui.advice, ui.next));
  ui.columns = el('div', { class: 'oom-columns' }, ui.left, ui.right);
  ui.body = el('div', { class: 'oom-body' }, ui.reports.node, ui.columns, nodes(ui.text, ui.made, ui.ledger));
  ui.head = el(
    'div',
    { class: 'head' },
    el('div', { class: 'answer-row' }, ui.title, el('div', { class: 'answer-aside' }, ui.source)),
    ui.why,
    ui.finding,
  );
  return ui;
}

/* ---- where the text and the lists stand ---- */

const isShown = ({ panel }) => !panel.node.hidden;
const isEmpty = (column) => [...column.children].every((node) => node.hidden);
const MANY_ROWS = 6;
const FEW_PIECES = 2;

/* To the end of `parent`, or before a child of it; what stands in it already keeps its focus. */
function move(node, parent, before = null) {
  if (node.parentNode !== parent) parent.insertBefore(node, before);
}

/* Room for two columns, as oom.css has them: 59 rem of the page with its edges. */
const TWO_COLUMNS_REM = 57.5;

/* onTurn(): there is room for two columns now, or no longer. Out: {isWide(), stop()}. */
function watchRoom(page, onTurn) {
  let isWide = null; // measured once: each question would lay out the whole page anew
  const measure = () => page.clientWidth >= TWO_COLUMNS_REM * remPx();
  const watch = new ResizeObserver(() => {
    const was = isWide;
    isWide = measure();
    if (was != null && isWide !== was) onTurn();
  });
  watch.observe(page);
  return { isWide: () => (isWide ??= measure()), stop: () => watch.disconnect() };
}

/* In a column that has room for it; null: below what else there is. */
function placeText({ text, made, body }, column) {
  if (column) move(text.panel.node, column);
  else move(text.panel.node, body, made.panel.node);
}

/* No column stands empty beside a full one: a text takes the place of a picture or list that is not there, and of
   advice.
 * isAsking: what the daemon makes of it is on its way, and the text stays where it is. */
function place(ui, isAsking) {
  const { core, text, where, buffers, arrays, advice, next, left, right, columns, body, made } = ui;
  const groups = core?.peak.groups.length ?? 0;
  /* Of groups of the plan and a list of the text the first is the picture's. */
  if (groups > 0) move(buffers.panel.node, body, made.panel.node);
  else move(buffers.panel.node, left, arrays.panel.node.nextSibling);
  const isShortRight = !isShown(advice) || (core.advice.length <= FEW_PIECES && groups >= MANY_ROWS);
  const column = groups === 0 ? left : isShortRight && !isShown(next) ? right : null;
  if (isShown(text) && !isAsking) {
    placeText(ui, ui.room.isWide() ? column : null);
    text.setFold(column == null);
  }
  move(
    next.panel.node,
    ui.room.isWide() && isShown(advice) && !isShown(where) && !isShown(buffers) && !isShown(arrays) ? left : right,
  );
  left.hidden = isEmpty(left);
  right.hidden = isEmpty(right);
  columns.hidden = left.hidden && right.hidden;
  columns.classList.toggle('is-single', left.hidden || right.hidden);
  columns.classList.toggle('has-table', groups === 0 && isShown(buffers));
}

function drawNothing(ui, found, sourceName) {
  const about = { about: aboutOf(found), failure: null, size: found.size_bytes, encoding: found.encoding };
  const said = nothingFound(found, (at) => ui.text.show({ ...about, at }));
  fill(ui.title, said.title);
  fill(ui.why);
  fill(ui.instead, said.node);
  ui.instead.hidden = false;
  for (const part of [ui.where, ui.arrays, ui.buffers, ui.advice, ui.next, ui.made, ui.ledger])
    part.panel.node.hidden = true;
  ui.finding.hidden = ui.reports.node.hidden = true;
  placeText(ui, null);
  ui.text.setFold(false);
  ui.columns.hidden = true;
  ui.context.setTitle(say.documentTitle(null, sourceName));
  return ui.text.show(about);
}

/* All that the plan adds to: at first without it. What is largest is said once: by the cause where there is one, in the
   words
 * of the list. */
function drawPlanned(ui, link, links) {
  const { title, figures, failure, core, where, buffers, made, next } = ui;
  const { verdict } = failure;
  const plan = link?.plan ?? null;
  const more = [...verdict.more, ...(core && core.cause.kind !== 'unknown' ? [] : (plan?.largest ?? []))];
  if (saysMoreThanText(core))
    fill(title, el('span', { class: 'answer-first' }, emphasised(core.verdict, core.figures, core.fit, links)));
  else
    fill(
      title,
      el('span', { class: 'answer-first' }, figures.sentence(verdict.answer)),
      ' ',
      el('span', { class: 'answer-second' }, figures.sentence(more)),
    );
  const other = where.show(failure, plan, core, link);
  buffers.show(failure, plan);
  made.show(failure, core, plan, other);
  next.show(failure, link, core, link != null && isShown(where));
}

const landless = ({ confidence, saves_bytes: saves, evidence }, links) =>
  saves == null ? [] : [': saves ', confidence === 'bound' ? '≤ ' : '', links.figure(saves, evidence.saves)];

/* The best piece of advice, in the line of the answer; none where it fits. What it lands at, or what it saves where
   that
 * alone is known. */
function drawFinding({ finding, core, advice, figures: { links } }) {
  const best = core && (core.advice[core.best] ?? null);
  finding.hidden = !best;
  if (!best) return;
  const words = predictedFit(best);
  fill(
    finding,
    el('span', { 'aria-hidden': 'true' }, '▶ '),
    visible(best.title),
    best.lands_at_bytes == null
      ? landless(best, links)
      : [': ', best.confidence === 'bound' ? '≥ ' : '', links.figure(best.lands_at_bytes, best.evidence.lands_at)],
    `${words && ', '}${words} (${best.confidence}). `,
    button('link-button', advice.focus, 'How'),
  );
}

/* What is made of all that is here; nothing of it where the daemon says nothing. */
function drawCore(ui, isAsking = false) {
  const { core, failure, arrays, advice, ledger, figures } = ui;
  drawFinding(ui);
  fill(ui.why, whyNodes(failure, core, figures, ui.title.textContent));
  ledger.show(core, figures.links);
  arrays.panel.node.hidden = advice.panel.node.hidden = true;
  if (core) arrays.show(core, figures.links);
  const drawn = core ? advice.show(core, figures.links) : null;
  place(ui, isAsking);
  return drawn;
}

async function drawFailure(ui, found, at, { session, sourceName, signal }) {
  const { context, failure, figures, reports, text } = ui;
  context.setTitle(say.documentTitle(failure, sourceName));
  reports.show(found.failures, found.left_out_count, at, (index) =>
    context.linkHere({ ...hereOf(found), report: index ? String(index + 1) : '', sort: '' }),
  );
  ui.core = figures.links = null;
  drawPlanned(ui, null, null);
  void drawCore(ui, true);
  const [link, core] = await Promise.all([
    planFor(found, at, session, context, signal),
    askCore(found, at, { route: context.route, session }, signal),
    text.show({ about: aboutOf(found), failure, size: found.size_bytes, encoding: found.encoding }),
    ui.ready,
  ]);
  if (signal.aborted) return;
  ui.core = core;
  const links = (figures.links = core && evidenceLinks(context, core, figures, failure));
  drawPlanned(ui, link, links);
  await drawCore(ui);
}

/* Of a plan, a trace or profiles, without a text. */
async function drawAlone(ui, core, sourceName) {
  const { context, figures, made, where, title } = ui;
  const links = (figures.links = evidenceLinks(context, core, null));
  ui.core = core;
  context.setTitle(say.documentTitle(null, sourceName, core));
  fill(title, el('span', { class: 'answer-first' }, emphasised(core.verdict, core.figures, core.fit, links)));
  for (const node of [ui.reports.node, ui.text.panel.node, ui.buffers.panel.node, ui.next.panel.node])
    node.hidden = true;
  await ui.ready;
  const href = links.viewer({});
  const link = href && { href, text: `${visible(core.module.name)} in the Memory Viewer` };
  made.show(null, core, null, where.show(null, null, core, link));
  await drawCore(ui);
}

/* page: the node that holds it all; onPaste: another text is wanted. Out: nodes and what is done with them. */
export function createVerdict(page, context, onPaste) {
  const ui = build(page, context, onPaste);
  ui.room = watchRoom(page, () => (ui.core || ui.failure) && !ui.body.hidden && !ui.columns.hidden && place(ui, false));
  return {
    nodes: { head: ui.head, instead: ui.instead, body: ui.body },
    /* Failure `at` of what was found, or (-1) that there is none; without a text (null) `core` of what else is here. */
    async show(found, at, session, signal, core = null) {
      const sourceName = found?.local ? uploadedName(found.local) : (session?.name ?? '');
      ui.failure = found?.failures[at] ?? null;
      ui.core = null;
      ui.body.hidden = ui.text.panel.node.hidden = ui.made.panel.node.hidden = false;
      ui.instead.hidden = true;
      fill(
        ui.source,
        sourceNodes(found, context, ui.menu),
        found ? null : button('text-button', onPaste, 'Paste a text'),
      );
      ui.other.textContent = found?.local ? 'Paste other' : 'Paste a text';
      if (!found) await drawAlone(ui, core, sourceName);
      else if (ui.failure) await drawFailure(ui, found, at, { session, sourceName, signal });
      else await drawNothing(ui, found, sourceName);
    },
    /* No text: a sentence, and why. */
    showEmpty(sentence, why) {
      ui.failure = ui.core = null;
      ui.finding.hidden = true;
      fill(ui.why);
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
      ui.room.stop();
      ui.advice.stop();
      ui.text.stop();
      ui.buffers.destroy();
    },
  };
}
