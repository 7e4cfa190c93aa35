/* SPDX-License-Identifier: Apache-2.0
 * heartbeat.js: asks every 5 s whether the daemon is there and whether its folders
 * changed. Sleeps while the page is hidden. */

import { get } from './api.js';

const EVERY_MS = 5000;

/* onChange(about) is called when the scan generation moved since the last look. */
export function startHeartbeat(onChange) {
  let generation = null;
  let timer = 0;
  const beat = async () => {
    clearTimeout(timer);
    try {
      const about = await get('about', {}, { isQuiet: true });
      if (generation !== null && about.scan_generation !== generation) onChange(about);
      generation = about.scan_generation;
    } catch {
      /* api.js told everybody already */
    }
    if (!document.hidden) timer = setTimeout(beat, EVERY_MS);
  };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) beat();
  });
  beat();
  return { beat };
}
