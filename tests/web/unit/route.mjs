/* SPDX-License-Identifier: Apache-2.0
 * route.mjs: the state of a page as a URL, without a browser. */

import { choose, emptyRoute, format, isSamePlace, parse } from '../../../web/lib/route.js';

export function run({ test, equal }) {
  test('defaults are left out of the link', () => {
    equal(format(emptyRoute()), '');
    equal(format({ ...emptyRoute(), session: 'abc', pin: { kind: 'b', id: '1498' } }), '?session=abc&pin=b:1498');
  });
  test('a link and its state give each other', () => {
    for (const link of [
      '',
      '?tool=home',
      '?session=0a1b2c&host=11&module=22&space=1&pin=b:17',
      '?tool=home&filter=a%20b%26c',
      '?space=0',
      '?step=100&from=20&to=400&sel=30-60&pin=b:17&filter=cat:output&color=padding',
      '?step=x',
    ]) {
      equal(format(parse(link)), link);
    }
  });
  test('unknown names are kept and ignored', () => {
    const route = parse('?later=1&session=abc&shade=padding&shade=age');
    equal(route.session, 'abc');
    equal(format(route), '?session=abc&later=1&shade=padding&shade=age');
  });
  test('what is no value of its kind is kept as text, so that the page can say so', () => {
    equal(parse('?space=x').space, 'x');
    equal(parse('?space=1').space, 1);
    equal(parse('?pin=1498').pin, { kind: '', id: '1498' });
    equal(format(parse('?pin=1498')), '?pin=1498', 'what is not understood is kept');
    equal(parse('?pin=b:<b>').pin, { kind: 'b', id: '<b>' });
    equal(parse(`?session=${'x'.repeat(5000)}`).session, '');
  });
  test('choosing a level forgets the levels below and the pin', () => {
    const route = { ...emptyRoute(), session: 's', host: 'h', module: 'm', space: 1, pin: { kind: 'b', id: '1' } };
    equal(format(choose(route, 'module', 'n')), '?session=s&host=h&module=n');
    equal(format(choose(route, 'session', 't')), '?session=t');
    equal(format(choose(route, 'space', 0)), '?session=s&host=h&module=m&space=0');
  });
  test('another space forgets the moment and the window, not the filter', () => {
    const route = parse('?session=s&space=0&step=5&from=1&to=9&sel=2-4&low=0&high=8&filter=a&color=age');
    equal(format(choose(route, 'space', 1)), '?session=s&space=1&filter=a&color=age');
  });
  test('a pin does not change the place, a module does', () => {
    const route = { ...emptyRoute(), session: 's' };
    equal(isSamePlace(route, { ...route, pin: { kind: 'b', id: '1' } }), true);
    equal(isSamePlace(route, { ...route, module: 'm' }), false);
  });
}
