/* SPDX-License-Identifier: Apache-2.0
 * page.js: what an out-of-memory text says: did it fit, where did it go, and the text itself with every
 * figure marked. The text is one of a session, or one that the reader gave. */

import { get, isAbort, Problem, problemText } from '../../lib/api.js';
import { el, fill, loadStyle, name } from '../../lib/dom.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { uploadedName, uploadText, keptText } from '../../lib/uploads.js';
import { listModules } from '../../lib/selection.js';
import { createMenu } from '../../widgets/menu.js';
import { createBuffers } from './buffers.js';
import { menuOf } from './export.js';
import { createFigures } from './figures.js';
import { createMarked } from './marked.js';
import { createFit, createNext, createReports, createWhere, nothingFound } from './parts.js';
import { createPaste } from './paste.js';
import { planOf } from './plan.js';
import * as say from './text.js';

const CLEARED = { session: '', host: '', module: '', space: null, file: '', local: '', report: '', sort: '' };

/* Pure: index of the failure that `report` (counted from 1) names; -1 for none. */
export function reportAt(report, failures) {
  if (!failures.length) return -1;
  const at = /^\d{1,6}$/.test(report) ? Number(report) - 1 : 0;
  return at < failures.length && at >= 0 ? at : 0;
}

/* Pure: the module of a session that a failure is about: {module, isSure} or null. */
export function moduleOf(failure, modules) {
  const same = failure.module ? modules.find((module) => module.name === failure.module) : null;
  if (same) return { module: same, isSure: true };
  return !failure.module && modules.length === 1 ? { module: modules[0], isSure: false } : null;
}

export function mount(root, context) {
  const ready = loadStyle('oom.css');
  const title = el('h1', { class: 'answer' });
  const source = el('div', { class: 'oom-source' });
  const aside = el('div', { class: 'answer-aside' }, source);
  const head = el('div', { class: 'head' }, el('div', { class: 'answer-row' }, title, aside));
  const instead = el('div', { class: 'oom-instead' });
  const page = el('div', { class: 'oom' });
  const figures = createFigures(page);
  let now = { found: null, failure: null };
  const menu = menuOf(() => ({ failure: now.failure, rows: buffers.rows }));
  const other = el('button', { type: 'button', class: 'text-button', on: { click: () => showPaste(true) } }, 'Paste other');
  const fit = createFit(figures);
  const where = createWhere(figures, menu);
  const buffers = createBuffers(figures, context, menu);
  const next = createNext();
  const reports = createReports();
  const text = createMarked(figures, other);
  const paste = createPaste({ onGiven: (answer) => open(answer) });
  figures.text = text;
  const panels = [fit.panel.node, where.panel.node, buffers.panel.node, next.panel.node];
  const left = el('div', { class: 'oom-left' }, reports.node, panels);
  const body = el('div', { class: 'oom-body' }, left, text.panel.node);
  fill(page, head, paste.node, instead, body);
  fill(root, page);
  let controller = null;
  let given = null; // an answer that came with a POST: need not be asked for again

  function open(answer) {
    given = answer;
    showPaste(false);
    context.choose({ ...CLEARED, tool: 'oom', local: answer.local });
    if (context.route.local === answer.local && now.found?.local === answer.local) showPaste(false);
  }

  function showPaste(isOpen) {
    paste.node.hidden = !isOpen;
    if (isOpen && now.found) paste.focus();
  }

  function drawSource(found) {
    const files = found.files ?? [];
    const select = el(
      'select',
      { 'aria-label': 'Text that was read', on: { change: () => context.choose({ file: select.value, report: '', sort: '' }) } },
      files.map((file) => el('option', { value: file, selected: file === found.file }, cutMiddle(visible(file), 60))),
    );
    fill(
      source,
      el('span', { class: 'dim' }, 'read from: '),
      files.length > 1 ? select : found.file ? name(found.file) : name(uploadedName(found.local)),
      found.failures.length ? createMenu('Verdict', menu) : null,
    );
    other.textContent = found.local ? 'Paste other' : 'Paste a text';
  }

  /* The page of the program itself, if this session has it. */
  async function linkFor(failure, selection, signal) {
    const { session } = selection ?? {};
    if (!session || session.module_count === 0 || context.route.local) return null;
    try {
      const list = await listModules(session.id, '', '', signal);
      const found = moduleOf(failure, list.modules);
      if (!found) return null;
      const href = context.link(session.id, { tool: 'memory_viewer', module: found.module.id });
      const plan = await planOf(failure, session, found.module, signal);
      return { href, plan, text: `${visible(found.module.name)} in the Memory Viewer${found.isSure ? '' : ' (the only program of this session)'}` };
    } catch (error) {
      if (error instanceof Problem && error.code !== 'gone') return null;
      throw error;
    }
  }

  const sourceOf = (found) => (found.local ? uploadedName(found.local) : (last.selection?.session?.name ?? ''));
  const aboutOf = (found) => (found.local ? { local: found.local } : { session: found.session, file: found.file });

  function drawNothing(found) {
    const about = { about: aboutOf(found), failure: null, size: found.size_bytes, encoding: found.encoding };
    const said = nothingFound(found, (at) => text.show({ ...about, at }));
    fill(title, said.title);
    fill(instead, said.node);
    instead.hidden = false;
    left.hidden = true;
    reports.node.hidden = true;
    context.setTitle(say.documentTitle(null, sourceOf(found)));
    return text.show(about);
  }

  function drawAnswer(failure, culprit) {
    const { verdict } = failure;
    const more = [...verdict.more, ...say.plannedParts(failure, culprit)];
    fill(title, el('span', { class: 'answer-first' }, figures.sentence(verdict.answer)), ' ', el('span', { class: 'answer-second' }, figures.sentence(more)));
  }

  async function drawFailure(found, at, selection, signal) {
    const failure = found.failures[at];
    now.failure = failure;
    instead.hidden = true;
    left.hidden = false;
    drawAnswer(failure, null);
    context.setTitle(say.documentTitle(failure, sourceOf(found)));
    reports.show(found.failures, found.left_out_count, at, (index) => context.linkHere({ ...hereOf(found), report: index ? String(index + 1) : '', sort: '' }));
    fit.show(failure);
    where.show(failure);
    buffers.show(failure, null);
    next.show(failure);
    const [link] = await Promise.all([
      linkFor(failure, selection, signal),
      text.show({ about: aboutOf(found), failure, size: found.size_bytes, encoding: found.encoding }),
    ]);
    if (signal.aborted || !link) return;
    next.show(failure, link);
    if (!link.plan) return;
    where.show(failure, link.plan);
    buffers.show(failure, link.plan);
    drawAnswer(failure, link.plan.space?.culprit ?? null);
  }

  const hereOf = (found) => (found.local ? { ...CLEARED, tool: 'oom', local: found.local } : { tool: 'oom', local: '', session: found.session });

  async function draw(found, selection, signal) {
    const { report } = context.route;
    const at = reportAt(report, found.failures);
    now = { found, failure: null };
    if (report && at >= 0 && String(at + 1) !== report)
      context.banners.set('pin', { text: `Report ${cutMiddle(visible(report), 12)} is not in this text; showing the first.` });
    body.hidden = false;
    showPaste(false);
    drawSource(found);
    if (at < 0) await drawNothing(found);
    else await drawFailure(found, at, selection, signal);
  }

  /* No text: the field comes first. */
  function drawEmpty(sentence, why = '') {
    now = { found: null, failure: null };
    fill(title, sentence);
    fill(source);
    fill(instead, why);
    instead.hidden = !why;
    body.hidden = true;
    showPaste(true);
    if (last.selection?.session) context.setNothing();
    else context.setTitle('paste a text · OOM – memviewd');
  }

  /* What the URL names; a text that the daemon forgot is given again, if this tab still has it. */
  async function look(route, session, signal) {
    if (!route.local) return get('oom', { session: session.id, file: route.file }, { signal });
    if (given?.local === route.local) return given;
    try {
      return await get('oom', { local: route.local }, { signal });
    } catch (error) {
      const kept = error.status === 404 ? keptText(route.local) : null;
      if (kept === null) throw error;
      return uploadText(kept, signal);
    }
  }

  /* Without a text, the plan of its programs is what there is to see. */
  function planLink() {
    const session = last.selection?.session;
    const href = session?.module_count > 0 && context.link(session.id, { tool: 'memory_viewer' });
    return href ? el('p', {}, 'What its programs need stands in the ', el('a', { href }, 'Memory Viewer'), '.') : '';
  }

  function drawProblem(error, route) {
    if (route.local && (error.status === 404 || error.status === 400)) {
      drawEmpty(
        'This link shows a text that was given, not stored.',
        el('p', {}, 'The daemon does not hold it any more, and this tab never had it: ', el('code', {}, cutMiddle(visible(route.local), 40)), '. Paste it again to see the same view.'),
      );
    } else if (error.status === 404) {
      drawEmpty(route.file ? 'No text of this name in this session.' : 'No error text in this session.', planLink());
    } else {
      drawEmpty('The text could not be read.', el('p', { class: 'caution' }, problemText(error)));
    }
  }

  async function load(selection, route) {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    await ready;
    const session = selection?.session ?? null;
    if (!route.local && !session) {
      drawEmpty('Out of memory? Paste the error text.');
      return;
    }
    try {
      const found = await look(route, session, signal);
      if (!signal.aborted) await draw(found, selection, signal);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem) || ['gone', 'token'].includes(error.code)) throw error;
      drawProblem(error, route);
    }
  }

  const turn = (by) => {
    const { found } = now;
    const count = found?.failures.length ?? 0;
    if (count < 2) return false;
    const at = (reportAt(context.route.report, found.failures) + by + count) % count;
    context.choose({ report: at ? String(at + 1) : '', sort: '' });
    return true;
  };
  context.bind(
    [
      { keys: ['n'], does: 'next report', run: () => turn(1), isOn: () => (now.found?.failures.length ?? 0) > 1 },
      { keys: ['N'], does: 'previous report', run: () => turn(-1), isOn: () => (now.found?.failures.length ?? 0) > 1 },
      { keys: [], does: 'paste an error text', run: () => showPaste(true) },
    ],
    'Out-of-memory text',
  );

  let last = { selection: null, key: '' };
  const keyOf = (route) => [route.session, route.local, route.file, route.report].join(' ');
  return {
    show(selection, route) {
      last = { selection, key: keyOf(route) };
      return load(selection, route);
    },
    hear(route) {
      if (keyOf(route) === last.key) buffers.resort();
      else this.show(last.selection, route);
    },
    escape() {
      if (paste.node.hidden || !now.found) return false;
      showPaste(false);
      return true;
    },
    unmount() {
      controller?.abort();
      paste.stop();
      text.stop();
      buffers.destroy();
    },
  };
}
