/* SPDX-License-Identifier: Apache-2.0
 * explain.js: what the figures of the Device Memory page are made of. Pure: what the page
 * knows in, cards of explain.js out. */
// Its own file: loaded when the first card is opened.

import { count, counted, percent, visible } from '../../lib/format.js';
import { countFilters } from './state.js';
import { amount, isBytes, momentsOf, signedAmount } from './text.js';

const CAVEAT =
  'Counts live arrays and code only: temporaries inside a compiled program, memory that the allocator keeps unused, ' +
  'and the peak, are not in such a file.';

const MOMENT_CAVEAT =
  'Counts requested bytes. The allocator rounds them up and keeps segments that are not in use: the Memory Profile ' +
  'shows them.';
const caveatOf = (summary) => (momentsOf(summary).length ? MOMENT_CAVEAT : CAVEAT);

const field = ({ name }) => `\`Profile.sample[].value[]\` of the sample type \`${visible(name)}\``;
const filesOf = (summary, role = 'profile') =>
  summary.profiles
    .filter((profile) => profile.role === role)
    .map(({ name }) => visible(name))
    .join(', ');
const input = (metric, name, value, note = '') =>
  isBytes(metric) ? { name, bytes: value, note } : { name, text: count(value), note };
const passing = (state) => {
  const many = countFilters(state);
  return many ? ` that pass ${counted(many, 'filter')}` : '';
};

function total(summary, state) {
  const { metric } = summary;
  return {
    title: `${amount(metric, summary.total)} live`,
    formula:
      `the sum over ${counted(summary.sample_count, 'sample')}${passing(state)}; sizes of \u22121 (unknown) ` +
      `are counted and left out of the sum`,
    inputs: [
      ...summary.kinds.map((kind) => input(metric, kind.name, kind.total, counted(kind.count, 'allocation'))),
      input(metric, 'total', summary.total),
    ],
    file: filesOf(summary),
    field: momentsOf(summary).length
      ? '`device_traces[][].size`, and `blocks[].requested_size` of what no event allocates'
      : field(metric),
    confidence: 'exact',
    caveat: caveatOf(summary),
  };
}

function kind(summary, state, name) {
  const { metric } = summary;
  const found = summary.kinds.find((each) => each.name === name);
  const unknown = name === 'executable' ? summary.executable_unknown_count : 0;
  return {
    title: `${amount(metric, found?.total ?? 0)} in ${counted(found?.count ?? 0, name)}`,
    formula: `the sum over the samples whose label \`kind\` is \`${visible(name)}\`${passing(state)}`,
    inputs: summary.devices.map((device) => input(metric, device.name, device.total, 'all kinds')),
    file: filesOf(summary),
    field: '`Profile.sample[].label[]` with the key `kind`',
    confidence: 'exact',
    caveat:
      name === 'executable'
        ? `The size of an executable is that of its code; it is not known for ${count(unknown)} of them.`
        : 'Each buffer counts once, however many arrays share it; on several devices, once on each.',
  };
}

function change(summary) {
  const { metric } = summary;
  return {
    title: `${signedAmount(metric, summary.total)}`,
    formula:
      `after ${amount(metric, summary.after_total)} \u2212 before ${amount(metric, summary.before_total)}, ` +
      `sample by sample, summed by call stack`,
    inputs: [
      input(metric, 'before', summary.before_total, filesOf(summary, 'base')),
      input(metric, 'change', summary.after_total - summary.before_total),
      input(metric, 'after', summary.after_total, filesOf(summary)),
    ],
    file: `${filesOf(summary, 'base')}, ${filesOf(summary)}`,
    field: field(metric),
    confidence: 'exact',
    caveat:
      `Percentages are of what was there before (${amount(metric, summary.percent_base)}), as pprof has them ` +
      `with -diff_base.`,
  };
}

/* A frame that the page has: of the sentence or of the details. */
function site(summary, { isMachinery }, id) {
  const { metric } = summary;
  const known = summary.top.find((each) => each.frame.id === id);
  if (!known) return null;
  return {
    title: `${visible(known.frame.name)}: ${amount(metric, known.self)}`,
    formula:
      `what was made at this line itself: ${amount(metric, known.self)} of ` +
      `${amount(metric, summary.percent_base)} = ${percent(Math.abs(known.self), summary.percent_base)}`,
    inputs: [input(metric, 'made here', known.self, counted(known.count, 'group'))],
    file: filesOf(summary),
    field: '`Profile.sample[].location_id[]`, innermost first',
    confidence: isMachinery ? 'exact' : 'guess',
    why: isMachinery
      ? 'The frame is the innermost one of the stack.'
      : 'Bytes go to the nearest frame that is not of JAX, Flax, PyTorch, IPython or Python itself; their paths show ' +
        'which files those are.',
  };
}

/* Of "total", "kind:buffer", "change", "site:ID". Null when there is nothing to say. */
export function cardOf({ summary }, state, word, rest) {
  if (!summary) return null;
  if (word === 'total') return summary.is_diff ? change(summary) : total(summary, state);
  if (word === 'kind') return kind(summary, state, rest);
  if (word === 'change') return change(summary);
  if (word === 'site') return site(summary, state, rest);
  return null;
}
