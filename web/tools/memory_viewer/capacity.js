/* SPDX-License-Identifier: Apache-2.0
 * capacity.js: the capacity that the page holds the total against, and the
 * choice of another one. The choice stands in the URL. */

import { Problem } from '../../lib/api.js';
import { canChoose, capacityIn, parseSize, readDevices } from '../../lib/capacity.js';
import { bytes, cutMiddle, visible } from '../../lib/format.js';
import { createSelector } from '../../widgets/selector.js';
import { optionFigure } from './answer.js';

/* The summary with what the daemon says of `wanted`, a device or a size; of what it refuses as the files record it. */
async function askSummary(ask, wanted) {
  if (!wanted) return { answer: await ask('summary'), isRefused: false };
  try {
    return { answer: await ask('summary', { capacity: wanted }), isRefused: false };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return { answer: await ask('summary'), isRefused: true };
  }
}

/* The summary that the page is made of; its spaces are the page's own. */
export async function summaryWith(program, ask, wanted) {
  const { answer, isRefused } = await askSummary(ask, wanted);
  program.isRefused = isRefused;
  return { ...answer, data: { ...answer.data, spaces: answer.data.spaces.map((space) => ({ ...space })) } };
}

/* Sets the fit of each space to what the daemon says of program.wanted; false where that is no longer the question. */
export async function askFits(program) {
  const { spaces, wanted, ask } = program;
  if (!ask) return false;
  const { answer, isRefused } = await askSummary(ask, wanted);
  if (program.spaces !== spaces || program.wanted !== wanted) return false;
  program.isRefused = isRefused;
  for (const space of spaces) space.fit = answer.data.spaces.find((each) => each.space === space.space).fit;
  return true;
}

/* What there is of a space; null: not known. */
export async function capacityBytes({ ask }, number, wanted) {
  const { answer } = await askSummary(ask, wanted);
  return answer.data.spaces.find(({ space }) => space === number)?.fit.capacity_bytes ?? null;
}

/* Sets program.capacity to that of its space, and says what was refused. */
export function settleCapacity(program, banners) {
  const { wanted, space, isRefused } = program;
  program.capacity = capacityIn(space.fit);
  if (isRefused)
    banners.set('capacity', {
      text:
        `Capacity ${cutMiddle(visible(wanted), 40)} is no device known here and no size like 15.75GiB; ` +
        `${program.capacity ? 'using what is recorded' : 'capacity not known'}.`,
    });
  else banners.drop('capacity');
}

/* The device that is chosen, by its name; null: a size is, or nothing. */
export const chosenDevice = ({ wanted, isRefused }) =>
  wanted && !isRefused && parseSize(wanted) == null ? wanted : null;

/* onChoose(capacity). Out: {node, set()}: shows program.capacity; hidden in spaces of which no device says anything. */
export function createChooser(program, onChoose) {
  const selector = createSelector({
    title: 'device',
    load: async (filter) => {
      const { space } = program;
      const recorded = (await program.ask('summary')).data.spaces.find((each) => each.space === space.space).fit;
      const options = capacityOptions({
        devices: await readDevices(space.total_bytes, space.name),
        filter,
        wanted: program.wanted,
        recorded,
        platform: program.platform,
      });
      return { options, matched: options.length };
    },
    onChoose,
  });
  let last = '';
  return {
    node: selector.node,
    set() {
      const { capacity, wanted, space, isRefused } = program;
      selector.node.hidden = !canChoose(space.space);
      const isSize = parseSize(wanted) != null;
      const next = {
        id: wanted,
        label: !wanted || isRefused ? 'Choose a device' : isSize ? bytes(capacity.bytes) : wanted,
        count: 2,
      };
      if (JSON.stringify(next) === last) return;
      last = JSON.stringify(next);
      selector.set(next);
    },
  };
}

const AS_RECORDED = 'as recorded';

/* Pure: the options of the choice, those of the program's own platform first. */
function capacityOptions({ devices, filter, wanted, recorded, platform }) {
  const text = filter.toLowerCase();
  const isLike = (...names) => names.some((name) => name.toLowerCase().includes(text));
  const options = isLike(AS_RECORDED) ? [{ id: '', label: AS_RECORDED, figure: optionFigure(recorded) }] : [];
  for (const size of new Set([filter, filter ? '' : wanted].filter((each) => parseSize(each) != null)))
    options.push({
      id: size.replace(/\s/g, ''),
      label: size === filter ? 'a size of your own' : 'the size in the address',
      figure: bytes(parseSize(size)),
    });
  const rank = (device) => (device.platform === platform ? 0 : 1);
  for (const device of [...devices].sort((a, b) => rank(a) - rank(b)))
    if (isLike(device.name, device.title))
      options.push({ id: device.name, label: device.title, figure: optionFigure(device.fit) });
  return options;
}
