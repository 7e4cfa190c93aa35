/* SPDX-License-Identifier: Apache-2.0
 * bar.js: where the memory went, as one bar held against what there was: `verdict.bar` of a failure, or what plan.js
 * makes of a plan. Red is only what lies above the limit. */

import { el, figure } from '../../lib/dom.js';
import { bytes, percent, visible } from '../../lib/format.js';

/* Pure: the bar as a sentence. */
export function barText(bar) {
  const parts = bar.parts.map((part) => `${visible(part.word)} ${bytes(part.bytes)}`).join(', ');
  const over = bar.over_bytes > 0 ? `, ${bar.over_word} ${bar.over_text}` : '';
  const limit = bar.limit ? ` Held against ${bar.limit.word} ${bytes(bar.limit.bytes)}${over}.` : '';
  return `${parts}: ${bytes(bar.whole_bytes)} in all.${limit}`;
}

function piece(className, size, scale, attributes = {}) {
  const node = el('span', { class: className, ...attributes });
  node.style.width = `${(100 * size) / Math.max(1, scale)}%`;
  return node;
}

/* Of a part that holds fragmentation, that is a piece of its own. */
function partPieces(part, scale) {
  const word = visible(part.word);
  const lost = part.fragmentation_bytes;
  const whole = piece(`oom-part look-${part.look}`, part.bytes - lost, scale, { title: `${word} ${bytes(part.bytes)}`, 'data-key': part.key });
  if (!lost) return [whole];
  return [whole, piece('oom-part look-lost', lost, scale, { title: `fragmentation ${bytes(lost)}, of ${word}`, 'data-key': part.fragmentation_key })];
}

/* figureOf(bytes, key) → the node of a figure that lights its range. */
export function drawBar(bar, figureOf) {
  const scale = Math.max(bar.whole_bytes, bar.limit?.bytes ?? 0);
  const track = el('div', { class: 'oom-bar', role: 'img', 'aria-label': barText(bar) }, bar.parts.flatMap((part) => partPieces(part, scale)));
  const held = bar.limit
    ? el(
        'div',
        { class: 'oom-limit', 'aria-hidden': 'true' },
        piece('oom-within', Math.min(bar.limit.bytes, scale), scale, { 'data-key': bar.limit.key }),
        bar.over_bytes > 0 ? piece('oom-over', Math.min(bar.over_bytes, scale), scale) : null,
      )
    : null;
  return el('div', { class: 'oom-bars' }, track, held, drawLegend(bar, figureOf));
}

function drawLegend(bar, figureOf) {
  const swatch = (look) => el('span', { class: `swatch look-${look}`, 'aria-hidden': 'true' });
  const line = (className) => el('span', { class: className, 'aria-hidden': 'true' });
  const own = (value, text = bytes(value), className = 'strong') => figure(value, text, className);
  const share = (part) => (bar.parts.length > 1 ? el('span', { class: 'dim' }, ` ${percent(part, bar.whole_bytes)} of all`) : null);
  const sized = (value, key) => (key ? figureOf(value, key) : own(value));
  const entries = bar.parts.flatMap((part) => [
    el('li', {}, swatch(part.look), `${visible(part.word)} `, sized(part.bytes, part.key), share(part.bytes)),
    part.fragmentation_bytes > 0
      ? el('li', {}, swatch('lost'), 'of which fragmentation ', sized(part.fragmentation_bytes, part.fragmentation_key), share(part.fragmentation_bytes))
      : null,
  ]);
  return el(
    'ul',
    { class: 'oom-legend', 'aria-label': 'What the bar is made of' },
    entries,
    bar.parts.length > 1 ? el('li', {}, 'in all ', own(bar.whole_bytes), bar.of ? el('span', { class: 'dim' }, ` ${bar.of}`) : null) : null,
    bar.limit ? el('li', {}, line('key-line'), `${bar.limit.word} `, figureOf(bar.limit.bytes, bar.limit.key)) : null,
    bar.over_bytes > 0 ? el('li', {}, line('key-line key-over'), `${bar.over_word} `, own(bar.over_bytes, bar.over_text, 'strong over')) : null,
  );
}
