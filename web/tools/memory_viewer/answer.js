/* SPDX-License-Identifier: Apache-2.0
 * answer.js: the answer in sentences: what is needed, what there is, and
 * where that figure comes from. Pure. A part is a string or {bytes, text, role, explain}. */

import { bytes, bytesApart, count, cutMiddle, unitOf, visible } from '../../lib/format.js';
import { chipFile, differenceText, verdictOf } from '../../lib/capacity.js';

const part = (value, text = bytes(value), role = '', explain = '') => ({ bytes: value, text, role, explain });
const main = (value, text = bytes(value)) => part(value, text, 'main', 'total');
const available = (capacity, text = bytes(capacity.bytes)) => part(capacity.bytes, text, '', 'capacity');

/* "at step 376 of 1,018", "at position 1,536 of 5,150 in the schedule", "". */
export function placeOfPeak(space) {
  if (space.peak_step === null || space.peak_step === undefined || space.step_unit === 'none') return '';
  const of = `${count(space.peak_step)} of ${count(space.step_count)}`;
  return space.step_unit === 'schedule' ? ` at position ${of} in the schedule` : ` at step ${of}`;
}

/* "9.12" where the unit follows in "of 15.75 GiB", else "9.12 MiB". */
function withoutUnit(value, text, beside) {
  const unit = unitOf(value);
  return unit === unitOf(beside) ? text.slice(0, text.indexOf(' ')) : text;
}

function fits(space, capacity, by) {
  const { total_bytes: total } = space;
  const [needed, there] = bytesApart(total, capacity.bytes);
  return [
    capacity.isPhysical ? 'It fits in the physical size: ' : 'It fits: ',
    main(total, withoutUnit(total, needed, capacity.bytes)),
    ' of ',
    available(capacity, there),
    ` of ${visible(space.name)}, `,
    capacity.isPhysical ? 'at most ' : '',
    part(by, differenceText(by, capacity), '', 'free'),
    ' free.',
  ];
}

function over(space, capacity, { by, isOfText }, isTold) {
  const { total_bytes: total } = space;
  if (isOfText && isTold) return ['Needs ', main(total), ` of ${visible(space.name)}: what was asked for is no part of it.`];
  const by_ = part(by, `over by ${capacity.isPhysical ? 'at least ' : ''}${differenceText(by, capacity)}`, 'over', 'over');
  if (isOfText)
    return [
      'Needs ',
      main(total),
      ` of ${visible(space.name)} in this plan, but the error text asks for `,
      part(capacity.needed),
      ' and ',
      available(capacity),
      ' are available: ',
      by_,
      '.',
    ];
  const [needed, there] = bytesApart(total, capacity.bytes);
  return [
    'Needs ',
    main(total, needed),
    ` of ${visible(space.name)}; `,
    capacity.isPhysical ? 'the device has ' : '',
    available(capacity, there),
    capacity.isPhysical ? ': ' : ' are available: ',
    by_,
    ' (total, with fragmentation).',
  ];
}

function needs(space, capacity, isTold) {
  const { total_bytes: total } = space;
  const verdict = verdictOf(total, capacity, space.space);
  if (!verdict) return ['Needs ', main(total), ` of ${visible(space.name)}; capacity not known.`];
  if (verdict.word === 'over') return over(space, capacity, verdict, isTold);
  if (verdict.word === 'fits') return fits(space, capacity, verdict.by);
  return [
    'Needs ',
    main(total),
    ` of ${visible(space.name)}; `,
    available(capacity),
    ' are available as printed: too close to tell whether it fits.',
  ];
}

/* Behind what an error text says, the plan speaks second, and not in large letters. */
function behind([first, ...rest]) {
  const plain = (each) => (each.role === 'main' ? { ...each, role: '' } : each);
  return [first.replace(/^Needs/, 'The plan needs').replace(/^It fits/, 'The plan fits'), ...rest.map(plain)];
}

/* The answer: two sentences. The total decides whether a program fits; the peak explains it.
 * isTold: what failed is said before. */
export function answer(space, capacity = null, isTold = false) {
  const { total_bytes: total, peak_bytes: peak } = space;
  const plan = needs(space, capacity, isTold);
  const first = isTold ? behind(plan) : plan;
  if (space.replay_error)
    return { needs: first, peak: ['Its peak cannot be told: the heap trace does not replay.'] };
  /* Where both print alike the difference tells them apart. */
  const isAlike = total !== peak && bytes(total) === bytes(peak);
  const beside = isAlike ? `, ${bytes(Math.abs(total - peak))} ${total > peak ? 'less' : 'more'} than the total,` : '';
  const why = peak > total ? '; more than the total, because frees are recorded late' : '';
  const words = `${beside}${placeOfPeak(space)}${why}`.replace(/,$/, '');
  return { needs: first, peak: ['Peak live ', part(peak, bytes(peak), '', 'peak'), `${words}.`] };
}

function traceSource({ traced, isPhysical, file }) {
  if (!traced.plane)
    return {
      text: `${visible(traced.kind)}, from ${chipFile(file)}`,
      hint: `${visible(file)} names the chip that the program was compiled for; bytes of the table of devices`,
    };
  const who = traced.kind ? visible(traced.kind) : `${count(traced.count)} × ${visible(traced.plane.replace(/^\/device:/, '').replace(/:\d+$/, ''))}`;
  const physical = ', its physical size: a program gets less, how much is not known';
  return {
    text: `${who}, recorded in the trace${isPhysical ? physical : ''}`,
    hint: isPhysical
      ? `Plane stat memory_size of ${visible(traced.plane)}`
      : `Plane stat device_type_string of ${visible(traced.plane)}; bytes of the table of devices`,
  };
}

/* {text, hint}: where the capacity comes from. */
export function sourceOf(capacity) {
  if (capacity.kind === 'recorded') {
    const file = cutMiddle(visible(capacity.file.slice(capacity.file.lastIndexOf('/') + 1)), 60);
    const half = capacity.half > 0 ? `, ± ${bytes(capacity.half, null, 0)}` : '';
    return { text: `capacity as ${file} prints it${half}`, hint: visible(capacity.file) };
  }
  if (capacity.kind === 'trace') return traceSource(capacity);
  if (capacity.kind === 'size') return { text: 'capacity as chosen', hint: 'From the address of this page.' };
  const title = visible(capacity.device.title);
  const physical = capacity.isPhysical ? ', its physical size: a program gets less, how much is not known' : '';
  return { text: `${title}, chosen${physical}`, hint: `Source: ${visible(capacity.device.source)}` };
}

/* "33.49 GiB · jit_train_step · HBM – memviewd", with the verdict first where it is known to be over, or what a text
 * says (`failed`); at another moment than the peak what lives there: "1.20 GiB at step 100 · …". */
export function pageTitle(space, moduleName, capacity, moment = null, failed = '') {
  const isOver = verdictOf(space.total_bytes, capacity, space.space)?.word === 'over';
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
export function optionFigure(space, capacity) {
  const word = verdictOf(space.total_bytes, capacity, space.space)?.word;
  const physical = capacity.isPhysical ? ' physical' : '';
  return `${bytes(capacity.bytes)}${physical}${word === 'unsure' ? '' : `, ${word}`}`;
}
