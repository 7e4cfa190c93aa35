/* SPDX-License-Identifier: Apache-2.0
 * torch_walk.mjs: from an allocator snapshot of PyTorch that is dropped on the page to the line of code that holds most
 * at the peak; a request that failed, explained. What is right is told by Python's own pickle, and by the allocator
 * that made the snapshot. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idle, text } from '../harness.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const GOLDEN = join(HERE, '../../golden');
const MAKE_LARGE = join(HERE, '../../bench/make_snapshot.py');
/* About 100 MB. */
const LARGE = ['--events', '300000', '--depth', '44'];
/* What is in use at the peak of the first device, and the person's own line that holds most of it: of all open
 * allocations the innermost frame of a file of Python that is installed nowhere. */
const TRUTH = `
import collections, gzip, json, pickle, sys
sys.path.insert(0, sys.argv[1])
import torch_stacks
path = sys.argv[2]
one = pickle.load((gzip.open if path.endswith(".gz") else open)(path, "rb"))
live, level, best, peak = {}, 0, -1, None
rows = [event for event in one["device_traces"][0] if event["action"] in ("alloc", "free_completed")]
blocks = [block for segment in one["segments"] if segment["device"] == 0 for block in segment["blocks"]]
end = sum(block["requested_size"] for block in blocks if block["state"] != "inactive")
level = end - sum(event["size"] * (1 if event["action"] == "alloc" else -1) for event in rows) if one["segments"] else 0
for at, event in enumerate(rows):
    level += event["size"] if event["action"] == "alloc" else -event["size"]
    if level > best:
        best, peak = level, at
for event in rows[:peak + 1]:
    if event["action"] == "alloc":
        live[event["addr"]] = event
    else:
        live.pop(event["addr"], None)
lines = collections.Counter()
def is_own(path):
    return path.endswith(".py") and not any(part in path for part in torch_stacks.LIBRARIES)
for event in live.values():
    frames = [(frame["name"], frame["filename"].replace("\\\\", "/"), frame["line"]) for frame in event["frames"]]
    mine = [(name, path.rpartition("/")[2], line) for name, path, line in frames if is_own(path)]
    if mine:
        lines[mine[0]] += event["size"]
(name, file, line), most = lines.most_common(1)[0]
print(json.dumps({"peak": best, "most": most, "name": name, "place": f"{file}:{line}"}))
`;
const FAILED = `
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
import made_allocator
one = made_allocator.fragmented()
pickle.dump(made_allocator.snapshot(one), open(sys.argv[2], "wb"), protocol=4)
found = one.failures[0]
level, levels = 0, [0]
for event in one.trace:
    level += {"alloc": 1, "free_completed": -1}.get(event["action"], 0) * event["size"]
    levels.append(level)
named = {name: found[name] for name in ("requested", "free", "largest", "active", "device_free")}
print(json.dumps({"peak": max(levels), "end": level, **named}))
`;

export function run({ test, equal, includes, truth, daemon, open, shared }) {
  const python = (...words) => execFileSync('python3', ['-B', ...words], { encoding: 'utf8' });
  const within = (value) =>
    value >= 2 ** 30 ? `${(value / 2 ** 30).toFixed(2)} GiB` : `${(value / 2 ** 20).toFixed(2)} MiB`;
  async function inFolder(act) {
    const folder = mkdtempSync(join(tmpdir(), 'torch-walk-'));
    try {
      mkdirSync(join(folder, 'empty'));
      await act(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  /* A file of this machine is dropped on the page: a browser reads it where it lies, however large it is. */
  async function drop(page, path) {
    await page.evaluate(() => {
      const field = Object.assign(document.createElement('input'), { type: 'file', id: 'dropped-from', hidden: true });
      document.body.append(field);
    });
    await page.locator('#dropped-from').setInputFiles(path);
    await page.evaluate(() => {
      const field = document.getElementById('dropped-from');
      const data = new DataTransfer();
      data.items.add(field.files[0]);
      field.remove();
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
  }
  /* Home of an empty folder; the file is dropped; its peak; by line of code; the line that holds most of its own. */
  async function walk(folder, path) {
    const known = JSON.parse(python('-c', TRUTH, GOLDEN, path));
    const page = await open(`${await daemon(`--logdir=${join(folder, 'empty')}`)}?tool=home`);
    await drop(page, path);
    await page.locator('.banner button', { hasText: 'Open Memory Profile' }).click();
    await page.waitForURL(/local=[0-9a-f]{40}/);
    await idle(page);
    includes(await text(page, 'h1'), `GPU 0 reached ${within(known.peak)}`);
    await page.locator('.panel-live .see-why').click();
    await page.waitForURL(/tool=device_memory/);
    await idle(page);
    includes(await text(page, 'h1'), `${within(known.peak)} in use on GPU 0`);
    await page.locator('[role=tab]', { hasText: 'Top' }).click();
    await idle(page);
    await page.locator('.panel-top th', { hasText: 'Self, ' }).first().click();
    await idle(page);
    const rows = await page.locator('.panel-top tbody tr[data-id]').allInnerTexts();
    const first = rows.find((row) => /\.py:\d+/.test(row)) ?? '';
    includes(first, known.place);
    includes(first, known.name);
    const [unit] = /[KMG]iB/.exec(await text(page, '.panel-top thead')); // one of the whole column
    equal(first.trim().split(/\s+/)[0], (known.most / 1024 ** (1 + 'KMG'.indexOf(unit[0]))).toFixed(2));
    await page.finish();
  }

  for (const name of ['systems-train', 'systems-ddp'])
    test(
      `${name} is dropped: from its peak to the line that holds most`,
      () => inFolder((folder) => walk(folder, join(shared, 'data/torch', `${name}.pickle.gz`))),
      { shared: true },
    );

  test('a snapshot of 300,000 events is dropped: from its peak to the line that holds most', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'large.pickle');
      python(MAKE_LARGE, ...LARGE, path);
      await walk(folder, path);
    }));

  test('the OOM page of a request that failed: what it met, whose memory it is, what makes room', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'empty/rank0.pickle');
      const known = JSON.parse(python('-c', FAILED, GOLDEN, path));
      // it has no text
      const page = await open(`${await daemon(`--logdir=${join(folder, 'empty')}`)}?tool=oom`, { allow: /404/ });
      const said = await text(page, 'h1');
      includes(said, `A request of ${within(known.requested)} failed`);
      includes(said, `the device had ${within(known.device_free)} free`);
      includes(said, `the largest hole ${within(known.largest)}: fragmentation, not shortage.`);
      await page.locator('.panel-oom-made > summary').click();
      const body = await text(page, '.oom');
      includes(body, `${within(known.free)} were free in segments`);
      includes(body, `blocks in use ${within(known.active)}`);
      includes(body, 'expandable_segments:True');
      const rows = await page.locator('.oom-largest tbody tr').allInnerTexts();
      truth(rows.length > 0 && rows.every((row) => /\.py:\d+/.test(row)), rows.join('|'));
      await page.finish();
    }));

  test('Home says what a snapshot is, and Compare holds what is left at its end against its peak', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'empty/rank0.pickle');
      const known = JSON.parse(python('-c', FAILED, GOLDEN, path));
      const base = await daemon(`--logdir=${join(folder, 'empty')}`);
      const page = await open(`${base}?tool=home`);
      const row = await text(page, '.home-list tbody tr, table tbody tr');
      includes(row, '1 snapshot');
      includes(row, 'request failed');
      truth(!row.includes('trace'), row);
      await page.goto(`${base}?tool=compare`);
      for (const word of ['the end', 'the peak']) await page.locator('.compare-pickers', { hasText: word }).waitFor();
      await idle(page);
      includes(await text(page, 'h1'), `${within(known.peak)} instead of ${within(known.end)}`);
      await page.finish();
    }));

  test('a snapshot without a history says so, and what records one', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'empty/rank0.pickle');
      python('-c', FAILED, GOLDEN, path);
      python(
        '-c',
        'import pickle, sys; one = pickle.load(open(sys.argv[1], "rb")); one["device_traces"] = [[]]; ' +
          'pickle.dump(one, open(sys.argv[1], "wb"), 4)',
        path,
      );
      const page = await open(`${await daemon(`--logdir=${join(folder, 'empty')}`)}?tool=memory_profile`);
      includes(await text(page, 'h1'), 'at the end of the snapshot');
      includes(await text(page, '.answer-more'), 'torch.cuda.memory._record_memory_history()');
      await page.finish();
    }));
}
