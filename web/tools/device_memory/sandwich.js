/* SPDX-License-Identifier: Apache-2.0
 * sandwich.js: the callers of a frame as a flame graph that stands on it, and what it called as one that hangs from it;
 * each is as wide as the frame holds. */

import { isAbort, Problem } from '../../lib/api.js';
import { begin } from '../../lib/activity.js';
import { el } from '../../lib/dom.js';
import { onTheme } from '../../lib/theme.js';
import { message } from '../../widgets/panel.js';
import { createPart } from './part.js';
import * as empty from './empty.js';
import * as say from './text.js';

/* The name of the frame `id` in an answer of the view `flame`. */
export function frameOf(data, id) {
  const at = data.frames.id.indexOf(id);
  return at < 0 ? 'this frame' : say.frameText(data, at);
}

/* Draws the answer to ?pivot=ID into two parts: the callers, then the callees, in the same colours. */
export function drawSandwich([above, below], data, name) {
  const rootName = 'stacks through it';
  above.draw(
    { ...data, nodes: data.callers },
    { rootName, isRootHidden: true, label: `Callers of ${name}, nearest first.` },
  );
  below.draw(data, {
    rootName,
    isRootHidden: true,
    known: data.is_diff ? null : above.shown.colours.files,
    label: `What ${name} called.`,
  });
  above.setHeading('Callers, the nearest below');
  below.setHeading('Callees');
  for (const part of [above, below]) part.fitRows();
}

/* Out: {node, show(frame id), forget(), light(hover), destroy()}. */
export function createSandwich({ url, subject, store, hint }) {
  const onPick = (path, id) => url.pin(id === store.state.pin ? null : id);
  const parts = [{ isFlipped: true }, {}].map((how) => createPart({ url, store, hint }, { onPick, ...how }));
  const problem = el('div', { hidden: true });
  const flames = el(
    'div',
    { class: 'flame-parts' },
    parts.map(({ node }) => node),
  );
  const node = el('div', { class: 'callers-flames' }, problem, flames);
  let asked = '';
  const stopTheme = onTheme(() => parts.forEach((part) => part.recolour()));
  const put = (content) => {
    problem.hidden = !content;
    flames.hidden = Boolean(content);
    problem.replaceChildren(...(content ? [message(content)] : []));
  };
  return {
    node,
    async show(id) {
      const key = `${subject.key} ${id}`;
      if (key === asked) return;
      asked = key;
      const end = begin();
      try {
        const { data } = await subject.ask('flame', { pivot: id });
        if (key !== asked) return;
        put(null);
        drawSandwich(parts, data, frameOf(data, id));
      } catch (error) {
        if (isAbort(error) || key !== asked) return;
        asked = '';
        if (!(error instanceof Problem)) throw error;
        put(empty.failed('The flame graphs', error));
      } finally {
        end();
      }
    },
    forget() {
      asked = '';
    },
    light(hover) {
      for (const part of parts) part.light(hover);
    },
    destroy() {
      stopTheme();
      parts.forEach((part) => part.destroy());
    },
  };
}
