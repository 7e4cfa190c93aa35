/* SPDX-License-Identifier: Apache-2.0
 * keys.js: the keys of the Memory Profile; all of them are commands of the palette too. */

import { time } from '../../lib/format.js';
import { nextMarks, swappedMarks } from '../../lib/marks.js';
import { isUnclaimed } from '../../lib/keys.js';
import { around, following, moved, zoomed } from '../../lib/range.js';
import { writeNote } from '../../widgets/notes.js';
import { MIN_PS } from '../../widgets/timeline.js';
import { GROUPS } from './filter.js';
import { isReplayed, rangePatch } from './state.js';

const NOTCH = 1.2 ** 2;
const PAN_SHARE = 0.2;
const FAR = 10;

/* For `?`: what the mouse does; the same on every plot. */
const GESTURES = [
  ['hover the chart', 'what the event there was, and what it left in use'],
  ['click an allocation', 'pins it: what made it and how long it lives; sets the time too; again unpins'],
  ['Ctrl click another', 'compares it with the pinned one: bytes, time, category'],
  ['right click, menu key', 'what can be done with an allocation, a time or a row'],
  ['click beside them', 'sets the time: table and address map follow'],
  ['drag', 'selects a window of time'],
  ['Shift drag', 'pans'],
  ['wheel', 'zooms the chart that was clicked; Ctrl wheel any chart'],
  ['double click', 'shows all; on a step or launch: zooms to it'],
  ['click a row', 'pins its event or group; again unpins'],
];

/* say(words): a hint; byRow(direction): to the row beside the pinned one; search: of search.js. Out: rows for
 * context.bind. */
export function profileKeys({ trace, url, timeline, pins, say, byRow, focusFilter, search }) {
  const { choose } = url;
  const isSearched = () => search.text !== '';
  const hasFilter = () =>
    !isSearched() && url.route.filter !== '' && !['addresses', 'whatif'].includes(url.wanted.view);
  const tab = (id) => () => choose({ view: id === 'live' ? '' : id, sort: '' });
  const timeNow = () => url.wanted.time ?? trace.pool.peak.time_ps;
  return [
    ...timeKeys({ trace, url, timeline, pins, timeNow }),
    ...rangeKeys({ trace, url, pins, timeline, timeNow }),
    ...markKeys({ trace, url, pins, say, timeNow }),
    { keys: ['u'], does: 'free memory on or off', run: () => url.toggle('free') },
    { does: 'fragmentation on or off', run: () => url.toggle('fragmentation') },
    { keys: ['/'], does: 'to the filter', run: focusFilter },
    {
      keys: ['K'],
      does: 'keep the timeline in view while the page scrolls; again: no longer',
      run: () => choose({ keep: url.route.keep ? '' : '1' }),
    },
    { keys: ['1'], does: 'what is live', run: tab('live') },
    { keys: ['2'], does: 'events', run: tab('events') },
    { keys: ['3'], does: 'growth', run: tab('growth') },
    { keys: ['4'], does: 'address map', run: tab('addresses') },
    {
      keys: ['5'],
      does: 'what other settings or another program would take',
      run: tab('whatif'),
      isOn: () => isReplayed(trace.pool),
    },
    { keys: ['F'], does: 'search all panels', run: () => search.open() },
    { keys: ['n'], does: 'next match of the search', run: () => search.step(1), isOn: isSearched },
    { keys: ['N'], does: 'previous match of the search', run: () => search.step(-1), isOn: isSearched },
    { keys: ['n'], does: 'next row that the filter matches', run: () => byRow(1), isOn: hasFilter },
    { keys: ['N'], does: 'previous row that the filter matches', run: () => byRow(-1), isOn: hasFilter },
    { keys: [','], does: 'previous row or block in this order', run: () => byRow(-1) },
    { keys: ['.'], does: 'next row or block in this order', run: () => byRow(1) },
    ...GROUPS.map(([group, word]) => ({
      does: `group what is live: ${word}`,
      run: () => choose({ view: '', group, sort: '' }),
    })),
    ...GESTURES.map(([gesture, does]) => ({ gesture, does, run: () => false })),
  ].map((row) => ({ ...row, isOn: () => trace.pool != null && (row.isOn?.() ?? true) }));
}

/* Arrows belong to whatever has the focus; without any, and on the chart, they move the time. */
const free = (slider, act) => (event) => {
  const isOurs = isUnclaimed(event) || slider.contains(event.target);
  return isOurs && act() !== false;
};

/* From event to event, from peak to peak. */
function timeKeys({ trace, url, timeline, pins, timeNow }) {
  const { slider } = timeline;
  const peakTime = () => trace.pool.peak.time_ps;
  /* The time moves, and what is in view with it. */
  const goTo = (time, isChoice = false) => {
    const patch = rangePatch(following(url.range(), trace.all, time), trace.all);
    pins.forget();
    url[isChoice ? 'choose' : 'move']({ time: time === peakTime() ? null : time, ...patch });
  };
  const local = (direction) => () => {
    const peaks = [...(timeline.data?.local_peaks ?? []), trace.pool.peak].map((peak) => peak.time_ps);
    const beyond = peaks.filter((time) => (time - timeNow()) * direction > 0).sort((a, b) => (a - b) * direction);
    if (beyond.length) goTo(beyond[0], true);
  };
  const beside = (far) => () => timeline.data && goTo(timeline.beside(timeNow(), far));
  const onChart = { within: slider, isHidden: true };
  const ofStripes = { isOn: () => timeline.hasStripes };
  /* With the focus elsewhere only from a pin on: nothing is scrolled then. At the last one nothing changes. */
  const stripe = (direction) => (event) => {
    if (!slider.contains(event?.target ?? slider) && !(isUnclaimed(event) && pins.item)) return false;
    const item = timeline.stripeBeside(timeNow(), direction);
    if (!item) return true;
    pins.pinStripe(item);
    return true;
  };
  return [
    { keys: ['p'], does: 'time to the peak', run: () => goTo(peakTime(), true) },
    { keys: ['['], does: 'previous local peak', run: local(-1) },
    { keys: [']'], does: 'next local peak', run: local(1) },
    { keys: ['ArrowLeft'], does: 'event before', run: free(slider, beside(-1)) },
    { keys: ['ArrowRight'], does: 'event after', run: free(slider, beside(1)) },
    { keys: ['ArrowDown'], does: 'event before', run: beside(-1), ...onChart },
    { keys: ['ArrowUp'], does: 'event after', run: beside(1), ...onChart },
    { keys: ['ArrowDown'], does: 'pin the allocation below the pinned one', run: stripe(-1), ...ofStripes },
    {
      keys: ['ArrowUp'],
      does: 'pin the allocation above the pinned one; none yet: the largest',
      run: stripe(1),
      ...ofStripes,
    },
    { keys: ['Shift+ArrowLeft'], does: 'ten events back', run: free(slider, beside(-FAR)) },
    { keys: ['Shift+ArrowRight'], does: 'ten events on', run: free(slider, beside(FAR)) },
    { keys: ['Home'], does: 'first event', run: free(slider, () => goTo(trace.all[0])) },
    { keys: ['End'], does: 'last event', run: free(slider, () => goTo(trace.all[1])) },
  ];
}

/* What part of the time is in view. */
function rangeKeys({ trace, url, pins, timeline, timeNow }) {
  const setRange = (range) => {
    pins.forget();
    url.setRange(range, false);
  };
  const zoom = (factor) => {
    const [from, to] = url.range();
    const about = timeNow() >= from && timeNow() < to ? timeNow() : (from + to) / 2;
    setRange(zoomed([from, to], trace.all, MIN_PS, about, factor));
  };
  const pan = (direction) => {
    const [from, to] = url.range();
    setRange(moved([from, to], trace.all, direction * PAN_SHARE * (to - from)));
  };
  const fit = (span, share) => url.setRange(around(span, trace.all, MIN_PS, share), true);
  const toWindow = () => {
    if (!url.wanted.window) return false;
    fit(url.wanted.window, 0);
    return true;
  };
  return [
    { keys: ['w', 'W', '+', '='], does: 'zoom in', run: () => zoom(NOTCH) },
    { keys: ['s', 'S', '-', '−'], does: 'zoom out', run: () => zoom(1 / NOTCH) },
    { keys: ['a', 'A'], does: 'earlier', run: () => pan(-1) },
    { keys: ['d', 'D'], does: 'later', run: () => pan(1) },
    { keys: ['0'], does: 'show all of the time', run: () => setRange(trace.all) },
    {
      keys: ['f'],
      does: 'fit the pinned event or the time',
      run: () => fit(pins.span ?? [timeNow(), timeNow() + MIN_PS]),
    },
    { keys: ['Enter'], does: 'zoom to the selected window', run: free(timeline.slider, toWindow) },
  ];
}

export const noteAt = (url, at) =>
  writeNote({ at, place: time(at, 1e6), list: url.route.note, onSave: (note) => url.choose({ note }) });

/* Marks A and B, and the window. */
function markKeys({ trace, url, pins, say, timeNow }) {
  /* Where a window begins that is not ended yet, and of which memory. */
  let begun = { at: null, place: null };
  const markWindow = () => {
    const at = begun.place === trace.place ? begun.at : null;
    begun = { at: null, place: null };
    if (url.wanted.window) url.choose({ sel: '' });
    else if (at != null && at !== timeNow())
      url.choose({ sel: [at, timeNow()].sort((one, other) => one - other).join('-') });
    else {
      begun = { at: timeNow(), place: trace.place };
      say(`A window begins at ${time(timeNow(), 1e6)}; M again ends it`);
    }
  };
  const swap = () => {
    const swapped = swappedMarks(url.wanted);
    if (swapped) url.choose(swapped);
    return Boolean(swapped);
  };
  return [
    {
      keys: ['m'],
      does: 'mark the time as A, then B; third clears',
      run: () => url.choose(nextMarks(url.wanted, timeNow())),
    },
    { keys: ['x'], does: 'swap A and B', run: swap },
    { keys: ['t', 'T'], does: 'write a note at the time', run: () => noteAt(url, timeNow()) },
    {
      keys: ['B'],
      does: 'keep the pin as A and compare the next pin with it; again: stop comparing',
      run: () => pins.keep(),
      isOn: () => url.wanted.pin != null,
    },
    { keys: ['M'], does: 'window: begin at the time; again: end there; third clears', run: markWindow },
    { does: 'remove the selected window', run: () => url.choose({ sel: '' }), isOn: () => url.wanted.window != null },
  ];
}
