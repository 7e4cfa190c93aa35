/* SPDX-License-Identifier: Apache-2.0
 * predicted.js: how predicted figures read, on a page and in one that was exported: how sure they are, and whether it
 * fits then. Both are decided by the daemon. */

/* Before what it saves and where it lands: a bound saves at most this, and lands at least there. */
export function predictedSigns({ confidence }) {
  if (confidence === 'bound') return ['≤ ', '≥ '];
  return confidence === 'guess' ? ['about ', 'about '] : ['', ''];
}

/* "fits", "may fit", "over by 3.00 GiB", in the daemon's words; "" where no capacity is known. */
export const predictedFit = ({ fits_text: text }) => text ?? '';
