/* SPDX-License-Identifier: Apache-2.0
 * whatif.js: the sets of changes that would make a program that failed fit, each a link into the Memory Viewer's drawer.
 * Its own file: asked for once the program is found. */

import { get, isAbort, problemText } from '../../lib/api.js';
import { el, fill, loadStyle } from '../../lib/dom.js';
import { fitNodes } from '../../widgets/fit_sets.js';
import { createPanel, message } from '../../widgets/panel.js';

/* Predictions are of the device's own memory. */
const SPACE = 0;

/* Out: {panel, clear(), show(failure, link, signal)}; link: {about: {session, module}, plan, to(more) → href of its page}. */
export function createWhatif() {
  const panel = createPanel('panel-oom-whatif', 'What would make it fit');
  panel.node.hidden = true;
  return {
    panel,
    clear() {
      panel.node.hidden = true;
    },
    async show(failure, link, signal) {
      if (link.plan && link.plan.space !== SPACE) return; // of a memory in which nothing is predicted
      const capacity = failure.capacity_bytes ?? null;
      const all = (words) => el('p', {}, el('a', { href: link.to({ drawer: capacity === null ? 'whatif' : 'fit' }) }, words));
      panel.node.hidden = false;
      if (capacity === null) {
        panel.say(message({ text: 'The text does not say what the device has, so nothing can be held against it.', action: { label: 'Choose a device and see what changes would save', href: link.to({ drawer: 'fit' }) } }));
        return;
      }
      const end = panel.wait('', null);
      try {
        const asked = get('memory_viewer/whatif', { ...link.about, capacity_bytes: capacity, fit: 1 }, { signal });
        const [{ data }] = await Promise.all([asked, loadStyle('whatif.css')]);
        const open = (changes) => el('a', { href: link.to({ whatif: changes, drawer: 'fit' }) }, 'See it');
        fill(panel.body, fitNodes(data.fit, open), all('All changes, and what each would save'));
        panel.show();
      } catch (error) {
        if (isAbort(error)) throw error;
        panel.say(message({ kind: 'error', title: 'No prediction of changes.', text: problemText(error) }));
      } finally {
        end();
      }
    },
  };
}
