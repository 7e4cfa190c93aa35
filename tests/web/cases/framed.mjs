/* SPDX-License-Identifier: Apache-2.0
 * framed.mjs: the page in a frame of another site, as in a notebook, by a real browser. */

import { createServer } from 'node:http';
import { once } from 'node:events';

/* A notebook: a page of `host` with a frame that shows `shown`. Out: {url, origin, close()}; `shown` may be set until
   it is asked. */
async function startNotebook(host) {
  const notebook = { shown: '' };
  const server = createServer((question, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end(
      !question.url.includes('favicon')
        ? `<!doctype html><title>notebook</title><body data-idle><iframe width="1300" height="800" ` +
            `src="${notebook.shown}"></iframe>`
        : '',
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  notebook.origin = `http://${host}:${server.address().port}`;
  notebook.url = `${notebook.origin}/`;
  notebook.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return notebook;
}

export function run({ test, equal, includes, daemon, open }) {
  /* localhost and 127.0.0.1 are two sites. */
  test('a notebook that --frame-ancestors names shows the page, which asks for its data there', async () => {
    const notebook = await startNotebook('localhost');
    notebook.shown = await daemon('--demo', `--frame-ancestors=${notebook.origin}`);
    const page = await open(notebook.url, { framed: notebook.shown, isMeasured: true });
    const frame = page.frames()[1];
    await frame.waitForSelector('h1.answer:has-text("GiB")', { timeout: 30000 });
    includes(await frame.locator('h1').innerText(), 'GiB');
    equal(await frame.evaluate(async () => (await fetch('api/v1/sessions')).status), 200);
    await page.finish();
    notebook.close();
  });

  for (const [who, flags] of [
    ['that is not named', ['--frame-ancestors=https://notebooks.example']],
    ['where no flag is given', []],
  ])
    test(`a site ${who} shows nothing of it`, async () => {
      const notebook = await startNotebook('localhost');
      notebook.shown = await daemon('--demo', ...flags);
      const page = await open(notebook.url, {
        framed: notebook.shown,
        isMeasured: true,
        allow: /frame-ancestors|Refused to|403|violates/,
      });
      await page.waitForTimeout(500);
      equal(await page.frames()[1].locator('h1').count(), 0);
      await page.finish();
      notebook.close();
    });
}
