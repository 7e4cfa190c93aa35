/* SPDX-License-Identifier: Apache-2.0
 * keys.js: the keys of the Memory Profile; all of them are commands of the palette too. */

import { time } from '../../lib/format.js';
import { nextMarks, swappedMarks } from '../../lib/marks.js';
import { isUnclaimed } from '../../lib/keys.js';
import { around, following, moved, zoomed } from '../../lib/range.js';
import { MIN_PS } from '../../widgets/timeline.js';
import { GROUPS } from './filter.js';
import { rangePatch } from './state.js';

const NOTCH = 1.2 ** 2;
const PAN_SHARE = 0.2;
const FAR = 10;

/* For `?`: what the mouse does; the same on every plot. */
const GESTURES = [
  ['hover the chart', 'what the event there was, and what it left in use'],
  ['click the chart', 'sets the moment: table and address map follow'],
  ['drag', 'selects a window of time'],
  ['Shift drag', 'pans'],
  ['wheel', 'zooms the chart that was clicked; Ctrl wheel any chart'],
  ['double click', 'shows all; on a step or launch: zooms to it'],
  ['click a row', 'pins its event or group; again lets go'],
];

export function bindProfileKeys(view) {
  const { context } = view;
  const isOn = () => view.pool !== null;
  const moment = () => view.wanted.time ?? view.peakTime;
  const setRange = (range) => {
    view.pins.forget();
    context.move(rangePatch(range, view.all));
  };
  const zoom = (factor) => {
    const [from, to] = view.range();
    const about = moment() >= from && moment() < to ? moment() : (from + to) / 2;
    setRange(zoomed([from, to], view.all, MIN_PS, about, factor));
  };
  const pan = (direction) => {
    const [from, to] = view.range();
    setRange(moved([from, to], view.all, direction * PAN_SHARE * (to - from)));
  };
  /* The moment moves, and what is in view with it. */
  const goTo = (time, isChoice = false) => {
    const patch = rangePatch(following(view.range(), view.all, time), view.all);
    view.pins.forget();
    context[isChoice ? 'choose' : 'move']({ time: time === view.peakTime ? null : time, ...patch });
  };
  const local = (direction) => {
    const peaks = [...view.timeline.data.local_peaks, view.timeline.data.peak].map((peak) => peak.time_ps);
    const beyond = peaks.filter((time) => (time - moment()) * direction > 0).sort((a, b) => (a - b) * direction);
    if (beyond.length) goTo(beyond[0], true);
  };
  const { slider } = view.timeline;
  /* Arrows belong to whatever has the focus; without any they move the moment. */
  const isOurs = (event) => isUnclaimed(event) || slider.contains(event.target);
  const free = (act) => (event) => {
    if (!isOurs(event)) return false;
    act();
    return true;
  };
  const beside = (far) => () => goTo(view.timeline.beside(moment(), far));
  const hasFilter = () => context.route.filter !== '' && view.wanted.view !== 'addresses';
  const toWindow = () => {
    if (!view.wanted.window) return false;
    context.choose(rangePatch(around(view.wanted.window, view.all, MIN_PS, 0), view.all));
    return true;
  };
  const swap = () => {
    const swapped = swappedMarks(view.wanted);
    if (swapped) context.choose(swapped);
    return Boolean(swapped);
  };
  const mark = () => context.choose(nextMarks(view.wanted, moment()));
  /* Where a window begins that is not ended yet, and of which memory. */
  let begun = { at: null, place: null };
  const markWindow = () => {
    const at = begun.place === view.place ? begun.at : null;
    begun = { at: null, place: null };
    if (view.wanted.window) context.choose({ sel: '' });
    else if (at !== null && at !== moment())
      context.choose({ sel: [at, moment()].sort((one, other) => one - other).join('-') });
    else {
      begun = { at: moment(), place: view.place };
      context.say(`A window begins at ${time(moment(), 1e6)}; M again ends it`);
    }
  };
  const tab = (id) => () => context.choose({ view: id === 'live' ? '' : id, sort: '' });
  const centre = () => {
    const span = view.wanted.span ?? [moment(), moment() + MIN_PS];
    context.choose(rangePatch(around(span, view.all, MIN_PS), view.all));
  };
  context.bind(
    [
      { keys: ['p'], does: 'moment to the peak', run: () => goTo(view.peakTime, true) },
      { keys: ['['], does: 'previous local peak', run: () => local(-1) },
      { keys: [']'], does: 'next local peak', run: () => local(1) },
      { keys: ['w', 'W', '+', '='], does: 'zoom in', run: () => zoom(NOTCH) },
      { keys: ['s', 'S', '-', '−'], does: 'zoom out', run: () => zoom(1 / NOTCH) },
      { keys: ['a', 'A'], does: 'earlier', run: () => pan(-1) },
      { keys: ['d', 'D'], does: 'later', run: () => pan(1) },
      { keys: ['0'], does: 'show all of the time', run: () => setRange(view.all) },
      { keys: ['f'], does: 'fit the pinned event or the moment', run: centre },
      { keys: ['m'], does: 'mark the moment as A, then B; third clears', run: mark },
      { keys: ['x'], does: 'swap A and B', run: swap },
      { keys: ['M'], does: 'window: begin at the moment; again: end there; third clears', run: markWindow },
      { keys: ['u'], does: 'free memory on or off', run: () => view.toggleFree() },
      { keys: ['/'], does: 'to the filter', run: () => view.focusFilter() },
      { keys: ['1'], does: 'what is live', run: tab('live') },
      { keys: ['2'], does: 'events', run: tab('events') },
      { keys: ['3'], does: 'growth', run: tab('growth') },
      { keys: ['4'], does: 'address map', run: tab('addresses') },
      { keys: ['n'], does: 'next row that the filter matches', run: () => view.byRow(1), isOn: hasFilter },
      { keys: ['N'], does: 'previous row that the filter matches', run: () => view.byRow(-1), isOn: hasFilter },
      { keys: [','], does: 'previous row or block in this order', run: () => view.byRow(-1) },
      { keys: ['.'], does: 'next row or block in this order', run: () => view.byRow(1) },
      { keys: ['ArrowLeft'], does: 'event before', run: free(beside(-1)) },
      { keys: ['ArrowRight'], does: 'event after', run: free(beside(1)) },
      { keys: ['ArrowDown'], does: 'event before', run: beside(-1), within: slider, isHidden: true },
      { keys: ['ArrowUp'], does: 'event after', run: beside(1), within: slider, isHidden: true },
      { keys: ['Shift+ArrowLeft'], does: 'ten events back', run: free(beside(-FAR)) },
      { keys: ['Shift+ArrowRight'], does: 'ten events on', run: free(beside(FAR)) },
      { keys: ['Home'], does: 'first event', run: free(() => goTo(view.all[0])) },
      { keys: ['End'], does: 'last event', run: free(() => goTo(view.all[1])) },
      { keys: ['Enter'], does: 'zoom to the selected window', run: (event) => isOurs(event) && toWindow() },
      { does: 'fragmentation on or off', run: () => view.toggleFragmentation() },
      { does: 'let the selected window go', run: () => context.choose({ sel: '' }), isOn: () => view.wanted.window !== null },
      ...GROUPS.map(([group, word]) => ({
        does: `group what is live: ${word}`,
        run: () => context.choose({ view: '', group, sort: '' }),
      })),
      ...GESTURES.map(([gesture, does]) => ({ gesture, does, run: () => false })),
    ].map((row) => ({ ...row, isOn: () => isOn() && (row.isOn?.() ?? true) })),
    'Memory Profile',
  );
}
