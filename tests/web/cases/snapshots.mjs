/* SPDX-License-Identifier: Apache-2.0
 * snapshots.mjs: allocator snapshots of PyTorch in the Memory Profile: what is live with its stack, ranks of a job, and
 * a pickle that is none. Snapshots are those of tests/golden/made_snapshots.py; what they hold is told from there. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idle, pixels, text } from '../harness.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../../golden');
/* Writes snapshots into folders, and prints the sums of blocks that are in use at the end of each device. */
const MAKE = `
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
import made_snapshots
one = made_snapshots.made(4, 2, 300, 250)
for name in sys.argv[2:4]:
    pickle.dump(one, open(name, "wb"), protocol=4)
open(sys.argv[4], "wb").write(made_snapshots.REFUSED["a function"])
used = [(segment["device"], block["requested_size"]) for segment in one["segments"] for block in segment["blocks"]
        if block["state"] != "inactive"]
print(json.dumps([sum(size for at, size in used if at == device) for device in range(2)]))
`;

/* One of the recorded trainings as a pickle. */
const TAKE = `
import gzip, json, pickle, sys
pickle.dump(json.load(gzip.open(sys.argv[1]))["runs"]["adamw-threaded"]["snapshot"], open(sys.argv[2], "wb"), 4)
`;

/* The snapshot of a failed request, and the text of PyTorch that says 3 MiB more were free. */
const FAIL = `
import sys
sys.path[:0] = [sys.argv[2], sys.argv[1]]  # both have a module "inputs"
import made_allocator, snapshot_texts
one, failed = made_allocator.filled(25 * snapshot_texts.MIB + snapshot_texts.MIB // 2)
open(sys.argv[3] + "/rank0.pickle", "wb").write(snapshot_texts.dumped(one))
said = made_allocator.text_of(one, failed, free=failed["device_free"] + 3 * snapshot_texts.MIB)
open(sys.argv[3] + "/error.log", "wb").write(said)
`;

/* A training whose request failed, with what PyTorch says of it. */
const TRAINED = `
import pickle, sys
sys.path[:0] = [sys.argv[1]]
import made_allocator, made_program
one = made_program.Program(capacity=300 << 20).one
open(sys.argv[2] + "/rank0.pickle", "wb").write(pickle.dumps(made_allocator.snapshot(one), 4))
open(sys.argv[2] + "/error.log", "wb").write(made_allocator.text_of(one, one.failures[0]))
`;

export function run({ test, equal, includes, truth, daemon, open }) {
  const made = () => {
    const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
    for (const name of ['job', 'none']) mkdirSync(join(folder, name));
    const files = ['job/rank0.pickle', 'job/rank1.pickle', 'none/model.pickle'].map((name) => join(folder, name));
    const active = JSON.parse(execFileSync('python3', ['-B', '-c', MAKE, GOLDEN, ...files], { encoding: 'utf8' }));
    return { folder, active };
  };

  test('snapshots: changes are replayed in the Memory Profile, each alone, ticked ones over the timeline', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trained-'));
    try {
      mkdirSync(join(folder, 'job'));
      execFileSync('python3', ['-B', '-c', TRAINED, GOLDEN, join(folder, 'job')]);
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
      const session = sessions.find(({ kind }) => kind === 'trace').id;
      /* A change that does not apply is refused. */
      const page = await open(`${url}?tool=memory_profile&session=${session}`, { allow: /400/ });
      const ask = async (query) =>
        (await (await fetch(new URL(`/api/v1/memory_profile/whatif?session=${session}${query}`, url))).json()).data;
      equal(await page.locator('.key-predicted').isVisible(), false);
      await page.keyboard.press('5');
      await page.waitForSelector('.panel-replay details');
      const { offered } = await ask('&width=1');
      const rows = await page.locator('.panel-replay th[scope=row] code').allInnerTexts();
      equal(
        rows.length + (await page.locator('.panel-replay details li').count()),
        offered.length,
        'each change is there or says why not',
      );
      truth(rows.includes('batch=0.5'), rows.join(' '));
      const half = await ask('&change=batch%3D0.5');
      equal(
        await page.locator('.panel-replay tr', { hasText: 'batch=0.5' }).first().locator('td').nth(2).innerText(),
        half.request_word,
        'the request that failed',
      );
      const before = await pixels(page, '.panel-time .uplot canvas');
      await page.locator('.panel-replay label', { hasText: 'batch=0.5' }).locator('input').check();
      await idle(page);
      equal(await text(page, '.panel-replay .whatif-answer'), half.sentence);
      truth((await pixels(page, '.panel-time .uplot canvas')) !== before, 'its curve is drawn');
      equal(await page.locator('.key-predicted').isVisible(), true);
      await page.keyboard.press('1');
      await idle(page);
      equal(await page.locator('.key-predicted').isVisible(), true, 'with another tab open too');
      equal(new URL(page.url()).searchParams.getAll('whatif'), ['batch=0.5']);
      await page.reload();
      await idle(page);
      equal(await page.locator('.key-predicted').isVisible(), true);
      await page.keyboard.press('5');
      await page.waitForSelector('.panel-replay details');
      await page.locator('.panel-replay button', { hasText: 'Untick all' }).click();
      await idle(page);
      equal(await page.locator('.key-predicted').isVisible(), false);
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: advice that is ticked is replayed together, in the words of whatif', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trained-'));
    try {
      mkdirSync(join(folder, 'job'));
      execFileSync('python3', ['-B', '-c', TRAINED, GOLDEN, join(folder, 'job')]);
      const url = await daemon(`--logdir=${folder}`);
      const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
      const page = await open(`${url}?tool=oom&session=${sessions.find(({ kind }) => kind === 'text').id}`);
      const piece = (word) => page.locator('.advice', { hasText: word });
      equal(await page.locator('.oom-together').isVisible(), false);
      await piece('fused attention').locator('input').check();
      await idle(page);
      includes(await text(page, '.oom-sum'), 'attention=sdpa saves ');
      includes(await text(page, '.oom-sum'), 'that failed is not made any more.');
      await piece('Halve the batch').locator('input').check();
      await idle(page);
      includes(await text(page, '.oom-sum'), 'These changes together save ');
      await piece('fused attention').locator('.figure-link').first().click();
      includes(await page.locator('.explain-formula').innerText(), "memviewd whatif PATH --change='attention=sdpa'");
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: a session that is named opens on what it has, the first time too', async () => {
    const { folder } = made();
    try {
      mkdirSync(join(folder, 'train'));
      execFileSync(join(GOLDEN, '../../scripts/make-trace'), [
        join(folder, 'train/host0.xplane.pb'),
        '--events',
        '2400',
      ]);
      for (const name of ['job', 'train']) {
        const url = await daemon(`--logdir=${folder}`); /* a new one, which has read nothing yet */
        const { sessions } = await (await fetch(new URL('api/v1/sessions', url))).json();
        const page = await open(`${url}?session=${sessions.find((each) => each.name === name).id}`);
        equal(await page.locator('main.page-memory_profile').count(), 1, name);
        truth(!(await text(page, 'h1')).includes('Nothing to show'), name);
        await page.finish();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: what is live has the stack of who asked for it, and ranks stand side by side', async () => {
    const { folder, active } = made();
    try {
      const page = await open(`${await daemon(`--logdir=${join(folder, 'job')}`)}?tool=memory_profile`);
      includes(await text(page, 'h1'), 'GPU');
      const ids = await page.locator('body').innerText();
      for (const name of ['rank0 GPU 0', 'rank0 GPU 1', 'rank1 GPU 0', 'rank1 GPU 1']) includes(ids, name);
      const details = await text(page, '#details');
      includes(details, 'free in segments at peak');
      truth(
        active.some((bytes) => details.replaceAll(',', '').includes(String(bytes))),
        `last of ${active} in ${details}`,
      );
      await page.locator('.panel-live tbody tr:not(:has(.inferred))').first().click();
      await idle(page);
      const pinned = await text(page, '#details');
      includes(pinned, 'stack frame');
      await page
        .locator('#details .folded summary')
        .first()
        .click()
        .catch(() => {});
      includes(await page.locator('#details').innerText(), '.py:');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: a request that failed is told first, marked in the curve, leads to who pins the holes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
    const make = `import pickle, sys
sys.path.insert(0, sys.argv[1])
import made_allocator
one = made_allocator.fragmented()
pickle.dump(made_allocator.snapshot(one), open(sys.argv[2], "wb"), protocol=4)
print(*(one.failures[0][name] >> 20 for name in ("device_free", "free", "reserved", "largest")))`;
    try {
      const [device, free, reserved, largest] = execFileSync(
        'python3',
        ['-B', '-c', make, GOLDEN, join(folder, 'rank0.pickle')],
        { encoding: 'utf8' },
      )
        .trim()
        .split(' ');
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile`);
      const first = await text(page, 'h1');
      includes(first, 'A request of 24.00 MiB failed at');
      includes(
        first,
        `the device had ${device}.00 MiB free, PyTorch ${free}.00 MiB of its ${reserved}.00 MiB, the largest hole ` +
          `${largest}.00 MiB: fragmentation, not shortage.`,
      );
      includes(await page.locator('.panel-time').innerText(), 'failed request');
      includes(
        await page.locator('.panel-time [role=slider]').getAttribute('aria-label'),
        'A request of 24.00 mebibytes failed',
      );
      await page.locator('h1 .see-why').click();
      await idle(page);
      const holes = await page.locator('.panel-holes').innerText();
      includes(holes, `A request of 24.00 MiB, which failed, meets a largest hole of ${largest}.00 MiB`);
      includes(holes, 'no segment into which it could have been put is as large');
      const segments = await page.locator('.panel-segment-picture').innerText();
      includes(
        segments,
        `${reserved}.00 MiB in 3 segments, ${free}.00 MiB of it free in 15 holes; the largest has ${largest}.00 MiB.`,
      );
      truth((await page.locator('.panel-segments .segment-strip').count()) === 3, 'each segment is drawn');
      truth(
        (await page.locator('.panel-segments .segment-strip .piece-allocation').count()) === 15,
        'each block is drawn',
      );
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: categories are drawn over time, stand in the table, filter it, say what they rest on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
    try {
      execFileSync('python3', [
        '-B',
        '-c',
        TAKE,
        join(GOLDEN, '../fixtures/torch/trainings.json.gz'),
        join(folder, 'run.pickle'),
      ]);
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile`);
      includes(await text(page, '.time-bands'), 'saved activations');
      truth((await page.locator('.stack-choice').inputValue()) === 'category', 'bands are by category');
      includes(await text(page, '#details'), 'optimizer state');
      await page.fill('.panel-live input', 'cat:gradient');
      await page.keyboard.press('Enter');
      await idle(page);
      const rows = await page
        .locator('.panel-live tbody tr:not(:has(td .inferred:has-text("before")))')
        .allInnerTexts();
      truth(rows.length > 0 && rows.every((row) => row.includes('gradient')), rows.join('|'));
      await page.locator('.panel-live tbody tr').last().click();
      await idle(page);
      includes(await text(page, '#details'), 'gradient');
      await page.selectOption('.stack-choice', 'none');
      await idle(page);
      truth(page.url().includes('stack=none'), page.url());
      truth(await page.locator('.time-bands').isHidden(), 'no bands');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: one without a history shows its end, and how to record one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
    try {
      const make = `import pickle, sys
sys.path.append(sys.argv[1])
import made_snapshots
one = made_snapshots.without_history(made_snapshots.made(1, 1, 200, 200))
pickle.dump(one, open(sys.argv[2] + "/rank0.pickle", "wb"), 4)
used = [block for row in one["segments"] for block in row["blocks"] if block["state"] != "inactive"]
print(len(used), len(one["segments"]))`;
      const [blocks, segments] = execFileSync('python3', ['-B', '-c', make, GOLDEN, folder], { encoding: 'utf8' })
        .trim()
        .split(' ');
      const page = await open(`${await daemon(`--logdir=${folder}`)}?tool=memory_profile`);
      const head = await text(page, '.head');
      for (const words of ['at the end of the snapshot', `in ${blocks} blocks`, '_record_memory_history()'])
        includes(head, words);
      truth(await page.locator('.panel-time').isHidden(), 'a curve over no time');
      equal(await page.locator('[role=tab]:visible').allInnerTexts(), ['1Live', '4Address map']);
      includes(await text(page, '.tab-body'), '= in use ✓');
      await page.locator('[role=tab]', { hasText: 'Address map' }).click();
      await idle(page);
      includes(await text(page, '.tab-body'), `in ${segments} segments`);
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: a pickle that would run code is named with the opcode and its place', async () => {
    const { folder } = made();
    try {
      const page = await open(`${await daemon(`--logdir=${join(folder, 'none')}`)}?tool=memory_profile`, {
        allow: /Failed to load resource/,
      });
      const said = await page.locator('body').innerText();
      includes(said, 'opcode STACK_GLOBAL');
      includes(said, 'byte ');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test(
    'snapshots: the page of an error text has the figures of the snapshot beside it, and each opens the Memory ' +
      'Profile',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
      try {
        execFileSync('python3', ['-B', '-c', FAIL, GOLDEN, join(GOLDEN, '../http'), folder]);
        const url = await daemon(`--logdir=${folder}`);
        const { sessions } = await (await fetch(new URL('/api/v1/sessions', url))).json();
        const page = await open(`${url}?tool=oom&session=${sessions.find(({ kind }) => kind === 'text').id}`);
        includes(await text(page, 'h1'), 'A request of 25.50 MiB');
        await page.locator('.panel-oom-made > summary').click();
        const made = await text(page, '.panel-oom-made');
        for (const words of [
          'text: 26.00 MiB',
          'the text says 18.00 MiB',
          'rank0.pickle belongs to this failure',
          'Text and snapshot disagree',
        ])
          includes(made, words);
        const where = await text(page, '.panel-oom-where');
        for (const words of [
          'unknown 45.50 MiB',
          'optimizer state 49.00 MiB',
          'free on the device 15.00 MiB',
          'in all 256.00 MiB',
        ])
          includes(where, words);
        includes(made, 'blocks in use 94.50 MiB');
        await page.locator('.panel-oom-made a', { hasText: '6.00 MiB' }).first().click();
        await idle(page);
        includes(
          await text(page, '.panel-holes'),
          'A request of 25.50 MiB, which failed, meets a largest hole of 6.00 MiB',
        );
        await page.finish();
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
}
