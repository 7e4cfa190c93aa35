/* SPDX-License-Identifier: Apache-2.0
 * help.js: `?`: keys and gestures of this page, made from what is registered; the settings; and what
 * this program is. */

import { get } from '../lib/api.js';
import { button, el, fill } from '../lib/dom.js';
import { visible } from '../lib/format.js';
import { bindings, spokenKey } from '../lib/keys.js';
import { onSetting, setSetting, setting } from '../lib/settings.js';
import { dialogHead, openDialog } from './dialog.js';
import { PANE_MIN_PX, PANE_MAX_PX } from './pane.js';

/* Pure: [[group, rows]], the page first, "Everywhere" last; rows without key and gesture are left out. */
export function helpGroups(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (row.isHidden || (row.keys.length === 0 && !row.gesture)) continue;
    if (!groups.has(row.group)) groups.set(row.group, []);
    const list = groups.get(row.group);
    if (!list.some((other) => other.does === row.does && String(other.keys) === String(row.keys))) list.push(row);
  }
  const rank = ([group]) => (group === 'Everywhere' ? 1 : 0);
  return [...groups].sort((a, b) => rank(a) - rank(b));
}

function keyLine(row) {
  const words = row.gesture ? [el('span', {}, row.gesture)] : row.keys.map((key) => el('kbd', {}, spokenKey(key)));
  return el(
    'div',
    { class: 'help-row' },
    el(
      'dt',
      {},
      words.flatMap((word, at) => (at ? [' ', word] : [word])),
    ),
    el('dd', {}, row.does),
  );
}

export function openHelp(openSettings) {
  const groups = helpGroups(bindings());
  openDialog({
    title: 'Keys and gestures of this page',
    className: 'help',
    content: (close) => [
      dialogHead('Keys and gestures', close),
      el(
        'div',
        { class: 'dialog-body help-groups', tabindex: '0', role: 'group', 'aria-label': 'Keys and gestures' },
        setting('letters') === 'off'
          ? el('p', { class: 'help-off' }, 'Single letters are switched off in the settings; the palette has them all.')
          : null,
        groups.map(([group, rows]) => el('section', {}, el('h3', {}, group), el('dl', {}, rows.map(keyLine)))),
      ),
      el('footer', { class: 'dialog-foot' }, button('text-button', openSettings, 'Settings')),
    ],
  });
}

/* ---- settings ------------------------------------------------------------------ */

function radios(name, title, values) {
  return el(
    'fieldset',
    { class: 'setting' },
    el('legend', {}, title),
    values.map(([value, word]) =>
      el(
        'label',
        {},
        el('input', {
          type: 'radio',
          name,
          value,
          checked: setting(name) === value,
          on: { change: () => setSetting(name, value) },
        }),
        ` ${word}`,
      ),
    ),
  );
}

function paneWidth() {
  const said = el('output', {}, `${setting('pane_px')} px`);
  const input = el('input', {
    type: 'range',
    min: String(PANE_MIN_PX),
    max: String(PANE_MAX_PX),
    step: '20',
    value: setting('pane_px'),
    'aria-label': 'Width of the details pane in pixels',
    on: { input: (event) => setSetting('pane_px', event.target.value) },
  });
  const off = onSetting((name, value) => {
    if (!said.isConnected) off();
    else if (name === 'pane_px') fill(said, `${value} px`);
  });
  return el('fieldset', { class: 'setting' }, el('legend', {}, 'Width of the details pane'), input, ' ', said);
}

export function openSettings() {
  openDialog({
    title: 'Settings',
    className: 'settings',
    content: (close) => [
      dialogHead('Settings', close),
      el(
        'div',
        { class: 'dialog-body' },
        radios('theme', 'Theme', [
          ['system', 'as the system'],
          ['light', 'light'],
          ['dark', 'dark'],
        ]),
        radios('letters', 'Single letters as keys', [
          ['on', 'on'],
          ['off', 'off; the palette (Ctrl K) still has every command'],
        ]),
        radios('paths', 'Source paths in pictures, tables and links', [
          ['with', 'kept'],
          ['without', 'left out'],
        ]),
        paneWidth(),
        el('p', { class: 'dim' }, 'Kept by this browser, never sent.'),
      ),
    ],
  });
}

/* ---- about ---------------------------------------------------------------------- */

export function openAbout() {
  const body = el('div', { class: 'dialog-body' }, 'Asking the daemon.');
  openDialog({
    title: 'About memviewd',
    className: 'about',
    content: (close) => [dialogHead('About memviewd', close), body],
  });
  get('about').then(
    (about) =>
      fill(
        body,
        el('p', {}, `memviewd ${visible(about.version)}${about.commit ? `, commit ${visible(about.commit)}` : ''}.`),
        el('p', {}, 'Licence: Apache-2.0. ', el('a', { href: 'licenses.txt' }, 'Licences of everything in it'), '.'),
        el('p', {}, 'Nothing on these pages comes from another origin.'),
      ),
    (error) => fill(body, error.message),
  );
}
