/* SPDX-License-Identifier: Apache-2.0
 * answer.js: the answer in sentences: what is needed, what there is, and
 * where that figure comes from. Pure. A part is a string or {bytes, text, role, explain}. */

import { bytes, bytesApart, count, cutMiddle, visible } from '../../lib/format.js';

const part = (value, text = bytes(value), role = '', explain = '') => ({ bytes: value, text, role, explain });
const main = (value, text = bytes(value)) => part(value, text, 'main', 'total');

/* "at step 376 of 1,018", "at position 1,536 of 5,150 in the schedule", "". */
export function placeOfPeak(space) {
  if (space.peak_step == null || space.step_unit === 'none') return '';
  const of = `${count(space.peak_step)} of ${count(space.step_count)}`;
  return space.step_unit === 'schedule' ? ` at position ${of} in the schedule` : ` at step ${of}`;
}

/* What a figure of the daemon's sentence is to the page: how it is set, and the card behind it. */
const ROLES = {
  needed: ['main', 'total'],
  asked: ['', ''],
  capacity: ['', 'capacity'],
  share: ['', 'capacity'],
  over: ['over', 'over'],
  free: ['', 'free'],
};

/* Was more asked for by an error text than the plan shows? */
export const isOfText = ({ fit }) => fit.parts.some(({ role }) => role === 'asked');

function needs(space, isTold) {
  const { total_bytes: total, fit } = space;
  if (isOfText(space) && isTold)
    return ['Needs ', main(total), ` of ${visible(space.name)}: the failed request is not included.`];
  return fit.parts.map(({ text, bytes: value, role }) =>
    role == null ? visible(text) : part(value, text, ...ROLES[role]),
  );
}

/* Behind what an error text says, the plan speaks second, and not in large letters. */
function behind([first, ...rest]) {
  const plain = (each) => (each.role === 'main' ? { ...each, role: '' } : each);
  return [first.replace(/^Needs/, 'The plan needs').replace(/^It fits/, 'The plan fits'), ...rest.map(plain)];
}

/* The answer: two sentences. The total decides whether a program fits; the peak explains it.
 * isTold: what failed is said before. */
export function answer(space, isTold = false) {
  const { total_bytes: total, peak_bytes: peak } = space;
  const plan = needs(space, isTold);
  const first = isTold ? behind(plan) : plan;
  if (space.replay_error) return { needs: first, peak: ['Its peak is not known: the heap trace cannot be replayed.'] };
  /* Where both print alike the difference tells them apart. */
  const isAlike = total !== peak && bytes(total) === bytes(peak);
  const beside = isAlike ? `, ${bytes(Math.abs(total - peak))} ${total > peak ? 'less' : 'more'} than the total,` : '';
  const why = peak > total ? '; more than the total, because frees are recorded late' : '';
  const words = `${beside}${placeOfPeak(space)}${why}`.replace(/,$/, '');
  return { needs: first, peak: ['Peak live ', part(peak, bytes(peak), '', 'peak'), `${words}.`] };
}

/* {text, hint}: where the capacity comes from. */
export function sourceOf(capacity) {
  const half = capacity.half > 0 ? `, printed to ± ${bytes(capacity.half, null, 0)}` : '';
  const less = capacity.share == null ? ': a program gets less, how much is not known' : '';
  const physical = capacity.isPhysical ? `, its physical size${less}` : '';
  return {
    text: `${cutMiddle(visible(capacity.source), 80)}${half}${physical}`,
    hint: visible(capacity.deviceSource ? `Source: ${capacity.deviceSource}` : capacity.source),
  };
}

/* "33.49 GiB · jit_train_step · HBM – memviewd", with the verdict first where it is known to be over, or what a text
 * says (`failed`); at another moment than the peak what lives there: "1.20 GiB at step 100 · …". */
export function pageTitle(space, moduleName, moment = null, failed = '') {
  const isOver = space.fit.word === 'over';
  const unit = space.step_unit === 'schedule' ? 'position' : 'step';
  const here = moment && `${moment.live === undefined ? '' : `${bytes(moment.live)} `}at ${unit} ${count(moment.step)}`;
  const plan = `${isOver ? 'over · ' : ''}${bytes(space.total_bytes)}`;
  const first = here ?? (failed || plan);
  return `${first} · ${cutMiddle(visible(moduleName), 60)} · ${visible(space.name)} – memviewd`;
}

/* Label of the line in the curve, alike to the answer's figure. */
export function capacityLabel(space, capacity) {
  return `capacity ${bytesApart(space.total_bytes, capacity.bytes)[1]}`;
}

/* The figure of an option: "31.25 GiB, over", "80.00 GiB physical, fits". */
export function optionFigure({ capacity_bytes: value, is_physical: isPhysical, word }) {
  return value == null ? 'not known' : `${bytes(value)}${isPhysical ? ' physical' : ''}, ${word}`;
}
