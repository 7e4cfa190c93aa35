/* SPDX-License-Identifier: Apache-2.0
 * groups.js: buffers that have something in common: the choice of what. */

import { createGroupChoice as createChoice } from '../../widgets/group_choice.js';

/* [name in the URL, way of the daemon, word, what stands where a buffer has none]. */
const WAYS = [
  ['', 'whose', 'whose memory', 'no op name'],
  ['none', '', 'none', ''],
  ['layer', 'layer', 'layer (guess)', 'no layer in the op name'],
  ['line', 'line', 'source line', 'source not recorded'],
  ['shape', 'shape', 'shape', 'no shape'],
  ['dtype', 'dtype', 'dtype', 'no element type'],
  ['op', 'opcode', 'opcode', 'no opcode'],
  ['scope', 'scope', 'op scope', 'no op scope'],
  ['category', 'category', 'category', 'no category'],
  ['kind', 'kind', 'kind', 'no kind'],
];

/* {word, none} of a way of the daemon. */
export function wordsOf(way) {
  const [, , word, none] = WAYS.find((each) => each[1] === way);
  return { word, none };
}

/* The daemon's word for what the URL says, "" for none; what is not known here is as nothing said. */
export const wayOf = (group) => (WAYS.find(([inUrl]) => inUrl === group) ?? WAYS[0])[1];

export const isWay = (group) => WAYS.some(([inUrl]) => inUrl === group);

/* Words for the palette: what each choice does. */
export const GROUP_CHOICES = WAYS.map(([inUrl, way, word]) => [
  inUrl,
  way ? `group buffers by ${word}` : 'list buffers one by one',
]);

/* Buffers one by one, without groups. */
export const isByOne = (group) => wayOf(group) === '';

/* From groups to buffers one by one, and back. */
export const folded = (group) => (isByOne(group) ? '' : 'none');

/* What a choice of it changes in the URL; a pinned group is one of the grouping that was. */
export const groupedBy = (group, { pin }) => ({ group, sort: '', pin: pin?.kind === 'g' ? null : pin });

/* onChoose(name in the URL). Out: {node, set(way)}. */
export function createGroupChoice(onChoose) {
  const ways = WAYS.map(([value, , word]) => [value, word]);
  const { node, set } = createChoice('Group buffers by', ways, onChoose);
  return { node, set: (way) => set(WAYS.find((each) => each[1] === way)?.[0] ?? '') };
}
