/* SPDX-License-Identifier: Apache-2.0
 * verdict.js: a text that was read, as the page shows it: the failure that is chosen, in sentences and panels, with the
 * text beside them; or why there is none. */

import { get, Problem } from '../../lib/api.js';
import { button, el, fill, name } from '../../lib/dom.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { uploadedName } from '../../lib/uploads.js';
import { createMenu } from '../../widgets/menu.js';
import { createBuffers } from './buffers.js';
import { createFigures, createMarked } from './marked.js';
import { createFit, createNext, createReports, createWhere, menuOf, nothingFound } from './parts.js';
import * as say from './text.js';
import { createWhatif } from './whatif.js';

const MAX_BUFFERS = 1000;
export const CLEARED = { session: '', host: '', module: '', space: null, file: '', local: '', report: '', sort: '' };

/* Where a text lies, as parameters of the daemon and as a choice of the page. */
const aboutOf = (found) => (found.local ? { local: found.local } : { session: found.session, file: found.file });
const hereOf = (found) => (found.local ? { ...CLEARED, tool: 'oom', local: found.local } : { tool: 'oom', local: '', session: found.session });

/* The page of the program that a failure is about, and what the daemon says of its plan: {href, text, plan: the answer's,
 * with linkTo(buffer) and, where the text lists none, `listed`: its buffers; or null; about: what the daemon calls the
 * program; to(more) → href}. Null: this session has no such program. */
async function planFor(found, at, session, context, signal) {
  if (!session || session.module_count === 0 || found.local) return null;
  try {
    const { module, plan } = await get('oom/plan', { session: session.id, file: found.file, report: at + 1 }, { signal });
    if (!module) return null;
    const link = (more) => context.link(session.id, { tool: 'memory_viewer', module: module.id, ...more });
    const text = `${visible(module.name)} in the Memory Viewer${module.is_named ? '' : ' (the only program of this session)'}`;
    const there = { href: link(), text, plan, about: { session: session.id, module: module.id }, to: link };
    if (!plan) return there;
    plan.linkTo = ({ id }) => link({ space: plan.space, pin: { kind: 'b', id } });
    if (plan.space !== null && plan.buffers.length + plan.io_buffers.length === 0) {
      const about = { session: session.id, module: module.id, space: plan.space, sort: '-size', limit: MAX_BUFFERS };
      plan.listed = (await get('memory_viewer/buffers', about, { signal })).data;
    }
    return there;
  } catch (error) {
    if (error instanceof Problem && !['gone', 'token'].includes(error.code)) return null;
    throw error;
  }
}

/* "read from: " and the names of the texts. */
function sourceNodes(found, context, menu) {
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

/* page: the node that holds it all; onPaste: another text is wanted. Out: nodes and what is done with them. */
export function createVerdict(page, context, onPaste) {
  const figures = createFigures(page);
  const title = el('h1', { class: 'answer' });
  const source = el('div', { class: 'oom-source' });
  const instead = el('div', { class: 'oom-instead' });
  const other = button('text-button', onPaste, 'Paste other');
  let failure = null;
  const menu = menuOf(() => ({ failure, rows: buffers.rows }));
  const fit = createFit(figures);
  const where = createWhere(figures, menu);
  const buffers = createBuffers(figures, context, menu);
  const next = createNext();
  const whatif = createWhatif();
  const reports = createReports();
  const text = createMarked(figures, other);
  figures.text = text;
  const panels = [fit.panel.node, where.panel.node, whatif.panel.node, buffers.panel.node, next.panel.node];
  const left = el('div', { class: 'oom-left' }, reports.node, panels);
  const body = el('div', { class: 'oom-body' }, left, text.panel.node);

  function drawNothing(found, sourceName) {
    const about = { about: aboutOf(found), failure, size: found.size_bytes, encoding: found.encoding };
    const said = nothingFound(found, (at) => text.show({ ...about, at }));
    fill(title, said.title);
    fill(instead, said.node);
    instead.hidden = false;
    left.hidden = true;
    reports.node.hidden = true;
    context.setTitle(say.documentTitle(null, sourceName));
    return text.show(about);
  }

  /* All that the plan adds to: at first without it. */
  function drawPlanned(plan) {
    const { verdict } = failure;
    const more = [...verdict.more, ...(plan?.largest ?? [])];
    fill(title, el('span', { class: 'answer-first' }, figures.sentence(verdict.answer)), ' ', el('span', { class: 'answer-second' }, figures.sentence(more)));
    where.show(failure, plan);
    buffers.show(failure, plan);
  }

  async function drawFailure(found, at, { session, sourceName, signal }) {
    instead.hidden = true;
    left.hidden = false;
    context.setTitle(say.documentTitle(failure, sourceName));
    reports.show(found.failures, found.left_out_count, at, (index) => context.linkHere({ ...hereOf(found), report: index ? String(index + 1) : '', sort: '' }));
    fit.show(failure);
    drawPlanned(null);
    next.show(failure);
    whatif.clear();
    const [link] = await Promise.all([
      planFor(found, at, session, context, signal),
      text.show({ about: aboutOf(found), failure, size: found.size_bytes, encoding: found.encoding }),
    ]);
    if (signal.aborted || !link) return;
    next.show(failure, link);
    if (link.plan) drawPlanned(link.plan);
    await whatif.show(failure, link, signal);
  }

  return {
    nodes: { head: el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, el('div', { class: 'answer-aside' }, source))), instead, body },
    /* Failure `at` of what was found, or (-1) that there is none. */
    async show(found, at, session, signal) {
      const sourceName = found.local ? uploadedName(found.local) : (session?.name ?? '');
      failure = found.failures[at] ?? null;
      body.hidden = false;
      fill(source, sourceNodes(found, context, menu));
      other.textContent = found.local ? 'Paste other' : 'Paste a text';
      if (failure) await drawFailure(found, at, { session, sourceName, signal });
      else await drawNothing(found, sourceName);
    },
    /* No text: a sentence, and why. */
    showEmpty(sentence, why) {
      failure = null;
      fill(title, sentence);
      fill(source);
      fill(instead, why);
      instead.hidden = !why;
      body.hidden = true;
    },
    resort: buffers.resort,
    destroy() {
      text.stop();
      buffers.destroy();
    },
  };
}
