/* SPDX-License-Identifier: Apache-2.0
 * lines.js: what is drawn of an answer of the view "chart". Pure.
 * Its own file: unit tests read it without a page. */

import { CATEGORY_NAMES } from '../../widgets/categories.js';
import { count, cutMiddle, visible } from '../../lib/format.js';

export const NAME_MAX = 32;
/* Of the categories: what is not live at the peak. */
export const REST = 'rest';

export const nameOf = (line, isOfJobs) => visible((isOfJobs ? line.job : line.module) ?? line.kind ?? line.job);

function valuesOf(line, metric) {
  if (metric === 'peak') return line.peak_bytes;
  if (metric === 'needed') return line.needed_bytes;
  return line.needed_bytes.map((value, at) => (line.capacity_bytes[at] > 0 ? (100 * value) / line.capacity_bytes[at] : null));
}

const OF_MAX = 2;

/* Pure: capacities that are drawn across: each that a line has now, [{value, of}]; of: whose it is, where not all lines have it. */
export function limitsOf(lines, metric, isOfJobs) {
  if (metric === 'share') return [{ value: 100, of: '' }];
  const now = ({ capacity_bytes: all }) => all.at(-1);
  return [...new Set(lines.map(now).filter((each) => each > 0))].map((value) => {
    const own = lines.filter((line) => now(line) === value).map((line) => cutMiddle(nameOf(line, isOfJobs), NAME_MAX));
    const more = own.length > OF_MAX ? ` and ${count(own.length - OF_MAX)} more` : '';
    return { value, of: own.length === lines.length ? '' : own.slice(0, OF_MAX).join(', ') + more };
  });
}

/* Pure: one line of the answer as one of the chart. */
export function lineOf(line, metric, isOfJobs) {
  const marks = Object.fromEntries(line.steps.map((step) => [step.point, step.change_bytes > 0 ? 'up' : 'down']));
  return { name: cutMiddle(nameOf(line, isOfJobs), NAME_MAX), at: line.at_ms, values: valuesOf(line, metric), marks, isOver: line.needed_bytes.map((value, point) => line.capacity_bytes[point] > 0 && value > line.capacity_bytes[point]) };
}

/* Pure: what is stacked, from the bottom: those that some commit has. */
export function stackOf(line) {
  const order = [...CATEGORY_NAMES, REST];
  return line.categories
    .filter(({ bytes: all }) => all.some((each) => each > 0))
    .sort((a, b) => order.indexOf(a.category) - order.indexOf(b.category));
}
