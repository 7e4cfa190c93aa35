/* SPDX-License-Identifier: Apache-2.0
 * why.js: what stands where nothing can be drawn. Reasons are loaded when one is needed, but for
 * those that come when nothing can be loaded any more. */

import { failure } from '../../lib/failure.js';
import { lazy } from '../../lib/lazy.js';
import { message } from '../../widgets/panel.js';

const reasons = lazy(() => import('./empty.js'));

/* The message of a reason of empty.js, by its name, or a promise of it. */
export const why = (name, ...facts) => reasons.with((each) => message(each[name](...facts)));

/* The message that something could not be read. */
export const failed = (what, problem) => message(failure(what, problem));
