/* SPDX-License-Identifier: Apache-2.0
 * tones.js: the second tone of a colour, so that equal neighbours are seen apart, and the pale one of what is there for
 * a part of a pixel only. Its own file: several pictures of memory have both. */

const SHARE = 0.2;
const PALE_SHARE = 0.58;

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

const mixed = (from, to, share) =>
  `#${from
    .map((value, at) =>
      Math.round(value + (to[at] - value) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;

/* Pure: #RRGGBB moved away from the ink that stands on it, which is read the better for it. */
export function secondTone(fill, ink) {
  if (!/^#[0-9a-f]{6}$/i.test(fill)) return fill;
  const to = channels(ink)[0] > 127 ? 0 : 255;
  return mixed(channels(fill), [to, to, to], SHARE);
}

/* Pure: #RRGGBB moved towards the ground that it is drawn on. */
export function paleTone(fill, ground) {
  if (![fill, ground].every((each) => /^#[0-9a-f]{6}$/i.test(each))) return fill;
  return mixed(channels(fill), channels(ground), PALE_SHARE);
}
