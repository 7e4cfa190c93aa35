/* SPDX-License-Identifier: Apache-2.0
 * keys.js: keys of the Device Memory page; also entries of the palette and of `?`. */

import { swapped, VIEWS } from './state.js';

const ZOOM = 1.5;

export function keysOf(view) {
  const tab = () => view.tab;
  const has = (name) => () => typeof tab()?.[name] === 'function';
  return [
    ...VIEWS.map(({ view: id, word }, at) => ({
      keys: [String(at + 1)],
      does: `view ${word}`,
      run: () => view.choose({ view: id === 'flame' ? '' : id, sort: '', filter: '' }),
    })),
    { keys: ['/'], does: 'to the filter or the search of this view', run: () => (tab()?.focusFind ?? view.controls.focusFilter)() },
    { keys: ['w', '+', '='], does: 'zoom in', isOn: has('zoomBy'), run: () => tab().zoomBy(ZOOM) },
    { keys: ['s', '-', '−'], does: 'zoom out', isOn: has('zoomBy'), run: () => tab().zoomBy(1 / ZOOM) },
    { keys: ['a'], does: 'pan left', isOn: has('panBy'), run: () => tab().panBy(-1) },
    { keys: ['d'], does: 'pan right', isOn: has('panBy'), run: () => tab().panBy(1) },
    { keys: ['0'], does: 'show all', isOn: has('showAll'), run: () => tab().showAll() },
    { keys: ['f'], does: 'to the pinned frame', isOn: has('showPin'), run: () => tab().showPin() },
    { keys: ['n'], does: 'next match', isOn: has('nextMatch'), run: () => tab().nextMatch(1) },
    { keys: ['N'], does: 'previous match', isOn: has('nextMatch'), run: () => tab().nextMatch(-1) },
    {
      keys: ['v'],
      does: 'leaves first or roots first',
      run: () => view.choose({ invert: view.state.isInverted ? '' : '1', pin: null }),
    },
    {
      keys: ['l'],
      does: 'frames of JAX and Python on or off',
      run: () => view.choose({ machinery: view.state.isMachinery ? '' : '1', pin: null }),
    },
    {
      keys: ['x'],
      does: 'swap A and B',
      isOn: () => swapped(view.state) !== null,
      run: () => view.choose(swapped(view.state)),
    },
  ];
}
