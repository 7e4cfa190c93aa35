/* SPDX-License-Identifier: Apache-2.0
 * capacity.js: how much memory there is for a program, as the daemon's `fit` has it, and what can be chosen instead.
 * Whether a program fits is the daemon's word. */

import { get } from './api.js';
import { bytesCoarse } from './format.js';

const DEVICE_SPACE = 0;
const MAX = 2 ** 52;

/* The devices that the daemon knows, each with the `fit` of a program that needs so much of the space of that name. */
export async function readDevices(needed, spaceName) {
  return (await get('devices', { needed_bytes: needed, space_name: spaceName })).devices;
}

/* "15.75GiB", "15.75G", "512 MiB" → bytes; anything else → null. */
export function parseSize(text) {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)\s?([KMGT])(?:iB)?$/i.exec(text.trim());
  if (!match) return null;
  const bytes = Math.round(Number(match[1]) * 1024 ** ('KMGT'.indexOf(match[2].toUpperCase()) + 1));
  return bytes > 0 && bytes <= MAX ? bytes : null;
}

/* Pure: {bytes, half (exact to ± this), isPhysical, share (that JAX takes of it by default, or null), source,
   deviceSource} of
 * the daemon's `fit`; null: the capacity is not known. */
export function capacityIn({
  capacity_bytes: value,
  half_unit_bytes: half,
  is_physical: isPhysical,
  share_bytes: share,
  source,
  device_source: deviceSource,
}) {
  return value == null ? null : { bytes: value, half, isPhysical, share, source, deviceSource };
}

/* Pure: what the daemon's `fit` holds against what: {needed, asked (by an error text, or null), limit, share (that JAX
   takes by
 * default, where that is the limit; or null)}. */
export function heldAgainst({ parts }) {
  const of = (wanted) => parts.find(({ role }) => role === wanted)?.bytes ?? null;
  const [asked, share] = [of('asked'), of('share')];
  return { needed: asked ?? of('needed'), asked, limit: share ?? of('capacity'), share };
}

/* Pure: why a figure held against it is a bound; '' where it is none, or where the share that JAX takes says it. */
export const whyPhysical = (capacity) =>
  capacity?.isPhysical && capacity.share == null
    ? 'A program gets less than the physical size; how much less is not known.'
    : '';

export function canChoose(space) {
  return space === DEVICE_SPACE;
}

/* How far a need is from a capacity, no finer than the capacity was printed. */
export const differenceText = (by, capacity) => bytesCoarse(by, 2 * (capacity?.half ?? 0));
