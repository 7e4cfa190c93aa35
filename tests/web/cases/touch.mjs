/* SPDX-License-Identifier: Apache-2.0
 * touch.mjs: what fingers do on every plot: a tap and a long press pin, one finger sideways pans, two zoom, and a
 * finger that goes up or down scrolls the page. The demo has 1,018 steps in HBM. */

import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { profileAnswers } from '../canned_profile.mjs';
import { fingers, pixels, pointOn } from '../harness.mjs';

const STEPS = 1018;
/* Longer than any browser takes two taps for one double click. */
const DOUBLE_MS = 800;

export function run({ test, equal, truth, daemon, open }) {
  const query = (page) => new URL(page.url()).searchParams;
  const openTouch = async (address = '', how = {}) => {
    const page = await open(`${await daemon('--demo')}${address}`, { touch: true, ...how });
    return { page, hand: await fingers(page) };
  };
  /* A place of a plot: shares of its width and height. */
  const placer = async (page, selector) => {
    await page.locator(selector).first().scrollIntoViewIfNeeded();
    const box = await page.locator(selector).first().boundingBox();
    return (x, y = 0.5) => [box.x + box.width * x, box.y + box.height * y];
  };
  const range = (page) => [Number(query(page).get('from') ?? 0), Number(query(page).get('to') ?? STEPS)];
  const pinch = (place, [a, b], [farA, farB]) => [
    [place(a), place((2 * a + farA) / 3), place((a + 2 * farA) / 3), place(farA)],
    [place(b), place((2 * b + farB) / 3), place((b + 2 * farB) / 3), place(farB)],
  ];
  const swipe = (from, to) =>
    [0, 0.1, 0.4, 0.7, 1].map((share) => from.map((value, at) => value + (to[at] - value) * share));

  test('a tap pins a bar, another lets go', async () => {
    const { page } = await openTouch();
    const place = await pointOn(page, 1, 0.02);
    await page.touchscreen.tap(...place);
    truth(/^b:/.test(query(page).get('pin')), `the pin is ${query(page).get('pin')}`);
    /* Two taps at once are a double click, which zooms: the second comes as late as a finger that thought. */
    await page.waitForTimeout(DOUBLE_MS);
    await page.touchscreen.tap(...place);
    equal(query(page).get('pin'), null);
    await page.finish();
  });

  test('a long press acts before the finger is lifted, and once', async () => {
    const { page, hand } = await openTouch();
    const place = await placer(page, '.curve .u-over');
    await hand.hold(place(100.5 / STEPS));
    const step = Number(query(page).get('step'));
    truth(Math.abs(step - 100) <= 1, `the moment is ${step}`);
    await hand.lift();
    equal(Number(query(page).get('step')), step);
    await page.finish();
  });

  test('one finger sideways pans the curve, and selects and pins nothing', async () => {
    const { page, hand } = await openTouch('?from=300&to=500');
    const place = await placer(page, '.curve .u-over');
    await hand.along(swipe(place(0.75), place(0.25)));
    const [from, to] = range(page);
    truth(Math.abs(from - 400) <= 8 && to - from === 200, `${from} to ${to} are in view`);
    equal(
      ['sel', 'pin', 'step'].map((name) => query(page).get(name)),
      [null, null, null],
    );
    await page.finish();
  });

  test('two fingers zoom the curve about what lies between them', async () => {
    const { page, hand } = await openTouch();
    const place = await placer(page, '.curve .u-over');
    await hand.along(...pinch(place, [0.45, 0.55], [0.3, 0.7]));
    const [from, to] = range(page);
    truth(Math.abs(to - from - STEPS / 4) < 40, `${from} to ${to} are in view`);
    /* Fingers are heard one after the other, and the view stops at its ends: few large steps carry it along. */
    truth(Math.abs((from + to) / 2 - STEPS / 2) < 80, `the middle went to ${(from + to) / 2}`);
    await hand.along(...pinch(place, [0.3, 0.7], [0.45, 0.55]));
    const [again, last] = range(page);
    truth(last - again > 900, `the way back ends at ${again} to ${last}`);
    equal(query(page).get('sel'), null);
    await page.finish();
  });

  test('two fingers zoom the map, one pans it', async () => {
    const { page, hand } = await openTouch('?tool=memory_viewer&stack=offsets');
    const place = await placer(page, '.map-plot');
    const whole = await pixels(page, '.map-base');
    await hand.along(...pinch(place, [0.45, 0.55], [0.3, 0.7]));
    const [from, to] = range(page);
    truth(to - from < STEPS / 2, `${from} to ${to} are in view`);
    const near = await pixels(page, '.map-base');
    truth(near !== whole, 'the picture is the same');
    await hand.along(swipe(place(0.7), place(0.4)));
    truth(range(page)[0] > from, 'nothing was panned');
    truth((await pixels(page, '.map-base')) !== near, 'the picture is the same after the pan');
    await page.finish();
  });

  test('on a phone a finger that goes up or down scrolls the page, and leaves the view of the plot alone', async () => {
    const { page, hand } = await openTouch('', { width: 390, height: 600 });
    const place = await placer(page, '.curve .u-over');
    const before = await page.evaluate(() => window.scrollY);
    const [x, y] = place(0.5, 0.5);
    await hand.along(swipe([x, y], [x, before > 0 ? y + 150 : y - 150]));
    await page.waitForFunction((top) => window.scrollY !== top, before);
    equal(
      ['from', 'to', 'sel', 'step'].map((name) => query(page).get(name)),
      [null, null, null, null],
    );
    await page.finish();
  });

  test('the timeline of the Memory Profile is panned and zoomed the same way', async () => {
    const canned = answerer(makeWorld({ intercept: profileAnswers() }));
    const { page, hand } = await openTouch('?tool=memory_profile', { canned });
    const place = await placer(page, '.panel-time .u-over');
    await hand.along(...pinch(place, [0.45, 0.55], [0.3, 0.7]));
    const [from, to] = range(page);
    truth(from > 0 && to > from, `${from} to ${to} are in view`);
    await hand.along(swipe(place(0.6), place(0.3)));
    const [next, end] = range(page);
    truth(next > from && Math.abs(end - next - (to - from)) <= 1, `${next} to ${end} are in view after the pan`);
    equal(query(page).get('sel'), null);
    await page.finish();
  });

  test('the flame graph is zoomed by two fingers, and a tap pins a frame', async () => {
    const device = makeDevice();
    const canned = answerer(makeWorld({ session: device.session, intercept: device.intercept }));
    const { page, hand } = await openTouch('?tool=device_memory&session=cccccccccccc', { canned });
    const place = await placer(page, '.icicle-picture');
    const whole = await pixels(page, '.icicle-base');
    await hand.along(...pinch(place, [0.45, 0.55], [0.3, 0.7]));
    truth((await pixels(page, '.icicle-base')) !== whole, 'nothing was zoomed');
    await page.keyboard.press('0');
    equal(await pixels(page, '.icicle-base'), whole);
    const [x, y] = place(0.2, 0);
    await page.touchscreen.tap(x, y + 2 * 20 + 10);
    equal(query(page).get('pin'), 'f:f00000000000.f00000000001');
    await page.finish();
  });
}
