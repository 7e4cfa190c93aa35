/* SPDX-License-Identifier: Apache-2.0
 * capacity_options.js: what the choice of a capacity offers. Loaded when it is opened. */

import { deviceCapacity, parseSize, sizeCapacity } from '../../lib/capacity.js';
import { optionFigure } from './answer.js';

const AS_RECORDED = 'as recorded';

/* Pure: the options of the choice, those of the program's own platform first. */
export function capacityOptions({ devices, filter, wanted, recorded, space, platform }) {
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
