/* SPDX-License-Identifier: Apache-2.0
 * load.js: one view asks for its data, once for the same question, and says in its own
 * panel what went wrong. */

import { isAbort, Problem } from '../../lib/api.js';
import { stopped } from '../../lib/failure.js';
import { message } from '../../widgets/panel.js';
import * as empty from './empty.js';

/* what: "The flame graph"; sentence: said after a second; filter: the field whose text may be refused, then
 * what was drawn stays. Out: {load(name, params, draw), forget()}; load resolves with the data, with the one
 * that is drawn already if nothing changed, else with null; forget() also takes back what it said. */
export function createLoader(subject, panel, { what, sentence, filter = null }) {
  let key = '';
  let last = null;
  let controller = null;
  let hasSaid = false;
  const say = (content) => {
    hasSaid = true;
    panel.say(message(content));
  };
  return {
    async load(name, params, draw) {
      const next = JSON.stringify([subject.key, name, params]);
      if (next === key) return last;
      controller?.abort();
      controller = new AbortController();
      const { signal } = controller;
      key = next;
      last = null;
      const cancel = () => {
        controller.abort();
        key = '';
        say(stopped(sentence, subject.again));
      };
      const end = panel.wait(`Reading ${sentence}.`, cancel);
      try {
        const { data } = await subject.ask(name, params, signal);
        if (signal.aborted) return null;
        hasSaid = false;
        panel.show();
        filter?.accept();
        last = data;
        draw(data);
        return data;
      } catch (error) {
        if (isAbort(error) || signal.aborted) return null;
        key = '';
        if (!(error instanceof Problem)) throw error;
        if (filter && error.code === 'argument' && /^filter: /.test(error.message)) {
          filter.refuse(error);
          return null;
        }
        say(empty.failed(what, error));
        return null;
      } finally {
        end();
      }
    },
    forget() {
      controller?.abort();
      key = '';
      last = null;
      if (hasSaid) panel.show();
      hasSaid = false;
    },
  };
}
