/* SPDX-License-Identifier: Apache-2.0
 * sets.js: the colours of what has no category: files, lines of code, call sites, programs, ops, jobs, A and B. None of
 * them is a colour of a category, so that one colour has one meaning. */

import { token } from '../lib/theme.js';

export const SET_SIZE = 8;

/* Of the two sides of a comparison, lines and words: A has that of the text. */
export const SIDE_TONES = ['text', 'set-3'];
/* Name of the colour at a place, from 0; after the last one the first comes again. */
export const setTone = (at) => `set-${at % SET_SIZE}`;
/* For a canvas: the fill, and the text on it. */
export const setFill = (at) => token(setTone(at));
export const setInk = (at) => token(`ink-${setTone(at)}`);
/* Style of a swatch. */
export const setSwatch = (at) => `swatch-${setTone(at)}`;
