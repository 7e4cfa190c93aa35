/* SPDX-License-Identifier: Apache-2.0
 * gestures.mjs: every gesture, every key and every parameter of the URL that the Memory Viewer has, by name, one after
 * the other: it is done, and what it changes is what it is to change. */

import * as acts from '../acts.mjs';
import { idle, pixels, text } from '../harness.mjs';

const CURVE = '.curve .u-over';
const MAP = '.map-plot';
const inUrl =
  (...names) =>
  async (page) =>
    (await Promise.all(names.map((name) => acts.inUrl(page, name)))).join();
/* The map is not there before it is to be seen. */
const picture =
  (selector, at = 0) =>
  async (page) =>
    (await page.locator(selector).count()) > at ? pixels(page, selector, at) : 'not there';
const countOf = (selector) => (page) => page.locator(`${selector}:visible`).count();
const said = (selector) => (page) => text(page, selector);
const focused = (page) =>
  page.evaluate(
    () =>
      document.activeElement.closest('.panel')?.className.match(/panel-\w+/)?.[0] ?? document.activeElement.className,
  );

/* Places: shares of the plot. */
const move = (selector, x, y) => async (page) => page.mouse.move(...(await acts.placeOn(page, selector, x, y)));
const click = (selector, x, y) => async (page) => page.mouse.click(...(await acts.placeOn(page, selector, x, y)));
const doubleClick = (selector, x, y) => async (page) =>
  page.mouse.dblclick(...(await acts.placeOn(page, selector, x, y)));
const drag =
  (selector, [x, y], [toX, toY], how) =>
  async (page) =>
    acts.drag(page, await acts.placeOn(page, selector, x, y), await acts.placeOn(page, selector, toX, toY), how);
const wheel = (selector, x, y, dx, dy, key) => async (page) =>
  acts.wheel(page, await acts.placeOn(page, selector, x, y), [dx, dy], key);
const press =
  (...keys) =>
  async (page) => {
    for (const key of keys) await page.keyboard.press(key);
  };
const type = (keys) => async (page) => page.keyboard.type(keys);
const all =
  (...acts) =>
  async (page) => {
    for (const act of acts) {
      await act(page);
      await idle(page);
    }
  };
const go = (query) => async (page) => {
  const base = new URL(page.url());
  await page.goto(`${base.origin}/?tool=memory_viewer&${query}`);
};
const ZOOMED = 'from=300&to=500';
const OFFSETS = 'stack=offsets';

/* Name; the query it begins from; the act; what tells its effect, which has to be another one afterwards. */
const GESTURES = [
  ['move over the curve: the tooltip names the step', '', move(CURVE, 0.4, 0.5), countOf('.tooltip')],
  ['move over a stripe: it is outlined', '', move(CURVE, 0.5, 0.7), picture('.curve-lit')],
  ['move over a stripe: the strips outline it', '', move(CURVE, 0.5, 0.7), picture('.strip-over')],
  ['move over the map: the strips outline the buffer', OFFSETS, move(MAP, 0.4, 0.8), picture('.strip-over')],
  ['move over a bar: its stripe is outlined', '', move('.strip-plot', 0.5, 0.5), picture('.curve-lit')],
  ['move over a bar: the map outlines it', OFFSETS, move('.strip-plot', 0.5, 0.5), picture('.map-over')],
  ['click above the curve sets the moment', '', click(CURVE, 0.3, 0.05), inUrl('step')],
  ['click on a stripe pins it', '', click(CURVE, 0.5, 0.7), inUrl('pin')],
  ['click on a stripe: the others fade', '', click(CURVE, 0.5, 0.7), picture('.curve-host canvas')],
  ['double click on a stripe zooms to its life', '', doubleClick(CURVE, 0.5, 0.7), inUrl('from', 'to')],
  ['click on a bar pins it', '', click('.strip-plot', 0.5, 0.5), inUrl('pin')],
  [
    'click on it again lets go',
    '',
    all(click('.strip-plot', 0.5, 0.5), click('.strip-plot', 0.5, 0.5), click('.strip-plot >> nth=1', 0.2, 0.5)),
    inUrl('pin'),
  ],
  ['double click on a bar zooms to its life', '', doubleClick('.strip-plot', 0.5, 0.5), inUrl('from', 'to')],
  ['double click on the empty curve shows all', ZOOMED, doubleClick(CURVE, 0.5, 0.1), inUrl('from', 'to')],
  ['drag along the curve selects a window', '', drag(CURVE, [0.2, 0.5], [0.4, 0.5]), inUrl('sel')],
  ['drag over the map selects a window', OFFSETS, drag(MAP, [0.3, 0.8], [0.5, 0.8]), inUrl('sel')],
  ['drag up or down the map selects its offsets', OFFSETS, drag(MAP, [0.3, 0.4], [0.5, 0.8]), inUrl('offsets')],
  ['Shift drag pans the curve', ZOOMED, drag(CURVE, [0.6, 0.5], [0.3, 0.5], { key: 'Shift' }), inUrl('from')],
  ['middle drag pans the curve', ZOOMED, drag(CURVE, [0.6, 0.5], [0.3, 0.5], { button: 'middle' }), inUrl('from')],
  [
    'Shift drag pans the map',
    `${ZOOMED}&${OFFSETS}`,
    drag(MAP, [0.6, 0.5], [0.3, 0.5], { key: 'Shift' }),
    inUrl('from'),
  ],
  [
    'wheel over the clicked curve zooms',
    '',
    all(click(CURVE, 0.3, 0.5), wheel(CURVE, 0.3, 0.5, 0, -300)),
    inUrl('from', 'to'),
  ],
  [
    'wheel over the clicked map zooms steps and offsets',
    OFFSETS,
    all(click(MAP, 0.02, 0.5), wheel(MAP, 0.5, 0.6, 0, -300)),
    inUrl('from', 'low', 'high'),
  ],
  [
    'Alt wheel over the map zooms offsets alone',
    OFFSETS,
    all(click(MAP, 0.02, 0.5), wheel(MAP, 0.5, 0.6, 0, -300, 'Alt')),
    inUrl('low', 'high'),
  ],
  ['wheel over another plot says how to zoom', '', wheel(CURVE, 0.5, 0.5, 0, 100), countOf('.toast')],
  ['Control wheel zooms any plot', '', wheel(CURVE, 0.5, 0.5, 0, -300, 'Control'), inUrl('from', 'to')],
  ['Shift wheel pans', ZOOMED, wheel(CURVE, 0.5, 0.5, 0, 200, 'Shift'), inUrl('from')],
  ['a wheel sideways pans', ZOOMED, wheel(CURVE, 0.5, 0.5, 200, 0), inUrl('from')],
  [
    'click on a legend word shows only that kind',
    '',
    (page) => page.locator('.panel-strips .legend-word').first().click(),
    inUrl('filter'),
  ],
  [
    'Control click on another adds it',
    'filter=cat:parameter',
    (page) =>
      page
        .locator('.panel-strips .legend-word')
        .last()
        .click({ modifiers: ['Control'] }),
    inUrl('filter'),
  ],
  [
    'click on a figure explains it',
    '',
    (page) => page.locator('h1 .explained').first().click(),
    countOf('.dialog.explain'),
  ],
  ['the brush narrows what is in view', '', drag('.brush', [0.002, 0.5], [0.3, 0.5]), inUrl('from')],
];

/* The same for keys; those of the frame as well. */
const KEYS = [
  ['?', '', press('?'), countOf('.help')],
  ['Control+K', '', press('Control+k'), countOf('.palette')],
  ['/', '', press('/'), focused],
  ['F', '', press('F'), focused],
  ['n', 'find=fusion', press('n'), inUrl('pin')],
  ['N', 'find=fusion', press('N'), inUrl('pin')],
  ['w', '', press('w'), inUrl('from', 'to')],
  ['+', '', press('+'), inUrl('from', 'to')],
  ['s', ZOOMED, press('s'), inUrl('from', 'to')],
  ['-', ZOOMED, press('-'), inUrl('from', 'to')],
  ['a', ZOOMED, press('a'), inUrl('from')],
  ['d', ZOOMED, press('d'), inUrl('from')],
  ['0', ZOOMED, press('0'), inUrl('from')],
  ['f', `${ZOOMED}&pin=PIN`, press('f'), inUrl('from', 'to')],
  ['p', 'step=100', press('p'), inUrl('step')],
  ['[', '', press('['), inUrl('step')],
  [']', '', press(']'), inUrl('step')],
  [',', 'pin=PIN2', press(','), inUrl('pin')],
  ['.', 'pin=PIN', press('.'), inUrl('pin')],
  ['ArrowLeft', '', press('ArrowLeft'), inUrl('step')],
  ['ArrowRight', '', press('ArrowRight'), inUrl('step')],
  ['Shift+ArrowRight', '', press('Shift+ArrowRight'), inUrl('step')],
  ['Home', '', press('Home'), inUrl('step')],
  ['End', '', press('End'), inUrl('step')],
  ['Enter: zoom to the window', 'sel=100-200', press('Enter'), inUrl('from', 'to')],
  ['Escape: the window', 'sel=100-200', press('Escape'), inUrl('sel')],
  ['Escape: the pin', 'pin=PIN', press('Escape'), inUrl('pin')],
  ['m', '', press('m'), inUrl('a')],
  ['m again', 'a=100', press('m'), inUrl('b')],
  ['m a third time', 'a=100&b=200', press('m'), inUrl('a', 'b')],
  ['x', 'a=100&b=200', press('x'), inUrl('a', 'b')],
  ['M', 'step=100', press('M', 'ArrowRight', 'M'), inUrl('sel')],
  ['o', '', all(press('o'), type('1GiB..2GiB'), press('Enter')), inUrl('sel', 'offsets')],
  ['Enter: zoom to the rectangle', 'sel=100-200&offsets=4000000000-8000000000', press('Enter'), inUrl('low', 'high')],
  ['Escape: the rectangle', 'sel=100-200&offsets=4000000000-8000000000', press('Escape'), inUrl('sel', 'offsets')],
  ['m: a flag on the map', `step=100&${OFFSETS}`, press('m'), picture('.map-over')],
  ['c', '', press('c'), inUrl('color')],
  ['b', '', press('b'), inUrl('group')],
  ['t', '', press('t'), picture('.curve-host canvas')],
  ['z', '', press('z'), inUrl('large')],
  ['Escape: the large panel', 'large=map', press('Escape'), inUrl('large')],
  ['1', '', press('1'), focused],
  ['2', '', press('2'), focused],
  ['3', '', press('3'), focused],
  ['4', '', press('4'), focused],
  ['u', '', press('u'), picture('.curve-host canvas')],
  ['g h', '', type('gh'), inUrl('tool')],
  ['g o', '', type('go'), inUrl('tool')],
  ['g r', '', type('gr'), inUrl('tool')],
  ['i', '', press('i'), countOf('.dialog.explain')],
  ['y', '', press('y'), countOf('.toast')],
  ['q', '', press('q'), countOf('.details')],
  [':100 in the palette', '', all(press('Control+k'), type(':100'), press('Enter')), inUrl('step')],
];

/* What a parameter shows; without it another picture or text stands there. */
const PARAMETERS = [
  ['space=1', said('h1')],
  ['step=100', said('.panel-strips h2')],
  [ZOOMED, picture('.curve-host canvas')],
  ['low=0&high=4000000000', picture('.map-base')],
  ['sel=100-200', countOf('.window-line')],
  ['sel=100-200&offsets=4000000000-8000000000', said('.panel-table h2')],
  ['offsets=4000000000-8000000000', countOf('.window-line')],
  ['a=100&b=200', countOf('.marks-line')],
  ['pin=PIN', said('.details-title')],
  ['stack=none', picture('.curve-host canvas')],
  ['stack=category', picture('.curve-host canvas')],
  [OFFSETS, countOf('.map-plot')],
  ['stack=buffers&low=0&high=4000000000', picture('.curve-host canvas')],
  ['view=map', countOf('.map-plot')],
  ['large=map', picture('.map-base')],
  ['rules=attention+cache', picture('.strip-base')],
  ['bars=size:0-4', said('.strip >> nth=1')],
  ['filter=>1MiB', said('.panel-table .grid-foot')],
  ['find=fusion', picture('.curve-host canvas')],
  ['find=fusion', countOf('.page-search:not([hidden])')],
  ['sort=name', said('.panel-table tbody')],
  ['group=shape', said('.panel-table thead')],
  ['color=size', picture('.map-base')],
  ['capacity=v6e', said('h1')],
];

export function run({ test, truth, daemon, open }) {
  const page = async () => {
    const shown = await open(`${await daemon('--demo')}?tool=memory_viewer&group=none`);
    await shown.evaluate(() => {
      navigator.clipboard.writeText = async () => {};
    });
    return shown;
  };
  const pinsOf = (shown) =>
    shown
      .locator('.panel-table tbody tr[data-id]')
      .evaluateAll((rows) => rows.slice(0, 2).map((row) => `b:${row.dataset.id}`));
  const walk = async (shown, rows) => {
    const [first, second] = await pinsOf(shown);
    const inert = [];
    for (const [name, query, act, effect] of rows) {
      await go(query.replace('PIN2', second).replace('PIN', first))(shown);
      await idle(shown);
      await shown.mouse.move(2, 2);
      const before = await effect(shown);
      await act(shown);
      await idle(shown);
      if ((await effect(shown)) === before) inert.push(`${name}: still ${String(before).slice(0, 60)}`);
    }
    truth(inert.length === 0, `without effect: ${inert.join('; ')}`);
    await shown.finish();
  };

  test('every gesture of the plots does what it is named for', async () => walk(await page(), GESTURES));
  test('every key of the page does what it is named for', async () => walk(await page(), KEYS));
  test('every parameter of the URL shows another page', async () => {
    const shown = await page();
    const [first] = await pinsOf(shown);
    await walk(
      shown,
      PARAMETERS.map(([query, effect]) => [query, '', (at) => go(query.replace('PIN', first))(at), effect]),
    );
  });
}
