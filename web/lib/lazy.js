/* SPDX-License-Identifier: Apache-2.0
 * lazy.js: a part of a page that is loaded when it is first needed.
 *
 *   const list = lazy(() => import('./filter_list.js'), ({ createCompletion }) => createCompletion(…));
 *   list.with((it) => it.open());   at once if it is there, else once it is; in the order asked, counted as under way
 *   list.now?.close();              nothing to do while it is not there */

import { begin } from './activity.js';

/* make(module) → the part; called once. Where a load failed, the next act tries again. */
export function lazy(load, make = (module) => module) {
  let part = null;
  let loading = null;
  const get = () => {
    if (loading) return loading;
    const end = begin();
    loading = load()
      .then(
        (module) => (part = make(module)),
        (error) => {
          loading = null;
          throw error;
        },
      )
      .finally(end);
    return loading;
  };
  return {
    get now() {
      return part;
    },
    with(act) {
      return part ? act(part) : get().then(act);
    },
  };
}
