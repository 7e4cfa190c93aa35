/* SPDX-License-Identifier: Apache-2.0
 * capacity.js: how much memory there is for a program, where that figure comes from, and
 * whether a program fits. Pure, but for readDevices: the URL, the list of devices, error texts and what a trace says in.
 *
 * A capacity: {kind: "device" | "size" | "recorded" | "trace" (also the chip that a dump names: traced.plane is ''), bytes, half (exact to ± this), needed
 * (what the error text asked, or null), isPhysical, device, file}. */

import { get } from './api.js';
import { bytesCoarse } from './format.js';

const DEVICE_SPACE = 0;
const MAX = 2 ** 52;
let asked = null;

/* The devices that the daemon knows, asked once. */
export function readDevices() {
  asked ??= get('devices')
    .then((answer) => answer.devices)
    .catch((error) => {
      asked = null;
      throw error;
    });
  return asked;
}

/* "15.75GiB", "15.75G", "512 MiB" → bytes; anything else → null. */
export function parseSize(text) {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)\s?([KMGT])(?:iB)?$/i.exec(text.trim());
  if (!match) return null;
  const bytes = Math.round(Number(match[1]) * 1024 ** ('KMGT'.indexOf(match[2].toUpperCase()) + 1));
  return bytes > 0 && bytes <= MAX ? bytes : null;
}

export function findDevice(devices, name) {
  const wanted = name.toLowerCase();
  return (devices ?? []).find((device) => device.name.toLowerCase() === wanted) ?? null;
}

export function deviceCapacity(device) {
  const isPhysical = device.available_bytes === null;
  const bytes = isPhysical ? device.physical_bytes : device.available_bytes;
  return { kind: 'device', bytes, half: 0, needed: null, isPhysical, device, file: '' };
}

export function sizeCapacity(bytes) {
  return { kind: 'size', bytes, half: 0, needed: null, isPhysical: false, device: null, file: '' };
}

/* What the first error text says of this memory space. */
export function recordedCapacity(errorTexts, space) {
  const found = errorTexts.find(({ capacity }) => capacity?.space === space);
  if (!found) return null;
  const { available_bytes: bytes, half_unit_bytes: half, needed_bytes: needed } = found.capacity;
  return { kind: 'recorded', bytes, half, needed, isPhysical: false, device: null, file: found.file };
}

/* The least that a device of the trace has: what a program may use there, if the table of devices knows it,
 * else the physical size as recorded. traceDevices: of the modules answer. */
export function traceCapacity(traceDevices, space) {
  if (space !== DEVICE_SPACE) return null;
  const known = (traceDevices ?? [])
    .map((device) => ({ device, bytes: device.available_bytes ?? device.memory_bytes }))
    .filter(({ bytes }) => bytes !== null)
    .sort((a, b) => a.bytes - b.bytes)[0];
  if (!known) return null;
  const { device, bytes } = known;
  const isPhysical = device.available_bytes === null;
  return { kind: 'trace', bytes, half: 0, needed: null, isPhysical, device: null, file: device.file, traced: device };
}

/* "target_arguments.pb" of "module_0000.jit_f.cl_1.target_arguments.pb": what of a dump names its chip. */
export const chipFile = (file) => /(?:target_arguments|topology|gpu_target_config)\.\w+$/.exec(file)?.[0] ?? 'the dump';

/* The URL first (device memory only), then the dump's own text, then the trace or the chip that the dump names, then none (null). */
export function capacityOf(wanted, devices, errorTexts, space, traceDevices = []) {
  if (wanted && space === DEVICE_SPACE) {
    const size = parseSize(wanted);
    if (size !== null) return sizeCapacity(size);
    const device = findDevice(devices, wanted);
    if (device) return deviceCapacity(device);
  }
  return recordedCapacity(errorTexts, space) ?? traceCapacity(traceDevices, space);
}

export function canChoose(space) {
  return space === DEVICE_SPACE;
}

/* How far a need is from a capacity, no finer than the capacity was printed. */
export const differenceText = (by, capacity) => bytesCoarse(by, 2 * (capacity?.half ?? 0));

/* {word: "over" | "fits" | "unsure", by, isOfText}: the total decides. A text that asked for more of
 * a space than the plan shows there is believed: scoped memory stands in no total. */
export function verdictOf(needed, capacity, space = DEVICE_SPACE) {
  if (!capacity) return null;
  const over = needed - capacity.bytes;
  if (over > capacity.half) return { word: 'over', by: over, isOfText: false };
  if (space !== DEVICE_SPACE && capacity.needed > capacity.bytes + capacity.half)
    return { word: 'over', by: capacity.needed - capacity.bytes, isOfText: true };
  if (capacity.half > 0 && over > -capacity.half) return { word: 'unsure', by: 0, isOfText: false };
  return { word: 'fits', by: capacity.bytes - needed, isOfText: false };
}
