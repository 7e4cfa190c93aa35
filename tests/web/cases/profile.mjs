/* SPDX-License-Identifier: Apache-2.0
 * profile.mjs: the Memory Profile of recorded traces. Figures are XProf's recorded ones; what lives at a
 * moment follows from its list of events, which is whole for the small trace. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { bytes, bytesIn, count, time } from '../../../web/lib/format.js';
import { paleTone } from '../../../web/widgets/tones.js';
import { drag, inUrl } from '../acts.mjs';
import { idle, sessionLink, text } from '../harness.mjs';

/* XProf counts times without the start of their line, 8,573 ns for every line of tf/small. */
const LINE_START_PS = 8573e3;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const needs = { shared: true };

/* What XProf answers about a run: pool → its answer. */
function recorded(shared, run, host) {
  const golden = JSON.parse(gunzipSync(readFileSync(join(shared, 'golden/logdir.json.gz'))));
  const path = `/data/plugin/profile/data?run=${encodeURIComponent(run)}&tag=memory_profile&host=${host}`;
  return golden.answers[path].body.memoryProfilePerAllocator;
}

/* Events in the order of time: {ps, isAllocation, address, size, used, op, shape, step}. */
function eventsOf(pool) {
  return pool.sampledTimelineSnapshots.map(({ activityMetadata: one, aggregationStats: stats, timeOffsetPs }) => ({
    ps: Number(timeOffsetPs) + LINE_START_PS,
    isAllocation: one.memoryActivity === 'ALLOCATION',
    address: one.address,
    size: Number(one.allocationBytes),
    used: Number(stats.heapAllocatedBytes) + Number(stats.stackReservedBytes),
    op: one.tfOpName,
    step: one.stepId,
  }));
}

/* Allocations of the trace that are open after event `at`. */
function liveAt(events, at) {
  const open = new Map();
  for (const event of events.slice(0, at + 1)) {
    if (event.isAllocation) open.set(event.address, event);
    else open.delete(event.address);
  }
  return [...open.values()];
}

export function run({ test, equal, includes, truth, daemon, open, shared }) {
  const base = () => daemon(`--logdir=${join(shared, 'data/logdir')}`);
  const show = async (name, query = '') => {
    const url = await base();
    const page = await open(url);
    const href = await sessionLink(page, url, name);
    const session = new URLSearchParams(href.slice(href.indexOf('?'))).get('session');
    await page.goto(`${url}?tool=memory_profile&session=${session}${query}`);
    await idle(page);
    return page;
  };
  const small = () => recorded(shared, 'tf/small', 'vm').bfc_cpu_allocator_for_gpu;
  /* Where a time lies on the chart. */
  const place = async (page, ps, [from, to]) => {
    const box = await page.locator('.panel-time .u-over').boundingBox();
    return [box.x + ((ps - from) / (to - from)) * box.width, box.y + box.height / 2];
  };

  test(
    'peak, capacity and lifetime peak are those that XProf recorded',
    async () => {
      const { peakStats, memoryCapacity } = small().profileSummary;
      const page = await show('tf/small');
      includes(
        await text(page, 'h1'),
        `bfc_cpu_allocator_for_gpu reached ${bytes(Number(peakStats.heapAllocatedBytes))} of ` +
          `${bytes(Number(memoryCapacity))}`,
      );
      includes(await text(page, '.panel-time h2'), `${count(eventsOf(small()).length)} events, each one drawn`);
      await page.finish();
    },
    needs,
  );

  test(
    'memory ids: all eight of the trace, each with its recorded peak, their spread, and the choice in the URL',
    async () => {
      const pools = recorded(shared, 'mi300/conv', 'host0');
      const peaks = Object.fromEntries(
        Object.entries(pools).map(([name, pool]) => [name, Number(pool.profileSummary.peakStats.heapAllocatedBytes)]),
      );
      const page = await show('mi300/conv');
      equal(await page.locator('.pool').count(), 8);
      for (const [name, peak] of Object.entries(peaks)) {
        const exact = await page.locator(`.pool[data-memory="${name}"] .figure`).getAttribute('title');
        equal(exact, `${count(peak)} B`, name);
      }
      const all = Object.values(peaks);
      includes(await text(page, '.panel-pools'), `spread ${bytes(Math.max(...all) - Math.min(...all))}`);
      equal(await page.locator('.pool').last().getAttribute('data-memory'), 'GPU_0_bfc', 'worst first');
      await page.click('.pool[data-memory="GPU_0_bfc"]');
      await idle(page);
      equal(await inUrl(page, 'memory'), 'GPU_0_bfc');
      includes(await text(page, 'h1'), 'GPU_0_bfc reached');
      equal(await page.locator('h1 .answer-figure').getAttribute('title'), `${count(peaks.GPU_0_bfc)} B`);
      await page.reload();
      await idle(page);
      equal(await page.locator('.pool[aria-checked="true"]').getAttribute('data-memory'), 'GPU_0_bfc');
      await page.finish();
    },
    needs,
  );

  test(
    'events that share a pixel are a solid area up to their lowest and a pale one up to their highest',
    async () => {
      const page = await show('synthetic/10k-bfc');
      includes(await text(page, '.panel-time h2'), 'each pixel: lowest to highest of');
      const seen = await page.locator('.panel-time .uplot > .u-wrap > canvas').evaluate((canvas) => {
        const style = getComputedStyle(document.documentElement);
        const [heap, panel] = ['--alloc-heap', '--panel'].map((name) => style.getPropertyValue(name).trim());
        const { width, height } = canvas;
        const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        const counts = {};
        for (let at = 0; at < pixels.length; at += 4) {
          const colour = `#${[0, 1, 2].map((channel) => pixels[at + channel].toString(16).padStart(2, '0')).join('')}`;
          if (pixels[at + 3] === 255) counts[colour] = (counts[colour] ?? 0) + 1;
        }
        return { heap, panel, counts };
      });
      const solid = seen.counts[seen.heap.toLowerCase()] ?? 0;
      const pale = seen.counts[paleTone(seen.heap, seen.panel)] ?? 0;
      truth(solid > 10000 && pale > 10000, `${solid} solid and ${pale} pale pixels`);
      await page.finish();
    },
    needs,
  );

  test(
    'a click on the timeline is a moment: table and URL follow, and the rows are what the events leave open',
    async () => {
      const events = eventsOf(small());
      const at = events.findIndex((event, index) => index > 60 && event.isAllocation && event.used > 300000);
      const { ps, used } = events[at];
      const next = events[at + 1].ps;
      const range = [ps - 40e6, next + 40e6];
      const page = await show('tf/small', `&from=${range[0]}&to=${range[1]}&group=none`);
      await page.mouse.click(...(await place(page, (ps + next) / 2, range)));
      await idle(page);
      equal(Number(await inUrl(page, 'time')), ps);
      includes(await text(page, '.panel-live h2'), time(ps, 1e6));
      const live = liveAt(events, at);
      const sum = live.reduce((total, event) => total + event.size, 0);
      const foot = await text(page, '.panel-live .grid-foot');
      includes(foot, `${bytes(used)} = curve at this time ✓`);
      includes(foot, `${count(live.length)} groups, ${bytes(sum)}`);
      const rows = await page
        .locator('.panel-live tbody td.c-size .figure')
        .evaluateAll((all) => all.map((one) => one.title));
      const exact = rows.map((title) => Number(title.replace(/[^\d]/g, '')));
      equal(
        exact.reduce((total, size) => total + size, 0),
        used,
        'rows and remainders',
      );
      await page.finish();
    },
    needs,
  );

  test(
    'grouped by op: sizes and counts are the sums of what is open',
    async () => {
      const events = eventsOf(small());
      const at = events.findIndex((event, index) => index > 60 && event.isAllocation && event.used > 300000);
      const page = await show('tf/small', `&time=${events[at].ps}`);
      await page.selectOption('.group-choice', 'op');
      await idle(page);
      equal(await inUrl(page, 'group'), 'op');
      const groups = new Map();
      for (const { op, size } of liveAt(events, at)) {
        const [bytesOf, number] = groups.get(op) ?? [0, 0];
        groups.set(op, [bytesOf + size, number + 1]);
      }
      for (const [op, [size, number]] of groups) {
        const row = page.locator('.panel-live tbody tr', { has: page.locator(`.c-op .name[title="${op}"]`) });
        equal(await row.locator('.c-size .figure').getAttribute('title'), `${count(size)} B`, op);
        equal((await row.locator('.c-count').innerText()).trim(), String(number), op);
      }
      await page.finish();
    },
    needs,
  );

  test(
    'zoom: Ctrl and the wheel, the keys, and 0 for all of it; the URL keeps the range',
    async () => {
      const events = eventsOf(small());
      const page = await show('tf/small');
      const all = [events[0].ps, events.at(-1).ps];
      await page.mouse.move(...(await place(page, events[70].ps, all)));
      await page.keyboard.down('Control');
      for (let notch = 0; notch < 12; notch++) await page.mouse.wheel(0, -100);
      await page.keyboard.up('Control');
      await page.waitForFunction(
        (most) => {
          const query = new URLSearchParams(location.search);
          return query.has('from') && query.get('to') - query.get('from') < most;
        },
        (all[1] - all[0]) / 4,
      );
      await idle(page);
      const [from, to] = [Number(await inUrl(page, 'from')), Number(await inUrl(page, 'to'))];
      truth(Number.isInteger(from) && Number.isInteger(to), 'whole picoseconds');
      truth(from <= events[70].ps && to >= events[70].ps, 'what lies under the pointer stays');
      const shown = events.filter(({ ps }) => ps >= from && ps <= to).length;
      includes(await text(page, '.panel-time h2'), `${count(shown)} event`);
      await page.reload();
      await idle(page);
      includes(await text(page, '.panel-time h2'), `${count(shown)} event`);
      await page.keyboard.press('0');
      await page.waitForFunction(() => !new URLSearchParams(location.search).has('from'));
      await idle(page);
      includes(await text(page, '.panel-time h2'), `${count(events.length)} events`);
      await page.finish();
    },
    needs,
  );

  test(
    'a drag selects a window: the events tab lists what was allocated or freed in it',
    async () => {
      const events = eventsOf(small());
      const range = [events[60].ps, events[90].ps];
      const page = await show('tf/small', `&from=${range[0]}&to=${range[1]}&view=events`);
      const middle = (range[0] + range[1]) / 2;
      const [x, y] = await place(page, range[0] + 1e6, range);
      const [farX] = await place(page, middle, range);
      await drag(page, [x, y], [farX, y]);
      await idle(page);
      const [a, b] = (await inUrl(page, 'sel')).split('-').map(Number);
      const inside = events.filter(({ ps }) => ps >= a && ps <= b);
      const pairs = new Set(
        inside.map((event) => {
          const at = events.indexOf(event);
          if (event.isAllocation) return at;
          const born = events.slice(0, at).findLastIndex((one) => one.isAllocation && one.address === event.address);
          return born < 0 ? `free ${at}` : born;
        }),
      );
      includes(await text(page, '.panel-events .grid-foot'), `${count(pairs.size)} pair`);
      await page.finish();
    },
    needs,
  );

  test(
    'growth: what is in use after each step of the recorded run is level, and the page says so',
    async () => {
      const events = eventsOf(small());
      const lastOfStep = new Map(events.map((event) => [event.step, event.used]));
      equal(new Set(lastOfStep.values()).size, 1, 'level in the recorded answer');
      const page = await show('tf/small', '&view=growth');
      includes(await text(page, '.panel-growth .tab-answer'), 'In use at step boundaries: steady over');
      await page.finish();
    },
    needs,
  );

  test('growth: a leak of 1 MiB a step in a run of 40 GiB is the first row', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'profile-'));
    try {
      const session = join(folder, 'plugins/profile/leak');
      mkdirSync(session, { recursive: true });
      const said = execFileSync(
        join(ROOT, 'scripts/make-trace'),
        [join(session, 'host0.xplane.pb'), '--events', '24000', '--leak', '1M', '--before', '40G'],
        { encoding: 'utf8' },
      );
      includes(said, '24000 memory events');
      const again = join(folder, 'again.bin');
      for (const [seed, isSame] of [
        ['1', true],
        ['2', false],
      ]) {
        execFileSync(join(ROOT, 'scripts/make-trace'), [
          again,
          '--events',
          '24000',
          '--leak',
          '1M',
          '--before',
          '40G',
          '--seed',
          seed,
        ]);
        equal(readFileSync(again).equals(readFileSync(join(session, 'host0.xplane.pb'))), isSame, `seed ${seed}`);
      }
      rmSync(again);
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile&view=growth`);
      const first = page.locator('.panel-growth tbody tr').first();
      equal((await first.locator('.c-slope').innerText()).trim(), '+1.00 MiB ▲');
      equal((await first.locator('.c-op').innerText()).trim(), 'metrics/append');
      equal((await first.locator('.c-growth-verdict').innerText()).trim(), 'grows');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test(
    'a session without memory events says which option records them, and where its plans are',
    async () => {
      const page = await show('jax-cpu/small');
      includes(await text(page, '.whole-page'), 'No memory events in this session');
      includes(await text(page, '.whole-page'), 'host_tracer_level = 2');
      includes(await text(page, '.whole-page'), 'The plans of its 12 programs are in the Memory Viewer');
      await page.click('.whole-page a');
      await idle(page);
      equal(await inUrl(page, 'tool'), 'memory_viewer');
      await page.finish();
    },
    needs,
  );

  test(
    'an event of the table is pinned: its partner is the free of the same address',
    async () => {
      const events = eventsOf(small());
      const born = events.findIndex(
        (event, at) =>
          event.isAllocation && events.slice(at).some((one) => !one.isAllocation && one.address === event.address),
      );
      const freed = events.findIndex(
        (one, at) => at > born && !one.isAllocation && one.address === events[born].address,
      );
      const page = await show('tf/small', `&pin=e:${born}`);
      const pane = await text(page, '#details');
      includes(pane, `time ${time(events[born].ps, 1e6)}`);
      includes(pane, `0x${BigInt(events[born].address).toString(16)}`);
      includes(pane, `time ${time(events[freed].ps, 1e6)}`);
      includes(pane, `${bytesIn(events[born].used, 1)} KiB`);
      await page.finish();
    },
    needs,
  );
}
