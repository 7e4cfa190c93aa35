/* SPDX-License-Identifier: Apache-2.0
 * keys.js: what can be done on the Memory Viewer by keys and from the palette.
 * Its own file: each tool has its keys in one. */

import { isUnclaimed } from '../../lib/keys.js';
import { noSteps } from './empty.js';
import { folded, GROUP_CHOICES, groupedBy } from './groups.js';
import { hasSteps } from './place.js';

const FAR = 10;
/* Keys of the steps: where there are none they say so. What else uses an arrow has it first. */
const OF_STEPS = [...'ws+=-\u2212ad0p[]mMoTutc'];
const ALSO_OF_OTHERS = ['ArrowLeft', 'ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowRight', 'Home', 'End'];

/* For `?`: what the mouse does; the same on every plot. */
const GESTURES = [
  ['hover a mark', 'highlights the same buffer in every view'],
  ['click a mark', 'pins it; again unpins'],
  ['Ctrl click another stripe', 'compares it with the pinned one: bytes, steps, category'],
  ['right click, menu key', 'what can be done with a stripe, a step or a row'],
  ['click the plot', 'sets the moment'],
  ['drag', 'selects a window of steps; on the map also of offsets'],
  ['Shift drag', 'pans'],
  ['wheel', 'zooms the chart that was clicked; Ctrl wheel any chart'],
  ['double click', 'a mark: zooms to it; the plot: shows all'],
  ['click a legend word', 'shows only that category; Ctrl click adds it'],
];

/* acts: centrePin(), editOffsets(), byBuffer(direction), toPanel(at), enlarge(), nextPicture(), editRules(),
   whatIf(drawer), writeNote(), keepBeside(), search: of search.js. Rows for the registry of keys.js. */
export function viewerKeys({ program, context, place, pinned, map, table }, acts) {
  const hasSpace = () => Boolean(program.space);
  const by = (steps) => (event) => {
    if (!isUnclaimed(event)) return false;
    place.setMoment(place.moment + steps, true);
    return true;
  };
  const to = (step) => (event) => {
    if (!isUnclaimed(event)) return false;
    place.setMoment(step(), false);
    return true;
  };
  const rows = [
    { keys: ['w', '+', '='], does: 'zoom in', run: () => place.zoom(1) },
    { keys: ['s', '-', '\u2212'], does: 'zoom out', run: () => place.zoom(-1) },
    { keys: ['a'], does: 'pan to earlier steps', run: () => place.pan(-1) },
    { keys: ['d'], does: 'pan to later steps', run: () => place.pan(1) },
    { keys: ['0'], does: 'show all', run: () => place.showAll() },
    { keys: ['f'], does: 'centre the pin; again: fit it', run: () => acts.centrePin(), isOn: () => pinned() != null },
    { keys: ['p'], does: 'moment to the peak', run: () => place.setMoment(program.space.peak_step ?? 0) },
    { keys: ['['], does: 'previous local peak', run: () => place.byPeak(-1) },
    { keys: [']'], does: 'next local peak', run: () => place.byPeak(1) },
    { keys: ['ArrowLeft'], does: 'moment back by one', run: by(-1) },
    { keys: ['ArrowRight'], does: 'moment on by one', run: by(1) },
    { keys: ['Shift+ArrowLeft'], does: 'moment back by ten', run: by(-FAR) },
    { keys: ['Shift+ArrowRight'], does: 'moment on by ten', run: by(FAR) },
    { keys: ['Home'], does: 'moment to the first step', run: to(() => 0) },
    { keys: ['End'], does: 'moment to the last step', run: to(() => program.space.step_count - 1) },
    {
      keys: ['Enter'],
      does: 'zoom to the selected window',
      run: (event) => !event?.target.closest?.('button, a, summary, [role="grid"]') && place.zoomToWindow(),
      isOn: () => place.window != null,
    },
    { keys: ['m'], does: 'mark the moment as A, then B; third clears', run: () => place.mark() },
    { keys: ['x'], does: 'swap A and B', run: () => place.swapMarks(), isOn: () => place.marks.b != null },
    { keys: ['M'], does: 'window: begin at the moment; again: end there; third clears', run: () => place.markWindow() },
    { keys: ['o'], does: 'offsets of the window: type them', run: () => void acts.editOffsets() },
    { keys: ['T'], does: 'write a note at the moment', run: () => acts.writeNote() },
    {
      keys: ['B'],
      does: 'keep the pin as A and compare the next pin with it; again: stop comparing',
      run: () => acts.keepBeside(),
      isOn: () => pinned() != null,
    },
    {
      keys: ['u'],
      does: 'unpadded curve on or off',
      run: () => context.move({ unpadded: context.route.unpadded === '0' ? '' : '0' }),
    },
    { keys: ['n'], does: 'next match of the search', run: () => acts.search.step(1) },
    { keys: ['N'], does: 'previous match of the search', run: () => acts.search.step(-1) },
    { keys: ['c'], does: 'next colour of the map: category, size, padding, age, source', run: () => map.nextColour() },
    { keys: ['F'], does: 'search all panels', run: () => acts.search.open() },
    { keys: [','], does: 'previous buffer in this order', run: () => acts.byBuffer(-1) },
    { keys: ['/'], does: 'to the filter', run: () => table.focusFilter() },
    ...['curve', 'strips', 'map', 'table'].map((word, at) => ({
      keys: [String(at + 1)],
      does: `to the ${word}`,
      run: () => acts.toPanel(at),
    })),
    {
      keys: ['b'],
      does: 'buffers in groups, or one by one',
      run: () => context.choose(groupedBy(folded(context.route.group), context.route)),
    },
    { keys: ['t'], does: 'the picture by buffer, by category, or as one', run: () => acts.nextPicture() },
    { keys: ['z'], does: 'the panel with the focus, else the table, large or as it was', run: () => acts.enlarge() },
    {
      keys: ['K'],
      does: 'keep the picture in view while the page scrolls; again: no longer',
      run: () => context.choose({ keep: context.route.keep ? '' : '1' }),
    },
    { keys: ['v'], does: 'what if: changes, and what each would save', run: () => acts.whatIf('whatif') },
    { keys: [], does: 'fit: the changes that would make it fit', run: () => acts.whatIf('fit') },
    { keys: [], does: 'category rules of your own', run: () => acts.editRules() },
    ...GROUP_CHOICES.map(([group, does]) => ({ does, run: () => context.choose(groupedBy(group, context.route)) })),
    { keys: ['.'], does: 'next buffer in this order', run: () => acts.byBuffer(1) },
    {
      keys: ['<'],
      does: 'to the largest buffer that the pinned one was made of',
      run: () => acts.toOperand(),
      isOn: () => pinned() != null,
    },
    {
      keys: ['>'],
      does: 'to the largest buffer that is made of the pinned one',
      run: () => acts.toReader(),
      isOn: () => pinned() != null,
    },
    { keys: ['5'], does: 'to the code', run: () => acts.toCode() },
    { keys: ['6'], does: 'to the patterns', run: () => acts.toPatterns() },
    { keys: ['k'], does: 'code: icicle or treemap', run: () => acts.byPicture() },
    { keys: ['e'], does: 'code: by scope or by source stack', run: () => acts.byWay() },
    {
      keys: ['l'],
      does: 'code: layers apart or folded',
      run: () => acts.openLayers(),
      isOn: () => context.route.view === 'code',
    },
  ];
  rows.push(...GESTURES.map(([gesture, does]) => ({ keys: [], gesture, does, run: () => false })));
  const isOfSteps = ({ keys = [] }) => OF_STEPS.includes(keys[0]) || ALSO_OF_OTHERS.includes(keys[0]);
  const runHere = (row, event) => {
    if (hasSteps(program) || program.space.replay_error) return row.run(event);
    if (ALSO_OF_OTHERS.includes(row.keys[0]) && !isUnclaimed(event)) return false;
    context.say(noSteps(program.space));
    return true;
  };
  return rows.map((row) => ({
    ...row,
    run: isOfSteps(row) ? (event) => runHere(row, event) : row.run,
    isOn: () => hasSpace() && (row.isOn?.() ?? true),
  }));
}
