/* SPDX-License-Identifier: Apache-2.0
 * profile_names.mjs: allocations of GPUs that the programs of the trace name: said as guesses wherever they stand, and
 * the timeline in bands. The figures follow from the text fixture: what it allocates, and what its programs need. */

import { mkdirSync, copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idle, sessionLink, text } from '../harness.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

export function run({ test, equal, includes, truth, daemon, open }) {
  const show = async (query = '') => {
    const dir = mkdtempSync(join(tmpdir(), 'memviewd-names-'));
    const run = join(dir, 'plugins/profile/names');
    mkdirSync(run, { recursive: true });
    copyFileSync(join(ROOT, 'build/fixtures/trace-gpu-programs.pb'), join(run, 'host.xplane.pb'));
    const url = await daemon(`--logdir=${dir}`);
    const page = await open(url);
    const href = await sessionLink(page, url, 'names');
    const session = new URLSearchParams(href.slice(href.indexOf('?'))).get('session');
    await page.goto(`${url}?tool=memory_profile&session=${session}${query}`);
    await idle(page);
    return page;
  };

  test('the answer says how much the programs name, and that it is a guess', async () => {
    const page = await show();
    includes(await text(page, 'h1'), 'named from the plans of jit_step and 1 more (guess)');
  });

  test('live allocations without an op show program and role, tagged as guess', async () => {
    const page = await show();
    const table = await text(page, '.tab-body');
    includes(table, 'jit_init(3)');
    includes(table, 'temporaries guess');
    includes(table, '3 programs have this size');
    truth(!table.includes('3 programs have this size guess'), 'what is not decided is no guess');
  });

  test('a filter for a program leaves its rows, and growth and events have the columns too', async () => {
    const page = await show(`&filter=${encodeURIComponent('program:"jit_step(2)"')}`);
    const live = await text(page, '.tab-body');
    includes(live, 'jit_step(2)');
    truth(!live.includes('jit_init(3)'), 'rows of other programs are gone');
    const events = await text(await show('&view=events'), '.tab-body');
    includes(events, 'argument 1 x');
    includes(events, 'Program');
  });

  test('an event says what its name rests on', async () => {
    const page = await show('&view=events&pin=e:2');
    const details = await text(page, '.details');
    includes(details, 'jit_step(1)');
    includes(details, 'its thread launched the program next');
  });

  test('the timeline is stacked by program on request, and the URL says so', async () => {
    const page = await show();
    await page.selectOption('.stack-choice', 'program');
    await idle(page);
    equal(new URL(page.url()).searchParams.get('stack'), 'program');
    const words = await text(page, '.time-bands');
    for (const word of ['jit_step(1)', 'jit_step(2)', 'jit_init(3)', 'not recorded', 'guess']) includes(words, word);
    await page.selectOption('.stack-choice', 'trend');
    await idle(page);
    includes(await text(page, '.time-bands'), 'fewer than two steps');
    await page.selectOption('.stack-choice', 'none');
    await idle(page);
    equal(await page.isHidden('.time-bands'), true);
  });
}
