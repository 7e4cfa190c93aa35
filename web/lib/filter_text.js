/* SPDX-License-Identifier: Apache-2.0
 * filter_text.js: the text of a filter, cut into terms as the daemon cuts it (analysis/views/filter.h). Pure. */

const isSpace = (c) => c === undefined || /\s/.test(c);

/* Index of the slash that ends an expression which begins at `at`, or −1: "/usr/lib" is a path. */
function expressionEnd(text, at) {
  let end = at + 1;
  while (end < text.length && text[end] !== '/') end += text[end] === '\\' && end + 1 < text.length ? 2 : 1;
  const isClosed = text[end] === '/' && end > at + 1 && (isSpace(text[end + 1]) || text[end + 1] === ',');
  return isClosed ? end : -1;
}

/* [{text, from, to}]: quotes and expressions keep their spaces. */
export function splitTerms(text) {
  const terms = [];
  let at = 0;
  while (at < text.length) {
    if (isSpace(text[at])) {
      at++;
      continue;
    }
    const from = at;
    let isQuoted = false;
    for (; at < text.length && (isQuoted || !isSpace(text[at])); at++) {
      const begins = at === from || /[:,]/.test(text[at - 1]) || (at === from + 1 && text[from] === '-');
      const end = !isQuoted && text[at] === '/' && begins ? expressionEnd(text, at) : -1;
      if (end >= 0) at = end;
      else if (text[at] === '"') isQuoted = !isQuoted;
    }
    terms.push({ text: text.slice(from, at), from, to: at });
  }
  return terms;
}

/* Place in the text of a place in its UTF-8 bytes. */
export function placeOfByte(text, offset) {
  let bytes = 0;
  let place = 0;
  for (const c of text) {
    if (bytes >= offset) break;
    const code = c.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    place += c.length;
  }
  return place;
}

/* {sign: "-" or "", field, value}: field is null in a bare word. */
export function partsOf(term) {
  const [, sign, field, value] = /^(-?)(?:([A-Za-z_]+):)?([\s\S]*)$/.exec(term);
  return { sign, field: field ?? null, value };
}

/* A value as it has to be typed: quotes where its signs would mean something. */
export function typed(value) {
  if (/^[\w.()[\]{}<=+-]+$/.test(value) && !/^[<>=-]/.test(value)) return value;
  if (/^[\w.[\](){}*,-]+$/.test(value) && /\[[\d,*]*\]$/.test(value)) return value;
  return value
    .split('"')
    .map((part) => (part ? `"${part}"` : ''))
    .join('*');
}
