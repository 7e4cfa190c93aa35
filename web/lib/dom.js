/* SPDX-License-Identifier: Apache-2.0
 * dom.js: builds elements. Text from files only ever becomes text nodes. */

import { cutMiddle, exactBytes, bytes, splitName, visible } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';
const LONGEST_NAME = 160;
const LONGEST_TITLE = 2000;
const LONGEST_WHOLE = 32;
const NOT_TEXT = '[type=checkbox], [type=radio], [type=button], [type=range], [type=file]';

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

/* el('p', {class: 'x', on: {click}}, 'text', otherNode, [more]) */
export function el(tag, attributes, ...children) {
  return put(document.createElement(tag), attributes, children);
}

/* A button that runs; attributes: what else it has, and what else it hears (`on`). */
export const button = (className, run, content, { on = {}, ...attributes } = {}) =>
  el('button', { type: 'button', class: className, on: { click: run, ...on }, ...attributes }, content);

export function svg(tag, attributes, ...children) {
  return put(document.createElementNS(SVG, tag), attributes, children);
}

export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

/* Brings a child of a list that scrolls into its sight: the list moves, and nothing around it. */
export function showWithin(list, child) {
  if (!child) return;
  const [box, own] = [list.getBoundingClientRect(), child.getBoundingClientRect()];
  const by = (from, to, low, high) => (from < low ? from - low : to > high ? Math.min(to - high, from - low) : 0);
  list.scrollTop += by(own.top, own.bottom, box.top, box.bottom);
  list.scrollLeft += by(own.left, own.right, box.left, box.right);
}

/* A longer text out of a file, on hover. */
export function titled(node, text) {
  node.title = cutMiddle(visible(text), LONGEST_TITLE);
  return node;
}

/* The number of a line stays behind its file, also where that is written from right to left. */
const lineApart = (text) => text.replace(/(?<=[\u0590-\u08ff\ufb1d-\ufefc])(?=:\d+$)/, '\u200e');

/* A name out of a file: isolated, cut where there is no room for it (see splitName), whole on hover. */
export function name(text, className = '') {
  const whole = visible(text);
  const node = el('bdi', { class: `name ${className}`.trim(), dir: 'ltr', title: cutMiddle(whole, LONGEST_TITLE) });
  wholes.set(node, whole);
  putParts(node, splitName(lineApart(cutMiddle(whole, LONGEST_NAME))));
  return node;
}

/* The text of a node of name(), as it is seen where there is room; '': it is no such node. */
const wholes = new WeakMap();
export const wholeName = (node) => wholes.get(node) ?? '';

function putParts(node, [head, kept, rest, tail]) {
  fill(
    node,
    el('span', { class: 'name-head' }, head),
    kept && [el('span', { class: 'name-kept' }, kept), el('span', { class: 'name-rest' }, rest)],
    el('span', { class: 'name-tail' }, tail),
  );
  const isShared = Boolean(kept || (head && tail.length !== 10));
  /* Characters, by which the style shares out the width. */
  const widths = {
    '--stays': kept.length + tail.length,
    '--tail': tail.length,
    '--head': head.length,
    '--rest': rest.length,
  };
  for (const [property, letters] of Object.entries(widths)) {
    if (isShared) node.style.setProperty(property, `${letters}ch`);
    else node.style.removeProperty(property);
  }
}

/* A node of name() is cut elsewhere than in span, [from, to) of its text; null: as it was made. */
export function resplit(node, span) {
  const key = span ? span.join() : '';
  if (!wholes.has(node) || (node.dataset.apart ?? '') === key) return;
  node.dataset.apart = key;
  const text = lineApart(cutMiddle(wholeName(node), LONGEST_NAME));
  putParts(node, splitName(text, wholeName(node).length > LONGEST_NAME ? null : span));
}

/* A name inside a sentence: isolated, cut at a fixed length. */
export function nameInline(text, max = 48) {
  const whole = visible(text);
  return el(
    'bdi',
    { class: 'name-inline', dir: 'ltr', title: cutMiddle(whole, LONGEST_TITLE) },
    lineApart(cutMiddle(whole, max)),
  );
}

/* A byte figure; the exact bytes stand in its title. */
export function figure(value, text = bytes(value), className = '') {
  return el('span', { class: `figure ${className}`.trim(), title: exactBytes(value) }, text);
}

/* Sentences with `code` between backquotes become text and <code>; short ones are not broken at their dashes. */
export function prose(text) {
  return visible(text)
    .split('`')
    .map((part, at) =>
      at % 2 ? el('code', { class: part.length > LONGEST_WHOLE ? 'inline' : 'inline unbroken' }, part) : part,
    );
}

/* An event that was meant for this place: neither the browser nor the page hears it. */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/* True while the reader is typing somewhere. */
export function isTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches(`textarea, select, input:not(${NOT_TEXT})`))
  );
}

/* Style of a page that not every visit needs, "tools/oom.css": loaded once, with the page. */
export function loadStyle(href) {
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return new Promise((resolve) => {
    document.head.append(el('link', { rel: 'stylesheet', href, on: { load: resolve, error: resolve } }));
  });
}

/* Draws a list again. The focus stays on what has the same data-key. */
export function keepingFocus(node, draw) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  draw();
  if (key) [...node.querySelectorAll('[data-key]')].find((each) => each.dataset.key === key)?.focus();
}
