/* SPDX-License-Identifier: Apache-2.0
 * sparkline.js: a row of values as a small stepped line from zero, in the colour of the text. */

import { svg } from '../lib/dom.js';

const WIDTH = 120;
const HEIGHT = 20;

/* Pure: the outline of the steps, closed at zero. */
export function sparkPath(values, width = WIDTH, height = HEIGHT) {
  const top = Math.max(1, ...values.map(Math.abs));
  const wide = width / Math.max(1, values.length);
  const low = Math.min(0, ...values);
  const scale = (height - 2) / (top - Math.min(0, low));
  const y = (value) => (height - 1 - (value - Math.min(0, low)) * scale).toFixed(1);
  const steps = values.map(
    (value, at) => `L${(at * wide).toFixed(1)} ${y(value)}L${((at + 1) * wide).toFixed(1)} ${y(value)}`,
  );
  return `M0 ${y(0)}${steps.join('')}L${width} ${y(0)}Z`;
}

export function sparkline(values, label) {
  return svg(
    'svg',
    {
      class: 'sparkline',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    svg('path', { d: sparkPath(values) }),
  );
}
