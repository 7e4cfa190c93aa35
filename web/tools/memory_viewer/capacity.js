/* SPDX-License-Identifier: Apache-2.0
 * capacity.js: the capacity that the page holds the total against, and the
 * choice of another one. The choice stands in the URL. */

import { isAbort, Problem } from '../../lib/api.js';
import { canChoose, capacityOf, findDevice, parseSize, readDevices } from '../../lib/capacity.js';
import { bytes, cutMiddle, visible } from '../../lib/format.js';
import { createSelector } from '../../widgets/selector.js';

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

/* Sets view.capacity to what `devices` and the error texts say of view.wanted. */
export function settleCapacity(view, devices) {
  const { wanted, space, said } = view;
  const recorded = capacityOf('', devices, said.errorTexts, space.space, said.devices);
  const isKnown = !wanted || parseSize(wanted) !== null || findDevice(devices, wanted) !== null;
  view.capacity = capacityOf(wanted, devices, said.errorTexts, space.space, said.devices);
  if (isKnown) view.context.banners.drop('capacity');
  else
    view.context.banners.set('capacity', {
      text: `Capacity ${cutMiddle(visible(wanted), 40)} is no device known here and no size like 15.75GiB; ${recorded ? 'using what is recorded' : 'capacity not known'}.`,
    });
}

/* Out: {node, set()}: shows view.capacity; hidden in spaces of which no device says anything. */
export function createChooser(view) {
  const selector = createSelector({
    title: 'device',
    load: async (filter) => {
      const { capacityOptions } = await import('./capacity_options.js');
      const options = capacityOptions({
        devices: await readDevices(),
        filter,
        wanted: view.wanted,
        recorded: capacityOf('', [], view.said.errorTexts, view.space.space, view.said.devices),
        space: view.space,
        platform: view.platform,
      });
      return { options, matched: options.length };
    },
    onChoose: (id) => view.context.setCapacity(id),
  });
  let last = '';
  return {
    node: selector.node,
    set() {
      const { capacity, wanted, space } = view;
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
