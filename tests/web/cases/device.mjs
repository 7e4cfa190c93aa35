/* SPDX-License-Identifier: Apache-2.0
 * device.mjs: the Device Memory page with answers in place of the daemon's: what no real file shows,
 * or no daemon so late. */

import { join } from 'node:path';
import { drag, goTo, holdBack } from '../acts.mjs';
import { answerer, makeWorld } from '../canned.mjs';
import { makeDevice } from '../canned_device.mjs';
import { idle, pixels, text } from '../harness.mjs';

const HOSTILE = '<img src=x onerror=alert(1)>\u202etxt.\u0000"]; evil [label="';

const place = (base, query = '') => `${base}?tool=device_memory&session=cccccccccccc${query}`;

/* Canned answers about one profile; see canned_device.mjs. */
function answers(change = {}, world = {}) {
  const device = makeDevice(change);
  const intercept = (parts, query) => world.intercept?.(parts, query) ?? device.intercept(parts, query);
  return answerer(makeWorld({ ...world, session: device.session, intercept }));
}

/* Stacks of `depth` frames, `many` of them, that part at the root. */
function wide(many, depth) {
  const frames = [];
  const rows = [];
  for (let at = 0; at < many; at++) {
    const stack = [];
    for (let level = 0; level < depth; level++) {
      frames.push({ function: `f${at}_${level}`, file: `/a/file${at % 7}.py`, line: level + 1 });
      stack.push(frames.length - 1);
    }
    rows.push([stack, Math.round(1e9 / (at + 1)), 1]);
  }
  return { frames, rows };
}

/* Centre of the frame that `share` of the width and this row name. */
async function frameAt(page, share, row) {
  const box = await page.locator('.icicle-picture').boundingBox();
  return [box.x + box.width * share, box.y + row * 20 + 10];
}

export function run({ test, equal, includes, truth, daemon, open, fixtures }) {
  test('the pane tells of the difference, however late its summary comes', async () => {
    const page = await open(`${await daemon(`--logdir=${join(fixtures, 'memprof')}`)}?tool=device_memory`);
    const [a, b] = await page.evaluate(async () => {
      const { sessions } = await (await fetch('api/v1/sessions')).json();
      const { profiles } = await (await fetch(`api/v1/sessions/${sessions[0].id}/profiles`)).json();
      return profiles.map(({ id }) => id);
    });
    const { release } = await holdBack(page, '**/device_memory/summary?**');
    const drawn = page.waitForResponse(/device_memory\/top/);
    await goTo(page, `?tool=device_memory&view=top&a=${a}&b=${b}`);
    await drawn;
    await page.waitForTimeout(100);
    release();
    await idle(page);
    includes(await text(page, '#details'), 'Change from A to B');
    await page.finish();
  });

  test('the page opens on a sentence, and names where most was made', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    equal(await text(page, 'h1'), '10.00 MiB live on TPU_0: 10.00 MiB in 12 buffers; 2 executables of unknown size.');
    equal(
      await text(page, '.device-largest'),
      'Most: init_state train.py:88 8.00 MiB (80 % of all) · load_batch data.py:31 2.00 MiB (20 % of all)',
    );
    for (const words of ['Counts live arrays and code only.', 'Such a file does not tell the capacity.'])
      includes(await text(page, '.device-standing'), words);
    includes(await page.title(), '10.00 MiB · memory.prof · Device Memory');
    await page.finish();
  });

  test('a figure explains itself: formula, inputs that add up, field of the file', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    await page.locator('h1 [data-explain="total"]').click();
    await page.waitForSelector('dialog.explain');
    const card = await text(page, 'dialog.explain');
    includes(card, '10.00 MiB live');
    includes(card, 'the sum over 2 samples');
    includes(card, 'Profile.sample[].value[]');
    await page.keyboard.press('Escape');
    equal(await page.locator('dialog.explain').count(), 0);
    await page.finish();
  });

  test('no link of the page leads to the program of another session', async () => {
    const url = await daemon('--demo');
    const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
    const page = await open(`${url}?tool=device_memory&session=${sessions.find(({ kind }) => kind === 'profiles').id}`);
    includes(await text(page, '.device-standing'), 'this session has no program');
    equal(await page.locator('.device-standing a').count(), 0);
    await page.finish();
  });

  test('several devices are bars of one scale in the pane, all of them', async () => {
    const devices = Array.from({ length: 16 }, (_, at) => ({ name: `TPU_${at}`, total: (16 - at) * 1024, count: 1 }));
    const page = await open(place(await daemon('--demo')), { canned: answers({ devices }) });
    const rows = page.locator('#details .per-device-row');
    equal(await rows.count(), 16);
    const widths = await rows
      .locator('.share-part')
      .evaluateAll((all) => all.map((each) => Number(each.getAttribute('width'))));
    equal([widths[0], widths[8], widths[15]], [100, 50, 6.25]);
    includes(await text(page, '#details .per-device'), 'TPU_15');
    await page.finish();
  });

  test('the call graph is laid out under the policy of the page, without a violation', async () => {
    const page = await open(place(await daemon('--demo'), '&view=graph'), { canned: answers() });
    await page.waitForSelector('.graph-box');
    equal(await page.locator('.graph-box').count(), 4);
    equal(await page.locator('.graph-edge').count(), 3);
    equal(await page.locator('.graph-list li').count(), 4);
    equal(await page.evaluate(() => globalThis.violations), []);
    const boxes = await page
      .locator('.graph-box')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    truth(boxes[0] < boxes[1] && boxes[1] < boxes[2], `callers stand above: ${boxes}`);
    const heats = await page
      .locator('.graph-frame')
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).getPropertyValue('--heat')));
    truth(new Set(heats).size > 1, `what is its own is seen: ${heats}`);
    const totals = await page
      .locator('.graph-list .share-part')
      .evaluateAll((all) => all.map((each) => Number(each.getAttribute('width'))));
    equal(
      totals,
      [...totals].sort((a, b) => b - a),
      'the list beside it: largest first',
    );
    await page.finish();
  });

  test('names that look like markup or turn the text around stay text, in every view', async () => {
    const frames = [
      { function: HOSTILE, file: `/a/${HOSTILE}.py`, line: 1 },
      { function: HOSTILE.repeat(60), file: '/b/x.py', line: 2 },
    ];
    const canned = answers({ frames, rows: [[[0, 1], 1000, 1]], profileName: HOSTILE, device: HOSTILE });
    for (const view of ['flame', 'graph', 'top', 'callers', 'buffers', 'series']) {
      const page = await open(place(await daemon('--demo'), `&view=${view}`), { canned });
      if (view === 'graph') await page.waitForSelector('.graph-box');
      equal(await page.locator('main img').count(), 0, view);
      truth(!(await page.locator('main').innerText()).includes('\u202e'), `${view} turns the text around`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      equal(wide, false, `${view} is wider than the window`);
      await page.finish();
    }
  });

  test('a click pins and zooms, the path leads back, 0 shows all', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    const before = await pixels(page, '.icicle-base');
    await page.mouse.click(...(await frameAt(page, 0.2, 2)));
    await idle(page);
    includes(page.url(), 'pin=f:f00000000000.f00000000001');
    truth((await pixels(page, '.icicle-base')) !== before, 'nothing was zoomed');
    equal(await text(page, '.device-path'), 'all › main train.py:140 › fit train.py:102');
    equal(await text(page, '#details .details-title'), 'Pinned frame');
    includes(await text(page, '#details'), '8.00 MiB');
    await page.reload();
    await idle(page);
    equal(await text(page, '.path-here'), 'fit train.py:102');
    await page.mouse.move(2, 2);
    await page.keyboard.press('0');
    await idle(page);
    equal(await page.locator('.device-path').isVisible(), false);
    equal(await pixels(page, '.icicle-base'), before);
    await page.goBack();
    await idle(page);
    equal(await text(page, '.path-here'), 'fit train.py:102');
    await page.finish();
  });

  test('the tree beside the canvas is walked with arrows and pins with Enter', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    const tree = page.locator('[role="tree"]');
    await tree.focus();
    const active = async () =>
      page.evaluate(() => {
        const id = document.querySelector('[role="tree"]').getAttribute('aria-activedescendant');
        const item = document.getElementById(id);
        return [item.firstChild.textContent, item.getAttribute('aria-level'), item.getAttribute('aria-setsize')];
      });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    equal(await active(), ['load_batch data.py:31, 2.00 mebibytes, 20 % of the total, self 2.00 mebibytes.', '3', '2']);
    await page.keyboard.press('Enter');
    await idle(page);
    includes(page.url(), 'pin=f:f00000000000.f00000000003');
    await page.finish();
  });

  test('a search lights what it finds and says what that holds', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    const before = await pixels(page, '.icicle-base');
    await page.keyboard.press('/');
    await page.keyboard.type('init|load');
    await page.waitForURL(/find=init/);
    await idle(page);
    equal(await text(page, '.device-found'), '2 frames: 10.00 MiB, 100 % of the total.');
    truth((await pixels(page, '.icicle-base')) !== before, 'nothing faded');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('init(');
    await page.waitForURL(/find=init\(/);
    await idle(page);
    equal(await text(page, '.device-found'), 'searched as plain text: No frame matches.');
    await page.finish();
  });

  test('filters are chips that stay when the view changes, and say what they do not match', async () => {
    const filters = [
      {
        parameter: 'focus',
        expression: 'func(',
        matched_count: 0,
        is_literal: true,
        fault_at: 4,
        fault: 'missing )',
        nearest: null,
      },
      {
        parameter: 'ignore',
        expression: 'ini_state',
        matched_count: 0,
        is_literal: false,
        fault_at: null,
        fault: null,
        nearest: 'init_state',
      },
    ];
    const page = await open(place(await daemon('--demo')), { canned: answers({ filters }) });
    await page.fill('.condition-input', 'func(');
    await page.keyboard.press('Enter');
    await idle(page);
    await page.selectOption('.condition-kind', 'ignore');
    await page.fill('.condition-input', 'ini_state');
    await page.keyboard.press('Enter');
    await idle(page);
    const chips = () => page.locator('.condition').allInnerTexts();
    const wanted = ['focus: func(×', 'ignore: ini_state×'];
    equal(
      (await chips()).map((each) => each.replace(/\s+/g, ' ').replace(' ×', '×')),
      wanted,
    );
    equal(await text(page, '.condition-fault'), '(');
    equal(await page.locator('.condition-said').allInnerTexts(), [
      '"func(" is not a valid regular expression (missing )); it is searched as plain text.',
      'No frame matches "ini_state". Nearest: init_state.',
    ]);
    for (const key of ['2', '3', '4', '1']) {
      await page.locator('h1').click();
      await page.keyboard.press(key);
      await idle(page);
      equal(
        (await chips()).map((each) => each.replace(/\s+/g, ' ').replace(' ×', '×')),
        wanted,
        key,
      );
      includes(page.url(), 'focus=func(&ignore=ini_state');
    }
    await page.locator('.condition-drop').first().click();
    await idle(page);
    truth(!page.url().includes('focus='), 'the chip is still in the URL');
    await page.finish();
  });

  test('a hundred thousand frames are drawn, and the deepest is reached', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers(wide(1000, 100)) });
    includes(await text(page, '.panel-flame h2'), '100,000 frames');
    const scroll = page.locator('.icicle');
    equal(await scroll.evaluate((node) => node.scrollHeight), 2020);
    await scroll.evaluate((node) => {
      node.scrollTop = node.scrollHeight;
    });
    await idle(page);
    const box = await scroll.boundingBox();
    await page.mouse.move(box.x + 3, box.y + box.height - 10);
    await page.waitForSelector('.tooltip:not([hidden])');
    includes(await text(page, '.tooltip'), 'f0_99 file0.py:100');
    await page.finish();
  });

  test('frames too narrow to be drawn are one, and a click on it takes them apart', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers(wide(1000, 3)) });
    const before = await pixels(page, '.icicle-base');
    const point = await frameAt(page, 0.99, 1);
    await page.mouse.move(...point);
    await page.waitForSelector('.tooltip:not([hidden])');
    includes(await text(page, '.tooltip'), ' frames');
    await page.mouse.click(...point);
    await idle(page);
    truth((await pixels(page, '.icicle-base')) !== before, 'nothing was zoomed');
    truth(!page.url().includes('pin='), 'many frames cannot be pinned');
    await page.mouse.move(...(await frameAt(page, 0.01, 3)));
    await page.waitForSelector('.tooltip:not([hidden])');
    includes(await text(page, '.tooltip'), '_2 file');
    await page.finish();
  });

  test('a stretch that is dragged over is shown, a double click beside the frames shows all', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers() });
    const before = await pixels(page, '.icicle-base');
    await drag(page, await frameAt(page, 0.1, 1), await frameAt(page, 0.5, 1));
    await idle(page);
    truth((await pixels(page, '.icicle-base')) !== before, 'nothing was zoomed');
    truth(!page.url().includes('pin='), 'a drag pins nothing');
    await page.mouse.dblclick(...(await frameAt(page, 0.5, 4.4)));
    await idle(page);
    equal(await pixels(page, '.icicle-base'), before);
    await page.finish();
  });

  test('the sandwich has the callers of a frame above it and its callees below', async () => {
    const page = await open(place(await daemon('--demo'), '&pivot=f00000000001'), { canned: answers() });
    equal(await page.locator('.flame-part h3').allInnerTexts(), ['Callers, the nearest below', 'Callees']);
    const items = async (at) => {
      const tree = page.locator('[role="tree"]').nth(at);
      await tree.focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      return tree.evaluate(
        (node) => document.getElementById(node.getAttribute('aria-activedescendant')).firstChild.textContent,
      );
    };
    includes(await items(0), 'main train.py:140, 8.00 mebibytes');
    includes(await items(1), 'init_state train.py:88, 8.00 mebibytes');
    await page.getByText('back to all').click();
    await idle(page);
    equal(await page.locator('.flame-part').count(), 1);
    await page.finish();
  });

  test('devices stand side by side, each asked for alone', async () => {
    const asked = [];
    const devices = [
      { name: 'TPU_0(process=0,(0,0,0,0))', total: 6, count: 1 },
      { name: 'TPU_1(process=0,(1,0,0,0))', total: 4, count: 1 },
    ];
    const intercept = (parts, query) => {
      if (parts[1] === 'flame') asked.push(query.getAll('tag').join());
      return null;
    };
    const page = await open(place(await daemon('--demo')), {
      canned: answers({ summary: { devices } }, { intercept }),
    });
    await page.getByLabel('by device').check();
    await idle(page);
    equal(await page.locator('.flame-part').count(), 2);
    equal(
      asked.slice(1).sort(),
      devices.map(({ name }) => `device=${name}`),
    );
    includes(page.url(), 'group=device');
    await page.finish();
  });

  test('percentages say of what in the head of their column, and the source has its room', async () => {
    const page = await open(place(await daemon('--demo'), '&view=top'), { canned: answers() });
    const heads = await page.locator('.panel-top [role="columnheader"]').allInnerTexts();
    includes(heads.join('|'), 'Self, % of all');
    includes(heads.join('|'), 'Total, % of all');
    const edges = await page.locator('.panel-top').evaluate((panel) => {
      const [last] = [...panel.querySelectorAll('[role="columnheader"]')].slice(-1);
      return [last.innerText, last.getBoundingClientRect().right, panel.getBoundingClientRect().right];
    });
    includes(edges[0], 'File:line');
    truth(edges[1] <= edges[2], `the last column ends at ${edges[1]}, the panel at ${edges[2]}`);
    await page.finish();
  });

  test('on a phone one button says what is chosen and opens the controls; the picture is in view', async () => {
    const page = await open(place(await daemon('--demo'), '&focus=f'), { canned: answers(), width: 390, height: 844 });
    const isSeen = (selector) => page.locator(selector).first().isVisible();
    equal([await isSeen('.conditions'), await isSeen('.device-profiles')], [false, false]);
    includes(await text(page, '.device-unfold'), 'memory.prof, by line, 1 filter');
    const box = await page.locator('.icicle-picture').boundingBox();
    truth(box.y + box.height < 844, `the picture ends at ${box.y + box.height}`);
    await page.locator('.device-unfold').click();
    equal([await isSeen('.conditions'), await isSeen('.device-profiles')], [true, true]);
    equal(await page.locator('.device-unfold').getAttribute('aria-expanded'), 'true');
    await page.finish();
    const faulty = await open(`${await daemon('--demo')}?tool=device_memory&focus=norm(al`, {
      width: 390,
      height: 844,
    });
    equal(await faulty.locator('.conditions').isVisible(), true, 'a filter at fault is folded away');
    await faulty.finish();
  });

  test('nothing hangs over on small screens', async () => {
    for (const [width, height] of [
      [320, 640],
      [390, 844],
      [1000, 640],
    ])
      for (const view of ['flame', 'graph', 'callers', 'buffers', 'series']) {
        const page = await open(place(await daemon('--demo'), `&view=${view}`), { canned: answers(), width, height });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        truth(over <= 0, `${view} at ${width}: ${over} px`);
        await page.finish();
      }
  });

  test('profiles are ordered by hand with Alt and arrows, and the order stands in the URL', async () => {
    const page = await open(place(await daemon('--demo'), '&view=series'), { canned: answers() });
    await page.selectOption('[aria-label="Order of the profiles"]', 'hand');
    await idle(page);
    const files = () => new URL(page.url()).searchParams.getAll('files');
    equal(
      files().map((id) => id.slice(-1)),
      ['0', '1', '2'],
    );
    await page.locator('.order-row button').nth(2).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await idle(page);
    equal(
      files().map((id) => id.slice(-1)),
      ['0', '2', '1'],
    );
    includes(await text(page, '.series-left'), 'other.prof is left out: its sample types (cpu, samples) do not match');
    await page.finish();
  });

  test('a view that fails says so in its place, the others stay', async () => {
    const fails = { flame: { status: 413, code: 'limit', detail: 'this answer would be too large' } };
    const page = await open(place(await daemon('--demo')), { canned: answers({ fails }), allow: /413/ });
    includes(await text(page, '.panel-flame .message'), 'The flame graph cannot be shown.');
    includes(await text(page, '.panel-top'), 'init_state');
    await page.finish();
  });

  test('a view that was stopped is read again from there, and one part that fails goes with its frame', async () => {
    const page = await open(place(await daemon('--demo')), { canned: answers(), allow: /413/ });
    const callers = await holdBack(page, '**/device_memory/callers?**');
    await goTo(page, place('', '&view=callers'));
    await page.waitForSelector('.panel-callers .panel-wait:not([hidden]) button');
    await page.locator('.panel-callers .panel-wait button').click();
    includes(await text(page, '.panel-callers .message'), 'Reading callers was stopped.');
    await page.unroute('**/device_memory/callers?**');
    await page.locator('.panel-callers .message button', { hasText: 'Read it' }).click();
    includes(await text(page, '.panel-callers'), 'init_state');
    callers.release();

    await page.route('**/device_memory/flame?**at=**', (route) =>
      route.fulfill({
        status: 413,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'limit', detail: 'too large' }),
      }),
    );
    await goTo(page, place('', '&pin=f:f00000000000.f00000000002'));
    await idle(page);
    includes(await text(page, '.panel-flame .message'), 'This part of the flame graph cannot be shown.');
    await page.keyboard.press('Escape');
    equal(await page.locator('.panel-flame .message').isVisible(), false, 'the message stays when its frame is let go');
    equal(await page.locator('.icicle-picture').isVisible(), true);
    await page.finish();
  });

  test('words about nothing do not stand over what was found since', async () => {
    const fails = { summary: { status: 422, code: 'malformed', detail: 'no profile' } };
    const change = { fails: {} };
    const page = await open(place(await daemon('--demo')), { canned: answers(change), allow: /422/ });
    change.fails = fails;
    await goTo(page, place('', '&focus=init'));
    await page.waitForSelector('.whole-page .message-error');
    change.fails = {};
    await goTo(page, place('', '&focus=load'));
    await page.waitForSelector('.device-views:not([hidden])');
    const title = await page.title();
    includes(title, 'Device Memory');
    includes(await text(page, '.details'), 'TPU_0');
    await page.finish();
  });

  test('a file that was dropped and is gone is asked for again', async () => {
    const sha = '3f9c'.repeat(16);
    const lost = { status: 404, code: 'notfound', detail: 'no such profile' };
    const page = await open(place(await daemon('--demo'), `&local=${sha}`), {
      canned: answers({ fails: { summary: lost, flame: lost, top: lost } }),
      allow: /404/,
    });
    const said = await text(page, '.whole-page');
    includes(said, 'This link shows a file that was dropped, not stored:');
    includes(said, 'sha256 3f9c3f9c3f9c');
    includes(said, 'Drop it again to see the same view.');
    await page.finish();
  });
}
