/* SPDX-License-Identifier: Apache-2.0
 * capture.mjs: Home's button that asks running jobs for a trace; a server of this test stands in for the profiler
 * server of a job: progress, the session that opens, cancelling, a job that is not there, a daemon that may ask none.
 * */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import { createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { idle, text } from '../harness.mjs';

const varint = (value) => (value > 127 ? [(value & 127) | 128, ...varint(Math.floor(value / 128))] : [value]);
/* The XSpace as field 8 of a message, in a frame of gRPC. */
function framed(trace) {
  const message = Buffer.concat([Buffer.from([0x42, ...varint(trace.length)]), trace]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/* Out: {address, stop()}; answer(stream) says how a request is answered. */
async function startJob(answer) {
  const server = createServer();
  const sessions = new Set();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream) => {
    stream.on('error', () => {}); // it is cancelled
    stream.resume();
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    answer(stream);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${server.address().port}`,
    stop() {
      sessions.forEach((session) => session.destroy());
      server.close();
    },
  };
}

async function nobody() {
  const listener = createListener();
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return `127.0.0.1:${port}`;
}

export function run({ test, equal, truth, daemon, open, fixtures }) {
  const trace = () =>
    gunzipSync(readFileSync(join(fixtures, 'logdir', 'tpu', 'plugins', 'profile', 'small', 'host0.xplane.pb.gz')));
  const good = (stream) => stream.end(framed(trace()));
  const folders = [];
  process.once('exit', () => folders.forEach((each) => rmSync(each, { recursive: true })));
  function folder() {
    folders.push(mkdtempSync(join(tmpdir(), 'memviewd-capture-')));
    return folders.at(-1);
  }
  const home = async (traces, ...addresses) => {
    const named = addresses.map((each) => `--capture=${each}`);
    return open(`${await daemon(`--capture-logdir=${traces}`, ...named, join(fixtures, 'dumps'))}?tool=home`);
  };
  const act = (page) => page.locator('.home-capture button', { hasText: 'Capture' });
  const said = (page) => page.locator('.home-capture-said');

  test('a running job is captured, and its session opens', async () => {
    const job = await startJob(good);
    const page = await home(folder(), job.address);
    equal(await page.locator('.home-capture select option').allInnerTexts(), [job.address]);
    await page.locator('.home-seconds').fill('1');
    await act(page).click();
    await page.waitForURL(/session=/);
    await idle(page);
    truth(!page.url().includes('tool=home'), page.url());
    truth(/20\d\d_\d\d_\d\d_\d\d_\d\d_\d\d/.test(await text(page, 'header')), 'the header does not name the session');
    await page.goBack();
    await idle(page);
    equal(await page.locator('.home-grid tbody tr').count(), 5, 'four dumps and the trace');
    await page.finish();
    job.stop();
  });

  test('a capture is watched and cancelled, and leaves nothing', async () => {
    const traces = folder();
    const job = await startJob((stream) => stream.write(framed(trace()).subarray(0, 20)));
    const page = await home(traces, job.address);
    await page.locator('.home-seconds').fill('600');
    await act(page).click();
    await said(page)
      .getByText(/Recording: \d+ s of 600 s/)
      .waitFor();
    truth(await act(page).isDisabled());
    await said(page).locator('button', { hasText: 'Cancel' }).click();
    await said(page).getByText('Cancelled.').waitFor();
    truth(await act(page).isEnabled());
    equal(readdirSync(traces), []);
    await page.finish();
    job.stop();
  });

  test('of several jobs one that is not there is named, and the others open by a link', async () => {
    const job = await startJob(good);
    const gone = await nobody();
    const page = await home(folder(), job.address, gone);
    equal(await page.locator('.home-capture select option').allInnerTexts(), ['all 2 jobs', job.address, gone]);
    await page.locator('.home-seconds').fill('1');
    await act(page).click();
    await said(page).locator('.caution').waitFor();
    equal(await said(page).locator('.caution').innerText(), `${gone}: connection refused: nothing listens there.`);
    await said(page).locator('a', { hasText: 'Open the trace' }).click();
    await page.waitForURL(/session=/);
    await page.finish();
    job.stop();
  });

  test('what cannot be asked is a sentence', async () => {
    const page = await home(folder(), await nobody());
    for (const value of ['0', '3601', '1.5', '']) {
      await page.locator('.home-seconds').fill(value);
      await act(page).click();
      equal(await said(page).innerText(), 'Seconds are a whole number from 1 to 3,600.');
    }
    await page.locator('.home-seconds').fill('1');
    await act(page).click();
    await said(page).getByText('nothing listens there').waitFor();
    await page.finish();
  });

  test('without jobs that may be asked there is no button', async () => {
    const page = await open(`${await daemon(join(fixtures, 'dumps'))}?tool=home`);
    truth(!(await page.locator('.home-capture').isVisible()));
    await page.finish();
  });
}
