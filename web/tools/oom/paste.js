/* SPDX-License-Identifier: Apache-2.0
 * paste.js: where a reader gives a text: a field, a file, or both by drop. */

import { isAbort, problemText } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { uploadText } from '../../lib/uploads.js';

/* Of what is pasted at once, no more is put into the field: a browser takes seconds to lay out a field of some MiB. */
const MAX_SHOWN = 64 * 1024;

/* onGiven(answer) hears what the daemon found. Out: {node, focus(), say(text)}. */
export function createPaste({ onGiven }) {
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
    if (field.value.trim() === '') say('The field is empty: paste the error text, as long as it is.');
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
    el('p', {}, 'Paste the error text here, with as much of the log around it as there is; or open the log as a file.'),
    field,
    el(
      'div',
      { class: 'oom-paste-row' },
      el('button', { type: 'button', class: 'text-button', on: { click: explain } }, 'Explain'),
      el('button', { type: 'button', class: 'text-button', on: { click: () => file.click() } }, 'Open a file'),
      el('span', { class: 'dim' }, 'It stays in this tab and in the daemon\u2019s memory; nothing is written to disk. 64 MiB at most.'),
      file,
    ),
    said,
  );
  return { node, say, give, focus: () => field.focus(), stop: () => controller?.abort() };
}
