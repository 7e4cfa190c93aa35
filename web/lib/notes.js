/* SPDX-License-Identifier: Apache-2.0
 * notes.js: what readers write on a time axis, as `note=` of the URL has it, one each: "812400000:the optimizer
 * begins". Pure. */

export const MAX_NOTES = 20;
export const MAX_TEXT = 120;

const textOf = ({ at, text }) => `${at}:${text}`;

/* list: of the route. Out: [{at, text}] in the order of time; what is no note is left out. */
export function notesOf(list) {
  return list
    .map((value) => /^(\d{1,16}):([\s\S]+)$/.exec(value))
    .filter(Boolean)
    .map(([, at, text]) => ({ at: Number(at), text: text.slice(0, MAX_TEXT) }))
    .sort((a, b) => a.at - b.at)
    .slice(0, MAX_NOTES);
}

/* The list with a note there; without a text, or where another one stands at that time, without that. */
export function withNote(list, at, text) {
  const others = notesOf(list).filter((note) => note.at !== at);
  const words = text.trim().slice(0, MAX_TEXT);
  return notesOf([...others, ...(words ? [{ at, text: words }] : [])].map(textOf)).map(textOf);
}
