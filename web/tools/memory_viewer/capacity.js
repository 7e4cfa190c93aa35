/* SPDX-License-Identifier: Apache-2.0
 * capacity.js: the capacity that the page holds the total against, and the
 * choice of another one. The choice stands in the URL. */

import { isAbort, Problem } from '../../lib/api.js';
import { canChoose, capacityOf, deviceCapacity, findDevice, parseSize, readDevices, sizeCapacity } from '../../lib/capacity.js';
import { bytes, cutMiddle, visible } from '../../lib/format.js';
import { createSelector } from '../../widgets/selector.js';
import { optionFigure } from './answer.js';

/* The list is asked only if the URL names a device. A failure is no reason to show nothing. */
export async function devicesFor(wanted) {
  if (!wanted || parseSize(wanted) !== null) return [];
  try {
    return await readDevices();
  } catch (error) {
    if (isAbort(error) || !(error instanceof Problem)) throw error;
    return [];
  }
}

/* Sets program.capacity to what `devices` and the error texts say of program.wanted. */
export function settleCapacity(program, banners, devices) {
  const { wanted, space, said } = program;
  const recorded = capacityOf('', devices, said.errorTexts, space.space, said.devices);
  const isKnown = !wanted || parseSize(wanted) !== null || findDevice(devices, wanted) !== null;
  program.capacity = capacityOf(wanted, devices, said.errorTexts, space.space, said.devices);
  if (isKnown) banners.drop('capacity');
  else
    banners.set('capacity', {
      text: `Capacity ${cutMiddle(visible(wanted), 40)} is no device known here and no size like 15.75GiB; ${recorded ? 'using what is recorded' : 'capacity not known'}.`,
    });
}

/* onChoose(capacity). Out: {node, set()}: shows program.capacity; hidden in spaces of which no device says anything. */
export function createChooser(program, onChoose) {
  const selector = createSelector({
    title: 'device',
    load: async (filter) => {
      const options = capacityOptions({
        devices: await readDevices(),
        filter,
        wanted: program.wanted,
        recorded: capacityOf('', [], program.said.errorTexts, program.space.space, program.said.devices),
        space: program.space,
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
      const { capacity, wanted, space } = program;
      selector.node.hidden = !canChoose(space.space);
      const labels = { device: capacity?.device?.title, size: capacity && bytes(capacity.bytes) };
      const next = {
        id: capacity?.device?.name ?? wanted,
        label: labels[capacity?.kind] ?? 'Choose a device',
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
function capacityOptions({ devices, filter, wanted, recorded, space, platform }) {
  const text = filter.toLowerCase();
  const isLike = (...names) => names.some((name) => name.toLowerCase().includes(text));
  const options = isLike(AS_RECORDED)
    ? [{ id: '', label: AS_RECORDED, figure: recorded ? optionFigure(space, recorded) : 'not known' }]
    : [];
  for (const size of new Set([filter, filter ? '' : wanted].filter((each) => parseSize(each) !== null)))
    options.push({
      id: size.replace(/\s/g, ''),
      label: size === filter ? 'a size of your own' : 'the size in the address',
      figure: optionFigure(space, sizeCapacity(parseSize(size))),
    });
  const rank = (device) => (device.platform === platform ? 0 : 1);
  for (const device of [...devices].sort((a, b) => rank(a) - rank(b)))
    if (isLike(device.name, device.title))
      options.push({
        id: device.name,
        label: device.title,
        figure: optionFigure(space, deviceCapacity(device)),
      });
  return options;
}
