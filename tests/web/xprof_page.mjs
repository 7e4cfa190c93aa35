/* SPDX-License-Identifier: Apache-2.0
 * xprof_page.mjs: XProf's own pages on memviewd's answers.
 *   node tests/web/xprof_page.mjs --binary PATH --static DIR
 * DIR is xprof/static of XProf's package (scripts/fetch-xprof-page). A small proxy serves its files under
 * /data/plugin/profile and hands everything else to memviewd, as TensorBoard would; the script that XProf takes
 * from www.gstatic.com does not answer, so its charts stay empty, but figures, tables and lists are there.
 * Ends with "N passed, N failed, N skipped". */

import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request as ask } from 'node:http';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { launchBrowser, startDaemon } from './harness.mjs';

const { values: options } = parseArgs({ options: { binary: { type: 'string' }, static: { type: 'string' } } });
if (!options.binary || !options.static) {
  console.log('node tests/web/xprof_page.mjs --binary PATH --static DIR');
  process.exit(2);
}
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2' };
const PREFIX = '/data/plugin/profile/';
const WAIT_MS = 60000;

/* What memviewd answers of XProf's surface; every other path is a file of XProf's page. */
const ANSWERED = ['runs', 'run_tools', 'hosts', 'module_list', 'data', 'version', 'config'];

async function serve(daemonUrl) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const name = pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) : '';
    if (ANSWERED.includes(name)) {
      const headers = { ...request.headers, host: new URL(daemonUrl).host };
      const onward = ask(new URL(request.url, daemonUrl), { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.writeHead(502).end());
      request.pipe(onward);
      return;
    }
    const file = name ? basename(name) : 'index.html';
    const bytes = await readFile(join(resolve(options.static), file)).catch(() => null);
    response.writeHead(bytes ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    response.end(bytes);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

const counts = { passed: 0, failed: 0 };

async function check(name, body) {
  try {
    await body();
    counts.passed++;
    console.log(`ok      ${name}`);
  } catch (error) {
    counts.failed++;
    console.log(`FAILED  ${name}\n        ${error.stack.split('\n').slice(0, 6).join('\n        ')}`);
  }
}

/* The page of a tool, once it shows `text`. */
async function shown(browser, url, query, text) {
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`${url}${PREFIX}?${new URLSearchParams(query)}`);
  await page.getByText(text).first().waitFor({ state: 'attached' });
  return page;
}
/* It draws one part after the other. */
async function has(page, lines) {
  for (const end = Date.now() + WAIT_MS; ; await page.waitForTimeout(100)) {
    const text = await page.innerText('body');
    const missing = lines.find((line) => !text.includes(line));
    if (!missing) return;
    if (Date.now() > end) throw new Error(`"${missing}" is not in "${text}"`);
  }
}

/* A run with programs, and one with memory events: the trace of the demo, which lies beside the binary. */
const logdir = await mkdtemp(join(tmpdir(), 'memviewd-xprof-'));
await cp('tests/fixtures/logdir', logdir, { recursive: true });
await mkdir(join(logdir, 'plugins/profile/training'), { recursive: true });
const trace = join(dirname(options.binary), 'demo/training/host0.xplane.pb');
await cp(trace, join(logdir, 'plugins/profile/training/host0.xplane.pb'));
const daemon = await startDaemon(options.binary, [`--logdir=${logdir}`]);
const proxy = await serve(daemon.url);
const browser = await launchBrowser();

await check('XProf’s page opens the first module of the alphabet in its Memory Viewer, with its figures', async () => {
  const page = await shown(browser, proxy.url, { run: 'tpu/small', tag: 'memory_viewer' }, 'Peak memory allocation');
  await has(page, [
    'Hlo Modules (12)',
    'Module Name: jit__lambda(16171982243519715633)',
    '74317.26 MiB, 74317.70 MiB (with fragmentation)',
    '173.26 MiB total argument size',
  ]);
  await page.close();
});

await check('XProf’s page shows the figures of a pool in its Memory Profile', async () => {
  const page = await shown(browser, proxy.url, { run: 'training', tag: 'memory_profile' }, 'Peak Memory Usage');
  await has(page, ['#Allocation\t\n892', '#Deallocation\t\n108', 'Memory Capacity\t\n16.00 GiB', '10.78 GiB']);
  await page.close();
});

await rm(logdir, { recursive: true });
await browser.close();
proxy.stop();
await daemon.stop();
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
