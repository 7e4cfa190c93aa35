/* SPDX-License-Identifier: Apache-2.0
 * page.js: what an out-of-memory text says, or the plan, trace and profiles of a session: did it fit, where did it go,
 * what made the peak, what will make it fit; and the text itself with every figure marked. The text is one of a
 * session, or one that the reader gave: in a field, as a file, or by drop. */

import { get, isAbort, Problem, problemText } from '../../lib/api.js';
import { button, el, fill, loadStyle } from '../../lib/dom.js';
import { cutMiddle, visible } from '../../lib/format.js';
import { keptText, uploadText } from '../../lib/uploads.js';
import { explainKeys, explainWith } from '../../widgets/explain.js';
import { askCore, CLEARED, createVerdict, saysNothing } from './verdict.js';

/* Of what is pasted at once, no more is put into the field: a browser takes seconds to lay out a field of some MiB. */
const MAX_SHOWN = 64 * 1024;

/* Pure: index of the failure that `report` (counted from 1) names; -1 for none. */
function reportAt(report, failures) {
  if (!failures.length) return -1;
  const at = /^\d{1,6}$/.test(report) ? Number(report) - 1 : 0;
  return at < failures.length && at >= 0 ? at : 0;
}

/* onGiven(answer) hears what the daemon found. Out: {node, focus(), stop()}. */
function createPaste({ onGiven }) {
  const field = el('textarea', {
    class: 'oom-field',
    rows: '10',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'Error text or log',
    placeholder: 'RESOURCE_EXHAUSTED: …',
  });
  const file = el('input', { type: 'file', class: 'hidden', tabindex: '-1', 'aria-hidden': 'true' });
  const said = el('p', { class: 'oom-said caution', role: 'alert', hidden: true });
  const say = (text) => {
    fill(said, text);
    said.hidden = !text;
  };
  let controller = null;
  async function give(what) {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    say('');
    try {
      onGiven(await uploadText(what, signal));
    } catch (error) {
      if (!isAbort(error)) say(problemText(error));
    }
  }
  const explain = () => {
    if (field.value.trim() === '') say('The field is empty: paste the whole error text.');
    else give(field.value);
  };
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) explain();
  });
  /* A pasted text is read at once: there is nothing else to do with it. */
  field.addEventListener('paste', (event) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (field.value !== '' || text.trim() === '') return;
    event.preventDefault();
    if (text.length <= MAX_SHOWN) field.value = text;
    give(text);
  });
  file.addEventListener('change', () => {
    if (file.files[0]) give(file.files[0]);
  });
  const node = el(
    'section',
    { class: 'oom-paste', 'aria-label': 'Give an error text' },
    el('p', {}, 'Paste the error text here, with as much of the log around it as you have, or open the log as a file.'),
    field,
    el(
      'div',
      { class: 'oom-paste-row' },
      button('text-button', explain, 'Explain'),
      button('text-button', () => file.click(), 'Open a file'),
      el(
        'span',
        { class: 'dim' },
        'It stays in this tab and in the daemon\u2019s memory; nothing is written to disk. 64 MiB at most.',
      ),
      file,
    ),
    said,
  );
  return { node, focus: () => field.focus(), stop: () => controller?.abort() };
}

/* What the URL names; a text that the daemon forgot is given again, if this tab still has it. */
async function look(route, session, given, signal) {
  if (!route.local) return get('oom', { session: session.id, file: route.file }, { signal });
  if (given?.local === route.local) return given;
  try {
    return await get('oom', { local: route.local }, { signal });
  } catch (error) {
    const kept = error.status === 404 ? keptText(route.local) : null;
    if (kept == null) throw error;
    return uploadText(kept, signal);
  }
}

/* Why there is no text to show: [sentence, why]. */
function problemWords(error, route, session, context) {
  if (route.local && (error.status === 404 || error.status === 400))
    return [
      'This link shows a text that was given, not stored.',
      el(
        'p',
        {},
        'The daemon no longer has it, and this tab never had it: ',
        el('code', {}, cutMiddle(visible(route.local), 40)),
        '. Paste it again to see the same view.',
      ),
    ];
  if (error.status !== 404) return ['The text could not be read.', el('p', { class: 'caution' }, problemText(error))];
  if (route.file) return ['No text of this name in this session.', planLink(session, context)];
  return ['No error text in this session.', planLink(session, context)];
}

/* Without a text, the plan of its programs is what there is to see. */
function planLink(session, context) {
  const href = session?.module_count > 0 && context.link(session.id, { tool: 'memory_viewer' });
  return href ? el('p', {}, 'What its programs need is in the ', el('a', { href }, 'Memory Viewer'), '.') : '';
}

/* failures() of the text that is shown; cardOf() of a figure. Out: takes the cards back. */
function bindKeys(context, failures, askForText, cardOf) {
  const isOn = () => failures().length > 1;
  const turn = (by) => {
    const count = failures().length;
    if (count < 2) return false;
    const at = (reportAt(context.route.report, failures()) + by + count) % count;
    context.choose({ report: at ? String(at + 1) : '', sort: '' });
    return true;
  };
  context.bind(
    [
      { keys: ['n'], does: 'next report', run: () => turn(1), isOn },
      { keys: ['N'], does: 'previous report', run: () => turn(-1), isOn },
      { keys: [], does: 'paste an error text', run: askForText },
      ...explainKeys(),
    ],
    'Out-of-memory text',
  );
  return explainWith(async (...key) => cardOf(...key));
}

/* What is shown anew where it changes in the URL. */
const keyOf = (route) =>
  JSON.stringify(['session', 'host', 'module', 'local', 'file', 'report', 'capacity'].map((name) => route[name]));

export function mount(root, context) {
  const ready = loadStyle('oom.css');
  const page = el('div', { class: 'oom' });
  const paste = createPaste({ onGiven: (answer) => open(answer) });
  const verdict = createVerdict(page, context, () => showPaste(true));
  fill(root, fill(page, verdict.nodes.head, paste.node, verdict.nodes.instead, verdict.nodes.body));
  let found = null;
  let controller = null;
  let given = null; // an answer that came with a POST: need not be asked for again
  let last = { selection: null, key: '' };

  function open(answer) {
    given = answer;
    showPaste(false);
    context.choose({ ...CLEARED, tool: 'oom', local: answer.local });
    if (context.route.local === answer.local && found?.local === answer.local) showPaste(false);
  }

  function showPaste(isOpen) {
    paste.node.hidden = !isOpen;
    if (isOpen && found) paste.focus();
  }

  async function draw(answer, session, signal) {
    const { report } = context.route;
    const at = reportAt(report, answer.failures);
    found = answer;
    if (report && at >= 0 && String(at + 1) !== report)
      context.banners.set('pin', {
        text: `Report ${cutMiddle(visible(report), 12)} is not in this text; showing the first.`,
      });
    showPaste(false);
    await verdict.show(answer, at, session, signal);
  }

  /* Without a text: what the daemon makes of the plan, the trace or the profiles. False where that is nothing. */
  async function drawAlone(session, route, signal) {
    const all = await askCore(null, 0, { route, session }, signal);
    if (signal.aborted) return true;
    if (!all || saysNothing(all)) return false;
    found = { failures: [] };
    showPaste(false);
    await verdict.show(null, -1, session, signal, all);
    return true;
  }

  /* No text: the field comes first. */
  function drawEmpty(session, sentence, why = '') {
    found = null;
    verdict.showEmpty(sentence, why);
    showPaste(true);
    if (session) context.setNothing();
    else context.setTitle('paste a text · OOM – memviewd');
  }

  async function load(selection, route) {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    await ready;
    const session = selection?.session ?? null;
    if (!route.local && !session) {
      drawEmpty(session, 'Out of memory? Paste the error text.');
      return;
    }
    try {
      const isOfModule = route.module && !route.file && !route.report && !route.local;
      if (isOfModule && (await drawAlone(session, route, signal))) return;
      const answer = await look(route, session, given, signal);
      if (!signal.aborted) await draw(answer, session, signal);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem) || ['gone', 'token'].includes(error.code)) throw error;
      if (error.status === 404 && !route.local && !route.file && (await drawAlone(session, route, signal))) return;
      drawEmpty(session, ...problemWords(error, route, session, context));
    }
  }

  const stopCards = bindKeys(
    context,
    () => found?.failures ?? [],
    () => showPaste(true),
    verdict.cardOf,
  );

  return {
    show(selection, route) {
      last = { selection, key: keyOf(route) };
      return load(selection, route);
    },
    hear(route) {
      if (keyOf(route) === last.key) verdict.hear();
      else this.show(last.selection, route);
    },
    escape() {
      if (paste.node.hidden || !found) return false;
      showPaste(false);
      return true;
    },
    unmount() {
      controller?.abort();
      stopCards();
      paste.stop();
      verdict.destroy();
    },
  };
}
