/* SPDX-License-Identifier: Apache-2.0
 * curve_keys.js: the curve as a slider: its value is the moment. */

/* Pure: the next local peak, or the peak itself, in a direction; the step itself if there is none. */
export function peakBeside({ peak, localPeaks }, step, direction) {
  const steps = localPeaks.map((mark) => mark.step);
  if (peak) steps.push(peak.step);
  steps.sort((a, b) => a - b);
  const next = direction > 0 ? steps.find((each) => each > step) : steps.filter((each) => each < step).pop();
  return next ?? step;
}

/* get() → {to, peak, localPeaks, moment} or null; to(step); leave(). */
export function bindSliderKeys(slider, { get, to, leave }) {
  const targets = {
    ArrowRight: ({ moment }, by) => moment + by,
    ArrowUp: ({ moment }, by) => moment + by,
    ArrowLeft: ({ moment }, by) => moment - by,
    ArrowDown: ({ moment }, by) => moment - by,
    PageUp: ({ moment }, by) => moment + 10 * by,
    PageDown: ({ moment }, by) => moment - 10 * by,
    Home: () => 0,
    End: (curve) => curve.to,
    p: ({ peak, moment }) => peak?.step ?? moment,
    ']': (curve) => peakBeside(curve, curve.moment, 1),
    '[': (curve) => peakBeside(curve, curve.moment, -1),
  };
  slider.addEventListener('keydown', (event) => {
    const curve = get();
    if (!curve || event.ctrlKey || event.metaKey || event.altKey || !(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    to(targets[event.key](curve, event.shiftKey ? 10 : 1));
  });
  slider.addEventListener('blur', leave);
}
