/* SPDX-License-Identifier: Apache-2.0
 * tones.js: the second tone of a colour, so that equal neighbours are seen apart. Its own file: both pictures of buffers
 * have it, stripes and map. */

const SHARE = 0.2;

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/* Pure: #RRGGBB moved away from the ink that stands on it, which is read the better for it. */
export function secondTone(fill, ink) {
  if (!/^#[0-9a-f]{6}$/i.test(fill)) return fill;
  const to = channels(ink)[0] > 127 ? 0 : 255;
  return `#${channels(fill).map((value) => Math.round(value + (to - value) * SHARE).toString(16).padStart(2, '0')).join('')}`;
}
