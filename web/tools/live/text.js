/* SPDX-License-Identifier: Apache-2.0
 * text.js: sentences of the page Live, and how high its charts are. Pure.
 * Its own file: page and chart read it, and unit tests. */

import { ago, counted, visible } from '../../lib/format.js';

/* A run that did not fail leaves no folder. */
export const ENDED = 'The run has ended and left no files. The last figures that were read are shown.';

export const NOTHING = {
  title: '',
  text: 'Start a job with `memviewd watch`. The --logdir of this daemon must be the folder of the runs, memviewd-runs.',
  run: 'memviewd watch -- python train.py',
};

/* Which line it is, from one answer to the next. */
export const keyOf = ({ process, device }) => JSON.stringify([process, device]);

export const optionOf = ({ name, is_running: isRunning }) => `${visible(name)}${isRunning ? '' : ', ended'}`;

/* The fullest device leads. */
export function answer({ lines, reason, is_running: isRunning }) {
  if (reason) return `It cannot be read: ${visible(reason)}.`;
  if (lines.length === 0) return isRunning ? 'No process uses a device yet.' : 'No process used a device.';
  const [{ sentence, process }] = lines;
  return `${isRunning ? '' : 'Ended. '}${lines.length > 1 ? `${visible(process)}, ` : ''}${visible(sentence)}.`;
}

/* What grows, else how many lines there are. */
export function second({ lines }) {
  const growing = lines.filter(({ growth_sentence: sentence }) => sentence);
  if (growing.length > 0) return growing.map((line) => `${visible(line.growth_sentence)}.`).join(' ');
  return lines.length > 1 ? `The fullest of ${counted(lines.length, 'device')}; none of them grows.` : '';
}

/* Below a chart. */
export function stateOf({ has_ended: hasEnded, reason, at_ms: atMs }, nowMs = Date.now()) {
  if (reason) return `It is no longer sampled: ${visible(reason)}.`;
  if (hasEnded) return `Its process ended ${ago(atMs, nowMs)}.`;
  return '';
}

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

export const captureCommand = ({ root, name }) => `memviewd capture ${quoted(`${root}/${name}`)}`;

const NEAR = 1.5; // times the data: a capacity that is further away is told in words alone

/* Pure: the largest value that is drawn, and the capacity if it is drawn. */
export function extentOf({ total_bytes: total = null, samples: { high_bytes: high, reserved_bytes: reserved } }) {
  const most = Math.max(1, ...high, ...reserved.filter((value) => value != null));
  const isNear = total != null && total <= NEAR * most;
  return { most: isNear ? Math.max(most, total) : most, capacity: isNear ? total : null };
}
