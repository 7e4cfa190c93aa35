/* SPDX-License-Identifier: Apache-2.0
 * views.js: the dialog of saved views: the page as it is now gets a name; one that has a name is opened or let go. */

import { button, el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';
import { openLink } from '../lib/route.js';
import { forgetView, MAX_NAME, savedViews, saveView } from '../lib/saved_views.js';
import { dialogHead, openDialog } from './dialog.js';
import { toast } from './toast.js';

/* What the page is called: the title of the document without the name of the program. */
const nameHere = () => document.title.replace(/ – [^–]*$/, '').slice(0, MAX_NAME);

function rowOf({ name, query }, close, redraw) {
  const open = () => {
    close();
    openLink(query);
  };
  const forget = () => {
    forgetView(name);
    redraw();
  };
  return el(
    'li',
    { class: 'view-row' },
    button('link-button view-name', open, visible(name)),
    button('icon-button', forget, '×', { 'aria-label': `Forget ${visible(name)}` }),
  );
}

export function openViews() {
  const query = location.search || '?tool=home';
  const input = el('input', {
    type: 'text',
    maxlength: String(MAX_NAME),
    'aria-label': 'Name of this view',
    value: nameHere(),
    spellcheck: 'false',
  });
  openDialog({
    title: 'Saved views',
    className: 'views',
    content: (close) => {
      const list = el('ul', { class: 'view-list', 'aria-label': 'Saved views' });
      const none = el('p', { class: 'dim' }, 'No view is saved yet.');
      const redraw = () => {
        const views = savedViews();
        fill(
          list,
          views.map((view) => rowOf(view, close, redraw)),
        );
        list.hidden = views.length === 0;
        none.hidden = views.length > 0;
      };
      const save = (event) => {
        event.preventDefault();
        const name = input.value.trim();
        if (!name) return;
        saveView(name, query);
        close();
        toast('View saved');
      };
      redraw();
      return [
        dialogHead('Saved views', close),
        el(
          'div',
          { class: 'dialog-body' },
          el(
            'form',
            { class: 'view-form', on: { submit: save } },
            input,
            button('text-button', () => {}, 'Save this view', { type: 'submit' }),
          ),
          list,
          none,
          el(
            'p',
            { class: 'dim' },
            'Kept in this browser: the address of the page, with its session, filters, pins and what is in view.',
          ),
        ),
      ];
    },
  });
  input.focus();
  input.select();
}
