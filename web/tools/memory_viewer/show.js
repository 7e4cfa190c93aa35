/* SPDX-License-Identifier: Apache-2.0
 * show.js: loads what the URL names and shows it, or one message instead of all panels. */

import { cutMiddle, visible } from '../../lib/format.js';
import { get, isAbort, Problem } from '../../lib/api.js';
import { stopped } from '../../lib/failure.js';
import { message } from '../../widgets/panel.js';
import { hideTooltip } from '../../widgets/tooltip.js';
import { gatherNotes } from './load.js';
import { summaryWith } from './capacity.js';
import { setPin } from './light.js';
import { askWithRules, hearLook } from './look.js';
import { setBeside } from './beside.js';
import { showSpace } from './views.js';
import { failed, noAssignment, noHlo, noSpaces, unreadableModule, unreadableSession } from './empty.js';

const short = (text) => cutMiddle(visible(text), 60);

/* The panel that a phone shows. */
export function setTab(view, { view: id }) {
  view.tabs.set(id);
  if (!id || view.tabs.ids.includes(id)) view.context.banners.drop('view');
  else
    view.context.banners.set('view', {
      text: `There is no view ${short(id)} here; showing the curve and all other views.`,
    });
}

/* selection: what selection.js found; route: the parsed URL. */
export async function show(view, selection, route) {
  view.selection = selection;
  view.controller?.abort();
  view.controller = new AbortController();
  hideTooltip();
  view.store.set({ hover: null, pin: null });
  view.curve.setBuffers(null); // those of another space are not there
  view.program.wanted = route.capacity;
  setTab(view, route);
  hearLook(view, route);
  view.filter = route.filter;
  view.bars = route.bars;
  const { module, problem, session } = selection;
  if (problem) {
    only(
      view,
      message(unreadableSession(session, problem)),
      `${short(session.name)} cannot be read.`,
      saidOf(view, selection),
    );
    return;
  }
  if (!module) {
    only(
      view,
      message(
        noHlo(
          selection.modules.notes,
          session.kind === 'trace' ? view.context.link(session.id, { tool: 'memory_profile' }) : '',
          session.snapshot_count > 0,
        ),
      ),
      selection.modules.notes.some(({ code }) => code === 'cut')
        ? 'Nothing to show: the trace was cut short.'
        : 'Nothing to show: this session has no program.',
      saidOf(view, selection),
    );
    return;
  }
  if (module.error) {
    only(
      view,
      message(unreadableModule(module, selection.modules.total_count)),
      `${short(module.name)} cannot be read.`,
      saidOf(view, selection),
    );
    return;
  }
  const stop = () => {
    view.controller.abort();
    only(view, message(stopped(module.name, view.context.again)), 'Stopped.');
  };
  const sentence = `Reading ${short(module.name)} of ${short(session.name)}.`;
  const ends = view.panels.map((panel, at) => panel.wait(at ? '' : sentence, stop, session.id));
  try {
    await load(view, selection, route, view.controller.signal);
  } catch (error) {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    only(view, failed(short(module.name), error), 'Nothing to show.');
  } finally {
    ends.forEach((end) => end());
  }
}

async function load(view, selection, route, signal) {
  const place = { session: selection.session.id, host: selection.host?.id ?? '', module: selection.module.id };
  const isLargest = !place.host && place.module === selection.modules.modules[0]?.id;
  const ask = await askWithRules(view, place, route.rules, signal, isLargest ? selection.ahead : null);
  const asked = [summaryWith(view.program, ask, route.capacity), readSession(place.session, signal)];
  const [answer, session] = await Promise.all(asked);
  const { module, spaces, arrays } = answer.data;
  Object.assign(view.program, { ask, place });
  view.records.reset((name, params) => ask(name, { space: view.program.space.space, ...params }));
  view.program.module = { ...selection.module, name: module.name || selection.module.name };
  const said = saidOf(view, selection, session, answer.notes);
  if (spaces.length === 0) {
    only(
      view,
      message(module.has_buffer_assignment ? noSpaces(view.program.module) : noAssignment(view.program.module, arrays)),
      `${short(view.program.module.name)}: what it needs is not in this file.`,
      said,
    );
    return;
  }
  view.wholePage.hidden = true;
  await showSpace(view, answer.data, route, said, signal);
  view.notes.hear(route);
  view.search.hear(route.find);
  view.search.again();
  if (!signal.aborted) await Promise.all([setPin(view, route), setBeside(view, route)]);
}

/* The session's notes and error texts are extra: the page stands without them. */
async function readSession(id, signal) {
  try {
    return await get(`sessions/${encodeURIComponent(id)}`, {}, { signal });
  } catch (error) {
    if (isAbort(error)) throw error;
    return null;
  }
}

/* What stands beside the plan: notes, error texts, the failure that they tell and where its reason stands, devices. */
function saidOf(view, { session, modules }, detail = null, notes = []) {
  return {
    notes: gatherNotes(notes, modules?.notes ?? [], detail?.notes ?? []),
    errorTexts: detail?.error_texts ?? [],
    failure: detail?.failure ?? session.failure ?? null,
    program: modules?.total_count === 1 ? modules.modules[0].name : null,
    why: view.context.link(session.id, { tool: 'oom' }),
  };
}

const SAYS_NOTHING = { notes: [], errorTexts: [], failure: null };

/* One message instead of all panels. */
function only(view, content, sentence, said = SAYS_NOTHING) {
  view.program.said = said;
  view.head.say(sentence, said);
  view.wholePage.replaceChildren(content);
  view.wholePage.hidden = false;
  for (const panel of view.panels) panel.node.hidden = true;
  view.tabs.node.hidden = true;
  view.program.space = null;
  view.whatif.part.now?.shut();
  view.inPane = null;
  view.context.details.clear();
  view.context.setSpaces([], null);
  view.context.setNothing();
}
