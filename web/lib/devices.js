/* SPDX-License-Identifier: Apache-2.0
 * devices.js: the devices that the daemon knows, asked once. */

import { get } from './api.js';

let asked = null;

export function readDevices() {
  asked ??= get('devices')
    .then((answer) => answer.devices)
    .catch((error) => {
      asked = null;
      throw error;
    });
  return asked;
}
