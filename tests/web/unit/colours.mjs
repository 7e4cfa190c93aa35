/* SPDX-License-Identifier: Apache-2.0
 * colours.mjs: the colours of categories, and those of files, jobs and call sites, can be told apart, also by
 * colour-blind readers; no colour has two meanings; and every text can be read. WCAG 2 contrast; CIEDE2000 between all
 * pairs, under full vision and the simulations of Machado et al. 2009 (severity 1.0, linear RGB). */

import { readFileSync } from 'node:fs';
import { SET_SIZE, SIDE_TONES } from '../../../web/widgets/sets.js';

const CATEGORIES = [
  'parameter',
  'optimizer',
  'gradient',
  'activation',
  'temporary',
  'collective',
  'constant',
  'output',
  'unknown',
];
/* Steps of a hue, for categories that share it: their words and places tell them apart too. */
const STEPS = ['parameter-light', 'gradient-light', 'temporary-light'];
/* Of what has no category: web/widgets/sets.js. */
const SETS = Array.from({ length: SET_SIZE }, (_, at) => `set-${at}`);
const MIN_FROM_CATEGORY = 7;
const MIN_SEEN = 20;
const MIN_SIMULATED = 10;
/* Darker than this a kind is read as black on a small square; and so far a kind stays from the red above a capacity. */
const MIN_LIGHTNESS = 32;
const MIN_FROM_OVER = 20;
const MIN_FROM_OVER_SIMULATED = 6.5;
const STEP_SEEN = 15;
const STEP_SIMULATED = 5;
const SIMULATIONS = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/* Custom properties of the light block, then of the dark one. */
function tokens(css, marker) {
  const block = css.slice(css.indexOf(marker));
  const body = block.slice(block.indexOf('{') + 1, block.indexOf('}'));
  return Object.fromEntries(
    [...body.matchAll(/--([a-z0-9-]+):\s*(#[0-9A-Fa-f]{6})\b/g)].map((match) => [match[1], match[2]]),
  );
}

const linear = (hex) =>
  [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const luminance = (rgb) => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];

function contrast(a, b) {
  const [x, y] = [luminance(linear(a)), luminance(linear(b))].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

const through = (matrix, rgb) =>
  matrix.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, share, at) => sum + share * rgb[at], 0),
      ),
    ),
  );

function lab(rgb) {
  const xyz = through2(
    [
      [0.4124564, 0.3575761, 0.1804375],
      [0.2126729, 0.7151522, 0.072175],
      [0.0193339, 0.119192, 0.9503041],
    ],
    rgb,
  );
  const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883].map((v) =>
    v > 0.008856 ? Math.cbrt(v) : 7.787 * v + 16 / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const through2 = (matrix, rgb) => matrix.map((row) => row.reduce((sum, share, at) => sum + share * rgb[at], 0));

const degrees = (value) => (value * 180) / Math.PI;
const radians = (value) => (value * Math.PI) / 180;
const hue = (a, b) => (a === 0 && b === 0 ? 0 : (degrees(Math.atan2(b, a)) + 360) % 360);

/* CIEDE2000 (Sharma, Wu, Dalal 2005). */
export function difference([l1, a1, b1], [l2, a2, b2]) {
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [p1, p2] = [(1 + g) * a1, (1 + g) * a2];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  else if (dh < -180) dh += 360;
  const [dl, dc, dH] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin(radians(dh) / 2)];
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  let h = h1 + h2;
  if (c1 * c2 !== 0) h = Math.abs(h1 - h2) <= 180 ? h / 2 : (h + (h < 360 ? 360 : -360)) / 2;
  const t =
    1 -
    0.17 * Math.cos(radians(h - 30)) +
    0.24 * Math.cos(radians(2 * h)) +
    0.32 * Math.cos(radians(3 * h + 6)) -
    0.2 * Math.cos(radians(4 * h - 63));
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  return Math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dH / sh) ** 2 + rt * (dc / sc) * (dH / sh));
}

export function run({ test, truth, equal }) {
  const css = readFileSync(new URL('../../../web/style.css', import.meta.url), 'utf8');
  const themes = { light: tokens(css, ':root {'), dark: tokens(css, ':root[data-theme="dark"] {') };

  test('the page knows the categories of the core, in their order and with their words', () => {
    const source = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const core = [...source('analysis/plan/category.def').matchAll(/^CATEGORY\(\w+, "(\w+)", "([^"]+)", \w+\)/gm)];
    const page = [...source('web/widgets/categories.js').matchAll(/^ {2}(\w+): \['([a-z-]+)', '[^']+', '([^']+)'\]/gm)];
    equal(
      page.map((row) => [row[1], row[3]]),
      core.map((row) => [row[1], row[2]]),
    );
  });
  test('the difference of colours is the published one', () => {
    equal(Number(difference([50, 2.6772, -79.7751], [50, 0, -82.7485]).toFixed(4)), 2.0425);
    equal(Number(difference([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514]).toFixed(4)), 0.9082);
  });
  for (const [theme, colour] of Object.entries(themes)) {
    test(`${theme}: texts reach 4.5:1, fills and controls 3:1`, () => {
      for (const ground of ['page', 'panel', 'raised']) {
        for (const ink of ['text', 'text2', 'accent', 'caution', ...SIDE_TONES])
          truth(
            contrast(colour[ink], colour[ground]) >= 4.5,
            `${ink} on ${ground}: ${contrast(colour[ink], colour[ground])}`,
          );
      }
      truth(contrast(colour.control, colour.panel) >= 3, 'control border');
      const fills = [
        ...[...CATEGORIES, ...STEPS].map((name) => [`cat-${name}`, `ink-${name}`]),
        ...SETS.map((name) => [name, `ink-${name}`]),
      ];
      for (const [fill, ink] of fills) {
        for (const ground of ['page', 'panel'])
          truth(contrast(colour[fill], colour[ground]) >= 3, `${fill} on ${ground}`);
        truth(contrast(colour[fill], colour[ink]) >= 4.5, `label on ${fill}`);
      }
    });
    test(`${theme}: no kind is near black, and none is taken for what is above a capacity`, () => {
      const over = linear(colour.over);
      for (const name of [...CATEGORIES.map((each) => `cat-${each}`), ...SETS]) {
        const own = linear(colour[name]);
        truth(lab(own)[0] >= MIN_LIGHTNESS, `${name} is as dark as ${lab(own)[0]}`);
        truth(difference(lab(own), lab(over)) >= MIN_FROM_OVER, `${name} and over: ${difference(lab(own), lab(over))}`);
        for (const [kind, matrix] of Object.entries(SIMULATIONS)) {
          const simulated = difference(...[own, over].map((rgb) => lab(through(matrix, rgb))));
          truth(simulated >= MIN_FROM_OVER_SIMULATED, `${name} and over, ${kind}: ${simulated}`);
        }
      }
    });
    test(`${theme}: each pair of files, jobs or call sites differs, and none has the colour of a category`, () => {
      for (const [at, first] of SETS.entries()) {
        const own = linear(colour[first]);
        for (const second of SETS.slice(at + 1)) {
          const pair = [own, linear(colour[second])];
          const seen = difference(...pair.map(lab));
          truth(seen >= MIN_SEEN, `${first} and ${second}: ${seen}`);
          for (const [name, matrix] of Object.entries(SIMULATIONS)) {
            const simulated = difference(...pair.map((rgb) => lab(through(matrix, rgb))));
            truth(simulated >= MIN_SIMULATED, `${first} and ${second}, ${name}: ${simulated}`);
          }
        }
        for (const category of [...CATEGORIES, ...STEPS]) {
          const seen = difference(lab(own), lab(linear(colour[`cat-${category}`])));
          truth(seen >= MIN_FROM_CATEGORY, `${first} and ${category}: ${seen}`);
        }
      }
    });
    test(`${theme}: every pair of kinds can be told apart`, () => {
      const all = [...CATEGORIES, ...STEPS];
      for (const [at, first] of all.entries()) {
        for (const second of all.slice(at + 1)) {
          const isStep = STEPS.includes(second);
          const pair = [linear(colour[`cat-${first}`]), linear(colour[`cat-${second}`])];
          const seen = difference(...pair.map(lab));
          truth(seen >= (isStep ? STEP_SEEN : MIN_SEEN), `${first} and ${second}: ${seen}`);
          for (const [name, matrix] of Object.entries(SIMULATIONS)) {
            const simulated = difference(...pair.map((rgb) => lab(through(matrix, rgb))));
            truth(
              simulated >= (isStep ? STEP_SIMULATED : MIN_SIMULATED),
              `${first} and ${second}, ${name}: ${simulated}`,
            );
          }
        }
      }
    });
  }
}
