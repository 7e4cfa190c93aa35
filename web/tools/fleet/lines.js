/* SPDX-License-Identifier: Apache-2.0
 * lines.js: what is drawn of an answer of the view "chart". Pure.
 * Its own file: unit tests read it without a page. */

import { CATEGORY_NAMES } from '../../widgets/categories.js';
import { count, cutMiddle, visible } from '../../lib/format.js';

export const NAME_MAX = 32;
/* Of the categories: what is not live at the peak. */
export const REST = 'rest';

/* Lines are of: jobs; the modules of one; its hosts. */
export const LINES_OF = { job: 'Jobs', module: 'Modules', host: 'Hosts' };

const partsOf = (line) => line.configuration?.split(', ') ?? ['configuration not known'];

/* What a line is called among those of its name: it adds what of its configuration not all of them have
 * ("batch 128x1024"), and its memory space where that differs. */
function toldApart(line, alike) {
  const isShared = (part) => alike.every((other) => partsOf(other).includes(part));
  const own = partsOf(line).filter((part) => !isShared(part));
  if (own.length === 0 && alike.some((other) => partsOf(other).length > partsOf(line).length))
    own.push(...partsOf(line));
  if (alike.some((other) => other.memory_space !== line.memory_space))
    own.unshift(line.memory_space ?? 'memory not known');
  return own.length > 0 ? `${line.name} (${own.join(', ')})` : line.name;
}

/* Pure: the lines with what they are called: `name`. Hosts also by what they are drawn by, if that differs; lines of
   one
 * name by what tells them apart. */
export function named(lines, linesOf) {
  const moduleOf = (line) => line.module ?? line.kind ?? line.job;
  const hasModules = new Set(lines.map(moduleOf)).size > 1;
  const hostOf = (line) => (line.host ?? 'host not known') + (hasModules ? ` ${moduleOf(line)}` : '');
  const nameOf = { job: (line) => line.job, module: moduleOf, host: hostOf }[linesOf];
  const plain = lines.map((line) => ({ ...line, name: visible(nameOf(line)) }));
  const alikeTo = (line) => plain.filter((other) => other.name === line.name);
  return plain.map((line) => ({ ...line, name: visible(toldApart(line, alikeTo(line))) }));
}

function valuesOf(line, metric) {
  if (metric === 'peak') return line.peak_bytes;
  if (metric === 'needed') return line.needed_bytes;
  return line.needed_bytes.map((value, at) =>
    line.capacity_bytes[at] > 0 ? (100 * value) / line.capacity_bytes[at] : null,
  );
}

const OF_MAX = 2;

/* Pure: capacities that are drawn across: each that a line has now, [{value, of}]; of: whose it is, where not all lines
   have it. */
export function limitsOf(lines, metric) {
  if (metric === 'share') return [{ value: 100, of: '' }];
  const now = ({ capacity_bytes: all }) => all.at(-1);
  return [...new Set(lines.map(now).filter((each) => each > 0))].map((value) => {
    const own = lines.filter((line) => now(line) === value).map((line) => cutMiddle(line.name, NAME_MAX));
    const more = own.length > OF_MAX ? ` and ${count(own.length - OF_MAX)} more` : '';
    return { value, of: own.length === lines.length ? '' : own.slice(0, OF_MAX).join(', ') + more };
  });
}

/* Pure: one line of the answer as one of the chart. */
export function lineOf(line, metric) {
  const marks = Object.fromEntries(line.steps.map((step) => [step.point, step.change_bytes > 0 ? 'up' : 'down']));
  return {
    name: cutMiddle(line.name, NAME_MAX),
    at: line.at_ms,
    values: valuesOf(line, metric),
    marks,
    isOver: line.over_bytes.map((over) => over > 0),
  };
}

/* Pure: the columns of whose memory it is: of modules the commits of the first, else the last commit of each line.
 * Out: {names, at_ms, needed_bytes, references, kinds, categories: [{category, bytes}]}, each list by column. */
export function columnsOf(lines, linesOf) {
  if (linesOf === 'module')
    return { ...lines[0], names: lines[0].commits, kinds: lines[0].commits.map(() => lines[0].kind) };
  const lastOf = (field) => lines.map((line) => line[field].at(-1));
  const all = [...new Set(lines.flatMap(({ categories }) => categories.map(({ category }) => category)))];
  const bytesOf = (line, category) => line.categories.find((own) => own.category === category)?.bytes.at(-1) ?? null;
  return {
    names: lines.map(({ name }) => name),
    at_ms: lastOf('at_ms'),
    needed_bytes: lastOf('needed_bytes'),
    references: lastOf('references'),
    kinds: lines.map(({ kind }) => kind),
    categories: all.map((category) => ({ category, bytes: lines.map((line) => bytesOf(line, category)) })),
  };
}

/* Pure: what is stacked, from the bottom: those that some column has. */
export function stackOf(columns) {
  const order = [...CATEGORY_NAMES, REST];
  return columns.categories
    .filter(({ bytes: all }) => all.some((each) => each > 0))
    .sort((a, b) => order.indexOf(a.category) - order.indexOf(b.category));
}
