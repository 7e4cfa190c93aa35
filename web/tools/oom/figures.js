/* SPDX-License-Identifier: Apache-2.0
 * figures.js: figures that know where they stand in the text. Hovering or focusing one lights its
 * place, a click goes there; and the other way round. */

import { el, nameInline } from '../../lib/dom.js';
import { bytes, exactBytes, visible } from '../../lib/format.js';

/* root: what holds the figures. Out: see below. `text` (marked.js) is set later. */
export function createFigures(root) {
  const of = (key) => [...root.querySelectorAll('[data-key]')].filter((node) => node.dataset.key === key);
  const hears = (key) => ({
    click: () => self.toText(key),
    pointerenter: () => self.light([key]),
    pointerleave: () => self.light([]),
    focus: () => self.light([key]),
    blur: () => self.light([]),
  });
  const self = {
    text: null,
    rows: null, // {light(keys), jump(key) → true}: the table of buffers
    /* Lights figures, rows and marks of these keys, and nothing else. */
    light(keys) {
      for (const node of root.querySelectorAll('[data-key]')) node.classList.toggle('is-lit', keys.includes(node.dataset.key));
      self.rows?.light(keys);
      self.text?.lightUp(keys);
    },
    /* From the text to the figure. */
    jump(keys) {
      const node = keys.flatMap(of).find((each) => each.tagName === 'BUTTON');
      if (node) {
        node.focus({ preventScroll: true });
        node.scrollIntoView({ block: 'nearest' });
      } else keys.some((key) => self.rows?.jump(key));
    },
    toText: (key) => self.text?.jump([key]),
    /* A figure as a button, if the text states it. */
    node(value, key, className = '', text = bytes(value)) {
      if (!key) return el('span', { class: `figure ${className}`, title: exactBytes(value) }, text);
      return el(
        'button',
        {
          type: 'button',
          class: `figure figure-link ${className}`,
          'data-key': key,
          title: `${exactBytes(value)}, as printed. Shows its place in the text.`,
          on: hears(key),
        },
        text,
      );
    },
    /* The same of a word. */
    word(text, key) {
      return el(
        'button',
        {
          type: 'button',
          class: 'figure figure-link',
          'data-key': key,
          title: 'Shows its place in the text.',
          on: hears(key),
        },
        nameInline(text, 40),
      );
    },
    /* Parts of a sentence, see text.js. */
    sentence(parts) {
      const classes = { main: 'answer-figure', over: 'over' };
      return parts.map((part) => {
        if (typeof part === 'string') return visible(part);
        if (part.name !== undefined) return nameInline(part.name, 60);
        return self.node(part.bytes, part.key, classes[part.role] ?? '', part.text ?? undefined);
      });
    },
  };
  return self;
}
