/* SPDX-License-Identifier: Apache-2.0
 * reader.js: the answer of one panel below the timeline: asked for once for the same question, at once or when it has
 * come to rest. Its own file: the panels of the address map and of segments ask alike. */

import { later } from '../../lib/activity.js';
import { isAbort, Problem } from '../../lib/api.js';
import { message } from '../../widgets/panel.js';
import * as empty from './empty.js';

const ASK_AFTER_MS = 120;

/* question() → answer; draw(data). Out: {load(), hear(), reset(), stop()}. */
export function createReader({ panel, what, keyOf, question, draw }) {
  let asked = '';
  let takeBack = null;
  const load = async () => {
    const key = keyOf();
    asked = key;
    const end = panel.wait('', null);
    try {
      const { data } = await question();
      if (asked !== key) return;
      if (data.reason) {
        panel.say(message(empty.reasonOf(data.reason)));
        return;
      }
      panel.show();
      draw(data);
    } catch (error) {
      if (isAbort(error) || asked !== key) return;
      if (!(error instanceof Problem)) throw error;
      panel.say(message(empty.failed(what, error)));
    } finally {
      end();
    }
  };
  return {
    load,
    /* True if it asks. */
    hear() {
      if (keyOf() === asked) return false;
      takeBack?.();
      takeBack = later(() => {
        takeBack = null;
        load();
      }, ASK_AFTER_MS);
      return true;
    },
    reset() {
      asked = '';
    },
    stop: () => takeBack?.(),
  };
}
