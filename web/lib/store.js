/* SPDX-License-Identifier: Apache-2.0
 * store.js: what several views of a page share: {hover, hoverStep, pin}.
 * Listeners hear once per change, with the new state and the names that changed. */

export function createStore(initial) {
  let state = { ...initial };
  const listeners = new Set();
  return {
    get state() {
      return state;
    },
    set(patch) {
      const changed = Object.keys(patch).filter((name) => patch[name] !== state[name]);
      if (changed.length === 0) return;
      state = { ...state, ...patch };
      for (const listener of [...listeners]) listener(state, changed);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
