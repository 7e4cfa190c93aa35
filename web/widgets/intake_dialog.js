/* SPDX-License-Identifier: Apache-2.0
 * intake_dialog.js: a text to paste or files to choose, for those who do not drop. */

import { el } from '../lib/dom.js';
import { dialogHead, openDialog } from './dialog.js';

/* take({files: [{name, blob}]}) */
export function openIntake(take) {
  const field = el('textarea', {
    class: 'intake-text mono',
    rows: '10',
    spellcheck: 'false',
    'aria-label': 'Error text or log',
    placeholder: 'RESOURCE_EXHAUSTED: …',
  });
  openDialog({
    title: 'Paste a text or choose files',
    className: 'intake-dialog',
    content: (close) => {
      const file = el('input', {
        type: 'file',
        class: 'intake-file',
        multiple: true,
        'aria-label': 'Choose files',
        on: {
          change: () => {
            close();
            take({ files: [...file.files].map((blob) => ({ name: blob.name, blob })) });
          },
        },
      });
      const go = () => {
        if (!field.value.trim()) return;
        close();
        take({ files: [{ name: 'the pasted text', blob: new Blob([field.value], { type: 'text/plain' }) }] });
      };
      field.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) go();
      });
      return [
        dialogHead('Paste an error text, or choose files', close),
        el('div', { class: 'dialog-body' }, field, file),
        el(
          'footer',
          { class: 'dialog-foot' },
          el('button', { type: 'button', class: 'text-button', on: { click: go } }, 'Look at the text'),
        ),
      ];
    },
  });
  field.focus();
}
