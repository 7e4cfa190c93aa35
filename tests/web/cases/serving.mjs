/* SPDX-License-Identifier: Apache-2.0
 * serving.mjs: what a page asks for when it is opened and when it is loaded again. A proxy between counts it. */

import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { idle, text } from '../harness.mjs';

/* Passes on what is asked below `prefix`. Out: {url, files(): paths of what was asked since the last call, but for the
 * API; all(): those too; close()}. */
async function startProxy(daemon, prefix = '') {
  const { host } = new URL(daemon);
  let asked = [];
  const server = createServer((question, answer) => {
    asked.push(question.url);
    if (!question.url.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
    const onward = { method: question.method, headers: { ...question.headers, host } };
    question.pipe(
      request(new URL(question.url.slice(prefix.length), daemon), onward, (given) => {
        answer.writeHead(given.statusCode, given.headers);
        given.pipe(answer);
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref(); // of a case that failed it stays open
  return {
    url: `http://127.0.0.1:${server.address().port}${prefix}/`,
    all() {
      return asked.splice(0);
    },
    files() {
      const files = asked.filter((path) => !path.startsWith(`${prefix}/api/`)).map((path) => path.slice(prefix.length));
      asked = [];
      return files;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export function run({ test, equal, truth, daemon, open }) {
  const isHashed = (path) => /-[0-9a-f]{16}\.(js|css|svg)$/.test(path);

  for (const tool of ['home', 'memory_viewer', 'memory_profile', 'device_memory', 'oom'])
    test(`a reload of ${tool} asks for the page alone`, async () => {
      const proxy = await startProxy(await daemon('--demo'));
      const page = await open(`${proxy.url}?tool=${tool}`);
      const first = proxy.files();
      equal(
        first.filter((path) => !isHashed(path)),
        [`/?tool=${tool}`],
        'asked without a hash',
      );
      equal(first.length, new Set(first).size, 'asked twice');
      await page.reload();
      await idle(page);
      equal(proxy.files(), [`/?tool=${tool}`]);
      await page.finish();
      proxy.close();
    });

  test('what the tool of the URL needs is asked for before it is run', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_profile`);
    const preloaded = await page
      .locator('link[rel=modulepreload]')
      .evaluateAll((links) => links.map(({ href }) => href));
    const loaded = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => /\/tools\/.*\.js$/.test(name))
        .map(({ name }) => name),
    );
    truth(loaded.length === 1 && loaded[0].includes('/memory_profile/page-'), loaded.join(' '));
    equal(loaded, preloaded);
    await page.finish();
  });

  test('loaded again, a page asks at once for all that it asked one after the other', async () => {
    const page = await open(`${await daemon('--demo')}?tool=memory_viewer`, { isMeasured: true });
    await page.waitForSelector('.panel-table tbody tr');
    await idle(page);
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.waitForSelector('.panel-table tbody tr');
    await idle(page);
    const api = asked.filter((url) => url.includes('/api/'));
    truth(/\/batch\?.*sessions.*modules.*summary.*curve/.test(decodeURIComponent(api[0])), api[0]);
    equal(
      api.slice(1).filter((url) => !url.includes('/verdict?')),
      [],
    );
    await page.finish();
  });

  /* How much is read already is asked for only where it takes long, which the machine decides. */
  const opening = (proxy) => proxy.all().filter((url) => !url.includes('/api/v1/readings?'));

  for (const [tool, kind] of [
    ['memory_viewer', 'dump'],
    ['memory_profile', 'trace'],
    ['oom', 'dump'],
    ['device_memory', 'profiles'],
  ])
    test(`a link to ${tool} opens in six requests`, async () => {
      const base = await daemon('--demo');
      const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
      const proxy = await startProxy(base);
      const page = await open(`${proxy.url}?tool=${tool}&session=${sessions.find((each) => each.kind === kind).id}`);
      const asked = opening(proxy);
      truth(asked.length <= 6, asked.join('\n'));
      await page.finish();
      proxy.close();
    });

  for (const query of ['', '?tool=memory_viewer', '?tool=oom', '?tool=modules', '?tool=memory_profile'])
    test(`without a session, /${query} opens in six requests`, async () => {
      const proxy = await startProxy(await daemon('--demo'));
      const page = await open(proxy.url + query);
      const asked = opening(proxy);
      truth(asked.length <= 6, asked.join('\n'));
      await page.finish();
      proxy.close();
    });

  test('what would keep others waiting is asked for alone', async () => {
    const page = await open(`${await daemon('--demo')}?tool=home`, { isMeasured: true });
    const alone = [];
    await page.route('**/api/v1/batch**', async (route) => {
      const response = await route.fetch();
      const { answers } = await response.json();
      const asked = new URL(route.request().url()).searchParams.getAll('ask');
      const at = asked.findIndex((path) => path.startsWith('memory_viewer/summary'));
      if (at >= 0) answers[at] = { status: 503, body: { code: 'stopped', status: 503, detail: 'ask for it alone' } };
      await route.fulfill({ response, json: { answers } });
    });
    page.on('request', (request) => {
      if (request.url().includes('/v1/memory_viewer/summary')) alone.push(request.url());
    });
    await page.goto(page.url().replace('home', 'memory_viewer'));
    await page.waitForSelector('.panel-table tbody tr');
    equal(alone.length, 1);
    await page.finish();
  });

  /* Below api/v1/, each question of a request of many by itself. */
  const questionsOf = (paths) =>
    paths
      .filter((path) => path.startsWith('/api/v1/'))
      .flatMap((path) =>
        path.includes('/batch?')
          ? new URL(path, 'http://any').searchParams.getAll('ask')
          : path.slice('/api/v1/'.length),
      )
      .map(decodeURIComponent);
  /* The next look for changes is another question; and a pointer may rest where the page opens. */
  const atRest = () => {
    globalThis.addEventListener('DOMContentLoaded', () => globalThis.dispatchEvent(new PointerEvent('pointermove')));
    const wait = globalThis.setTimeout;
    globalThis.setTimeout = (task, ms, ...more) => (ms === 5000 ? 0 : wait(task, ms, ...more));
  };

  for (const [tool, kind] of [
    ['home', ''],
    ['memory_viewer', 'dump'],
    ['memory_profile', 'trace'],
    ['oom', 'dump'],
    ['device_memory', 'profiles'],
    ['memory_viewer', ''],
    ['modules', ''],
  ])
    test(`${tool} ${kind || 'alone'} asks for nothing twice, and takes all that was asked for early`, async () => {
      const base = await daemon('--demo');
      const { sessions } = await (await fetch(`${base}api/v1/sessions`)).json();
      const proxy = await startProxy(base);
      const page = await open(
        `${proxy.url}?tool=${tool}${kind && `&session=${sessions.find((each) => each.kind === kind).id}`}`,
        { init: atRest },
      );
      const asked = questionsOf(proxy.all());
      truth(asked.length > 1, asked.join());
      equal(
        asked.filter((each, at) => asked.indexOf(each) < at),
        [],
        'asked twice',
      );
      const left = await page.evaluate(() => {
        const { isAhead } = globalThis.memviewd.use('lib/api.js');
        return globalThis.memviewdAhead.asked.filter((path) => isAhead(path, {}));
      });
      equal(left, [], 'nobody took it');
      await page.finish();
      proxy.close();
    });

  test('a page below a path of a proxy finds its files, its call graph included', async () => {
    const proxy = await startProxy(await daemon('--demo'), '/user/me/proxy/6006');
    const page = await open(`${proxy.url}?tool=device_memory&view=graph`);
    await page.waitForSelector('.graph-box');
    truth((await text(page, 'main')).length > 0, 'nothing is drawn');
    await page.finish();
    proxy.close();
  });
}
