/* SPDX-License-Identifier: Apache-2.0
 * rules.js: the person's own rules of whose memory a buffer is, typed into a dialog and kept in the URL.
 * Its own file: loaded when it is opened. */

import { button, el } from '../../lib/dom.js';
import { get, isAbort } from '../../lib/api.js';
import { dialogHead, openDialog } from '../../widgets/dialog.js';

const HELP =
  'One rule per line: a regular expression, a space, a category. The first line that matches the op name, argument ' +
  'path, source line or name of a buffer decides, before all other rules.';
const EXAMPLE = 'attention/.*softmax saved_activation\n^state\\.ema optimizer_state';

/* place: {session, host, module} that the rules are tried on; onRules(text) once they are good. */
export function openRules({ place, rules, onRules }) {
  const field = el('textarea', {
    class: 'rules-field',
    rows: '8',
    spellcheck: 'false',
    'aria-label': 'Category rules',
    placeholder: EXAMPLE,
  });
  const said = el('p', { class: 'caution', role: 'alert', hidden: true });
  field.value = rules;
  const { close } = openDialog({
    title: 'Category rules',
    className: 'rules',
    content: (shut) => [
      dialogHead('Category rules', shut),
      el(
        'div',
        { class: 'dialog-body' },
        el('p', { class: 'dim' }, HELP),
        field,
        said,
        el('p', {}, button('text-button', use, 'Use these rules')),
      ),
    ],
  });
  field.focus();

  async function use() {
    try {
      await get('memory_viewer/summary', { ...place, category_rules: field.value });
    } catch (error) {
      if (isAbort(error)) return;
      said.textContent = error.message;
      said.hidden = false;
      select(field, error.message);
      return;
    }
    close();
    onRules(field.value.trim());
  }
}

/* Marks the line that the fault names. */
function select(field, said) {
  const line = Number(/line (\d+)/.exec(said)?.[1] ?? 0);
  const lines = field.value.split('\n');
  if (line < 1 || line > lines.length) return;
  const from = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(from, from + lines[line - 1].length);
}
